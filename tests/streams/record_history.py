"""Record what happens to jobs in real runs, for tests/ledger/test_replay.py to replay.

Run by hand, from the checkout's root, in its own environment (about two minutes):

    .venv/bin/python tests/streams/record_history.py [NAME...]

Each run is a deployment of its own with real workers, as the e2e tests make them, and leaves
NAME.jsonl.gz here. They are recorded anew when the ledger's events change their meaning.
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from mangen import control, histories  # noqa: E402 - the checkout's own, found by the line above
from tests.e2e import conftest  # noqa: E402 - see above


def calm(deployment):
    """Nothing happens but the work."""
    deployment.start_worker()
    deployment.wait(deployment.project())


def killed(deployment):
    """Children and workers are killed while it works; what was lost goes on elsewhere."""
    first = deployment.start_worker("one")
    deployment.start_worker("two")
    number = deployment.project()
    deployment.until(lambda: deployment.running(number), what="the middle of the run")
    for pid in deployment.children(first)[:1]:
        os.kill(pid, signal.SIGKILL)
    time.sleep(1.0)
    deployment.until(
        lambda: deployment.query("select 1 from jobs where state = 'running'"), what="more work"
    )
    os.killpg(first.pid, signal.SIGKILL)
    deployment.wait(number)


def steered(deployment):
    """A person pauses, cancels, retries and retakes while it works."""
    deployment.start_worker()
    number = deployment.project()
    deployment.until(lambda: deployment.running(number), what="the middle of the run")
    control.pause(number)
    time.sleep(1.0)
    control.resume(number)
    control.cancel(f"{number}/e1/s2")
    time.sleep(0.5)
    control.retry(f"{number}/e1")
    deployment.wait(number)
    control.retake(f"{number}/e1/s1", new_seed=True)
    deployment.wait(number)


RUNS = {run.__name__: run for run in (calm, killed, steered)}


def main(names):
    for name in names or RUNS:
        with conftest.deployed() as deployment:
            RUNS[name](deployment)
            out = pathlib.Path(__file__).with_name(f"{name}.jsonl.gz")
            print(name, histories.export(out), out.stat().st_size, "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
