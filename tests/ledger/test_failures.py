import pytest

from mangen.ledger import failures, jobs


@pytest.fixture
def look(desk):
    def look(projects=None, ids=()):
        with desk.book.transaction() as conn:
            return failures.dead(conn, projects, ids, lease_s=30.0)

    return look


def test_a_dead_job_says_what_it_was_where_and_what_hangs_on_it(desk, wanted, look):
    panel, clip = desk.want(
        wanted("illustrate", "e1/s2", peaks=(7,)),
        wanted("animate", "e1/s2", ("illustrate", "e1/s2", "hard")),
    )
    [fence] = desk.run(panel)
    assert look() == []
    desk.book.fail(fence, "permanent", "no such glyph\nin detail")
    desk.advance()
    assert desk.state(clip) == "skipped"
    [dead] = look()
    assert (dead.job, dead.project, dead.title) == (panel, desk.project, "故乡")
    assert (dead.stage, dead.subject, dead.kind) == ("illustrate", "e1/s2", "permanent")
    assert (dead.error, dead.attempts, dead.failures) == ("no such glyph\nin detail", 1, 1)
    assert (dead.owner, dead.device, dead.device_state) == ("w/0/1", "cpu", "living")
    assert (dead.skipped, dead.peak_bytes, dead.excluded) == (1, 7, ())
    assert look([desk.project]) == [dead]
    assert look([desk.project + 1]) == []
    assert look([], [panel]) == [dead]
    desk.book.cancel([clip])
    with desk.book.transaction() as conn:
        desk.book.supersede_jobs(conn, [panel])
    assert look() == [], "nobody wants it any more"


def test_the_device_is_told_by_whoever_serves_its_slot_now(desk, wanted, look):
    [job] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(job)
    desk.book.fail(fence, "permanent", "no")
    states = [look()[0].device_state]
    desk.sql("update owners set beat_at = beat_at - interval '1 h'")
    states.append(look()[0].device_state)
    desk.book.beat([desk.owner], {"quarantined": [0]})
    states.append(look()[0].device_state)
    desk.book.release(desk.owner, reason="child_lost")
    states.append(look()[0].device_state)
    desk.book.register(jobs.Owner(worker="w", slot=0, generation=2))
    states.append(look()[0].device_state)
    assert states == ["living", "silent", "quarantined", "quarantined", "living"]


def test_what_fits_nowhere_names_the_devices_that_were_too_small(desk, wanted, look):
    [job] = desk.want(wanted("anchor", "c/a"))
    desk.advance()
    desk.publish(job)
    assert desk.book.hand_back(job, 0, "never_fits", device="cpu") == "failed"
    [dead] = look()
    assert (dead.excluded, dead.device_state, dead.attempts) == (("cpu",), "", 0)


def test_what_waits_for_room_is_told_apart(desk, wanted):
    full, away = desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b"))
    for fence, kind in zip(desk.run(full, away), ("resource", "transient"), strict=True):
        desk.book.fail(fence, kind, kind)
    with desk.book.transaction() as conn:
        [stuck] = failures.stuck(conn, [desk.project])
        assert failures.stuck(conn, []) == []
    assert (stuck.job, stuck.error) == (full, "resource")
    assert stuck.until is not None
