"""Soft restarts on the real pool: nothing fails, nothing repeats, the device waits for little."""

from __future__ import annotations

import sim_pool
from sim_pool import Lost, ends

from mangen.pooling import events, slots

#: for a child to leave by itself, on whatever machine: who is killed is no soft restart
LONG_S = 30.0


def test_after_so_many_tasks_a_standby_that_has_fetched_follows(start):
    sim = start(restart_after=6, card={"load_s": 100.0}, measure_sizes=False, grace_s=LONG_S)
    futures = {}
    for n in range(30):
        futures[f"k{n}"] = sim.submit(f"k{n}", "a/s/5", cap=1)
    assert set(ends(futures).values()) == {"done"}
    assert set(sim.claims().values()) == {1}
    restarted = sim.ear.until(events.Restarted)
    assert restarted.tasks >= 6
    assert "it did" in restarted.why
    assert restarted.seconds > 0
    assert sim.ear.of(events.ChildLost) == sim.ear.of(Lost) == []
    cold, *warm = sim.ear.of(events.Loaded)
    assert {one.model for one in warm} == {"a"}
    assert all(one.ahead and one.seconds < cold.seconds / 2 for one in warm)
    assert all(one.owner != restarted.old for one in warm)
    assert sim.ear.of(events.ChildStopped)[0].owner == restarted.old


def test_a_floor_that_rises_steadily_wears_a_child_out(start):
    sim = start(measure_sizes=False, idle_trim_s=0.01, monitor_s=0.05, grace_s=LONG_S)
    for n in range(300):
        looks = len(sim.ear.of(events.Sampled))
        assert ends({"k": sim.submit(f"k{n}", "a/s/1", cap=1, do="leak:20")}) == {"k": "done"}
        sim.ear.until(events.Sampled, count=looks + 1)
        if sim.ear.of(events.Restarted):
            break
    assert "its idle floor rose by" in sim.ear.until(events.Restarted).why
    assert sim.ear.of(events.ChildLost) == []


def test_all_children_can_be_asked_to_go(start):
    sim = start(devices=("sim:small", "sim:small/1"), grace_s=LONG_S)
    sim.ready(2)
    futures = sim.many([f"k{n}" for n in range(12)], "a/s/20", cap=2)
    sim.pool._engine.restart()
    assert set(ends(futures).values()) == {"done"}
    sim.ear.until(events.Restarted, count=2)
    assert {one.slot for one in sim.ear.of(events.Restarted)} == {0, 1}
    assert set(sim.claims().values()) == {1}
    assert sim.ear.of(events.ChildLost) == []


def test_a_standby_that_dies_costs_nobody_and_is_tried_again(start, monkeypatch):
    monkeypatch.setattr(slots, "_STANDBY_S", 0.2)
    sim = start(card={"load_s": 300.0}, restart_after=1, grace_s=LONG_S)
    assert ends({"k": sim.submit("k")}) == {"k": "done"}
    standby = sim.ear.until(events.ChildStarted, count=2)
    sim_pool.kill(standby.pid)
    sim.ear.until(events.ChildStarted, count=3)
    assert ends({"k2": sim.submit("k2")}) == {"k2": "done"}
    sim.ear.until(events.Restarted)
    assert [one.keys for one in sim.ear.of(events.ChildLost)] == [()]
