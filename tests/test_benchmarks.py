"""The benchmarks run, and print what they promise."""

from __future__ import annotations

import importlib
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

BENCHMARKS = pathlib.Path(__file__).parent / "benchmarks"


def test_the_pools_benchmark_runs_quickly_and_prints_every_figure(tmp_path):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "pool.py"), "--quick", "--json"],
        capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    figures = (
        "oom_after_warmup", "peak_ratio", "busy_ratio", "under_estimates", "over_reservation",
        "load_share", "fragmentation", "hit_rate", "disk_hit_rate", "overhead_ms", "batch_mean",
        "restart_cost", "restart_bound",
    )  # fmt: skip
    assert tuple(found)[: len(figures)] == figures
    assert found["jobs"] == found["restart_jobs"] == 60
    assert found["failed"] == found["repeated"] == 0
    assert found["restart_failed"] == found["restart_repeated"] == 0
    assert found["restarts"] >= 1
    assert found["oom_after_warmup"] == 0
    assert 0.3 < found["peak_ratio"] <= 1
    for key in ("busy_ratio", "load_share", "hit_rate", "disk_hit_rate", "restart_cost"):
        assert 0 < found[key] <= 1, key
    assert found["busy_ratio"] + found["load_share"] <= 1
    assert found["busy_ratio_wall"] <= found["busy_ratio"]
    assert 1 <= found["batch_mean"] <= found["batch_cap"] <= 8


def test_the_ledgers_benchmark_runs_quickly_and_prints_every_figure(tmp_path):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "ledger.py"), "--quick", "--json"],
        capture_output=True, text=True, timeout=220, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    figures = (
        "claim_finish_vs_raw", "batch_claim_gain", "growth_1m_vs_10k", "growth_1m_vs_10k_batch",
        "growth_pass_1m_vs_10k", "submit_1000_s", "status_10k_s", "vs_procrastinate",
    )  # fmt: skip
    assert tuple(found)[: len(figures)] == figures
    installed = importlib.util.find_spec("procrastinate") is not None
    for key in figures:
        assert (found[key] or 0) > 0 or (key == "vs_procrastinate" and not installed), key
    assert found["batch_claim_gain"] > 1
    assert found["pass_publishes"] >= 1
    assert (found["submits"], found["status_projects"]) == (20, 100)


@pytest.mark.timeout(400)  # three processes load torch and diffusers, one after another
def test_the_cards_benchmark_runs_on_tiny_models_and_prints_every_figure(tmp_path):
    pytest.importorskip("diffusers", reason="the gpu extra is not installed")
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "gpu.py"), "--tiny", "--json"],
        capture_output=True, text=True, timeout=390, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["full_size"], found["left_out"], found["oom"]) == (False, [], 0)
    for kind in ("picture", "clip"):
        for key in (
            "per_s", "loop_per_s", "vs_loop", "batch_gain", "bound", "vs_load_per_task", "of_bound",
        ):  # fmt: skip
            assert 0 < found[f"{kind}_{key}"] < 1e6, f"{kind}_{key}"
        assert 0 < found[f"{kind}_load_share"] < 1
        assert found[f"same_{kind}"] <= 0.05, "of 255: both loops draw the same"
    for key in (
        "alone_vs_loop",
        "joining_vs_batches",
        "urgent_s",
        "make_s",
        "warm_s",
        "used_gib",
        "wall_s",
    ):
        assert 0 < found[key] < 1e6, key
    assert 0 < found["busy_ratio"] <= 1
    assert 0 <= found["urgent_steps"] <= 2
    assert found["fragmentation"] == 0, "the host's memory has none that is counted"
    assert found["estimate_worst"] >= 0
    assert found["caps"].keys() == found["caps_settled"].keys() == {"picture", "large", "clip"}
    assert all(1 <= cap <= 4 for cap in found["caps"].values())
    assert found["load_s"].keys() == {"sdxl", "i2vgen", "i2vgen:encode"}
    assert "(goal >= 0.97, of a card)" in done.stdout


@pytest.fixture
def card_figures(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("_gpu_figures"), importlib.import_module("_gpu_pool")


def test_what_loading_for_each_task_costs_bounds_what_staying_can_gain(card_figures):
    figures, pools = card_figures
    pace = pools.Pace(count=40, seconds=10.0, busy=9.8, card=None)  # 4 a second
    loop = {"load_s": 9.0, "batch_s": {"1": 1.0, "8": 2.0}, "task_s": 10.0}
    found = figures.against("picture", pace, loop, 8)
    assert found["picture_loop_per_s"] == found["picture_batch_gain"] == 4.0
    assert found["picture_vs_loop"] == 1.0
    assert found["picture_load_share"] == 0.9
    assert found["picture_bound"] == found["picture_vs_load_per_task"] == 40.0
    assert found["picture_of_bound"] == 1.0


def test_what_time_left_out_is_told_as_nothing(card_figures):
    figures, pools = card_figures
    found = figures.figures(pools.Found(), {})
    assert found["picture_vs_loop"] is found["urgent_steps"] is found["busy_ratio"] is None
    loop = {"load_s": 9.0, "batch_s": {"1": 1.0}, "task_s": None}
    short = figures.against("clip", pools.Pace(count=1, seconds=1.0, busy=1.0, card=None), loop, 4)
    assert short["clip_per_s"] == 1.0
    assert short["clip_vs_loop"] is short["clip_of_bound"] is None


def test_estimates_are_judged_once_they_were_learned(card_figures):
    figures, pools = card_figures

    def session(reserved):
        return pools.Session(bucket="b", members=1, reserved=reserved, peak=100)

    found = [*(session(50) for _ in range(5)), session(125), session(200)]
    assert figures.worst(figures.learned(found)) == 0.8
    assert figures.worst(figures.cold(found)) == 2.0
    assert figures.mean_reserved(found) == pytest.approx(1.625)


@pytest.fixture
def pool_figures(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS.parent / "pooling")
    return importlib.import_module("_pool_figures"), importlib.import_module("_pool_run")


def test_gaps_count_as_they_are_and_twenty_times_in_the_strict_ratio(pool_figures):
    figures, runs = pool_figures
    run = runs.Run(jobs=10, speed=20.0, busy=1900.0, load=80.0, wall=100.0)
    assert figures.gaps(run) == pytest.approx(1.0)
    assert figures.busy_ratio(run) == pytest.approx(1900 / 1981)
    assert figures.busy_ratio_wall(run) == pytest.approx(0.95)


def test_sessions_are_judged_after_the_fifth_of_their_bucket_and_size(pool_figures):
    figures, runs = pool_figures

    def session(members, reserved):
        return runs.Session(
            bucket="b", members=members, reserved=reserved, peak=100, waited=0, cap=4, warm=True
        )

    found = [session(1, 50)] * 5 + [session(2, 50)] * 5 + [session(1, 90), session(2, 150)]
    assert figures.under_estimates(found) == 0.5
    assert figures.over_reservation(found) == pytest.approx(0.2)


def test_a_restart_may_cost_a_reload_for_its_jobs_and_a_hundredth(pool_figures):
    figures, runs = pool_figures
    run = runs.Run(jobs=300, speed=20.0, busy=3000.0)
    assert figures.restart_bound(run, 18.0, 100) == pytest.approx(0.028)
