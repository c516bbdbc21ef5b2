"""Web and mail addresses and telephone numbers, as much of them as a person would say."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mangen.engines.voice import numerals

_HOST = r"(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,12}"
_TOP = r"(?:com|cn|org|net|edu|gov|io|me|tv|info|top|xyz|app|ai|uk|us|jp|hk|tw)"
_MAIL = re.compile(rf"(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{{1,64}})@({_HOST})")
_PATH = r"(?:[/?#](?:[^\s，。！？；、（）“”]*[^\s，。！？；、（）“”.,!?;:'\")])?)?"
_LINK = re.compile(
    rf"(?:https?|ftp)://(?:www\.)?({_HOST}|[^\s/，。！？]+)(?::\d+)?{_PATH}"
    rf"|(?<![A-Za-z0-9])www\.({_HOST}){_PATH}"
    rf"|(?<![@A-Za-z0-9_.-])((?:[A-Za-z0-9-]{{1,63}}\.){{1,5}}{_TOP})(?![A-Za-z0-9_-]){_PATH}"
)
_MOBILE = re.compile(r"(?<![\d+])(?:\+?86[-\s]?)?(1[3-9]\d)[-\s](\d{4})[-\s](\d{4})(?!\d)")
_ABROAD = re.compile(r"(?<!\d)\+?86[-\s]?(1[3-9]\d{9})(?!\d)")

#: how a dot and an at are said
_WORDS: Mapping[str, tuple[str, str]] = {"zh": ("点", "艾特"), "en": (" dot ", " at ")}


def said(text: str, language: str) -> str:
    """The text with its addresses as they are said: no protocol, no path, no country code."""
    dot, at = _WORDS[language]

    def mail(m: re.Match[str]) -> str:
        user = re.sub(r"[._%+-]+", dot, m[1])
        return user + at + m[2].replace(".", dot)

    def link(m: re.Match[str]) -> str:
        host = (m[1] or m[2] or m[3]).strip(".,")
        return host.replace(".", dot)

    text = _MAIL.sub(mail, text)
    text = _LINK.sub(link, text)
    if language == "zh":
        text = _ABROAD.sub(r"\1", text)
        text = _MOBILE.sub(_by_groups, text)
    return text


def _by_groups(m: re.Match[str]) -> str:
    return "，".join(numerals.digits(part, phone=True) for part in m.groups())
