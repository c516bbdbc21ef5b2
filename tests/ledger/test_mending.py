"""Expiry, and what the reconciler does to rows."""

import pytest

from mangen import errors
from mangen.ledger import jobs


def expire(desk):
    with desk.book.transaction() as conn:
        return desk.book.expire_jobs(conn)


def past(desk, *ids):
    desk.sql(
        "update jobs set expires_at = clock_timestamp() - interval '1 s' where id = any(:ids)",
        ids=list(ids),
    )


def test_what_nobody_began_in_its_time_is_cancelled_and_what_runs_goes_on(desk, wanted):
    timed = [wanted("animate", f"clip/{n}", expires_s=60.0) for n in range(4)]
    ids = desk.want(*timed, wanted("animate", "clip/patient"))
    running, published, ready, blocked, patient = ids
    [row] = desk.sql(
        "select max(expires_at) between clock_timestamp() + interval '50 s' and "
        "clock_timestamp() + interval '60 s' as soon, count(expires_at) as n from jobs"
    )
    assert (row["soon"], row["n"]) == (True, 4)
    with desk.book.transaction() as conn:
        desk.book.ready_jobs(conn, dict.fromkeys((running, published, ready), 1.0))
    [fence] = desk.book.claim([running], desk.owner).granted.values()
    desk.publish(published)
    assert expire(desk) == []
    past(desk, *ids[:4])
    assert expire(desk) == [published, ready, blocked]
    assert expire(desk) == []
    assert [desk.row(job)["error"] for job in ids] == [None, "expired", "expired", "expired", None]
    assert [desk.events(job)[-1] for job in (published, ready, blocked)] == [
        ("expire_jobs", state, "cancelled") for state in ("published", "ready", "blocked")
    ]
    desk.finish(fence)
    assert (desk.state(running), desk.state(patient)) == ("done", "blocked")


def test_a_request_made_again_waits_anew_and_one_that_expired_comes_back(desk, wanted):
    [a, b] = desk.want(*(wanted("animate", f"clip/{n}", expires_s=60.0) for n in "ab"))
    past(desk, a, b)
    desk.want(wanted("animate", "clip/a", expires_s=60.0))
    assert expire(desk) == [b]
    assert desk.want(wanted("animate", "clip/b", expires_s=60.0)) == [b]
    assert expire(desk) == []
    assert desk.row(b)["expires_at"] > desk.row(b)["blocked_at"]
    with desk.book.transaction() as conn:
        desk.book.cancel_jobs(conn, [b])
        desk.book.revive_jobs(conn, [b])
    assert desk.row(b)["expires_at"] is None, "who revives it by hand wants it whenever it comes"


def test_running_jobs_without_an_owner_are_found_and_released(desk, wanted):
    ids = desk.want(*(wanted("anchor", f"c/{n}") for n in "ab"))
    other = jobs.Owner(worker="gone", slot=0, generation=1)
    desk.book.register(other)
    desk.run(ids[0])
    desk.run(ids[1], owner=other)
    with desk.book.transaction() as conn:
        assert desk.book.ownerless(conn) == {}
    desk.sql("delete from owners where name = 'gone/0/1'")
    with desk.book.transaction() as conn:
        assert desk.book.ownerless(conn) == {"gone/0/1": [ids[1]]}
        assert desk.book.release("gone/0/1", reason="lease", conn=conn) == {ids[1]: "ready"}
        assert desk.book.ownerless(conn) == {}
    assert (desk.row(ids[1])["losses"], desk.row(ids[1])["failures"]) == (1, 0)


