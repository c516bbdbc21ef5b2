"""Ad-hoc clips of somebody's picture, asked for by themselves: camera moves, or by a video model.

A request is one animate job of the deployment's home project for clips; who asks for the same
again gets the same job. Its picture lies in the store under the hash of its content, and goes when
no open job needs it. Nobody waits for a clip for ever: what was not begun in time expires.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import re
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from mangen import errors, settings, storage
from mangen.comic import keys, look, makers, model, panels, requests
from mangen.engines import length, protocol
from mangen.ledger import jobs, ledger
from mangen.ledger.states import State

STAGE = "animate"
TITLE, BY = "clips", "clip"
MOTIONS = ("push", "pull", "pan_left", "pan_right", "pan_up", "pan_down", "hold", "shake")
LEAST, MOST = 64, 1280  #: pixels of a frame's side
_BYTES = 64 << 20  #: of a picture's file
_PIXELS = 60_000_000
_LONGEST_S = 60.0
_FORMATS = ("PNG", "JPEG", "WEBP")
_ROOM = 1.25  #: of a frame's side: what the camera moves over
_HELD_S = 3600.0  #: a picture that was just stored has no job yet
_LOCK = 0x636C6970  #: "clip" in ASCII: two first requests make one home
_PICTURE = re.compile(r"[0-9]+/clip-([0-9a-f]{32})\.png")

_HOME = sa.text(
    "select id from projects where settings ->> 'kind' = 'clips' and state = 'open' order by id"
)
_FOUND = sa.text(
    """
    select j.id, j.project, j.subject, j.state, j.error, j.expires_at, a.path
    from jobs j left join artifacts a on a.job = j.id and a.attempt = j.attempt and a.kind = 'clip'
    where j.id = :job and j.stage = 'animate' and j.subject like 'clip/%'
    """
)
_ASKED = sa.text(
    """
    select j.id, j.state, a.path
    from jobs j left join artifacts a on a.job = j.id and a.attempt = j.attempt and a.kind = 'clip'
    where j.project = :project and j.stage = :stage and j.subject = :subject and j.key = :key
    """
)
_NEEDED = sa.text(
    """
    select q.params ->> 'picture' from jobs j join job_params q on q.job = j.id
    where j.project = :project and j.settled_at is null
    """
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What somebody asks for. Raises UsageError where it can't be made."""

    motion: str = "push"
    seconds: float = 3.0
    width: int | None = None
    height: int | None = None
    seed: int = 0
    #: what a video model reads; who moves a camera reads nothing
    prompt: str = ""

    def __post_init__(self) -> None:
        if self.motion not in MOTIONS:
            raise errors.UsageError(
                f"there is no motion {self.motion!r}: choose {', '.join(MOTIONS)}"
            )
        if not 1 / length.FPS <= self.seconds <= _LONGEST_S:
            raise errors.UsageError(
                f"a clip of {self.seconds:g} seconds can't be made: up to {_LONGEST_S:g} are"
            )
        if (self.width is None) != (self.height is None):
            raise errors.UsageError("a clip's width and height are given together, or not at all")
        for name in ("width", "height"):
            value = getattr(self, name)
            if value is not None and (not LEAST <= value <= 2 * MOST or value % 2):
                raise errors.UsageError(
                    f"the {name} is {value}: a clip is {LEAST} to {2 * MOST} pixels wide and high, "
                    "even ones"
                )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A checked picture as the camera needs it: PNG, RGB, and the frame it was made for."""

    data: bytes
    width: int
    height: int

    @property
    def digest(self) -> str:
        """The hash of its content."""
        return hashlib.sha256(self.data).hexdigest()[:32]


def read(path: pathlib.Path, wish: Wish) -> Picture:
    """Read a picture whole and fit it to a frame; raises UsageError that names what is wrong."""
    import io  # noqa: PLC0415 - with Pillow, below

    from PIL import Image, ImageOps  # noqa: PLC0415 - heavy, and only requests read pictures

    try:
        if path.exists() and not path.is_file():  # a device or a pipe may have no end
            raise errors.UsageError(f"{path} is no plain file: give a PNG, JPEG or WebP file")
        if path.stat().st_size > _BYTES:
            raise errors.UsageError(f"{path} has more than {_BYTES >> 20} MB: make it smaller")
        with Image.open(path, formats=_FORMATS) as opened:
            width, height = opened.size
            if min(width, height) < LEAST or width * height > _PIXELS:
                raise errors.UsageError(
                    f"{path} is {width} x {height}: a picture has at least {LEAST} pixels each way "
                    f"and {_PIXELS // 1_000_000} million in all"
                )
            opened.load()
            upright = ImageOps.exif_transpose(opened)
            plain = _flat(upright)
    except FileNotFoundError as error:
        raise errors.UsageError(f"there is no file {path}: check the path") from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise errors.UsageError(
            f"{path} can't be read as a picture ({error}): give a whole PNG, JPEG or WebP file"
        ) from error
    width, height = _frame(plain.size, wish)
    room = (round(width * _ROOM), round(height * _ROOM))
    fitted = ImageOps.fit(plain, room, Image.Resampling.LANCZOS)
    written = io.BytesIO()
    fitted.save(written, "PNG", compress_level=1)
    return Picture(data=written.getvalue(), width=width, height=height)


def _flat(picture: Any) -> Any:
    """In RGB, on white where it is transparent."""
    from PIL import Image  # noqa: PLC0415 - as in read

    if "A" in picture.getbands() or "transparency" in picture.info:
        above = picture.convert("RGBA")
        below = Image.new("RGBA", above.size, "white")
        return Image.alpha_composite(below, above).convert("RGB")
    return picture.convert("RGB")


def _frame(size: tuple[int, int], wish: Wish) -> tuple[int, int]:
    """The frame: as wished, or the picture's own shape, its longer side at most MOST."""
    if wish.width is not None and wish.height is not None:
        return wish.width, wish.height
    scale = min(1.0, MOST / max(size))
    width, height = (max(LEAST, round(side * scale / 2) * 2) for side in size)
    return width, height


