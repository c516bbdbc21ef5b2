"""What a person would say for a written line: numbers, dates, times, prices, units as words.

Pure. The result holds ideographs, Latin words and plain punctuation, nothing else; symbols and
emoji are dropped. Chinese readings come from `numerals`, what English phonemes need in words
from `english`.
"""

from __future__ import annotations

import decimal
import re
import unicodedata
from collections.abc import Callable
from typing import Literal

from mangen.engines.voice import addresses, english, numerals

_NUMBER = r"\d+(?:\.\d+)?"
_UNITS = {
    "km/h": "公里每小时", "m/s": "米每秒", "km": "公里", "cm": "厘米", "mm": "毫米", "kg": "公斤",
    "mg": "毫克", "ml": "毫升", "mL": "毫升", "m2": "平方米", "m3": "立方米", "km2": "平方公里",
    "GHz": "吉赫", "MHz": "兆赫", "kHz": "千赫", "Hz": "赫兹", "kWh": "度", "kW": "千瓦",
    "°C": "摄氏度", "°F": "华氏度", "°": "度", "m": "米", "g": "克", "L": "升", "W": "瓦",
    "V": "伏", "h": "小时", "min": "分钟", "‰": "", "k": "千", "w": "万", "t": "吨", "ms": "毫秒",
    "nm": "纳米", "μm": "微米", "dB": "分贝", "mAh": "毫安时", "kcal": "千卡", "mph": "英里每小时",
    "km/s": "公里每秒", "ft": "英尺", "lb": "磅", "oz": "盎司", "mmHg": "毫米汞柱", "px": "像素",
    "rpm": "转每分", "hPa": "百帕", "cc": "毫升", "cm2": "平方厘米", "cm3": "立方厘米",
}  # fmt: skip
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_MONEY = {"¥": "元", "RMB": "元", "$": "美元", "US$": "美元", "HK$": "港元", "€": "欧元",
          "£": "英镑"}  # fmt: skip
_SCALES = {"k": 10**3, "K": 10**3, "m": 10**6, "M": 10**6, "b": 10**9, "B": 10**9, "bn": 10**9}
_SIGNS = {"+": "加", "=": "等于", "×": "乘", "x": "乘", "*": "乘", "÷": "除以", "<": "小于",
          ">": "大于", "≈": "约等于", "±": "正负", "≥": "大于等于", "≤": "小于等于"}  # fmt: skip
_KEPT = "，。！？；：（）、“”‘’「」『』《》〈〉【】…—～"
_SAID_BY_DIGITS = "电话|手机|手机号|号码|编号|卡号|尾号|密码|工号|学号|车牌|验证码|微信|QQ"

_ENDLESS = re.compile(r"\d{19,}")  #: no amount; and rules would look at each digit of it anew

Language = Literal["zh", "en"]
Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def spoken(text: str, language: Language = "zh") -> str:
    """The line as it is said; empty where there is nothing to say."""
    text = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", "又" if language == "zh" else " and ", text)
    text = "".join(ch if ch in _KEPT else _folded(ch) for ch in text)
    text = _ENDLESS.sub(lambda m: _one_by_one(m[0], language), text)
    text = addresses.said(text, language)
    text = re.sub(r"(?<=\d)：(?=\d)", ":", text)
    text = re.sub(r"(?<=[㐀-鿿])\s+(?=[㐀-鿿])|(?<=\d)\s+(?=\d)", "，", text.strip())
    text = re.sub(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)", lambda m: m[0].replace(",", ""), text)
    if language == "zh":
        for pattern, say in _RULES:
            text = pattern.sub(say, text)
    else:
        text = english.said(text)
    return _cleaned(text, language)


def _one_by_one(number: str, language: Language) -> str:
    return numerals.digits(number) if language == "zh" else " ".join(number)


def speakable(text: str, language: Language = "zh") -> bool:
    """Whether a voice could say anything at all of this line."""
    return any(ch.isalnum() for ch in spoken(text, language))


