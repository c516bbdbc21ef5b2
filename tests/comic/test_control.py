"""Steering a project on a real ledger: each act one transaction, idempotent, and kept."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.comic import boards, content, control, progress, retake, tables
from mangen.dispatch import purge
from mangen.ledger import scope


def status(studio):
    with studio.book.transaction() as conn:
        return progress.status(conn, [studio.project], studio.store)[0]


def held(studio):
    return {(row.stage, row.subject) for row in studio.rows() if row.held}


def test_a_paused_project_begins_nothing_and_goes_on(studio):
    studio.planned()
    assert studio.do(control.pause).changed
    assert not studio.do(control.pause).changed
    with pytest.raises(AssertionError):
        claims(studio)
    assert status(studio)["state"] == "paused"
    assert studio.do(control.resume).detail == {"still": []}
    studio.work()
    assert status(studio)["state"] == "done"
    assert studio.acts() == ["submit", "pause", "resume"]


def claims(studio):
    studio.advance()
    ready = [row.id for row in studio.rows() if row.state == "ready"]
    refused = studio.book.claim(ready, studio.owner).refused
    assert ready
    assert not refused


def test_a_paused_part_holds_what_is_there_and_what_comes(studio):
    studio.planned()
    studio.do(control.pause, "e1/s3")
    assert {subject for _, subject in held(studio)} >= {"e1/s3"}
    assert all(subject.startswith("e1/s3") for _, subject in held(studio))
    studio.editor.edit(
        studio.project,
        retake.plan([studio.scope("e1/s3")], retake.Wishes()),
        verb="retake",
        by="li",
    )
    assert ("illustrate", "e1/s3") in held(studio), "a new take is held as well"
    found = status(studio)
    assert (found["state"], found["held"]) == ("working", ["e1/s3"])
    studio.do(control.pause, "e1")
    assert status(studio)["episodes"][0]["state"] == "paused"
    answer = studio.do(control.resume, "e1")
    assert answer.detail == {"still": [f"{studio.project}/e1/s3"]}
    assert all(subject.startswith("e1/s3") for _, subject in held(studio))
    job = studio.job("illustrate", "e1/s3").id
    studio.do(control.pause, f"job/{job}")
    studio.do(control.resume, "e1/s3")
    assert held(studio) == {("illustrate", "e1/s3")}
    studio.do(control.resume, f"job/{job}")
    assert held(studio) == set()


def test_all_projects_pause_and_go_on_but_those_paused_by_themselves(studio):
    studio.make()
    first = studio.project
    studio.make()
    studio.do(control.pause)
    everything = scope.parse("all")
    assert control.pause(studio.book, everything, by="li").detail == {
        "projects": [first, studio.project]
    }
    assert studio.book.project(first).paused
    answer = control.resume(studio.book, everything, by="li")
    assert answer.detail["still"] == [str(studio.project)]
    assert not studio.book.project(first).paused
    assert studio.book.project(studio.project).paused
    with pytest.raises(errors.UsageError, match="cancel takes no `all`"):
        control.cancel(studio.book, everything, by="li")


def test_a_cancelled_project_ends_and_comes_back_when_asked(studio):
    studio.planned()
    [fence, *_] = studio.claim()
    answer = studio.do(control.cancel)
    assert answer.detail["stopping"] >= 1
    assert not studio.do(control.cancel).changed
    for running in studio.sql("select id, attempt from jobs where state = 'running'"):
        row = studio.row(running.id)
        with pytest.raises(errors.Stopped):
            studio.finish(type(fence)(job=row.id, attempt=row.attempt, owner=row.owner), row)
    assert set(studio.states().values()) <= {"done", "cancelled"}
    found = status(studio)
    assert (found["state"], found["episodes"][0]["state"]) == ("cancelled", "cancelled")
    assert studio.submit().new_jobs
    studio.work()
    assert status(studio)["state"] == "done"


def test_a_cancelled_shot_leaves_its_episode_and_what_only_it_needs_goes(studio):
    studio.planned()
    studio.do(control.cancel, "e1/s3")
    gone = {subject for (_, subject), state in studio.states().items() if state == "cancelled"}
    assert all(subject.startswith(("e1/s3", "c/")) for subject in gone)
    studio.work()
    assert studio.job("assemble", "e1").state == "done"
    before = studio.ids()
    answer = studio.do(control.retry, "e1/s3")
    assert answer.changed
    assert studio.changed_since(before) == {("assemble", "e1")}, "and is assembled again with it"
    assert status(studio)["episodes"][0]["next"] == "working"
    studio.work()
    assert set(studio.states().values()) == {"done"}
    assert not studio.do(control.retry).changed
    assert studio.submit().already


def test_what_failed_is_tried_again_with_what_waited_for_it(studio):
    studio.planned()
    studio.work(failing={("illustrate", "e1/s2"), ("assemble", "e1")})
    assert studio.states()["animate", "e1/s2"] == "skipped"
    assert status(studio)["state"] == "failed"
    answer = studio.do(control.retry, "e1/s2")
    assert answer.detail["jobs"] == 3, "the panel, the clip that was skipped, the episode"
    studio.work()
    assert set(studio.states().values()) == {"done"}


def test_what_was_asked_to_stop_goes_on_where_it_is_asked_back(studio):
    studio.planned()
    fences = studio.claim()
    studio.do(control.cancel)
    assert studio.do(control.retry).detail["jobs"] >= len(fences)
    for fence in fences:
        studio.finish(fence, studio.row(fence.job))
    studio.work()
    assert set(studio.states().values()) == {"done"}


def test_priority_moves_what_is_open(studio):
    studio.planned()
    homes = {row.id: (row.queue, row._mapping["class"]) for row in studio.rows()}
    high = control.Worth(klass="high", weight=2.0, budget=60.0)
    assert studio.do(control.set_priority, worth=high).changed
    assert not studio.do(control.set_priority, worth=high).changed
    kept = studio.book.project(studio.project)
    assert (kept.klass, kept.weight, kept.budget) == (0, 2.0, 60.0)
    assert {row._mapping["class"] for row in studio.rows() if row.state != "done"} == {0}
    studio.do(control.set_priority, worth=control.Worth(klass="mid", budget=-1.0))
    assert studio.book.project(studio.project).budget is None
    assert {row.id: (row.queue, row._mapping["class"]) for row in studio.rows()} == homes
    studio.do(control.set_priority, "e1/s3", worth=control.Worth(klass="low"))
    moved = {row.subject[:5] for row in studio.rows() if homes[row.id][1] != row._mapping["class"]}
    assert moved == {"e1/s3"}
    for worth in (control.Worth(), control.Worth(klass="top")):
        with pytest.raises(errors.UsageError):
            studio.do(control.set_priority, worth=worth)
    with pytest.raises(errors.UsageError, match="a whole project's"):
        studio.do(control.set_priority, "e1", worth=control.Worth(weight=2.0))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("e9", "has no episode 9: it has 1"),
        ("e1/s99", "has no shot 99: it has 1-"),
        ("job/4711", "there is no job 4711"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(studio, path, said):
    studio.planned()
    for act in (control.pause, control.resume, control.cancel, control.retry):
        with pytest.raises(errors.UsageError, match=said):
            studio.do(act, path)


def test_a_job_that_was_replaced_is_named_with_its_shot(studio):
    studio.planned()
    old = studio.job("illustrate", "e1/s3").id
    studio.editor.edit(
        studio.project,
        retake.plan([studio.scope("e1/s3")], retake.Wishes()),
        verb="retake",
        by="li",
    )
    with pytest.raises(
        errors.UsageError, match=rf"replaced by a newer one: name {studio.project}/e1/s3"
    ):
        studio.do(control.retry, f"job/{old}")


def test_a_purge_waits_for_what_runs_and_leaves_only_the_record(studio):
    studio.planned()
    studio.work(failing={("assemble", "e1")})
    studio.do(control.retry)
    studio.editor.edit(
        studio.project,
        retake.plan([studio.scope("e1/s3")], retake.Wishes()),
        verb="retake",
        by="li",
    )
    fences = studio.claim()
    assert studio.do(control.purge).detail["stopping"] == len(fences) > 0
    assert not studio.do(control.purge).changed
    left = purge.finish(studio.book, studio.store, studio.project)
    assert (left.running, left.jobs > 0) == (len(fences), True)
    assert status(studio)["state"] == "purging"
    with pytest.raises(errors.UsageError, match="being removed"):
        studio.do(control.pause)
    with pytest.raises(errors.UsageError, match="purging"):
        studio.submit()
    for fence in fences:
        studio.book.fail(fence, "transient", "stopped")
    stranger = studio.store.root / str(studio.project) / "99999-1.png"
    stranger.write_bytes(b"another ledger's")
    assert purge.finish_all(studio.book, studio.store) == 1
    assert list(studio.store.paths()) == [f"{studio.project}/99999-1.png"]
    assert purge.finish(studio.book, studio.store, studio.project).jobs == 0
    with studio.book.transaction() as conn:
        full = {
            table.name
            for table in tables.metadata.sorted_tables
            if conn.scalar(sa.select(sa.func.count()).select_from(table))
        }
    assert full <= {"acts", "owners", "lanes"}
    assert studio.acts()[-1] == "purge"
    assert not studio.do(control.purge).changed, "it was removed"
    with pytest.raises(errors.UnknownProject):
        studio.do(control.pause)


def test_parts_of_a_project_are_not_purged(studio):
    studio.planned()
    with pytest.raises(errors.UsageError, match="whole projects"):
        studio.do(control.purge, "e1")
    with studio.book.transaction() as conn:
        assert boards.token(conn, studio.project)
        assert content.source(conn, studio.project)
