"""Many hands at once, all of them erring: whatever they do, the invariants stay silent."""

import random
import threading

from mangen import errors
from mangen.dispatch import drain, rank
from mangen.ledger import door, jobs, ledger


def _plan(wanted, take):
    anchors = [wanted("anchor", f"c/{n}", key=take) for n in range(3)]
    shots = []
    for n in range(8):
        needs = ("anchor", f"c/{n % 3}"), ("anchor", f"c/{(n + 1) % 3}")
        shots += [
            wanted("voice", f"e1/s{n}/l1"),
            wanted("illustrate", f"e1/s{n}", *needs, key=take),
            wanted(
                "animate", f"e1/s{n}", ("illustrate", f"e1/s{n}", "hard"), ("voice", f"e1/s{n}/l1"),
                key=take,
            ),
        ]  # fmt: skip
    film = wanted("assemble", "e1", *(("animate", f"e1/s{n}") for n in range(8)), key=take)
    return [*anchors, *shots, film]


class Hands:
    def __init__(self, url, project, seed):
        self.book = ledger.Ledger(url, pool_size=1)
        self.book.backoff_s = 0.001
        self.project, self.dice = project, random.Random(seed)
        self.seed, self.generation = seed, 0
        self.wrong = None
        self.clock, self.fences, self.sent = 0.0, [], []
        self.engine = door.engine_of(url)
        self.turn = drain.Pass(
            self.book, self.send, lease_s=3, lost_bell_s=0.005, weights=rank.Weights(),
            clock=lambda: self.clock,
        )  # fmt: skip
        self.begin()

    def send(self, ready, _titles):
        self.sent += [job.id for job in ready]
        return len(ready)

    def begin(self):
        self.generation += 1
        self.owner = jobs.Owner(
            worker="w", slot=self.seed, generation=self.generation, queues=("cpu",)
        )
        self.book.register(self.owner)

    def child(self, ids):
        """Claim some, and end each in some way; sometimes die, or come too late."""
        claims = self.book.claim(self.dice.sample(ids, min(4, len(ids))), self.owner)
        self.fences += claims.granted.values()
        for fence in claims.granted.values():
            match self.dice.choice(["done"] * 6 + ["transient", "resource", "permanent", "die"]):
                case "done":
                    with self.book.finishing(fence) as conn:
                        path = f"{self.project}/{fence.job}-{fence.attempt}.bin"
                        self.book.add_artifacts(
                            conn, fence, [jobs.Artifact(kind="x", path=path, sha256="y")]
                        )
                case "die":
                    self.book.release(
                        self.owner, {fence.job}, self.dice.choice(["child_lost", "lease"])
                    )
                    self.begin()
                    with self.book.finishing(fence):
                        raise AssertionError("a lost attempt finished")
                case kind:
                    self.book.fail(fence, kind, "storm")
            self.book.beat([self.owner], {})

    def late(self):
        """A worker that woke: what it finishes was settled, or lost, long before."""
        if self.fences:
            with self.book.finishing(self.dice.choice(self.fences)):
                raise AssertionError("a settled attempt finished again")

    def doubled(self):
        """Messages come twice, and to two children."""
        ids, self.sent = [*self.sent, *self.sent], []
        claims = self.book.claim(ids, self.owner)
        assert self.book.claim(list(claims.granted), self.owner).granted == {}
        self.fences += claims.granted.values()
        for fence in claims.granted.values():
            self.book.finish(fence)

    def back(self, ids):
        for job in self.book.jobs(self.dice.sample(ids, 2)):
            why = self.dice.choice(["paused", "never_fits", "revoked"])
            self.book.hand_back(job.id, job.attempt, why)

    def hold(self):
        with self.book.transaction() as conn:
            do = self.dice.choice([self.book.hold, self.book.let_go, self.book.let_go])
            do(conn, self.project, self.dice.choice(["e1/s1", "e1/s2", "c/0", ""]))

    def lose(self, ids):
        """Some files are gone; what is still wanted of them is made anew."""
        with self.book.transaction() as conn:
            self.book.redo_jobs(conn, self.project, self.dice.sample(ids, 4), ids[-1:])

    def whole_pass(self):
        """As a leader does it, with a clock that jumps: nobody who beats is ever released."""
        self.clock += self.dice.choice([0, 1, 2, 60])
        with self.engine.connect() as conn:
            self.turn.run(conn, session=self.dice.randrange(2))

    def look(self):
        with self.book.transaction() as conn:
            self.book.lock_project(conn, self.project)
            near = self.book.clear_dirty(conn, self.project)
            if near is None:
                self.book.skip_jobs(conn, self.project)
            found = self.book.find_ready(conn, self.project, near=near)
            self.book.ready_jobs(conn, {one.id: self.dice.random() for one in found})
            best = self.book.find_publishable(conn, "cpu", 5)
            self.book.publish_jobs(conn, [job.id for job in best[:5]])
            self.book.unpublish_jobs(conn, 0.005, [], ["cpu"])

    def run(self, rounds, wanted, everything):
        try:
            for _ in range(rounds):
                ids = everything()
                try:
                    match self.dice.choice(
                        ["child"] * 5 + ["look"] * 2 + ["whole_pass", "doubled"]
                        + ["cancel", "revive", "plan", "late", "back", "hold", "lose"]
                    ):  # fmt: skip
                        case "child":
                            self.child(ids)
                        case "late" | "doubled" | "hold" | "look" | "whole_pass" as do:
                            getattr(self, do)()
                        case "back" | "lose" as do:
                            getattr(self, do)(ids)
                        case "cancel":
                            self.book.cancel(self.dice.sample(ids, 2))
                        case "revive":
                            with self.book.transaction() as conn:
                                self.book.revive_jobs(conn, self.dice.sample(ids, 6))
                        case "plan":
                            with self.book.transaction() as conn:
                                plan = _plan(wanted, self.dice.choice(["k1", "k2"]))
                                self.book.insert_jobs(conn, self.project, plan, by="storm")
                except errors.FenceLost:
                    self.book.beat([self.owner], {})
        except Exception as error:  # noqa: BLE001 - told to the main thread
            self.wrong = error
        finally:
            self.book.release(self.owner, None, "shutdown")
            self.book.close()
            self.engine.dispose()


def test_a_storm_of_hands_breaks_no_invariant(desk, wanted, ledger_url):
    desk.want(*_plan(wanted, "k1"))

    def everything():
        return [row["id"] for row in desk.sql("select id from jobs order by id")]

    hands = [Hands(ledger_url, desk.project, seed) for seed in range(4)]
    threads = [threading.Thread(target=one.run, args=(60, wanted, everything)) for one in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [one.wrong for one in hands] == [None] * 4
    paths = [row["path"] for row in desk.sql("select path from artifacts")]
    assert paths
    assert desk.broken(paths) == set()
    # and once the storm is over the work comes to its end, by what `dirty` says alone
    with desk.book.transaction() as conn:
        for path in desk.book.holds(conn, None).get(desk.project, ()):
            desk.book.let_go(conn, desk.project, path)
    desk.want(*_plan(wanted, "k1"))
    last = Hands(ledger_url, desk.project, 99)
    for _ in range(100):
        rows = desk.sql("select id from jobs where settled_at is null")
        if not rows:
            break
        ids = [row["id"] for row in rows]
        desk.due(*ids)
        last.look()
        for fence in last.book.claim(ids, last.owner).granted.values():
            desk.finish(fence)
    last.book.close()
    last.engine.dispose()
    assert rows == []
    assert desk.broken(paths) == set()
