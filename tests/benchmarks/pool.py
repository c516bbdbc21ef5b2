"""The resident pool: bytes, busyness and batches on a simulated card of 22 GiB, and its own cost.

docs/benchmarks.md says what each figure means and how it is measured. At the published speed, 20,
a whole run takes some 12 minutes; --quick takes under one, and shows only that it works.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time
from concurrent import futures
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
for _folder in (HERE, HERE.parent / "pooling"):  # the children are given this path, too
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

import _pool_figures as figures  # noqa: E402 - found by the path above
import _pool_mix as mix  # noqa: E402 - as above
import _pool_run as runs  # noqa: E402 - as above
import sim_product  # noqa: E402 - as above

from mangen.pooling import alone, work  # noqa: E402 - beside them

RESTART_AFTER = 100
SPEED = 20.0
KEYS = (
    "oom_after_warmup", "peak_ratio", "busy_ratio", "under_estimates", "over_reservation",
    "load_share", "fragmentation", "hit_rate", "disk_hit_rate", "overhead_ms", "batch_mean",
    "restart_cost", "restart_bound",
)  # fmt: skip
"""The figures that have goals; what else is printed says how they came about."""


def measure(folder: pathlib.Path, *, speed: float = SPEED, quick: bool = False) -> dict[str, Any]:
    """Run all parts; answers the figures by name, a rate that can't be measured here as None."""
    began = time.monotonic()
    found = {
        **main_run(folder / "main", speed=speed, jobs=60 if quick else 500),
        **restart_run(
            folder / "restarts", speed=speed, jobs=60 if quick else 320,
            after=20 if quick else RESTART_AFTER,
        ),
        **overhead(20 if quick else 300),
        **cache_rates(folder / "cache", quick=quick),
    }  # fmt: skip
    more = {**found, "speed": speed, "wall_s": round(time.monotonic() - began, 1)}
    return {key: more[key] for key in [*KEYS, *(key for key in more if key not in KEYS)]}


def main_run(folder: pathlib.Path, *, speed: float, jobs: int) -> dict[str, Any]:
    """Both models, four buckets, no restarts."""
    size = min(100, jobs)
    run = runs.drive(mix.waves(jobs, mix.MIXED, size=size, folder=str(folder)), folder, speed=speed)
    crowded = figures.crowded(run.sessions)
    return {
        "oom_after_warmup": run.ooms,
        "peak_ratio": round(run.peak / run.total, 4),
        "busy_ratio": round(figures.busy_ratio(run), 4),
        "under_estimates": round(figures.under_estimates(run.sessions), 4),
        "over_reservation": round(figures.over_reservation(run.sessions), 4),
        "load_share": round(run.load / figures.device_time(run), 4),
        "fragmentation": round(max(run.fragmentation, default=1.0), 4),
        "batch_mean": round(figures.mean([one.members for one in crowded]), 3),
        "batch_cap": round(figures.mean([one.cap for one in crowded]), 3),
        "batch_at_cap": round(figures.mean([one.members == one.cap for one in crowded]), 4),
        "busy_ratio_wall": round(figures.busy_ratio_wall(run), 4),
        "jobs": run.jobs,
        "failed": run.failed,
        "repeated": run.repeated,
        "sessions": len(run.sessions),
        "judged": len(list(figures.judged(run.sessions))),
        "loads": run.loads,
        "device_s": round(figures.device_time(run), 1),
        "gap_ms": round(1000 * figures.gaps(run) / max(1, len(run.sessions)), 2),
    }


