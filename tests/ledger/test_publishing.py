import datetime as dt
import zoneinfo

import pytest
import sqlalchemy as sa

from mangen.ledger import hours

ALL_DAY = hours.Hours.parse("00:00-24:00", "Asia/Shanghai")


def publishable(desk, queue="cpu", limit=9, **more):
    with desk.book.transaction() as conn:
        return [job.id for job in desk.book.find_publishable(conn, queue, limit, **more)]


def ready(desk, ranks):
    with desk.book.transaction() as conn:
        return desk.book.ready_jobs(conn, ranks)


def another(desk, title="b", **more):
    with desk.book.transaction() as conn:
        return desk.book.insert_project(conn, title=title, **more)


def want(desk, project, *wanted):
    with desk.book.transaction() as conn:
        return list(desk.book.insert_jobs(conn, project, wanted, by="test"))


def test_find_publishable_answers_in_rank_order(desk, wanted):
    ids = desk.want(
        *(wanted("voice", f"e1/s1/l{n}") for n in range(4)), wanted("voice", "e0", klass=0)
    )
    ready(desk, dict(zip(ids, [1.0, 3.0, 2.0, 3.0, 0.0], strict=True)))
    assert publishable(desk) == [ids[4], ids[1], ids[3], ids[2], ids[0]]
    assert publishable(desk, limit=2) == [ids[4], ids[1], ids[3]], "the two best of each lane"
    assert publishable(desk, "gpu.high") == []


def test_find_publishable_takes_the_least_served_first(desk, wanted):
    other = another(desk)
    [a] = desk.want(wanted("voice", "a"))
    [b] = want(desk, other, wanted("voice", "b"))
    ready(desk, {a: 9.0, b: 1.0})
    assert publishable(desk) == [a, b], "equally served: rank decides"
    with desk.book.transaction() as conn:
        desk.book.charge_shares(conn, "cpu/1", {desk.project: 130.0}, 70.0)
    assert publishable(desk) == [b, a]
    with desk.book.transaction() as conn:
        found = desk.book.find_publishable(conn, "cpu", 9)
        assert [job.served for job in found] == [60.0, 130.0], "who comes starts where the lane is"
    assert publishable(desk, among=[(1, desk.project)]) == [a]
    assert publishable(desk, limit=1, most=1) == [b]


