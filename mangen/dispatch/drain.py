"""The pass: release dead owners, advance what is ready, ring what is lost, publish the best.

Level-triggered and idempotent: it reads the rows alone, on the leader's own connection, and may
run any number of times. Where thousands of projects wait to be looked at, a pass looks at as many
as a slice of time takes and leaves the rest to the next.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
import time
from collections.abc import Callable, Sequence

import sqlalchemy as sa

from mangen import errors
from mangen.dispatch import publisher, rank, reconcile
from mangen.ledger import durations, jobs, ledger

log = logging.getLogger(__name__)

QUEUES = publisher.QUEUES
_EVERY_PROJECT_S = 60.0
_SLICE_S = 1.0  #: of advancing projects, before what is ready is published
_ROUND_S = 0.25  #: of the round through all open projects, a pass
_AT_ONCE = 8  #: projects of that round that one statement asks about
#: what a look at one project may meet in its rows; a lost connection ends the pass
_ITS_OWN = (ArithmeticError, ValueError, TypeError, sa.exc.DataError, sa.exc.IntegrityError)
_PIECE = 10_000  #: jobs of one project that become ready in one transaction
_LEARN_S = 10.0  #: between two looks at learned durations


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What one pass did."""

    released: int = 0
    mended: int = 0  #: expired requests, work that no heartbeat carried, bells of lost workers
    skipped: int = 0
    ready: int = 0
    unpublished: int = 0
    promoted: int = 0
    published: int = 0
    left: int = 0  #: projects in which something moved, for the next pass: it should come soon

    def plus(self, more: Done) -> Done:
        """What this pass and the next did; `left` is the next one's."""
        names = [field.name for field in dataclasses.fields(self) if field.name != "left"]
        sums = {name: getattr(self, name) + getattr(more, name) for name in names}
        return Done(**sums, left=more.left)


@dataclasses.dataclass(slots=True)
class _Look:
    beat: int
    since: float


