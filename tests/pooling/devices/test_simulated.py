from __future__ import annotations

import gc
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import types

import pytest

from mangen.pooling import errors
from mangen.pooling.devices import device, simulated

ROOT = pathlib.Path(__file__).parents[3]
MIB = 2**20


class Clock:
    """Time that passes only by sleeping, and by `late` at each look."""

    def __init__(self, late=0.0):
        self.now = 0.0
        self.late = late
        self.slept = 0.0

    def perf_counter(self):
        self.now += self.late
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += seconds
        self.slept += seconds


def clocked(options, monkeypatch, *, speed, late=0.0):
    clock = Clock(late)
    monkeypatch.setattr(simulated, "time", clock)
    given = device.Options(folder=options.folder, speed=speed)
    return clock, simulated.Simulated("sim:tiny", given)


def test_it_is_a_device_and_a_card_that_the_makers_make(options):
    made: device.Device = device.make("sim:tiny", options)
    seen: device.Card = device.card("sim:tiny/0", options)
    assert (made.kind, made.id, made.overhead) == ("tiny", "sim:tiny/0", 64 * MIB)
    assert (seen.kind, seen.id, seen.total, seen.exclusive) == (
        "tiny",
        "sim:tiny/0",
        1024 * MIB,
        True,
    )
    made.synchronize()
    made.close()
    seen.close()


def test_the_device_of_this_process_is_the_one_that_was_opened(options):
    opened = simulated.open_here("sim:tiny", options)
    assert simulated.current() is opened
    opened.close()
    opened.close()
    with pytest.raises(errors.ConfigError, match="opened no simulated card"):
        simulated.current()


def test_a_card_needs_a_folder_and_a_profile(options):
    with pytest.raises(errors.ConfigError, match="folder"):
        simulated.open_here("sim:tiny", device.Options())
    with pytest.raises(errors.ConfigError, match="'huge'"):
        simulated.SimulatedCard("sim:huge", options)


def test_a_context_and_what_is_reserved_are_gone_from_the_card(card, outside):
    assert outside.free() == 960 * MIB
    held = card.alloc(30 * MIB)
    assert held.nbytes == 30 * MIB
    assert outside.free() == 920 * MIB
    assert outside.processes() == {os.getpid(): 104 * MIB}
    now = card.memory()
    assert (now.free, now.reserved, now.allocated) == (920 * MIB, 40 * MIB, 30 * MIB)
    assert now.reach == 960 * MIB


def test_what_is_released_stays_reserved_until_a_trim(card):
    held = card.alloc(30 * MIB)
    held.release()
    held.release()
    assert (card.memory().allocated, card.memory().reserved) == (0, 40 * MIB)
    card.trim()
    assert card.memory().reserved == 0


def test_what_nobody_holds_is_freed(card):
    weights = card.load("one")
    assert card.memory().allocated == 80 * MIB
    del weights
    gc.collect()
    assert card.memory().allocated == 0


def test_cards_of_one_kind_are_told_apart_by_number(options, card):
    other = simulated.SimulatedCard("sim:tiny/1", options)
    assert other.free() == 1024 * MIB
    other.close()


def test_closing_gives_all_back(options, outside):
    opened = simulated.open_here("sim:tiny", options)
    held = opened.load("one")
    opened.close()
    assert outside.free() == 1024 * MIB
    assert outside.processes() == {}
    assert opened.memory().free == 0
    opened.trim()
    with pytest.raises(errors.ConfigError, match="was closed"):
        opened.alloc(MIB)
    del held


def test_a_load_that_does_not_fit_leaves_nothing_and_takes_no_time(card):
    with pytest.raises(RuntimeError, match="out of memory") as caught:
        card.load("vast")
    assert device.out_of_memory(caught.value)
    now = card.memory()
    assert (now.allocated, now.ooms, now.retries) == (0, 1, 1)
    assert card.clock() == 0
    card.trim()
    assert card.memory().reserved == 0


