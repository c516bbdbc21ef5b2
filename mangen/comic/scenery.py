"""Where and when: scene labels by the words of the narration, kept until others come."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Mapping
from typing import Literal

from mangen.comic import lexicon, words

Language = Literal["zh", "en"]

#: what denies the weather word before it, and after it
_DENIED_AFTER = re.compile(r"(?:也|都|早|已|已经|终于|渐渐)*(?:没有|没|不|停|住了|歇|散)")
_DENIED_BEFORE = re.compile(r"(?:没有|没|无|不是|不见|不再|一丝)$")
_DENIALS = frozenset("不没别无莫恐哪只")  #: 不怕, 恐怕
_BEFORE_DOOR = re.compile("的?(?:大?门[口外前]|外面|外头|楼下|门廊)")
#: where one is before a door
_DOORS = {
    **dict.fromkeys(("shop", "office", "hospital", "classroom"), "street"),
    **dict.fromkeys(("room", "hall"), "courtyard"),
}
#: after these a place is seen in a picture or spoken of
_TOLD = re.compile("照片|相片|画上|画里|画中|电视|屏幕|地图|信里|信中|信上|听说|据说|说起|提起")
#: words that count where no other tells: what is nearly always near another place, and lamps
_VAGUE = frozenset({"烛光", "灯火", "萤火", "霓虹灯"} | set(lexicon.words("english-vague")))
_REACHED = (
    r"(?:\b(?:in|into|inside|entered|from|at|to|on)\s(?:the|an?|his|her|my|their|our)\s"
    r"|\b(?:ran|went|came|got|walked|hurried|rode|drove|way|back|returned|flew|headed)\s)"
)
INDOORS = frozenset(
    {"room", "hall", "shop", "classroom", "office", "hospital", "train", "spaceship"}
)
_TOLD_EN = re.compile(
    r"\b(?:photograph|photo|picture|portrait|painting)\b[^.!?]*(?:\bof\b|\bshow|[:,])[^.!?]*$"
    r"|\b(?:heard of|told of|spoke of|talked of|dreamed of|thought of|letter from|message from"
    r"|lived in|came from)\b[^.!?]*$"
)
_BEYOND = re.compile(
    r"\b(?:behind|outside|opposite|beyond|past|above|far from)\s"
    r"(?:the|an?|his|her|my|their|our)\s(?:\w+\s)?$"
)
#: a ship has these on board
_SHIPS = frozenset({"spaceship", "deck"})
_NOT_SO = re.compile(r"\b(?:not|never|no|nor|without)\s(?:\w+\s)?$")
NO_FEELING = "none"  #: 笑话 is no laughing
_INSIDE = frozenset("里裡内中上下边邊外前口间間旁")
_GOING = frozenset("在到进進出入回过往向沿")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What a paragraph says about its scene; None where it says nothing."""

    place: str | None = None
    place_is_sure: bool = False
    time_is_sure: bool = True  #: a lamp tells of an hour only where nothing else does
    time: str | None = None
    weather: str | None = None
    mood: str | None = None


def look(narration: str, names: Collection[str], language: Language, here: str = "") -> Seen:
    """The labels that the narration of a paragraph names; names of people are no weather.

    `here` is the place that the story is in.
    """
    masked = mask(narration, names)
    if language == "en":
        return _look_english(masked, here)
    singles = _singles(masked)
    place, sure = _place(masked, singles)
    return Seen(
        place=place,
        place_is_sure=sure,
        time=_last(masked, "time"),
        weather=_weather(masked, singles),
        mood=most(masked, "mood"),
    )


def mask(text: str, names: Collection[str]) -> str:
    """The text with all names blotted out, of the same length."""
    if not names:
        return text
    return _names(tuple(names)).sub(lambda match: "□" * len(match.group()), text)


@functools.lru_cache(maxsize=4)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(lexicon.alternation(names))


@functools.cache
def _pattern(kind: str) -> re.Pattern[str]:
    """All words of a kind that have two characters or more."""
    return re.compile(
        lexicon.alternation([word for word in lexicon.labels(kind) if len(word) > 1]) or r"(?!)"
    )


def _singles(masked: str) -> list[tuple[int, str]]:
    """The words of one character, with their places: 雪 in 白雪 is none."""
    wanted = _single_characters()
    if not any(ch in wanted for ch in masked):
        return []
    found = []
    at = 0
    for word in words.words(masked):
        if len(word) == 1 and word in wanted:
            found.append((at, word))
        at += len(word)
    return found


@functools.cache
def _single_characters() -> frozenset[str]:
    kinds = ("place-of-one", "weather-of-one")
    return frozenset(word for kind in kinds for word in lexicon.labels(kind))


