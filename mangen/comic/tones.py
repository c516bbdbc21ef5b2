"""Tones: the colour that words give to a thing, as one plain English word."""

from __future__ import annotations

import functools
import re
from typing import Literal

#: colour -> the words for it, those that hold others first
TONES: dict[str, str] = {
    "navy": "藏青 藏蓝 深蓝", "black": "漆黑 乌黑 黑 墨", "white": "雪白 素白 白",
    "pink": "粉红 桃红 粉",
    "red": "大红 鲜红 朱 绯 赤 红", "green": "墨绿 碧 翠 绿", "teal": "青", "blue": "蓝",
    "purple": "紫", "brown": "咖啡 棕 褐", "cream": "米", "yellow": "黄", "grey": "灰",
    "gold": "金", "silver": "银", "orange": "橙",
}  # fmt: skip
_EN = (*TONES, "crimson", "scarlet", "gray", "golden")
_ALIKE = {"crimson": "red", "scarlet": "red", "gray": "grey", "golden": "gold"}
#: what may stand between a colour and its thing
_BETWEEN = "色?的?[小大破旧新长短厚皮布纸油绸缎木]{0,3}"


def of(before: str, words: str, language: Literal["zh", "en"]) -> str:
    """The colour of the thing called `words` that follows `before`; empty where none is told.

    `words` may name the colour itself: 黑伞.
    """
    if language == "en":
        found = _english().search(before)
        return _ALIKE.get(found[1].lower(), found[1].lower()) if found else ""
    told = _own().match(words[:-1]) or _chinese().search(before[-8:])
    return _names()[told[1]] if told else ""


@functools.cache
def _names() -> dict[str, str]:
    return {word: name for name, words in TONES.items() for word in words.split()}


@functools.cache
def _own() -> re.Pattern[str]:
    return re.compile(f"({'|'.join(sorted(_names(), key=len, reverse=True))})")


@functools.cache
def _chinese() -> re.Pattern[str]:
    return re.compile(f"{_own().pattern}{_BETWEEN}$")


@functools.cache
def _english() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(_EN)})(?: [a-z]+)? $", re.IGNORECASE)
