"""Batches on the real pool: their size, who is in them, who joins, who leaves early."""

from __future__ import annotations

from sim_pool import ends

from mangen.pooling import events, work


def members(sim, bucket):
    """Answer the sessions' numbers of members."""
    return [one.members for one in sim.ear.of(events.Batched, lambda one: one.bucket == bucket)]


def test_sixteen_of_a_bucket_become_batches_at_the_measured_cap(start):
    # 4 at once cost a third of the time each, 8 more than one by one
    sim = start(card={"step_s": 1.0, "gain": {"2": 1.8, "4": 3.2, "8": 0.8}}, speed=100.0)
    warm = sim.many([f"w{n}" for n in range(40)], "a/s/4")
    assert set(ends(warm).values()) == {"done"}
    sim.ear.until(events.Batched, lambda one: one.members == 8)
    # a session is told when it closes, which is after its members have ended
    sim.ear.settle(lambda: sum(members(sim, "a/s/4")) == 40)
    done = len(members(sim, "a/s/4"))
    futures = sim.many([f"k{n}" for n in range(16)], "a/s/4")
    assert set(ends(futures).values()) == {"done"}
    sim.ear.until(events.Batched, count=done + 4)
    assert members(sim, "a/s/4")[done:] == [4] * 4


def test_batches_never_mix_buckets(start):
    sim = start(measure_sizes=False)
    buckets = ("a/s/2", "a/m/2", "b/s/2", "a/s/3")
    futures = {
        f"{bucket}-{n}": sim.submit(f"{bucket}-{n}", bucket) for n in range(8) for bucket in buckets
    }
    assert set(ends(futures).values()) == {"done"}
    together = [
        {key.rpartition("-")[0] for key in line["keys"]} for line in sim.logged("claim", "again")
    ]
    assert all(len(found) == 1 for found in together)
    assert any(len(line["keys"]) > 1 for line in sim.logged("claim"))


def test_members_settle_one_by_one(start):
    sim = start(measure_sizes=False, linger_s=0.3, speed=200.0)
    bad = sim.submit("bad", "a/s/400", cap=4, do="fail")
    good = sim.many(["g1", "g2", "g3"], "a/s/400", cap=4)
    assert ends({"bad": bad}) == {"bad": "failed"}
    assert not any(future.done() for future in good.values())
    assert set(ends(good).values()) == {"done"}
    assert len(sim.ear.of(events.Admitted)) == 1


def test_one_member_is_stopped_and_the_others_go_on(start):
    for number, why in enumerate((work.Why.ABORT, work.Why.DEADLINE)):
        sim = start(measure_sizes=False, linger_s=0.3, name=f"pool{number}", speed=200.0)
        futures = sim.many([f"k{n}" for n in range(4)], "a/s/400", cap=4)
        sim.ear.until(events.Progressed, lambda one: one.key == "k1")
        sim.control.abort("k1", why)
        stopped = sim.ear.until(events.Finished)
        assert (stopped.key, stopped.status, stopped.error) == ("k1", work.Status.ABORTED, why)
        assert not any(futures[key].done() for key in ("k0", "k2", "k3"))
        assert ends(futures) == dict.fromkeys(futures, "done") | {"k1": "aborted"}
        assert len(sim.ear.of(events.ChildStarted)) == 1
        sim.pool.close()


def test_work_of_one_job_is_stopped_together(start):
    sim = start(measure_sizes=False, linger_s=0.3, speed=200.0)
    futures = sim.many(["x1", "x2", "y1"], "a/s/200", cap=4)
    sim.ear.until(events.Progressed)
    futures["x3"] = sim.submit("x3", "b/s/2")
    sim.control.abort_job(lambda data: data["key"].startswith("x"))
    assert ends(futures) == {"x1": "aborted", "x2": "aborted", "x3": "aborted", "y1": "done"}
    assert [line["key"] for line in sim.logged("give_back")] == ["x3"]


def test_all_that_pass_their_expected_time_are_asked_to_end_and_the_child_lives(start):
    sim = start(hard_min_s=0.2, hard_factor=0.0, speed=20.0, grace_s=30.0, linger_s=0.3)
    futures = sim.many(["k0", "k1"], "a/s/4000", cap=4)
    assert set(ends(futures).values()) == {"aborted"}
    assert {line["why"] for line in sim.logged("drop")} == {work.Why.DEADLINE}
    sim.pool.close()
    assert sim.ear.of(events.TimedOut) == []


