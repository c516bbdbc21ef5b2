"""The session of a stage against a real ledger, in a child's place."""

from __future__ import annotations

import time

import pytest
import sqlalchemy as sa

from mangen import errors, settings
from mangen.comic.stages import door, kit, session, stage
from mangen.ledger import jobs, ledger, migrate
from mangen.pooling import testing, work

BUCKET = "tone/voice"


@pytest.fixture
def book(empty_database):
    migrate.upgrade(empty_database)
    one = ledger.Ledger(empty_database)
    yield one
    one.close()


@pytest.fixture
def comic(book, tmp_path):
    chosen = settings.Settings(home=tmp_path, voice_engine="mangen.engines.voice.tone:Tone")
    return door.ComicWork(kit.Kit(chosen, book), ("cpu",))


@pytest.fixture
def job(book):
    """Answer the id of a ready voice job."""
    want = jobs.Wanted(
        stage="voice",
        subject="e1/s1/l1",
        key="k",
        queue="cpu",
        klass=1,
        bucket=BUCKET,
        model="tone",
        params={"text": "好", "language": "zh", "voice": "zm_yunyang", "speed": 1.0},
    )
    with book.transaction() as conn:
        project = book.insert_project(conn, title="t")
        (made,) = book.insert_jobs(conn, project, [want], by="test")
        book.ready_jobs(conn, {made: 0.0})
    return made


def item(job, key, bucket=BUCKET):
    return work.Item(key=key, name="mangen.voice", bucket=bucket, data={"job": job, "attempt": 0})


def state(book, job):
    (found,) = book.jobs([job])
    return found.state


def test_a_job_is_claimed_made_and_finished(book, comic, job):
    rt = testing.Here()
    session = comic.open(BUCKET, rt)
    assert session.add([item(job, "a")]) == {}
    outcome = {}
    while not outcome:
        outcome = session.step()
    session.close()
    assert outcome["a"].status is work.Status.DONE
    assert state(book, job) == "done"
    assert [one.kind for one in book.artifacts([job])[job]] == ["voice"]


def test_a_message_of_another_ledger_claims_nothing(book, comic, job):
    session = comic.open("assemble/360x640", testing.Here())
    outcome = session.add([item(job, "a", "assemble/360x640"), item(job + 99, "b")])
    assert {one.status for one in outcome.values()} == {work.Status.STALE}
    assert state(book, job) == "ready"


def test_two_messages_for_one_job_run_it_once(book, comic, job):
    session = comic.open(BUCKET, testing.Here())
    outcome = session.add([item(job, "a"), item(job, "b")])
    assert {key: one.status for key, one in outcome.items()} == {"b": work.Status.STALE}


def test_a_revoked_member_is_cancelled_in_the_ledger(book, comic, job):
    session = comic.open(BUCKET, testing.Here())
    session.add([item(job, "a")])
    assert session.drop("a", work.Why.REVOKED).status is work.Status.ABORTED
    assert state(book, job) == "cancelled"


def test_a_member_that_was_taken_away_is_stale_and_leaves_no_file(book, comic, job, tmp_path):
    rt = testing.Here()
    session = comic.open(BUCKET, rt)
    session.add([item(job, "a")])
    book.release(rt.owner, reason="lease")
    outcome = {}
    while not outcome:
        outcome = session.step()
    assert outcome["a"].status is work.Status.STALE
    assert [file for file in (tmp_path / "artifacts").rglob("*") if file.is_file()] == []
    assert state(book, job) == "ready"


def test_what_was_taken_away_is_left_between_steps(book, tmp_path, job):
    """Its parent may be stopped and can't say so."""
    chosen = settings.Settings(home=tmp_path, lease_s=1)
    members = Endless()
    owner = jobs.Owner.parse(testing.Here().owner)
    book.register(owner)
    one = session.StageSession(BUCKET, members, owner, kit.Kit(chosen, book))
    one.add([item(job, "a")])
    book.release(owner, reason="lease")
    outcomes = {}
    while not outcomes:
        outcomes = one.step()
    assert outcomes["a"].status is work.Status.STALE
    assert (members.dropped, state(book, job)) == (["a"], "ready")


class Endless(stage.Broken):
    """Members that never end."""

    def __init__(self):
        super().__init__(RuntimeError("never raised"))
        self.dropped = []

    def add(self, key, job):
        pass

    def step(self):
        time.sleep(0.01)
        return {}

    def drop(self, key):
        self.dropped.append(key)


def test_a_full_store_waits_uncharged(book, comic, job, tmp_path):
    (tmp_path / "artifacts").write_text("a file where the folder should be")
    session = comic.open(BUCKET, testing.Here())
    session.add([item(job, "a")])
    outcome = {}
    while not outcome:
        outcome = session.step()
    assert outcome["a"].status is work.Status.FAILED
    assert "artifact store" in outcome["a"].error
    (found,) = book.jobs([job])
    assert (found.state, found.failures) == ("ready", 0)


