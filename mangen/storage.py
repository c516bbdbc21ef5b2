"""The artifact store: a local folder of `{project}/{job}-{attempt}.ext` files.

A file is written whole under a temporary name, synced and renamed, so that a path either names a
whole file or none. Rows decide which files count: a file without a row is an orphan, to be swept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import hashlib
import os
import pathlib
import re
import uuid
from collections.abc import Iterator

from mangen import errors

_PART = re.compile(r"\.[0-9a-f]{32}\.part")  #: a temporary file of ours
#: errors of a disk or a quota without room
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """One published file: its path below the root, and the sha256 of its bytes."""

    path: str
    sha256: str


class Store:
    """A folder of artifacts. Safe to use from several processes."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root

    def put(self, source: pathlib.Path, *, project: int, name: str) -> Stored:
        """Publish a finished file as `{project}/{name}`; the source is moved or copied.

        Raises StorageFull where the disk or a quota has no room, else StorageUnwritable.
        """
        path = f"{project}/{name}"
        final = self.locate(path)
        temporary = final.with_name(f".{uuid.uuid4().hex}.part")
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with source.open("rb") as read, temporary.open("wb") as write:
                while block := read.read(1 << 20):
                    digest.update(block)
                    write.write(block)
                write.flush()
                os.fsync(write.fileno())
            temporary.replace(final)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            if error.errno in FULL:
                raise errors.StorageFull(
                    f"no room for {path} in the artifact store {self.root}: {error.strerror}; "
                    "free some space or set MANGEN_ARTIFACTS to a larger disk"
                ) from error
            raise errors.StorageUnwritable(
                f"can't write {path} in the artifact store {self.root}: {error.strerror}; "
                "mend the folder, or set MANGEN_ARTIFACTS to another"
            ) from error
        return Stored(path, digest.hexdigest())

    def locate(self, path: str) -> pathlib.Path:
        """The local file of a stored path, which may not leave the root."""
        full = (self.root / path).resolve()
        if not full.is_relative_to(self.root.resolve()):
            raise errors.StorageError(f"{path} lies outside the artifact store {self.root}")
        return full

    def address(self, path: str) -> str:
        """Where a stored path lies, to be shown: no look at the disk, for thousands of them."""
        if path.startswith("/") or ".." in path.split("/"):
            raise errors.StorageError(f"{path} lies outside the artifact store {self.root}")
        return f"{self._shown}/{path}"

    @functools.cached_property
    def _shown(self) -> str:
        return str(self.root.resolve())

    def paths(self) -> Iterator[str]:
        """Every published path, temporary files left out."""
        for file in sorted(self.root.glob("*/*")):
            if file.is_file() and not file.name.startswith("."):
                yield file.relative_to(self.root).as_posix()

    def names(self, project: int) -> set[str]:
        """Every published path of one project; raises StorageError where the store is not there."""
        if not self.root.is_dir():
            raise errors.StorageError(
                f"the artifact store {self.root} is not there: mount it, or set MANGEN_ARTIFACTS"
            )
        try:
            with os.scandir(self.root / str(project)) as entries:
                return {
                    f"{project}/{entry.name}"
                    for entry in entries
                    if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False)
                }
        except FileNotFoundError:
            return set()

    def digest(self, path: str) -> str | None:
        """The sha256 of a stored file's bytes; None where it can't be read."""
        try:
            with self.locate(path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None

    def set_aside(self, path: str) -> None:
        """Hide a file whose bytes are not those that were stored; it is kept for whoever asks."""
        file = self.locate(path)
        with contextlib.suppress(FileNotFoundError):
            file.replace(file.with_name(f".damaged-{file.name}"))

    def remove(self, path: str) -> None:
        """Delete a stored file; a missing one is fine."""
        self.locate(path).unlink(missing_ok=True)

    def older(self, seconds: float, now: float) -> Iterator[str]:
        """Every published path that was written so long ago, one folder at a time."""
        for folder in self._folders():
            with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
                        continue
                    with contextlib.suppress(FileNotFoundError):
                        if now - entry.stat(follow_symlinks=False).st_mtime > seconds:
                            yield f"{folder.name}/{entry.name}"

    def _folders(self) -> list[pathlib.Path]:
        try:
            return sorted(one for one in self.root.iterdir() if one.name.isdecimal())
        except FileNotFoundError:
            return []

    def sweep_parts(self, *, older_than_s: float, now: float) -> int:
        """Delete temporary files that no writer can still be writing; answers how many."""
        swept = 0
        for folder in self._folders():
            for file in folder.glob(".*.part"):
                if not _PART.fullmatch(file.name):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    if now - file.stat().st_mtime > older_than_s:
                        file.unlink()
                        swept += 1
        return swept
