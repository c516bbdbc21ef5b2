"""What must hold on every transport, and what each does in its own way."""

from __future__ import annotations

import signal

import pytest
from billiard.exceptions import WorkerLostError
from celery import exceptions


def test_an_anchor_overtakes_a_hundred_queued_low_jobs(any_toy):
    toy = any_toy
    toy.start(window=4)
    busy = toy.send("progress:1.0", queue="gpu.low", **{"class": 2})
    toy.running(busy)
    low = [toy.send("sleep:0.01", queue="gpu.low", **{"class": 2}) for _ in range(100)]
    anchor = toy.send(queue="gpu.high", name="anchor", **{"class": 0})
    anchor.get(timeout=20)
    low[-1].get(timeout=30)
    order = [line["key"] for line in toy.lines("claim")]
    assert order[0] == busy.id
    assert order.index(anchor.id) <= 10
    assert len(order) == 102


def test_the_whole_life_of_requests(any_toy):
    toy = any_toy
    toy.start(window=4)
    assert toy.send(name="a").get(timeout=10)["name"] == "a"
    with pytest.raises(WorkerLostError):
        toy.send("kill").get(timeout=10)
    busy = toy.send("progress:20")
    toy.running(busy)
    waiting = toy.send()
    toy.client.control.revoke(busy.id, terminate=True)
    with pytest.raises(exceptions.TaskRevokedError):
        busy.get(timeout=10)
    assert waiting.get(timeout=10)
    assert toy.plain(1).get(timeout=10) == 2
    assert toy.stats()["window"] == []


def test_a_killed_worker_on_rabbitmq_leaves_its_window_to_the_next_at_once(amqp_toy):
    toy = amqp_toy
    worker = toy.start()
    busy = toy.send("sleep:30")
    toy.running(busy)
    waiting = [toy.send() for _ in range(3)]
    toy.until(lambda: len(toy.stats()["window"]) == 3)
    worker.kill()
    worker.wait()
    toy.start(name="next")
    for one in waiting:
        one.get(timeout=20)
    assert len(toy.lines("claim", key=busy.id)) == 1  # acked early: the ledger's lease has it


def test_heartbeats_go_on_while_a_warm_shutdown_waits(amqp_toy):
    toy = amqp_toy
    worker = toy.start(settings={"broker_heartbeat": 2})
    busy = toy.send("sleep:8", seconds=60.0)
    toy.running(busy)
    waiting = toy.send()
    toy.until(lambda: len(toy.stats()["window"]) == 1)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    assert busy.get(timeout=5)
    assert "missed heartbeat" not in toy.output().lower()
    assert "connection" not in toy.output().lower().partition("warm shutdown")[2]
    toy.start(name="next")
    assert waiting.get(timeout=10)
