"""Bytes on the real pool: what is admitted, refused, probed, parked, evicted."""

from __future__ import annotations

import pytest
import sim_pool
from sim_pool import GIB, MIB, ends

from mangen.pooling import alone, events, work


def test_after_warm_up_no_session_takes_more_than_was_reserved_for_it(start):
    sim = start()
    for bucket in ("a/s/2", "a/under/2", "b/m/1"):
        futures = sim.many([f"{bucket}-{n}" for n in range(12)], bucket, cap=1)
        assert set(ends(futures).values()) == {"done"}
        sim.ear.until(events.Batched, lambda one, b=bucket: one.bucket == b, count=12)
        sessions = sim.ear.of(events.Batched, lambda one, b=bucket: one.bucket == b)
        late = [one for one in sessions[5:] if one.peak > one.reserved]
        assert late == []
        assert all(one.reserved < 1.3 * one.peak for one in sessions[6:])


def test_what_runs_out_of_memory_is_parked_and_done_in_halves_and_never_so_again(start):
    sim = start(measure_sizes=False, linger_s=0.2)
    futures = sim.many([f"k{n}" for n in range(16)], "a/under/2", cap=4)
    assert set(ends(futures).values()) == {"done"}
    assert {future.result().value["key"] for future in futures.values()} == set(futures)
    ooms = sim.ear.of(events.OutOfMemory)
    assert [(one.members, one.then, one.proved) for one in ooms] == [(4, 2, False)]
    assert sim.claims() == dict.fromkeys(futures, 1)
    assert sum(len(line["keys"]) for line in sim.logged("again")) == 4
    assert [line["why"] for line in sim.logged("drop")] == [work.Why.OOM] * 4
    after = sim.ear.heard[sim.ear.heard.index(ooms[0]) :]
    assert all(one.members <= 2 for one in after if isinstance(one, events.Admitted))
    assert len(sim.ear.of(events.Loaded)) == 1  # their own model was kept


def test_torchs_own_error_is_one_of_memory_too(start):
    pytest.importorskip("torch", reason="torch is not installed: CI has it")
    sim = start(measure_sizes=False, torch=True)
    futures = sim.many(["k1", "k2", "k3", "k4"], "a/under/1", cap=4)
    assert set(ends(futures).values()) == {"done"}
    assert "CUDA out of memory" in sim.ear.of(events.OutOfMemory)[0].error


def test_one_that_is_too_large_by_its_estimate_alone_is_probed_and_runs(start):
    sim = start()
    assert ends({"k": sim.submit("k", "a/over/2")}) == {"k": "done"}
    admitted = sim.ear.of(events.Admitted)[0]
    assert (admitted.members, admitted.reserved <= admitted.usable) == (1, True)
    assert sim.ear.of(events.OutOfMemory) == []


def test_one_that_does_not_fit_ends_after_its_claim_and_the_next_is_given_back_unclaimed(start):
    sim = start()
    first = sim.submit("first", "a/huge/2").result(sim_pool.WAIT_S)
    assert (first.status, first.error) == (
        work.Status.FAILED, "it does not fit this card, alone",
    )  # fmt: skip
    assert [line["why"] for line in sim.logged("drop")] == [work.Why.OOM, work.Why.NEVER_FITS]
    ooms = sim.ear.of(events.OutOfMemory)
    assert [one.proved for one in ooms] == [False, True]
    assert all("were asked for" in one.error for one in ooms)  # not for want of the weights' room
    second = sim.submit("second", "a/huge/2").result(sim_pool.WAIT_S)
    assert (second.status, second.error) == (work.Status.ABORTED, work.Why.NEVER_FITS)
    assert [line["key"] for line in sim.logged("give_back")] == ["second"]
    assert sim.claims() == {"first": 1}
    assert sim.ear.of(events.Refused)[0].never
    assert ends({"other": sim.submit("other", "a/s/2")}) == {"other": "done"}


