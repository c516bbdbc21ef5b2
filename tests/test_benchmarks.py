"""The benchmarks run, and print what they promise."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

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
