"""A project's content in the database: its source, its plan, its finished episodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from mangen import errors
from mangen.comic import model, tables, text
from mangen.ledger import tables as scheduling


def add_source(conn: sa.Connection, number: int, source: text.Source) -> None:
    """Keep a project's text."""
    conn.execute(
        sa.insert(tables.sources).values(
            project=number,
            name=source.name,
            text=source.text,
            encoding=source.encoding,
            sha256=source.sha256,
        )
    )


def source(conn: sa.Connection, number: int) -> text.Source:
    """Answer a project's text."""
    found = conn.execute(sa.select(tables.sources).where(tables.sources.c.project == number))
    row = found.one_or_none()
    if row is None:
        raise errors.UsageError(f"project {number} has no text: it holds clips that were asked for")
    return text.Source(text=row.text, encoding=row.encoding, sha256=row.sha256, name=row.name)


def write_board(conn: sa.Connection, number: int, board: model.Storyboard) -> None:
    """Replace a project's planned content by a storyboard; finished episodes keep their video."""
    for table in (tables.lines, tables.shots, tables.characters):
        conn.execute(sa.delete(table).where(table.c.project == number))
    if board.characters:
        conn.execute(
            sa.insert(tables.characters), [_character(number, c) for c in board.characters]
        )
    known = set(
        conn.scalars(sa.select(tables.episodes.c.no).where(tables.episodes.c.project == number))
    )
    episodes = [
        {"project": number, "no": episode.no, "title": episode.title}
        for episode in board.episodes
        if episode.no not in known
    ]
    if episodes:
        conn.execute(sa.insert(tables.episodes), episodes)
    shots: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for episode in board.episodes:
        for shot in episode.shots:
            shots.append(_shot(number, episode, shot))
            lines.extend(_line(number, episode, shot, line) for line in shot.lines)
    if shots:
        conn.execute(sa.insert(tables.shots), shots)
    if lines:
        conn.execute(sa.insert(tables.lines), lines)


def edit_board(
    conn: sa.Connection,
    number: int,
    before: model.Storyboard | None,
    board: model.Storyboard,
    changed: Collection[int],
) -> None:
    """Bring the planned content in line with an edited storyboard; `changed` episodes differ.

    Finished episodes keep their video, characters and lines that stayed the same what was made
    of them; episodes that are gone go with their shots.
    """
    if before is None:
        write_board(conn, number, board)
        return
    _edit_characters(conn, number, before, board)
    e, s, li = tables.episodes.c, tables.shots.c, tables.lines.c
    kept = {
        (row.episode, row.shot, row.no, row.text): row.samples
        for row in conn.execute(
            sa.select(tables.lines).where(
                li.project == number, li.episode.in_(changed), li.samples.is_not(None)
            )
        )
    }
    conn.execute(sa.delete(tables.shots).where(s.project == number, s.episode.in_(changed)))
    known = [episode.no for episode in board.episodes]
    conn.execute(sa.delete(tables.episodes).where(e.project == number, e.no.not_in(known)))
    shots: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    titles: list[dict[str, Any]] = []
    for episode in board.episodes:
        if episode.no not in changed:
            continue
        titles.append({"project": number, "no": episode.no, "title": episode.title})
        for shot in episode.shots:
            shots.append(_shot(number, episode, shot))
            lines.extend(
                _line(number, episode, shot, line)
                | {"samples": kept.get((episode.no, shot.no, line.no, line.text))}
                for line in shot.lines
            )
    if titles:
        insert = pg.insert(tables.episodes)
        title = {"title": insert.excluded.title}
        conn.execute(
            insert.on_conflict_do_update(index_elements=["project", "no"], set_=title), titles
        )
    if shots:
        conn.execute(sa.insert(tables.shots), shots)
    if lines:
        conn.execute(sa.insert(tables.lines), lines)


def _edit_characters(
    conn: sa.Connection, number: int, before: model.Storyboard, board: model.Storyboard
) -> None:
    same = {c.name for c in set(before.characters) & set(board.characters)}
    c = tables.characters.c
    conn.execute(sa.delete(tables.characters).where(c.project == number, c.name.not_in(list(same))))
    new = [_character(number, one) for one in board.characters if one.name not in same]
    if new:
        conn.execute(sa.insert(tables.characters), new)


def remove(conn: sa.Connection, number: int) -> None:
    """Remove a project's content: its plan and what points to its files."""
    for table in (tables.lines, tables.shots, tables.characters, tables.episodes, tables.boards):
        conn.execute(sa.delete(table).where(table.c.project == number))


def finish_episode(
    conn: sa.Connection,
    number: int,
    no: int,
    *,
    video: str,
    seconds: float,
    replaced: Sequence[Any],
) -> None:
    """Make a new video the episode's current one."""
    conn.execute(
        sa.update(tables.episodes)
        .where(tables.episodes.c.project == number, tables.episodes.c.no == no)
        .values(
            state="degraded" if replaced else "done",
            video=_artifact(video),
            seconds=seconds,
            replaced=list(replaced),
        )
    )


def set_samples(conn: sa.Connection, number: int, subject: str, samples: int) -> None:
    """Keep the length of a line's voice; `subject` is eN/sN/lN."""
    episode, shot, line = (int(word[1:]) for word in subject.split("/"))
    c = tables.lines.c
    conn.execute(
        sa.update(tables.lines)
        .where(c.project == number, c.episode == episode, c.shot == shot, c.no == line)
        .values(samples=samples)
    )


def set_features(
    conn: sa.Connection, number: int, name: str, *, features: Mapping[str, Any], reference: str
) -> None:
    """Keep a character's anchor: its features and the path of its reference picture."""
    conn.execute(
        sa.update(tables.characters)
        .where(tables.characters.c.project == number, tables.characters.c.name == name)
        .values(features=dict(features), reference=_artifact(reference))
    )


def _artifact(path: str) -> Any:
    c = scheduling.artifacts.c
    return sa.select(c.id).where(c.path == path).scalar_subquery()


def _character(number: int, character: model.Character) -> dict[str, Any]:
    return {
        "project": number,
        "name": character.name,
        "sex": character.sex,
        "age": character.age,
        "words": list(character.words),
        "era": character.era,
        "seed": character.seed,
    }


def _shot(number: int, episode: model.Episode, shot: model.Shot) -> dict[str, Any]:
    labels = {
        "scene": dataclasses.asdict(shot.scene),
        "characters": list(shot.characters),
        "emotions": list(shot.emotions),
        "prompt": shot.prompt,
        "motion": shot.motion,
        "memory": shot.memory,
    }
    return {
        "project": number,
        "episode": episode.no,
        "no": shot.no,
        "kind": shot.kind,
        "identity": shot.identity,
        "labels": labels,
        "seed": shot.seed,
        "take": shot.take,
    }


def _line(
    number: int, episode: model.Episode, shot: model.Shot, line: model.Line
) -> dict[str, Any]:
    return {
        "project": number,
        "episode": episode.no,
        "shot": shot.no,
        "no": line.no,
        "character": line.speaker,
        "text": line.text,
        "span": pg.Range(*line.span),
        "spoken": line.spoken,
    }
