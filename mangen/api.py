"""The Python API, and what the commands call: create, submit, watch, export, drain, doctor."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy.exc as sa_exc

from mangen import app as celery_app
from mangen import errors, services, settings, stack, storage
from mangen.comic import export, look, makers, progress, restraint, submit, text
from mangen.dispatch import canvas, drain, leader, publisher, purge, rank
from mangen.ledger import hours, invariants, ledger, projects, refused

_SUFFIXES = (".txt", ".md")
_POLL_S = 0.5
_AWAY_S = 60.0  #: a database that restarts is waited for so long
#: what `open_ledger` holds open in this context
_OPENED: contextvars.ContextVar[tuple[settings.Settings, ledger.Ledger] | None] = (
    contextvars.ContextVar("mangen_opened", default=None)
)


@contextlib.contextmanager
def open_ledger() -> Iterator[tuple[settings.Settings, ledger.Ledger]]:
    """Yield the settings in force and an open ledger; starts the servers that are missing.

    Within another one it yields the same again: around a thousand calls it is opened once.
    """
    opened = _OPENED.get()
    if opened is not None:
        yield opened
        return
    found = settings.load()
    with stack.join(found) as urls:
        book = ledger.Ledger(urls.database_url, application="mangen-api")
        book.times = hours.Hours.parse(found.quiet_hours, found.time_zone)
        token = _OPENED.set((found, book))
        try:
            with refused.told():
                yield found, book
        finally:
            _OPENED.reset(token)
            book.close()


def check(chosen: settings.Settings) -> None:
    """Raise SettingsError where a worker could not run with these settings."""
    celery_app.devices(chosen)
    rank.Weights.parse(chosen.rank_weights)
    hours.Hours.parse(chosen.quiet_hours, chosen.time_zone)
    for name in ("image_engine", "voice_engine"):
        makers.engine_class(getattr(chosen, name))


def find_texts(paths: Sequence[pathlib.Path]) -> list[pathlib.Path]:
    """Spell out files and folders as text files; raises UsageError for what is missing or empty."""
    found: list[pathlib.Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix.lower() in _SUFFIXES)
            if not inside:
                raise errors.UsageError(
                    f"the folder {path} holds no text: put .txt or .md files there"
                )
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise errors.UsageError(f"there is no file {path}: check the path")
    return found


def create_project(
    source: str | pathlib.Path,
    *,
    title: str | None = None,
    width: int | None = None,
    height: int | None = None,
    engine: str | None = None,
    quality: str | None = None,
    upscale: bool = False,
    outpaint: bool = False,
) -> int:
    """Make a project of one text file; answers its id.

    `engine` is animatic, diffusion or a dotted path, by default MANGEN_IMAGE_ENGINE; `quality` is
    animatic, preview or final, by default what the engine makes at best. `upscale` and `outpaint`
    let models refine each panel, and add surroundings to it.

    Raises TextError where the file can't be read as text or has nothing to say, and UsageError
    where no model is there for what is wished.
    """
    path = pathlib.Path(source)
    read = text.read(path, max_bytes=int(settings.load().max_text_mb * 1e6))
    wishes = look.Wishes(
        width=width, height=height, engine=engine, quality=quality, upscale=upscale,
        outpaint=outpaint,
    )  # fmt: skip
    with open_ledger() as (chosen, book):
        _look(chosen, look.snapshot(chosen, wishes)).check()
        return submit.create(book, read, title=title or path.stem, chosen=chosen, wishes=wishes)


def submit_novel(
    project_id: int, *, episodes: str | None = None, plan_only: bool = False
) -> dict[str, Any]:
    """Ask for a project's videos and return at once.

    Asking again adds only what is missing, and gives failed and cancelled jobs another chance.

    `episodes` picks some, as `1-3,7`; `plan_only` asks for the storyboard alone, to be edited
    first. Raises UnknownProject, UsageError.
    """
    if plan_only and episodes is not None:
        raise errors.UsageError("a plan is of all episodes: ask for some of them afterwards")
    asked = [] if plan_only else submit.parse_episodes(episodes)
    with open_ledger() as (chosen, book):
        done = submit.submit(
            book,
            project_id,
            episodes=asked,
            store=storage.Store(chosen.artifact_root),
            look_of=functools.partial(look_of, chosen),
        )
    return dataclasses.asdict(done)


def look_of(chosen: settings.Settings, project: projects.Project) -> look.Look:
    """Answer how a project's videos are made in this deployment."""
    return _look(chosen, project.settings)


def _look(chosen: settings.Settings, kept: Mapping[str, Any]) -> look.Look:
    voice = makers.engine_class(chosen.voice_engine)()
    return look.of(kept, makers.Makers(chosen), voice)


def project_status(project_id: int) -> dict[str, Any]:
    """Say where a project stands; raises UnknownProject."""
    with open_ledger() as (chosen, book):
        return _status(chosen, book, [project_id])[0]


