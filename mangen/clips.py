"""Ad-hoc clips: a picture that moves, without a project of one's own."""

from __future__ import annotations

import pathlib
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any

from mangen import api, errors, settings, storage
from mangen.comic import clips, makers
from mangen.engines import protocol
from mangen.ledger import ledger
from mangen.ledger.states import OPEN

_POLL_S = 0.2
_OPEN = {state.value for state in OPEN}


def request_clip(
    picture: str | pathlib.Path,
    *,
    motion: str = "push",
    seconds: float = 3.0,
    width: int | None = None,
    height: int | None = None,
    seed: int = 0,
    engine: str | None = None,
    prompt: str = "",
    expires_s: float | None = None,
) -> int:
    """Ask for a clip of a PNG, JPEG or WebP picture and return at once; answers its job.

    The same request again is the same job. What nobody began within `expires_s` (by default
    MANGEN_CLIP_EXPIRY_S) expires. Without a size the clip has the picture's shape, its longer side
    at most 1280 pixels. With the `engine` diffusion a video model makes it, by `prompt`. Raises
    UsageError where the picture or the wish is wrong.
    """
    if expires_s is not None and not expires_s > 0:
        raise errors.UsageError(
            f"a clip can't expire after {expires_s:g} seconds: give more than 0"
        )
    wish = clips.Wish(
        motion=motion, seconds=seconds, width=width, height=height, seed=seed, prompt=prompt
    )
    read = clips.read(pathlib.Path(picture), wish)
    with api.open_ledger() as (chosen, book):
        scratch = chosen.root / "scratch"
        return clips.ask(
            book,
            storage.Store(chosen.artifact_root),
            read,
            wish,
            chosen=chosen,
            engine=_engine(makers.Makers(chosen, scratch), engine),
            expires_s=expires_s if expires_s is not None else chosen.clip_expiry_s,
            scratch=scratch,
        )


def _engine(known: makers.Makers, asked: str | None) -> protocol.Engine:
    """Who makes a clip: moves are the animatic's, which a deployment may have replaced."""
    return known.named(makers.SKETCH) if asked in {None, makers.SKETCH} else known.at(str(asked))


def clip_status(job: int) -> dict[str, Any]:
    """Say where a clip stands: job, state, error, expires_at, file (the mp4, once it is done).

    The state is a job's, or `expired`.
    """
    with api.open_ledger() as (chosen, book):
        return _status(book, chosen, job)


def wait_clip(
    job: int,
    out: str | pathlib.Path,
    *,
    timeout_s: float | None = None,
    on_change: Callable[[Mapping[str, Any]], None] | None = None,
) -> pathlib.Path:
    """Wait for a clip and copy it to `out`; raises MangenError where it failed or expired."""
    target = pathlib.Path(out)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    last: Mapping[str, Any] | None = None
    with api.open_ledger() as (chosen, book):
        while True:
            now = _status(book, chosen, job)
            if on_change is not None and now != last:
                on_change(now)
            last = now
            if now["state"] not in _OPEN:
                break
            if deadline is not None and time.monotonic() > deadline:
                raise errors.MangenError(f"clip {job} is not done after {timeout_s:g} s")
            time.sleep(_POLL_S)
    if now["file"] is None:
        if now["state"] == "failed":
            raise errors.MangenError(
                f"clip {job} failed: {now['error']} (`manage.py failures job/{job}` says more)"
            )
        raise errors.MangenError(f"clip {job} {_ENDS.get(now['state'], now['state'])}")
    return _copy(pathlib.Path(now["file"]), target)


_ENDS = {
    "expired": "expired before anybody began it: start workers (`manage.py up`) and ask again",
    "cancelled": "was cancelled: ask again",
}


def _status(book: ledger.Ledger, chosen: settings.Settings, job: int) -> dict[str, Any]:
    with book.transaction() as conn:
        found = clips.clip(conn, job)
    store = storage.Store(chosen.artifact_root)
    return {
        "job": found.job,
        "project": found.project,
        "state": found.state,
        "error": found.error,
        "expires_at": found.expires_at.isoformat() if found.expires_at else None,
        "file": str(store.locate(found.path)) if found.path else None,
    }


def _copy(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """Copy whole or not at all."""
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise errors.StorageError(
            f"the clip {source} can't be copied to {target}: {error.strerror}"
        ) from error
    return target
