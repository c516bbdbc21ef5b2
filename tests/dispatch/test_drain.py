"""The pass against a real ledger; sending is recorded at the seam, as the broker's tests do it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.dispatch.ground import World, job


@pytest.fixture
def world(empty_database):
    one = World(empty_database)
    yield one
    one.close()


def test_ready_jobs_are_published_in_rank_order_within_the_windows(world):
    world.want(job("slow", seconds=100), job("quick", seconds=1), job("middle", seconds=2))
    world.worker(capacity=2)
    done = world.run()
    assert (done.ready, done.published) == (3, 2)
    assert world.states() == {"slow": "ready", "quick": "published", "middle": "published"}


def test_nothing_but_gating_work_is_published_without_workers(world):
    world.want(job("a", queue="gpu.high", klass=0), job("b"))
    assert world.run().published == 1
    assert world.states() == {"a": "published", "b": "ready"}


def test_a_look_does_not_wait_for_the_disk_and_what_is_sent_does(world, monkeypatch):
    seen = {}

    def note(name):
        real = getattr(world.book, name)

        def noting(conn, *given, **more):
            seen[name] = conn.scalar(sa.text("show synchronous_commit"))
            return real(conn, *given, **more)

        monkeypatch.setattr(world.book, name, noting)

    note("ready_jobs")
    note("publish_jobs")
    world.want(job("a"))
    world.worker()
    assert world.run().published == 1
    assert seen == {"ready_jobs": "off", "publish_jobs": "on"}


def test_a_second_pass_does_nothing_more(world):
    world.want(job("a"))
    world.worker()
    world.run()
    again = world.run()
    assert (again.ready, again.published, again.unpublished) == (0, 0, 0) or again.unpublished == 1


def test_what_waits_opens_when_its_need_is_done(world):
    world.want(job("anchor"), job("shot", needs=[("anchor", "soft")]))
    owner = world.worker()
    world.run()
    assert world.states()["shot"] == "blocked"
    (anchor,) = world.sent[0]
    fence = world.book.claim([anchor], owner).granted[anchor]
    with world.book.finishing(fence):
        pass
    world.run()
    assert world.states()["shot"] == "published"


def test_a_hard_need_that_failed_skips_what_hangs_on_it(world):
    world.want(job("panel"), job("clip", needs=[("panel", "hard")]))
    owner = world.worker()
    world.run()
    (panel,) = world.sent[0]
    fence = world.book.claim([panel], owner).granted[panel]
    world.book.fail(fence, "permanent", "no")
    assert world.run().skipped == 1
    assert world.states() == {"panel": "failed", "clip": "skipped"}


def test_an_owner_without_a_beat_is_released_after_two_looks_a_lease_apart(world):
    world.want(job("a"))
    owner = world.worker()
    world.run()
    world.book.claim(world.sent[0], owner)
    for _ in range(2):
        world.clock.now += 1
        assert world.run().released == 0
    world.clock.now += 1
    assert world.run().released == 1
    assert world.states()["a"] in {"ready", "published"}


def test_an_owner_that_beats_keeps_its_work(world):
    world.want(job("a"))
    owner = world.worker()
    world.run()
    world.book.claim(world.sent[0], owner)
    for _ in range(10):
        world.clock.now += 1
        world.book.beat([owner], {"window": [], "room": 0, "capacity": 0})
        assert world.run().released == 0
    assert world.states()["a"] == "running"


@pytest.mark.parametrize("gap", ["slept", "lost its session"])
def test_looks_across_a_gap_of_the_looker_release_nobody(world, gap):
    world.worker()
    world.run()
    world.clock.now += 100 if gap == "slept" else 3
    assert world.run(session=1 if gap == "slept" else 2).released == 0


def test_a_bell_that_no_window_holds_is_rung_again(world):
    world.want(job("a"))
    owner = world.worker()
    world.run()
    (held,) = world.sent[0]
    world.book.beat([owner], {"window": [{"job": held}], "room": 3, "capacity": 4})
    assert world.run().unpublished == 0
    world.book.beat([owner], {"window": [], "room": 4, "capacity": 4})
    done = world.run()
    assert (done.unpublished, done.published) == (1, 1)


def test_a_full_worker_proves_no_bell_lost(world):
    world.want(job("a"))
    owner = world.worker()
    world.run()
    world.book.beat([owner], {"window": [], "room": 0, "capacity": 4})
    assert world.run().unpublished == 0