def _folded(ch: str) -> str:
    """Full-width forms as ASCII, ½ as 1/2, Ⅳ as 4, a circled number apart from its neighbours."""
    if "Ⅰ" <= ch <= "Ⅻ":
        return str(int(unicodedata.numeric(ch)))
    plain = unicodedata.normalize("NFKC", ch).replace("⁄", "/")
    return f" {plain} " if unicodedata.decomposition(ch).startswith("<circle>") else plain


def _date(m: re.Match[str]) -> str:
    year, month, day = m[1], int(m[3]), int(m[4])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return m[0]
    return (
        f"{numerals.digits(year)}年{numerals.cardinal(str(month))}月{numerals.cardinal(str(day))}日"
    )


def _time(m: re.Match[str]) -> str:
    hour, minute, second = int(m[1]), m[2], m[3]
    if hour > 24:
        return f"{numerals.cardinal(m[1])}比{numerals.cardinal(minute)}"
    half = {"a": "上午", "p": "下午"}.get((m[4] or "").lower()[:1], "")
    said = half + numerals.counted(str(hour), "点") + "点"
    if minute == "30" and not second:
        return said + "半"
    if int(minute) or second:
        said += ("零" if 0 < int(minute) < 10 else "") + numerals.cardinal(str(int(minute))) + "分"
    if second:
        said += numerals.cardinal(str(int(second))) + "秒"
    return said


def _price(m: re.Match[str]) -> str:
    unit, amount, scale = _MONEY[m[1]], m[2], m[3] or m[4] or ""
    if scale in _SCALES:
        amount = str(int(decimal.Decimal(amount) * _SCALES[scale]))
        return numerals.counted(amount, unit) + unit
    whole, _, parts = amount.partition(".")
    if unit == "元" and not scale and 0 < len(parts) <= 2:
        tens, ones = parts[0], parts[1:] or "0"
        said = numerals.counted(whole, "元") + "元" if int(whole) else ""
        if tens != "0":
            said += numerals.digits(tens) + "角"
        elif ones != "0" and said:
            said += "零"
        return (said + (numerals.digits(ones) + "分" if ones != "0" else "")) or "零元"
    if parts:
        amount = amount.rstrip("0").rstrip(".")
    return numerals.counted(amount, scale or unit) + scale + unit


def _percent(m: re.Match[str]) -> str:
    minus, low, high, sign = m[1], m[2], m[3], m[4]
    of = "百分之" if sign == "%" else "千分之"
    said = f"{'负' if minus else ''}{of}{_share(low)}"
    return said + (f"到{of}{_share(high)}" if high else "")


def _share(number: str) -> str:
    return "百" if number == "100" else numerals.cardinal(number)


def _unit(m: re.Match[str]) -> str:
    low, high, unit = m[2], m[3], _UNITS[m[4]]
    said = ("负" if m[1] else "") + numerals.counted(low, unit)
    return said + (f"到{numerals.counted(high, unit)}" if high else "") + unit


def _pair(m: re.Match[str]) -> str:
    joint = "到" if float(m[1]) < float(m[2]) else "比"
    return f"{numerals.cardinal(m[1])}{joint}{numerals.cardinal(m[2])}"


def _fraction(m: re.Match[str]) -> str:
    if 0 < int(m[1]) < int(m[2]):
        return f"{numerals.cardinal(m[2])}分之{numerals.cardinal(m[1])}"
    return f"{numerals.cardinal(m[1])}，{numerals.cardinal(m[2])}"


def _counted(m: re.Match[str]) -> str:
    if m.string[: m.start()].endswith("第"):
        return numerals.cardinal(m[0])
    return numerals.counted(m[0], m.string[m.end() : m.end() + 2])


def _rule(pattern: str, say: Callable[[re.Match[str]], str]) -> Rule:
    return re.compile(pattern), say


