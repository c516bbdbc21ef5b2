"""A trace in a line a part: as `mangen.trace` answers, docs/tracing.md."""

from __future__ import annotations

import pytest
from rich import console

from mangen.cli import parts


@pytest.fixture
def attempt():
    def make(outcome="done", **more):
        return {
            "attempt": 1, "outcome": outcome, "owner": "w1/0/1", "worker": "w1", "device": "cpu",
            "session": None, "started_at": "2026-03-01T00:00:00+00:00",
            "ended_at": None if outcome is None else "2026-03-01T00:00:02.500000+00:00",
            "engine": "animatic", "model": "animatic", "cache": None, "made": {}, **more,
        }  # fmt: skip

    return make


@pytest.fixture
def job(attempt):
    def make(stage, subject, *attempts, state="done", **more):
        return {
            "id": 1, "stage": stage, "subject": subject, "state": state, "error": None,
            "earlier": [], "artifacts": [], "attempts": list(attempts or [attempt()]), **more,
        }  # fmt: skip

    return make


def told(*jobs):
    screen = console.Console(width=160, color_system=None)
    with screen.capture() as found:
        screen.print(parts.lines({"jobs": jobs}))
    return [" ".join(line.split()) for line in found.get().splitlines()]


def test_a_shot_is_one_line_whatever_made_it_and_shots_stand_in_their_order(job):
    jobs = [
        job("assemble", "e1"), job("animate", "e1/s10"), job("animate", "e1/s2"),
        job("illustrate", "e1/s2"), job("voice", "e1/s2/l1"), job("anchor", "c/林晓"),
    ]  # fmt: skip
    found = parts.parts({"jobs": jobs})
    assert [(one.name, one.jobs) for one in found] == [
        ("c/林晓", 1), ("e1/s2", 3), ("e1/s10", 1), ("e1", 1),
    ]  # fmt: skip
    assert found[1].seconds == 7.5
    assert told(*jobs)[2] == "e1/s2 done 3 7.5 s w1 cpu animatic"


def test_what_did_not_go_well_is_told(job, attempt):
    bad = job(
        "animate", "e1/s1", attempt("lost"), attempt("permanent", worker="w2", device="h200"),
        state="failed", error="no room\nand more", earlier=[7, 8],
    )  # fmt: skip
    [one] = parts.parts({"jobs": [job("illustrate", "e1/s1"), bad]})
    assert (one.state, one.attempts, one.ends) == ("failed", 3, {"lost": 1, "permanent": 1})
    [_, line] = told(job("illustrate", "e1/s1"), bad)
    assert line == (
        "e1/s1 failed 3 (1 lost, 1 permanent) 7.5 s w1 cpu, w2 h200 animatic "
        "animate: no room; take 3"
    )


def test_what_runs_and_what_waits_is_told(job, attempt):
    running = job("animate", "e1/s1", attempt(None), state="running")
    waiting = {**job("illustrate", "e1/s2", state="ready"), "attempts": []}
    assert told(running, waiting)[1:] == [
        "e1/s1 running 1 (1 running) 0.0 s w1 cpu animatic", "e1/s2 ready 0",
    ]  # fmt: skip


def test_a_session_s_lookups_count_once_a_part(job, attempt):
    cache = {"hits": 3, "misses": 1}
    one = attempt(session="a", cache=cache)
    jobs = [
        job("illustrate", "e1/s1", one), job("upscale", "e1/s1", one),
        job("voice", "e1/s1/l1", attempt(made={"cached": True}, model="tone")),
    ]  # fmt: skip
    assert told(*jobs)[1] == "e1/s1 done 3 7.5 s w1 cpu animatic, tone 3 of 4, 1 voice"


def test_how_well_models_drew_it_is_told_of_the_last_attempt(job, attempt):
    def artifact(number, **meta):
        return {"attempt": number, "meta": meta}

    again = [attempt("lost"), attempt(attempt=2)]
    panel = job(
        "illustrate", "e1/s1", *again,
        artifacts=[artifact(1, quality="final"), artifact(2, quality="preview", notes={})],
    )  # fmt: skip
    clip = job("animate", "e1/s1", artifacts=[artifact(1, seconds=2.0)])
    assert told(panel, clip)[1].endswith("animatic quality preview")
    left = artifact(2, quality="preview", notes={"untranslated": ["灯笼"]})
    assert told({**panel, "artifacts": [left]})[1].endswith(
        "quality preview; not all of its prompt was told"
    )
