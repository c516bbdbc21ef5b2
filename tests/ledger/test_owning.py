import pytest

from mangen import errors
from mangen.ledger import jobs


@pytest.fixture
def second():
    return jobs.Owner(worker="w", slot=0, generation=2, queues=("cpu", "gpu.low"))


def test_beat_counts_reports_and_names_what_must_stop(desk, wanted):
    a, b = desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b"))
    [fence, _] = desk.run(a, b)
    desk.book.cancel(a)
    answer = desk.book.beat([desk.owner], {"room": 3, "说": "话"})
    assert answer == jobs.Beat(stop=[fence], released=[])
    desk.book.beat(["w/0/1"], {"room": 2})
    with desk.book.transaction() as conn:
        [living] = desk.book.living_owners(conn)
    assert (living.owner, living.beat, living.report) == (desk.owner, 2, {"room": 2})
    assert living.silent_s >= 0


def test_a_released_owner_beats_no_more_and_is_told(desk, second):
    desk.book.register(second)
    desk.book.release(desk.owner, reason="lease")
    unknown = jobs.Owner(worker="new", slot=0, generation=1)
    answer = desk.book.beat([desk.owner, second, unknown], {})
    assert answer == jobs.Beat(stop=[], released=["w/0/1"])
    assert {row["name"]: row["beat"] for row in desk.sql("select * from owners")} == {
        "w/0/1": 0,
        "w/0/2": 1,
    }
    with desk.book.transaction() as conn:
        assert [one.owner for one in desk.book.living_owners(conn)] == [second]


def test_a_child_lost_in_a_batch_is_uncharged_and_marks_its_jobs_solo(desk, wanted):
    a, b = desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b"))
    desk.run(a, b)
    assert desk.book.release(desk.owner, set(), "child_lost") == {a: "ready", b: "ready"}
    row = desk.row(a)
    assert (row["failures"], row["losses"], row["solo"], row["not_before"]) == (0, 0, True, None)
    assert row["error"] == "its process died while it ran"
    assert desk.events(a)[-1] == ("release_owner", "running", "ready")
    assert {row["outcome"] for row in desk.sql("select outcome from attempts")} == {"lost"}
    assert desk.book.release(desk.owner, set(), "child_lost") == {}


def test_a_child_lost_alone_is_charged_and_fails_at_the_third(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    for n, state in enumerate(["ready", "ready", "failed"], 1):
        owner = jobs.Owner(worker="v", slot=0, generation=n)
        desk.book.register(owner)
        desk.run(a, owner=owner)
        assert desk.book.release(owner, {a}, "child_lost") == {a: state}
        row = desk.row(a)
        assert (row["failures"], row["solo"]) == (n, False)
        assert (row["not_before"] is None) == (state == "failed")
        desk.due(a)


def test_lost_leases_are_charged_from_the_third_on(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    charges = []
    for n in range(1, 6):
        owner = jobs.Owner(worker="v", slot=0, generation=n)
        desk.book.register(owner)
        desk.run(a, owner=owner)
        desk.book.release(owner, None, "lease")
        charges.append((desk.row(a)["losses"], desk.row(a)["failures"], desk.state(a)))
        desk.due(a)
    assert charges == [
        (1, 0, "ready"), (2, 0, "ready"), (3, 1, "ready"), (4, 2, "ready"), (5, 3, "failed"),
    ]  # fmt: skip


def test_a_shutdown_is_uncharged_and_keeps_the_last_error(desk, wanted, second):
    [a] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(a)
    desk.book.fail(fence, "transient", "away")
    desk.due(a)
    desk.run(a)
    desk.book.release(desk.owner, None, "shutdown")
    row = desk.row(a)
    assert (row["state"], row["failures"], row["losses"], row["solo"]) == ("ready", 1, 0, False)
    assert row["error"] == "away"
    [owner] = desk.sql("select * from owners")
    assert (owner["released_at"] is not None, owner["release_reason"]) == (True, "shutdown")


def test_a_worker_that_gives_its_work_up_is_uncharged_and_may_claim_again(desk, wanted):
    a, b = desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b"))
    late, _ = desk.run(a, b)
    desk.book.cancel(b)
    assert desk.book.give_up(desk.owner) == {a: "ready", b: "cancelled"}
    row = desk.row(a)
    assert (row["failures"], row["losses"], row["solo"], row["not_before"]) == (0, 0, False, None)
    assert (
        "reached no ledger"
        in desk.sql("select error from attempts where job = :a", a=a)[0]["error"]
    )
    with pytest.raises(errors.FenceLost):
        desk.finish(late)
    [fence] = desk.run(a)
    assert fence.attempt == 2
    desk.finish(fence)
    assert desk.book.give_up(desk.owner) == {}


@pytest.mark.parametrize("reason", ["child_lost", "lease", "shutdown", "silent"])
def test_stop_wins_over_a_release(desk, wanted, reason):
    [a] = desk.want(wanted("anchor", "c/a"))
    desk.run(a)
    desk.book.cancel(a)
    assert desk.book.release(desk.owner, {a}, reason) == {a: "cancelled"}
    assert desk.row(a)["failures"] == 0


def test_observations_come_back_oldest_first(desk):
    seen = jobs.Observation(
        kind="session", model="m", stage="animate", bucket="b", device="cpu", members=2,
        seconds=1.5, peak=1 << 40, meta={"seed": 1},
    )  # fmt: skip
    desk.book.observe([seen])
    desk.book.observe([{"kind": "load", "model": "m", "seconds": 45.0, "what": "warm"}])
    desk.book.observe([])
    assert desk.book.observations() == [
        seen,
        jobs.Observation(kind="load", model="m", seconds=45.0, meta={"what": "warm"}),
    ]
    assert [one.kind for one in desk.book.observations(1)] == ["load"]


def test_the_file_about_a_killed_child_is_named_in_its_attempt(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    desk.run(a)
    desk.book.release(desk.owner, {a}, "child_lost", report="reports/w-0-1.txt")
    said = "its process died while it ran; see reports/w-0-1.txt"
    assert desk.row(a)["error"] == said
    assert [row["error"] for row in desk.sql("select error from attempts")] == [said]


def test_expected_models_are_those_of_what_is_published_the_soonest_first(desk, wanted):
    ids = desk.want(
        wanted("anchor", "c/a", model="late", klass=2),
        wanted("anchor", "c/b", model="soon", klass=0),
        wanted("anchor", "c/c", model="mid", klass=1),
        wanted("anchor", "c/d", model="waiting", klass=0),
        wanted("anchor", "c/e", model="", klass=0),
    )
    desk.advance()
    desk.publish(*ids[:3], ids[4])
    assert desk.book.expected_models() == ["soon", "mid", "late"]
