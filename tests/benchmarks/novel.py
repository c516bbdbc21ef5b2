"""A 1 MB novel: how long `submit` takes, and what its storyboard job costs.

Real servers and a real worker in the home that `bench` makes. Columns: submit_s (the call),
storyboard_s (claim to finish, with the insertion of all later jobs), peak_mb (the child's resident
memory at its highest), episodes, shots, jobs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import psutil
import sqlalchemy as sa

from mangen import api, services, settings, stack
from mangen.cli import crew

BYTES = 1_000_000
NAMES = ("林若雪", "陈默", "苏禾", "赵岩", "夜华", "黛玉", "阿岚", "闰土")
PLACES = ("街口", "河边", "院子里", "城楼上", "山路上", "客栈里", "教室里", "海边")
DEEDS = ("停下脚步", "看了很久", "叹了一口气", "推开了门", "把信收进袖子", "没有回头", "笑了笑")
SAYINGS = ("你来晚了", "这件事与你无关", "天亮之前必须走", "我等了你十年", "别说话，听", "原来是你")
SKIES = ("夜里下着雨", "雪落了一整夜", "太阳刚刚升起", "黄昏的风很大", "月亮挂在天上")


def novel(size: int) -> str:
    """Make a seeded novel of so many bytes of UTF-8, in chapters."""
    dice, parts, held = random.Random(1), [], 0
    while held < size:
        chapter = [f"第{len(parts) + 1}章 {dice.choice(PLACES)}"]
        for _ in range(60):
            who, other = dice.sample(NAMES, 2)
            chapter.append(
                f"{dice.choice(SKIES)}，{who}在{dice.choice(PLACES)}{dice.choice(DEEDS)}。"
            )
            if dice.random() < 0.5:
                chapter.append(f"“{dice.choice(SAYINGS)}。”{who}对{other}说。")
        parts.append("\n".join(chapter) + "\n")
        held += len(parts[-1].encode())
    return "".join(parts)


def measure(folder: pathlib.Path) -> dict[str, float]:
    """Run it once; answers the columns."""
    chosen = settings.load()
    path = folder / "novel.txt"
    path.write_text(novel(BYTES), "utf-8")
    with stack.join(chosen):
        number = api.create_project(path)
        began = time.monotonic()
        api.submit_novel(number)
        submitted = time.monotonic() - began
        log = (folder / "worker.log").open("wb")
        worker = subprocess.Popen(
            crew.worker_command(chosen, "bench"),
            env={**os.environ, "MANGEN_DEVICES": "cpu"},
            stdout=log,
            stderr=log,
        )
        try:
            row, peak = _watch(chosen, worker.pid, number)
        finally:
            worker.terminate()
            worker.wait()
            log.close()
    return {
        "submit_s": round(submitted, 2),
        "storyboard_s": round(float(row.seconds), 1),
        "peak_mb": round(peak / 1e6),
        "episodes": row.episodes,
        "shots": row.shots,
        "jobs": row.jobs,
    }


def _watch(chosen: settings.Settings, worker: int, number: int) -> tuple[sa.Row, int]:
    engine = sa.create_engine(services.read(chosen).database_url, poolclass=sa.NullPool)
    query = sa.text(
        """select extract(epoch from j.settled_at - j.running_at) as seconds, j.state, j.error,
             (select count(*) from episodes where project = :p) as episodes,
             (select count(*) from shots where project = :p) as shots,
             (select count(*) from jobs where project = :p) as jobs
           from jobs j where project = :p and stage = 'storyboard'"""
    )
    peak = 0
    while True:
        for child in psutil.Process(worker).children():
            try:
                peak = max(peak, _high_water(child.pid))
            except (OSError, TypeError):
                continue
        with engine.connect() as conn:
            row = conn.execute(query, {"p": number}).one()
        if row.state == "done":
            return row, peak
        if row.state == "failed":
            raise SystemExit(f"the storyboard failed: {row.error}")
        time.sleep(0.25)


def _high_water(pid: int) -> int:
    status = pathlib.Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024


def main(argv: list[str]) -> int:
    """Print a table, and with --json one object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    found = measure(settings.load().root)
    for name, value in found.items():
        print(f"{name:14} {value}")
    if asked.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