def test_what_theory_calls_small_and_never_fits_is_tried_once_as_well(start):
    sim = start()
    assert ends({"k1": sim.submit("k1", "a/late/1")}) == {"k1": "failed"}
    assert ends({"k2": sim.submit("k2", "a/late/1")}) == {"k2": "aborted"}
    assert [one.proved for one in sim.ear.of(events.OutOfMemory)] == [False, True]
    assert [line["key"] for line in sim.logged("give_back")] == ["k2"]
    assert ends({"k": sim.submit("k")}) == {"k": "done"}


def test_what_does_not_fit_beside_a_leak_or_a_tenant_is_not_called_hopeless(start):
    sim = start()
    assert ends({"leak": sim.submit("leak", do=f"leak:{4 * 1024}")}) == {"leak": "done"}
    assert ends({"k1": sim.submit("k1", "a/under/1", cap=1)}) == {"k1": "failed"}
    sim.control.replace(sim.child()["owner"])
    sim.ready(2)
    assert ends({"k2": sim.submit("k2", "a/under/1", cap=1)}) == {"k2": "done"}
    with sim.tenant() as tenant:
        sim.control.replace(sim.child()["owner"])
        sim.ready(3)
        tenant.grow(4 * GIB)
        assert ends({"k3": sim.submit("k3", "b/under/1", cap=1)}) == {"k3": "failed"}
    assert ends({"k4": sim.submit("k4", "b/under/1", cap=1)}) == {"k4": "done"}
    assert not any(one.proved for one in sim.ear.of(events.OutOfMemory))


def test_a_tenant_that_grows_closes_the_gate_and_its_leaving_opens_it(start):
    sim = start()
    assert ends({"before": sim.submit("before", "a/s/1")}) == {"before": "done"}
    with sim.tenant() as tenant:
        tenant.grow(5 * GIB)
        waiting = sim.many(["k1", "k2"], "a/l/1", cap=1)
        refused = sim.ear.until(events.Refused)
        assert (refused.never, refused.need > refused.usable) == (False, True)
        assert not any(future.done() for future in waiting.values())
    assert set(ends(waiting).values()) == {"done"}
    assert sim.ear.of(events.OutOfMemory) == []


def test_weights_that_do_not_fit_yet_cause_no_running_out_of_memory(start):
    sim = start()
    with sim.tenant() as tenant:
        tenant.grow(3 * GIB)
        waiting = {"k": sim.submit("k", "c/s/1")}  # 6 GiB of weights, and 4.75 are left
        assert not sim.ear.until(events.Refused).never
    assert ends(waiting) == {"k": "done"}
    assert sim.ear.of(events.OutOfMemory) == []
    assert sim.claims() == {"k": 1}


def test_models_that_fit_together_stay_together(start):
    sim = start()
    for n in range(4):
        both = {"a": sim.submit(f"a{n}", "a/s/1"), "b": sim.submit(f"b{n}", "b/s/1")}
        assert set(ends(both).values()) == {"done"}
    assert sorted(one.model for one in sim.ear.of(events.Loaded)) == ["a", "b"]
    assert sim.ear.of(events.Evicted) == []


@pytest.mark.parametrize(("gain", "first"), [(0.5, "a"), (100.0, "c")])
def test_models_are_swapped_when_rank_outweighs_the_load_and_not_before(start, gain, first):
    sim = start(card={"load_s": 100.0}, swap_rank_per_s=0.1)
    sim.control.learn([*sim_pool.seen("c/s/1", folder=sim.folder)] * 3)
    assert ends({"a": sim.submit("a", "a/s/40")}) == {"a": "done"}
    hold = sim.submit("hold", "a/m/400", cap=1)  # while it runs, the others come together
    sim.ear.until(events.Admitted, lambda one: one.bucket == "a/m/400")
    futures = sim.many(["a1", "a2"], "a/s/1", cap=1)
    futures |= sim.many(["c1", "c2"], "c/s/1", cap=1, rank=gain)
    assert set(ends({"hold": hold, **futures}).values()) == {"done"}
    order = [key[0] for line in sim.logged("claim") for key in line["keys"]][2:]
    assert order == [first] * 2 + [{"a": "c", "c": "a"}[first]] * 2
    evicted = [one.model for one in sim.ear.of(events.Evicted)]
    assert evicted == (["a"] if first == "a" else ["a", "c"])