def test_a_run_that_does_not_fit_leaves_nothing_and_takes_no_time(card):
    steps = []
    with pytest.raises(RuntimeError, match=re.escape("CUDA out of memory. 1.07 GiB")):
        card.run("draw", 11, on_step=lambda *step: steps.append(step))
    assert steps == []
    assert card.memory().allocated == 0
    assert card.clock() == 0


def test_a_run_counts_a_peak_over_what_is_resident(card):
    weights = card.load("one")
    card.watch()
    card.run("more", 2)
    assert card.peak().allocated == weights.nbytes + 260 * MIB
    assert card.memory().allocated == weights.nbytes


def test_a_run_repeated_counts_its_peak_again_and_asks_for_no_more(card):
    card.run("draw", steps=1)
    reserved = card.memory().reserved
    card.watch()
    card.run("draw", steps=1)
    assert card.peak() == device.Peak(allocated=100 * MIB, reserved=reserved)
    card.trim()
    card.watch()
    card.run("draw", steps=1)
    assert card.peak() == device.Peak(allocated=100 * MIB, reserved=reserved)


def test_the_recorded_stages_run_on_the_bundled_card(tmp_path):
    opened = simulated.Simulated("sim:card_24g", device.Options(folder=str(tmp_path), speed=1e9))
    sdxl, i2v = opened.load("sdxl"), opened.load("i2vgenxl")
    for stage in opened.profile.stages:
        opened.watch()
        opened.run(stage)
        assert opened.peak().reserved <= opened.profile.total - opened.overhead
    now = opened.memory()
    assert (now.allocated, now.ooms) == (sdxl.nbytes + i2v.nbytes, 0)
    assert opened.load_s == 90.0
    with pytest.raises(RuntimeError, match="out of memory"):
        opened.run("i2vgenxl.denoise/704x1280x16", 2)
    opened.close()


