"""A source text: its bytes decoded, its chapters found."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import re
from collections.abc import Sequence

from mangen import errors

MAX_BYTES = 20 * 10**6
ENCODINGS = ("utf-8", "gb18030", "utf-16-le", "utf-16-be")

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_BINARY = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP, DOCX or EPUB"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\xd0\xcf\x11\xe0", "an old Word document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"Rar!", "a RAR archive"),
)
#: the commonest characters of Chinese prose, simplified and traditional: mojibake has next to none
_COMMON = frozenset(
    "的一是了我不人在他有这個这上们們来來到时時大地为為子中你说說生国國年着著就那和要她出也得里裡"
    "后後自以会會家可下而过過天去能对對小多然于於心学學么麼之都好看起发發当當没沒成只如事把还還用"
)
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
#: Latin, general punctuation, CJK punctuation and kana, full-width forms
_PROSE = re.compile(r"[ -~\n\r\t\ufeff\xa0-\u024f\u2010-\u2027\u3000-\u30ff\uff01-\uffee]")
#: what neither prints nor speaks; NUL could not even be stored
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f\ufeff\u200b\u00ad\ud800-\udfff]")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    r"""A decoded text. Spans everywhere are offsets in characters of `text`.

    Newlines are normalised to `\n`, invisible controls dropped; all else is as the author wrote.
    """

    text: str
    encoding: str
    sha256: str  #: of the bytes
    name: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Chapter:
    """A stretch of the text: [start, body) is its heading, [body, end) its prose.

    What stands before the first heading is a chapter without title.
    """

    title: str
    start: int
    body: int
    end: int


def read(path: pathlib.Path, *, max_bytes: int = MAX_BYTES) -> Source:
    """The text of a file; raises TextError where it is missing, too large, binary or unreadable."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise errors.TextError(f"{path} is a folder; name the text file in it")
        if not path.is_file():  # a device or a pipe may have no end
            raise errors.TextError(f"{path} is no plain file; name a text file")
        if size > max_bytes:
            raise errors.TextError(
                f"{path} is too large: {size / 1e6:.1f} MB of at most {max_bytes / 1e6:.1f} MB; "
                "split it, or raise MANGEN_MAX_TEXT_MB"
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise errors.TextError(f"{path} does not exist; check the path") from error
    except OSError as error:
        raise errors.TextError(
            f"{path} can't be read: {error.strerror}; check its permissions"
        ) from error
    return decode(data, path.name)


def decode(data: bytes, name: str) -> Source:
    """The text of some bytes: UTF-8, GB18030, UTF-16, with or without a BOM.

    Raises TextError that names what is wrong, at which byte, and the mend.
    """
    if not data:
        raise errors.TextError(f"{name} is empty (0 bytes); give a text with at least a sentence")
    for magic, what in _BINARY:
        if data.startswith(magic):
            raise errors.TextError(f"{name} is {what}, not plain text; save it as .txt in UTF-8")
    text, encoding = _decoded(data, name)
    text = _INVISIBLE.sub("", _NEWLINES.sub("\n", text))
    if not any(ch.isalnum() for ch in text):
        raise errors.TextError(
            f"{name} has nothing to say: there is no sentence among its {len(text)} characters; "
            "give a text with words"
        )
    return Source(text=text, encoding=encoding, sha256=hashlib.sha256(data).hexdigest(), name=name)


def _decoded(data: bytes, name: str) -> tuple[str, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return data[len(bom) :].decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise _undecodable(name, [(encoding, len(bom) + error.start)]) from error
    tried: list[tuple[str, int]] = []
    plausible: list[tuple[float, str, str]] = []
    for encoding in ENCODINGS:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            tried.append((encoding, error.start))
            if encoding == "utf-8" and _is_damaged_utf8(data):
                # another encoding might swallow the rest of it as mojibake
                raise _undecodable(name, tried) from error
            continue
        if encoding == "utf-8" and b"\x00" not in data:
            if _controls(data) > 0.02:
                raise _undecodable(name, [(encoding, _first_control(data))], binary=True)
            return text, encoding
        plausible.append((_plausibility(text), text, encoding))
    score, text, encoding = max(plausible, default=(0.0, "", ""))
    if score >= 0.9:
        return text, encoding
    raise _undecodable(
        name, tried or [("utf-8", _first_control(data))], binary=_controls(data) > 0.02
    )


def _is_damaged_utf8(data: bytes) -> bool:
    """Say whether nearly all of it is UTF-8: GB18030 and UTF-16 break at almost every character."""
    replaced = data.decode("utf-8", "replace")
    wide = sum(1 for ch in replaced if ch > "\x7f")
    return replaced.count("\ufffd") < 0.5 * wide


def _plausibility(text: str) -> float:
    """The share of characters that prose has, 0 where it is Chinese without common characters."""
    good = han = common = 0
    for ch in text:
        if "\u4e00" <= ch <= "\u9fff":
            han += 1
            good += 1
            common += ch in _COMMON
        else:
            good += ch > "\uffff" or _PROSE.match(ch) is not None
    if han >= 30 and common < 0.05 * han:
        return 0.0
    return good / max(1, len(text))


#: control bytes that no 8-bit text has
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27})


