"""Steering work while it runs: pause, resume, cancel, retry, retake, upgrade, edit, purge.

A scope is a project (`12`), an episode (`"12/e3"`), a shot (`"12/e3/s7"`) or a job
(`"job/4711"`); pause and resume also know `"all"`. Each scope is one transaction, and an act that
was done before changes nothing. Answers are plain data; wrong calls raise `errors.UsageError`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mangen import api, errors, settings, storage
from mangen.comic import boards, content, edit, masks, schema, scopes
from mangen.comic import control as comic
from mangen.comic import retake as retakes
from mangen.comic import upgrade as upgrades
from mangen.dispatch import purge as purges
from mangen.ledger import acting, ledger, scope

_STORYBOARD_MB = 50  #: a storyboard is so many times larger than its text may be
_POLL_S = 0.2


def pause(*what: str | int, by: str | None = None) -> list[dict[str, Any]]:
    """Let nothing of these scopes begin any more; what runs ends."""
    return _each(what, functools.partial(comic.pause, by=by or acting.person()))


def resume(*what: str | int, by: str | None = None) -> list[dict[str, Any]]:
    """Lift the pauses of just these scopes; `still` names other pauses around and below them."""
    return _each(what, functools.partial(comic.resume, by=by or acting.person()))


def cancel(*what: str | int, by: str | None = None) -> list[dict[str, Any]]:
    """End what is open; running work stops at its next step. `retry` and `submit` bring it back."""
    return _each(what, functools.partial(comic.cancel, by=by or acting.person()))


def set_priority(
    *what: str | int,
    klass: str | None = None,
    weight: float | None = None,
    budget: float | None = None,
    by: str | None = None,
) -> list[dict[str, Any]]:
    """Change the class (high, mid, low); of projects also the weight and the daily budget.

    `budget` is in seconds on the gpu queues; below 0: no limit.
    """
    worth = comic.Worth(klass=klass, weight=weight, budget=budget)
    return _each(what, functools.partial(comic.set_priority, worth=worth, by=by or acting.person()))


def retry(*what: str | int, by: str | None = None) -> list[dict[str, Any]]:
    """Give what failed, was skipped or cancelled another chance."""
    asked = _parse(what)
    with api.open_ledger() as (chosen, book):
        editor = _editor(chosen, book)
        return [_told(comic.retry(editor, one, by=by or acting.person())) for one in asked]


def retake(
    *what: str | int,
    seed: int | None = None,
    new_seed: bool = False,
    prompt: str | None = None,
    emotions: Mapping[str, str] | None = None,
    repaint: str | pathlib.Path | None = None,
    by: str | None = None,
) -> list[dict[str, Any]]:
    """Make shots (or all shots of episodes) anew; the old video stays until the new one is done.

    Without a wish each gets another seed; a prompt or a feeling keeps the seed, unless a new one
    is asked for. `emotions` by character; the name "" means everybody in the shot. `repaint` is a
    mask (a PNG, white where to paint): only that part of the shots is painted anew, by the prompt.
    """
    mask = masks.read(pathlib.Path(repaint)) if repaint is not None else None
    wishes = retakes.Wishes(
        seed=seed, new_seed=new_seed, prompt=prompt, emotions=emotions or {},
        mask=mask.name if mask is not None else None,
    )  # fmt: skip
    retakes.check(wishes)
    asked = _parse(what)
    with api.open_ledger() as (chosen, book):
        store = storage.Store(chosen.artifact_root)

        def plan(number: int, shots: Sequence[scope.Scope]) -> edit.Plan:
            if mask is None:
                return retakes.plan(shots, wishes)
            kept = masks.keep(store, number, mask, chosen.root / "scratch")
            return retakes.plan(shots, dataclasses.replace(wishes, mask=kept))

        return _edit(chosen, book, [_shots_of(one) for one in asked], plan, verb="retake", by=by)


def upgrade(
    *what: str | int, quality: str = "final", by: str | None = None
) -> list[dict[str, Any]]:
    """Draw shots (of projects and episodes: all) in another quality: animatic, preview or final.

    They keep their seeds. Only these shots are made anew; the old video stays until the new one
    is done. Raises UsageError where no model is there for it.
    """
    asked = _parse(what)
    for one in asked:
        if one.project is None:
            raise errors.UsageError(f"upgrade draws shots: name 12, 12/e3 or 12/e3/s7, not {one}")
    with api.open_ledger() as (chosen, book):

        def plan(number: int, shots: Sequence[scope.Scope]) -> edit.Plan:
            own = api.look_of(chosen, book.project(number)).quality
            return upgrades.plan(shots, quality, own)

        return _edit(chosen, book, asked, plan, verb="upgrade", by=by)


def _edit(
    chosen: settings.Settings,
    book: ledger.Ledger,
    asked: Sequence[scope.Scope],
    plan: Callable[[int, Sequence[scope.Scope]], edit.Plan],
    *,
    verb: str,
    by: str | None,
) -> list[dict[str, Any]]:
    """Edit the projects of these scopes, each by the plan for its own."""
    with book.transaction() as conn:
        found = [scopes.check(conn, book, one) for one in asked]
    by_project: dict[int, list[scope.Scope]] = {}
    for one in found:
        by_project.setdefault(scopes.project_of(one), []).append(one)
    editor = _editor(chosen, book)
    return [
        dataclasses.asdict(
            editor.edit(
                number,
                plan(number, parts),
                verb=verb,
                scope=parts[0].path if len(parts) == 1 else "",
                by=by or acting.person(),
            )
        )
        for number, parts in by_project.items()
    ]


def export_storyboard(project: int) -> dict[str, Any]:
    """A project's storyboard as JSON data, with its revision; the file that people edit."""
    with api.open_ledger() as (chosen, book):
        book.project(project)
        found = boards.current(book, storage.Store(chosen.artifact_root), project)
    if found is None:
        raise errors.UsageError(
            f"project {project} has no storyboard yet: `manage.py submit {project} --plan-only`"
        )
    return {
        "project": project,
        "revision": boards.revision(found.board),
        **found.board.to_json(),
    }


