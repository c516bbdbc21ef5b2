"""Pause, resume, cancel, retake, purge while a real worker works, by what people call."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from mangen import api, control, errors

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = """夜里下着雨，陈默站在街口等人。
“你来晚了。”陈默说。
林晓收起伞，笑了笑：“路上堵车。”
"""
LONG = "夜里下着雨，他一个人站在街口，等了很久很久，谁也没有来，只有雨声。\n"


@pytest.fixture(scope="module")
def steered(deploy):
    """Yield a deployment with one worker, and at its end no invariant is broken."""
    with deploy() as one:
        one.start_worker()
        yield one
        assert one.violations() == []


def manage(deployment, *words):
    """Run a command as people do; answers its JSON."""
    done = subprocess.run(
        [sys.executable, ROOT / "manage.py", *map(str, words), "--json"],
        env={**os.environ, **deployment.environment, "MANGEN_ENV": "current"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def rows(deployment, number):
    return deployment.query(
        "select id, stage, subject, state from jobs where project = :p and not superseded"
        " order by id",
        p=number,
    )


def begun(deployment, number, *stages):
    """Wait until some job of these stages runs; answers it."""
    return deployment.until(
        lambda: next(
            (r for r in rows(deployment, number) if r.state == "running" and r.stage in stages),
            None,
        ),
        what=f"a running job of {stages}",
    )


def quiet(deployment, number):
    """Wait until nothing of a project runs or may be claimed any more."""
    deployment.until(
        lambda: {r.state for r in rows(deployment, number)}.isdisjoint({"published", "running"}),
        what="the end of what ran",
    )


def test_a_project_is_steered_while_it_is_made(steered):
    number = steered.project(TEXT)
    begun(steered, number, "voice", "anchor", "illustrate", "animate")
    assert manage(steered, "pause", number) == [{"scope": str(number), "changed": True}]
    quiet(steered, number)
    found = api.project_status(number)
    assert found["state"] == "paused"
    assert found["progress"] < 1

    shots = {r.subject for r in rows(steered, number) if r.stage == "animate"}
    open_now = [r for r in rows(steered, number) if r.stage == "animate" and r.state != "done"]
    lost = open_now[-1].subject
    kept = min(shots - {lost})
    assert control.cancel(f"{number}/{lost}")[0]["cancelled"] >= 1
    assert control.retake(f"{number}/{kept}", seed=7)[0]["new_jobs"] == 3
    assert control.resume(number)[0]["still"] == []
    found = steered.wait(number)
    assert found["state"] == "degraded"
    [one] = found["episodes"]
    assert [piece["why"] for piece in one["replaced"] if lost in piece["what"]] == [
        "it was cancelled"
    ] * sum(lost in piece["what"] for piece in one["replaced"])
    first = one["video"]

    # what was missing is made, the video anew; the old one stays meanwhile
    assert manage(steered, "retry", f"{number}/{lost}")[0]["changed"]
    assert api.project_status(number)["episodes"][0]["video"] == first
    found = steered.wait(number)
    assert (found["state"], found["episodes"][0]["replaced"]) == ("done", [])
    second = found["episodes"][0]["video"]
    assert pathlib.Path(second).stat().st_size > 0
    assert second != first

    # a retake of one shot: its panel, its clip and the video, nothing else
    before = {(r.stage, r.subject): r.id for r in rows(steered, number)}
    assert manage(steered, "retake", f"{number}/{kept}")[0]["new_jobs"] == 3
    found = steered.wait(number)
    assert found["state"] == "done"
    assert found["episodes"][0]["video"] != second
    after = {(r.stage, r.subject): r.id for r in rows(steered, number)}
    assert {where for where in after if before.get(where) != after[where]} == {
        ("illustrate", kept), ("animate", kept), ("assemble", "e1"),
    }  # fmt: skip
    verbs = [act["verb"] for act in reversed(control.acts(number))]
    assert verbs == ["submit", "pause", "cancel", "retake", "resume", "retry", "retake"]


def test_running_work_stops_when_it_is_cancelled_and_all_of_it_may_go(steered):
    path = steered.home / "long.txt"
    path.write_text(LONG, "utf-8")
    number = api.create_project(path, width=720, height=1280)
    api.submit_novel(number)
    job = begun(steered, number, "animate")
    answer = control.cancel(number)
    assert answer[0]["stopping"] >= 1
    quiet(steered, number)
    outcomes = steered.query("select outcome from attempts where job = :job", job=job.id)
    assert [row.outcome for row in outcomes] == ["cancelled"]
    found = api.project_status(number)
    assert (found["state"], found["episodes"][0]["state"]) == ("cancelled", "cancelled")

    api.submit_novel(number)  # and asked for again it goes on, and is purged in the middle
    begun(steered, number, "animate")
    [gone] = manage(steered, "purge", number, "--yes")
    assert (gone["changed"], gone["removed"]) == (True, True)
    with pytest.raises(errors.UnknownProject):
        api.project_status(number)
    assert not list((steered.settings.artifact_root / str(number)).glob("*"))


def test_a_storyboard_is_edited_between_the_plan_and_the_pictures(steered):
    path = steered.home / "plan.txt"
    path.write_text(TEXT, "utf-8")
    number = api.create_project(path, title="改")
    api.submit_novel(number, plan_only=True)
    assert steered.wait(number)["state"] == "planned"
    board = control.export_storyboard(number)
    shots = board["episodes"][0]["shots"]
    board["episodes"][0]["shots"] = shots[:2]
    board["episodes"][0]["shots"][1]["scene"]["place"] = "sea"
    file = steered.home / "board.json"
    file.write_text(json.dumps(board, ensure_ascii=False), "utf-8")
    [] = [r for r in rows(steered, number) if r.stage != "storyboard"]
    assert manage(steered, "storyboard", "import", number, file)["changed"]
    assert api.submit_novel(number)["new_jobs"] >= 4
    assert steered.wait(number)["state"] == "done"
    assert sum(r.stage == "animate" for r in rows(steered, number)) == 2
