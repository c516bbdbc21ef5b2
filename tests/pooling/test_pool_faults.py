"""Requests and products that would wedge a pool, on real children."""

from __future__ import annotations

import threading
from concurrent import futures

import sim_pool
from sim_pool import ends

from mangen.pooling import events, work


class Request:
    """A requests.Request whose payload is no data."""

    limit = None

    def __init__(self, item, payload):
        self.item, self.payload = item, payload
        self.end = futures.Future()

    def withdrawn(self):
        return False

    def taken(self, _pid, _at):
        pass

    def lost(self, why):
        self.end.set_result(why)

    def settled(self, outcome, _reply):
        self.end.set_result(outcome.status)


def test_what_cant_be_pickled_fails_alone_and_its_child_lives(start):
    sim = start(linger_s=0.2)
    sim.ready()
    bad = Request(sim.item("bad"), threading.Lock())
    sim.control.add(bad)
    good = sim.many(["a", "b"])
    assert "it can't be sent to a child: TypeError" in bad.end.result(sim_pool.WAIT_S)
    assert set(ends(good).values()) == {"done"}
    assert len(sim.ear.of(events.ChildStarted)) == 1


def test_a_hang_ends_though_its_report_cant_be_written(start, tmp_path):
    (tmp_path / "reports").write_text("in the way")
    sim = start(hard_min_s=1.0, hard_factor=0.0, grace_s=0.2, reports=str(tmp_path / "reports"))
    assert ends({"k": sim.submit("k", do="hang")}) == {"k": "lost"}
    assert sim.ear.until(events.TimedOut).report == ""
    assert ends({"next": sim.submit("next")}) == {"next": "done"}


def test_work_that_is_cancelled_before_it_is_taken_is_not_done(start):
    sim = start(linger_s=0.0)
    sim.ready()
    futures = sim.many([f"k{n}" for n in range(6)], "a/s/2000", cap=1)
    sim.claimed("k0")
    for future in futures.values():
        future.cancel()
    sim.control.abort("k0", work.Why.ABORT)
    assert ends({"next": sim.submit("next")}) == {"next": "done"}
    assert sim.claims().keys() <= {"k0", "next"}