def _place(masked: str, singles: list[tuple[int, str]]) -> tuple[str | None, bool]:
    """The last place where somebody is rather than one that is mentioned."""
    best: tuple[int, int, str] | None = None
    labels = lexicon.labels("place")
    ones = lexicon.labels("place-of-one")
    hits = [(m.start(), m.group(), labels[m.group()]) for m in _pattern("place").finditer(masked)]
    hits += [(at, word, ones[word]) for at, word in singles if word in ones]
    for at, word, label in hits:
        after = masked[at + len(word) : at + len(word) + 1]
        before = masked[max(0, at - 3) : at]
        sure = after in _INSIDE or word[-1] in _INSIDE or any(ch in _GOING for ch in before)
        if after == "的" and word[-1] not in _INSIDE:
            continue  # the designer of a company is not at the company
        if _TOLD.search(re.split("[。！？]", masked[:at])[-1]):
            continue
        if label in _DOORS and _BEFORE_DOOR.match(masked, at + len(word)):
            label, sure = _DOORS[label], True
        grade = 2 if sure and after else int(len(word) > 1)
        if best is None or (grade, at) >= best[:2]:
            best = (grade, at, label)
    if best is None:
        return None, False
    return best[2], best[0] == 2


def _weather(masked: str, singles: list[tuple[int, str]]) -> str | None:
    labels = lexicon.labels("weather")
    ones = lexicon.labels("weather-of-one")
    hits = [(m.start(), m.group(), labels[m.group()]) for m in _pattern("weather").finditer(masked)]
    hits += [(at, word, ones[word]) for at, word in singles if word in ones]
    found: str | None = None
    for at, word, label in sorted(hits):
        after = masked[at + len(word) : at + len(word) + 6]
        denied = _DENIED_AFTER.match(after) or _DENIED_BEFORE.search(masked[max(0, at - 3) : at])
        if denied and label != "clear":
            found = found or "clear"
        elif found in {None, "clear"} or label == "thunder":
            found = label
    return found


def _last(masked: str, kind: str) -> str | None:
    found = [match.group() for match in _pattern(kind).finditer(masked)]
    if kind == "time" and re.search("天色?(?:已经?|都|快|全)*黑", masked):
        return "night"
    found = [word for word in found if word not in _VAGUE] or found
    return lexicon.labels(kind)[found[-1]] if found else None


def most(text: str, kind: str) -> str | None:
    """The label of a kind with the most words in the text; of equals the first to appear."""
    counts: dict[str, int] = {}
    labels = lexicon.labels(kind)
    english = kind.startswith("english-")
    pattern = _english(kind.removeprefix("english-")) if english else _all(kind)
    for match in pattern.finditer(text.lower() if english else text):
        if text[match.start() - 1 : match.start()] in _DENIALS:
            continue
        label = labels[match["word"] if english else match.group()]
        counts[label] = counts.get(label, 0) + 1
    counts.pop(NO_FEELING, None)
    return max(counts, key=lambda label: counts[label]) if counts else None


@functools.cache
def _all(kind: str) -> re.Pattern[str]:
    return re.compile(lexicon.alternation(list(lexicon.labels(kind))))


def _look_english(masked: str, here: str) -> Seen:
    text = masked.lower()
    found: dict[str, str | None] = {}
    sure: dict[str, bool] = {}
    for kind in ("place", "time", "weather", "mood"):
        labels = lexicon.labels(f"english-{kind}")
        hits = [
            (match.group(), labels[match["word"]])
            for match in _english(kind).finditer(text)
            if not (kind == "place" and _is_told(text, match, here))
        ]
        certain = [
            hit
            for hit in hits
            if hit[0] not in _VAGUE or (kind == "place" and _is_reached(text, hit[0], here))
        ]
        sure[kind] = bool(certain)
        found[kind] = next((label for _, label in reversed(certain or hits)), None)
    return Seen(place_is_sure=sure["place"], time_is_sure=sure["time"], **found)


def _is_reached(text: str, word: str, here: str) -> bool:
    """Say whether somebody is at a place that is often only near: in his bed, ran home."""
    if word in {"riding", "rode", "galloped"}:
        return here in INDOORS
    return re.search(rf"{_REACHED}{re.escape(word)}\b", text) is not None


@functools.cache
def _english(kind: str) -> re.Pattern[str]:
    listed = lexicon.alternation(list(lexicon.labels(f"english-{kind}")))
    return re.compile(rf"(?<![\w-])(?P<word>{listed})(?:e?s)?(?![\w-])")


def _is_told(text: str, match: re.Match[str], here: str) -> bool:
    """Say whether a place is spoken of, seen in a picture, or part of the ship one is aboard."""
    before = re.split("[.!?;:]" if "photo" not in text else "[.!?;]", text[: match.start()])[-1]
    if text[match.end() :].startswith(" outside") or _BEYOND.search(before):
        return True
    aboard = here in _SHIPS and match["word"] in lexicon.words("english-aboard")
    return aboard or _TOLD_EN.search(before) is not None


def emotion(text: str, language: Language) -> str | None:
    """The strongest feeling that a text names."""
    if language == "zh":
        return most(text, "emotion")
    labels: Mapping[str, str] = lexicon.labels("english-emotion")
    for match in _english("emotion").finditer(text.lower()):
        if not _NOT_SO.search(text[: match.start()].lower()):
            return labels[match["word"]]
    return None


def era(text: str, language: Language = "zh") -> str:
    """The age a text plays in, by its words."""
    if language == "zh":
        return most(text, "era") or "modern"
    return most(text, "english-era") or "modern"
