"""The child's loop, from gate to settling; it knows no Celery.

Order: admit, claim (`Session.add`), shrink the reservation to what was granted, say *taken*, steps.
Each member is settled when it ends; joins, aborts and hand-backs happen between steps.
"""

from __future__ import annotations

import itertools
import logging
import pathlib
import re
import threading
import time
import traceback
from collections.abc import Iterator

from mangen.pooling import (
    ends,
    errors,
    estimate,
    events,
    faults,
    gate,
    pipe,
    running,
    runtime,
    wire,
    work,
)
from mangen.pooling.devices import device

_log = logging.getLogger(__name__)

EXIT_BROKEN = 70
"""Exit status of a child whose session left an exception behind."""
EXIT_ORPHAN = pipe.EXIT_ORPHAN

_FRESH = 40  #: of so many sessions that are alike one begins trimmed: fewer than estimates remember
_KINDS = 4096
_NAME_MOST = 100  #: of a file

Settle = running.Settle


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
        self._pipe = pipe.Pipe(conn)
        self._product = product
        self._settle = settle
        self._hello = hello
        self._running: running.Running | None = None
        self._expected: tuple[str, ...] = ()
        self._faults = faults.Faults()
        self._sessions: estimate.Recent[tuple[str, int], Iterator[int]] = estimate.Recent(_KINDS)
        self._rt: runtime.ChildRuntime

    def run(self) -> None:
        try:
            if self._hello.standby and not self._stand_by():
                return
            self._move_in()
            self._serve()
        except BaseException:  # noqa: BLE001 - said aloud, then the process ends
            self._pipe.send(wire.Broken(error=traceback.format_exc()))
            raise SystemExit(EXIT_BROKEN) from None
        finally:
            if hasattr(self, "_rt"):
                self._rt.owned.close()

    def snapshot(self) -> None:
        """Write down the device's memory where the parent looks for it; from any thread."""
        if self._hello.reports and hasattr(self, "_rt"):
            path = snapshot_path(self._hello.reports, self._hello.owner)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._rt.owned.snapshot(path)

    # -- coming up

    def _stand_by(self) -> bool:
        """Bring the models near without touching the device; answers whether to move in."""
        for model in self._hello.models:
            try:
                spec = self._product.spec(model)
                if spec is not None and spec.fetch is not None:
                    spec.fetch()
            except Exception as error:  # noqa: BLE001 - it may load all the same
                self._note(runtime.load_failed(self._hello.owner, model, error))
        self._pipe.send(wire.Fetched())
        while True:
            match self._pipe.receive():
                case wire.MoveIn() as word:
                    self._expected = word.models
                    return True
                case wire.Stop():
                    return False
                case _:
                    pass

    def _move_in(self) -> None:
        owned = device.make(self._hello.device, self._hello.options)
        self._rt = runtime.ChildRuntime(
            self._hello, owned, self._product, send=self._pipe.send, poll=self._poll_in_step
        )
        self._load_expected()
        self._pipe.send(wire.Ready(report=self._rt.report(), kind=owned.kind, id=owned.id))
        threading.Thread(target=self._monitor, name="monitor", daemon=True).start()

    def _load_expected(self) -> None:
        """Load what is expected and fits; a model that won't load is its session's failure."""
        for model in self._expected:
            try:
                spec = self._rt.spec(model)
                if spec is not None:
                    self._rt.residents.load_ahead(spec)
            except Exception as error:  # noqa: BLE001 - whatever a product's loader raises
                self._note(runtime.load_failed(self._hello.owner, model, error))
        self._expected = ()

    # -- the loop

    def _serve(self) -> None:
        trimmed = False
        while True:
            if not self._pipe.waits(self._hello.idle_trim_s):
                if not trimmed:  # idle: the one time when waiting for the device costs nothing
                    self._rt.trim()
                    self._pipe.send(wire.Looked(report=self._rt.report(trimmed=True)))
                    trimmed = True
                if self._expected:
                    self._load_expected()
                self._pipe.waits(self._hello.monitor_s)
                continue
            match self._pipe.receive():
                case wire.Stop():
                    return
                case wire.Offer() as offer:
                    trimmed = False
                    self._serve_offer(offer)
                case wire.GiveBack() as message:
                    self._give_back(message)
                case wire.Expect() as word:
                    self._expected = word.models
                case _:  # an abort of what ended meanwhile
                    pass

    def _poll_in_step(self) -> None:
        """Serve `Runtime.progress`: leave the step when every member of it is to be dropped."""
        self._pipe.poll()
        now, flagged = self._running, self._pipe.flagged
        if now is None or not now.stepping or not now.loads:
            return
        if all(key in flagged for key in now.loads):
            key = next(iter(now.loads))
            raise errors.Dropped(key, flagged[key])

    def _monitor(self) -> None:
        """Look at the device every `monitor_s`, whatever the main thread does."""
        while True:
            time.sleep(self._hello.monitor_s)
            try:
                looked = wire.Looked(report=self._rt.report())
            except Exception as error:  # noqa: BLE001 - the next look may do better
                self._faults.note(error, "a look at the device failed")
                continue
            try:
                self._pipe.send(looked)
            except OSError:
                return

    # -- one offer

    def _serve_offer(self, offer: wire.Offer) -> None:
        if offer.join:  # the session it was meant for is over: the parent offers again
            self._leave(offer, need=0, usable=self._rt.gate.usable())
            return
        if offer.bucket == wire.PLAIN:
            self._run_plain(offer)
        else:
            self._run_session(offer)
        self._pipe.flagged.clear()
        self._pipe.send(wire.Idle(batch=offer.batch, report=self._rt.report()))

    def _run_plain(self, offer: wire.Offer) -> None:
        for load in offer.loads:
            began = self._take(offer, load)
            reply = self._settle(load, None, 0.0)
            self._pipe.send(
                wire.Settled(
                    key=load.item.key,
                    outcome=work.Outcome.done(),
                    reply=reply,
                    seconds=time.monotonic() - began,
                )
            )

    def _run_session(self, offer: wire.Offer) -> None:
        peaks = self._rt.heated(offer)
        self._rt.features.waiting(offer.waiting)
        self._rt.residents.expected = offer.forecast
        self._rt.move_watermark(max(offer.largest, peaks[len(offer.loads) - 1]))
        admitted = self._admit(offer, peaks)
        if admitted is None:
            return
        self._fetch_next(offer)
        if next(self._sessions.of((offer.bucket, admitted.members), itertools.count)) % _FRESH == 0:
            self._rt.trim()  # what the allocator kept of others would hide a part of the peak
        now = self._running = running.Running(
            self._rt, self._pipe, offer, admitted,
            peaks=peaks, settle=self._settle, give_back=self._give_back,
        )  # fmt: skip
        session = self._open(offer.bucket)
        try:
            now.live(session)
        finally:
            self._running = None
            session.close()
        self._pipe.send(wire.Note(event=now.close()))

    def _open(self, bucket: str) -> work.Session:
        """Open a session; out of memory, once more on the emptied device."""
        try:
            return self._product.open(bucket, self._rt)
        except Exception as error:
            if not device.out_of_memory(error):
                raise
        self._rt.free()
        return self._product.open(bucket, self._rt)

    def _admit(self, offer: wire.Offer, peaks: tuple[int, ...]) -> gate.Admitted | None:
        model, weights = offer.loads[0].item.model, self._rt.weights_to_load(offer)
        verdict = self._rt.gate.admit(
            peaks[: self._beside_wanted(offer, peaks, weights)],
            model,
            weights=weights,
            hopeless=offer.hopeless,
        )
        owner, bucket = self._hello.owner, offer.bucket
        if isinstance(verdict, gate.Admitted):
            self._note(
                events.Admitted(
                    owner=owner, bucket=bucket, members=verdict.members,
                    reserved=verdict.reserved, usable=verdict.usable,
                )
            )  # fmt: skip
            return verdict
        self._note(
            events.Refused(
                owner=owner, bucket=bucket, need=verdict.need, usable=verdict.usable,
                never=verdict.never,
            )
        )  # fmt: skip
        if verdict.never:
            for load in offer.loads:
                self._take(offer, load)
                self._give_back(wire.GiveBack(load=load, why=work.Why.NEVER_FITS))
        else:
            self._leave(offer, need=verdict.need, usable=verdict.usable)
        return None

    def _beside_wanted(self, offer: wire.Offer, peaks: tuple[int, ...], weights: int) -> int:
        """How many members to ask room for: evict a model that is wanted next for one, not for two.

        A larger batch gains some percent of its time, and a model that goes costs all its loading.
        """
        count, model = len(offer.loads), offer.loads[0].item.model
        others = {key: n for key, n in self._rt.residents.sizes().items() if key != model}
        if others.keys().isdisjoint(offer.forecast):
            return count
        spare = sum(n for key, n in others.items() if key not in offer.forecast)
        now = self._rt.gate.balance()
        room = now.usable + spare + self._rt.features.device_bytes - weights
        fitting = sum(peak <= room for peak in peaks[:count])
        broken = sum(peak <= room + now.memory.inactive for peak in peaks[:count])
        if broken > fitting:  # what lies in fragments is all that lacks
            self._rt.trim()
            fitting = broken
        return max(1, fitting)

    def _fetch_next(self, offer: wire.Offer) -> None:
        """Bring near the first model that is wanted next and is not here."""
        here = self._rt.residents.sizes()
        model = next((model for model in offer.forecast if model not in here), "")
        spec = self._rt.spec(model)
        if spec is not None:
            self._rt.residents.fetch(spec)

    def _leave(self, offer: wire.Offer, *, need: int, usable: int) -> None:
        keys = tuple(load.item.key for load in offer.loads)
        self._pipe.send(wire.Left(batch=offer.batch, keys=keys, need=need, usable=usable))

    def _take(self, offer: wire.Offer, load: wire.Load) -> float:
        now = time.monotonic()
        self._pipe.send(wire.Taken(batch=offer.batch, keys=(load.item.key,), at=now))
        return now

    def _give_back(self, message: wire.GiveBack) -> None:
        load = message.load
        try:
            said = f"{type(self._product).__qualname__}.give_back"
            outcome = ends.sound(self._product.give_back(load.item, message.why), said)
        except Exception as error:  # noqa: BLE001 - whatever a product raises: others may run here
            _log.exception("%s could not be given back", load.item.key)
            outcome = work.Outcome.failed(f"it could not be given back: {error!r}")
        if not message.quiet:
            reply = self._settle(load, outcome, 0.0)
            self._pipe.send(wire.Settled(key=load.item.key, outcome=outcome, reply=reply))

    def _note(self, event: events.Event) -> None:
        self._pipe.send(wire.Note(event=event))


def snapshot_path(folder: str, owner: str) -> pathlib.Path:
    """Where a child writes down what its device's memory held when it was given up."""
    return report_path(folder, owner, ".memory")


def report_path(folder: str, owner: str, ending: str) -> pathlib.Path:
    """Name a file about an owner, whatever its worker is called.

    Its last part is its own: that is kept where the whole is too long for a file's name.
    """
    name = re.sub(r"[^A-Za-z0-9_@.-]", "-", owner)
    return pathlib.Path(folder) / f"{name[len(ending) - _NAME_MOST :]}{ending}"
