"""Histories replay through the table of transitions, and what never happened is found."""

import datetime as dt
import gzip
import json
import pathlib

import pytest

from mangen import errors, histories
from mangen.ledger import jobs, replay

STREAMS = sorted((pathlib.Path(__file__).parents[1] / "streams").glob("*.jsonl.gz"))


def event(number, query, frm, to, attempt=0, **more):
    return {
        "kind": "event", "id": number, "job": 1, "attempt": attempt, "query": query,
        "from": frm, "to": to, **more,
    }  # fmt: skip


LIFE = [
    event(1, "insert_jobs", None, "blocked"),
    event(2, "ready_jobs", "blocked", "ready"),
    event(3, "publish_jobs", "ready", "published"),
    event(4, "claim_jobs", "published", "running", 1),
    event(5, "fail_job", "running", "ready", 1),
    event(6, "claim_jobs", "ready", "running", 2),
    event(7, "finish_job", "running", "done", 2),
]


def job(state, number=1):
    return {"kind": "job", "id": number, "state": state}


def faults(*records, since=None):
    return [str(one) for one in replay.replay([{"kind": "history", "since": since}, *records])]


def changed(number, **more):
    return [{**one, **more} if one["id"] == number else one for one in LIFE]


def test_a_whole_life_replays():
    assert (
        faults(
            job("done"), *LIFE, job("blocked", 2), event(9, "insert_jobs", None, "blocked", job=2)
        )
        == []
    )


def test_a_life_whose_history_was_pruned_replays():
    anew = event(11, "revive_jobs", "failed", "blocked", 3, job=2)
    assert faults(job("done"), job("blocked", 2), anew, job("skipped", 3)) == []
    assert faults(job("ready", 4)) == ["job 4: it has a row and no events"]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (changed(3, to="running"), "publish_jobs never leads from ready to running"),
        (changed(3, query="bless_jobs"), "there is no transition bless_jobs"),
        (changed(6, attempt=1), "it is of attempt 1, not of attempt 2"),
        (changed(5, id=3), "it comes after event 4"),
        (LIFE[1:], "it leaves blocked, but the job was not there"),
        ([*LIFE, event(8, "claim_jobs", "ready", "running", 3)], "the job was done"),
        ([*LIFE[:3], *LIFE[4:]], "event 5 of job 1: it leaves running, but the job was published"),
        (LIFE[:-1], "its row says done, its last event running"),
    ],
)  # fmt: skip
def test_what_never_happened_is_found(records, said):
    found = faults(job("done"), *records)
    assert any(said in one for one in found), found


def test_two_neighbours_that_changed_places_are_found():
    swapped = [*LIFE[:2], LIFE[3], LIFE[2], *LIFE[4:]]
    assert faults(job("done"), *swapped) != []


def test_a_part_of_a_history_is_taken_at_its_word():
    assert faults(job("done"), *LIFE[4:], job("ready", 2), since="2026-01-01") == []
    assert faults(job("done"), *changed(6, to="done")[4:], since="2026-01-01") != []


def test_the_ledger_writes_down_what_happened_and_it_replays(desk, wanted):
    made = desk.want(*[wanted("anchor", f"c/{n}") for n in range(700)])
    desk.want(wanted("animate", "e1/s1", ("anchor", "c/0")))
    [fence] = desk.run(made[0])
    desk.book.fail(fence, "transient", "again")
    desk.due(made[0])
    desk.settle(made[1], "cancelled")
    with desk.book.transaction() as conn:
        desk.book.note_act(conn, "pause", project=desk.project, by="me")
        other = desk.book.insert_project(conn, title="other")
        desk.book.insert_jobs(conn, other, [wanted("anchor", "c/x")], by="test")
    records = json.loads(json.dumps(list(desk.book.history([desk.project]))))
    assert list(replay.replay(records)) == []
    kinds = [one["kind"] for one in records]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "history": 1, "project": 1, "job": 701, "attempt": 2, "act": 1,
        "event": 701 + 700 + 2 + 2,
    }  # fmt: skip
    assert [one["id"] for one in records if one["kind"] == "job"] == [*sorted(made), 701]
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    assert [one["kind"] for one in desk.book.history(since=later)] == [
        "history",
        "project",
        "project",
    ]


def test_the_times_an_attempt_waited_are_told(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(a)
    desk.finish(fence)
    with desk.book.transaction() as conn:
        [one] = desk.book.trace_jobs(conn, [a]).values()
    [attempt] = one.attempts
    assert set(attempt["waits"]) == {"blocked", "ready", "published", "running"}
    assert attempt["waits"]["published"] == 0
    assert attempt["waits"]["running"] > 0
    assert attempt["worker"] == "w"


def test_a_trace_goes_back_through_all_needs_and_names_earlier_takes(desk, wanted):
    anchor, panel = desk.want(
        wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a"))
    )
    (film,) = desk.want(wanted("assemble", "e1", ("illustrate", "e1/s1")))
    [again] = desk.want(wanted("illustrate", "e1/s1", ("anchor", "c/a"), key="k2"))
    desk.want(wanted("assemble", "e1", ("illustrate", "e1/s1"), key="k2"))
    [fence] = desk.run(anchor)
    with desk.book.finishing(fence) as conn:
        desk.book.add_artifacts(
            conn, fence, [jobs.Artifact(kind="features", path="1/a.json", sha256="ab")]
        )
    with desk.book.transaction() as conn:
        found = desk.book.trace_jobs(conn, [film + 2])
        assert [row["job"] for row in desk.book.trace_file(conn, path=None, sha256="ab")] == [
            anchor
        ]
        assert desk.book.trace_file(conn, path="none", sha256=None) == []
    assert sorted(found) == [anchor, again, film + 2]
    assert found[again].earlier == [panel]
    assert found[film + 2].needs == [again]
    assert found[anchor].artifacts[0]["path"] == "1/a.json"


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name.split(".")[0])
def test_a_recorded_stream_replays(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    one = replay.Replay()
    assert [str(fault) for record in records for fault in one.feed(record)] == []
    assert list(one.close()) == []
    assert one.events > 50
    flipped = next(n for n, r in enumerate(records) if r.get("query") == "finish_job")
    records[flipped] = {**records[flipped], "to": "ready"}
    assert list(replay.replay(records)) != []


def test_an_empty_file_is_no_history(tmp_path):
    file = tmp_path / "history.jsonl"
    file.touch()
    with pytest.raises(errors.UsageError, match="is empty"):
        histories.replay(file)
