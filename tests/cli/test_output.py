import io
import re

from rich import console

from mangen.cli import output

REPLACED = {"what": "shot e1/s2", "by": "a camera move on its panel", "why": "no room"}

STATUS = {
    "id": 3, "title": "故乡 [一]", "state": "degraded", "progress": 0.999,
    "stages": {"voice": {"done": 3, "running": 1}, "anchor": {"done": 2}, "encode": {"skipped": 1}},
    "episodes": [
        {"no": 1, "title": "", "state": "done", "video": "1/9-1.mp4", "replaced": [REPLACED]},
        {"no": 2, "title": "", "state": "working", "video": None, "replaced": []},
    ],
    "held": ["e2", "job/9"],
    "failures": [
        {"job": 7, "stage": "animate", "subject": "e1/s2", "kind": "permanent",
         "error": "no [room]", "attempt": 3}
    ],
    "waiting": [
        {"job": 8, "stage": "assemble", "subject": "e2", "error": "disk full", "until": "12:00"}
    ],
}  # fmt: skip


def shown(width=200, **changed):
    out = io.StringIO()
    console.Console(file=out, width=width).print(output.screen([{**STATUS, **changed}], width))
    return out.getvalue()


def test_a_status_shows_what_a_person_needs():
    text = shown()
    row = next(line for line in text.splitlines() if line.startswith("3"))
    assert re.split(r"\s{2,}", row.replace("━", "").replace("╸", "").strip())[:3] == [
        "3", "故乡 [一]", "degraded",
    ]  # fmt: skip
    assert "99 %" in row
    assert "1/2" in row
    assert "voice 3/4" in row
    assert "anchor" not in row
    assert "3: episode 1: 1/9-1.mp4" in text
    assert "replaced: shot e1/s2 by a camera move on its panel (no room)" in text
    assert "failed: animate e1/s2 (attempt 3): no [room]" in text
    assert "3: paused: 3/e2\n" in text.replace(" \n", "\n")
    assert "paused: job/9" in text
    assert "waits: assemble e2 until 12:00: disk full" in text


def test_a_narrow_terminal_sees_every_column_whole():
    stages = {"illustrate": {"done": 100, "ready": 2000}, "voice": {"done": 3, "running": 1}}
    text = shown(80, stages=stages, eta_why="nothing like it was made yet", id=12345)
    head, row, *_ = text.splitlines()
    assert head.split() == ["id", "title", "state", "made", "episodes", "ready", "failures"]
    assert [word in row for word in ("12345", "degraded", "99 %", "1/2", "nothing like it")]
    assert "…" not in text
    assert "12345: illustrate 100/2100, voice 3/4" in text
    long = shown(80, title="一个非常长的小说的名字，长得一行放不下" * 2, state="cancelled")
    assert "…" not in long
    assert all(word in long.splitlines()[1] for word in ("cancelled", "99 %", "1/2"))


def test_a_line_for_logs_is_plain():
    assert output.line(STATUS) == "project 3: degraded  99 %  voice 3/4"
