from __future__ import annotations

import collections
import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from mangen.dispatch import fair
from mangen.ledger import publishing

QUANTUM = 60.0
seconds = st.floats(0.05, 500)


def waiting(
    job, project, *, rank=0.0, seconds=10.0, served=0.0, weight=1.0, remaining=None, klass=1
):
    return publishing.Waiting(
        id=job, project=project, klass=klass, rank=rank, seconds=seconds, cap=1, served=served,
        weight=weight, remaining=remaining,
    )  # fmt: skip


def order(found):
    return [turn.job.id for turn in fair.turns(found, QUANTUM)]


@st.composite
def lanes(draw):
    """Jobs of a few projects, each with its account and weight, in any order."""
    made, number = [], 0
    for project in range(1, draw(st.integers(1, 6)) + 1):
        account = {
            "served": draw(st.floats(0, 1e5)),
            "weight": draw(st.sampled_from([0.5, 1.0, 2.0, 7.0])),
            "remaining": draw(st.none() | st.floats(-10, 1000)),
        }
        for _ in range(draw(st.integers(1, 8))):
            number += 1
            made.append(
                waiting(
                    number, project, rank=draw(st.floats(-1e5, -1e5 + 5)),
                    seconds=draw(seconds), klass=draw(st.integers(0, 2)), **account,
                )
            )  # fmt: skip
    return draw(st.permutations(made))


@given(lanes())
def test_turns_are_fair_strict_within_a_project_and_agree_with_the_pools_order(found):
    turns = fair.turns(found, QUANTUM)
    # the order of the broker's headers is the order of publication: pools sort by class and rank
    headers = [(turn.job.klass, -turn.rank) for turn in turns]
    assert headers == sorted(headers)
    for (_, klass), own in _by_account(turns).items():
        ranks = [(-turn.job.rank, turn.job.id) for turn in own]
        assert ranks == sorted(ranks), "strict rank within a project"
        assert klass == own[0].job.klass
        for one, following in itertools.pairwise(own):
            assert following.start == one.start + one.job.seconds / one.job.weight
    for one, following in itertools.pairwise(turns):
        if one.job.klass == following.job.klass:
            quanta = [math.floor(turn.start / QUANTUM) for turn in (one, following)]
            assert quanta[0] <= quanta[1], "nobody is a quantum ahead of one who waits"
            if quanta[0] == quanta[1]:
                assert one.job.rank >= following.job.rank, "rank decides between equals"


@given(lanes())
def test_budgets_leave_out_what_they_do_not_cover(found):
    took = collections.Counter()
    for turn in fair.turns(found, QUANTUM):
        if turn.job.remaining is not None:
            assert took[turn.job.project, turn.job.klass] < turn.job.remaining
            took[turn.job.project, turn.job.klass] += turn.job.seconds
    left = {turn.job.id for turn in fair.turns(found, QUANTUM)}
    assert {job.id for job in found if job.remaining is None} <= left


@given(
    weights=st.lists(st.sampled_from([1.0, 2.0, 3.0, 5.0]), min_size=2, max_size=6),
    length=seconds,
)
def test_backlogged_projects_are_served_by_weight(weights, length):
    """Wherever one stops: virtual times differ by a quantum and a job at most."""
    served = dict.fromkeys(range(len(weights)), 0.0)
    for number in range(150):
        found = [
            waiting(project, project, rank=project, seconds=length, served=served[project],
                    weight=weights[project])
            for project in served
        ]  # fmt: skip
        [turn, *_] = fair.turns(found, QUANTUM)
        accounts, clock = fair.served([turn])
        assert clock == turn.start, number
        served |= accounts
        spread = max(served.values()) - min(served.values())
        assert spread <= QUANTUM + length / min(weights) + 1e-6


def test_accounts_within_a_quantum_compete_by_rank():
    found = [waiting(1, 1, served=59.0, rank=2), waiting(2, 2, served=0.0, rank=1)]
    assert order(found) == [1, 2]
    found = [waiting(1, 1, served=61.0, rank=2), waiting(2, 2, served=0.0, rank=1)]
    assert order(found) == [2, 1]


def test_a_class_is_strict_whatever_was_served():
    found = [waiting(1, 1, served=9e6, klass=0), waiting(2, 2, klass=1)]
    assert order(found) == [1, 2]


def _by_account(turns):
    grouped = collections.defaultdict(list)
    for turn in turns:
        grouped[turn.job.project, turn.job.klass].append(turn)
    return grouped
