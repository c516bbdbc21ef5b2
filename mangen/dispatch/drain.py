"""The pass: release dead owners, advance what is ready, ring what is lost, publish the best.

Level-triggered and idempotent: it reads the rows alone, on the leader's own connection, and may
run any number of times. Publishing is bounded by the windows of live workers, so that order is
decided late, here; what gates other work goes beyond the bound.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import sqlalchemy as sa

from mangen.dispatch import canvas, rank
from mangen.ledger import durations, jobs, ledger

log = logging.getLogger(__name__)

QUEUES = ("gpu.high", "cpu", "gpu.mid", "gpu.low")
_EVERY_PROJECT_S = 60.0
_LEARN_S = 10.0  #: between two looks at learned durations
_GATING_BOUND = 1_000  #: gating jobs one pass publishes, whatever the windows hold


class Send(Protocol):
    """Puts published jobs on the broker; answers how many went out."""

    def __call__(self, ready: Sequence[jobs.Job], titles: Mapping[int, str]) -> int: ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What one pass did."""

    released: int = 0
    skipped: int = 0
    ready: int = 0
    unpublished: int = 0
    published: int = 0


@dataclasses.dataclass(slots=True)
class _Look:
    beat: int
    since: float


class Pass:
    """One leader's pass over the ledger; keeps only what it saw of the owners' beats."""

    def __init__(
        self,
        book: ledger.Ledger,
        send: Send,
        *,
        lease_s: float,
        lost_bell_s: float,
        weights: rank.Weights,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book, self._send = book, send
        self._lease_s, self._lost_bell_s, self._weights = lease_s, lost_bell_s, weights
        self._clock = clock
        self._looks: dict[str, _Look] = {}
        self._last_look = self._session = -1.0
        self._last_full = float("-inf")
        self._titles: dict[int, str] = {}
        self._learned = durations.Learned()
        self._last_lesson = float("-inf")

    def run(self, conn: sa.Connection, *, session: int = 0) -> Done:
        """Do one pass. `session` changes when the connection was lost: looks start anew then."""
        released = self._release(conn, session)
        self._learn(conn)
        skipped, ready = self._advance(conn)
        living = self._living(conn)
        unpublished = self._unpublish(conn, living)
        published = self._publish(conn, living)
        return Done(
            released=released,
            skipped=skipped,
            ready=ready,
            unpublished=unpublished,
            published=published,
        )

    def _living(self, conn: sa.Connection) -> Sequence[jobs.Living]:
        with conn.begin():
            return self._book.living_owners(conn)

    def _release(self, conn: sa.Connection, session: int) -> int:
        """Release owners seen twice, a lease apart, with the same beat."""
        owners, now = self._living(conn), self._clock()
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

    def _advance(self, conn: sa.Connection) -> tuple[int, int]:
        now = self._clock()
        full = now - self._last_full >= _EVERY_PROJECT_S
        with conn.begin():
            projects = set(self._book.dirty_projects(conn))
            if full:
                projects |= set(self._book.open_projects(conn))
                self._last_full = now
        skipped = ready = 0
        for project in sorted(projects):
            with conn.begin():
                self._book.lock_project(conn, project)
                done = self._book.clear_dirty(conn, project)
                near = None if full else done  # where jobs were only done, look only near them
                if near is None:
                    skipped += len(self._book.skip_jobs(conn, project))
                hours = self._book.now_hours(conn)
                found = self._book.find_ready(conn, project, near=near)
                seconds = {one.id: self._learned.seconds(one) for one in found}
                ranks = {
                    one.id: rank.rank(
                        seconds=seconds[one.id],
                        peak_bytes=one.peak_bytes,
                        frees=one.frees,
                        hours=hours,
                        weights=self._weights,
                    )
                    for one in found
                }
                ready += len(self._book.ready_jobs(conn, ranks, seconds=seconds))
        return skipped, ready

    def _learn(self, conn: sa.Connection) -> None:
        """Look now and then at how long things take: what becomes ready is foretold by it."""
        now = self._clock()
        if now - self._last_lesson >= _LEARN_S:
            self._last_lesson = now
            devices = {one.owner.device for one in self._living(conn)}
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

    def _publish(self, conn: sa.Connection, living: Sequence[jobs.Living]) -> int:
        with conn.begin():
            counts = self._book.published_count(conn)
        room = _room(living, counts)
        published = 0
        for queue in QUEUES:
            limit = _GATING_BOUND if queue == canvas.GATING_QUEUE else int(room.get(queue, 0))
            if limit <= 0:
                continue
            with conn.begin():
                found = self._book.find_publishable(conn, queue, limit)
                chosen = self._book.publish_jobs(conn, [job.id for job in found])
                self._learn_titles(conn, {job.project for job in chosen})
            if chosen:
                self._send(chosen, self._titles)
                published += len(chosen)
                for other in room:  # the same workers hold every queue's work
                    room[other] -= len(chosen)
        return published

    def _learn_titles(self, conn: sa.Connection, projects: Iterable[int]) -> None:
        unknown = set(projects) - self._titles.keys()
        if unknown:
            self._titles |= {
                one.id: one.title for one in self._book.projects(sorted(unknown), conn)
            }


def _room(living: Sequence[jobs.Living], published: Mapping[str, int]) -> dict[str, float]:
    """Requests that live workers could still take, by queue."""
    room = dict.fromkeys(QUEUES, 0.0)
    for owner in living:
        for queue in owner.owner.queues:
            if queue in room:
                room[queue] += owner.report.get("capacity", 0)
    waiting = sum(published.get(queue, 0) for queue in QUEUES)
    return {queue: capacity - waiting for queue, capacity in room.items()}
