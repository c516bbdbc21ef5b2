import multiprocessing
import threading

import pytest

from mangen import errors
from mangen.ledger import jobs, ledger


def test_claim_jobs_takes_published_and_ready_ones(desk, wanted):
    a, b, c = desk.want(*(wanted("anchor", f"c/{n}") for n in range(3)))
    desk.advance()
    desk.publish(a)
    claims = desk.book.claim([c, b, a, a], desk.owner, session="s1")
    assert claims.granted == {
        job: jobs.Fence(job=job, attempt=1, owner="w/0/1") for job in (a, b, c)
    }
    assert not claims.refused
    assert desk.events(a)[-1] == ("claim_jobs", "published", "running")
    assert desk.events(b)[-1] == ("claim_jobs", "ready", "running")
    assert {(row["session"], row["members"]) for row in desk.sql("select * from attempts")} == {
        ("s1", 3)
    }


def test_claim_says_why_it_refused(desk, wanted):
    blocked, running, done, later, excluded, newer, paused = desk.want(
        wanted("illustrate", "e1", ("anchor", "c/1")),
        *(wanted("anchor", f"c/{n}") for n in range(1, 7)),
    )
    desk.run(running)
    desk.settle(done, "done")
    [fence] = desk.run(later)
    desk.book.fail(fence, "transient", "again")
    desk.book.register(jobs.Owner(worker="x", slot=0, generation=1, device="big", queues=("cpu",)))
    desk.book.hand_back(excluded, 0, "never_fits", device="cpu")
    desk.sql("update jobs set format = 99 where id = :id", id=newer)
    ids = [blocked, running, done, later, excluded, newer, 999]
    refused = desk.book.claim(ids, desk.owner).refused
    assert {job: why.split(" 20")[0] for job, why in refused.items()} == {
        blocked: "blocked",
        running: "running by w/0/1",
        done: "done",
        later: "not before",
        excluded: "device class excluded",
        newer: "format 99 not understood",
        999: "unknown",
    }  # fmt: skip
    desk.pause()
    assert desk.book.claim([paused], desk.owner).refused == {paused: "paused"}


def test_an_owner_that_is_not_registered_or_released_claims_nothing(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    desk.advance()
    stranger = jobs.Owner(worker="w", slot=1, generation=1)
    assert desk.book.claim([a], stranger).refused == {a: "owner not registered"}
    desk.book.register(stranger)
    desk.book.release(stranger, reason="shutdown")
    assert desk.book.claim([a], stranger).refused == {a: "owner released"}
    with pytest.raises(errors.LedgerError, match="register a new generation"):
        desk.book.register(stranger)
    assert desk.state(a) == "ready"


def test_register_is_idempotent(desk):
    desk.book.register(desk.owner)
    with desk.book.transaction() as conn:
        [living] = desk.book.living_owners(conn)
    assert living.owner == desk.owner


def _grab(url, slot, ids, begin, answers):
    book = ledger.Ledger(url, pool_size=1)
    owner = jobs.Owner(worker="p", slot=slot, generation=1, queues=("cpu",))
    book.register(owner)
    begin.wait(30)
    granted = []
    for at in range(0, len(ids), 7):
        granted += book.claim(ids[at : at + 7], owner).granted
    book.close()
    answers.put(granted)


def test_processes_that_race_for_the_same_jobs_get_each_once(desk, wanted, ledger_url):
    ids = desk.want(*(wanted("voice", f"e1/s1/l{n}") for n in range(60)))
    desk.advance()
    spawn = multiprocessing.get_context("spawn")
    begin, answers = spawn.Barrier(2), spawn.Queue()
    claimers = [
        spawn.Process(target=_grab, args=(ledger_url, slot, order, begin, answers))
        for slot, order in enumerate((ids, ids[::-1]))
    ]
    for claimer in claimers:
        claimer.start()
    granted = [job for _ in claimers for job in answers.get(timeout=60)]
    for claimer in claimers:
        claimer.join(60)
    assert sorted(granted) == ids
    assert desk.sql("select max(attempt) as n from jobs")[0]["n"] == 1


def test_a_claim_never_slips_in_behind_a_release(desk, wanted):
    for n in range(12):
        [a] = desk.want(wanted("anchor", f"c/{n}"))
        desk.advance()
        owner = jobs.Owner(worker="r", slot=0, generation=n)
        desk.book.register(owner)
        gate = threading.Barrier(2)

        def claim(owner=owner, job=a, gate=gate):
            gate.wait(10)
            desk.book.claim([job], owner)

        thread = threading.Thread(target=claim)
        thread.start()
        gate.wait(10)
        desk.book.release(owner, reason="lease")
        thread.join(10)
        assert desk.state(a) == "ready"


@pytest.mark.parametrize(
    ("why", "state"),
    [
        ("paused", "ready"),
        ("shutdown", "ready"),
        ("revoked", "cancelled"),
        ("abort", "cancelled"),
        ("never_fits", "failed"),
    ],
)
def test_hand_back_moves_a_published_or_ready_job(desk, wanted, why, state):
    a, b = desk.want(wanted("anchor", "c/a"), wanted("anchor", "c/b"))
    desk.advance()
    desk.publish(a)
    assert desk.book.hand_back(a, 0, why, device="cpu") == state
    assert desk.book.hand_back(b, 0, why, device="cpu") == state
    assert desk.events(a)[-1] == ("hand_back", "published", state)
    assert desk.events(b)[-1] == ("hand_back", "ready", state)


def test_hand_back_excludes_this_device_class_while_another_could(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    desk.advance()
    desk.book.register(jobs.Owner(worker="x", slot=0, generation=1, device="big", queues=("cpu",)))
    assert desk.book.hand_back(a, 0, "never_fits", device="cpu") == "ready"
    assert desk.row(a)["exclude"] == ["cpu"]
    assert desk.book.hand_back(a, 0, "never_fits", device="big") == "failed"
    assert desk.row(a)["error"] == "larger than every registered device: cpu, big"


def test_hand_back_of_an_attempt_that_moved_on_does_nothing(desk, wanted):
    [a] = desk.want(wanted("anchor", "c/a"))
    desk.advance()
    assert desk.book.hand_back(a, 1, "revoked") is None
    desk.run(a)
    assert desk.book.hand_back(a, 1, "revoked") is None
    assert desk.state(a) == "running"
    with pytest.raises(ValueError, match="oom"):
        desk.book.hand_back(a, 1, "oom")
