"""The words of prompts in English and Chinese: fixed labels, and what texts say of looks.

The tables lie beside this module, in prompt_words.txt.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

Tongue: TypeAlias = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_HAN_RUN = re.compile("[\u3400-\u9fff\uf900-\ufaff]+")
#: what says nothing that can be seen
_EMPTY = frozenset(
    "的了着过地得之在是有和与及而且也都就又很最更把被给让使于以其这那个一不没他她它我你们"
)


class Read(NamedTuple):
    """Chinese words read as English."""

    words: tuple[str, ...]  #: in the order of the text, each once
    clothed: bool  #: something that is worn was among them
    left: tuple[str, ...]  #: runs of characters that the tables don't know


class _Book(NamedTuple):
    labels: Mapping[tuple[str, str], tuple[str, str]]
    words: Mapping[str, str]
    worn: frozenset[str]


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
    book, longest = _book(), _longest()
    found: dict[str, None] = {}
    left: list[str] = []
    clothed = False
    for run in _HAN_RUN.findall(text):
        at, unknown = 0, ""
        while at < len(run):
            for length in range(min(longest, len(run) - at), 0, -1):
                word = run[at : at + length]
                if word in book.words:
                    found.setdefault(book.words[word])
                    clothed = clothed or word in book.worn
                    left, unknown, at = _kept(left, unknown), "", at + length
                    break
            else:
                unknown, at = unknown + run[at], at + 1
        left = _kept(left, unknown)
    return Read(tuple(found), clothed, tuple(dict.fromkeys(left)))


def _kept(left: list[str], unknown: str) -> list[str]:
    """What is not known, but for the words that say nothing to the eye."""
    bare = "".join(one for one in unknown if one not in _EMPTY)
    return [*left, unknown] if bare else left


@functools.cache
def _longest() -> int:
    return max(map(len, _book().words))


@functools.cache
def _book() -> _Book:
    text = importlib.resources.files(__package__ or "").joinpath("prompt_words.txt")
    labels: dict[tuple[str, str], tuple[str, str]] = {}
    words: dict[str, str] = {}
    worn: set[str] = set()
    section = ""
    for line in text.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[] ")
        elif section.startswith("words"):
            said, _, chinese = line.partition(":")
            words.update(dict.fromkeys(chinese.split(), said.strip()))
            worn.update(chinese.split() if section == "words worn" else ())
        else:
            name, said, chinese = (part.strip() for part in line.split("|"))
            labels[section, name] = (said, chinese)
    return _Book(labels, words, frozenset(worn))
