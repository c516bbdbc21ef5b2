"""One worker with one child that dies in every way: who hears of it, and what goes on."""

from __future__ import annotations

import os
import signal

import pytest
from billiard.exceptions import WorkerLostError
from celery import exceptions, states


@pytest.fixture(scope="module", autouse=True)
def _worker(toy):
    toy.start(hard_min_s=1.5, grace_s=0.5)


def lost_before_celery(toy, key):
    """Check the order in the parent: the listener, then Celery."""
    toy.wait("celery_failed", key=key)
    what = [
        line["what"]
        for line in toy.lines()
        if (line["what"] == "lost" and key in line["keys"])
        or (line["what"] == "celery_failed" and line["key"] == key)
    ]
    assert what == ["lost", "celery_failed"]


def test_a_killed_child_costs_only_its_session_and_a_new_generation_follows(toy):
    before = toy.running(toy.send())["owner"]
    result = toy.send("kill")
    waiting = toy.send()
    with pytest.raises(WorkerLostError, match="SIGKILL"):
        result.get(timeout=10)
    waiting.get(timeout=10)
    lost_before_celery(toy, result.id)
    lost = toy.wait("lost")
    assert lost == {**lost, "owner": before, "keys": [result.id], "alone": True}
    after = toy.running(waiting)["owner"]
    assert before.rpartition("/")[0] == after.rpartition("/")[0] == "toy@test/0"
    assert int(before.rpartition("/")[2]) < int(after.rpartition("/")[2])


def test_a_death_in_a_batch_is_nobodys_alone_and_nothing_is_run_again(toy):
    busy = toy.send("progress:0.3")
    toy.running(busy)
    members = [toy.send("sleep:0.1", "kill", cap=2, bucket="doomed") for _ in range(2)]
    for member in members:
        with pytest.raises(WorkerLostError):
            member.get(timeout=10)
    lost = toy.wait("lost")
    assert set(lost["keys"]) == {member.id for member in members}
    assert lost["alone"] is False
    toy.send().get(timeout=10)
    assert all(len(toy.lines("claim", key=member.id)) == 1 for member in members)


def test_what_a_child_started_dies_with_it(toy):
    result = toy.send("spawn", "kill")
    pid = toy.wait("spawned", key=result.id)["pid"]
    toy.until(lambda: not toy.alive(pid))


@pytest.mark.parametrize("word", ["raise", "exit"])
def test_an_exception_that_leaves_the_session_replaces_the_child(toy, word):
    result = toy.send(word)
    with pytest.raises(WorkerLostError):
        result.get(timeout=10)
    lost_before_celery(toy, result.id)
    toy.send().get(timeout=10)


def test_a_claim_that_fails_leaves_the_request_in_the_window(toy):
    result = toy.send("raise-in-add")
    result.get(timeout=10)
    assert toy.wait("lost")["keys"] == [result.id]
    assert len(toy.lines("claim", key=result.id)) == 1


def test_work_beyond_its_deadline_is_dropped_between_steps(toy):
    children = toy.stats()["processes"]
    result = toy.send("progress:30")
    toy.until(lambda: result.state == states.REVOKED)
    assert toy.wait("drop", key=result.id)["why"] == "deadline"
    assert toy.stats()["processes"] == children


def test_work_that_does_not_answer_is_killed_and_its_stacks_are_kept(toy):
    result = toy.send("sleep:30")
    with pytest.raises(exceptions.TimeLimitExceeded):
        result.get(timeout=10)
    (timed_out,) = toy.events("TimedOut", keys=[result.id])
    assert "app_toy.py" in timed_out["stacks"]
    assert "in act" in timed_out["stacks"]
    assert toy.wait("lost")["alone"] is True


def test_a_stopped_child_passes_its_deadline(toy):
    result = toy.send("progress:30")
    pid = toy.running(result)["pid"]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(exceptions.TimeLimitExceeded):
        result.get(timeout=10)
    toy.until(lambda: not toy.alive(pid))
    toy.send().get(timeout=10)


def test_a_plain_task_keeps_its_own_time_limit(toy):
    result = toy.plain(1, 30.0, time_limit=1)
    with pytest.raises(exceptions.TimeLimitExceeded):
        result.get(timeout=10)
    assert toy.plain(1).get(timeout=10) == 2


def test_a_plain_task_that_is_revoked_while_it_runs_is_killed_after_the_grace(toy):
    result = toy.plain(5, 30.0)
    toy.wait("plain", key=result.id)
    toy.client.control.revoke(result.id, terminate=True)
    toy.until(lambda: result.state == states.REVOKED)
    assert toy.plain(1).get(timeout=10) == 2


def test_a_child_does_not_die_of_the_signals_of_a_terminal_or_a_supervisor(toy):
    toy.send().get(timeout=10)
    (pid,) = toy.stats()["processes"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        os.kill(pid, number)
    toy.send("sleep:0.1").get(timeout=10)
    assert toy.stats()["processes"] == [pid]


def test_an_owner_that_was_released_is_replaced(toy):
    result = toy.send("progress:30", name="replace me")
    toy.until(lambda: result.state == states.REVOKED)
    owner = toy.running(result)["owner"]
    follower = toy.send()
    follower.get(timeout=10)
    assert toy.running(follower)["owner"] != owner


def test_a_device_that_does_not_come_up_is_tried_again(toy):
    marker = toy.log.with_name("no-start")
    deaths = len(toy.events("ChildLost"))
    marker.touch()
    toy.send("kill")
    toy.until(lambda: len(toy.events("ChildLost")) >= deaths + 3)
    marker.unlink()
    toy.send().get(timeout=20)


def test_a_killed_worker_takes_its_children_along_and_its_successor_has_later_owners(toy):
    busy = toy.send("sleep:1.2")
    child = toy.running(busy)
    waiting = [toy.send(name="survivor") for _ in range(3)]
    toy.until(lambda: len(toy.stats()["window"]) == 3)
    worker = toy.workers[-1]
    worker.kill()
    worker.wait()
    toy.until(lambda: not toy.alive(child["pid"]))
    toy.start(hard_min_s=1.5)
    # the broker gives back what was un-acked only after its visibility timeout; a fresh message
    # shows that the new worker works, and its owner comes after the old one
    fresh = toy.send()
    fresh.get(timeout=10)
    new, old = (int(one["owner"].rpartition("/")[2]) for one in (toy.running(fresh), child))
    assert new > old
    assert not busy.ready()
    assert not any(one.ready() for one in waiting)


def test_nothing_leaked_into_the_children_or_went_wrong_in_the_pool(toy):
    assert all(line["inherited"] == [] for line in toy.lines("work"))
    assert "met a fault" not in toy.output()