def test_a_claim_whose_answer_was_lost_is_found_again(book, comic, job, monkeypatch):
    real, lost = book.claim, []

    def claim(*args, **more):
        granted = real(*args, **more)
        if not lost:
            lost.append(granted)
            raise sa.exc.OperationalError("commit", {}, Exception("the server died"))
        return granted

    monkeypatch.setattr(book, "claim", claim)
    session = comic.open(BUCKET, testing.Here())
    assert session.add([item(job, "a")]) == {}
    outcome = {}
    while not outcome:
        outcome = session.step()
    assert outcome["a"].status is work.Status.DONE
    assert book.jobs([job])[0].attempt == 1


def test_a_stage_that_cannot_be_opened_charges_its_jobs(book, comic, tmp_path):
    want = jobs.Wanted(
        stage="illustrate", subject="e1/s1", key="k", queue="gpu.mid", klass=1,
        bucket="elsewhere/illustrate/64x64", model="elsewhere",
    )  # fmt: skip
    with book.transaction() as conn:
        (made,) = book.insert_jobs(conn, book.insert_project(conn, title="t"), [want], by="test")
        book.ready_jobs(conn, {made: 0.0})
    session = comic.open(want.bucket, testing.Here())
    outcome = session.add([item(made, "a", want.bucket)])
    assert outcome["a"].status is work.Status.FAILED
    assert "MANGEN_IMAGE_ENGINE" in outcome["a"].error
    assert state(book, made) == "failed"


def test_a_member_out_of_memory_keeps_its_claim_and_is_made_when_added_again(book, comic, job):
    session = comic.open(BUCKET, testing.Here())
    session.add([item(job, "a")])
    assert session.drop("a", work.Why.OOM).status is work.Status.PARKED
    assert state(book, job) == "running"
    assert session.add([item(job, "a")]) == {}
    outcome = {}
    while not outcome:
        outcome = session.step()
    assert outcome["a"].status is work.Status.DONE
    assert book.jobs([job])[0].attempt == 1


def test_a_parked_member_can_be_stopped(book, comic, job):
    session = comic.open(BUCKET, testing.Here())
    session.add([item(job, "a")])
    session.drop("a", work.Why.OOM)
    assert session.drop("a", work.Why.REVOKED).status is work.Status.ABORTED
    assert state(book, job) == "cancelled"


def test_what_does_not_fit_alone_waits_uncharged(book, comic, job):
    session = comic.open(BUCKET, testing.Here())
    session.add([item(job, "a")])
    session.drop("a", work.Why.OOM)
    outcome = session.drop("a", work.Why.NEVER_FITS)
    assert outcome.status is work.Status.FAILED
    assert "more is needed than this device has" in outcome.error
    (found,) = book.jobs([job])
    assert (found.state, found.failures) == ("ready", 0)


def test_a_member_that_ended_is_told_before_another_runs_out_of_memory():
    def steps(job):
        yield 0, 1
        if job == "large":
            raise MemoryError("no room")
        return stage.Made(value={"job": job})

    members = stage.Stepped(steps, testing.Here())
    members.add("a", "small")
    members.add("b", "large")
    assert members.step() == {}
    assert list(members.step()) == ["a"]
    with pytest.raises(MemoryError):
        members.step()
    members.drop("b")
    assert members.step() == {}


def test_a_models_name_leads_to_what_loads_it(comic):
    assert comic.spec("animatic").key == "animatic"
    assert comic.spec("elsewhere") is None


class Reader:
    """Members that read the ledger by themselves, on a connection that the server ends."""

    joinable = False

    def __init__(self, book):
        self.book = book

    def add(self, key, job):
        del key, job
        with self.book.transaction() as conn:
            conn.execute(sa.text("select pg_terminate_backend(pg_backend_pid())"))
            conn.execute(sa.text("select 1"))

    def step(self):
        return {}

    def drop(self, key):
        pass

    def close(self):
        pass


def test_a_ledger_that_goes_away_under_a_stage_charges_nobody(book, comic, job):
    owner = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))
    book.register(owner)
    one = session.StageSession(BUCKET, Reader(book), owner, comic._kit)
    assert one.add([item(job, "a")])["a"].status is work.Status.FAILED
    with book.transaction() as conn:
        row = conn.execute(sa.text("select state, failures, error_kind from jobs")).one()
    assert tuple(row) == ("ready", 0, "resource")