def test_members_join_between_steps_and_leave_when_they_are_through(start):
    sim = start(measure_sizes=False, speed=200.0)
    bucket = "a/s/200+join"
    futures = {"first": sim.submit("first", bucket, cap=4)}
    sim.ear.until(events.Progressed)
    futures |= {"second": sim.submit("second", bucket, cap=4)}
    sim.ear.until(events.Progressed, lambda one: one.key == "second")
    assert not futures["first"].done()
    assert set(ends(futures).values()) == {"done"}
    assert [one.key for one in sim.ear.of(events.Finished)] == ["first", "second"]
    assert [line["running"] for line in sim.logged("claim")] == [0, 1]
    session = sim.ear.until(events.Batched)
    assert (session.members, session.whole) == (2, False)


def test_an_urgent_one_joins_before_what_waited_longer(start):
    sim = start(measure_sizes=False, speed=200.0)
    bucket = "a/s/300+join"
    futures = {"first": sim.submit("first", bucket, cap=2, klass=2)}
    sim.ear.until(events.Progressed)
    futures |= sim.many(["other1", "other2"], "b/s/2", klass=1)
    futures |= {"low": sim.submit("low", bucket, cap=2, klass=2)}
    futures |= {"urgent": sim.submit("urgent", bucket, cap=2, klass=0)}
    sim.ear.until(events.Progressed, lambda one: one.key == "urgent")
    assert not futures["first"].done()
    assert set(ends(futures).values()) == {"done"}
    claimed = [key for line in sim.logged("claim") for key in line["keys"]]
    assert claimed[:2] == ["first", "urgent"]
    assert claimed.index("other1") < claimed.index("low")


def test_work_of_two_names_and_one_bucket_shares_a_session(start):
    sim = start(measure_sizes=False, linger_s=0.3, speed=200.0)
    names = {"k0": "sketch", "k1": "draw", "k2": "sketch", "k3": "draw"}
    futures = {key: sim.submit(key, "a/s/100", cap=4, name=name) for key, name in names.items()}
    assert set(ends(futures).values()) == {"done"}
    assert [sorted(line["keys"]) for line in sim.logged("claim")] == [sorted(names)]


def test_an_urgent_one_of_another_name_joins_a_batch_that_is_as_large_as_is_cheapest(start):
    """Nothing was measured yet: batches are of one, and yet somebody urgent joins it."""
    sim = start(speed=200.0)
    bucket = "a/s/300+join"
    futures = sim.many([f"k{n}" for n in range(3)], bucket, cap=4)
    sim.ear.until(events.Progressed)
    futures["urgent"] = sim.submit("urgent", bucket, cap=4, klass=0, name="sketch")
    sim.ear.until(events.Progressed, lambda one: one.key == "urgent")
    assert not futures["k0"].done()
    assert set(ends(futures).values()) == {"done"}
    assert [line["keys"] for line in sim.logged("claim")][:2] == [["k0"], ["urgent"]]
    assert [line["running"] for line in sim.logged("claim")][:2] == [0, 1]


def test_a_session_that_is_joined_for_ever_does_not_starve_another(start):
    sim = start(measure_sizes=False, speed=200.0, patience_s=0.2)
    bucket = "a/s/20+join"
    futures = sim.many(["j0", "j1"], bucket, cap=2)
    sim.ear.until(events.Progressed)
    lone = sim.submit("lone", "b/s/1")
    for number in range(2, 400):
        futures[f"j{number}"] = sim.submit(f"j{number}", bucket, cap=2)
        if lone.done():
            break
        sim.ear.until(events.Finished, count=number - 1)
    else:
        raise AssertionError("the lone one starved")
    assert ends({"lone": lone}) == {"lone": "done"}
    assert set(ends(futures).values()) == {"done"}


def test_what_wants_to_be_alone_stays_alone(start):
    sim = start(measure_sizes=False, linger_s=0.1)
    bucket = "a/s/4+join"
    futures = {
        f"k{n}": sim.submit(f"k{n}", bucket, solo=n % 3 == 0, cap=8, klass=0) for n in range(9)
    }
    assert set(ends(futures).values()) == {"done"}
    for line in sim.logged("claim"):
        if any(int(key[1:]) % 3 == 0 for key in line["keys"]):
            assert (len(line["keys"]), line["running"]) == (1, 0)
    now = set()
    for line in sim.logged("claim", "end"):  # nobody came while it ran
        if line["what"] == "end":
            now.discard(line["key"])
            continue
        now |= set(line["keys"])
        assert len(now) == 1 or not any(int(key[1:]) % 3 == 0 for key in now)


def test_a_device_of_another_sort_stays_idle_rather_than_take_what_is_no_work_for_it(start):
    sim = start(devices=("sim:small", "cpu"), places={"a": "card"}, cpu_bytes=2**36)
    sim.ready(count=2)
    assert set(ends(sim.many([f"k{n}" for n in range(12)], "a/s/20")).values()) == {"done"}
    assert {one.kind for one in sim.ear.of(events.Finished)} == {"small"}
    assert sim.ear.of(events.Idling) == []
