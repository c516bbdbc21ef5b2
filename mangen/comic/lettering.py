"""Which words belong into the picture: short speech in balloons, where and when in captions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mangen.comic import model
from mangen.engines import protocol

#: the longest line a balloon holds: characters of Chinese, letters and marks of English
MOST = {"zh": 14, "en": 28}
MOST_CAPTION = 12

_TIME = (
    r"(?:[一二两三四五六七八九十百千数几\d]+多?余?个?(?:年|天|日|月|个?小时|载|春秋)(?:之?[前后])"
    r"|(?:第二|次|翌|隔|当)[天日晚夜]|(?:这|那)[一天年]*(?:天|年|夜|晚)?"
    r"|(?:深|隆|初|寒)冬|(?:初|深|晚|仲)[春夏秋]|[春夏秋冬]天"
    r"|清晨|黎明|拂晓|黄昏|傍晚|深夜|半夜|午夜|凌晨|正午|午后|入夜|雨夜|雪夜|除夕|中秋"
    r"|从前|很久以前|多年以?[前后]|小时候|儿时|童年|当年)"
)
#: a line that says nothing else
_ONLY = re.compile(rf"{_TIME}[里夜晚的，、 ]*\w{{0,5}}[。，：…—]*")
_WHEN = re.compile(f"{_TIME}(?:的?{_TIME})?")
_JUMP = re.compile(
    r"[一二两三四五六七八九十百千数几\d]+多?余?个?(?:年|天|日|月|个?小时|载)之?后|(?:第二|次|翌|隔)[天日晚]"
    r"|(?:\w+ ){1,2}(?:years?|days?|months?|weeks?) later"
    r"|(?:the )?(?:next|following) (?:day|morning|evening|night)|that (?:evening|night)"
    r"|in the morning|in (?:spring|summer|autumn|winter)|at (?:dawn|daybreak|sunrise)"
    r"|(?:the )?(?:morning|night) (?:after|came)"
    r"|(?:on )?the (?:second|third|fourth|fifth|last) (?:day|morning|evening|night)",
    re.IGNORECASE,
)
_IN_MIND = re.compile(r"^(?:这|那)")
_ONLY_EN = re.compile(
    r"(?:(?:\w+ ){1,2}(?:years?|days?|months?|weeks?|hours?) (?:later|ago|before|after)"
    r"|(?:the )?(?:next|following) (?:day|morning|evening|night)|that (?:night|evening|morning))"
    r"[.,:]?",
    re.IGNORECASE,
)
_WHEN_EN = re.compile(_ONLY_EN.pattern.removesuffix("[.,:]?"), re.IGNORECASE)
_MARKS = " 　，。：…—,.:;；"


def jumps(narration: str) -> bool:
    """Say whether a paragraph begins later than the one before ended: 三日后, 第二天."""
    return _JUMP.match(narration.lstrip()) is not None


def fits(line: model.Line) -> bool:
    """Say whether a balloon holds what somebody says."""
    return line.quoted and 0 < len(line.text) <= MOST[line.language]


def is_caption(line: model.Line) -> bool:
    """Say whether a line of narration only tells when it is: it is read off the picture."""
    only = _ONLY_EN if line.language == "en" else _ONLY
    return (
        not line.quoted
        and len(line.text) <= MOST[line.language]
        and bool(only.fullmatch(line.text) and line.text.endswith(tuple("。.：:…")))
    )


def lettered(
    lines: Sequence[model.Line], *, characters: Sequence[str], framing: str
) -> tuple[bool, ...]:
    """Which lines of a shot are drawn into it: what is said by who is seen, and captions."""
    faces = framing != "insert"
    return tuple(
        is_caption(line) or (faces and fits(line) and line.speaker in characters) for line in lines
    )


def of(shot: model.Shot) -> tuple[protocol.Lettering, ...]:
    """All lettering of a shot; where a scene begins, its first line's own words tell when."""
    words = [
        protocol.Lettering(
            line=line.no,
            text=line.text.rstrip("，, ") if line.quoted else line.text.strip(_MARKS),
            kind="balloon" if line.quoted else "caption",
            by=(line.speaker or "") if line.quoted else "",
        )
        for line in shot.lines
        if line.lettered
    ]
    first = shot.lines[0] if shot.lines else None
    if first is None or first.lettered or shot.scene.framing != "establish":
        return tuple(words)
    told = _when(first)
    if told:
        words.append(protocol.Lettering(line=first.no, text=told, kind="caption"))
    return tuple(words)


def _when(line: model.Line) -> str:
    """The words of a line for when it is: 二十年前; empty where it has none."""
    if line.quoted:
        return ""
    pattern = _WHEN_EN if line.language == "en" else _WHEN
    found = [match.group() for match in pattern.finditer(line.text)]
    found = [words for words in found if not _IN_MIND.match(words)]
    return found[0][: MOST[line.language]] if found else ""
