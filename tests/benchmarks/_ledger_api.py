"""What people call, in a process of its own: `python _ledger_api.py submit 1000` or `status`.

The database, the home and the broker are the environment's. The last line is one JSON object.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
import tempfile
import time

import psutil

from mangen import api

_TEXT = (
    "林若雪推开门，看见陈默站在院子里。“你来晚了！”她说。雪落在他的肩上，他没有回答。"
    "远处的钟声响了第{n}下，他忽然笑了起来：“我走了整整三年，才走到这里。”"
)


def submit(count: int) -> dict[str, float]:
    """Make and submit so many promo texts, as `new` and `submit` do."""
    memory = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for n in range(count):
            text = "".join(_TEXT.replace("{n}", str(n * 10 + k)) for k in range(10))
            (folder / f"{n:04}.txt").write_text(text, "utf-8")
        with api.open_ledger():
            began, busy = time.perf_counter(), time.process_time()
            made = []
            for no, path in enumerate(api.find_texts([folder])):
                made.append(api.create_project(path))
                if no == count // 10:
                    memory.append(psutil.Process().memory_info().rss)
            for number in made:
                api.submit_novel(number)
            seconds, busy = time.perf_counter() - began, time.process_time() - busy
            memory.append(psutil.Process().memory_info().rss)
    grown = (memory[1] - memory[0]) / 1e6
    return {"seconds": seconds, "cpu": busy, "mb": memory[1] / 1e6, "grown_mb": grown}


def status(times: int) -> dict[str, float]:
    """Ask where all projects stand, as `status` does, opening the ledger each time."""
    seconds, busy = [], []
    for _ in range(times):
        began, used = time.perf_counter(), time.process_time()
        found = api.all_status()
        seconds.append(time.perf_counter() - began)
        busy.append(time.process_time() - used)
    return {
        "seconds": statistics.median(seconds),
        "cpu": statistics.median(busy),
        "projects": len(found),
    }


if __name__ == "__main__":
    what = {"submit": submit, "status": status}[sys.argv[1]]
    print(json.dumps(what(int(sys.argv[2]))))