def ask(
    book: ledger.Ledger,
    store: storage.Store,
    picture: Picture,
    wish: Wish,
    *,
    chosen: settings.Settings,
    engine: protocol.Engine,
    expires_s: float,
    scratch: pathlib.Path,
) -> int:
    """Write the request and answer its job: the same job for the same request."""
    with book.transaction() as conn:
        home = _home(book, conn, chosen)
    name = f"clip-{picture.digest}.png"
    params = {
        "picture": f"{home}/{name}",
        "motion": wish.motion,
        "fps": length.FPS,
        "seed": wish.seed,
        "weather": "clear",
        "framing": "medium",
        "lines": [],
        "card_seconds": wish.seconds,
        "width": picture.width,
        "height": picture.height,
    }
    filmed = engine.name != makers.SKETCH
    if filmed:
        params |= {"prompt": wish.prompt, "quality": "final"}
    elif wish.prompt:
        raise errors.UsageError(
            "a camera move reads no prompt: leave it out, or ask for a video model by the engine "
            f"{makers.MODELS}"
        )
    want = _wanted(params, engine, expires_s)
    source = scratch / f"{picture.digest}.png"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(picture.data)
    try:  # anew, though it is there: a sweep takes only what was stored long ago
        store.put(source, project=home, name=name)
    finally:
        source.unlink(missing_ok=True)

    def write(conn: sa.Connection) -> int:
        asked = {"project": home, "stage": STAGE, "subject": want.subject, "key": want.key}
        before = conn.execute(_ASKED, asked).one_or_none()
        if before is not None and before.state == State.FAILED:
            book.revive_jobs(conn, [before.id], by=BY)
        if before is not None and before.path is not None:
            if store.locate(before.path).exists():
                return int(before.id)
            book.redo_jobs(conn, home, [before.id], [before.id], by=BY)
        book.insert_jobs(conn, home, [want], by=BY)
        return int(conn.execute(_ASKED, asked).one().id)

    job = book.act(write)
    book.settled(home)
    return job


def _wanted(params: Mapping[str, Any], engine: protocol.Engine, expires_s: float) -> jobs.Wanted:
    import numpy as np  # noqa: PLC0415 - only requests measure

    room = (round(params["height"] * _ROOM), round(params["width"] * _ROOM), 3)
    frames = max(1, round(params["card_seconds"] * length.FPS))
    request = requests.clip_request(params, protocol.Panel(image=np.empty(room, np.uint8)), frames)
    spec = engine.models().get(STAGE)
    if spec is None:
        raise errors.UsageError(
            f"{engine.name} has no model for clips: `manage.py models add NAME FOLDER --role "
            "video` registers one"
        )
    filmed = "quality" in params
    key = keys.key_of(*keys.made_by(engine, STAGE, "final" if filmed else model.SKETCHED), params)
    return jobs.Wanted(
        stage=STAGE,
        subject=f"clip/{key[:12]}",
        key=key,
        queue="gpu.mid" if filmed else "cpu",
        klass=panels.HIGH,  # somebody waits for it
        bucket=engine.bucket(request),
        model=spec.key,
        params=params,
        seconds_est=0.5 + frames / 20 * params["width"] * params["height"] / (720 * 1280),
        cap=(cap := engine.cap(request)),
        peaks=tuple(engine.peak(request, members) for members in range(1, cap + 1)),
        expires_s=expires_s,
    )


def _home(book: ledger.Ledger, conn: sa.Connection, chosen: settings.Settings) -> int:
    """The home project of clips, made by the first request."""
    conn.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    found: int | None = conn.scalars(_HOME).first()
    if found is not None:
        return found
    kept = look.snapshot(chosen) | {"kind": "clips"}
    return book.insert_project(conn, title=TITLE, settings=json.loads(json.dumps(kept)))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Clip:
    """A request: its state is a job's, or `expired`; `path` is below the store's root once done."""

    job: int
    project: int
    subject: str
    state: str
    error: str
    expires_at: Any
    path: str | None


def clip(conn: sa.Connection, job: int) -> Clip:
    """One request; raises UsageError where the job is none."""
    row = conn.execute(_FOUND, {"job": job}).one_or_none()
    if row is None:
        raise errors.UsageError(f"job {job} is no clip that was asked for")
    expired = row.state == State.CANCELLED and row.error == "expired"
    return Clip(
        job=row.id,
        project=row.project,
        subject=row.subject,
        state="expired" if expired else row.state,
        error=row.error or "",
        expires_at=row.expires_at,
        path=row.path,
    )


def sweep(book: ledger.Ledger, store: storage.Store) -> int:
    """Remove pictures that no open request needs; answers how many."""
    with book.transaction() as conn:
        homes = list(conn.scalars(_HOME))
    swept = 0
    for home in homes:
        stored = [path for path in store.names(home) if _PICTURE.fullmatch(path)]
        if not stored:
            continue
        with book.transaction() as conn:  # after the look: what is asked for later is young
            needed = set(conn.scalars(_NEEDED, {"project": home}))
        for path in stored:
            file = store.locate(path)
            with contextlib.suppress(FileNotFoundError):
                if path not in needed and time.time() - file.stat().st_mtime > _HELD_S:
                    store.remove(path)
                    swept += 1
    return swept