def test_steps_are_told_in_order_and_seconds_are_the_profile_s(card):
    told = []
    card.run("draw", on_step=lambda done, of: told.append((done, of)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert card.busy_s == 8.0
    card.run("draw", 2, 1)
    assert card.busy_s == 8.0 + 2.0 * 2 / 1.25


def test_what_a_step_raises_ends_the_run_with_the_seconds_so_far(card):
    def stop(done, of):
        if done == 2:
            raise errors.Dropped("a", "abort")

    with pytest.raises(errors.Dropped):
        card.run("draw", on_step=stop)
    assert card.busy_s == 4.0
    assert card.memory().allocated == 0


def test_a_fetched_model_loads_in_the_device_s_part(card):
    assert card.load("one") is not None
    assert card.load_s == 40.0
    card.fetch("one")
    assert card.load_s == 40.0, "fetching is the host's"
    assert card.load("one") is not None
    assert card.load_s == 50.0
    assert card.clock() == 50.0


def test_what_was_fetched_before_the_card_was_opened_counts(options, monkeypatch):
    clock, _ = clocked(options, monkeypatch, speed=20.0)
    simulated.fetch("sim:tiny/3", options, "two")
    simulated.fetch("sim:tiny", options, "two")
    assert clock.slept == pytest.approx(50 / options.speed), "once a process"
    opened = simulated.Simulated("sim:tiny", options)
    weights = opened.load("two")
    assert opened.load_s == 10.0
    weights.release()


def test_a_load_waits_for_the_fetch_that_is_under_way(options, monkeypatch):
    given = device.Options(folder=options.folder, speed=20.0)
    opened = simulated.Simulated("sim:tiny", given)
    asleep, go_on = threading.Event(), threading.Event()
    lock = threading.Lock()

    class Watched:
        """A lock that tells when somebody found it taken."""

        release = lock.release

        def acquire(self, *, blocking=True):
            got = lock.acquire(blocking=blocking)
            if not got:
                go_on.set()
            return got

        def __enter__(self):
            lock.acquire()
            asleep.set()
            assert go_on.wait(30)

        def __exit__(self, *_):
            lock.release()

    monkeypatch.setattr(
        simulated, "time", types.SimpleNamespace(perf_counter=lambda: 0.0, sleep=lambda _: None)
    )
    monkeypatch.setitem(simulated._near, (options.folder, "tiny", "one"), Watched())
    fetching = threading.Thread(target=opened.fetch, args=("one",))
    fetching.start()
    assert asleep.wait(30)
    opened.load("one").release()
    fetching.join()
    assert opened.load_s == 10.0
    opened.close()


def test_the_wall_passes_at_the_given_speed(options, monkeypatch):
    clock, opened = clocked(options, monkeypatch, speed=20.0)
    opened.load("one").release()
    opened.run("draw")
    assert clock.slept == pytest.approx((40 + 8) / 20)
    opened.close()


def test_wall_time_that_the_simulation_needs_is_taken_off_its_sleep(options, monkeypatch):
    clock, opened = clocked(options, monkeypatch, speed=20.0, late=0.01)
    for _ in range(50):
        opened.run("draw")
    assert opened.busy_s == 400.0
    assert clock.slept < 400 / 20
    assert clock.now == pytest.approx(400 / 20, rel=0.05)
    opened.close()


def test_what_was_late_is_made_up_later(options, monkeypatch):
    clock, opened = clocked(options, monkeypatch, speed=20.0)
    opened._pass(0.0, clock.now - 0.3)
    opened.run("draw")
    assert clock.slept == pytest.approx(0.4 - 0.3)
    opened.close()


def test_out_of_memory_is_torch_s_own_error_where_torch_is(monkeypatch):
    class OutOfMemoryError(RuntimeError):
        pass

    monkeypatch.setitem(
        sys.modules, "torch", types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
    )
    assert type(simulated.out_of_memory("full")) is OutOfMemoryError


def test_out_of_memory_is_an_equal_error_where_torch_is_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    made = simulated.out_of_memory("full")
    assert type(made) is simulated.OutOfMemoryError
    assert isinstance(made, RuntimeError)
    assert device.out_of_memory(made)


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: CI has it"
)
def test_out_of_memory_can_be_caught_as_real_torch_s(card):
    import torch  # noqa: PLC0415 - heavy, and not everywhere

    with pytest.raises(torch.OutOfMemoryError):
        card.alloc(2048 * MIB)


def test_a_snapshot_tells_the_blocks_and_the_counts(card, tmp_path):
    held = card.alloc(30 * MIB)
    path = tmp_path / "snapshot.json"
    card.snapshot(path)
    seen = json.loads(path.read_text())
    assert seen["device"] == "sim:tiny/0"
    assert seen["stats"]["allocated"] == held.nbytes
    assert [block["size"] for block in seen["blocks"] if block["live"]] == [30 * MIB]
    assert sum(block["size"] for block in seen["blocks"]) == 40 * MIB


def test_memory_can_be_looked_at_from_any_thread(card):
    stop = threading.Event()
    seen = []

    def look():
        while not stop.is_set():
            seen.append(card.memory())

    looking = threading.Thread(target=look)
    looking.start()
    for members in range(1, 9):
        card.run("draw", members)
        card.trim()
    stop.set()
    looking.join()
    assert seen
    assert all(now.free + now.reserved == 960 * MIB for now in seen)


def test_what_is_dropped_in_a_cycle_is_freed_by_the_collector_at_any_moment(card):
    for _ in range(200):
        cycle = [card.alloc(MIB)]
        cycle.append(cycle)
    del cycle
    gc.collect()
    assert card.memory().allocated == 0


def test_a_closed_card_knows_nothing_and_raises_nothing(outside):
    outside.close()
    assert outside.free() is None
    assert outside.processes() == {}


def test_using_the_simulated_device_loads_no_torch():
    code = (
        "import sys; from mangen.pooling.devices import simulated; "
        "print(sorted({'torch', 'celery', 'sqlalchemy', 'numpy'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert said.stdout == "[]\n"