_N = _NUMBER
#: what makes a number an amount again where it looks like a name
_COUNTED = rf"\s?(?:{numerals.MEASURES}|{_UNIT})"
_TO = r"\s?[-–—~～至到]\s?"
#: in order: what is more particular comes first, and leaves no digits behind
_RULES: tuple[Rule, ...] = (
    _rule(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)", _date),
    _rule(
        r"(?<!\d)(\d{4})[-–~～](\d{4})(?=年)",
        lambda m: f"{numerals.digits(m[1])}到{numerals.digits(m[2])}",
    ),
    _rule(
        rf"(?<![\d.])(1[0-9]\d\d|20\d\d)\s?[-–—~～]\s?(1[0-9]\d\d|20\d\d)(?![\d.%]|{_COUNTED})",
        lambda m: f"{numerals.digits(m[1])}到{numerals.digits(m[2])}",
    ),
    _rule(r"'?(?<!\d)((?:1[89]|20)?\d0)'?s\b", lambda m: f"{numerals.digits(m[1])}年代"),
    _rule(r"(?<=[年月日号天点分])\s?[-–—~～]\s?(?=[\d一二三四五六七八九十零])", lambda _: "到"),
    _rule(r"(?<!\d)\d{4}(?=年(?!级))", lambda m: numerals.digits(m[0])),
    _rule(r"(?<=:[0-5]\d)\s?[-–—~～]\s?(?=\d{1,2}:[0-5]\d)", lambda _: "到"),
    _rule(
        r"(?<![\d:.])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\s?([AaPp])\.?[Mm]\.?)?", _time
    ),
    _rule(
        rf"({'|'.join(re.escape(s) for s in sorted(_MONEY, key=len, reverse=True))})\s?({_N})"
        r"(?:\s?(万亿|千万|百万|亿|万)|(bn|[kKmMbB])(?![A-Za-z]))?",
        _price,
    ),
    _rule(rf"(-)?({_N})%?(?:{_TO}({_N}))?\s?([%‰])", _percent),
    _rule(rf"(?:(?<![\w)）])(-))?({_N})(?:{_TO}({_N}))?\s?({_UNIT})(?![A-Za-z0-9])", _unit),
    _rule(r"(?<!\d)1[3-9]\d{9}(?!\d)", lambda m: numerals.digits(m[0], phone=True)),
    _rule(
        r"(?<!\d)(0\d{2,3}|400|800)-(\d{3,8})(?:-(\d{3,4}))?(?!\d)",
        lambda m: numerals.digits(re.sub(r"\D", "", m[0]), phone=True),
    ),
    _rule(
        rf"((?:{_SAID_BY_DIGITS})[是为:：\s]{{0,2}})(\d{{3,}})",
        lambda m: m[1] + numerals.digits(m[2], phone=True),
    ),
    _rule(r"(?<![\d.])(\d{3,4})(?=号?(?:室|房|病房|包厢|教室|寝室|宿舍))",
          lambda m: numerals.digits(m[1])),
    _rule(r"(?<=[打拨])(11[0249]|12[0-2]|911|[19]\d{4})(?![\d.%]|" + _COUNTED + ")",
          lambda m: numerals.digits(m[1], phone=True)),
    _rule(r"(?<![\d.])(11[029]|12[02])(?=报警|急救|热线|电话)",
          lambda m: numerals.digits(m[1], phone=True)),
    _rule(r"(?<![\d.])(996|666)(?![\d.%]|" + _COUNTED + ")", lambda m: numerals.digits(m[1])),
    _rule(r"(?<!\d)24/7(?!\d)", lambda _: "全天候"),
    _rule(r"(?<!\d)(\d{1,2})·(\d{1,2})(?!\d)",
          lambda m: numerals.digits(m[1]) + numerals.digits(m[2])),
    _rule(r"(?<!\d)(\d{1,2})'(\d{2})(?:''|\")",
          lambda m: numerals.counted(m[1], "分钟") + "分" + numerals.cardinal(m[2]) + "秒"),
    _rule(r"(?<=身高)([是有为约]?)([12])\.(\d{1,2})(?:米|m)(?![A-Za-z])",
          lambda m: f"{m[1]}{numerals.cardinal(m[2])}米{numerals.digits(m[3])}"),
    _rule(r"(?<!\d)(\d+)(?=[室房](?!间))", lambda m: numerals.digits(m[1]) if len(m[1]) > 2
          else numerals.cardinal(m[1])),
    _rule(r"\d+(?:\.\d+){2,}", lambda m: "点".join(map(numerals.cardinal, m[0].split(".")))),
    _rule(r"^\s*[(（]?(\d{1,2})(?:[)）]|\.(?=\s|[㐀-鿿]))\s*",
          lambda m: numerals.cardinal(m[1]) + "，"),
    _rule(r"(?<=\b[A-Z])2(?=[A-Z]\b)", lambda _: " to "),
    _rule(r"\bC#", lambda _: "C sharp"),
    _rule(r"(?<![A-Za-z])(?:No\.?|#)\s?(\d+)", lambda m: f"第{numerals.cardinal(m[1])}"),
    _rule(r"(?<![A-Za-z\d])(\d+)(?:st|nd|rd|th)\b", lambda m: f"第{numerals.cardinal(m[1])}"),
    _rule(r"(?<![\d/])(\d+)/(\d+)(?![\d/])", _fraction),
    _rule(rf"(?<![\d:])({_N}):({_N})(?![\d:])",
          lambda m: f"{numerals.cardinal(m[1])}比{numerals.cardinal(m[2])}"),
    _rule(rf"(?<![A-Za-z\d.-])({_N})\s?[-–—~～]\s?({_N})(?![A-Za-z\d.-])", _pair),
    _rule(r"(?<=[\d)])\s?([+=×x*÷<>≈±≥≤])\s?(?=\d)", lambda m: _SIGNS[m[1]]),
    _rule(r"([≥≤≈±])\s?(?=\d)", lambda m: _SIGNS[m[1]]),
    _rule(rf"(?:^|(?<=[\s(（:：，为是]))-(?={_N})", lambda _: "负"),
    _rule(r"(?<=\d)\+", lambda _: "加"),
    _rule(r"(?<=[A-Za-z])-?(\d{3,})", lambda m: numerals.digits(m[1])),
    _rule(r"(?<=[A-Za-z])-(?=\d)", lambda _: ""),
    _rule(_N, _counted),
)  # fmt: skip


