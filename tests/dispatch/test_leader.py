"""One leader at a time, and none that sleeps for long."""

from __future__ import annotations

import time

import pytest
import sqlalchemy as sa

from mangen.dispatch import leader


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def heads(empty_database, clock):
    made = [
        leader.Leader(empty_database, lease_s=3, application=f"head-{n}", clock=clock)
        for n in range(2)
    ]
    yield made
    for one in made:
        one.close()


def test_one_of_two_leads_and_the_other_takes_over_when_it_leaves(heads):
    first, second = heads
    assert first.take()
    assert not second.take()
    first.lose()
    deadline = time.monotonic() + 10
    while not second.take():
        assert time.monotonic() < deadline
    assert not first.take()


def test_a_leader_that_beats_is_left_in_peace(heads, clock):
    first, second = heads
    first.take()
    for _ in range(10):
        clock.now += 1
        assert first.take()
        assert not second.take()


def test_a_leader_frozen_for_a_lease_is_deposed(heads, clock):
    first, second = heads
    first.take()
    for _ in range(5):
        clock.now += 1
        assert not second.leading
        second.take()
    deadline = time.monotonic() + 10
    while not second.take():
        assert time.monotonic() < deadline
    with pytest.raises(sa.exc.DBAPIError):
        first.take()
    first.lose()
    assert not first.take()


def test_a_follower_that_slept_itself_deposes_nobody(heads, clock):
    first, second = heads
    first.take()
    second.take()
    clock.now += 100  # one look before the sleep, one after: no proof of anything
    assert not second.take()
    assert first.take()


def test_a_burst_of_notifications_is_one_wake(heads, empty_database):
    first, _ = heads
    first.take()
    engine = sa.create_engine(empty_database, poolclass=sa.NullPool)
    with engine.connect() as conn:
        for _ in range(5):
            conn.exec_driver_sql("select pg_notify('mangen_wake', '1')")
        conn.commit()
    assert set(first.notifications(5)) == {"mangen_wake"}
    assert list(first.notifications(0.05)) == []
