import threading

import pytest

from mangen.ledger import durations, jobs


def seen(seconds, planned=1.0, *, members=1, bucket="b", device="cpu", status="done", **more):
    meta = {"status": status, "planned": planned, **more}
    return jobs.Observation(
        kind="work", model="m", stage="animate", bucket=bucket, device=device,
        members=members, seconds=seconds, peak=7, meta=meta,
    )  # fmt: skip


def learned(book):
    with book.transaction() as conn:
        return {(one.bucket, one.device): one for one in book.durations(conn)}


def duration(factor, fresh=62, **more):
    names = {"stage": "animate", "bucket": "b", "model": "m", "device": "cpu"}
    seconds = dict.fromkeys(("low", "typical", "high", "mean"), factor)
    factors = {"factor_low": factor * 0.9, "factor": factor, "factor_high": factor * 1.1}
    return durations.Duration(**names | {"samples": fresh} | seconds | factors | more, fresh=fresh)


def test_durations_are_learned_of_one_item_as_observations_are_kept(book):
    book.observe([seen(float(n), planned=2.0) for n in range(1, 12)])
    book.observe([seen(30.0, members=3), seen(99.0, status="failed"), seen(1.0, bucket="other")])
    found = learned(book)
    one = found["b", "cpu"]
    assert (one.samples, one.fresh) == (12, 12)
    assert (one.low, one.typical, one.high) == pytest.approx((2.1, 6.5, 10.0))
    assert one.mean == pytest.approx((66 + 10) / 12)
    assert one.factor == pytest.approx((66 + 10) / (11 * 2 + 1))
    assert one.factor_high == pytest.approx(5.45)
    assert found["other", "cpu"].typical == 1.0
    assert len(book.observations()) == 14


def test_what_had_no_plan_teaches_seconds_but_no_factor(book):
    book.observe([seen(5.0, planned=None), seen(7.0, planned=0)])
    one = learned(book)["b", "cpu"]
    assert (one.typical, one.factor, one.fresh) == (6.0, 1.0, 0)


def test_old_samples_are_forgotten_and_pruned_observations_are_not_missed(book):
    for _ in range(3):
        book.observe([seen(100.0)] * 40)
    with book.transaction() as conn:
        conn.exec_driver_sql("delete from observations")
    book.observe([seen(1.0)] * durations.WINDOW)
    one = learned(book)["b", "cpu"]
    assert (one.samples, one.high, one.fresh) == (184, 1.0, durations.WINDOW)
    book.observe([seen(2.0)] * (3 * durations.WINDOW))
    assert learned(book)["b", "cpu"].low == 2.0


def test_many_workers_learn_at_once_and_no_sample_is_lost(book):
    def work(mine):
        for _ in range(5):
            book.observe([seen(1.0, bucket=b) for b in mine])

    threads = [threading.Thread(target=work, args=(mine,)) for mine in ("abcd", "dcba", "bdac")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {kind[0]: one.samples for kind, one in learned(book).items()} == dict.fromkeys(
        "abcd", 15
    )


def test_an_attempt_keeps_what_was_seen_of_it(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(a)
    desk.finish(fence)
    note = {"job": a, "attempt": 0, "owner": str(desk.owner), "loading": 1.5}
    stranger = {**note, "owner": "other/0/1"}
    desk.book.observe([seen(3.0, members=2, **note), seen(9.0, **stranger)])
    [row] = desk.sql("select peak, meta from attempts")
    assert row["peak"] == 7
    assert row["meta"] == {"device_seconds": 3.0, "loading_seconds": 1.5, "together": 2}


def test_what_becomes_ready_is_foretold_from_its_plan(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a", seconds_est=4.0))
    with desk.book.transaction() as conn:
        [found] = desk.book.find_ready(conn, desk.project)
        assert durations.Learned().seconds(found) == 4.0
        seconds = durations.Learned([duration(3.0, stage="anchor", bucket="anchor")]).seconds(found)
        desk.book.ready_jobs(conn, {a: 1.0}, seconds={a: seconds})
    row = desk.row(a)
    assert (row["seconds_theory"], row["seconds_est"]) == (4.0, pytest.approx(12.0, rel=0.01))


def test_a_factor_leans_on_what_is_alike_while_it_is_new():
    known = durations.Learned([duration(2.0, bucket="other")])
    assert known.factor("animate", "b", "m").mean == pytest.approx(2.0, rel=0.04)
    assert known.factor("animate", "b", "m").known
    both = durations.Learned([duration(2.0, bucket="other"), duration(8.0, fresh=2)])
    new = both.factor("animate", "b", "m")
    assert 5.0 < new.mean < 7.0
    old = durations.Learned([duration(8.0)]).factor("animate", "b", "m")
    assert old.least <= old.mean <= old.most
    assert new.most - new.least > old.most - old.least  # of the little that was seen
    assert known.factor("animate", "b", "another model") == durations.UNKNOWN
    assert known.factor("voice", "b", "m") == durations.UNKNOWN


def test_devices_that_live_are_asked_where_they_know():
    rows = [duration(1.0, device="slow"), duration(0.1, device="card")]
    assert durations.Learned(rows, devices=["card"]).factor("animate", "b", "m").mean < 0.2
    assert durations.Learned(rows, devices=["new"]).factor("animate", "b", "m").mean > 0.4