def _cleaned(text: str, language: Language) -> str:
    """Drop what can't be said; leave plain punctuation, one mark at a time."""
    joiner = "和" if language == "zh" else " and "
    text = re.sub(r"(?<=[㐀-鿿])\s?&\s?(?=[㐀-鿿])", joiner, text).replace("&", " and ")
    text = text.replace("〇", "零").replace("@", " at ").replace("++", " plus plus")
    text = re.sub(r"[‘’](?=[A-Za-z])", "'", text)
    text = re.sub(r"[—–]+|-{2,}|[/|→、]", "，" if language == "zh" else ", ", text)
    text = re.sub(r"…+|\.{2,}|。{2,}", "。" if language == "zh" else ". ", text)
    keep = "'-,.!?;:，。！？；：" + ("$€£%+=#" if language == "en" else "")
    text = "".join(ch if ch in keep or _is_word(ch) else _gap(ch) for ch in text)
    text = re.sub(r"(?<![A-Za-z])['-]+|['-]+(?![A-Za-z\d])", " ", text)
    text = re.sub(r"([,.!?;:，。！？；：])(?:\s*[,.!?;:，。！？；：])+", _strongest, text)
    text = re.sub(
        r"(?<=[㐀-鿿])\s+(?=[㐀-鿿，。！？；：])|(?<=[，。！？；：])\s+|\s+(?=[,.!?;:])", "", text
    )
    return re.sub(r"\s+", " ", text).strip().lstrip(",.;:，。；：！？!? ")


def _is_word(ch: str) -> bool:
    return (
        "㐀" <= ch <= "鿿" or (ch.isascii() and ch.isalnum()) or ("À" <= ch <= "ɏ" and ch.isalpha())
    )


def _gap(ch: str) -> str:
    """Quotes and marks inside a word vanish; all else parts words."""
    return "" if unicodedata.category(ch) in {"Mn", "Cf", "Cc"} and ch not in "\n\t" else " "


def _strongest(m: re.Match[str]) -> str:
    return max(m[0].replace(" ", ""), key="，,：:；;。.！!？?".index)