def _controls(data: bytes) -> float:
    return 1 - len(data.translate(None, _CONTROLS)) / len(data)


def _first_control(data: bytes) -> int:
    return next(at for at, byte in enumerate(data) if byte in _CONTROLS)


def _undecodable(
    name: str, tried: Sequence[tuple[str, int]], *, binary: bool = False
) -> errors.TextError:
    where = ", ".join(f"{encoding} fails at byte {offset}" for encoding, offset in tried)
    seems = " (it looks like a binary file)" if binary else ""
    return errors.TextError(
        f"{name} can't be decoded{seems}: {where}; "
        "save it as plain text in UTF-8, or mend the bytes there"
    )


_NUMBER = r"[0-9０-９零〇一二三四五六七八九十百千万两廿卅]{1,9}"
_OPEN, _SHUT = r"[【\[〖《(（]", r"[】\]〗》)）]"
_ENGLISH_NUMBER = (
    r"(?:\d{1,4}|[ivxlc]{1,7}|(?:twen|thir|for|fif)ty|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_HEADING = re.compile(
    rf"(?:正文\s*)?{_OPEN}?\s*第\s*{_NUMBER}\s*(?:"
    rf"[章回节節卷集部篇话話幕折]\s*(?:$|{_SHUT}.{{0,40}}$|[\s:：、·.—\-].{{0,40}}$)"
    r"|章[^。！？；，]{1,24}$)"
    rf"|{_OPEN}?(?:楔子|序章|序言|序幕|序|前言|引子|引言|尾声|尾聲|后记|後記|终章|終章|大结局|番外(?:篇)?{_NUMBER}?"
    rf"|番外)\s*(?:$|{_SHUT}.{{0,30}}$|[\s:：、·—\-].{{0,30}}$)"
    rf"|(?:chapter|stave|book|volume|part|act)\s+{_ENGLISH_NUMBER}\s*(?:[.:—\-]\s*.{{0,60}})?$"
    rf"|chapter\s+{_ENGLISH_NUMBER}\s[^.,!?;]{{1,60}}$"
    r"|(?:prologue|epilogue|preface|afterword)\s*(?:[.:—\-]\s*.{0,60})?$",
    re.IGNORECASE,
)


def heading(line: str) -> str | None:
    """The title a line gives to what follows it, or None where it is a line of prose."""
    line = line.strip()
    if not line or len(line) > 80 or not _HEADING.match(line):
        return None
    return re.sub(r"\s+", " ", line)


def chapters(text: str) -> Sequence[Chapter]:
    """The chapters of a text, in order; together they are the whole of it."""
    heads: list[tuple[int, int, str]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        title = heading(line)
        if title is not None:
            heads.append((at, at + len(line), title))
        at += len(line)
    found: list[Chapter] = []
    if not heads or text[: heads[0][0]].strip():
        end = heads[0][0] if heads else len(text)
        found.append(Chapter(title="", start=0, body=0, end=end))
    for n, (start, body, title) in enumerate(heads):
        end = heads[n + 1][0] if n + 1 < len(heads) else len(text)
        found.append(Chapter(title=title, start=start, body=body, end=end))
    return found
