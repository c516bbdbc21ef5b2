"""A short run of the chaos suite: each kind of act once, with a seed that stays."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost_and_nothing_done_twice_whatever_dies(tmp_path):
    done = subprocess.run(
        [
            sys.executable, HERE / "chaos.py", "--json", "--seed=5", "--minutes=0.2",
            "--projects=4", "--pause", "0.1", "0.7",
        ],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["violations"] == [], (found, done.stderr[-3000:])
    assert done.returncode == 0
    assert found["ok"]
    assert found["finished"] + found["failed"] == found["projects"] >= 4
    assert found["kills"] >= 6
    assert all(found["acts"].get(act) for act in (
        "kill_child", "kill_worker", "freeze_worker", "freeze_parent", "freeze_child",
        "kill_broker", "wipe_broker", "lose_messages", "kill_postgres", "kill_keeper",
        "duplicate", "pause", "cancel", "retake", "rescue",
    )), found["acts"]  # fmt: skip
