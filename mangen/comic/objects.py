"""The things that words name: what a place shows, what hands hold, what an insert shows large."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from mangen.comic import lexicon, people, tones, words

MOST = 4  #: things of one picture
#: what belongs to a place: once named it stays as long as the scene does
LASTING = frozenset({"moon", "boat", "melons", "tree", "train", "lighthouse"})
#: what belongs to a place but is easily left: it stays for its paragraph
SCENIC = frozenset(
    {"fire", "window", "bed", "desk", "door", "lamp", "lantern", "flag", "clock", "car", "food"}
)
HELD = frozenset(
    {"fork", "sword", "umbrella", "book", "phone", "cup", "letter", "lantern", "bag", "fan"}
    | {"staff", "flower"}
)
#: what an insert shows: small things that mean something, the telling ones first
TELLING = (
    *("letter", "photograph", "ring", "phone", "money", "sword", "fork", "book", "mirror"),
    *("watch", "umbrella", "fan", "bag", "flower", "cup", "staff", "clock", "bell", "drum", "flag"),
    *("wine", "lantern", "lamp"),
)
#: a single character after one of these is a thing of its own: 一本书, 红花, 皮包
_MEASURES = "本把柄封只匹条艘叶壶杯盏张件棵辆口坛束朵枝支个"
_COLOURED = "红白黑青蓝紫绿黄粉皮旧色的"
#: places without furniture, and what stands on it
_WILD = frozenset(
    {"street", "river", "sea", "mountain", "forest", "field", "ruin", "deck", "harbour"}
)
_DOMESTIC = frozenset({"food", "wine", "cup", "money", "bed", "desk", "window", "clock", "mirror"})
#: in the sky of a day there is none
_BY_NIGHT = frozenset({"moon"})


#: what is a verb as often: the waves rose
_HOMOGRAPHS = frozenset({"rose", "watch", "fan", "ring", "note", "book", "stand"})
_NOUN = re.compile(
    r"\b(?:an?|the|his|her|my|their|this|that|one|red|white|pink|yellow|black|gold|golden|silver|old"
    r"|single|withered|small|little|large|leather|thick|wedding|pocket)\s$",
    re.IGNORECASE,
)


class Named(NamedTuple):
    """A thing where the text names it."""

    at: int
    end: int
    label: str
    tone: str = ""  #: its colour, where the words tell one

    @property
    def words(self) -> str:
        """The label after the colour."""
        return f"{self.tone} {self.label}".strip()


def named(masked: str, language: people.Language) -> list[Named]:
    """The things of a text whose names of people are blotted out (scenery.mask), in order."""
    if language == "en":
        labels = lexicon.labels("english-object")
        found = []
        for match in re.finditer(r"[A-Za-z][A-Za-z\-]*", masked):
            word = match.group().lower()
            label = labels.get(word) or (labels.get(word[:-1]) if word.endswith("s") else None)
            if word in _HOMOGRAPHS and not _NOUN.search(masked, 0, match.start()):
                continue
            if label:
                tone = tones.of(masked[: match.start()], word, language)
                found.append(Named(match.start(), match.end(), label, tone))
        return found
    labels = lexicon.labels("object")
    matches = list(_long().finditer(masked))
    taken = {at for match in matches for at in range(match.start(), match.end())}
    hits = [
        Named(
            match.start(),
            match.end(),
            labels[match.group()],
            tones.of(masked[: match.start()], match.group(), language),
        )
        for match in matches
        if match.group() in labels
    ]
    if any(ch in _single() for ch in masked):
        at = 0
        for word in words.words(masked):
            # a character inside of a longer word is another word: 信 in 相信
            at += len(word)
            counted = len(word) == 1 or word[-2] in _MEASURES + _COLOURED
            if counted and word[-1] in _single() and at - 1 not in taken:
                tone = tones.of(masked[: at - 1], word[-1], language)
                hits.append(Named(at - 1, at, labels[word[-1]], tone))
    return sorted(hits)


@functools.cache
def _long() -> re.Pattern[str]:
    listed = [word for word in lexicon.labels("object") if len(word) > 1]
    return re.compile(lexicon.alternation([*listed, *lexicon.words("no-object")]))


@functools.cache
def _single() -> frozenset[str]:
    return frozenset(word for word in lexicon.labels("object") if len(word) == 1)


def fitting(labels: Sequence[str], place: str) -> list[str]:
    """The things that may stand in a place: no laid table in a forest."""
    return [label for label in labels if place not in _WILD or label not in _DOMESTIC]


def shown(labels: Sequence[str], time: str) -> tuple[str, ...]:
    """The things of a picture, the first named first; no moon by day."""
    kept = [label for label in dict.fromkeys(labels) if time != "day" or label not in _BY_NIGHT]
    return tuple(kept[:MOST])


def is_crowded(masked: str, language: people.Language) -> bool:
    """Say whether a text tells of many people."""
    if language == "en":
        listed = lexicon.words("english-crowd")
        return any(token in listed for token in re.findall(r"[a-z]+", masked.lower()))
    return _crowd().search(masked) is not None


@functools.cache
def _crowd() -> re.Pattern[str]:
    # 弟子们, 士兵们: many, but not 我们
    many = r"(?<![我你他她它咱])(?<=[\u4e00-\u9fff])们"
    return re.compile(f"{lexicon.alternation(list(lexicon.words('crowd')))}|{many}")