def test_bells_that_a_lost_worker_held_are_told_from_those_that_wait_at_the_broker(desk, wanted):
    held, elsewhere, queued = desk.want(*(wanted("anchor", f"c/{n}") for n in "abc"))
    desk.advance()
    desk.publish(held, elsewhere, queued)
    desk.book.beat([desk.owner], {"window": [{"job": held}, {"job": elsewhere}], "room": 0})
    with desk.book.transaction() as conn:
        assert desk.book.dead_bells(conn, []) == []
    desk.book.release(desk.owner, reason="lease")
    with desk.book.transaction() as conn:
        assert desk.book.dead_bells(conn, [elsewhere]) == [held]
        assert desk.book.unpublish_jobs(conn, 0.0, [], ["cpu"], ids=[held]) == 1
        desk.book.publish_jobs(conn, [held])
        assert desk.book.dead_bells(conn, [elsewhere]) == [], "it rang anew since"
    assert [desk.state(job) for job in (held, elsewhere, queued)] == ["published"] * 3


def test_projects_that_nobody_looks_at_though_jobs_may_move(desk, wanted):
    a, _, clip = desk.want(
        wanted("anchor", "c/a"), wanted("illustrate", "e1/s1", ("anchor", "c/a")),
        wanted("animate", "e1/s1", ("illustrate", "e1/s1", "hard")),
    )  # fmt: skip

    def unlooked():
        with desk.book.transaction() as conn:
            return desk.book.unlooked(conn)

    assert unlooked() == {}, "it was only just written"
    desk.sql("delete from dirty")
    assert unlooked() == {desk.project: 1}
    desk.settle(a, "done")
    desk.sql("delete from dirty")
    assert unlooked() == {desk.project: 1}
    _, [panel] = desk.advance()
    [fence] = desk.book.claim([panel], desk.owner).granted.values()
    desk.book.fail(fence, "permanent", "no")
    desk.sql("delete from dirty")
    assert unlooked() == {desk.project: 1}, "a clip that must be skipped"
    desk.advance()
    assert (unlooked(), desk.state(clip)) == ({}, "skipped")


class Episode:
    """anchor -> panel -> clip -> film, each with a file; what is done of it a test says."""

    STEPS = (("anchor", "c/a"), ("illustrate", "e1/s1"), ("animate", "e1/s1"), ("assemble", "e1"))

    def __init__(self, desk, wanted, done):
        self.desk = desk
        before = (None, *self.STEPS)
        self.ids = desk.want(
            *(
                wanted(*step, *([] if need is None else [(*need, "hard")]), params={"no": n})
                for n, (need, step) in enumerate(zip(before, self.STEPS, strict=False))
            )
        )
        for job in self.ids[:done]:
            self.make(job)

    def make(self, job):
        [fence] = self.desk.run(job)
        path = f"{self.desk.project}/{job}-{fence.attempt}.png"
        with self.desk.book.finishing(fence) as conn:
            self.desk.book.add_artifacts(
                conn, fence, [jobs.Artifact(kind="file", path=path, sha256="ab")]
            )

    def redo(self, *lost, essential=()):
        with self.desk.book.transaction() as conn:
            return self.desk.book.redo_jobs(
                conn, self.desk.project, [self.ids[n] for n in lost],
                [self.ids[n] for n in essential],
            )  # fmt: skip

    def keys(self):
        return {
            (row["stage"], row["key"]): row["state"]
            for row in self.desk.sql("select * from jobs where not superseded")
        }


def test_only_lost_files_that_are_still_wanted_are_made_anew(desk, wanted):
    episode = Episode(desk, wanted, done=4)
    assert episode.redo(0, 1, 2, 3).pairs == {}, "a finished episode's files are only missed"
    before = desk.sql("select * from jobs order by id")
    redone = episode.redo(1, 3, essential=[3])
    assert list(redone.pairs) == [episode.ids[3]], "the clip is there: its panel is not needed"
    [new] = redone.pairs.values()
    old, row = desk.row(episode.ids[3]), desk.row(new)
    assert (old["state"], old["superseded"]) == ("done", True)
    assert old["key"] == f"k1#lost-{old['id']}"
    for column in ("stage", "subject", "queue", "class", "bucket", "model", "cap", "peaks"):
        assert row[column] == before[3][column]
    assert (row["state"], row["key"], row["attempt"]) == ("blocked", "k1", 0)
    assert desk.events(new) == [("redo_jobs", None, "blocked")]
    assert desk.book.jobs([new])[0].params == {"no": 3}
    assert desk.advance() == ([], [new])
    episode.make(new)
    assert episode.keys()["assemble", "k1"] == "done"


