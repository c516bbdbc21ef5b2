"""Lives and deaths on the real pool: kills, crash loops, hangs, cards that keep what they held."""

from __future__ import annotations

import pathlib

import pytest
import sim_pool
from sim_pool import GIB, Lost, ends

from mangen.pooling import errors, events, slots
from mangen.pooling.devices import simulated


def test_the_bytes_of_a_killed_child_return_and_its_requests_fail_after_its_loss_is_told(start):
    sim = start(linger_s=0.3, measure_sizes=False)
    whole = sim.free()
    futures = sim.many(["k1", "k2", "k3"], "a/s/4000", cap=4)
    told_first = []
    futures["k1"].add_done_callback(lambda _future: told_first.extend(sim.ear.of(Lost)))
    sim.ear.until(events.Progressed)
    pid = sim.ear.of(events.ChildStarted)[0].pid
    sim_pool.kill(pid)
    lost = sim.ear.until(events.ChildLost)
    assert ends(futures) == dict.fromkeys(futures, "lost")
    assert (sorted(lost.keys), lost.why) == (["k1", "k2", "k3"], "killed by SIGKILL")
    assert [(one.owner, sorted(one.keys), one.alone) for one in told_first] == [
        (lost.owner, ["k1", "k2", "k3"], False)
    ]
    sim.ready(2)
    assert sim.ear.of(events.ChildReady)[1].owner > lost.owner
    assert ends({"next": sim.submit("next")}) == {"next": "done"}
    assert sim.claims() == dict.fromkeys(["k1", "k2", "k3", "next"], 1)
    sim.pool.close()
    assert sim.free() == whole


def test_one_that_kills_its_child_alone_is_told_as_alone(start):
    sim = start()
    assert ends({"k": sim.submit("k", do="kill")}) == {"k": "lost"}
    assert [(one.keys, one.alone) for one in sim.ear.of(Lost)] == [(("k",), True)]


def test_what_waited_is_served_by_the_next_child(start):
    sim = start(measure_sizes=False)
    futures = {"bad": sim.submit("bad", "b/s/2", do="kill", rank=9.0)}
    futures |= sim.many([f"k{n}" for n in range(6)], "a/s/2")
    assert ends(futures) == {"bad": "lost", **dict.fromkeys(list(futures)[1:], "done")}
    assert set(sim.claims().values()) == {1}


def test_an_exception_that_leaves_a_session_costs_the_child(start):
    sim = start()
    assert ends({"k": sim.submit("k", do="raise")}) == {"k": "lost"}
    assert "the toy has a fault" in sim.ear.until(events.ChildLost).why
    assert ends({"next": sim.submit("next")}) == {"next": "done"}


def test_bytes_that_do_not_come_back_rest_their_card_while_the_other_goes_on(start):
    sim = start(devices=("sim:small", "sim:small/1"), reclaim_s=0.2)
    sim.ready(2)
    sim.control.expect(["a"])  # a child without a model holds too little to be missed
    sim.ear.until(events.Loaded, count=2)
    first = next(one for one in sim.ear.of(events.ChildStarted) if one.slot == 0)
    simulated.stick("sim:small", sim.options, first.pid)
    sim_pool.kill(first.pid)
    rests = sim.ear.until(events.Quarantined)
    assert (rests.slot, rests.device, rests.retry_s) == (0, "sim:small", slots.QUARANTINE_S)
    assert "did not come back" in rests.why or "still counts" in rests.why
    futures = sim.many([f"k{n}" for n in range(6)])
    assert set(ends(futures).values()) == {"done"}
    slot = {one.owner: one.slot for one in sim.ear.of(events.ChildStarted)}
    assert {slot[line["owner"]] for line in sim.logged("claim")} == {1}
    assert sim.pool.report()["quarantined"] == [0]
    assert len(sim.ear.of(events.ChildStarted)) == 2
    simulated.unstick("sim:small", sim.options, first.pid)
    sim.ear.until(events.ChildReady, lambda one: one.slot == 0, count=2)