def test_publish_jobs_rings_once_and_counts_the_bell(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a", seconds_est=2.5))
    assert desk.publish(a) == []
    desk.advance()
    with desk.book.transaction() as conn:
        [job] = desk.book.publish_jobs(conn, [a])
    assert (job.state, job.bell, job.attempt) == ("published", 1, 0)
    assert desk.publish(a) == []
    with desk.book.transaction() as conn:
        load = desk.book.published_load(conn)["cpu"]
    assert (load.jobs, load.seconds, load.gating) == (1, 2.5, 0)
    assert desk.events(a)[-1] == ("publish_jobs", "ready", "published")


def _paused(desk):
    desk.pause()
    return desk.resume


def _quiet(desk):
    desk.book.times = ALL_DAY
    return lambda: setattr(desk.book, "times", hours.Hours())


def _budget(desk):
    zone = desk.book.times.zone
    with desk.book.transaction() as conn:
        desk.book.set_budget(conn, desk.project, 10)
        conn.execute(
            sa.text(
                "insert into spent (project, day, seconds) values (:project, "
                "cast(clock_timestamp() at time zone :zone as date), 10)"
            ),
            {"project": desk.project, "zone": zone},
        )

    def more():
        with desk.book.transaction() as conn:
            desk.book.set_budget(conn, desk.project, 11)

    return more


def _held(desk):
    desk.sql("update jobs set held = true")
    return lambda: desk.sql("update jobs set held = false")


def _later(desk):
    desk.sql("update jobs set not_before = clock_timestamp() + interval '1 hour'")
    return lambda: desk.sql("update jobs set not_before = null")


@pytest.mark.parametrize(
    ("withhold", "why"),
    [
        (_paused, "paused"),
        (_quiet, "quiet hours"),
        (_budget, "budget of 10 s a day spent"),
        (_held, "held"),
        (_later, "not before"),
    ],
)
def test_what_may_not_run_is_neither_found_nor_published_nor_claimed(desk, wanted, withhold, why):
    a, b = desk.want(*(wanted("anchor", f"c/{n}", queue="gpu.high", klass=0) for n in "ab"))
    desk.advance()
    desk.publish(b)
    allow = withhold(desk)
    assert publishable(desk, "gpu.high") == []
    with desk.book.transaction() as conn:
        assert desk.book.find_gating(conn, 9) == []
    assert desk.publish(a) == []
    refused = desk.book.claim([a, b], desk.owner).refused
    assert set(refused) == {a, b}
    assert all(reason.startswith(why) for reason in refused.values())
    assert desk.state(b) == "ready", "its bell rang in vain: it goes back at once"
    assert desk.events(b)[-1] == ("hand_back", "published", "ready")
    allow()
    assert publishable(desk, "gpu.high") == [a, b]
    with desk.book.transaction() as conn:
        assert [job.id for job in desk.book.find_gating(conn, 9)] == [a, b]
    assert desk.publish(a, b) == [a, b]
    assert set(desk.book.claim([a, b], desk.owner).granted) == {a, b}


def test_urgent_projects_know_no_quiet_hours_and_budgets_bind_the_gpu_queues_alone(desk, wanted):
    a, b = desk.want(wanted("voice", "a"), wanted("illustrate", "b", queue="gpu.mid"))
    desk.advance()
    _quiet(desk)
    assert publishable(desk) == []
    with desk.book.transaction() as conn:
        desk.book.set_class(conn, desk.project, 0)
        desk.book.set_budget(conn, desk.project, 0)
        assert desk.book.withheld(conn)[desk.project].budget == 0
    assert publishable(desk) == [a]
    assert publishable(desk, "gpu.high") == []
    assert set(desk.book.claim([a, b], desk.owner).granted) == {a}


def test_budgets_count_what_attempts_used_and_what_is_about_to(desk, wanted):
    ids = desk.want(
        *(wanted("illustrate", f"e{n}", queue="gpu.mid", seconds_est=10.0) for n in range(5)),
        wanted("voice", "v"),
    )
    with desk.book.transaction() as conn:
        desk.book.set_budget(conn, desk.project, 100)
    done, failed, lost, voice = desk.run(ids[0], ids[1], ids[2], ids[5])
    desk.sql("update attempts set started_at = clock_timestamp() - interval '32 s'")
    desk.finish(done)
    desk.book.fail(failed, "transient", "again")
    desk.finish(voice)
    [row] = desk.sql("select seconds from spent")
    assert row["seconds"] == pytest.approx(2 * 32 / 4, abs=0.5), "a quarter of a batch of four each"
    desk.publish(ids[3])
    with desk.book.transaction() as conn:
        [left] = desk.book.find_publishable(conn, "gpu.mid", 9)
    assert left.remaining == pytest.approx(100 - 16 - 2 * 10, abs=0.5)
    desk.book.release(desk.owner, reason="shutdown")
    [row] = desk.sql("select seconds from spent")
    assert row["seconds"] == pytest.approx(3 * 32 / 4, abs=0.8)
    assert lost


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Niue"])
def test_a_budget_is_a_days_and_days_begin_where_the_zone_says(desk, wanted, zone):
    desk.book.times = hours.Hours(zone=zone)
    a, b = desk.want(*(wanted("illustrate", f"e{n}", queue="gpu.mid") for n in range(2)))
    with desk.book.transaction() as conn:
        desk.book.set_budget(conn, desk.project, 20)
    [fence] = desk.run(a)
    desk.sql("update attempts set started_at = clock_timestamp() - interval '1 min'")
    desk.finish(fence)
    with desk.book.transaction() as conn:
        today = desk.book.now(conn).astimezone(zoneinfo.ZoneInfo(zone)).date()
    assert [row["day"] for row in desk.sql("select day from spent")] == [today]
    assert publishable(desk, "gpu.mid") == []
    assert desk.publish(b) == []
    desk.sql("update spent set day = day - 1")  # the next morning
    assert publishable(desk, "gpu.mid") == [b]
    assert desk.publish(b) == [b]


def test_promote_jobs_moves_what_a_lane_keeps_waiting_a_quantum_at_a_time(desk, wanted):
    ids = desk.want(
        *(wanted("illustrate", f"e{n}", queue="gpu.mid", seconds_est=25.0) for n in range(5))
    )
    ready(desk, {job: float(-job) for job in ids})

    def promote(klass=1, queue="gpu.mid", ago=3600):
        with desk.book.transaction() as conn:
            before = desk.book.now(conn) - dt.timedelta(seconds=ago)
            return list(desk.book.promote_jobs(conn, queue, klass, before=before, quantum_s=60))

    assert promote() == [], "ready for no hour yet"
    desk.sql("update jobs set ready_at = clock_timestamp() - interval '2 hours'")
    assert promote() == ids[:3]
    assert promote() == [], "its project waits for an hour again"
    assert promote(ago=-1) == ids[3:]
    assert promote(0, "gpu.high", -1) == [], "nothing is above high"
    row = desk.row(ids[0])
    assert (row["queue"], row["class"], row["home_queue"], row["home_class"]) == (
        "gpu.high", 0, "gpu.mid", 1,
    )  # fmt: skip
    assert desk.events(ids[0])[-1] == ("promote_jobs", "ready", "ready")
    with desk.book.transaction() as conn:
        assert desk.book.find_gating(conn, 9) == [], "promoted work gates nothing"


def test_a_lane_that_serves_a_project_promotes_none_of_its_backlog(desk, wanted):
    [a, b] = desk.want(*(wanted("illustrate", f"e{n}", queue="gpu.mid") for n in range(2)))
    desk.advance()
    desk.sql("update jobs set ready_at = clock_timestamp() - interval '2 hours'")
    with desk.book.transaction() as conn:
        desk.book.charge_shares(conn, "gpu.mid/1", {desk.project: 5.0}, 0.0)
        before = desk.book.now(conn) - dt.timedelta(hours=1)
        assert desk.book.promote_jobs(conn, "gpu.mid", 1, before=before) == {}
    assert a
    assert b


@pytest.mark.parametrize(
    ("klass", "places"),
    [
        (0, [("gpu.high", 0), ("gpu.high", 0), ("gpu.high", 0), ("cpu", 0), ("cpu", 0)]),
        (1, [("gpu.high", 0), ("gpu.mid", 1), ("gpu.low", 1), ("cpu", 1), ("cpu", 0)]),
        (2, [("gpu.mid", 1), ("gpu.low", 2), ("gpu.low", 2), ("cpu", 2), ("cpu", 1)]),
    ],
)
def test_a_projects_class_places_its_jobs_early_and_late_and_back(desk, wanted, klass, places):
    plan = [
        wanted("anchor", "a", queue="gpu.high", klass=0),
        wanted("illustrate", "b", queue="gpu.mid"),
        wanted("upscale", "c", queue="gpu.low"),
        wanted("voice", "d"),
        wanted("assemble", "e", klass=0),
    ]
    born = want(desk, another(desk, klass=klass), *plan)
    moved = desk.want(*plan)
    done = desk.want(wanted("voice", "done"))
    desk.settle(done[0], "done")

    def places_of(ids):
        return [(desk.row(job)["queue"], desk.row(job)["class"]) for job in ids]

    home = places_of(moved)
    with desk.book.transaction() as conn:
        count = desk.book.set_class(conn, desk.project, klass)
        assert desk.book.set_class(conn, desk.project, klass) == 0, "twice is once"
    assert places_of(born) == places_of(moved) == places
    assert count == sum(a != b for a, b in zip(home, places, strict=True))
    assert places_of(done) == [("cpu", 1)]
    with desk.book.transaction() as conn:
        desk.book.set_class(conn, desk.project, 1)
    assert places_of(moved) == home
    assert {desk.row(job)["home_queue"] for job in moved} == {None}