def restart_run(folder: pathlib.Path, *, speed: float, jobs: int, after: int) -> dict[str, Any]:
    """A soft restart after every so many jobs, while others wait: nobody is served meanwhile.

    To reload both models is what a standby leaves of it: it has fetched them before.
    """
    run = runs.drive(
        mix.waves(jobs, mix.BRIEF, size=jobs, folder=str(folder)),
        folder,
        speed=speed,
        restart_after=after,
    )
    found = sim_product.profile_of()
    reload_s = sum(model.load_s - model.fetch_s for model in found.models.values())
    return {
        "restart_cost": round(sum(run.restarts) / figures.device_time(run), 4),
        "restart_bound": round(figures.restart_bound(run, reload_s, after), 4),
        "restarts": len(run.restarts),
        "restart_lost_s": round(sum(run.restarts), 1),
        "restart_load_s": round(run.load, 1),
        "restart_device_s": round(figures.device_time(run), 1),
        "restart_jobs": run.jobs,
        "restart_failed": run.failed,
        "restart_repeated": run.repeated,
    }


def overhead(requests: int) -> dict[str, Any]:
    """Milliseconds that the pool adds to one request while it is idle: medians."""
    plain, there, back = _one_by_one(requests, cap=1)
    lingering, _, _ = _one_by_one(max(10, requests // 10), cap=8)
    return {
        "overhead_ms": round(plain, 3),
        "overhead_there_ms": round(there, 3),
        "overhead_back_ms": round(back, 3),
        "overhead_linger_ms": round(lingering, 1),
    }


def _one_by_one(requests: int, *, cap: int) -> tuple[float, float, float]:
    """Submit to the child's start, plus the child's end to the ack; then the two apart."""
    there, back = [], []
    with alone.Pool("_pool_product:make_void", devices=("cpu",)) as pool:
        _burst(pool, 0 if cap == 1 else 6)
        for n in range(requests + 1):
            acked: list[float] = []
            item = work.Item(key=str(n), name="void", bucket="void", cap=cap, data={})
            began = time.monotonic()
            future = pool.submit(item)
            future.add_done_callback(lambda _, acked=acked: acked.append(time.monotonic()))
            value = future.result().value
            while not acked:  # a waiter may be woken before the callbacks are called
                time.sleep(0.0005)
            if n:  # the first one waited for the child to start
                there.append(1000 * (value["began"] - began))
                back.append(1000 * (acked[0] - value["ended"]))
            time.sleep(0.005)  # let it come to rest
    both = [first + second for first, second in zip(there, back, strict=True)]
    return statistics.median(both), statistics.median(there), statistics.median(back)


def _burst(pool: alone.Pool, times: int) -> None:
    """Let it measure that batches pay, so that from then on a lone request waits for company."""
    for burst in range(times):
        sent = [
            pool.submit(work.Item(key=f"{burst}-{n}", name="void", bucket="void", cap=8, data={}))
            for n in range(16)
        ]
        futures.wait(sent)


def cache_rates(folder: pathlib.Path, *, quick: bool) -> dict[str, Any]:
    """Hits of the feature cache over a novel's episodes, and after a restart."""
    if importlib.util.find_spec("novel_cache") is None:
        return {"hit_rate": None, "disk_hit_rate": None}
    folder.mkdir(parents=True, exist_ok=True)
    novel_cache = importlib.import_module("novel_cache")
    found = novel_cache.measure(folder, 6, since=3) if quick else novel_cache.measure(folder)
    return {
        "hit_rate": round(found.hit_rate, 4),
        "disk_hit_rate": round(found.disk_hit_rate, 4),
    }


def main(argv: list[str]) -> int:
    """Print a table; with --json also one object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a smoke run: no figures to publish")
    parser.add_argument(
        "--speed", type=float, help="simulated seconds in one of the wall's; published: 20"
    )
    asked = parser.parse_args(argv)
    speed = asked.speed or (400.0 if asked.quick else SPEED)
    with tempfile.TemporaryDirectory(
        prefix="bench-pool-", dir=os.environ.get("MANGEN_HOME")
    ) as name:
        found = measure(pathlib.Path(name), speed=speed, quick=asked.quick)
    for key, value in found.items():
        print(f"{key:>20}  {'-' if value is None else value}")
    if asked.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
