"""What Flower and `inspect` tell is what happened."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

from mangen import app
from mangen.cli import crew

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def flower(deployment):
    """Yield a function that asks a running Flower's API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    deployment.environment["MANGEN_FLOWER_PORT"] = os.environ["MANGEN_FLOWER_PORT"] = str(port)
    process = subprocess.Popen(
        crew.flower_command(deployment.settings),
        cwd=ROOT,
        env={**os.environ, "FLOWER_BASIC_AUTH": "mangen:word"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def ask(path):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/api/{path}")
        word = base64.b64encode(b"mangen:word").decode()
        request.add_header("Authorization", f"Basic {word}")
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError),
            urllib.request.urlopen(request, timeout=10) as answer,  # noqa: S310 - our own
        ):
            return json.load(answer)

    yield ask
    process.terminate()
    process.wait(20)


def test_flower_shows_every_job_as_it_ended(deployment, flower):
    deployment.until(lambda: flower("workers?refresh=1") is not None, what="Flower")
    deployment.start_worker()
    number = deployment.project()
    deployment.wait(number)
    attempts = dict(
        deployment.query(
            "select job || '-' || attempt, outcome from attempts where outcome is not null"
        )
    )

    def seen():
        tasks = flower("tasks?limit=1000") or {}
        ended = {
            key.rsplit("-", 1)[0]: task
            for key, task in tasks.items()
            if task["name"] != "mangen.wake" and task["state"] in {"SUCCESS", "FAILURE"}
        }
        return ended if len(ended) >= len(attempts) else None

    # a message's id carries the attempt before the claim
    tasks = deployment.until(seen, what="Flower's view of all tasks")
    assert all(task["state"] == "SUCCESS" for task in tasks.values())
    assert len(tasks) == len(attempts)
    assert all("雨夜" in task["args"] for task in tasks.values())


def test_inspect_stats_tells_the_pools_state(deployment):
    worker = deployment.start_worker()
    deployment.wait(deployment.project())
    app.build.cache_clear()
    stats = deployment.until(
        lambda: app.build().control.inspect(timeout=3).stats(), what="an answer to inspect"
    )
    (found,) = stats.values()
    pool = found["pool"]
    assert sorted(pool["processes"]) == deployment.children(worker)
    assert [device["device"] for device in pool["devices"]] == ["cpu", "cpu"]
    assert any("animatic" in device["residents"] for device in pool["devices"])
    done = deployment.query("select 1 from attempts where outcome = 'done'")
    assert pool["counters"]["done"] == len(done) + 1  # and the chord's body
    app.build.cache_clear()
