"""Looking back at the undisturbed run: its trace, its history, what was learned and foretold."""

from __future__ import annotations

import json

import pytest

import mangen
from mangen import api, errors, histories, insight
from mangen.cli import main


@pytest.fixture
def traced(undisturbed):
    """The trace of the finished video, with what the parent sends after the finish."""
    undisturbed.until(
        lambda: not undisturbed.query("select 1 from attempts where not meta ? 'device_seconds'"),
        what="what was seen of the attempts",
    )
    return insight.trace(f"{undisturbed.number}/e1")


def test_a_finished_video_leads_to_every_attempt_behind_it(undisturbed, traced):
    jobs = {job["id"]: job for job in traced["jobs"]}
    made = undisturbed.query("select id from jobs where stage <> 'storyboard'")
    assert set(jobs) == {row.id for row in made}
    [root] = traced["roots"]
    assert jobs[root]["stage"] == "assemble"
    assert traced["video"]["current"]
    assert traced["video"]["replaced"] == []
    assert {need for job in jobs.values() for need in job["needs"]} <= set(jobs)
    for job in jobs.values():
        [attempt] = job["attempts"]
        assert attempt["outcome"] == "done"
        assert attempt["key"] == job["key"]
        assert attempt["mangen"] == mangen.__version__
        assert attempt["device"] == "cpu"
        assert attempt["worker"].startswith("one@")
        assert attempt["session"]
        assert attempt["peak"] >= 0
        assert attempt["device_seconds"] >= 0
        assert set(attempt["waits"]) == {"blocked", "ready", "published", "running"}
        assert all(len(file["sha256"]) == 64 for file in job["artifacts"])
        if job["stage"] in ("anchor", "illustrate", "animate"):
            assert (attempt["engine"], attempt["model"]) == ("animatic", "animatic")
            assert attempt["engine_version"]
            assert attempt["model_version"]
        if job["stage"] in ("illustrate", "animate"):
            assert attempt["seed"] == job["seed"]
            assert isinstance(attempt["seed"], int)
    assert traced["totals"]["attempts"] == {"done": len(jobs)}


def test_any_file_leads_back(undisturbed, traced, tmp_path):
    [made] = api.export_project(undisturbed.number, tmp_path)
    found = insight.trace(made["video"])
    assert (found["roots"], found["video"]) == (traced["roots"], traced["video"])
    panel = next(job for job in traced["jobs"] if job["stage"] == "illustrate")
    stored = undisturbed.settings.artifact_root / panel["artifacts"][0]["path"]
    found = insight.trace(stored)
    assert found["roots"] == [panel["id"]]
    assert {job["stage"] for job in found["jobs"]} <= {"illustrate", "anchor"}
    stranger = tmp_path / "other.mp4"
    stranger.write_bytes(b"other")
    with pytest.raises(errors.UsageError, match="bytes are unknown"):
        insight.trace(stranger)


def test_a_shot_and_a_job_lead_back_and_wrong_words_are_explained(undisturbed, traced):
    number = undisturbed.number
    shot = insight.trace(f"{number}/e1/s2")
    assert {job["stage"] for job in shot["jobs"]} >= {"illustrate", "animate"}
    assert "assemble" not in {job["stage"] for job in shot["jobs"]}
    job = traced["jobs"][0]["id"]
    assert insight.trace(f"job/{job}")["roots"] == [job]
    assert insight.trace(str(number))["roots"] == traced["roots"]
    for words, said in [
        (f"{number}/e9", "no episode 9"),
        ("job/4711", "no job 4711"),
        ("4711", "no project 4711"),
        ("nonsense", "neither a file nor a scope"),
    ]:
        with pytest.raises(errors.MangenError, match=said):
            insight.trace(words)


def test_the_command_prints_a_line_a_shot_a_tree_and_json(undisturbed, traced, capfd):
    assert main.main(["trace", f"{undisturbed.number}/e1"]) == 0
    out = capfd.readouterr().out
    named = [line.split()[0] for line in out.splitlines() if " done " in line]
    shots = {job["subject"].rpartition("/l")[0] or job["subject"] for job in traced["jobs"]}
    assert sorted(named) == sorted(shots)
    assert "attempt 1" not in out
    assert main.main(["trace", f"{undisturbed.number}/e1/s2"]) == 0
    assert "attempt 1: done on cpu" in capfd.readouterr().out
    assert main.main(["trace", f"{undisturbed.number}/e1", "--full"]) == 0
    out = capfd.readouterr().out
    for word in (
        "assemble e1",
        "illustrate e1/s2",
        "animatic",
        "attempt 1: done on cpu",
        "(above)",
    ):
        assert word in out
    assert main.main(["trace", f"{undisturbed.number}/e1", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["roots"] == traced["roots"]


def test_its_history_replays(undisturbed, tmp_path, capfd):
    out = tmp_path / "all.jsonl.gz"
    assert main.main(["history", "export", str(undisturbed.number), "--out", str(out)]) == 0
    assert main.main(["history", "replay", str(out)]) == 0
    assert "all of it is legal" in capfd.readouterr().out
    plain = tmp_path / "all.jsonl"
    counts = histories.export(plain)
    jobs = undisturbed.query("select count(*) as n from jobs")[0].n
    assert counts["job"] == jobs
    assert counts["attempt"] >= jobs
    lines = plain.read_text("utf-8").splitlines()
    plain.write_text("\n".join(lines).replace('"finish_job"', '"fail_job"', 1) + "\n", "utf-8")
    assert main.main(["history", "replay", str(plain)]) == 1
    assert "fail_job never leads from running to done" in capfd.readouterr().out
    broken = tmp_path / "broken.jsonl"
    broken.write_text(lines[0] + "\n{oh\n", "utf-8")
    assert main.main(["history", "replay", str(broken)]) == 2
    assert "line 2" in capfd.readouterr().err
    assert main.main(["history", "export", "4711", "--out", str(tmp_path / "none")]) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "all.jsonl", "all.jsonl.gz", "broken.jsonl",
    ]  # fmt: skip


def test_what_it_took_was_learned_and_nothing_is_left(undisturbed):
    learned = undisturbed.query("select stage, device, samples, typical from durations")
    assert {row.stage for row in learned} >= {
        "voice",
        "anchor",
        "illustrate",
        "animate",
        "assemble",
    }
    assert all(row.device == "cpu" and row.samples > 0 for row in learned)
    [status] = api.all_status([undisturbed.number])
    assert (status["eta"], status["eta_why"]) == (None, "")

    assert undisturbed.query("select 1 from backlogs"), "nobody looked at what is left"
    found = mangen.backlog()
    assert found["devices"] == 0
    assert (found["seconds"], found["blocked_seconds"]) == (0, 0)
    assert found["queues"]["cpu"] == {
        "devices": 0, "seconds": 0, "blocked_seconds": 0, "seconds_per_device": None,
        "jobs": {"running": 0, "published": 0, "ready": 0, "blocked": 0},
        "classes": {"high": 0, "mid": 0, "low": 0},
    }  # fmt: skip
