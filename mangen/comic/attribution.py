"""The words that say whose a quotation is, as expressions."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from mangen.comic import cast_chinese, cast_english, people


@functools.cache
def signs(language: people.Language) -> Mapping[str, re.Pattern[str]]:
    """The expressions of a language, by what they are for."""
    if language == "en":
        verb = cast_english.SAY
        return {
            "leads": re.compile(rf"[:,]\s*$|\b(?:{verb})\b[^.]{{0,30}}$"),
            "near": re.compile(rf"\b\w+\s+(?:\w+ly\s+)?(?:{verb})\b[^.]{{0,30}}$"),
            "after": re.compile(
                rf"\s*(?:(?:{verb})\s(?P<who>(?:the|his|her|a|an|my)\s(?:\w+\s)?\w+)?[^.;,]{{0,40}}"
                rf"|[\w.]+(?:\s\w+)?\s(?:\w+ly\s)?(?:{verb})\b)"
            ),
            "somebody_before": re.compile(
                r"((?:the|his|her|a|an|my)\s(?:\w+\s)?\w+)", re.IGNORECASE
            ),
            "omits": re.compile(rf"^\s*(?:and|then|but)\b|^\s*(?:{verb})\b", re.IGNORECASE),
            "manner": re.compile(r"^\s+"),
        }
    say = cast_chinese.say()
    manner = cast_chinese.MANNER
    return {
        "leads": re.compile(rf"[：:]$|{say}[，,]?$"),
        "near": re.compile(rf"[^，。！？；、]{{1,12}}{say}[：:，,]?$"),
        "after": re.compile(
            rf"[，,]?(?P<who>[^，。！？：]{{0,14}}?){say}(?=[，,。：:！!？?…]|了|着|起|一|$)"
        ),
        "somebody_before": re.compile(
            rf"([^，。！？：的]{{1,6}}?)(?:{manner}){{0,3}}{say}[：:，,]?$"
        ),
        "omits": re.compile(
            rf"^[又便再接仍忽因遂乃]|(?:^|[，,])(?:{manner}){{0,3}}{say}[：:，,]?$"
        ),
        "manner": re.compile(rf"(?:{manner})+$"),
    }