def import_storyboard(
    project: int, edited: Mapping[str, Any] | str | pathlib.Path, *, by: str | None = None
) -> dict[str, Any]:
    """Let an edited storyboard count: data as exported, or the path of a JSON file of them.

    Only the shots that it changes are made anew. A `revision` in it must be the current one's;
    without one it replaces whatever counts now.
    """
    with api.open_ledger() as (chosen, book):
        name, data = "storyboard", edited
        if isinstance(edited, (str, pathlib.Path)):
            name, data = str(edited), _read(pathlib.Path(edited), chosen)
        with book.transaction() as conn:
            book.project(project, conn)
            size = len(content.source(conn, project).text)
        done = _editor(chosen, book).edit(
            project,
            schema.plan(project, data, name=name, size=size),
            verb="edit",
            by=by or acting.person(),
        )
    return dataclasses.asdict(done)


def purge(
    *projects: int | str, by: str | None = None, timeout_s: float = 60.0
) -> list[dict[str, Any]]:
    """Remove projects for good: videos, jobs, texts. What people did to them stays in the record.

    Waits so long for running work to stop; after that the housekeeping of any worker, or this call
    again, goes on. `running` says how much still stands in the way.
    """
    asked = _parse(projects)
    done = []
    with api.open_ledger() as (chosen, book):
        store = storage.Store(chosen.artifact_root)
        for one in asked:
            answer = _told(comic.purge(book, one, by=by or acting.person()))
            number, deadline = int(str(one)), time.monotonic() + timeout_s
            while (left := purges.finish(book, store, number)).jobs:
                if time.monotonic() > deadline:
                    break
                time.sleep(_POLL_S)
            done.append(answer | {"running": left.running, "removed": not left.jobs})
    return done


def acts(*projects: int, limit: int = 100) -> list[dict[str, Any]]:
    """What people asked for, the newest first; of these projects, or of all."""
    with api.open_ledger() as (_, book):
        return [dataclasses.asdict(one) for one in book.acts(projects or None, limit=limit)]


def _each(
    what: Sequence[str | int], do: Callable[[ledger.Ledger, scope.Scope], comic.Answer]
) -> list[dict[str, Any]]:
    asked = _parse(what)
    with api.open_ledger() as (_, book):
        return [_told(do(book, one)) for one in asked]


def _parse(what: Sequence[str | int]) -> list[scope.Scope]:
    """All scopes, before any of them is acted on."""
    if not what:
        raise errors.UsageError("name what is meant: a project as 12, or 12/e3, 12/e3/s7, job/4711")
    return [scope.parse(one) for one in dict.fromkeys(what)]


def _shots_of(asked: scope.Scope) -> scope.Scope:
    if asked.episode is None:
        raise errors.UsageError(f"retake makes shots anew: name 12/e3/s7 or 12/e3, not {asked}")
    return asked


def _told(answer: comic.Answer) -> dict[str, Any]:
    return {"scope": answer.scope, "changed": answer.changed, **answer.detail}


def _editor(chosen: settings.Settings, book: ledger.Ledger) -> edit.Editor:
    return edit.Editor(
        book=book,
        store=storage.Store(chosen.artifact_root),
        look_of=functools.partial(api.look_of, chosen),
    )


def _read(path: pathlib.Path, chosen: settings.Settings) -> Any:
    most = int(chosen.max_text_mb * _STORYBOARD_MB * 1e6)
    try:
        if path.exists() and not path.is_file():  # a device or a pipe may have no end
            raise errors.UsageError(f"{path} is no plain file: name a storyboard")
        if path.stat().st_size > most:
            raise errors.UsageError(f"{path} is larger than {most / 1e6:.0f} MB")
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise errors.UsageError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise errors.UsageError(f"{path} is no UTF-8 text: save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise errors.UsageError(f"{path} is no JSON: {error}") from error
