"""Where the embedded servers live: data, locks, logs and sockets of one home."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import pwd
import stat
import subprocess
import tempfile

from mangen import errors, services

#: where Postgres goes when root's home folders are closed to the user it runs as
SYSTEM_DATA = pathlib.Path("/var/lib/mangen")


@dataclasses.dataclass(frozen=True, slots=True)
class User:
    """The user Postgres runs as when mangen runs as root, which Postgres refuses to be."""

    uid: int
    gid: int


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """The files of one home. Nothing is made before it is needed."""

    root: pathlib.Path

    @property
    def services_file(self) -> pathlib.Path:
        """Written by the keeper when every wanted server answers."""
        return self.root / services.FILE

    @property
    def clients_lock(self) -> pathlib.Path:
        """Held shared by every client until it ends."""
        return self.root / "clients.lock"

    @property
    def keeper(self) -> pathlib.Path:
        """The keeper's own folder: locks, wishes, its last error."""
        return self.root / "keeper"

    @property
    def alive_lock(self) -> pathlib.Path:
        """Its lock says that a keeper lives."""
        return self.keeper / "alive.lock"

    @property
    def error_file(self) -> pathlib.Path:
        """Says why the last keeper gave up."""
        return self.keeper / "error.txt"

    def wish(self, server: str) -> pathlib.Path:
        """The file by which a client asks for a server."""
        return self.keeper / f"want-{server}"

    @property
    def logs(self) -> pathlib.Path:
        """One file a process, kept across restarts."""
        return self.root / "logs"

    @property
    def key(self) -> str:
        """Ten characters that name this home on this machine."""
        return hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:10]

    @property
    def sockets(self) -> pathlib.Path:
        """A short folder, as a socket's path may hold about 104 bytes."""
        base = pathlib.Path("/tmp")  # noqa: S108 - the same for every client, whatever TMPDIR says
        if not os.access(base, os.W_OK):
            base = pathlib.Path(tempfile.gettempdir())
        return base / f"mangen-{os.geteuid()}-{self.key}"

    def make(self) -> None:
        """Make the folders; raises ServiceError that names the one that can't be made."""
        try:
            for folder in (self.root, self.keeper, self.logs):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise errors.ServiceError(
                f"can't make mangen's data folder {self.root}: {error.strerror}; "
                "set MANGEN_HOME to a folder you may write"
            ) from error

    def make_sockets(self, user: User | None) -> None:
        """Make the private socket folder; raises ServiceError where it is another user's."""
        self.sockets.mkdir(mode=0o700, exist_ok=True)
        found = self.sockets.lstat()
        mine = {os.geteuid()} | ({user.uid} if user else set())
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in mine:
            raise errors.ServiceError(
                f"{self.sockets} belongs to someone else: remove it, or set MANGEN_HOME elsewhere"
            )
        self.sockets.chmod(0o700)
        if user:
            os.chown(self.sockets, user.uid, user.gid)

    def data(self, user: User | None) -> pathlib.Path:
        """The folder of the servers' data: the home, or a system folder where that is closed."""
        if user is None or _may_enter(self.root, user):
            return self.root
        folder = SYSTEM_DATA / self.key
        folder.mkdir(parents=True, exist_ok=True)
        for each in (SYSTEM_DATA, folder):
            each.chmod(0o755)
        (folder / "home.txt").write_text(f"{self.root}\n", "utf-8")
        return folder


def postgres_user() -> User | None:
    """Who Postgres runs as: None is ourselves; as root it is `nobody`."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError as error:
        raise errors.ServiceError(
            "Postgres can't run as root and this machine has no user `nobody`: "
            "run mangen as an ordinary user or set MANGEN_DATABASE_URL"
        ) from error
    return User(entry.pw_uid, entry.pw_gid)


def can_run(command: list[str | pathlib.Path], user: User) -> bool:
    """Whether that user can run a command; proves reachable files, libraries and rights at once."""
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            cwd="/",
            user=user.uid,
            group=user.gid,
            extra_groups=[],
        )
    except PermissionError as error:
        if error.filename in (None, "/"):
            raise errors.ServiceError(
                "this container may not change users (no CAP_SETUID), and Postgres can't run as "
                "root: run mangen as an ordinary user or set MANGEN_DATABASE_URL"
            ) from error
        return False
    except OSError:
        return False
    return done.returncode == 0


def _may_enter(folder: pathlib.Path, user: User) -> bool:
    return can_run(["/bin/sh", "-c", 'cd "$0"', folder], user)
