"""The judge of the chaos runs: what it claims to see is planted in a real ledger, and seen."""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import shutil
import sys
import time
import uuid

import av
import numpy as np
import psycopg
import pytest
import sqlalchemy as sa

from mangen import control, storage
from mangen.comic import content
from mangen.ledger import jobs, ledger, migrate, queries
from tests.comic import studio

HERE = pathlib.Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # as `python chaos.py` finds them

import _judge  # noqa: E402 - found by the path above
import _voices  # noqa: E402 - as above
import chaos  # noqa: E402 - as above

LEASE_S = 0.02
SECONDS = 1
#: one job each, for `where`
PICKED = {
    "CLIP": "id = (select min(id) from jobs where stage = 'animate')",
    "VIDEO": "stage = 'assemble'",
    "BOARD": "stage = 'storyboard'",
}


class Maker(studio.Studio):
    """Does the work by hand; each job leaves a file, and an episode a video that plays."""

    def finish(self, fence, row):
        video = row.stage == "assemble"
        name = f"{fence.job}-{fence.attempt}" + (".mp4" if video else ".bin")
        file = self.folder / name
        if video:
            play(file)
        else:
            file.write_bytes(f"{row.stage} {row.subject}".encode())
        stored = self.store.put(file, project=self.project, name=name)
        made = jobs.Artifact(
            kind="video" if video else row.stage, path=stored.path, sha256=stored.sha256
        )
        with self.book.finishing(fence) as conn:
            self.book.add_artifacts(conn, fence, [made])
            if video:
                content.finish_episode(
                    conn, self.project, row.episode, video=stored.path, seconds=SECONDS, replaced=[]
                )


def play(path):
    """Write a second of picture and sound."""
    with av.open(str(path), "w") as file:
        picture = file.add_stream("libx264", rate=24, width=64, height=64, pix_fmt="yuv420p")
        sound = file.add_stream("aac", rate=48_000, layout="mono")
        for _ in range(24 * SECONDS):
            frame = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")
            file.mux(picture.encode(frame))
        file.mux(picture.encode())
        silence = np.zeros((1, 48_000 * SECONDS), np.float32)
        frame = av.AudioFrame.from_ndarray(silence, format="fltp", layout="mono")
        frame.rate = 48_000
        file.mux(sound.encode(frame))
        file.mux(sound.encode())


class Scene:
    """A copy of a finished project, to break as one likes."""

    def __init__(self, url, home, number):
        self.home, self.number = home, number
        self.store = storage.Store(home / "artifacts")
        self._engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)

    def sql(self, *statements):
        """Run statements, in which CLIP and VIDEO stand for one job each."""
        with self._engine.connect() as conn:
            for words in statements:
                for name, job in PICKED.items():
                    words = words.replace(name, job)
                found = conn.execute(sa.text(words))
            return found.all() if found.returns_rows else []

    def path(self, job):
        """The file of a job: CLIP, VIDEO."""
        [row] = self.sql(
            f"select path from artifacts where job = (select id from jobs where {job})"  # noqa: S608 - one of ours
        )
        return self.store.locate(row.path)

    def verdict(self, retakes=None):
        return list(_judge.verdict([self.number], retakes or {}, LEASE_S))

    def names(self, **more):
        return {one.name for one in self.verdict(**more)}


@pytest.fixture(scope="module")
def finished(postgres_server, tmp_path_factory):
    """A database to copy, with one project all done, the home beside it, and their makers."""
    home, name = tmp_path_factory.mktemp("finished"), f"j{uuid.uuid4().hex[:12]}"
    with _administrator(postgres_server) as conn:
        conn.execute(f"create database {name}")
    url = f"postgresql+psycopg://postgres@/{name}?host={postgres_server}"
    migrate.upgrade(url)
    book = ledger.Ledger(url)
    maker = Maker(book, home)
    maker.planned()
    maker.work()
    book.release(maker.owner, reason="shutdown")
    book.close()
    time.sleep(3 * LEASE_S)  # attempts that just ended are given time
    return name, home, maker.project


@pytest.fixture
def scene(finished, postgres_server, tmp_path, monkeypatch):
    template, made, number = finished
    name, home = f"j{uuid.uuid4().hex[:12]}", tmp_path / "home"
    shutil.copytree(made, home)
    with _administrator(postgres_server) as conn:
        conn.execute(f"create database {name} template {template}")
    url = f"postgresql+psycopg://postgres@/{name}?host={postgres_server}"
    for variable, value in {
        "HOME": home, "DATABASE_URL": url, "BROKER_URL": "redis://127.0.0.1:1/0",
        "VOICE_ENGINE": "mangen.engines.voice.tone:Tone",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"MANGEN_{variable}", str(value))
    yield Scene(url, home, number)
    with _administrator(postgres_server) as conn:
        conn.execute(f"drop database {name} with (force)")


def _administrator(server):
    return psycopg.connect(host=str(server), user="postgres", dbname="postgres", autocommit=True)


