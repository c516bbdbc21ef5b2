"""Subtitles: lines with their frames in, cues of at most two short rows out. Pure.

Widths are in ideographs: a Latin letter counts half. What may not be torn (a word, a number with
its signs, a mark with what it closes) is one atom; atoms fill rows, rows fill cues.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence

import budoux

from mangen.engines import length

COLUMNS = 12  #: widest row of an upright frame; 552 px of 720
ROWS = 2
CLOSING = "，。！？；：、…—～”’」』》〉】）)]},.!?;:%％℃·"
_OPENING = "“‘「『《〈【（([{"
_TOKEN = re.compile(
    r"[¥￥$€£#]?\d+(?:[.,:/\-年月日]\d+)*(?:[%％℃°‰年月日号]|[A-Za-z]+(?:/[A-Za-z]+)?)?"
    r"|[A-Za-zÀ-ɏ]+(?:['’\-.&_/][A-Za-zÀ-ɏ]+|\d+)*"
    r"|[〇零一二两三四五六七八九十百千万亿]{2,}[岁年月日天个里]?"
    r"|\s+|.",
    re.DOTALL,
)
_CLINGING = "着了过的地得们吗呢吧啊呀"  #: a row that starts with one reads badly
_STRONG = "。！？…!?.；;"
_WEAK = "，、：—,:~～"
_BREAK_STRONG, _BREAK_WEAK, _BREAK_PHRASE, _BREAK_WORD, _BREAK_INSIDE = 0.0, 1.0, 4.0, 2.0, 16.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TimedLine:
    """A line and the frames it is heard in, or shown where it is not spoken."""

    start_frame: int
    frames: int
    text: str
    lettered: bool = False  #: drawn into the picture: its cue is written, not burned


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Cue:
    """What is read from `start_frame` up to, not including, `end_frame`."""

    start_frame: int
    end_frame: int
    rows: tuple[str, ...]
    lettered: bool = False


def cues(
    lines: Iterable[TimedLine], *, width: int = 720, height: int | None = None
) -> Sequence[Cue]:
    """The cues of all lines, in order; a long line's cues share its frames by what is spoken.

    Rows hold 12 ideographs in an upright frame of any size, up to twice that in a lying one
    (`height` None: upright). A line without frames, or without anything to see, has no cue.
    """
    columns = columns_of(width, height)
    made: list[Cue] = []
    for line in lines:
        pages = list(_pages(line.text, columns)) if line.frames > 0 else []
        while len(pages) > line.frames:  # no cue shorter than a frame
            last = pages.pop()
            pages[-1] += last
        weights = [max(0.5, length.spoken_characters("".join(rows))) for rows in pages]
        spare, total, before, start = line.frames - len(pages), sum(weights), 0.0, line.start_frame
        for i, (rows, weight) in enumerate(zip(pages, weights, strict=True)):
            before += weight
            end = line.start_frame + i + 1 + round(spare * before / total)
            made.append(Cue(start_frame=start, end_frame=end, rows=rows, lettered=line.lettered))
            start = end
    return made


def scale_of(width: int, height: int) -> float:
    """How much larger than in 720x1280 the type is."""
    return min(width / 720, height / 1280)


def columns_of(width: int, height: int | None) -> int:
    """Ideographs a row may hold."""
    if height is None:
        return COLUMNS
    return min(2 * COLUMNS, round(COLUMNS * width / 720 / scale_of(width, height)))


def to_srt(made: Sequence[Cue], fps: int) -> str:
    """SubRip text."""
    blocks = (
        f"{i}\n{_clock(cue.start_frame, fps, 1000, ',')} --> "
        f"{_clock(cue.end_frame, fps, 1000, ',')}\n{_plain(cue)}\n"
        for i, cue in enumerate(made, 1)
    )
    return "\n".join(blocks)


def to_ass(made: Sequence[Cue], fps: int, width: int, height: int) -> str:
    """Advanced SubStation text that looks as the burned rows do."""
    scale = scale_of(width, height)
    # its sizes are heights of a line: Noto Sans CJK's is 1.448 em
    style = (
        f"Style: Line,Noto Sans CJK SC,{46 * 1.448 * scale:.0f},&H00F0FAFF,&H001A1217,&H800E060A,"
        f"1,1,{7 * scale:.1f},{2 * scale:.1f},5,0,0,0"
    )
    position = f"{{\\pos({width // 2},{round(height * 1046 / 1280)})}}"
    events = "".join(
        f"Dialogue: 0,{_clock(cue.start_frame, fps, 100, '.')},"
        f"{_clock(cue.end_frame, fps, 100, '.')},Line,,0,0,0,,{position}"
        + "\\N".join(row.translate(_ASS) for row in cue.rows)
        + "\n"
        for cue in made
    )
    return (
        f"[Script Info]\nScriptType: v4.00+\nPlayResX: {width}\nPlayResY: {height}\n"
        "WrapStyle: 2\nScaledBorderAndShadow: yes\n\n[V4+ Styles]\nFormat: Name,Fontname,Fontsize,"
        "PrimaryColour,OutlineColour,BackColour,Bold,BorderStyle,Outline,Shadow,Alignment,MarginL,"
        f"MarginR,MarginV\n{style}\n\n[Events]\nFormat: Layer,Start,End,Style,Name,MarginL,MarginR,"
        f"MarginV,Effect,Text\n{events}"
    )


def width_of(text: str) -> float:
    """Columns a text takes: an ideograph one, a Latin letter half, a space a quarter."""
    return sum(
        0.0 if unicodedata.category(ch) in {"Mn", "Cf", "Me"}
        else 0.25 if ch == " "
        else 1.0 if unicodedata.east_asian_width(ch) in "WFA"
        else 0.5
        for ch in text
    )  # fmt: skip


_ASS = str.maketrans({"\\": "＼", "{": "｛", "}": "｝"})


def _plain(cue: Cue) -> str:
    return "\n".join(row.replace("-->", "->") for row in cue.rows)


def _clock(frame: int, fps: int, per_second: int, point: str) -> str:
    total = frame * per_second // fps
    seconds, part = divmod(total, per_second)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    if per_second == 100:
        return f"{hours}:{minute:02d}:{second:02d}{point}{part:02d}"
    return f"{hours:02d}:{minute:02d}:{second:02d}{point}{part:03d}"


@dataclasses.dataclass(frozen=True, slots=True)
class _Atom:
    text: str
    width: float
    space: float  #: of its width, what falls away at the end of a row
    cost: float  #: of a break after it


def _pages(text: str, columns: int) -> Iterable[tuple[str, ...]]:
    """Rows of each cue, by least cost: breaks where one breathes, few cues, even rows."""
    atoms = _atoms(text, columns)
    best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # cost, start, end of the first row
    for end in range(1, len(atoms) + 1):
        best.append(
            min(
                (best[start][0] + cost, start, middle)
                for start, middle, cost in _endings(atoms, end, columns)
            )
        )
    pages: list[tuple[str, ...]] = []
    end = len(atoms)
    while end:
        _, start, middle = best[end]
        rows = (_row(atoms[start:middle]), _row(atoms[middle:end]))
        pages.append(tuple(row for row in rows if row))
        end = start
    return [page for page in reversed(pages) if page]


def _endings(atoms: Sequence[_Atom], end: int, columns: int) -> Iterable[tuple[int, int, float]]:
    """Every cue that may end before atom `end`: its start, the end of its first row, its cost."""
    last = end == len(atoms)
    second = -atoms[end - 1].space
    for middle in range(end, 0, -1):
        if middle < end:
            second += atoms[middle].width
        if second > columns and middle < end - 1:
            return
        first = -atoms[middle - 1].space
        for start in range(middle - 1, -1, -1):
            first += atoms[start].width
            if first > columns and start < middle - 1:
                break
            cost = 6.0 + (0.0 if last else 2 * atoms[end - 1].cost)
            if middle < end:
                cost += 1.0 + atoms[middle - 1].cost + 0.04 * (first - second) ** 2
            if first + second < 4 and not (last and start == 0):
                cost += 4.0
            yield start, middle, cost
        if second > columns:
            return


def _row(atoms: Sequence[_Atom]) -> str:
    return "".join(atom.text for atom in atoms).strip()


def _atoms(text: str, columns: int) -> list[_Atom]:
    clean = re.sub(r"\s+", " ", "".join(ch for ch in text if _visible(ch))).strip()
    joined: list[str] = []
    held = quoted = False
    for piece in _TOKEN.findall(clean):
        quote = piece == '"'
        if joined and (held or piece[0] in CLOSING or piece == " " or (quote and quoted)):
            joined[-1] += piece
        else:
            joined.append(piece)
        quoted ^= quote
        held = piece in _OPENING or (quote and quoted) or (held and piece == " ")
    parts = [part for whole in joined for part in _cut(whole, 2 * columns)]
    edges = _phrase_edges(clean)
    atoms: list[_Atom] = []
    position = 0
    for part in parts:
        position += len(part)
        space = width_of(part) - width_of(part.rstrip())
        atoms.append(_Atom(part, width_of(part), space, _cost(part, edges, position)))
    return atoms


def _cut(atom: str, widest: int) -> Iterable[str]:
    """What no row could hold (an address, a hundred exclamation marks) is cut after all."""
    piece = ""
    for ch in atom:
        if piece and width_of(piece + ch) > widest:
            yield piece
            piece = ""
        piece += ch
    yield piece


def _cost(atom: str, edges: frozenset[int], position: int) -> float:
    end = atom.rstrip().rstrip("”’」』》】）)\"'")[-1:]
    if end and end in _STRONG:
        return _BREAK_STRONG
    if end and end in _WEAK:
        return _BREAK_WEAK
    if atom.endswith(" "):
        return _BREAK_WORD
    return _BREAK_PHRASE if position in edges else _BREAK_INSIDE


def _phrase_edges(text: str) -> frozenset[int]:
    edges: list[int] = []
    position = 0
    for phrase in _parser().parse(text):
        if phrase[0] in _CLINGING and edges:
            edges.pop()
        position += len(phrase)
        edges.append(position)
    return frozenset(edges)


@functools.cache
def _parser() -> budoux.Parser:
    return budoux.load_default_simplified_chinese_parser()


def _visible(ch: str) -> bool:
    if ch in "\ufeff\u200b\u2060\u00ad":
        return False
    return unicodedata.category(ch) not in {"Cc", "Cs", "Co", "Cn"} or ch in "\n\t"
