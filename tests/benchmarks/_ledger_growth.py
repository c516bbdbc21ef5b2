"""The same calls in a small and in a large table, by turns: what noise there is meets both."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Sequence

import sqlalchemy as sa

from mangen.dispatch import drain, leader, publisher, rank
from mangen.ledger import jobs, ledger

BATCH = 20
_SINGLES, _BATCHES, _SETTLED = 20, 5, 20  #: of each a round


@dataclasses.dataclass
class Times:
    """Milliseconds of each call, by kind."""

    single: list[float] = dataclasses.field(default_factory=list)
    batch: list[float] = dataclasses.field(default_factory=list)
    turn: list[float] = dataclasses.field(default_factory=list)
    published: list[int] = dataclasses.field(default_factory=list)
    ready: list[int] = dataclasses.field(default_factory=list)


class Table:
    """One database, its ledger, and a pass that leads it."""

    def __init__(self, url: str, seed: int) -> None:
        self.book = ledger.Ledger(url, application="mangen-child", pool_size=1)
        self._own = ledger.Ledger(url, application="mangen-beat", pool_size=1)
        self._head = leader.Leader(url, lease_s=30.0, application="mangen-pass")
        self._head.take()
        self._pass = drain.Pass(
            self._own,
            lambda ready, _titles: len(ready),
            lease_s=1e9,  # the owner below beats by hand
            lost_bell_s=1e9,
            weights=rank.Weights.parse("0.5,0.3,0.2,0.1"),
            rules=publisher.Rules(horizon_s=1e9),  # so many jobs a pass, however long
        )
        self._draw = random.Random(seed)
        self._turn = 0
        self._worker = jobs.Owner(
            worker="live", slot=0, generation=time.time_ns(), queues=drain.QUEUES
        )
        self.book.register(self._worker)
        self.times = Times()
        with self.book.transaction() as conn:
            ready = sa.text("SELECT id FROM jobs WHERE state = 'ready' ORDER BY id")
            self._ready = list(conn.execute(ready).scalars())
        self.round_s = self._whole_round()

    def claims(self) -> None:
        """Claim one by one and in batches; then the owner is shut down, and all is ready again."""
        self._turn += 1
        owner = dataclasses.replace(self._worker, slot=1, generation=time.time_ns())
        self.book.register(owner)
        asked = self._draw.sample(self._ready, _SINGLES + _BATCHES * BATCH)
        with self.book.transaction() as conn:  # a claim follows its publication
            self.book.publish_jobs(conn, asked)
        for _ in range(_SINGLES):
            self._claim([asked.pop()], owner, self.times.single)
        while asked:
            batch, asked = asked[:BATCH], asked[BATCH:]
            self._claim(batch, owner, self.times.batch)
        self.book.release(owner, reason="shutdown")

    def passes(self) -> None:
        """Finish what was published, so that something moved; then one pass, timed."""
        self._rest()
        self.book.beat([self._worker], {"capacity": _SETTLED, "room": 0, "window": []})
        with self.book.transaction() as conn:
            query = "SELECT id FROM jobs WHERE state = 'published' ORDER BY id LIMIT :most"
            rung = list(conn.execute(sa.text(query), {"most": _SETTLED}).scalars())
        for fence in self.book.claim(rung, self._worker).granted.values():
            with self.book.finishing(fence):
                pass
        began = time.perf_counter()
        done = self._pass.run(self._head.connection, session=self._head.session)
        self.times.turn.append(1000 * (time.perf_counter() - began))
        self.times.published.append(done.published)
        self.times.ready.append(done.ready)
        taken = set(rung)
        self._ready = [job for job in self._ready if job not in taken]

    def close(self) -> None:
        self._head.close()
        self._own.close()
        self.book.close()

    def _rest(self) -> None:
        """Pass until nothing is left to be looked at: what the claims above moved is not timed."""
        while True:
            with self.book.transaction() as conn:
                if not conn.scalar(sa.text("SELECT count(*) FROM dirty")):
                    return
            self._pass.run(self._head.connection, session=self._head.session)

    def _whole_round(self) -> float:
        """Let the pass look at every open project, which it does each minute by and by."""
        began = time.perf_counter()
        while True:
            self._pass.run(self._head.connection, session=self._head.session)
            if not self._pass._round:
                break
        self._pass._last_round = float("inf")  # its seconds are told apart
        return time.perf_counter() - began

    def _claim(self, ids: Sequence[int], owner: jobs.Owner, times: list[float]) -> None:
        began = time.perf_counter()
        claims = self.book.claim(ids, owner)
        times.append(1000 * (time.perf_counter() - began))
        if claims.refused:
            raise RuntimeError(f"a claim was refused: {claims.refused}")


def measure(small: Table, large: Table, *, rounds: int) -> None:
    """So many rounds, by turns, the first of them to warm up."""
    for number in range(rounds + 1):
        for table in (small, large) if number % 2 else (large, small):
            table.claims()
            table.passes()
        if not number:
            for table in (small, large):
                table.times = Times()
