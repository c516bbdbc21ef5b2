"""Whose turn it is, over many passes of a real ledger: shares, promotion, bounds, quiet, slices."""

from __future__ import annotations

import collections
import time

import pytest

from mangen.dispatch import fair, publisher
from mangen.ledger import hours
from tests.dispatch.ground import Clock, World, job


@pytest.fixture
def make(empty_database):
    made = []

    def make(**options):
        made.append(World(empty_database, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def rules(**more):
    return publisher.Rules(**{"horizon_s": 1e6, **more})


@pytest.mark.parametrize(
    ("quantum_s", "promos_done"),
    [(60.0, 50), (1e9, 0)],  # fair turns; one quantum for all: strict rank, as it was
)
def test_one_giant_novel_does_not_starve_fifty_promos(make, quantum_s, promos_done):
    """5,000 shots wait for hours already when fifty promos of four shots come."""
    world = make(rules=rules(quantum_s=quantum_s))
    owner = world.worker(capacity=20, room=0)
    world.want(*(job(f"e1/s{n}", queue="gpu.mid", seconds=30) for n in range(5_000)))
    assert world.run().ready == 5_000
    world.sql("update jobs set rank = rank + 2")  # ten hours of age
    promos = [world.another() for _ in range(50)]
    for promo in promos:
        world.want(*(job(f"e1/s{n}", queue="gpu.mid", seconds=30) for n in range(4)), project=promo)
    served = collections.Counter(world.serve(owner))
    while served.total() < 240:
        assert world.run().published
        served.update(world.serve(owner))
    assert sum(served[promo] == 4 for promo in promos) == promos_done
    assert served[world.project] >= 10, "the novel has its own share too"


def test_weights_are_shares(make):
    world = make(rules=rules())
    owner = world.worker(capacity=6, room=0)
    double = world.another(weight=2.0)
    for project in (world.project, double):
        world.want(*(job(f"s{n}", seconds=20) for n in range(60)), project=project)
    served = collections.Counter()
    while served.total() < 60:
        world.run()
        served.update(world.serve(owner))
    assert served[double] / served[world.project] == pytest.approx(2.0, rel=0.2)


def test_a_pool_that_sorts_by_class_and_rank_keeps_the_order(make):
    world = make(rules=rules())
    world.worker(capacity=40, room=0)
    for project in (world.project, world.another(), world.another(weight=3.0)):
        world.want(
            *(job(f"s{n}", seconds=10 + 7 * n) for n in range(9)),
            *(job(f"h{n}", klass=0) for n in range(2)),
            project=project,
        )
    world.run()
    assert len(world.rung) == 33
    assert world.rung == sorted(world.rung, key=lambda one: (one.klass, -one.rank))
    assert len({one.project for one in world.rung[6:12]}) == 3, "not one project after another"


def test_windows_are_bounded_by_predicted_seconds_too(make):
    world = make(rules=rules(horizon_s=60.0))
    world.worker(capacity=8, room=0)
    world.want(*(job(f"s{n}", seconds=45) for n in range(9)))
    assert world.run().published == 2, "a minute's worth, and at least one more than runs"
    assert world.run().published == 0


def test_what_gates_goes_beyond_the_windows_but_is_bounded_and_urgent_work_does_not(make):
    world = make(rules=rules())
    urgent = world.another(klass=0)
    world.want(*(job(f"c/{n}", queue="gpu.high", klass=0) for n in range(130)))
    world.want(*(job(f"e1/s{n}", queue="gpu.mid") for n in range(5)), project=urgent)
    assert world.run().published == 100
    assert {one.project for one in world.rung} == {world.project}
    assert world.run().published == 0
    world.worker(capacity=104, room=0)
    assert world.run().published == 4, "within the windows the urgent come as well"
    assert {one.klass for one in world.rung} == {0}


def test_a_class_that_starves_moves_up_a_bounded_part_of_the_time(make):
    world = make(rules=rules(mid_limit_s=3600))
    world.worker(capacity=0, room=0)
    low = world.another(klass=2)
    world.want(*(job(f"s{n}", queue="gpu.mid", seconds=30) for n in range(3)), project=low)
    world.want(job("hot", queue="gpu.mid", seconds=30))
    assert world.run().promoted == 0
    world.sql("update jobs set ready_at = ready_at - interval '7 hours'")

    def later(seconds):
        for _ in range(seconds // 2):
            world.clock.now += 2
            world.book.beat(["w/0/1"], {"window": [], "room": 0, "capacity": 0})
            if done := world.run().promoted:
                return done
        return 0

    assert later(62) == 3, "the one of mid, and a quantum's worth of low"
    found = world.sql("select subject, queue, class from jobs order by id")
    assert [tuple(row) for row in found] == [
        ("s0", "gpu.mid", 1), ("s1", "gpu.mid", 1), ("s2", "gpu.low", 2), ("hot", "gpu.high", 0),
    ]  # fmt: skip
    world.want(job("warm", queue="gpu.mid"), project=world.another())
    world.run()
    world.sql("update jobs set ready_at = ready_at - interval '2 hours' where subject = 'warm'")
    assert later(62) == 0, "a quarter of a minute of one device is not yet what moved"
    assert later(62) == 1


@pytest.mark.parametrize("limit", [0.0, 9 * 3600.0])
def test_a_limit_of_zero_or_not_yet_reached_promotes_nothing(make, limit):
    world = make(rules=rules(mid_limit_s=limit))
    world.worker(capacity=0, room=0)
    world.want(job("a", queue="gpu.mid"))
    world.run()
    world.sql("update jobs set ready_at = ready_at - interval '8 hours'")
    world.clock.now += 61
    assert world.run().promoted == 0


def test_quiet_hours_stop_publishing_but_for_the_urgent_and_promote_nothing(make):
    world = make(rules=rules(mid_limit_s=1))
    world.worker(capacity=8, room=0)
    urgent = world.another(klass=0)
    world.want(job("a"))
    world.want(job("b"), project=urgent)
    world.book.times = hours.Hours.parse("00:00-24:00", "Asia/Tokyo")
    done = world.run()
    assert (done.published, done.promoted) == (1, 0)
    assert world.states() == {"a": "ready", "b": "published"}
    world.book.times = hours.Hours()
    assert world.run().published == 1


def test_many_projects_in_a_line_are_served_in_exact_order(make):
    """More than one look remembers: whatever the shortcut, the order is that of all of them."""
    world = make(clock=Clock())
    owner = world.worker(capacity=7, room=0)
    for number in range(140):
        shots = (job(f"s{n}", seconds=45 + (number * 7 + n) % 50) for n in range(2))
        world.want(*shots, project=world.another())
    late = world.another()
    [best] = world.want(job("late", seconds=1), project=late)
    world.sql("update jobs set state = 'ready', ready_at = now(), rank = -seconds_est")
    world.sql("update jobs set held = true where id = :best", best=best)
    with world.book.transaction() as conn:
        found = world.book.find_publishable(conn, "cpu", 1_000, quantum_s=60.0)
    expected = [turn.job.id for turn in fair.turns(found, 60.0)]
    assert len(expected) == 280
    turn = publisher.Publisher(world.book, world._send, rules(), time.monotonic)
    with world.book.transaction() as conn:
        living = world.book.living_owners(conn)
    news = []
    while turn.publish(world.conn, living, news):
        news = []
        assert world.book.claim(world.sent[-1], owner).granted.keys() == set(world.sent[-1])
        if len(world.sent) == 3:  # it comes late, and is seen though the line was remembered
            world.sql("update jobs set held = false where id = :best", best=best)
            expected.insert(21, best)
            news = [late]
    assert [one for some in world.sent for one in some] == expected


def test_a_pass_looks_at_a_slice_and_the_next_goes_on(make):
    world = make(clock=Clock())
    for _ in range(5):
        world.want(job("a"), project=world.another())
    world.clock.tick = 0.3
    done = world.run()
    assert done.left > 0
    ready = done.ready
    while done.left:
        done = world.run()
        ready += done.ready
    assert ready == 5