class Roomy(stage.Broken):
    """Members of which `room` can begin; who is named `bad` can't ever. One step ends all."""

    joinable = True

    def __init__(self, room):
        super().__init__(RuntimeError("never raised"))
        self.room, self.here = room, {}

    def add(self, key, job):
        if job.params["text"] == "bad":
            raise errors.EngineError("it says nothing")
        if len(self.here) >= self.room:
            raise MemoryError("no room")
        self.here[key] = job

    def step(self):
        ended = {key: stage.Made() for key in self.here}
        self.here.clear()
        return ended

    def drop(self, key):
        self.here.pop(key, None)


@pytest.fixture
def several(book):
    """Answer a function that makes ready voice jobs that say these words."""

    def make(*texts):
        wants = [
            jobs.Wanted(
                stage="voice", subject=f"e1/s1/l{n}", key=f"k{n}", queue="cpu", klass=1,
                bucket=BUCKET, model="tone", params={"text": words},
            )
            for n, words in enumerate(texts, 1)
        ]  # fmt: skip
        with book.transaction() as conn:
            made = book.insert_jobs(conn, book.insert_project(conn, title="t"), wants, by="test")
            book.ready_jobs(conn, dict.fromkeys(made, 0.0))
        return sorted(made)

    return make


def opened(book, tmp_path, members):
    owner = jobs.Owner.parse(testing.Here().owner)
    book.register(owner)
    return session.StageSession(
        BUCKET, members, owner, kit.Kit(settings.Settings(home=tmp_path), book)
    )


def test_who_joins_a_running_session_is_claimed_and_ends_by_itself(book, tmp_path, several):
    first, second = several("one", "two")
    one = opened(book, tmp_path, Roomy(2))
    assert one.joinable
    assert one.add([item(first, "a")]) == {}
    assert one.add([item(second, "b")]) == {}
    assert (state(book, first), state(book, second)) == ("running", "running")
    assert one.drop("a", work.Why.REVOKED).status is work.Status.ABORTED
    assert {key: made.status for key, made in one.step().items()} == {"b": work.Status.DONE}
    assert (state(book, first), state(book, second)) == ("cancelled", "done")


def test_who_was_paused_joins_nobody_and_the_others_go_on(book, tmp_path, several):
    first, second = several("one", "two")
    one = opened(book, tmp_path, Roomy(2))
    one.add([item(first, "a")])
    with book.transaction() as conn:
        book.hold(conn, book.jobs([second])[0].project, "")
    assert one.add([item(second, "b")])["b"].status is work.Status.STALE
    assert one.step()["a"].status is work.Status.DONE
    assert (state(book, first), state(book, second)) == ("done", "ready")


def test_who_joined_and_was_taken_away_is_stale_and_the_others_end(book, tmp_path, several):
    first, second = several("one", "two")
    one = opened(book, tmp_path, Roomy(2))
    one.add([item(first, "a")])
    one.add([item(second, "b")])
    with book.transaction() as conn:
        conn.execute(sa.text("update jobs set attempt = attempt + 1 where id = :j"), {"j": second})
    ended = one.step()
    assert ended["a"].status is work.Status.DONE
    assert ended["b"].status is work.Status.STALE
    assert state(book, second) == "running"


def test_who_joins_where_there_is_no_memory_is_parked_and_made_later(book, tmp_path, several):
    first, bad, second, third = several("one", "bad", "two", "three")
    one = opened(book, tmp_path, Roomy(1))
    assert one.add([item(first, "a")]) == {}
    with pytest.raises(MemoryError):
        one.add([item(bad, "x"), item(second, "b"), item(third, "c")])
    assert one.drop("x", work.Why.OOM).error == "it says nothing"  # it ended, and is told so
    for key in "bc":  # claimed, though they never began
        assert one.drop(key, work.Why.OOM).status is work.Status.PARKED
    assert one.step()["a"].status is work.Status.DONE
    for key, job in (("b", second), ("c", third)):
        assert one.add([item(job, key)]) == {}
        assert one.step()[key].status is work.Status.DONE
    found = book.jobs([first, second, third])
    assert {(row.state, row.attempt, row.failures) for row in found} == {("done", 1, 0)}
    assert state(book, bad) == "failed"


def test_who_never_has_memory_to_begin_waits_uncharged(book, tmp_path, several):
    (only,) = several("one")
    one = opened(book, tmp_path, Roomy(0))
    with pytest.raises(MemoryError):
        one.add([item(only, "a")])
    outcome = one.drop("a", work.Why.NEVER_FITS)
    assert outcome.status is work.Status.FAILED
    (row,) = book.jobs([only])
    assert (row.state, row.failures) == ("ready", 0)


def test_the_members_of_plain_stages_are_not_joined(comic):
    assert not comic.open(BUCKET, testing.Here()).joinable
    assert not comic.open("animatic/illustrate/64x64", testing.Here()).joinable
    assert not comic.open("elsewhere/illustrate/64x64", testing.Here()).joinable
