"""The words of prompts in English and Chinese: fixed labels, and what texts say of looks.

The tables lie beside this module, in prompt_words.txt.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

Tongue: TypeAlias = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_HAN_RUN = re.compile("[\u3400-\u9fff\uf900-\ufaff]+")
#: how many of a thing: a melon is a melon
_COUNTED = re.compile(
    "[一两几数这那][个份柄匹轮把件条只座位名片张封盏袭身双顶副支枝朵艘辆栋间扇杯碗群阵道股根块本幅棵串壶盘锅口头]"
)
_OF = ("的", "色的", "之")  #: between a colour and its thing
#: what says nothing that can be seen
_EMPTY = frozenset(
    "的了着过地得之在是有和与及而且也都就又很最更把被给让使于以其这那个一不没他她它我你们"
)


class Read(NamedTuple):
    """Chinese words read as English."""

    words: tuple[str, ...]  #: in the order of the text, each once; colours before their things
    clothed: bool  #: something that is worn was among them
    left: tuple[str, ...]  #: runs of characters that the tables don't know


class _Word(NamedTuple):
    english: str
    kind: str  #: tone, worn, people, none; empty for all others


class _Book(NamedTuple):
    labels: Mapping[tuple[str, str], tuple[str, str]]
    words: Mapping[str, _Word]
    longest: int


def label(section: str, name: str, tongue: Tongue) -> str:
    """The words for a fixed label; empty where there is nothing to say, or no such label."""
    english, chinese = _book().labels.get((section, name), ("", ""))
    return english if tongue == "en" else chinese


def labels(section: str) -> frozenset[str]:
    """All fixed labels of a section."""
    return frozenset(name for part, name in _book().labels if part == section)


def is_chinese(text: str) -> bool:
    """Whether Chinese characters are in it."""
    return _HAN.search(text) is not None


def english(text: str) -> Read:
    """Read what the tables know of a Chinese text, longest words first; no other letters."""
    found: dict[str, None] = {}
    left: dict[str, None] = {}
    clothed = False
    for run in _HAN_RUN.findall(text):
        tone = ""
        for piece, word in _parted(_COUNTED.sub("", run)):
            if word is None:
                if any(one not in _EMPTY for one in piece):
                    left.setdefault(piece)
                tone = tone if piece in _OF else ""  # of a thing that nobody knows
                continue
            clothed = clothed or word.kind == "worn"
            said = f"{tone} {word.english}".strip()
            tone = said if word.kind == "tone" else ""
            if word.kind not in ("tone", "none"):
                found.setdefault(said)
        if tone:
            found.setdefault(tone)
    return Read(tuple(found), clothed, tuple(left))


def office(name: str) -> str:
    """What somebody is who is called by it, in English: 船夫; empty for any other name."""
    found = _book().words.get(name)
    return found.english if found is not None and found.kind == "people" else ""


def _parted(run: str) -> Iterator[tuple[str, _Word | None]]:
    """The words of a run of characters, and between them what is none."""
    book, at, unknown = _book(), 0, ""
    while at < len(run):
        ends = range(min(at + book.longest, len(run)), at, -1)
        word = next((run[at:end] for end in ends if run[at:end] in book.words), "")
        if word and unknown:
            yield unknown, None
            unknown = ""
        if word:
            yield word, book.words[word]
        else:
            unknown += run[at]
        at += len(word) or 1
    if unknown:
        yield unknown, None


@functools.cache
def _book() -> _Book:
    text = importlib.resources.files(__package__ or "").joinpath("prompt_words.txt")
    labels: dict[tuple[str, str], tuple[str, str]] = {}
    words: dict[str, _Word] = {}
    section = ""
    for line in text.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[] ")
        elif section.startswith("words"):
            said, _, chinese = line.partition(":")
            kind = section.removeprefix("words").strip()
            word = _Word("" if kind == "none" else said.strip(), kind)
            words.update(dict.fromkeys(chinese.split(), word))
        else:
            name, said, chinese = (part.strip() for part in line.split("|"))
            labels[section, name] = (said, chinese)
    return _Book(labels, words, max(map(len, words)))
