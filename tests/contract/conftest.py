"""Real workers that run `app_toy`, and a client that sends them work."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import celery
import kombu
import pytest
import redis
from kombu import pools

HERE = pathlib.Path(__file__).parent
_databases = itertools.cycle(range(1, 16))  # as many as a server has


def wait_until(ask, seconds=60.0, what="what the test waits for"):
    """Answer the first true answer; fail when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} s"
        time.sleep(0.02)


class Toy:
    """A folder, a client, and the workers started here."""

    until = staticmethod(wait_until)

    def __init__(self, folder, broker, results, prefix=""):
        self.folder = folder
        self.prefix = prefix
        self.log = folder / "log"
        self.broker = broker
        self.results = results
        self.workers = []
        self.client = celery.Celery("client", broker=broker, backend=results)
        self.client.conf.update(
            task_default_queue=prefix + "cpu",
            broker_connection_retry_on_startup=True,
            task_create_missing_queues=True,
        )

    def start(
        self, *more, children=1, window=4, name="toy", settings=None, ill=False, comes=True, **pool
    ):
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)]),
            "TOY_BROKER": self.broker,
            "TOY_RESULTS": self.results,
            "TOY_LOG": str(self.log),
            "TOY_PREFIX": self.prefix,
            "TOY_CHILDREN": str(children),
            "TOY_WINDOW": str(window),
            "TOY_POOL": json.dumps(pool),
            "TOY_ILL": "1" if ill else "",
            "TOY_CONF": json.dumps(settings or {}),
        }
        before = len(self.events("ChildReady"))
        with (self.folder / "worker.log").open("ab") as out:
            worker = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "celery", "-A", "app_toy:app", "worker",
                 "-l", "info", *more, "-n", f"{name}@test", "--without-mingle", "--without-gossip"],
                env=env, stdout=out, stderr=out, cwd=self.folder,
            )  # fmt: skip
        self.workers.append(worker)
        if comes:
            wanted = before + children
            wait_until(lambda: len(self.events("ChildReady")) >= wanted, 30, "the worker")
        return worker

    def send(self, *do, queue="cpu", task_id=None, options=None, **header):
        work = {
            "job": 1, "attempt": 0, "stage": "toy", "bucket": "toy", "rank": 0.0, "class": 1,
            "model": "", "peaks": [0], "seconds": 0.0, "cap": 1, "solo": False, "do": list(do),
        }  # fmt: skip
        return self.client.send_task(
            "toy.work", args=(1, "title", "what"), queue=self.prefix + queue, task_id=task_id,
            headers={"work": {**work, **header}}, **(options or {}),
        )  # fmt: skip

    def plain(self, *args, **options):
        return self.client.send_task("toy.plain", args=args, queue=self.prefix + "cpu", **options)

    def lines(self, what=None, **like):
        if not self.log.exists():
            return []
        text = self.log.read_text()
        found = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [
            line
            for line in found
            if (what is None or line["what"] == what)
            and all(line.get(name) == value for name, value in like.items())
        ]

    def events(self, event, **like):
        return self.lines("event", event=event, **like)

    def wait(self, what, seconds=60.0, **like):
        """Wait for a line of the log; answer the last such one."""
        return wait_until(lambda: self.lines(what, **like), seconds, f"{what} {like}")[-1]

    def running(self, result):
        return self.wait("claim", key=result.id)

    def inspect(self, what, name="toy"):
        """Ask one worker; answers as soon as it does."""
        full = f"{name}@test"

        def ask():
            with self.client.connection_for_write() as connection:
                control = self.client.control.inspect([full], timeout=5.0, connection=connection)
                return getattr(control, what)()

        return wait_until(ask)[full]

    def stats(self, name="toy"):
        return self.inspect("stats", name)["pool"]

    @staticmethod
    def alive(pid):
        """Whether a process runs; a zombie does not."""
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] != "Z"

    def output(self):
        return (self.folder / "worker.log").read_text(errors="replace")

    def close(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            try:
                worker.wait(15)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        backend = self.client.backend
        backend.result_consumer.stop()
        backend.client.connection_pool.disconnect()
        self.client.close()
        pools.reset()


def _database(server):
    """Answer the URL of an empty database."""
    number = next(_databases)
    path = server.removeprefix("redis+socket://")
    with redis.Redis(unix_socket_path=path, db=number) as client:
        client.flushdb()
    return f"{server}?virtual_host={number}"


@pytest.fixture(scope="module")
def toy(tmp_path_factory, valkey_server):
    """Yield a Toy on a database of its own; no worker runs yet."""
    url = _database(valkey_server)
    made = Toy(tmp_path_factory.mktemp("toy"), url, url)
    yield made
    made.close()


@pytest.fixture(params=["valkey", "rabbitmq"])
def any_toy(request, tmp_path_factory, valkey_server):
    """Yield a fresh Toy on each transport."""
    if request.param == "rabbitmq":
        yield from _on_rabbitmq(tmp_path_factory, valkey_server)
        return
    url = _database(valkey_server)
    made = Toy(tmp_path_factory.mktemp("toy"), url, url)
    yield made
    made.close()


@pytest.fixture
def fresh_toy(tmp_path_factory, valkey_server):
    """Yield a Toy of one test's own."""
    url = _database(valkey_server)
    made = Toy(tmp_path_factory.mktemp("toy"), url, url)
    yield made
    made.close()


@pytest.fixture
def amqp_toy(tmp_path_factory, valkey_server):
    """Yield a fresh Toy on RabbitMQ."""
    yield from _on_rabbitmq(tmp_path_factory, valkey_server)


def _on_rabbitmq(tmp_path_factory, valkey_server):
    """Yield a Toy on queues of its own, and delete them in the end."""
    url = os.environ.get("MANGEN_TEST_AMQP_URL")
    if not url:
        pytest.skip("MANGEN_TEST_AMQP_URL names no RabbitMQ")
    results = _database(valkey_server)
    prefix = f"t{uuid.uuid4().hex[:8]}."
    made = Toy(tmp_path_factory.mktemp("amqp"), url, results, prefix)
    yield made
    made.close()
    with kombu.Connection(url) as connection:
        for name in ("gpu.high", "cpu", "gpu.mid", "gpu.low"):
            connection.default_channel.queue_delete(prefix + name)
            connection.default_channel.exchange_delete(prefix + name)
