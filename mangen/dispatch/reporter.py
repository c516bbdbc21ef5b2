"""The reporter: what a worker's parent tells the ledger, and hears from it.

Two threads with a connection each, so that a broker which hangs under the pass never costs a
heartbeat: one beats, releases lost children and keeps observations; the other LISTENs, and leads
the pass when nobody else does. A third watches over the beats: where none was taken for a lease,
the pool drops its work, which others will have taken over, and starts none until one is taken.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import psycopg
import sqlalchemy.exc as sa_exc

from mangen import errors
from mangen.dispatch import drain, foresight, leader, vigil
from mangen.ledger import jobs, ledger, owning

log = logging.getLogger(__name__)

_UNREACHABLE = (
    errors.ServiceError,
    sa_exc.OperationalError,
    sa_exc.InterfaceError,
    sa_exc.InternalError,
    psycopg.OperationalError,
    OSError,
)


#: between two passes of which the first left projects to the second
_BETWEEN_S = 0.02
#: observations that a new worker learns from: enough for every stage's window, and quickly read
_LESSONS = 5_000


class Pool(Protocol):
    """What the reporter asks of its pool."""

    def owners(self) -> Sequence[jobs.Owner]: ...
    def report(self) -> Mapping[str, Any]: ...
    def stop_job(self, job: int) -> None: ...
    def replace(self, owner: str) -> None: ...
    def suspend(self) -> None: ...
    def resume(self) -> None: ...
    def quiet(self) -> bool: ...
    def learn(self, seen: Sequence[jobs.Observation]) -> None: ...
    def expect(self, models: Sequence[str]) -> None: ...


class Reporter:
    """Heartbeats, releases, observations and the pass of one worker. It holds no lock."""

    def __init__(
        self,
        book: ledger.Ledger,
        pool: Pool,
        head: leader.Leader,
        turn: drain.Pass,
        *,
        lease_s: float,
        pass_s: float,
        housekeep: Callable[[], object],
        foresee: Callable[[], object] = lambda: None,
    ) -> None:
        self._book, self._pool, self._leader, self._pass = book, pool, head, turn
        self._beat_s, self._lease_s, self._pass_s = lease_s / 3, lease_s, pass_s
        self._taught = False
        self._registered: set[str] = set()
        self._gone: set[str] = set()  # ended or lost here: they beat no more
        self._vigil = vigil.Vigil(lease_s)
        self._silent = threading.Event()  # no beat was taken for a lease: nothing runs here
        self._stop = threading.Event()
        self._poke = threading.Event()
        self._lost: collections.deque[tuple[str, set[int] | None, owning.Reason, str]] = (
            collections.deque()
        )
        self._returned: collections.deque[tuple[int, int, str]] = collections.deque()
        self._seen: collections.deque[jobs.Observation] = collections.deque(maxlen=10_000)
        self._threads = [
            threading.Thread(target=self._beats, name="mangen-beat", daemon=True),
            threading.Thread(target=self._watch, name="mangen-vigil", daemon=True),
            threading.Thread(target=self._passes, name="mangen-pass", daemon=True),
            *(
                threading.Thread(
                    target=self._while_leading, args=(every_s, do), name=name, daemon=True
                )
                for name, every_s, do in (
                    ("mangen-sweep", lease_s, housekeep),
                    ("mangen-foresee", min(foresight.EVERY_S, lease_s), foresee),
                )
            ),
        ]

    def start(self) -> None:
        """Start all threads."""
        for thread in self._threads:
            thread.start()

    def child_lost(
        self, owner: str, alone: set[int] | None, reason: owning.Reason, report: str = ""
    ) -> None:
        """Queue the release of a child's jobs; never blocks. `report` is a file about its end."""
        if self._silent.is_set():  # whatever ended it, its work had been dropped
            alone, reason, report = None, "silent", ""
        self._gone.add(owner)
        self._lost.append((owner, alone, reason, report))
        self._poke.set()

    def observe(self, row: jobs.Observation) -> None:
        """Queue an observation; never blocks."""
        self._seen.append(row)

    def hand_back(self, job: int, attempt: int, why: str) -> None:
        """Queue the return of work that never reached a child; never blocks."""
        self._returned.append((job, attempt, why))
        self._poke.set()

    def beat_soon(self) -> None:
        """Ask for a heartbeat now: a child came up, or room was made."""
        self._poke.set()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Release what is still owned, give the lead away, end all threads."""
        self._stop.set()
        self._poke.set()
        for thread in self._threads:
            thread.join(timeout_s)
        self._leader.close()

    # -- the beat thread

    def _beats(self) -> None:
        failing_since: float | None = None
        while True:
            self._poke.clear()  # before looking: a poke that comes now is for the next round
            stopping = self._stop.is_set()
            try:
                self._release_lost()
                self._hand_back()
                if not stopping:
                    self._beat()
                    self._go_on()
                    self._teach()
                self._observe()
                failing_since = None
            except _UNREACHABLE as error:
                if failing_since is None:
                    failing_since = time.monotonic()
                    log.warning("the ledger can't be reached, heartbeats wait: %s", error)
                self._book.dispose()
            except Exception:
                log.exception("a heartbeat failed")
            if stopping:
                return
            wait = min(1.0, self._beat_s) if failing_since is not None else self._beat_s
            self._poke.wait(wait)

    def _beat(self) -> None:
        held = self._pool.owners()
        self._gone &= {str(one) for one in held}
        owners = [one for one in held if str(one) not in self._gone]
        for owner in owners:
            if str(owner) not in self._registered:
                # before its first claim too: what is published is bounded by living owners
                try:
                    self._book.register(owner)
                except errors.LedgerError:
                    self._pool.replace(str(owner))
        self._registered = {str(owner) for owner in owners}
        report = dict(self._pool.report())
        report["capacity"] = report.get("capacity", 0) / max(1, len(owners))
        began = self._vigil.begin()
        answer = self._book.beat(owners, report)
        self._vigil.beaten(began)
        for fence in answer.stop:
            self._pool.stop_job(fence.job)
        for name in set(answer.released) - self._gone:
            log.warning("owner %s was released by another: its child is replaced", name)
            self._pool.replace(name)

    def _watch(self) -> None:
        """Drop the work when a lease went by without a beat: it is others' from then on."""
        while not self._stop.wait(max(0.05, self._lease_s / 12)):
            if self._vigil.lapsed() and not self._silent.is_set():
                log.error(
                    "no heartbeat reached the ledger for %.0f s: what runs is dropped, and nothing "
                    "is begun until one does", self._lease_s,
                )  # fmt: skip
                self._silent.set()
                self._pool.suspend()

    def _go_on(self) -> None:
        """After the beats came back: give up what was dropped, once it all was, and go on."""
        if not self._silent.is_set():
            return
        if not self._pool.quiet():
            self._stop.wait(0.1)
            self._poke.set()
            return
        self._release_lost()  # who died of the silence since this round began
        for owner in self._pool.owners():
            if str(owner) not in self._gone:
                self._book.give_up(owner)
        self._silent.clear()
        self._pool.resume()
        log.warning("the ledger takes heartbeats again: work goes on")

    def _teach(self) -> None:
        """Tell the pool what was seen before it lived, once, and whose work is coming."""
        if not self._taught:
            self._pool.learn(self._book.observations(_LESSONS))
            self._taught = True
        self._pool.expect(self._book.expected_models())

    def _release_lost(self) -> None:
        while self._lost:
            owner, alone, reason, report = self._lost[0]
            self._book.release(owner, alone, reason=reason, report=report)
            self._lost.popleft()  # only once the ledger has it

    def _hand_back(self) -> None:
        while self._returned:
            job, attempt, why = self._returned[0]
            self._book.hand_back(job, attempt, why)
            self._returned.popleft()

    def _observe(self) -> None:
        rows = []
        while self._seen:
            rows.append(self._seen.popleft())
        if rows:
            self._book.observe(rows)

    # -- the pass thread

    def _passes(self) -> None:
        while not self._stop.is_set():
            try:
                left = 0
                if self._leader.take():
                    conn, session = self._leader.connection, self._leader.session
                    left = self._pass.run(conn, session=session).left
                self._listen(_BETWEEN_S if left else min(self._pass_s, self._beat_s))
            except _UNREACHABLE as error:
                log.warning("the pass lost its connection: %s", str(error).split("\n")[0])
                self._drop_lead()
            except Exception:
                log.exception("a pass failed")
                self._drop_lead()

    def _while_leading(self, every_s: float, do: Callable[[], object]) -> None:
        """Do something now and then while this worker leads, for a tenth of the time at most."""
        wait = every_s
        while not self._stop.wait(wait):
            began = time.monotonic()
            try:
                if self._leader.leading:
                    do()
            except _UNREACHABLE as error:
                log.info("the ledger is away from housekeeping: %s", str(error).split("\n")[0])
            except Exception:
                log.exception("housekeeping failed")
            wait = max(every_s, 10 * (time.monotonic() - began))

    def _listen(self, longest_s: float) -> None:
        """Wait for a wake, at most until the next pass or beat is due; stop what must stop."""
        deadline, woken = time.monotonic() + longest_s, False
        while not self._stop.is_set() and (left := deadline - time.monotonic()) > 0:
            for channel in self._leader.notifications(min(left, 0.5)):
                if channel == ledger.Ledger.STOP:
                    self.beat_soon()  # its answer names what must stop
                else:
                    woken = True
            if woken:
                return

    def _drop_lead(self) -> None:
        with contextlib.suppress(Exception):
            self._leader.lose()
        self._stop.wait(0.5)
