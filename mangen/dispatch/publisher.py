"""The publisher: the last third of a pass, in which what is ready becomes messages.

By queue: the fairest and best first, as many as windows take; then gating work beyond the bound;
now and then what a class has kept waiting too long moves up. It looks at projects, not at jobs:
where hundreds have ready work, the first of the line are remembered for a while.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

import sqlalchemy as sa

from mangen import settings
from mangen.dispatch import canvas, fair, windows
from mangen.ledger import jobs, ledger, publishing

#: in the order in which they are declared, consumed and published
QUEUES = ("gpu.high", "cpu", "gpu.mid", "gpu.low")
_GATING_BOUND = 100  #: gating jobs that are published and unclaimed, whatever the windows hold
_CHUNK = 64  #: jobs one look at a queue chooses
_LINE = 64  #: projects that one look at all of them remembers
_PROMOTE_S = 60.0  #: between two looks at what waits too long
_PROMOTED_SHARE = 0.25  #: of the devices' time, for what moves up a class
_CREDIT = 10  #: quanta of that time that may be saved up
_LINE_S = 5.0  #: a line is good for so long at least: what became ready since is in the news
_DUTY = 20  #: a look at all projects of a queue is not repeated for so many times its duration


class Send(Protocol):
    """Puts published jobs on the broker; answers how many went out."""

    def __call__(self, ready: Sequence[jobs.Job], titles: Mapping[int, str]) -> int: ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """How turns are given, in seconds."""

    quantum_s: float = 60.0
    horizon_s: float = 60.0
    mid_limit_s: float = 7200.0
    low_limit_s: float = 21600.0

    @classmethod
    def of(cls, chosen: settings.Settings) -> Rules:
        """The rules of a deployment."""
        return cls(
            quantum_s=chosen.fair_quantum_s,
            horizon_s=chosen.horizon_s,
            mid_limit_s=chosen.mid_limit_s,
            low_limit_s=chosen.low_limit_s,
        )

    @property
    def limits(self) -> Mapping[int, float]:
        """Class -> seconds after which what it keeps waiting moves up; 0: never."""
        return {1: self.mid_limit_s, 2: self.low_limit_s}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """The first projects of a queue, as one look at all of them found."""

    lanes: frozenset[publishing.Lane]
    last: fair.Place
    until: float


class Publisher:
    """One leader's publishing. Uses the pass's connection; holds nothing that rows don't say."""

    def __init__(
        self,
        book: ledger.Ledger,
        send: Send,
        rules: Rules,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book, self._send, self._rules, self._clock = book, send, rules, clock
        self._lines: dict[str, _Line] = {}
        self._titles: dict[int, str] = {}
        self._last_promotion = float("-inf")
        self._credit_s = rules.quantum_s  # that promotions may still move

    def publish(
        self, conn: sa.Connection, living: Sequence[jobs.Living], news: Iterable[int] = ()
    ) -> int:
        """Publish as much as there is room for; answers how much.

        `news`: projects in which something became ready since the last call.
        """
        with conn.begin():
            load = self._book.published_load(conn)
        room = windows.Windows(living, load, horizon_s=self._rules.horizon_s)
        fresh = frozenset((klass, project) for project in news for klass in range(3))
        published = 0
        for queue in QUEUES:
            line = self._lines.get(queue)
            if line is not None:
                self._lines[queue] = dataclasses.replace(line, lanes=line.lanes | fresh)
            while limit := min(_CHUNK, room.room(queue)):
                taken = self._publish(conn, queue, limit, room)
                published += taken
                if taken < limit:
                    break
        waiting = load.get(canvas.GATING_QUEUE, publishing.Load()).gating
        return published + self._gate(conn, _GATING_BOUND - waiting)

    def promote(self, conn: sa.Connection, living: Sequence[jobs.Living]) -> int:
        """Move up what its class has kept waiting too long; answers how much. Now and then.

        What moves up takes a part of the devices' time at most: however many wait, the urgent
        must not drown among them.
        """
        now = self._clock()
        if now - self._last_promotion < _PROMOTE_S:
            return 0
        if self._last_promotion > float("-inf"):
            earned = _PROMOTED_SHARE * len(living) * (now - self._last_promotion)
            self._credit_s = min(self._credit_s + earned, _CREDIT * self._rules.quantum_s)
        self._last_promotion = now
        if not living or self._credit_s <= 0:
            return 0
        with conn.begin():
            today = self._book.now(conn)
        promoted = 0
        if not self._book.times.quiet(today):
            opened = self._book.times.opened(today)
            for klass, limit in self._rules.limits.items():
                before = today - dt.timedelta(seconds=limit)
                if limit and (opened is None or opened < before):  # quiet hours count for nobody
                    promoted += self._promote(conn, klass, before)
        if promoted:
            self._lines.clear()
        return promoted

    def _promote(self, conn: sa.Connection, klass: int, before: dt.datetime) -> int:
        promoted, quantum = 0, self._rules.quantum_s
        for queue in QUEUES:
            if self._credit_s <= 0:
                break
            with conn.begin():
                moved = self._book.promote_jobs(
                    conn, queue, klass, before=before, quantum_s=quantum,
                    projects=math.ceil(self._credit_s / quantum),
                )  # fmt: skip
            promoted += len(moved)
            self._credit_s -= sum(moved.values())
        return promoted

    def _publish(self, conn: sa.Connection, queue: str, limit: int, room: windows.Windows) -> int:
        with conn.begin():
            turns = self._turns(conn, queue, limit)[:limit]
            chosen = list(
                itertools.takewhile(
                    lambda turn: room.take(queue, turn.job.seconds, turn.job.cap), turns
                )
            )
            going = self._move(conn, queue, chosen)
        if going:
            self._send(going, self._titles)
        return len(going)

    def _gate(self, conn: sa.Connection, limit: int) -> int:
        if limit <= 0:
            return 0
        with conn.begin():
            found = self._book.find_gating(conn, limit)
            if not found:
                return 0
            turns = fair.turns(found, self._rules.quantum_s)
            going = self._move(conn, canvas.GATING_QUEUE, turns, charged=False)
        if going:
            self._send(going, self._titles)
        return len(going)

    def _move(
        self, conn: sa.Connection, queue: str, turns: Sequence[fair.Turn], *, charged: bool = True
    ) -> Sequence[jobs.Job]:
        """Publish these in the ledger; answers those that went, in their turns, ranked by them."""
        if not turns:
            return ()
        went = {job.id: job for job in self._book.publish_jobs(conn, [t.job.id for t in turns])}
        taken = [turn for turn in turns if turn.job.id in went]
        for klass, lane in itertools.groupby(taken, lambda turn: turn.job.klass):
            if charged:
                accounts, clock = fair.served(lane)
                self._book.charge_shares(conn, f"{queue}/{klass}", accounts, clock)
        unknown = {job.project for job in went.values()} - self._titles.keys()
        if unknown:
            found = self._book.projects(sorted(unknown), conn)
            self._titles |= {one.id: one.title for one in found}
        return [dataclasses.replace(went[turn.job.id], rank=turn.rank) for turn in taken]

    def _turns(self, conn: sa.Connection, queue: str, limit: int) -> Sequence[fair.Turn]:
        """The next turns of a queue, of which the first `limit` are exact."""
        quantum = self._rules.quantum_s
        line = self._lines.get(queue)
        if line is not None and self._clock() < line.until:
            turns = self._find(conn, queue, limit, line.lanes)
            # beyond the last of the remembered, others may come first
            if len(turns) >= limit and turns[limit - 1].place(quantum) <= line.last:
                return turns
        began = self._clock()
        turns = self._find(conn, queue, limit, None)
        took = self._clock() - began
        self._lines.pop(queue, None)
        heads: dict[publishing.Lane, fair.Place] = {}
        for turn in turns:
            heads.setdefault((turn.job.klass, turn.job.project), turn.place(quantum))
        if len(heads) >= _LINE:
            self._lines[queue] = _Line(
                lanes=frozenset(heads),
                last=max(heads.values()),
                until=self._clock() + max(_DUTY * took, _LINE_S),
            )
        return turns

    def _find(
        self, conn: sa.Connection, queue: str, limit: int, among: Collection[publishing.Lane] | None
    ) -> Sequence[fair.Turn]:
        found = self._book.find_publishable(
            conn,
            queue,
            limit,
            quantum_s=self._rules.quantum_s,
            among=among,
            most=_LINE if among is None else len(among),
        )
        return fair.turns(found, self._rules.quantum_s)
