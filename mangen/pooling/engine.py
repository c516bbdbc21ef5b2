"""The parent's engine: one thread that gives the desk its words in turn.

Other threads only put words into its inbox; each child's reader does too.
"""

from __future__ import annotations

import collections
import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from mangen.pooling import (
    answers,
    config,
    desk,
    events,
    faults,
    idling,
    learned,
    lives,
    offers,
    report,
    requests,
    slots,
    wire,
    work,
)

_log = logging.getLogger(__name__)
_TICK_S = 0.25

_Word: TypeAlias = Callable[[], None]


class Engine:
    """Implements events.Control. `capacity` is how many un-acked requests the broker may send.

    Set `listener` before `start`. Every method may be called from any thread, and from a signal
    handler. `on_fault` is called on the engine's thread when that dies of a fault; None: the
    process is told to terminate, as a worker must not live on deaf.
    """

    def __init__(
        self,
        worker: str,
        settings: config.Config,
        capacity: int,
        on_fault: Callable[[], None] | None = None,
    ) -> None:
        self.worker = worker
        self.listener: events.Listener = events.Silent()
        self._counters: collections.Counter[str] = collections.Counter()
        self._settings = settings
        self._capacity = capacity
        self._on_fault = on_fault or _terminate
        self._faults = faults.Faults()
        self._inbox: queue.SimpleQueue[_Word] = queue.SimpleQueue()
        self._slots = slots.Slots(worker, settings, hear=self._on_heard, tell=self._tell)
        self._desk = desk.Desk(settings, self._slots)
        self._lore = learned.Learned(measure_sizes=settings.measure_sizes)
        self._offers = offers.Offers(settings, self._slots, self._desk.table, self._lore)
        self._answers = answers.Answers(
            settings, self._slots, self._desk, self._lore, tell=self._tell, lost=self._on_lost
        )
        self._idling = idling.Idling(settings, self._slots, self._desk.table, self._lore)
        self._report: Mapping[str, Any] = {}
        self._thread = threading.Thread(target=self._run, name="pool-engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread's end; on that thread itself there is nothing to wait for."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def add(self, request: requests.Request) -> None:
        self._inbox.put(lambda: self._desk.add(request))

    def flush(self) -> None:
        """Forget what waits: the connection it could be acked through is gone."""
        self._inbox.put(self._desk.flush)

    def restart(self) -> None:
        """Replace all children softly."""
        self._inbox.put(self._slots.wear_out)

    def stop(self, *, cold: bool) -> None:
        """Let the thread end: after the running sessions, or cold, after aborting them."""
        self._inbox.put(lambda: self._desk.stop(cold=cold))

    def abort(self, key: work.Key, why: work.Why = work.Why.ABORT) -> None:
        self._inbox.put(lambda: self._desk.abort(key, why))

    def abort_job(
        self, match: Callable[[Mapping[str, Any]], bool], why: work.Why = work.Why.ABORT
    ) -> None:
        def found() -> None:
            for key in self._desk.table.matching(match):
                self._desk.abort(key, why)

        self._inbox.put(found)

    def replace(self, owner: str) -> None:
        self._inbox.put(lambda: self._desk.replace(owner))

    def suspend(self) -> None:
        self._inbox.put(self._desk.suspend)

    def resume(self) -> None:
        self._inbox.put(self._desk.resume)

    def learn(self, seen: Sequence[events.Seen]) -> None:
        self._inbox.put(lambda: self._lore.recall(seen))

    def expect(self, models: Sequence[str]) -> None:
        self._inbox.put(lambda: self._on_expected(tuple(models)))

    def report(self) -> Mapping[str, Any]:
        return self._report

    def _on_expected(self, models: tuple[str, ...]) -> None:
        for child in self._slots.free:
            wanted = self._offers.welcome(child, models)
            if any(model not in child.report.residents for model in wanted):
                child.tell(wire.Expect(models=wanted))

    def _on_heard(self, heard: lives.Heard) -> None:
        self._inbox.put(lambda: self._answers.hear(heard))

    def _on_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - as Listener spells it
        self._guard(lambda: self.listener.child_lost(owner, keys, alone))

    def _tell(self, event: events.Event) -> None:
        self._counters[type(event).__name__] += 1
        if isinstance(event, events.Finished):
            self._counters[event.status] += 1
        self._guard(lambda: self.listener.on(event))

    # -- the thread

    def _run(self) -> None:
        """Run until stopped; children are the kernel's to kill when their thread is gone."""
        try:
            self._serve()
        except BaseException:
            _log.critical("the pool's engine failed: it serves no more", exc_info=True)
            self._on_fault()
            raise

    def _serve(self) -> None:
        self._tell(events.PoolStarted(worker=self.worker, devices=self._settings.devices))
        while self._desk.stopping is None or self._slots.children:
            self._tend()
            for word in self._words():
                self._guard(word)
        self._slots.close()
        self._tell(events.PoolStopped(worker=self.worker, cold=bool(self._desk.stopping)))

    def _words(self) -> list[_Word]:
        """Wait for a word, a little; answers it with all that came with it."""
        short = max(0.01, min(_TICK_S, self._settings.linger_s))
        words = []
        try:
            words.append(
                self._inbox.get(timeout=short if len(self._desk.table.window) else _TICK_S)
            )
            while True:
                words.append(self._inbox.get_nowait())
        except queue.Empty:
            return words

    def _tend(self) -> None:
        now = time.monotonic()
        if self._desk.stopping is None:
            self._guard(lambda: self._slots.tend(now))
            self._guard(self._desk.withdraw)
            if not self._desk.suspended:
                self._guard(lambda: self._offers.schedule(now))
                self._guard(lambda: self._watch(now))
            self._guard(self._desk.give_back)
        self._guard(lambda: self._slots.enforce(now, self._desk.ask))
        self._guard(self._write_report)

    def _watch(self, now: float) -> None:
        for alarm in self._idling.look(now):
            self._tell(alarm)

    def _write_report(self) -> None:
        table = self._desk.table
        self._report = report.build(
            window=table.unacked, running=table.running, capacity=self._capacity,
            slots=self._slots, counters=self._counters, kinds=len(self._lore.estimates),
            suspended=self._desk.suspended, at_work=self._desk.at_work,
        )  # fmt: skip

    def _guard(self, word: _Word) -> None:
        """Run one word; a fault in it must not stop the pool, a listener's or a callback's too."""
        try:
            word()
        except (SystemExit, KeyboardInterrupt):  # somebody means the process
            raise
        except BaseException as error:  # noqa: BLE001 - logged and counted
            self._counters["faults"] += 1
            self._faults.note(error, "the pool's engine met a fault and goes on")


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
