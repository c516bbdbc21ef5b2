"""The child's loop, from gate to settling; it knows no Celery.

Order: admit, claim (`Session.add`), shrink the reservation to what was granted, say *taken*, steps.
Each member is settled when it ends; joins, aborts and hand-backs happen between steps.
"""

from __future__ import annotations

import collections
import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from mangen.pooling import device, errors, events, gate, runtime, wire, work

EXIT_BROKEN = 70
"""Exit status of a child whose session left an exception behind."""
EXIT_ORPHAN = 77
"""Exit status of a child whose parent is gone."""

Settle: TypeAlias = Callable[[wire.Load, work.Outcome | None, float], Any]
"""Closes one request with its outcome, after so many seconds; answers the reply.

No outcome: run the plain task it is.
"""


def serve(conn: wire.Conn, product: work.Work, settle: Settle, hello: wire.Hello) -> None:
    """Serve the parent until it says stop; exits the process when the parent is gone.

    An exception that leaves the product's session means that nobody knows what it still holds:
    the child says so and exits with EXIT_BROKEN, and the parent tells its listener.
    """
    Child(conn, product, settle, hello).run()


class Child:
    """One device's process, seen from inside."""

    def __init__(
        self, conn: wire.Conn, product: work.Work, settle: Settle, hello: wire.Hello
    ) -> None:
        self._conn = conn
        self._product = product
        self._settle = settle
        self._owner = hello.owner
        self._rt = runtime.ChildRuntime(hello, send=conn.send, poll=self._poll_in_step)
        self._peak = device.Peak()
        self._later: collections.deque[wire.ToChild] = collections.deque()
        self._flagged: dict[work.Key, work.Why] = {}
        self._running: runtime.Running | None = None

    def run(self) -> None:
        self._conn.send(wire.Ready(report=self._rt.report()))
        try:
            while True:
                message = self._later.popleft() if self._later else self._receive()
                match message:
                    case wire.Stop():
                        return
                    case wire.Offer():
                        self._serve_offer(message)
                    case wire.GiveBack():
                        self._give_back(message)
                    case _:  # an abort of what ended meanwhile
                        pass
        except BaseException:  # noqa: BLE001 - said aloud, then the process ends
            self._conn.send(wire.Broken(error=traceback.format_exc()))
            raise SystemExit(EXIT_BROKEN) from None

    # -- the pipe

    def _receive(self) -> wire.ToChild:
        try:
            message: wire.ToChild = self._conn.recv()
        except (EOFError, OSError):
            os._exit(EXIT_ORPHAN)
        return message

    def _poll(self) -> None:
        while self._conn.poll():
            message = self._receive()
            if isinstance(message, wire.Abort):
                self._flagged[message.key] = message.why
            else:
                self._later.append(message)

    def _poll_in_step(self) -> None:
        """Serve `Runtime.progress`: leave the step when every member of it is to be dropped."""
        self._poll()
        running = self._running
        if running is None or not running.stepping or not running.loads:
            return
        if all(key in self._flagged for key in running.loads):
            key = next(iter(running.loads))
            raise errors.Dropped(key, self._flagged[key])

    def _note(self, event: events.Event) -> None:
        self._conn.send(wire.Note(event=event))

    # -- one offer

    def _serve_offer(self, offer: wire.Offer) -> None:
        if offer.join:  # the session it was meant for is over: the parent offers again
            self._leave(offer, offer.loads, need=0, usable=self._rt.gate.usable())
            return
        if offer.bucket == wire.PLAIN:
            self._run_plain(offer)
        else:
            self._run_session(offer)
        self._flagged.clear()
        self._conn.send(wire.Idle(batch=offer.batch, report=self._rt.report()))

    def _run_plain(self, offer: wire.Offer) -> None:
        for load in offer.loads:
            began = self._take(offer.batch, [load.item.key], joinable=False)
            reply = self._settle(load, None, 0.0)
            self._conn.send(
                wire.Settled(
                    key=load.item.key,
                    outcome=work.Outcome.done(),
                    reply=reply,
                    seconds=time.monotonic() - began,
                )
            )

    def _run_session(self, offer: wire.Offer) -> None:
        admitted = self._admit(offer)
        if admitted is None:
            return
        self._peak.start()
        session = self._product.open(offer.bucket, self._rt)
        running = self._running = runtime.Running(
            offer=offer, session=session, admitted=admitted, peaks=offer.peaks,
            began=time.monotonic(), weights=self._rt.residents.nbytes,
        )  # fmt: skip
        try:
            chosen, rest = offer.loads[: admitted.members], offer.loads[admitted.members :]
            if rest:
                self._leave(offer, rest, need=0, usable=admitted.usable)
            self._add(running, offer, chosen)
            while running.loads:
                self._between(running)
                if running.loads:
                    self._step(running)
        finally:
            self._running = None
            session.close()
        peak = self._observed(running)
        self._rt.gate.settle(running.admitted, peak)
        self._note(
            events.Batched(
                owner=self._owner, bucket=offer.bucket, model=offer.loads[0].item.model,
                members=running.members, seconds=time.monotonic() - running.began,
                reserved=admitted.reserved, peak=peak,
            )
        )  # fmt: skip

    def _admit(self, offer: wire.Offer) -> gate.Admitted | None:
        verdict = self._rt.gate.admit(offer.peaks[: len(offer.loads)], offer.loads[0].item.model)
        if isinstance(verdict, gate.Admitted):
            self._note(
                events.Admitted(
                    owner=self._owner, bucket=offer.bucket, members=verdict.members,
                    reserved=verdict.reserved, usable=verdict.usable,
                )
            )  # fmt: skip
            return verdict
        self._note(
            events.Refused(
                owner=self._owner, bucket=offer.bucket, need=verdict.need, usable=verdict.usable,
                never=verdict.never,
            )
        )  # fmt: skip
        if verdict.never:
            self._take(offer.batch, [load.item.key for load in offer.loads], joinable=False)
            for load in offer.loads:
                self._give_back(wire.GiveBack(load=load, why=work.Why.NEVER_FITS))
        else:
            self._leave(offer, offer.loads, need=verdict.need, usable=verdict.usable)
        return None

    def _leave(
        self, offer: wire.Offer, loads: Iterable[wire.Load], *, need: int, usable: int
    ) -> None:
        keys = tuple(load.item.key for load in loads)
        self._conn.send(wire.Left(batch=offer.batch, keys=keys, need=need, usable=usable))

    def _take(self, batch: int, keys: list[work.Key], *, joinable: bool) -> float:
        now = time.monotonic()
        self._conn.send(wire.Taken(batch=batch, keys=tuple(keys), at=now, joinable=joinable))
        return now

    # -- one session

    def _add(
        self, running: runtime.Running, offer: wire.Offer, loads: tuple[wire.Load, ...]
    ) -> None:
        """Claim; what was aborted on its way is given back unclaimed, what is stale settles."""
        self._poll()
        wanted = [load for load in loads if load.item.key not in self._flagged]
        ended = running.session.add([load.item for load in wanted]) if wanted else {}
        now = self._take(
            offer.batch, [load.item.key for load in loads], joinable=running.session.joinable
        )
        for load in wanted:
            running.loads[load.item.key] = load
            running.taken[load.item.key] = now
        running.members += len(wanted) - len(ended)
        self._settle_all(running, ended)
        for load in loads:
            if load not in wanted:
                why = self._flagged.pop(load.item.key)
                self._give_back(wire.GiveBack(load=load, why=why))

    def _step(self, running: runtime.Running) -> None:
        running.stepping = True
        try:
            ended = running.session.step()
        except errors.Dropped:
            ended = {}  # `_between` drops them
        except MemoryError:
            ended = self._out_of_memory(running)
        finally:
            running.stepping = False
        self._settle_all(running, ended)

    def _out_of_memory(self, running: runtime.Running) -> dict[work.Key, work.Outcome]:
        """Let the session part with its members one by one, then return all that can be."""
        ended = {key: running.session.drop(key, work.Why.OOM) for key in list(running.loads)}
        self._rt.compress_cache(self._rt.known())
        self._rt.evict(self._rt.known(), "")
        self._rt.trim()
        return ended

    def _between(self, running: runtime.Running) -> None:
        self._poll()
        for key in [key for key in running.loads if key in self._flagged]:
            outcome = running.session.drop(key, self._flagged.pop(key))
            self._settle_all(running, {key: outcome})
        kept: list[wire.ToChild] = []
        while self._later:
            message = self._later.popleft()
            if isinstance(message, wire.GiveBack):
                self._give_back(message)
            elif isinstance(message, wire.Offer) and message.join and running.loads:
                self._join(running, message)
            else:
                kept.append(message)
        self._later.extend(kept)

    def _join(self, running: runtime.Running, offer: wire.Offer) -> None:
        if offer.batch != running.offer.batch:
            self._leave(offer, offer.loads, need=0, usable=self._rt.gate.usable())
            return
        before = running.admitted.members
        verdict = self._rt.gate.extend(running.admitted, offer.peaks, len(offer.loads))
        if isinstance(verdict, gate.Refused):
            self._leave(offer, offer.loads, need=verdict.need, usable=verdict.usable)
            return
        running.admitted, running.peaks = verdict, offer.peaks
        chosen = offer.loads[: verdict.members - before]
        if len(chosen) < len(offer.loads):
            self._leave(offer, offer.loads[len(chosen) :], need=0, usable=verdict.usable)
        self._add(running, offer, chosen)

    def _settle_all(self, running: runtime.Running, ended: Mapping[work.Key, work.Outcome]) -> None:
        peak = self._observed(running)
        members = len(running.loads)
        for key, outcome in ended.items():
            load = running.loads.pop(key)
            seconds = time.monotonic() - running.taken.pop(key)
            self._rt.forget(key)
            self._flagged.pop(key, None)
            reply = self._settle(load, outcome, seconds)
            self._conn.send(
                wire.Settled(
                    key=key, outcome=outcome, reply=reply, seconds=seconds, peak=peak,
                    members=members,
                )
            )  # fmt: skip
        if ended and running.loads:
            running.admitted = self._rt.gate.shrink(
                running.admitted, running.peaks, len(running.loads)
            )

    def _observed(self, running: runtime.Running) -> int:
        """Answer the highest bytes so far over what was there before and the weights loaded."""
        loaded = max(0, self._rt.residents.nbytes - running.weights)
        return max(0, self._peak.sample() - running.admitted.used - loaded)

    def _give_back(self, message: wire.GiveBack) -> None:
        load = message.load
        outcome = self._product.give_back(load.item, message.why)
        if not message.quiet:
            reply = self._settle(load, outcome, 0.0)
            self._conn.send(wire.Settled(key=load.item.key, outcome=outcome, reply=reply))
