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


@pytest.fixture(scope="module")
def watched(deploy):
    """Yield a deployment that did one project under Flower's eyes, and how to ask Flower."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def ask(path):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/api/{path}")
        word = base64.b64encode(b"mangen:word").decode()
        request.add_header("Authorization", f"Basic {word}")
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError),
            urllib.request.urlopen(request, timeout=10) as answer,  # noqa: S310 - our own
        ):
            return json.load(answer)

    with deploy(flower_port=str(port)) as one:
        process = subprocess.Popen(
            crew.flower_command(one.settings),
            cwd=ROOT,
            env={**os.environ, "FLOWER_BASIC_AUTH": "mangen:word"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            one.until(lambda: ask("workers?refresh=1") is not None, what="Flower")
            one.worker = one.start_worker()
            one.wait(one.project())
            yield one, ask
        finally:
            process.terminate()
            process.wait(20)


def test_flower_shows_every_job_as_it_ended(watched):
    deployment, flower = watched
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


def test_inspect_stats_tells_the_pools_state(watched):
    deployment, _ = watched
    app.build.cache_clear()
    stats = deployment.until(
        lambda: app.build().control.inspect(timeout=3).stats(), what="an answer to inspect"
    )
    (found,) = stats.values()
    pool = found["pool"]
    assert sorted(pool["processes"]) == deployment.children(deployment.worker)
    assert [device["device"] for device in pool["devices"]] == ["cpu", "cpu"]
    assert any("animatic" in device["residents"] for device in pool["devices"])
    for device in pool["devices"]:
        assert device["kind"] == "cpu"
        assert 0 < device["bytes"]["known"] <= device["bytes"]["total"]
        assert device["cache"]["total"]["hit"] >= 0
        assert 0 <= device["busy"] <= 1
    assert pool["learned"]["kinds"] >= 3
    done = deployment.query("select 1 from attempts where outcome = 'done'")
    assert pool["counters"]["done"] == len(done) + 1  # and the chord's body
    app.build.cache_clear()


def test_a_new_worker_learns_from_what_was_observed_before_it(undisturbed):
    kept = undisturbed.query("select kind, device, meta from observations")
    assert {row.device for row in kept} == {"cpu"}
    assert any(row.kind == "load" for row in kept)
    assert any(row.kind == "work" and row.meta["theory"] > 0 for row in kept)
    undisturbed.start_worker("wise")
    app.build.cache_clear()
    ask = app.build().control.inspect([f"wise@{socket.gethostname()}"], timeout=3)

    def learned():
        stats = ask.stats() or {}
        return [one["pool"]["learned"]["kinds"] for one in stats.values()]

    (kinds,) = undisturbed.until(learned, what="an answer to inspect")
    assert undisturbed.until(lambda: (learned() or [0])[0] >= 3, what="lessons"), kinds
    app.build.cache_clear()
