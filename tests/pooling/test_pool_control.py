"""What a real pool may be told and asked: expect, learn, report; and its alarm when it idles."""

from __future__ import annotations

import json

import sim_pool
from sim_pool import GIB, MIB, ends

from mangen.pooling import choose, events, learned


def test_what_is_expected_is_loaded_ahead_as_far_as_it_fits(start):
    sim = start()
    sim.ready()
    sim.control.expect(["b", "c", "a", "unknown"])
    sim.ear.until(events.Loaded, count=2)
    assert ends({"k": sim.submit("k", "a/s/1")}) == {"k": "done"}
    loaded = sim.ear.of(events.Loaded)
    assert [(one.model, one.ahead) for one in loaded] == [("b", True), ("a", True)]
    assert sim.ear.of(events.Evicted) == []


def test_a_pool_that_learned_reserves_what_was_observed_and_not_the_cold_factor(start):
    sim = start()
    theory = sim.item("k", "a/l/1").peaks[0]
    assert ends({"cold": sim.submit("cold", "a/l/1", cap=1)}) == {"cold": "done"}
    sim.control.learn(sim_pool.seen("a/l/1", ratio=0.5, folder=sim.folder))
    assert ends({"wise": sim.submit("wise", "a/l/1", cap=1)}) == {"wise": "done"}
    cold, wise = (one.reserved for one in sim.ear.of(events.Admitted))
    assert cold == int(1.5 * theory)
    observed = sim.ear.of(events.Finished)[0].peak  # the highest of what was seen
    assert abs(wise - learned.MARGIN * observed) < 2


def test_caps_are_learned_anew_by_a_pool_that_learned(start):
    sim = start(linger_s=0.2)
    sim.control.learn(sim_pool.seen("a/s/2", members=8, folder=sim.folder))
    futures = sim.many([f"k{n}" for n in range(16)], "a/s/2")
    assert set(ends(futures).values()) == {"done"}
    sizes = dict.fromkeys(one.members for one in sim.ear.of(events.Admitted))
    assert list(sizes)[:2] == [1, 2]


def test_the_report_says_for_each_device_what_it_holds_and_does(start):
    sim = start(devices=("sim:small", "sim:small/1"), measure_sizes=False, speed=100.0)
    sim.ready(2)
    futures = sim.many(["k0", "k1"], "a/s/400", cap=2)
    sim.ear.until(events.Progressed)
    waiting = sim.many(["w0", "w1"], "a/s/400", cap=2)
    sim.ear.until(events.Progressed, lambda one: one.key == "w0")
    sim.ear.until(events.Sampled, count=len(sim.ear.of(events.Sampled)) + 4)
    futures |= waiting | {"last": sim.submit("last", "b/s/1")}
    sim.ear.wait(lambda: sim.pool.report()["window"], "the last one in the window")
    said = sim.pool.report()
    assert json.loads(json.dumps(said)) == said
    assert said["window"] == [{"key": "last", "do": ""}]
    assert {data["key"] for data in said["running"]} == {"k0", "k1", "w0", "w1"}
    assert (said["capacity"], said["room"]) == (64, 63)
    assert [child["slot"] for child in said["children"]] == [0, 1]
    for child in said["children"]:
        assert child["state"] == "busy"
        assert child["residents"] == {"a": 2 * GIB}
        assert child["card"] == f"sim:small/{child['slot']}"
        assert child["bytes"]["total"] == 8 * GIB
        assert child["bytes"]["reserved"] == int(2 * 256 * MIB * 1.5)
        assert child["bytes"]["known"] == 2 * GIB
        assert child["batch"]["bucket"] == "a/s/400"
        assert (child["batch"]["cap"], child["batch"]["taken"]) == (2, 2)
        assert 0 < child["busy"] <= 1
        assert child["admissible"] >= 2
    assert said["counters"]["Admitted"] == 2
    assert set(ends(futures).values()) == {"done"}


def test_a_device_that_idles_while_fitting_work_waits_is_an_alarm_once(start, monkeypatch):
    sim = start(idle_alarm_s=0.1)
    sim.ready()
    with monkeypatch.context() as faulty:
        faulty.setattr(choose, "choose", lambda *_args, **_more: [])
        future = sim.submit("k")
        alarm = sim.ear.until(events.Idling)
        sim.ear.until(events.Sampled, count=len(sim.ear.of(events.Sampled)) + 10)
    assert (alarm.slot, alarm.device, alarm.waiting) == (0, "sim:small", 1)
    assert alarm.seconds >= 0.1
    assert ends({"k": future}) == {"k": "done"}
    assert len(sim.ear.of(events.Idling)) == 1


def test_a_device_that_has_no_room_for_what_waits_raises_no_alarm(start):
    sim = start(idle_alarm_s=0.1)
    sim.ready()
    with sim.tenant() as tenant:
        tenant.grow(6 * GIB)
        future = sim.submit("k", "a/s/1")
        sim.ear.until(events.Refused)
        sim.ear.until(events.Sampled, count=len(sim.ear.of(events.Sampled)) + 10)
        assert sim.ear.of(events.Idling) == []
    assert ends({"k": future}) == {"k": "done"}


def test_a_device_that_serves_is_never_called_idle(start):
    sim = start(idle_alarm_s=0.5)
    futures = {f"k{n}": sim.submit(f"k{n}", ("a/s/20", "c/s/20")[n % 2]) for n in range(20)}
    assert set(ends(futures).values()) == {"done"}
    assert sim.ear.of(events.Idling) == []


def test_a_suspended_pool_drops_what_runs_and_starts_nothing_until_it_resumes(start):
    sim = start(devices=("sim:small", "sim:small/1"))
    sim.ready(2)
    running = sim.submit("long", "a/s/4000")
    deaf = sim.submit("deaf", "b/s/1", do="hang")
    sim.claimed("long", "deaf")
    sim.control.suspend()
    assert ends({"long": running, "deaf": deaf}) == {"long": "aborted", "deaf": "lost"}
    assert {(one["key"], one["why"]) for one in sim.logged("drop")} == {("long", "shutdown")}
    waiting = sim.submit("waits", "a/s/1")
    sim.ear.wait(lambda: not sim.pool.report()["at_work"], "the end of all work")
    sim.ready(3)  # in place of the deaf one, at once: its end is no fault of the device's
    sim.ear.until(events.Sampled, count=len(sim.ear.of(events.Sampled)) + 10)
    assert (sim.pool.report()["suspended"], "waits" in sim.claims()) == (True, False)
    assert [one["key"] for one in sim.pool.report()["window"]] == ["waits"]
    assert sim.ear.of(events.Quarantined) == []
    assert sim.ear.of(events.Idling) == []
    sim.control.resume()
    assert ends({"waits": waiting}) == {"waits": "done"}
    assert sim.pool.report()["suspended"] is False
