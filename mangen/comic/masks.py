"""Masks of repaints: checked pictures in the store, kept while a storyboard or a job needs them."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import pathlib
import re
import time
from typing import Any

import sqlalchemy as sa

from mangen import errors, storage
from mangen.ledger import ledger

_BYTES = 64 << 20  #: of a mask's file
_PIXELS = 60_000_000
_MOST = 4096  #: of a side, as it is kept
PAINTED = 127  #: of 255: what is lighter is painted
_HELD_S = 3600.0  #: a mask that was just stored is in no storyboard yet
_MASK = re.compile(r"[0-9]+/mask-[0-9a-f]{32}\.png")

_NEEDED = sa.text(
    """
    select jsonb_path_query(data, '$.shots[*].repaint.mask') #>> '{}' from boards where part > 0
    union
    select q.params ->> 'mask' from jobs j join job_params q on q.job = j.id
    where j.stage = 'repaint' and j.settled_at is null
    """
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Mask:
    """A checked mask: PNG, grey, white where to paint."""

    data: bytes

    @property
    def name(self) -> str:
        """Of its file: by what it holds."""
        return f"mask-{hashlib.sha256(self.data).hexdigest()[:32]}.png"


def read(path: pathlib.Path) -> Mask:
    """Read a grey PNG, or one whose opaque parts are meant; raises UsageError that names the mend.

    It may have any size: it is laid over the whole panel.
    """
    from PIL import Image  # noqa: PLC0415 - heavy, and only requests read pictures

    try:
        if path.exists() and not path.is_file():  # a device or a pipe may have no end
            raise errors.UsageError(f"{path} is no plain file: give a PNG")
        if path.stat().st_size > _BYTES:
            raise errors.UsageError(f"{path} has more than {_BYTES >> 20} MB: make it smaller")
        with Image.open(path, formats=("PNG",)) as opened:
            if opened.width * opened.height > _PIXELS:
                raise errors.UsageError(
                    f"{path} is {opened.width} x {opened.height}: a mask has at most "
                    f"{_PIXELS // 1_000_000} million pixels"
                )
            opened.load()
            grey = _grey(opened, path)
    except FileNotFoundError as error:
        raise errors.UsageError(f"there is no file {path}: check the path") from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise errors.UsageError(
            f"{path} can't be read as a mask ({error}): give a whole PNG"
        ) from error
    grey.thumbnail((_MOST, _MOST))
    if grey.getextrema()[1] <= PAINTED:
        raise errors.UsageError(
            f"{path} paints nothing: make white what is to be painted, and black or transparent "
            "all else"
        )
    written = io.BytesIO()
    grey.save(written, "PNG")
    return Mask(data=written.getvalue())


def _grey(picture: Any, path: pathlib.Path) -> Any:
    """One byte a pixel: how opaque it is, or how light."""
    from PIL import ImageChops  # noqa: PLC0415 - as in read

    if "A" in picture.getbands() or "transparency" in picture.info:
        opaque = picture.convert("RGBA").getchannel("A")
        if opaque.getextrema()[0] < 255:
            return opaque
    if picture.mode.startswith("I"):  # 16 bits: its upper ones
        return picture.point(lambda value: value / 256).convert("L")
    red, green, blue = picture.convert("RGB").split()
    for other in (green, blue):
        if ImageChops.difference(red, other).getbbox() is not None:
            raise errors.UsageError(
                f"{path} has colours: a mask is white where to paint and black elsewhere, or "
                "opaque where to paint and transparent elsewhere"
            )
    return red


def keep(store: storage.Store, project: int, mask: Mask, scratch: pathlib.Path) -> str:
    """Put a mask into the store; answers its place there. One that is there is written anew."""
    source = scratch / mask.name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(mask.data)
    try:
        return store.put(source, project=project, name=mask.name).path
    finally:
        source.unlink(missing_ok=True)


def sweep(book: ledger.Ledger, store: storage.Store) -> int:
    """Remove masks that no storyboard and no open job needs; answers how many."""
    stored = [path for path in store.older(_HELD_S, time.time()) if _MASK.fullmatch(path)]
    if not stored:
        return 0
    with book.transaction() as conn:  # after the look: what is kept later is young
        needed = set(conn.scalars(_NEEDED))
    swept = 0
    for path in set(stored) - needed:
        with contextlib.suppress(FileNotFoundError):
            store.remove(path)
            swept += 1
    return swept
