"""The ledger: its cost beside raw SQL, in batches, in large tables, and beside procrastinate.

An embedded Postgres of its own, as the product configures it, fsync on. What is compared is done
by turns in the same run, and each ratio is the median of the turns; calls of a millisecond are
compared by their lower quartiles, as what else the machine does only ever adds.
docs/benchmarks.md says what each figure means. --quick takes seconds on small tables, and shows
only that it works.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the client processes are given this path, too

import _ledger_clients as clients  # noqa: E402 - found by the path above
import _ledger_fill as tables  # noqa: E402 - as above
import _ledger_growth as growth  # noqa: E402 - as above
import _ledger_peer as peer  # noqa: E402 - as above
import _ledger_server as server  # noqa: E402 - as above

KEYS = (
    "claim_finish_vs_raw", "batch_claim_gain", "growth_1m_vs_10k", "growth_1m_vs_10k_batch",
    "growth_pass_1m_vs_10k", "submit_1000_s", "status_10k_s", "vs_procrastinate",
)  # fmt: skip
"""The figures that have goals; what else is printed says how they came about."""
CLIENTS = 4
RAW = HERE / "_ledger_raw.sql"


def measure(*, quick: bool = False) -> dict[str, Any]:
    """Run all parts; answers the figures by name, one that can't be measured here as None."""
    began = time.monotonic()
    count = 2 if quick else CLIENTS
    with server.served() as served, clients.clients(count) as crowd:
        found = {
            **raw(served, crowd, turns=1 if quick else 9, each=20 if quick else 100),
            **grown(served, (40, 80) if quick else (100, 10_000), rounds=1 if quick else 12),
            **asked(served, submits=20 if quick else 1000, projects=100 if quick else 10_000),
            **beside(served, crowd, turns=1 if quick else 7, each=20 if quick else 100),
        }
    more = {**found, "clients": count, "wall_s": round(time.monotonic() - began, 1)}
    return {key: more[key] for key in [*KEYS, *(key for key in more if key not in KEYS)]}


def raw(served: server.Server, crowd: clients.Clients, *, turns: int, each: int) -> dict[str, Any]:
    """Claim and finish through the ledger, beside a hand-written script with the same writes."""
    url = served.database("raw")
    filled = 20 * turns if turns < 5 else 100
    tables.fill(url, filled)
    spread = filled // tables.OPEN_EACH
    rates: dict[str, list[float]] = {"raw": [], "raw_prepared": [], "claim_finish": []}
    for turn in range(turns):
        for name, mode in (("raw", "simple"), ("raw_prepared", "prepared")):
            ids = tables.publish(url, each * crowd.count, f"{name}{turn}", projects=spread)
            rates[name].append(
                served.pgbench(
                    url, RAW, "-M", mode, "-c", str(crowd.count), "-j", str(crowd.count),
                    "-t", str(each), "-D", f"first={ids[0]}", "-D", f"each={each}", "-D", "n=0",
                )
            )  # fmt: skip
        ids = tables.publish(url, each * crowd.count, f"own{turn}", projects=spread)
        shares = clients.dealt(ids, crowd.count)
        rates["claim_finish"].append(crowd.rate(clients.claim_finish, url, shares))
    own = rates["claim_finish"]
    return {
        "claim_finish_vs_raw": _ratio(own, rates["raw"]),
        "claim_finish_vs_raw_prepared": _ratio(own, rates["raw_prepared"]),
        **{f"{name}_per_s": round(statistics.median(all_)) for name, all_ in rates.items()},
    }