def test_the_watermark_moves_with_what_runs_and_is_told(start):
    sim = start()
    assert ends({"s": sim.submit("s", "a/s/1", cap=1)}) == {"s": "done"}
    sim.ear.until(events.Batched)
    sim.ear.until(events.Sampled, count=len(sim.ear.of(events.Sampled)) + 2)
    small = sim.child()["bytes"]["watermark"]
    assert ends({"l": sim.submit("l", "a/l/1", cap=1)}) == {"l": "done"}
    sim.ear.until(events.Batched, count=2)
    sim.ear.until(events.Sampled, count=len(sim.ear.of(events.Sampled)) + 2)
    large = sim.child()["bytes"]["watermark"]
    assert 0 < large < small


def test_the_cache_gives_way_to_what_runs_and_that_is_told(tmp_path):
    ear = sim_pool.Ear()
    with alone.Pool(
        "sim_product:make_keeper", devices=("cpu",), cpu_bytes=GIB, cache_bytes=GIB // 2,
        folder=str(tmp_path), cache_kinds={"toy": {}}, linger_s=0.0, listener=ear,
    ) as pool:  # fmt: skip

        def run(key, keep, peak):
            one = work.Item(key=key, name="toy", bucket=key, data={"keep": keep}, peaks=(peak,))
            return pool.submit(one).result(sim_pool.WAIT_S)

        assert run("k0", 100 * MIB, 0).value is True
        assert run("large", 0, 700 * MIB).value is True  # beside it there is room
        assert ear.of(events.Compressed) == []
        assert run("larger", 0, 960 * MIB).value is False
    gone = ear.of(events.Compressed)
    assert sum(one.nbytes for one in gone) >= 100 * MIB
    assert gone[-1].watermark < 100 * MIB
    assert ear.of(events.OutOfMemory) == ear.of(events.Refused) == []


def test_both_models_and_a_large_clip_share_a_card_of_22_gib(start):
    sim = start(devices=("sim:card_24g",), speed=5000.0)
    clip, still = "i2vgenxl/704x1280x16/2", "sdxl/512x768/2"
    for bucket in (clip, still):
        sim.control.learn(sim_pool.seen(bucket, folder=sim.folder, card="sim:card_24g", ratio=1.0))
    for n in range(3):
        assert ends({"s": sim.submit(f"s{n}", still, cap=1)}) == {"s": "done"}
        assert ends({"v": sim.submit(f"v{n}", clip, cap=1)}) == {"v": "done"}
    assert sim.ear.of(events.OutOfMemory) == []
    assert sim.ear.of(events.Evicted) == []
    assert sorted(one.model for one in sim.ear.of(events.Loaded)) == ["i2vgenxl", "sdxl"]


def test_reservations_never_exceed_the_card_nor_go_negative(start):
    sim = start()
    futures = {}
    for n in range(24):
        bucket = ("a/s/3", "b/m/2", "c/s/1", "a/under/2")[n % 4]
        futures[f"k{n}"] = sim.submit(f"k{n}", bucket)
    assert set(ends(futures).values()) == {"done"}
    total = sim.child()["bytes"]["total"]
    sim.ear.until(events.Sampled)
    assert all(0 <= one.reserved <= total for one in sim.ear.of(events.Sampled))
    for one in sim.ear.of(events.Admitted):
        assert 0 <= one.reserved <= one.usable <= total
