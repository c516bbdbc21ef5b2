"""The storyboard that counts for a project: the planner's, until a person edits it.

The planner's lies in the store, made by the storyboard job, and stays there. The first edit copies
it into `boards`, in parts: from then on these rows count, and the planner is not asked again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from mangen import errors, storage
from mangen.comic import model, tables
from mangen.ledger import ledger

PLANNER = "storyboard"  #: the stage whose artifact is the planner's storyboard

_PLANNED = sa.text(
    """
    select a.path from jobs j join artifacts a on a.job = j.id and a.attempt = j.attempt
    where j.project = :project and j.stage = :stage and j.state = 'done'
      and not j.superseded and a.kind = 'storyboard'
    """
)
_EDITION = sa.text("select data->>'edition' from boards where project = :project and part = 0")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Current:
    """A project's storyboard, and a token that changes whenever another takes its place."""

    token: str
    board: model.Storyboard


def token(conn: sa.Connection, number: int) -> str | None:
    """What tells whether the storyboard is still the same; None where there is none yet."""
    edition: str | None = conn.scalar(_EDITION, {"project": number})
    if edition is not None:
        return f"edition {edition}"
    path: str | None = conn.scalar(_PLANNED, {"project": number, "stage": PLANNER})
    return path


def edited(conn: sa.Connection, number: int) -> bool:
    """Whether a person's storyboard counts, and the planner need not be asked."""
    return conn.scalar(_EDITION, {"project": number}) is not None


def current(book: ledger.Ledger, store: storage.Store, number: int) -> Current | None:
    """A project's storyboard; None where it was not planned yet.

    A planner's storyboard is read from the store, in no transaction: ask for its token again in
    the transaction that builds on it.
    """
    with book.transaction() as conn:
        found = token(conn, number)
        if found is None:
            return None
        if edited(conn, number):
            board = _rows(conn, number)
            return None if board is None else Current(token=found, board=board)
    try:
        text = store.locate(found).read_text("utf-8")
    except FileNotFoundError as error:
        with book.transaction() as conn:
            gone = token(conn, number) != found
        if gone:  # another took its place meanwhile, or the project is being removed
            return current(book, store, number)
        raise errors.StorageError(
            f"the storyboard of project {number} is gone from the artifact store ({found}): mount "
            "it, or `manage.py rescue` has it made anew"
        ) from error
    return Current(token=found, board=model.Storyboard.from_json(json.loads(text)))


def revision(board: model.Storyboard) -> str:
    """A short name of just this content: two storyboards with one revision are the same."""
    text = json.dumps(board.to_json(), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def touched(before: model.Storyboard | None, after: model.Storyboard) -> set[int]:
    """Episodes that differ, gone ones among them.

    All, where the title, the language or the characters differ: every episode's keys hang on them.
    """
    new = {episode.no: episode for episode in after.episodes}
    if before is None:
        return set(new)
    old = {episode.no: episode for episode in before.episodes}
    if _shared(before) != _shared(after):
        return {*old, *new}
    return {no for no in {*old, *new} if old.get(no) != new.get(no)}


def _shared(board: model.Storyboard) -> tuple[Any, ...]:
    return board.title, board.language, board.characters


def save(
    conn: sa.Connection, number: int, board: model.Storyboard, changed: Collection[int]
) -> None:
    """Let this storyboard count from now on; `changed` episodes differ from the one before."""
    edition = conn.scalar(_EDITION, {"project": number})
    data = board.to_json()
    episodes: list[Mapping[str, Any]] = data.pop("episodes")
    parts = [{"project": number, "part": 0, "data": {"edition": int(edition or 0) + 1, **data}}]
    parts += [
        {"project": number, "part": episode["no"], "data": episode}
        for episode in episodes
        if edition is None or episode["no"] in changed
    ]
    insert = pg.insert(tables.boards)
    conn.execute(
        insert.on_conflict_do_update(
            index_elements=["project", "part"], set_={"data": insert.excluded.data}
        ),
        parts,
    )
    kept = [0, *(episode["no"] for episode in episodes)]
    c = tables.boards.c
    conn.execute(sa.delete(tables.boards).where(c.project == number, c.part.not_in(kept)))


def _rows(conn: sa.Connection, number: int) -> model.Storyboard | None:
    c = tables.boards.c
    found = conn.scalars(sa.select(c.data).where(c.project == number).order_by(c.part)).all()
    if not found:  # removed since its edition was asked for
        return None
    shared = {name: value for name, value in found[0].items() if name != "edition"}
    return model.Storyboard.from_json({**shared, "episodes": found[1:]})
