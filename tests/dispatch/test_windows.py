from __future__ import annotations

import itertools

import pytest

from mangen.dispatch import windows
from mangen.ledger import jobs, publishing


def living(*queues, capacity=4.0, slot=0):
    owner = jobs.Owner(worker="w", slot=slot, generation=1, queues=queues)
    return jobs.Living(owner=owner, beat=0, report={"capacity": capacity}, silent_s=0.0)


def published(**counts):
    return {
        name.replace("_", "."): publishing.Load(jobs=count, seconds=seconds)
        for name, (count, seconds) in counts.items()
    }


def taken(room, queue, *, seconds, cap=1, most=100):
    return sum(
        1 for _ in itertools.takewhile(lambda _: room.take(queue, seconds, cap), range(most))
    )


@pytest.mark.parametrize(
    ("seconds", "cap", "expected"),
    [
        (0.5, 1, 16),  # short work: the slots bound it
        (20.0, 1, 6),  # two devices, a minute each
        (90.0, 1, 4),  # long work: one runs next, and one after it
        (90.0, 4, 10),  # a whole batch each, and one more
    ],
)
def test_admission_goes_by_predicted_seconds_within_the_slots(seconds, cap, expected):
    crew = [living("cpu", capacity=8, slot=slot) for slot in range(2)]
    room = windows.Windows(crew, {}, horizon_s=60)
    assert taken(room, "cpu", seconds=seconds, cap=cap) == expected


def test_what_is_published_counts():
    crew = [living("cpu", capacity=8)]
    assert taken(windows.Windows(crew, published(cpu=(6, 1)), horizon_s=60), "cpu", seconds=1) == 2
    assert taken(windows.Windows(crew, published(cpu=(3, 70)), horizon_s=60), "cpu", seconds=1) == 0


def test_the_same_devices_hold_every_queues_work_and_others_their_own():
    both = windows.Windows([living("cpu", "gpu.mid")], published(cpu=(3, 3)), horizon_s=60)
    assert taken(both, "gpu.mid", seconds=1) == 1
    split = windows.Windows(
        [living("cpu"), living("gpu.mid", "gpu.low", slot=1)],
        published(cpu=(4, 4), gpu_low=(1, 1)),
        horizon_s=60,
    )
    assert [split.room(queue) for queue in ("cpu", "gpu.mid", "gpu.low", "gpu.high")] == [
        0, 3, 3, 0,
    ]  # fmt: skip
    assert taken(split, "gpu.mid", seconds=1) == 3
    assert taken(split, "gpu.low", seconds=1) == 0


def test_no_worker_takes_nothing():
    room = windows.Windows([], published(cpu=(1, 1)), horizon_s=60)
    assert room.room("cpu") == 0
    assert not room.take("cpu", 1, 1)
