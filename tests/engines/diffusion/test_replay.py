"""Full-size work on a simulated card of 22 GiB: what families tell of bytes is enough.

The allocations are those of the engine's own passes and decoding around full-size networks, as
record_streams.py recorded them; the gate, the estimates and the batches are the real ones.
"""

from __future__ import annotations

import collections
import time

import numpy as np
import pytest

pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen.engines.diffusion import family
from mangen.pooling import alone, events, models, work
from mangen.pooling.devices import device, profile, simulated
from tests.engines.diffusion import full_size

GIB = 2**30
WAIT_S = 120.0
COLD = models.ModelSpec.__dataclass_fields__["cold_factor"].default
SDXL_SMALL, SDXL_LARGE = ("sdxl", 512, 768), ("sdxl", 1024, 1024)
I2V_SMALL, I2V_LARGE = ("i2vgen", 512, 512), ("i2vgen", 704, 1280)


def task(name, width, height):
    return (full_size.picture if name == "sdxl" else full_size.clip)(width, height)


def theory(root, tiny, stream):
    """What the family says of the stage that a recording is of: bytes over the weights."""
    head, size, members, *dtype = stream.split("/")
    name, stage = head.split(".")
    width, height = map(int, size.split("x")[:2])
    if name == "i2vgen" and stage == "decode":  # by so many frames at once
        return family.VAE_DECODE.bytes("float16", 1, width * height, int(members))
    if stage == "encode":
        return family.VAE_ENCODE.bytes(dtype[0], 1, width * height)
    if name == "sdxl":
        model = full_size.sdxl(root, force_upcast=dtype != ["float16"])
    else:
        model = full_size.i2vgen(tiny("i2vgen_xl"))
    wanted = {"predict": "denoise"}.get(stage, stage)
    stages = family.of(name).stages(model, task(name, width, height), int(members))
    return next(one.peak for one in stages if one.name == wanted)


@pytest.mark.parametrize("stream", full_size.streams())
def test_what_a_stage_takes_alone_is_what_its_law_says(stream, tmp_path, tiny):
    law, events_ = theory(tmp_path, tiny, stream), full_size.streams()[stream]
    assert profile.highest(events_) == pytest.approx(law, rel=0.03)
    stages = {"one": {"step_s": 1e-9, "peak": 1, "streams": {"1": [events_]}}}
    profile.register(str(tmp_path), "large", {"total": 64 * GIB, "source": "", "stages": stages})
    card = simulated.Simulated("sim:large", device.Options(folder=str(tmp_path), speed=1e12))
    card.watch()
    card.run("one")
    seen = card.peak()
    card.close()
    assert max(seen.allocated, seen.reserved) <= COLD * law, "in blocks of the allocator"


class Replay:
    """A pool on the card, whose tiny models take what full-size ones would."""

    def __init__(self, folder, tiny, *, total=22 * GIB, **more):
        self.folder, self.total, self.heard = folder, total, []
        self.owners = {
            "sdxl": full_size.sdxl(folder),
            "i2vgen": full_size.i2vgen(tiny("i2vgen_xl")),
        }
        full_size.card(folder, total=total)
        settings = {"folder": str(folder), "sdxl": str(tiny("sdxl")),
                    "i2vgen": str(tiny("i2vgen_xl"))}  # fmt: skip
        self.pool = alone.Pool(
            "tests.engines.diffusion.replay_product:make", devices=(f"sim:{full_size.CARD}",),
            folder=str(folder), speed=1e9, settings=settings, listener=self, measure_sizes=False,
            linger_s=0.2, monitor_s=0.02, cache_kinds={"text": {}}, **more,
        )  # fmt: skip

    def on(self, event):
        self.heard.append(event)

    def child_lost(self, owner, keys, alone):
        pass

    def of(self, kind):
        return [one for one in list(self.heard) if isinstance(one, kind)]

    def submit(self, key, what, *, cap=4, seed=0, told=1.0, steps=2):
        """`told` is the share of its bytes that theory tells."""
        name, width, height = what
        one = task(name, width, height)
        peaks = tuple(
            int(told * family.of(name).peak(self.owners[name], one, n)) for n in range(1, cap + 1)
        )
        data = {"role": one.role, "width": width, "height": height, "seed": seed, "steps": steps}
        return self.pool.submit(
            work.Item(
                key=key, name="draw", bucket=f"{name}|{width}x{height}|{told}", model=name,
                cap=cap, peaks=peaks, data=data,
            )
        )  # fmt: skip

    def sessions(self):
        """Pairs of what was admitted and what came of it; one child runs one after another."""
        admitted = self.of(events.Admitted)
        deadline = time.monotonic() + WAIT_S
        while len(self.of(events.Batched)) < len(admitted):  # told after its members' ends
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return list(zip(admitted, self.of(events.Batched), strict=True))

    def latents(self, key):
        return np.load(self.folder / f"{key}.npy")