class Pass:
    """One leader's pass over the ledger; keeps only what it saw of the owners' beats."""

    def __init__(
        self,
        book: ledger.Ledger,
        send: publisher.Send,
        *,
        lease_s: float,
        lost_bell_s: float,
        weights: rank.Weights,
        rules: publisher.Rules | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book = book
        self._publisher = publisher.Publisher(book, send, rules or publisher.Rules(), clock)
        self._lease_s, self._lost_bell_s, self._weights = lease_s, lost_bell_s, weights
        self._clock = clock
        self._looks: dict[str, _Look] = {}
        self._last_look = self._session = -1.0
        self._last_round = float("-inf")
        self._round: collections.deque[int] = collections.deque()  # still to be looked at whole
        self._news: list[int] = []  # projects in which something became ready
        self._hours = 0.0  # by the database's clock: ranks count ages from it
        self._learned = durations.Learned()
        self._last_lesson = float("-inf")

    def run(self, conn: sa.Connection, *, session: int = 0) -> Done:
        """Do one pass. `session` changes when the connection was lost: looks start anew then."""
        living = self._living(conn)
        released = self._release(conn, living, session)
        if released:
            living = self._living(conn)
        mended = reconcile.in_pass(self._book, conn, living, released=released)
        self._learn(conn, living)
        advanced = self._advance(conn)
        unpublished = self._unpublish(conn, living)
        promoted = self._publisher.promote(conn, living)
        return dataclasses.replace(
            advanced,
            released=released,
            mended=mended,
            unpublished=unpublished,
            promoted=promoted,
            published=self._publisher.publish(conn, living, self._news),
        )

    def _living(self, conn: sa.Connection) -> Sequence[jobs.Living]:
        with conn.begin():
            return self._book.living_owners(conn)

    def _release(self, conn: sa.Connection, owners: Sequence[jobs.Living], session: int) -> int:
        """Release owners seen twice, a lease apart, with the same beat."""
        now = self._clock()
        if session != self._session or now - self._last_look > self._lease_s:
            self._looks.clear()  # a gap in this looker's own life proves nothing about others
        self._session, self._last_look = session, now
        looks = {}
        lost = []
        for owner in owners:
            name = str(owner.owner)
            look = self._looks.get(name)
            if look is None or look.beat != owner.beat:
                look = _Look(owner.beat, now)
            elif now - look.since >= self._lease_s:
                lost.append(name)
            looks[name] = look
        self._looks = looks
        for name in lost:
            log.warning("owner %s gave no heartbeat for %.0f s: released", name, self._lease_s)
            with conn.begin():
                self._book.release(name, reason="lease", conn=conn)
            del self._looks[name]
        return len(lost)

    def _advance(self, conn: sa.Connection) -> Done:
        """Look at the projects in which something moved, and in turn at all that are open."""
        now = self._clock()
        with conn.begin():
            self._hours = self._book.now_hours(conn)
            dirty = collections.deque(self._book.dirty_projects(conn))
            if now - self._last_round >= _EVERY_PROJECT_S and not self._round:
                self._round.extend(self._book.open_projects(conn))
                self._last_round = now
        self._news = []
        seen = self._look_through(conn, dirty, now + _SLICE_S, whole=False)
        skipped, ready, until = seen.skipped, seen.ready, self._clock() + _ROUND_S
        while self._round and self._clock() < until:
            some = [self._round.popleft() for _ in range(min(_AT_ONCE, len(self._round)))]
            with conn.begin():
                movable = collections.deque(self._book.movable_projects(conn, some))
            more = self._look_through(conn, movable, until, whole=True)
            skipped, ready = skipped + more.skipped, ready + more.ready
            self._round.extendleft(reversed(movable))
        return Done(skipped=skipped, ready=ready, left=len(dirty))

    def _look_through(
        self, conn: sa.Connection, projects: collections.deque[int], until: float, *, whole: bool
    ) -> Done:
        """Advance the first of these projects, and the others while there is time."""
        skipped = ready = 0
        while projects:
            project = projects.popleft()
            try:
                done = self._look_at(conn, project, whole=whole)
            except errors.UnknownProject:  # purged since it was listed
                continue
            except _ITS_OWN:
                log.exception("project %d can't be advanced; the others go on", project)
                continue
            skipped, ready = skipped + done.skipped, ready + done.ready
            if done.left:  # others first
                projects.append(project)
            if done.ready:
                self._news.append(project)
            if self._clock() >= until:
                break
        return Done(skipped=skipped, ready=ready)

    def _look_at(self, conn: sa.Connection, project: int, *, whole: bool) -> Done:
        """Advance one project; where jobs were only done, and not `whole`, only near them."""
        with conn.begin():
            self._book.look_project(conn, project)
            done = self._book.clear_dirty(conn, project)
            near = None if whole else done
            skipped = 0 if near is not None else len(self._book.skip_jobs(conn, project))
            found = self._book.find_ready(conn, project, near=near)
            if not found:
                return Done(skipped=skipped)
            later = len(found) > _PIECE
            if later:  # what a transaction's time limit would take back would never be done
                found = found[:_PIECE]
                self._book.look_again(conn, project)
            seconds = {one.id: self._learned.seconds(one) for one in found}
            ranks = {
                one.id: rank.rank(
                    seconds=seconds[one.id],
                    peak_bytes=one.peak_bytes,
                    frees=one.frees,
                    hours=self._hours,
                    weights=self._weights,
                )
                for one in found
            }
            ready = len(self._book.ready_jobs(conn, ranks, seconds=seconds))
        return Done(skipped=skipped, ready=ready, left=int(later))

    def _learn(self, conn: sa.Connection, living: Sequence[jobs.Living]) -> None:
        """Look now and then at how long things take: what becomes ready is foretold by it."""
        now = self._clock()
        if now - self._last_lesson >= _LEARN_S:
            self._last_lesson = now
            devices = {one.owner.device for one in living}
            with conn.begin():
                self._learned = durations.Learned(self._book.durations(conn), devices=devices)

    def _unpublish(self, conn: sa.Connection, living: Sequence[jobs.Living]) -> int:
        """Take back bells that no live worker holds though one of that queue had room since."""
        held = {entry["job"] for owner in living for entry in owner.report.get("window", ())}
        queues = {
            queue
            for owner in living
            if owner.report.get("room", 0) > 0
            for queue in owner.owner.queues
        }
        if not queues:
            return 0
        with conn.begin():
            return self._book.unpublish_jobs(
                conn, self._lost_bell_s, sorted(held), [q for q in QUEUES if q in queues]
            )
