"""What no row and no report may do: end the pass for all."""

from __future__ import annotations

import json
import math

import pytest

from mangen import errors
from mangen.dispatch import drain, rank
from mangen.ledger import hours, jobs, reports

RUBBISH = (
    {"window": 5}, {"window": [5, {"j": 1}, {"job": "x"}, {"job": 2**70}, {"job": None}]},
    {"window": {"job": 1}}, {"window": None}, {"room": "many"}, {"room": None},
    {"capacity": [1]}, {"capacity": -5}, {"capacity": 10**400, "room": 10**400},
    {"children": 5, "capacity": 1}, {"children": [{"tasks": "x", "busy": None}]},
    [1], "words", 5, None,
)  # fmt: skip


@pytest.fixture
def chief(book):
    """The pass of a leader with one worker that takes fifty jobs."""
    sent = []

    def send(ready, _titles):
        sent.extend(ready)
        return len(ready)

    made = drain.Pass(book, send, lease_s=30, lost_bell_s=5, weights=rank.Weights())

    def go():
        with book._engine.connect() as conn:
            return made.run(conn)

    return go


def test_no_report_ends_the_pass(desk, chief, wanted):
    desk.want(*(wanted("voice", f"e1/s1/l{n}") for n in range(3)))
    for report in RUBBISH:
        desk.sql("update owners set report = cast(:r as jsonb)", r=json.dumps(report))
        chief()
    assert chief().published == 0
    desk.book.beat([desk.owner], {"capacity": 50, "busy": math.nan, "said": "a\0\ud800b"})
    [row] = desk.sql("select report from owners")
    assert row["report"]["busy"] is None
    assert row["report"]["said"] == "a\ufffd\ufffdb"


def test_what_can_be_used_of_a_report_is(desk):
    good = {"room": 2, "capacity": 4, "window": [{"job": 7}, 5], "children": [{"tasks": 9}]}
    read = reports.read(good)
    assert read["room"] == 2
    assert read["capacity"] == 4
    assert read["window"] == [{"job": 7}]
    assert read["children"] == [{"tasks": 9}]


def test_no_row_ends_the_pass(desk, chief, wanted):
    blocked = (
        "update jobs set seconds_theory = 'NaN' where id = :job",
        "update jobs set peaks = '{-1073741824}' where id = :job",
        "update jobs set brings = 2147483647 where id = :job",
    )
    ready = (
        "update jobs set rank = 'NaN' where id = :job",
        "update jobs set seconds_est = 'NaN' where id = :job",
        "update jobs set seconds_est = 'Infinity' where id = :job",
        "update jobs set seconds_est = -5 where id = :job",
    )
    ids = desk.want(*(wanted("voice", f"e1/s{n}/l1") for n in range(7)))
    for job, change in zip(ids, blocked, strict=False):
        desk.sql(change, job=job)
    assert chief().ready == len(ids)
    for job, change in zip(reversed(ids), ready, strict=False):
        desk.sql(change, job=job)
    desk.sql("update projects set weight = 'NaN'")
    desk.book.beat([desk.owner], {"capacity": 50, "room": 50})
    assert sum(chief().published for _ in range(3)) > len(ids) / 2  # thirty years fill a window
    assert all(math.isfinite(row["served"]) for row in desk.sql("select served from shares"))


def test_what_is_wanted_lasts_a_number_of_seconds(desk, wanted):
    foretold = [math.nan, math.inf, -1.0, 1e300, 2.5]
    ids = desk.want(
        *(wanted("voice", f"e1/s{n}/l1", seconds_est=s) for n, s in enumerate(foretold))
    )
    found = [desk.row(job)["seconds_est"] for job in ids]
    assert found == [0.0, jobs.likely_s(math.inf), 0.0, jobs.likely_s(math.inf), 2.5]


@pytest.mark.parametrize("name", ["localtime", "posixrules", "right/UTC", "posix/UTC", "Factory"])
def test_what_only_looks_like_a_time_zone_is_refused(name):
    with pytest.raises(errors.SettingsError, match="no time zone"):
        hours.Hours.parse("", name)


@pytest.mark.parametrize("text", ["nan,1,1,1", "inf,1,1,1", "1,1,-1,1", "1e308,1,1,1"])
def test_rank_weights_are_numbers_one_can_reckon_with(text):
    with pytest.raises(errors.SettingsError, match="RANK_WEIGHTS"):
        rank.Weights.parse(text)


@pytest.mark.parametrize("weight", [math.nan, math.inf, 0.0, -1.0, 1e-9, 1e9])
def test_a_weight_leaves_the_others_their_seconds(desk, weight):
    with desk.book.transaction() as conn, pytest.raises(errors.UsageError, match="weight must be"):
        desk.book.set_weight(conn, desk.project, weight)


def test_a_giant_becomes_ready_in_pieces(desk, chief, wanted, monkeypatch):
    monkeypatch.setattr(drain, "_PIECE", 3)
    monkeypatch.setattr(drain, "_SLICE_S", 0.0)
    monkeypatch.setattr(drain, "_ROUND_S", 0.0)
    desk.want(*(wanted("voice", f"e1/s{n}/l1") for n in range(8)))
    passes = [chief() for _ in range(4)]
    assert [done.ready for done in passes] == [3, 3, 2, 0]
    assert [done.left for done in passes] == [1, 1, 0, 0]
