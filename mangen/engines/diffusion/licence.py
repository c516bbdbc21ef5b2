"""The licence of a checkpoint, as its folder tells it: noted, never judged."""

from __future__ import annotations

import pathlib
import re

_FILES = re.compile(r"(licen[cs]e|copying)([._-].*)?", re.IGNORECASE)
_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^(licen[cs]e|license_name):[ \t]*[\"']?([^\"'\n#]+)", re.MULTILINE)
_MOST = 65536  #: bytes read of a file
#: how well-known texts begin, and what people call them
_KNOWN = (
    ("apache license", "apache-2.0"),
    ("mit license", "mit"),
    ("creativeml open rail++-m", "openrail++"),
    ("creativeml open rail-m", "creativeml-openrail-m"),
    ("stability ai community license", "stabilityai-community"),
    ("flux non-commercial license", "flux-non-commercial"),
    ("flux.1 [dev] non-commercial license", "flux-1-dev-non-commercial"),
)
_LIMITED = re.compile(r"non-?commercial|\bnc\b|research|community", re.IGNORECASE)


def of(folder: pathlib.Path) -> str:
    """Answer its name, by the model card's front matter, else by a licence file; may be empty."""
    named = dict(_FIELD.findall(_front(folder / "README.md")))
    name = named.get("license_name") or named.get("license") or named.get("licence") or ""
    if name.strip() not in ("", "other"):
        return name.strip()
    for file in sorted(folder.iterdir()):
        if _FILES.fullmatch(file.name) and file.is_file():
            return _title(_text(file)) or file.name
    return name.strip()


def limits_use(name: str) -> bool:
    """Whether a licence's name sounds as if not every use of the model were free."""
    return bool(_LIMITED.search(name))


def _front(file: pathlib.Path) -> str:
    found = _FRONT.match(_text(file)) if file.is_file() else None
    return found[1] if found else ""


def _title(text: str) -> str:
    lines = [line.strip(" #*\t") for line in text.splitlines()]
    first = next((line for line in lines if line), "")
    start = " ".join(lines)[:400].lower()
    return next((name for known, name in _KNOWN if known in start), first[:60])


def _text(file: pathlib.Path) -> str:
    with file.open("rb") as opened:
        return opened.read(_MOST).decode("utf-8", "replace").replace("\r\n", "\n")
