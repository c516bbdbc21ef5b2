"""Finished videos out of the store, named by the user's title: the last step of all."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import unicodedata
from typing import Any

import sqlalchemy as sa

from mangen import errors, storage
from mangen.comic import tables

_SUFFIX_OF = {"video": ".mp4", "srt": ".srt", "ass": ".ass", "cover": ".cover.png"}
_LONGEST = 120  #: bytes of UTF-8 kept of a title: file names end at 255, with room for suffixes
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f∕⁄]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)

_FILES = sa.text(
    """
    select b.kind, b.path from artifacts v
    join artifacts b on b.job = v.job and b.attempt = v.attempt
    where v.id = :video
    """
)


def safe_name(title: str) -> str:
    """Make a title a file name that every file system takes; never empty."""
    name = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", title))
    name = "".join(ch for ch in name if unicodedata.category(ch) not in {"Cc", "Cf", "Cs", "Co"})
    name = name.strip(" .")
    while len(name.encode()) > _LONGEST:
        name = name[:-1].rstrip(" .")
    if not name or _RESERVED.fullmatch(name):
        name = f"video_{name}" if name else "video"
    return name


def export(
    conn: sa.Connection, project: int, title: str, store: storage.Store, out: pathlib.Path
) -> list[dict[str, Any]]:
    """Copy every finished episode into `out`; raises UsageError where nothing is finished."""
    episodes = conn.execute(
        sa.select(tables.episodes)
        .where(tables.episodes.c.project == project)
        .order_by(tables.episodes.c.no)
    ).all()
    finished = [row for row in episodes if row.video]
    if not finished:
        raise errors.UsageError(
            f"project {project} has no finished video yet: "
            f"`python3 manage.py status {project}` shows where it stands"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.UsageError(f"can't make the folder {out}: {error.strerror}") from error
    made = []
    for row in finished:
        stem = safe_name(title) + ("" if len(episodes) == 1 else f"-E{row.no:02d}")
        stem = _own_stem(out, stem, project)
        files = [
            _copy(store.locate(path), out / f"{stem}{_SUFFIX_OF[kind]}")
            for kind, path in conn.execute(_FILES, {"video": row.video}).all()
            if kind in _SUFFIX_OF
        ]
        board = out / f"{stem}.storyboard.json"
        _copy(_board(conn, row.video, store), board)
        made.append(
            {
                "episode": row.no,
                "title": row.title,
                "state": row.state,
                "video": str(out / f"{stem}.mp4"),
                "files": sorted([*map(str, files), str(board)]),
            }
        )
    return made


def _own_stem(out: pathlib.Path, stem: str, project: int) -> str:
    """Keep projects of one title apart: where another wrote the stem, this one adds its id."""
    board = out / f"{stem}.storyboard.json"
    try:
        mine = json.loads(board.read_text("utf-8"))["project"] == project
    except FileNotFoundError:
        return stem if not (out / f"{stem}.mp4").exists() else f"{stem}-{project}"
    except (ValueError, KeyError, TypeError, OSError):
        mine = False
    return stem if mine else f"{stem}-{project}"


def _board(conn: sa.Connection, video: int, store: storage.Store) -> pathlib.Path:
    kinds = {row.kind: row.path for row in conn.execute(_FILES, {"video": video})}
    return store.locate(kinds["storyboard"])


def _copy(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    temporary = target.with_name(f".{os.getpid()}.{source.name}.part")
    try:
        shutil.copyfile(source, temporary)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise errors.StorageError(f"can't write {target}: {error.strerror}") from error
    return target