def test_what_is_redone_pulls_what_it_needs_and_no_key_changes(desk, wanted):
    episode = Episode(desk, wanted, done=4)
    keys = episode.keys()
    pairs = episode.redo(0, 1, 2, 3, essential=[3]).pairs
    assert list(pairs) == episode.ids
    assert episode.keys().keys() == keys.keys()
    for new in pairs.values():
        assert desk.advance() == ([], [new]), "each waits for the one before it"
        episode.make(new)
    assert set(episode.keys().values()) == {"done"}
    assert desk.want() == []


@pytest.mark.parametrize("state", ["blocked", "ready", "published", "running", "failed"])
def test_whoever_began_upon_a_lost_file_begins_anew(desk, wanted, state):
    episode = Episode(desk, wanted, done=1)
    panel, running = episode.ids[1], []
    if state != "blocked":
        desk.advance()
    if state == "published":
        desk.publish(panel)
    if state in ("running", "failed"):
        running = desk.run(panel)
    if state == "failed":
        desk.book.fail(running.pop(), "permanent", "no file")
        assert episode.redo(0).pairs == {}, "nobody waits for it"
    done = episode.redo(0, essential=[0])
    assert list(done.pairs) == episode.ids[: 1 if state == "blocked" else 2]
    assert list(done.stopping) == running
    for fence in running:
        with pytest.raises(errors.Stopped):
            desk.finish(fence)
    for stage, _ in episode.STEPS:
        [row] = desk.sql("select id from jobs where not superseded and stage = :s", s=stage)
        episode.make(row["id"])
    assert set(episode.keys().values()) == {"done"}


def test_what_is_redone_under_a_pause_waits_for_its_end(desk, wanted):
    episode = Episode(desk, wanted, done=1)
    with desk.book.transaction() as conn:
        desk.book.hold(conn, desk.project, desk.row(episode.ids[0])["subject"])
    [new] = episode.redo(0).pairs.values()
    assert desk.row(new)["held"]


def test_a_job_that_is_no_longer_done_or_wanted_is_left_alone(desk, wanted):
    episode = Episode(desk, wanted, done=3)
    with desk.book.transaction() as conn:
        desk.book.supersede_jobs(conn, [episode.ids[2]])
    assert episode.redo(2, 3, essential=[2, 3]).pairs == {}


def test_files_are_listed_marked_lost_and_found_again(desk, wanted):
    episode = Episode(desk, wanted, done=2)
    with desk.book.transaction() as conn:
        files = list(desk.book.stored_files(conn, desk.project))
        assert [(one.job, one.stage, one.lost) for one in files] == [
            (episode.ids[0], "anchor", False), (episode.ids[1], "illustrate", False),
        ]  # fmt: skip
        assert list(desk.book.stored_files(conn, desk.project + 1)) == []
    assert desk.broken([files[0].path]) == {"rows_stored"}
    with desk.book.transaction() as conn:
        desk.book.mark_lost(conn, [files[1].id])
        assert [one.lost for one in desk.book.stored_files(conn, desk.project)] == [False, True]
    assert desk.broken([files[0].path]) == set()
    with desk.book.transaction() as conn:
        desk.book.mark_lost(conn, [files[1].id], lost=False)
        desk.book.note_rescue(conn, desk.project, {"found": [files[1].path]})
    assert desk.broken([one.path for one in files]) == set()
    [act] = desk.sql("select * from acts")
    assert (act["by"], act["verb"], act["project"]) == ("rescue", "rescue", desk.project)
