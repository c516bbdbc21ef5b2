"""What is pruned is gone as a whole, and nothing that somebody needs is."""

import pytest
import sqlalchemy as sa

from mangen import errors, settings, storage
from mangen.comic import keeping, tables
from mangen.dispatch import pruning
from mangen.ledger import jobs

DAY = 86_400.0


@pytest.fixture
def store(tmp_path):
    return storage.Store(tmp_path)


@pytest.fixture
def prune(book, store):
    """One turn that never pauses."""

    def turn(pinned=keeping.pinned, **keep):
        waits = []
        gone = pruning.prune(
            book, store=store, keep=pruning.Keep(**keep), pinned=pinned, pause=waits.append
        )
        assert all(wait == pruning._PAUSE_S for wait in waits)
        return gone

    return turn


@pytest.fixture
def make(desk, store):
    """Run a job to its end with one file; answers the file's path."""

    def made(job):
        [fence] = desk.run(job)
        path = f"{desk.project}/{job}-{fence.attempt}.bin"
        file = store.locate(path)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"bytes")
        with desk.book.finishing(fence) as conn:
            desk.book.add_artifacts(
                conn, fence, [jobs.Artifact(kind="clip", path=path, sha256="0" * 64)]
            )
        return file

    return made


def age(desk, days, *ids):
    """Make it so many days older; without ids all of it."""
    chosen = {"days": days, "ids": list(ids) or None}
    desk.sql(
        "update jobs set settled_at = settled_at - make_interval(days => :days)"
        " where cast(:ids as bigint[]) is null or id = any(:ids)",
        **chosen,
    )
    desk.sql(
        "update events set at = at - make_interval(days => :days)"
        " where cast(:ids as bigint[]) is null or job = any(:ids)",
        **chosen,
    )


def stored(store):
    return list(store.paths())


def test_replaced_takes_go_with_their_files_and_all_rows(desk, wanted, make, prune, store):
    [anchor, clip, film] = desk.want(
        wanted("anchor", "c/a"),
        wanted("animate", "e1/s1", ("anchor", "c/a")),
        wanted("assemble", "e1", ("animate", "e1/s1")),
    )
    files = [make(job) for job in (anchor, clip, film)]
    [clip2, film2] = desk.want(
        wanted("animate", "e1/s1", ("anchor", "c/a"), key="k2"),
        wanted("assemble", "e1", ("animate", "e1/s1"), key="k2"),
    )
    age(desk, 29)
    assert prune(takes_s=30 * DAY)["takes"] == 0
    age(desk, 2)
    assert desk.broken(stored(store)) == set()
    assert prune(takes_s=30 * DAY)["takes"] == 2, "the film first, then the clip it was made of"
    assert [file.exists() for file in files] == [True, False, False]
    left = {row["id"] for row in desk.sql("select id from jobs")}
    assert left == {anchor, clip2, film2}
    assert desk.sql("select 1 from events where job = any(:ids)", ids=[clip, film]) == []
    assert desk.broken(stored(store)) == set()
    # the same key is wanted again: it is made anew
    [again] = desk.want(wanted("animate", "e1/s1", ("anchor", "c/a")))
    assert again > film2
    make(again)


def test_what_made_a_current_video_stays_with_all_it_was_made_of(desk, wanted, make, prune, store):
    pair = (wanted("animate", "e1/s1"), wanted("assemble", "e1", ("animate", "e1/s1")))
    [clip, film] = desk.want(*pair)
    files = [make(clip), make(film)]
    with desk.book.transaction() as conn:
        video = conn.scalar(sa.text("select id from artifacts where job = :job"), {"job": film})
        conn.execute(
            sa.insert(tables.episodes).values(
                project=desk.project, no=1, title="一", state="done", video=video
            )
        )
    desk.want(wanted("animate", "e1/s1", key="k2"),
              wanted("assemble", "e1", ("animate", "e1/s1"), key="k2"))  # fmt: skip
    age(desk, 90)
    assert prune(takes_s=DAY)["takes"] == 0
    assert all(file.exists() for file in files)
    assert desk.broken(stored(store)) == set()
    # a crash after the files went and before the rows did: nothing is broken, the next turn ends it
    desk.sql("update episodes set state = 'working', video = null")
    desk.book.condemn_takes([film])
    files[1].unlink()
    assert desk.broken(stored(store)) == set()
    assert prune(takes_s=DAY)["takes"] == 2
    assert stored(store) == []


def test_histories_of_what_came_to_rest_go_whole_and_open_projects_keep_theirs(
    desk, wanted, prune, book
):
    [done, failed] = desk.want(wanted("voice", "e1/s1/l1"), wanted("voice", "e1/s1/l2"))
    desk.settle(done, "done")
    desk.settle(failed, "failed")
    age(desk, 40)
    with book.transaction() as conn:
        other = book.insert_project(conn, title="open")
        [old] = book.insert_jobs(conn, other, [wanted("voice", "e1/s1/l1")], by="test")
    age(desk, 40, old)
    assert prune(events_s=60 * DAY)["events"] == 0
    assert prune(events_s=30 * DAY)["events"] == 8
    assert desk.events(done) == desk.events(failed) == []
    assert len(desk.events(old)) == 1
    assert desk.broken() == set()
    with book.transaction() as conn:
        book.revive_jobs(conn, [failed])
    assert desk.broken() == set(), "what is revived begins a new history"
    desk.settle(failed, "done")
    desk.sql("delete from events where job = :job", job=failed)
    assert desk.broken() == {"one_finish", "events_replay"}, "nobody prunes what is young"
    age(desk, 2, failed)


def test_observations_owners_and_days_are_pruned(desk, wanted, prune, book):
    book.observe([jobs.Observation(kind="load", seconds=float(n)) for n in range(30)])
    [job] = desk.want(wanted("voice", "e1/s1/l1"))
    desk.settle(job, "done")
    for worker in ("idle", "young"):
        owner = jobs.Owner(worker=worker, slot=0, generation=1)
        book.register(owner)
        book.release(owner, reason="shutdown")
    book.release(desk.owner, reason="shutdown")
    desk.sql("update owners set released_at = now() - interval '31 days' where worker <> 'young'")
    desk.sql(
        "insert into spent (project, day, seconds) values (:p, current_date - 41, 1),"
        " (:p, current_date, 1)",
        p=desk.project,
    )
    gone = prune(observations=10)
    assert gone == {"observations": 20, "owners": 1, "spent": 1}
    assert [one.seconds for one in book.observations()] == [float(n) for n in range(20, 30)]
    assert {row["worker"] for row in desk.sql("select worker from owners")} == {"w", "young"}


def test_the_retention_of_a_deployment():
    assert pruning.Keep.of(settings.Settings()) == pruning.Keep(
        takes_s=30 * DAY, events_s=None, observations=100_000
    )
    every = settings.Settings(keep_takes_days=0, keep_events_days=2, keep_observations=0)
    assert pruning.Keep.of(every) == pruning.Keep(events_s=2 * DAY)
    with pytest.raises(errors.SettingsError, match="keep_events_days"):
        settings.Settings(keep_events_days=0.5)
