"""How workers and children end on purpose, and what must not be lost by it."""

from __future__ import annotations

import collections
import os
import signal

from celery import states

#: for a child to leave by itself, on whatever machine: who is killed is no soft restart
LONG_S = 30.0


def test_soft_restarts_under_load_lose_and_repeat_nothing(fresh_toy):
    toy = fresh_toy
    toy.start(children=2, restart_after=5, window=8, grace_s=LONG_S)
    results = []

    def loaded_until_both_restarted():
        wave = [toy.send("sleep:0.02", name=str(n), bucket=f"b{n % 3}") for n in range(30)]
        for n, result in enumerate(wave):
            assert result.get(timeout=30)["name"] == str(n)
        results.extend(wave)
        return {line["slot"] for line in toy.events("Restarted")} == {0, 1}

    toy.until(loaded_until_both_restarted, 60)
    claims = collections.Counter(line["key"] for line in toy.lines("claim"))
    assert set(claims.values()) == {1}
    assert set(claims) == {one.id for one in results}
    assert not toy.lines("lost")
    restarts = toy.events("Restarted")
    assert all(line["tasks"] >= 5 for line in restarts)
    # the successor stood by before its predecessor went, and took the device only after that
    at = {
        event: {line["owner"]: line["at"] for line in toy.events(event)}
        for event in ("ChildStarted", "ChildStopped", "ChildReady")
    }
    for line in restarts:
        old, new = line["old"], line["new"]
        assert at["ChildStarted"][new] < at["ChildStopped"][old] < at["ChildReady"][new]


def test_pool_restart_replaces_every_child_softly(fresh_toy):
    toy = fresh_toy
    toy.start(children=2, grace_s=LONG_S, settings={"worker_pool_restarts": True})
    before = set(toy.stats()["processes"])
    toy.client.control.pool_restart()
    toy.until(lambda: len(toy.events("Restarted")) == 2)
    assert not before & set(toy.stats()["processes"])
    assert toy.send().get(timeout=10)


def test_a_warm_shutdown_finishes_what_runs_and_returns_the_window(fresh_toy):
    toy = fresh_toy
    worker = toy.start()
    busy = toy.send("progress:1.5")
    pid = toy.running(busy)["pid"]
    waiting = [toy.send(name=str(n)) for n in range(3)]
    toy.until(lambda: len(toy.stats()["window"]) == 3)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(20) == 0
    assert busy.get(timeout=1)
    assert not toy.alive(pid)
    assert not toy.lines("lost")
    assert toy.events("PoolStopped")[-1]["cold"] is False
    assert all(one.state == states.PENDING for one in waiting)
    toy.start(name="next")
    for n, one in enumerate(waiting):
        assert one.get(timeout=10)["name"] == str(n)


def test_a_cold_shutdown_aborts_what_runs_and_returns_the_window(fresh_toy):
    toy = fresh_toy
    worker = toy.start(grace_s=2.0)
    busy = toy.send("progress:60")
    toy.running(busy)
    waiting = toy.send()
    toy.until(lambda: len(toy.stats()["window"]) == 1)
    worker.send_signal(signal.SIGQUIT)
    worker.wait(20)
    assert toy.wait("drop", key=busy.id)["why"] == "shutdown"
    assert busy.state == states.REVOKED
    assert toy.events("PoolStopped")[-1]["cold"] is True
    assert waiting.state == states.PENDING
    toy.start(name="next")
    assert waiting.get(timeout=10)


def test_a_cold_shutdown_kills_what_does_not_answer_and_says_so(fresh_toy):
    toy = fresh_toy
    worker = toy.start(grace_s=0.5)
    busy = toy.send("sleep:60")
    pid = toy.running(busy)["pid"]
    worker.send_signal(signal.SIGQUIT)
    worker.wait(20)
    assert not toy.alive(pid)
    assert toy.wait("lost")["keys"] == [busy.id]


def test_a_warm_shutdown_turns_cold_at_the_second_signal(fresh_toy):
    toy = fresh_toy
    worker = toy.start(grace_s=1.0)
    busy = toy.send("progress:60")
    toy.running(busy)
    worker.send_signal(signal.SIGTERM)
    toy.until(lambda: "Warm shutdown" in toy.output())
    worker.send_signal(signal.SIGQUIT)
    worker.wait(20)
    assert toy.wait("drop", key=busy.id)["why"] == "shutdown"


def test_a_stopped_child_can_not_hold_up_a_shutdown(fresh_toy):
    toy = fresh_toy
    worker = toy.start(grace_s=0.5)
    toy.send().get(timeout=10)
    (pid,) = toy.stats()["processes"]
    os.kill(pid, signal.SIGSTOP)
    worker.send_signal(signal.SIGTERM)
    worker.wait(20)
    assert not toy.alive(pid)
