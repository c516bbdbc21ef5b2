"""Lips and lids: they move with one's own voice, calmly, and eyes blink now and then."""

from __future__ import annotations

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import lips

FPS = 24


def heard(levels, by="我", start=0):
    return protocol.Heard(line=0, start=start, frames=len(levels), by=by, levels=tuple(levels))


def test_a_mouth_moves_only_while_its_own_line_is_heard():
    levels = [0.1, 0.9] * 12
    found = lips.mouths("我", [heard(levels, start=10)], 60, FPS)
    assert found[:10] == [None] * 10
    assert found[34:] == [None] * 26
    assert set(found[10:34]) - {None, 0}
    assert lips.mouths("她", [heard(levels)], 60, FPS) == [None] * 60
    assert lips.mouths("", [heard(levels, by="")], 60, FPS) == [None] * 60


def test_louder_is_wider():
    found = lips.mouths("我", [heard([0.0] * 6 + [0.25] * 6 + [0.5] * 6 + [1.0] * 6)], 24, FPS)
    assert [found[k] for k in (3, 10, 16, 22)] == [0, 1, 2, 3]


def test_a_whisper_moves_lips_too():
    assert max(lips.mouths("我", [heard([0.0, 0.0, 0.18, 0.18, 0.18, 0.0])], 6, FPS)) >= 2


def test_silence_and_lines_without_sound_leave_lips_alone():
    assert set(lips.mouths("我", [heard([0.0] * 20)], 20, FPS)) == {0}
    silent = protocol.Heard(line=0, start=0, frames=20, by="我")
    assert lips.mouths("我", [silent], 20, FPS) == [None] * 20


@pytest.mark.parametrize("fps", [12, 24, 25, 30, 60])
def test_lips_never_flutter(fps):
    random = np.random.default_rng(4)
    found = lips.mouths("我", [heard(random.random(fps * 10))], fps * 10, fps)
    changes = np.flatnonzero(np.diff(found))
    for second in range(fps * 9):
        inside = (changes >= second) & (changes < second + fps)
        assert inside.sum() <= lips.CHANGES
    assert len(changes) > 20


def test_small_wavering_changes_nothing():
    random = np.random.default_rng(5)
    levels = [1.0, 1.0, *(0.34 + random.uniform(-0.04, 0.04, 60))]
    found = lips.mouths("我", [heard(levels)], 62, FPS)
    assert len(set(found[6:])) == 1


def test_eyes_blink_every_two_to_five_seconds():
    shut = lips.blinks("我", FPS * 60, FPS, 7)
    starts = [k for k in range(1, len(shut)) if shut[k] and not shut[k - 1]]
    gaps = np.diff(starts) / FPS
    assert 12 <= len(starts) <= 30
    assert gaps.min() >= 1.9
    assert gaps.max() <= 5.1
    assert all(sum(shut[k : k + 8]) == 5 for k in starts[:-1])


def test_people_blink_each_in_their_own_time_and_always_the_same():
    assert lips.blinks("我", 240, FPS, 7) == lips.blinks("我", 240, FPS, 7)
    assert lips.blinks("我", 240, FPS, 7) != lips.blinks("她", 240, FPS, 7)
    assert lips.blinks("我", 240, FPS, 7) != lips.blinks("我", 240, FPS, 8)
