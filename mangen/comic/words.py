"""Chinese words by jieba: loaded at first use, quiet, its cache in the temporary folder."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any


@functools.cache
def _jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba  # noqa: PLC0415 - a second and 100 MB, which only planning pays
        import jieba.posseg  # noqa: PLC0415 - with it

        jieba.setLogLevel(60)
        jieba.initialize()
    return jieba


def words(text: str) -> Iterator[str]:
    """The words of a text; joined, they are the text."""
    yield from _jieba().cut(text)


def tagged(text: str) -> Iterator[tuple[str, str]]:
    """Words with their part-of-speech flags (`nr` is a person's name)."""
    for pair in _jieba().posseg.cut(text):
        yield pair.word, pair.flag


def frequency(word: str) -> int:
    """How common a word is in jieba's dictionary; 0: not in it."""
    return int(_jieba().dt.FREQ.get(word) or 0)
