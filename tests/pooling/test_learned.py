"""What the pool learns of a child's words."""

from __future__ import annotations

import dataclasses
import types

import pytest

from mangen.pooling import estimate, events, learned, lives, wire, work

ITEM = work.Item(
    key="k", name="draw", bucket="b", model="m", cap=8, data={},
    peaks=tuple(100 * n for n in range(1, 9)),
)  # fmt: skip


def a_child(batch, members=1):
    held = lives.Batch(
        number=batch, bucket="b", model="m", first=ITEM, cap=8, began=0.0, limit=None,
        offered={str(n) for n in range(members)},
    )  # fmt: skip
    return types.SimpleNamespace(slot=0, kind="card", batch=held)


def settled(peak, members):
    return wire.Settled(
        key="k", outcome=work.Outcome.done(), reply=None, seconds=1.0, peak=peak, members=members
    )


def run(lore, batch, members, peak=150):
    """Let so many members of one session end."""
    child = a_child(batch, members)
    return [lore.settled(child, ITEM, settled(peak * members, members)) for _ in range(members)]


def admit(lore, batch, offered, members):
    lore.hear(
        a_child(batch, offered),
        events.Admitted(owner="w/0/1", bucket="b", members=members, reserved=1, usable=1),
    )


def test_members_that_end_together_tell_of_one_peak():
    lore = learned.Learned()
    for batch in range(4):
        assert run(lore, batch, 4) == [400] * 4
    assert lore.estimates.peaks(ITEM, "card").cold[3]
    run(lore, 4, 4)
    assert not lore.estimates.peaks(ITEM, "card").cold[3]


def test_a_peak_is_remembered_for_a_window_of_sessions_not_of_members():
    lore = learned.Learned()
    run(lore, 0, 8, peak=200)
    for batch in range(1, 40):
        run(lore, batch, 8, peak=100)
    found = lore.estimates.peaks(ITEM, "card").nbytes[7]
    assert found == pytest.approx(8 * 200 * learned.MARGIN, rel=0.01)


def test_a_later_and_higher_peak_of_the_same_session_counts():
    lore = learned.Learned()
    child = a_child(1, 2)
    for peak in (100, 300, 300, 300, 300):
        lore.settled(child, ITEM, settled(peak, 2))
        child = a_child(child.batch.number + 1, 2) if peak == 300 else child
    lore.settled(child, ITEM, settled(300, 2))
    found = lore.estimates.peaks(ITEM, "card").nbytes[1]
    assert found == pytest.approx(300 * learned.MARGIN, rel=0.01)


def test_what_theory_gave_a_mixed_batch_is_the_mean_of_its_members():
    lore = learned.Learned()
    small = dataclasses.replace(ITEM, key="s", name="sketch", peaks=(20, 40))
    child = a_child(1, 2)
    assert lore.settled(child, small, settled(240, 2), [ITEM]) == 120
    assert lore.settled(child, ITEM, settled(240, 2)) == 120, "the two ended together"
    for batch in range(2, 6):
        lore.settled(a_child(batch, 2), small, settled(240, 2), [ITEM])
    found = lore.estimates.peaks(ITEM, "card").nbytes[1]
    assert found == pytest.approx(2 * 200 * learned.MARGIN, rel=0.01)


def test_what_had_no_room_is_not_asked_for_again_at_once():
    lore = learned.Learned()
    for batch in range(6):
        run(lore, batch, 1)
        lore.sizes.observe(lore_kind(), 1, 4.0)
    lore.sizes.observe(lore_kind(), 2, 4.0)
    assert lore.cap(ITEM, "card", 100) == 4
    admit(lore, 7, offered=4, members=3)
    assert lore.cap(ITEM, "card", 100) == 3


def test_what_only_theory_refused_is_asked_for_again():
    lore = learned.Learned()
    admit(lore, 1, offered=2, members=1)
    lore.sizes.observe(lore_kind(), 1, 4.0)
    lore.sizes.observe(lore_kind(), 1, 4.0)
    assert lore.cap(ITEM, "card", 100) == 2


def test_a_batch_that_was_let_in_whole_says_nothing_of_larger_ones():
    lore = learned.Learned()
    for batch in range(6):
        run(lore, batch, 1)
        lore.sizes.observe(lore_kind(), 1, 4.0)
    admit(lore, 7, offered=1, members=1)
    assert lore.cap(ITEM, "card", 100) == 2


def lore_kind():
    return estimate.Kind.of(ITEM, "card")
