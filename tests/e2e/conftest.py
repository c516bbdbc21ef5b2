"""A whole deployment in a temporary home: real keeper, Postgres, broker, workers."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import av
import psutil
import pytest
import sqlalchemy as sa

from mangen import api, services, settings, stack, storage
from mangen.cli import crew
from mangen.ledger import invariants, ledger
from mangen.stack import clients, place

ROOT = pathlib.Path(__file__).resolve().parents[2]

TEXT = """夜里下着雨，陈默站在街口等人。
“你来晚了。”陈默说。
林晓收起伞，笑了笑：“路上堵车。”
"""


class Deployment:
    """One home with its servers and whatever workers a test starts."""

    lease_s = 3.0

    def __init__(self, home, **more):
        self.home = home
        self.workers = []
        self.environment = {
            "MANGEN_HOME": str(home),
            "MANGEN_LEASE_S": str(self.lease_s),
            "MANGEN_PASS_S": "1",
            "MANGEN_LOST_BELL_S": "2",
            "MANGEN_DEVICES": "cpu*2",
            # small, as the path is the same at any size; .ci/run makes the demo at full size
            "MANGEN_WIDTH": "180",
            "MANGEN_HEIGHT": "320",
            "MANGEN_VOICE_ENGINE": "mangen.engines.voice.tone:Tone",
            "MANGEN_FLOWER_PORT": "0",
            **{f"MANGEN_{name.upper()}": value for name, value in more.items()},
        }

    @property
    def settings(self):
        return settings.load({**os.environ, **self.environment})

    @contextlib.contextmanager
    def at_home(self):
        """Let what reads this process's environment find this deployment."""
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def start_worker(self, name="one", **more):
        """Start a worker as `up` does, in a session of its own; `more` are settings of its own."""
        log = (self.home / f"worker-{name}.log").open("ab")
        worker = subprocess.Popen(
            crew.worker_command(self.settings, name),
            cwd=ROOT,
            env={
                **os.environ,
                **self.environment,
                **{f"MANGEN_{name.upper()}": value for name, value in more.items()},
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(pathlib.Path(__file__).parent)]),
            },
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        self.workers.append(worker)
        return worker

    def log(self, name="one"):
        return (self.home / f"worker-{name}.log").read_text("utf-8", "replace")

    def children(self, worker):
        """Answer the pids of a worker's children that hold devices."""
        owners = self.query("select name, report from owners where released_at is null")
        pids = {child["pid"] for row in owners for child in (row.report or {}).get("children", ())}
        below = {child.pid for child in psutil.Process(worker.pid).children(recursive=True)}
        return sorted(pids & below)

    def query(self, sql, **values):
        engine = sa.create_engine(services.read(self.settings).database_url, poolclass=sa.NullPool)
        with engine.connect() as conn:
            return conn.execute(sa.text(sql), values).all()

    def until(self, condition, *, seconds=60.0, what="the condition"):
        """Wait for a condition; a ledger that is away just now counts as not yet."""
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(sa.exc.DBAPIError):
                found = condition()
                if found:
                    return found
            assert time.monotonic() < deadline, (
                f"{what} did not come in {seconds} s:\n{self.tail()}"
            )
            time.sleep(0.05)

    def tail(self):
        return "\n".join(
            f"== {log.name}\n{log.read_text('utf-8', 'replace')[-3000:]}"
            for log in [*self.home.glob("*.log"), *self.home.glob("logs/*.log")]
        )

    def project(self, text=TEXT, title="雨夜"):
        path = self.home / f"{title}.txt"
        path.write_text(text, "utf-8")
        number = api.create_project(path, title=title)
        api.submit_novel(number)
        return number

    def wait(self, number, seconds=120.0):
        try:
            return api.wait(number, timeout_s=seconds)
        except Exception as error:
            raise AssertionError(f"{error}\n{self.tail()}") from error

    def frames(self, number):
        """Answer the sha256 of each decoded frame of a project's only video."""
        (episode,) = api.project_status(number)["episodes"]
        with av.open(episode["video"]) as file:
            return [
                hashlib.sha256(frame.to_ndarray(format="rgb24").tobytes()).hexdigest()
                for frame in file.decode(video=0)
            ]

    def storyboard(self, number):
        """Answer the stored storyboard of a project, as bytes."""
        (row,) = self.query(
            """select a.path from artifacts a join jobs j on j.id = a.job and a.attempt = j.attempt
               where j.project = :p and j.stage = 'storyboard' and j.state = 'done'
                 and a.kind = 'storyboard'""",
            p=number,
        )
        return (self.settings.artifact_root / row.path).read_bytes()

    def violations(self):
        book = ledger.Ledger(services.read(self.settings).database_url)
        try:
            with book.transaction() as conn:
                store = storage.Store(self.settings.artifact_root)
                return invariants.check(conn, store.paths(), lease_s=self.lease_s)
        finally:
            book.close()

    def running(self, number):
        """Answer running jobs once some of the project's jobs are done: the middle of the run."""
        rows = self.query("select id, stage, owner, state from jobs where project = :p", p=number)
        done = sum(row.state == "done" for row in rows)
        return [row for row in rows if row.state == "running"] if done >= 4 else []

    def stop_workers(self, sig=signal.SIGTERM):
        for worker in self.workers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGCONT)
                worker.send_signal(sig)
        for worker in self.workers:
            try:
                worker.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
        self.workers.clear()


@contextlib.contextmanager
def served(**more):
    """Yield a fresh deployment with these settings, and leave nothing behind."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="mangen-e2e-", dir="/tmp"))
    home.chmod(0o755)
    one = Deployment(home, **more)
    try:
        with stack.join(one.settings):
            try:
                yield one
            finally:
                one.stop_workers(signal.SIGQUIT)
    finally:
        deadline = time.monotonic() + 20
        while clients.keeper_lives(place.Place(home)) and time.monotonic() < deadline:
            time.sleep(0.05)  # it ends by itself, after its last client
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def deployed(**more):
    """Yield a deployment that is also what this process's environment names."""
    with served(**more) as one, one.at_home():
        yield one


@pytest.fixture(scope="session")
def _finished():
    with served() as one:
        with one.at_home():
            one.start_worker()
            one.number = one.project()
            one.status = one.wait(one.number)
            one.reference = (one.storyboard(one.number), one.frames(one.number))
            one.stop_workers()
        yield one


@pytest.fixture
def undisturbed(_finished):
    """Yield the deployment and finished project that the others are compared with."""
    with _finished.at_home():  # no longer: tests of other rooms run while its servers live
        yield _finished
        _finished.stop_workers()


@pytest.fixture
def deployment():
    with deployed() as one:
        yield one


@pytest.fixture(scope="session")
def deploy():
    """Answer `deployed`: a deployment with settings of its own, as a context."""
    return deployed
