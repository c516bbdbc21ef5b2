"""What crashes leave behind, on a real ledger with a real store, and what mends it."""

from __future__ import annotations

import functools
import pathlib

import pytest
import sqlalchemy as sa

from mangen import errors, storage
from mangen.dispatch import drain, housekeeping, rank, reconcile
from mangen.ledger import invariants, jobs, ledger, migrate

LEASE_S = 30.0  #: longer than any pause of this machine


class World:
    """Three steps of one episode, each with a file in the store."""

    STEPS = ("panel", "clip", "film")

    def __init__(self, url, folder):
        migrate.upgrade(url)
        self.book = ledger.Ledger(url)
        self.store = storage.Store(folder / "artifacts")
        self.folder = folder
        self.owner = jobs.Owner(worker="w", slot=0, generation=1, queues=drain.QUEUES)
        self.turn = drain.Pass(
            self.book, lambda ready, _: len(ready), lease_s=3, lost_bell_s=0,
            weights=rank.Weights(),
        )  # fmt: skip
        self.engine = sa.create_engine(url, poolclass=sa.NullPool)
        self.conn = self.engine.connect()
        with self.book.transaction() as conn:
            self.project = self.book.insert_project(conn, title="t")
            before = (None, *self.STEPS)
            self.ids = self.book.insert_jobs(
                conn,
                self.project,
                [self.want(*step) for step in zip(self.STEPS, before, strict=False)],
                by="test",
            )
        self.come()

    @staticmethod
    def want(stage, need):
        needs = [] if need is None else [jobs.Need(stage=need, subject="e1", kind="hard")]
        return jobs.Wanted(
            stage=stage, subject="e1", key=stage, queue="cpu", klass=1, bucket="b", model="",
            needs=needs,
        )  # fmt: skip

    def come(self, room=4, window=()):
        self.book.register(self.owner)
        report = {"window": [{"job": job} for job in window], "room": room, "capacity": 4}
        self.book.beat([self.owner], report)

    def run(self):
        return self.turn.run(self.conn)

    def claim(self, job):
        self.run()
        return self.book.claim([job], self.owner).granted[job]

    def put(self, fence):
        """Publish a file as an attempt does, before it finishes."""
        source = self.folder / "made"
        source.write_bytes(f"{fence.job} by {fence.attempt}".encode())
        return self.store.put(source, project=self.project, name=f"{fence.job}-{fence.attempt}.x")

    def make(self, job):
        fence = self.claim(job)
        stored = self.put(fence)
        with self.book.finishing(fence) as conn:
            made = jobs.Artifact(kind="file", path=stored.path, sha256=stored.sha256)
            self.book.add_artifacts(conn, fence, [made])
        return self.store.locate(stored.path)

    def states(self):
        return {
            row.stage: row.state
            for row in self.sql("select stage, state from jobs where not superseded order by id")
        }

    def sql(self, text, **values):
        with self.engine.begin() as conn:
            found = conn.execute(sa.text(text), values)
            return found.all() if found.returns_rows else []

    def at_large(self, lease_s=LEASE_S):
        return list(
            reconcile.jobs_at_large(
                self.book, lease_s=lease_s, lost_bell_s=0.0, queues=drain.QUEUES
            )
        )

    def files(self, *, essential=(), **more):
        return list(
            reconcile.files(
                self.book, self.store, [self.project], essential=lambda *_: essential, **more
            )
        )

    def broken(self):
        with self.book.transaction() as conn:
            return invariants.check(conn, self.store.paths(), LEASE_S)


@pytest.fixture
def world(empty_database, tmp_path):
    one = World(empty_database, tmp_path)
    yield one
    one.conn.close()
    assert one.broken() == []
    one.book.close()


def whats(mends):
    return [(one.what, list(one.jobs), one.mended) for one in mends]


def test_nothing_is_mended_where_nothing_is_wrong(world):
    world.make(world.ids[0])
    world.run()
    world.come(window=[world.ids[1]])
    assert (world.at_large(), world.files(deep=True)) == ([], [])
    assert world.sql("select * from acts") == []


def test_a_late_finish_is_refused_and_its_file_swept(world):
    panel = world.ids[0]
    late = world.claim(panel)
    path = world.store.locate(world.put(late).path)
    world.book.release(world.owner, reason="lease")
    with pytest.raises(errors.FenceLost), world.book.finishing(late):
        pytest.fail("the body must not run")
    world.owner = jobs.Owner(worker="w", slot=0, generation=2, queues=drain.QUEUES)
    world.come()
    kept = world.make(panel)
    housekeeping.sweep(world.book, world.store, lease_s=-1)
    assert (path.exists(), kept.exists()) == (False, True)


def test_work_without_an_owner_is_found_by_the_pass(world):
    world.claim(world.ids[0])
    world.sql("delete from owners")
    assert world.run().mended == 1
    assert world.states()["panel"] in ("ready", "published")
    [act] = world.sql("select * from acts")
    assert (act.by, act.detail["what"], act.detail["jobs"]) == ("rescue", "ownerless", [1])


def test_the_pass_cancels_what_expired(world):
    world.sql("update jobs set expires_at = now() - interval '1 s' where stage = 'panel'")
    done = world.run()
    assert (done.mended, done.skipped, world.states()["panel"]) == (1, 2, "cancelled")