def test_a_card_whose_child_dies_at_once_rests_and_the_other_one_goes_on(start, monkeypatch):
    monkeypatch.setattr(slots, "QUARANTINE_DEATHS", 2)
    sim = start(devices=("sim:small", "sim:small/1"))
    sim.ready(2)
    for generation in (1, 2):
        one = sim.ear.until(events.ChildStarted, lambda one: one.slot == 0, count=generation)
        sim_pool.kill(one.pid)
        sim.ear.until(events.ChildLost, count=generation)
    rests = sim.ear.until(events.Quarantined)
    assert (rests.slot, rests.deaths, rests.why) == (0, 2, "killed by SIGKILL")
    assert set(ends(sim.many([f"k{n}" for n in range(6)])).values()) == {"done"}
    assert [child["slot"] for child in sim.pool.report()["children"]] == [1]
    assert sim.pool.report()["quarantined"] == [0]


def test_a_hang_is_killed_and_leaves_a_report_with_stacks_memory_and_processes(start, tmp_path):
    sim = start(hard_min_s=1.0, hard_factor=0.0, grace_s=0.2, reports=str(tmp_path / "reports"))
    future = sim.submit("k", do="hang")
    assert "was killed" in str(future.exception(sim_pool.WAIT_S))
    late = sim.ear.until(events.TimedOut)
    assert late.keys == ("k",)
    assert "signal.pause" in late.stacks or "in act" in late.stacks
    text = pathlib.Path(late.report).read_text("utf-8")
    pid = sim.ear.of(events.ChildStarted)[0].pid
    for word in ("sim_product.py", "residents: {'a'", "memory: Memory(", f"{{{pid}: ", "k"):
        assert word in text
    snapshot = next(line for line in text.splitlines() if line.startswith("snapshot"))
    assert pathlib.Path(snapshot.partition(": ")[2]).stat().st_size > 0
    assert ends({"next": sim.submit("next")}) == {"next": "done"}


def test_a_second_pool_on_a_card_is_refused_by_the_name_of_the_first(start):
    start(name="first")
    with pytest.raises(errors.ConfigError, match="worker first"):
        start(name="second", devices=("sim:small/1", "sim:small"))
    third = start(name="third", devices=("sim:small/1",))  # the second has kept nothing
    assert ends({"k": third.submit("k")}) == {"k": "done"}


def test_an_owner_that_is_replaced_ends_and_its_follower_serves(start):
    sim = start(grace_s=0.3)
    futures = {"k": sim.submit("k", do="hang")}
    sim.ear.wait(lambda: sim.logged("hang"), "the hang")  # before its step it could still be asked
    sim.control.replace(sim.ear.of(events.ChildReady)[0].owner)
    assert ends(futures) == {"k": "lost"}
    assert ends({"next": sim.submit("next")}) == {"next": "done"}


def test_a_warm_close_ends_what_runs_and_cancels_what_waits(start):
    sim = start(speed=200.0)
    running = sim.submit("running", "a/s/200", cap=1)
    sim.ear.until(events.Progressed)
    waiting = sim.submit("waiting", "b/s/1")
    sim.pool.close()
    assert ends({"running": running}) == {"running": "done"}
    assert waiting.cancelled()
    assert sim.ear.heard[-1] == events.PoolStopped(worker="pool", cold=False)
    assert sim.ear.of(events.ChildLost) == []
    with pytest.raises(errors.PoolError, match="closed"):
        sim.submit("late")


def test_a_cold_close_stops_what_runs_between_its_steps(start):
    sim = start(speed=50.0, grace_s=30.0)
    running = sim.submit("running", "a/s/20000", cap=1)
    sim.ear.until(events.Progressed)
    sim.pool.close(cold=True)
    assert ends({"running": running}) == {"running": "aborted"}
    assert sim.ear.heard[-1] == events.PoolStopped(worker="pool", cold=True)
    assert sim.free() == 8 * GIB