@pytest.fixture
def replay(tmp_path, tiny):
    opened = []

    def start(**more):
        opened.append(Replay(tmp_path, tiny, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.pool.close(cold=True)


def ended(futures):
    """How many ended in which way; a failure says why."""
    outcomes = [future.result(WAIT_S) for future in futures]
    return collections.Counter(one.error or one.status for one in outcomes)


def test_no_session_takes_more_than_the_gate_reserved_for_it_cold_or_learned(replay):
    one = replay()
    most = {SDXL_SMALL: 4, SDXL_LARGE: 4, I2V_SMALL: 2, I2V_LARGE: 1}
    rounds = 7
    for turn in range(rounds):
        for what, cap in most.items():
            futures = [
                one.submit(f"{turn}-{what}-{n}", what, cap=cap, seed=n, steps=1)
                for n in range(cap if turn % 2 else 1)
            ]
            assert ended(futures) == {work.Status.DONE: len(futures)}
    sessions = one.sessions()
    assert len(sessions) >= rounds * len(most)
    over = [(a.bucket, a.members, b.peak / a.reserved) for a, b in sessions if b.peak > a.reserved]
    assert over == []
    learned = [a.reserved / b.peak for a, b in sessions[5 * len(most) :]]
    assert max(learned) < COLD, "what was learned is closer than the first guess"
    assert one.of(events.OutOfMemory) == one.of(events.Refused) == []
    looks = one.of(events.Sampled)
    assert looks
    assert all(0 <= look.reserved <= one.total and look.used <= one.total for look in looks)
    for admitted, _ in sessions:
        assert 0 < admitted.reserved <= admitted.usable <= one.total


def test_two_large_clips_wait_for_each_other_on_a_card_that_holds_one(replay):
    one = replay()
    futures = [one.submit(f"k{n}", I2V_LARGE, cap=2) for n in range(4)]
    assert ended(futures) == {work.Status.DONE: 4}
    assert {admitted.members for admitted, _ in one.sessions()} == {1}
    assert one.of(events.OutOfMemory) == []


def test_what_ran_out_of_memory_never_does_so_again_and_draws_the_same(replay):
    one = replay()
    told = 1 / 5  # a theory that knows a fifth of it: eight clips are let in, four fit
    futures = {f"k{n}": one.submit(f"k{n}", I2V_SMALL, cap=8, seed=n, told=told) for n in range(16)}
    assert ended(futures.values()) == {work.Status.DONE: 16}
    ooms = one.of(events.OutOfMemory)
    assert [(oom.members, oom.then, oom.proved) for oom in ooms] == [(8, 4, False)]
    after = one.heard[one.heard.index(ooms[0]) :]
    assert all(event.members <= 4 for event in after if isinstance(event, events.Admitted))
    for n in (0, 7, 15):
        assert ended([one.submit(f"alone{n}", I2V_SMALL, cap=1, seed=n)]) == {work.Status.DONE: 1}
        alone_, together = one.latents(f"alone{n}"), one.latents(f"k{n}")
        assert np.abs(alone_ - together).max() <= 1e-4 * np.abs(alone_).max()