def test_what_is_whole_is_judged_whole(scene):
    assert scene.verdict() == []
    assert _judge.owners() == []
    assert _judge.glance(LEASE_S) == []


LEASED = """
    update jobs set state = 'running', owner = 'ghost/0/1', settled_at = null, attempt = 2
    where CLIP
"""
ATTEMPT = """
    insert into attempts (job, attempt, owner, device, ended_at, outcome)
    select id, 2, 'ghost/0/1', 'cpu', %s from jobs where CLIP
"""
EVENT = """
    insert into events (job, attempt, query, "from", "to", owner)
    select id, 1, '%s', '%s', '%s', 'w/0/1' from jobs where CLIP
"""
FAILED = "update jobs set state = 'failed', error_kind = 'permanent', error = '{}'"
MANY = "alter table jobs drop constraint jobs_failures"

#: what is planted, as SQL -> what the judge must call it, and a piece of what it must say
FAULTS = {
    "a project is gone": (["truncate projects cascade"], "lost project", "no row any more"),
    "all its jobs are gone": (
        ["delete from episodes", "delete from jobs"], "not finished", "new",
    ),
    "a clip's job is gone": (["delete from jobs where CLIP"], "lost job", "animate"),
    "only its history is left": (["delete from jobs where CLIP"], "lost job", "no row"),
    "its episodes are gone": (["delete from episodes"], "not finished", "planned"),
    "its video is not named": (
        ["alter table episodes drop constraint episodes_video", "update episodes set video = null"],
        "unreadable video", "without one",
    ),
    "nobody planned it": (
        ["update jobs set stage = 'story' where BOARD"], "lost job", "none planned it",
    ),
    "a job finished twice": (
        [EVENT % ("finish_job", "running", "done")], "one_finish", "2 accepted",
    ),
    "two attempts were accepted": (
        [ATTEMPT % "clock_timestamp(), 'done'"], "attempts_fenced", "attempt 2 ended done",
    ),
    "an attempt never ended": (
        [ATTEMPT % "null, null"], "attempts_fenced", "attempt 2 of ghost/0/1 was never ended",
    ),
    "somebody else finished it": (
        ["update events set owner = 'thief/0/1' where query = 'finish_job'"], "attempts_fenced",
        "by thief/0/1, which w/0/1 had claimed",
    ),
    "done did not stay done": (
        [EVENT % ("revive_jobs", "done", "blocked")], "done_stays", "done, and then blocked",
    ),
    "an event is no legal move": (
        [EVENT % ("publish_jobs", "done", "ready")], "legal_events", "publish_jobs wrote done",
    ),
    "an event is missing": (
        ["delete from events where query = 'claim_jobs'"], "events_replay", "leaves running",
    ),
    "a clip came before what it needs": (
        ["""insert into job_dependencies select min(id), max(id), 'soft' from jobs where CLIP
         or VIDEO"""], "needs_settled", "claimed before",
    ),
    "a job failed too often": ([MANY, "update jobs set failures = 4"], "failures_bounded", "4"),
    "a job is still leased": ([LEASED], "left open", "is running"),
    "it is leased to nobody": ([LEASED], "running_owned", "never registered"),
    "what was replaced is still leased": (
        [LEASED, "update jobs set superseded = true where state = 'running'"], "left open", "runn",
    ),
    "a job waits for ever": (
        ["""update jobs set state = 'ready', settled_at = null, running_at = null,
         published_at = null where CLIP"""], "left open", "is ready",
    ),
    "a cancelled job was forgotten": (
        ["update jobs set state = 'cancelled' where CLIP"], "left cancelled", "animate",
    ),
    "a job was skipped for nothing": (
        ["""update jobs set state = 'skipped', ready_at = null, running_at = null,
         published_at = null where CLIP"""], "left skipped", "animate",
    ),
    "a job failed for nothing": (
        [FAILED.format("so") + " where CLIP"], "unearned failure", "permanent: so",
    ),
    "a video was degraded for nothing": (
        ["update episodes set state = 'degraded'"], "not finished", "degraded",
    ),
    "a pause was left": (
        ["insert into holds (project, scope) select id, 'e1' from projects"], "still paused", "e1",
    ),
    "a job was asked for by nobody": (
        ["update jobs set subject = 'e1/s77' where CLIP"], "unwanted job", "animate e1/s77",
    ),
    "a job is not what was asked for": (
        ["update jobs set key = 'other' where CLIP"], "stale job", "animate",
    ),
    "an older video is shown": (
        ["update episodes set video = (select min(id) from artifacts)"], "old video", "episode 1",
    ),
    "a video is not as long as it says": (
        ["update episodes set seconds = 7"], "unreadable video", "for 7",
    ),
    "an artifact lost its row": (
        ["delete from artifacts where job in (select id from jobs where CLIP)"],
        "files_accepted", "has a file and no row",
    ),
    "done, and nothing was made": (
        ["delete from artifacts where job in (select id from jobs where CLIP)"],
        "nothing made", "animate",
    ),
    "an artifact is of a refused attempt": (
        ["update attempts set outcome = 'lost' where job in (select id from jobs where CLIP)"],
        "artifacts_accepted", "ended lost",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(scene, fault):
    planted, name, said = FAULTS[fault]
    scene.sql(*planted)
    found = [one for one in scene.verdict() if one.name == name]
    assert found, f"not seen: {fault}"
    assert any(said in one.detail for one in found), found


def test_a_row_whose_file_is_gone_is_seen(scene):
    scene.path("CLIP").unlink()
    assert scene.names() == {"rows_stored"}


def test_a_file_of_nobody_is_seen(scene):
    (scene.store.root / str(scene.number) / "4711-1.png").write_bytes(b"whose?")
    assert [(one.name, one.detail) for one in scene.verdict()] == [
        ("stray file", f"{scene.number}/4711-1.png")
    ]


def test_a_file_with_other_bytes_is_seen(scene):
    scene.path("CLIP").write_bytes(b"half of i")
    assert scene.names() == {"damaged file"}


def test_a_video_that_breaks_off_is_seen(scene):
    path = scene.path("VIDEO")
    path.write_bytes(path.read_bytes()[:200])
    assert scene.names() == {"damaged file", "unreadable video"}


def test_a_storyboard_that_is_gone_ends_no_judgement(scene):
    scene.path("BOARD").unlink()
    assert scene.names() == {"rows_stored", "can't be judged"}


def test_a_retake_that_never_came_is_seen(scene):
    assert scene.names(retakes={(scene.number, "e1/s1"): 1}) == {"retake lost"}
    control.retake(f"{scene.number}/e1/s1")
    found = scene.names(retakes={(scene.number, "e1/s1"): 1})
    assert "retake lost" not in found
    assert "left open" in found, "its jobs are not done yet"


def test_a_retake_whose_jobs_are_gone_is_seen(scene):
    control.retake(f"{scene.number}/e1/s1")
    scene.sql(
        "delete from jobs where settled_at is null",
        "update jobs set superseded = false",
        "delete from events e where not exists (select 1 from jobs j where j.id = e.job)",
    )
    found = scene.names(retakes={(scene.number, "e1/s1"): 1})
    assert found == {"stale job"}


def test_what_failed_by_faults_that_were_meant_is_no_fault_of_the_ledger(scene):
    scene.sql(
        FAILED.format(_voices.MEANT) + " where CLIP",
        FAILED.format("too much replaced") + " where VIDEO",
        "update episodes set state = 'failed', video = null",
    )
    found = scene.names()
    assert not found & {"unearned failure", "not finished", "left failed"}, found


def test_an_owner_that_nobody_released_is_seen(scene):
    scene.sql("update owners set released_at = null, release_reason = null")
    assert [(one.name, one.detail) for one in _judge.owners()] == [("owner not released", "w/0/1")]


def test_a_glance_at_a_run_under_way_sees_faults_and_no_work(scene):
    scene.sql(
        LEASED,
        ATTEMPT % "null, null",
    )
    seen = {one.name for one in _judge.glance(LEASE_S)}
    assert "running_owned" not in seen
    assert {"done_stays", "attempts_fenced"} <= seen


class _Ground:
    """Workers of which one does not end."""

    def end(self):
        return ["w1"]


def test_a_run_with_a_fault_is_not_ok_and_names_it(scene):
    asked = argparse.Namespace(seed=1, minutes=0.1, json=True, lease=LEASE_S, projects=1)
    run = chaos.Run(asked, _Ground(), scene.home)
    run.acts.all.append(scene.number)
    scene.sql(EVENT % ("finish_job", "running", "done"))
    run.look(fill=False)
    run.judge()
    found = run.report(time.monotonic())
    run.log.close()
    assert not found["ok"]
    names = {one["name"] for one in found["violations"]}
    assert {"one_finish", "worker would not end"} <= names
    told = [json.loads(line) for line in (scene.home / "acts.jsonl").read_text().splitlines()]
    assert names == {one["name"] for one in told if one["act"] == "violation"}


def test_a_run_goes_on_beside_a_project_that_is_gone(scene):
    asked = argparse.Namespace(seed=1, minutes=0.1, json=True, lease=LEASE_S, projects=1)
    run = chaos.Run(asked, _Ground(), scene.home)
    run.acts.all += [4711, scene.number]
    run.look(fill=False)
    assert run.states == {scene.number: "done"}
    assert run.acts.end()
    run.judge()
    run.log.close()
    lost = [one for one in run.violations if one.name == "lost project"]
    assert [one.project for one in lost] == [4711]


def test_every_verdict_is_planted_here():
    here = pathlib.Path(__file__).read_text("utf-8")
    words = pathlib.Path(_judge.__file__).read_text("utf-8")
    names = set(re.findall(r'name="([^"]+)"', words)) | set(queries.INVARIANTS)
    assert [name for name in sorted(names) if f'"{name}"' not in here] == []