def all_status(ids: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """Say where projects stand: the named ones, or all."""
    with open_ledger() as (chosen, book):
        return _status(chosen, book, ids)


def _status(
    chosen: settings.Settings, book: ledger.Ledger, ids: Sequence[int] | None
) -> list[dict[str, Any]]:
    with book.transaction() as conn:
        return progress.status(
            conn,
            ids,
            storage.Store(chosen.artifact_root),
            withheld=restraint.told(book, conn, ids),
        )


def workers() -> list[str]:
    """Name the workers that gave a sign of life within a lease."""
    with open_ledger() as (chosen, book), book.transaction() as conn:
        owners = book.living_owners(conn)
    return sorted({one.owner.worker for one in owners if one.silent_s < chosen.lease_s})


def wait(
    project_id: int,
    *,
    timeout_s: float | None = None,
    on_change: Callable[[Mapping[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Block until a project has settled; answers its last status. Raises MangenError in time."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    with open_ledger() as (chosen, book):
        last_seen = time.monotonic()
        while True:
            try:
                status = _status(chosen, book, [project_id])[0]
            except (errors.ServiceError, sa_exc.DBAPIError) as error:
                if time.monotonic() - last_seen > _AWAY_S:
                    raise errors.ServiceError(
                        f"Postgres was away for {_AWAY_S:.0f} s while project {project_id} was "
                        f"waited for: {error}"
                    ) from error
                time.sleep(_POLL_S)
                continue
            last_seen = time.monotonic()
            if on_change is not None:
                on_change(status)
            if status["state"] in progress.SETTLED:
                return status
            if deadline is not None and time.monotonic() > deadline:
                raise errors.MangenError(
                    f"project {project_id} is not done after {timeout_s:.0f} s: "
                    f"`python3 manage.py status {project_id}` shows where it stands"
                )
            time.sleep(_POLL_S)


def export_project(project_id: int, out: pathlib.Path) -> list[dict[str, Any]]:
    """Copy a project's finished videos, named by their titles, into a folder."""
    with open_ledger() as (chosen, book), book.transaction() as conn:
        title = book.project(project_id, conn).title
        return export.export(conn, project_id, title, storage.Store(chosen.artifact_root), out)


def drain_once() -> dict[str, Any]:
    """Do one pass, unless a leader does it already."""
    with open_ledger() as (chosen, book):
        head = leader.Leader(
            services.read(chosen).database_url, lease_s=chosen.lease_s, application="mangen-drain"
        )
        try:
            if not _lead(head, chosen.lease_s):
                return {"leader": False}
            turn = make_pass(book, chosen)
            done = turn.run(head.connection, session=head.session)
            while done.left:  # thousands moved: a pass looks at a slice of them
                done = done.plus(turn.run(head.connection, session=head.session))
            removed = purge.finish_all(book, storage.Store(chosen.artifact_root))
        finally:
            head.close()
    moved = {name: getattr(done, name) for name in done.__slots__}
    return {"leader": True} | moved | {"removed": removed}


def _lead(head: leader.Leader, lease_s: float) -> bool:
    """Take the lead; wait for a frozen leader's lease, but not for one that beats."""
    first = head.holder()
    while not head.take():
        if head.holder() not in (first, None):  # None: it was just deposed, or ended
            return False
        time.sleep(min(0.5, lease_s / 6))
    return True


def make_pass(book: ledger.Ledger, chosen: settings.Settings) -> drain.Pass:
    """Make the pass with this deployment's settings and broker."""
    return drain.Pass(
        book,
        functools.partial(canvas.send, celery_app.build()),
        lease_s=chosen.lease_s,
        lost_bell_s=chosen.lost_bell_s,
        weights=rank.Weights.parse(chosen.rank_weights),
        rules=publisher.Rules.of(chosen),
    )


def doctor() -> list[dict[str, Any]]:
    """Check the ledger's invariants; one entry each violation, or one that says all is well."""
    with open_ledger() as (chosen, book), book.transaction() as conn:
        book.lift_limits(conn)  # over a million jobs it takes a minute
        broken = invariants.check(
            conn, storage.Store(chosen.artifact_root).paths(), lease_s=chosen.lease_s
        )
        quiet = restraint.now(book, conn)
    told = [{"name": "quiet hours", "ok": True, "detail": quiet, "mend": ""}] if quiet else []
    if not broken:
        return [
            *told,
            {"name": "ledger invariants", "ok": True, "detail": "all hold", "mend": ""},
        ]
    return [
        *told,
        *_broken(broken),
    ]


def _broken(broken: Sequence[invariants.Violation]) -> list[dict[str, Any]]:
    return [
        {
            "name": f"ledger invariant: {one.name}",
            "ok": False,
            "detail": one.detail,
            "mend": "keep the database and report it with `manage.py status --json`",
        }
        for one in broken
    ]
