"""The words that rules go by, read from its .txt files once."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping

_FILES = ("lexicon.txt", "english.txt", "things.txt")


@functools.cache
def _sections() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    name = ""
    folder = importlib.resources.files(__package__)
    text = "\n".join(folder.joinpath(name).read_text("utf-8") for name in _FILES)
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[] ")
            found.setdefault(name, [])
        elif line and not line.startswith("#"):
            found[name].extend(word.replace("_", " ") for word in line.split())
    return {key: tuple(value) for key, value in found.items()}


def words(section: str) -> tuple[str, ...]:
    """The words of a section, in order."""
    return _sections()[section]


@functools.cache
def characters(section: str) -> frozenset[str]:
    """The single characters of a section."""
    return frozenset("".join(words(section)))


@functools.cache
def labels(kind: str) -> Mapping[str, str]:
    """All words of the sections `[kind LABEL]`: word -> label; of two the first keeps a word."""
    found: dict[str, str] = {}
    for section, listed in _sections().items():
        head, _, label = section.partition(" ")
        if head == kind:
            for word in listed:
                found.setdefault(word, label)
    return found


@functools.cache
def people(kind: str) -> Mapping[str, tuple[str, str]]:
    """Words for people of the sections `[kind SEX AGE]`: word -> (sex, age)."""
    return {word: (a, b) for word, label in labels(kind).items() for a, b in [label.split()]}


def alternation(listed: tuple[str, ...] | list[str]) -> str:
    """A regular expression of plain words, the longest first."""
    return "|".join(sorted(listed, key=lambda word: (-len(word), word)))