def grown(served: server.Server, projects: tuple[int, int], *, rounds: int) -> dict[str, Any]:
    """The same calls in a small table and in one of a hundred times its jobs."""
    began = time.monotonic()
    both = []
    for name, count in zip(("small", "large"), projects, strict=True):
        url = served.database(name)
        tables.fill(url, count)
        both.append(growth.Table(url, count))
    filled = time.monotonic() - began
    try:
        growth.measure(*both, rounds=rounds)
    finally:
        for table in both:
            table.close()
    before, after = (table.times for table in both)
    single, batch = _quartile(before.single), _quartile(before.batch)
    return {
        "batch_claim_gain": round(single / (batch / growth.BATCH), 2),
        "growth_1m_vs_10k": _growth(before.single, after.single),
        "growth_1m_vs_10k_batch": _growth(before.batch, after.batch),
        "growth_pass_1m_vs_10k": _growth(before.turn, after.turn),
        "claim_ms": round(single, 2),
        "claim_20_ms": round(batch, 2),
        "pass_ms": round(_quartile(before.turn), 2),
        "pass_publishes": statistics.median([*before.published, *after.published]),
        "pass_readies": statistics.median([*before.ready, *after.ready]),
        "round_10k_s": round(both[0].round_s, 2),
        "round_1m_s": round(both[1].round_s, 2),
        "jobs_small": tables.JOBS * projects[0],
        "jobs_large": tables.JOBS * projects[1],
        "fill_s": round(filled, 1),
    }


def asked(served: server.Server, *, submits: int, projects: int) -> dict[str, Any]:
    """What people wait for: many texts submitted, the status of many projects."""
    texts = _people(served, served.database("texts"), "submit", submits)
    many = served.database("many")
    tables.fill(many, projects, jobs=20, anchors=3)
    told = _people(served, many, "status", 3)
    if told["projects"] != projects:
        raise RuntimeError(f"status told of {told['projects']} projects, there are {projects}")
    return {
        "submit_1000_s": round(texts["seconds"], 2),
        "submit_1000_cpu_s": round(texts["cpu"], 2),
        "submit_mb": round(texts["mb"], 1),
        "submit_grown_mb": round(texts["grown_mb"], 1),
        "status_10k_s": round(told["seconds"], 3),
        "status_10k_cpu_s": round(told["cpu"], 3),
        "submits": submits,
        "status_projects": projects,
    }


def beside(
    served: server.Server, crowd: clients.Clients, *, turns: int, each: int
) -> dict[str, Any]:
    """Insert, claim and finish beside procrastinate's own SQL; None where it is not installed."""
    rates: dict[str, list[float]] = {"theirs": [], "ours": [], "singly": []}
    if not peer.there():
        return {"vs_procrastinate": None, "vs_procrastinate_singly": None}
    other, own = served.database("procrastinate", schema=False), served.database("peer")
    peer.prepare(other)
    for _ in range(turns):
        for name, work, url, share in (
            ("theirs", peer.theirs, other, each),
            ("ours", peer.ours, own, each),
            ("singly", peer.ours_singly, own, each),
        ):
            rates[name].append(crowd.rate(work, url, [share] * crowd.count))
    return {
        "vs_procrastinate": _ratio(rates["ours"], rates["theirs"]),
        "vs_procrastinate_singly": _ratio(rates["singly"], rates["theirs"]),
        "procrastinate_per_s": round(statistics.median(rates["theirs"])),
        "insert_claim_finish_per_s": round(statistics.median(rates["ours"])),
    }


def _people(served: server.Server, url: str, *words: object) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, str(HERE / "_ledger_api.py"), *map(str, words)],
        check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), **served.environment(url)},
        cwd=tempfile.gettempdir(),
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the turns' ratios."""
    return round(statistics.median(a / b for a, b in zip(ours, theirs, strict=True)), 3)


def _growth(before: list[float], after: list[float]) -> float:
    return round(_quartile(after) / _quartile(before), 3)


def _quartile(times: list[float]) -> float:
    return sorted(times)[len(times) // 4]


def main(argv: list[str]) -> int:
    """Print a table; with --json also one object as the last line."""
    parser = argparse.ArgumentParser(prog="bench ledger", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object as the last line")
    parser.add_argument("--quick", action="store_true", help="a smoke run: no figures to publish")
    wanted = parser.parse_args(argv)
    found = measure(quick=wanted.quick)
    for key, value in found.items():
        print(f"{key:>28}  {'-' if value is None else value}")
    if wanted.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