def test_bells_of_a_lost_worker_ring_again_though_nobody_has_room(world):
    panel = world.ids[0]
    world.run()
    world.come(room=0, window=[panel])
    world.book.release(world.owner, reason="lease")
    world.owner = jobs.Owner(worker="full", slot=0, generation=1, queues=drain.QUEUES)
    world.come(room=0)
    assert whats(world.at_large()) == [("bell", [panel], True)]
    assert world.states()["panel"] == "ready"


def test_without_a_worker_every_bell_counts_as_lost_and_with_a_full_one_none(world):
    world.run()
    world.come(room=0)
    assert world.at_large() == []
    world.book.release(world.owner, reason="shutdown")
    [mend] = world.at_large()
    assert (mend.what, world.states()["panel"]) == ("bell", "ready")


def test_owners_are_released_by_two_looks_a_lease_apart(world):
    fence = world.claim(world.ids[0])
    world.sql("update owners set beat_at = now() - interval '1 h'")
    beats = world.sql("select beat from owners")
    assert whats(world.at_large(lease_s=0.2)) == [("silent", [fence.job], True)]
    assert world.sql("select release_reason, beat from owners") == [("lease", beats[0].beat)]


def test_a_project_that_nobody_looks_at_is_looked_at_again(world):
    world.make(world.ids[0])
    world.sql("delete from dirty")
    [mend] = world.at_large()
    assert (mend.what, mend.project) == ("unlooked", world.project)
    assert world.at_large() == []
    world.run()
    assert world.states()["clip"] == "published"


def test_a_lost_file_is_made_anew_for_whom_it_waits(world):
    panel, clip, _ = world.ids
    path = world.make(panel)
    fence = world.claim(clip)
    path.unlink()
    world.store.locate(f"{world.project}/stranger.txt").write_text("not ours")
    (world.store.root / str(world.project) / f"{clip}-0.x").touch()
    with pytest.raises(errors.StorageError, match="none of the 1 files"):
        world.files()
    assert whats(world.files(even_all=True)) == [("lost", [panel], True)]
    with pytest.raises(errors.Stopped), world.book.finishing(fence):
        pass
    assert world.states() == {"panel": "blocked", "clip": "blocked", "film": "blocked"}
    for stage in world.STEPS:
        [row] = world.sql("select id from jobs where not superseded and stage = :s", s=stage)
        world.make(row.id)
    assert set(world.states().values()) == {"done"}
    assert world.files() == []


def test_a_finished_episode_loses_what_it_needs_no_more_and_keeps_its_film(world):
    panel, clip, film = world.ids
    paths = [world.make(job) for job in world.ids]
    paths[0].unlink()
    assert whats(world.files(essential=[film])) == [("lost", [panel], False)]
    assert world.files(essential=[film]) == [], "it was told"
    paths[1].write_text("scratched")
    assert world.files(essential=[film]) == [], "only a deep look reads"
    assert whats(world.files(essential=[film], deep=True)) == [("damaged", [clip], False)]
    hidden = paths[1].with_name(f".damaged-{paths[1].name}")
    assert (hidden.read_text(), world.states()["film"]) == ("scratched", "done")
    paths[2].unlink()
    mends = world.files(essential=[film], even_all=True)
    assert [one.mended for one in mends] == [True] * 3, "the film needs the others anew"
    assert list(world.states().values()) == ["blocked"] * 3
    acts = world.sql("select detail from acts order by id")
    assert sorted(acts[-1].detail["redone"]) == sorted(map(str, (panel, clip, film)))


def test_a_file_that_comes_back_is_found(world):
    panel, clip, film = world.ids
    paths = [world.make(job) for job in (panel, clip, film)]
    away = paths[0].rename(world.folder / "away")
    assert [one.what for one in world.files()] == ["lost"]
    away.rename(paths[0])
    assert whats(world.files()) == [("found", [panel], True)]
    assert world.files() == []


def test_a_store_that_is_not_there_mends_nothing(world):
    world.make(world.ids[0])
    away = world.store.root.rename(world.folder / "unmounted")
    with pytest.raises(errors.StorageError, match="is not there"):
        world.files()
    away.rename(world.store.root)
    assert isinstance(world.store.root, pathlib.Path)


def test_the_leader_looks_at_files_of_projects_at_work_alone(world):
    paths = [world.make(job) for job in world.ids[:2]]
    paths[0].unlink()
    paths[1].unlink()
    world.store.locate(f"{world.project}/{world.ids[0]}-9.x").touch()
    chores = housekeeping.Chores()
    chores.add("breaking", 60, lambda _book: 1 / 0)
    chores.add("files", 60, functools.partial(
        reconcile.files_at_work, store=world.store, essential=lambda *_: ()
    ))  # fmt: skip
    chores.turn(world.book)  # none of the files is there: told, not made anew
    assert world.states()["clip"] == "done"
    paths[1].write_bytes(b"")
    chores.turn(world.book)
    assert world.states()["panel"] == "done", "it is not due yet"
    gone = reconcile.files_at_work(world.book, world.store, lambda *_: ())
    assert (gone, world.states()["panel"]) == (1, "done"), "only the clip is needed, and is there"
    for job in world.ids[2:]:
        world.make(job)
    paths[1].unlink()
    assert reconcile.files_at_work(world.book, world.store, lambda *_: ()) == 0, "all is settled"
    assert whats(world.files()) == [("lost", [world.ids[1]], False)]
