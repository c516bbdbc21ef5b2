"""What a person would say for an English line: prices, shares, ranges and short forms as words.

Plain numbers, dates, times and units stay: the English phonemes read those in context.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_N = r"\d+(?:\.\d+)?"
_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent"),
          "¥": ("yuan", "fen")}  # fmt: skip
_PLURALS = {"penny": "pence", "yuan": "yuan", "fen": "fen"}
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion",
           "tn": "trillion"}  # fmt: skip
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_SHORT = {"e.g.": "for example", "i.e.": "that is", "vs.": "versus", "etc.": "et cetera",
          "w/o": "without", "approx.": "approximately", "24/7": "twenty-four seven"}  # fmt: skip
_HALVES = {"1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter",
           "3/4": "three quarters"}  # fmt: skip
_KINGS = (
    "Henry|Louis|Charles|George|Edward|Richard|William|James|Paul|Elizabeth|Mary|Catherine|Philip|"
    "Napoleon|Alexander|Peter|Ivan|Frederick|Wilhelm|Benedict|Pius|Nicholas|Gustav|Christian"
)

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def said(text: str) -> str:
    """The line with what English phonemes misread in words."""
    for pattern, say in _RULES:
        text = pattern.sub(say, text)
    return text


def _price(m: re.Match[str]) -> str:
    unit, part = _MONEY[m[1]]
    amount, scale = m[2], m[3]
    if scale:
        word = _SCALES.get(scale.lower().strip(), scale.strip().lower())
        return f"{amount} {word} {_many(unit, 2)}"
    whole, _, cents = amount.partition(".")
    if len(cents) != 2:
        return f"{amount} {_many(unit, 1 if amount == '1' else 2)}"
    words = f"{whole} {_many(unit, int(whole))}" if int(whole) or not int(cents) else ""
    if int(cents):
        words += (" and " if words else "") + f"{int(cents)} {_many(part, int(cents))}"
    return words


def _many(word: str, count: int) -> str:
    return word if count == 1 else _PLURALS.get(word, word + "s")


def _roman(m: re.Match[str]) -> str:
    return f"{m[1]}{_value(m[2])}"


def _king(m: re.Match[str]) -> str:
    count = _value(m[2])
    ending = "th" if 10 < count < 20 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{m[1]} the {count}{ending}"


def _value(roman: str) -> int:
    values = [_ROMAN[ch] for ch in roman]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-one if one < following else one for one, following in pairs)


def _telephone(m: re.Match[str]) -> str:
    return ", ".join(" ".join(part) for part in re.findall(r"\d+", m[0]))


def _rule(pattern: str, say: str | Callable[[re.Match[str]], str]) -> Rule:
    return re.compile(pattern), (say if callable(say) else lambda m: m.expand(say))


_RULES: tuple[Rule, ...] = (
    *(_rule(rf"(?<!\w){re.escape(short)}(?!\w)", long) for short, long in _SHORT.items()),
    _rule(r"(?<!\d)\(?\d{3}\)?[-.\s]\d{3}[-.]\d{4}(?!\d)", _telephone),
    _rule(
        rf"([$£€¥])\s?({_N})(\s?(?:million|billion|trillion|thousand|hundred)\b"
        r"|(?:tn|bn|mn|[kKmMbB])\b)?",
        _price,
    ),
    _rule(rf"(?<![\w.])({_N})\s?[-–—]\s?({_N})\s?%", r"\1 to \2 percent"),
    _rule(rf"({_N})\s?%", r"\1 percent"),
    _rule(r"(?<![\d:])(\d{1,2}:\d\d)\s?[-–—]\s?(?=\d{1,2}:\d\d)", r"\1 to "),
    _rule(r"(?<![\d./-])(\d{1,4})\s?[-–—]\s?(\d{1,4})(?![\d./-])", r"\1 to \2"),
    _rule(r"(?<![\d/])(?:[123]/[234])(?![\d/])", lambda m: _HALVES.get(m[0], m[0])),
    _rule(r"(?:\bNo\.|№|#)\s?(?=\d)", "number "),
    _rule(
        r"\b((?:[Cc]hapter|[Pp]art|[Bb]ook|[Vv]olume|[Aa]ct|[Ss]cene|CHAPTER|PART|BOOK|VOLUME|ACT"
        r"|SCENE|War)\s+)(?=[IVXLC])((?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\b",
        _roman,
    ),
    _rule(rf"\b({_KINGS})\s(?=[IVX]{{2}})(X{{0,2}}(?:IX|IV|V?I{{0,3}}))\b", _king),
    _rule(r"(?<=\d)\s?°\s?C\b", " degrees Celsius"),
    _rule(r"(?<=\d)\s?°\s?F\b", " degrees Fahrenheit"),
    _rule(r"(?<=\d)\s?°", " degrees"),
    _rule(r"(?<=\d)\s?(?:km/h|kph)\b", " kilometers per hour"),
    _rule(r"(?<=\d)\s?mph\b", " miles per hour"),
    _rule(r"(?<=\d)\s?m/s\b", " meters per second"),
    _rule(r"(?<![\d'])(\d)'(\d{1,2})(?:''|\")", r"\1 foot \2"),
    _rule(r"(?<![\w)])-(?=\d)", "minus "),
    _rule(r"(?<=\d)\+", " plus"),
    _rule(r"\s=\s", " equals "),
)
