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
