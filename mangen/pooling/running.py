"""One session in a child: its members from the claim to their ends, and its bytes.

Memory that runs out in `Session.step` or `Session.add` costs no member its claim: those that were
not added whole are dropped with Why.OOM and added again, one by one, on a device that gave back
all it could; who then has no room fails. In `Work.open` everything is evicted and it is tried once
more; what it raises then ends the child, as any other exception that leaves the product does.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from mangen.pooling import ends, errors, events, gate, pipe, runtime, wire, work
from mangen.pooling.devices import device

Settle: TypeAlias = Callable[[wire.Load, work.Outcome | None, float], Any]
"""Closes one request with its outcome, after so many seconds; answers the reply.

No outcome: run the plain task it is.
"""

_NO_END = (work.Status.PARKED, work.Status.STALE)
_OOM_FACTOR = 1.25  #: by which running out of memory raises an estimate


class Running:
    """Members by key; `parked` ones ran out of memory, keep their claim, and are added again."""

    def __init__(
        self,
        rt: runtime.ChildRuntime,
        line: pipe.Pipe,
        offer: wire.Offer,
        admitted: gate.Admitted,
        *,
        peaks: Sequence[int],
        settle: Settle,
        give_back: Callable[[wire.GiveBack], None],
    ) -> None:
        self.offer, self.admitted, self.peaks = offer, admitted, tuple(peaks)
        self.loads: dict[work.Key, wire.Load] = {}
        self.parked: collections.deque[wire.Load] = collections.deque()
        self.stepping = False
        self._rt, self._pipe, self._settle, self._give_back = rt, line, settle, give_back
        self._taken: dict[work.Key, tuple[float, float]] = {}  # when, and the loading until then
        self._members = 0
        self._whole = True
        self._alone = False  # one member had all there is of this device
        self._most = 0  # members at once, at most: what the peak is of
        self._began = time.monotonic()
        self._loading = rt.residents.seconds
        self._base = rt.owned.memory()
        self._loaded = 0
        self._highest = 0
        rt.peak_one = self.peaks[0] if self.peaks else 0
        rt.before_load = self._before_load
        rt.after_load = self._after_load
        rt.owned.watch()
        self.session: work.Session

    def live(self, session: work.Session) -> None:
        """Run the session until nobody is in it."""
        self.session = session
        chosen = self.offer.loads[: self.admitted.members]
        rest = self.offer.loads[self.admitted.members :]
        if rest:
            self._leave(self.offer, rest, need=0, usable=self.admitted.usable)
        self._whole = not rest
        self._add(self.offer, chosen)
        while self.loads or self.parked:
            self._between()
            if not self.loads:
                self._unpark()
            if self.loads:
                self._step()

    def close(self) -> events.Batched:
        """Give the reservation back; answers what there is to tell. The session is closed."""
        self._rt.before_load = lambda: None
        self._rt.after_load = lambda _nbytes: None
        peak = self._observed()
        self._rt.end_session()
        self._rt.gate.settle(self.admitted, peak)
        return events.Batched(
            owner=self._rt.owner, bucket=self.offer.bucket, model=self.offer.loads[0].item.model,
            members=self._members, seconds=time.monotonic() - self._began,
            loading=self._rt.residents.seconds - self._loading,
            reserved=self.admitted.reserved, peak=peak, whole=self._whole,
        )  # fmt: skip

    # -- members

    def _add(self, offer: wire.Offer, loads: Sequence[wire.Load]) -> None:
        """Claim; what was aborted on its way is given back unclaimed, what is stale settles."""
        self._pipe.poll()
        flagged = self._pipe.flagged
        wanted = [load for load in loads if load.item.key not in flagged]
        wrong: ends.Nonsense | None = None
        ended: Mapping[work.Key, work.Outcome] = {}
        try:
            ended = self._claim(wanted) if wanted else {}
        except ends.Nonsense as error:
            wrong = error  # they may be claimed: said taken, nobody is offered them again
        now = time.monotonic()
        self._pipe.send(
            wire.Taken(
                batch=offer.batch, keys=tuple(load.item.key for load in loads), at=now,
                joinable=self.session.joinable,
            )
        )  # fmt: skip
        if wrong is not None:
            raise wrong
        for load in wanted:
            self.loads[load.item.key] = load
            self._taken[load.item.key] = now, self._rt.residents.seconds
        self._members += len(wanted) - len(ended)
        self._most = max(self._most, len(self.loads) - len(ended))
        self._settle_all(ended)
        for load in loads:
            if load not in wanted:
                self._give_back(wire.GiveBack(load=load, why=flagged.pop(load.item.key)))

    def _claim(self, loads: Sequence[wire.Load]) -> Mapping[work.Key, work.Outcome]:
        """Add members that were claimed or are to be; answers those that ended in it."""
        keys = [load.item.key for load in loads]
        try:
            return ends.checked(
                self.session.add([load.item for load in loads]), self._call("add"), keys
            )
        except Exception as error:
            if not device.out_of_memory(error):
                raise
            self._tell_out_of_memory(error, len(self.loads.keys() | set(keys)), 1)
        ended = self._forgotten(keys)
        self._rt.free(self.offer.loads[0].item.model)
        for load in loads:
            if load.item.key not in ended:
                ended.update(self._claim_alone(load))
        return ended

    def _claim_alone(self, load: wire.Load) -> Mapping[work.Key, work.Outcome]:
        key = load.item.key
        try:
            return ends.checked(self.session.add([load.item]), self._call("add"), [key])
        except Exception as error:
            if not device.out_of_memory(error):
                raise
            failed = work.Outcome.failed(f"there is no memory to begin with it: {error!r}")
        try:  # if it was claimed, its product must end that claim
            outcome = ends.sound(
                self.session.drop(key, work.Why.NEVER_FITS), self._call("drop"), may_park=True
            )
        except Exception:  # noqa: BLE001 - the session never had it
            outcome = failed
        return {key: failed if outcome.status in _NO_END else outcome}

    def _forgotten(self, keys: Sequence[work.Key]) -> dict[work.Key, work.Outcome]:
        """Let the session part with members that it may have or not; answers those it ended.

        A claim stays, as ever with Why.OOM; *stale* only says that they were not here yet.
        """
        ended = {}
        for key in keys:
            try:
                outcome = ends.sound(
                    self.session.drop(key, work.Why.OOM), self._call("drop"), may_park=True
                )
            except Exception:  # noqa: BLE001 - it has no such member
                outcome = work.Outcome.stale("it was not here yet")
            if outcome.status not in _NO_END:
                ended[key] = outcome
        return ended

    def _step(self) -> None:
        self.stepping = True
        try:
            ended = ends.checked(self.session.step(), self._call("step"), [*self._keys()])
        except errors.Dropped:
            ended = {}  # `_between` drops them
        except Exception as error:
            if not device.out_of_memory(error):
                raise
            self.stepping = False
            ended = self._out_of_memory(error)
        finally:
            self.stepping = False
        self._settle_all(ended)

    def _between(self) -> None:
        self._pipe.poll()
        for key in [key for key in self._keys() if key in self._pipe.flagged]:
            outcome = self.session.drop(key, self._pipe.flagged.pop(key))
            self._settle_all({key: ends.sound(outcome, self._call("drop"))})
        kept: list[wire.ToChild] = []
        while self._pipe.later:
            message = self._pipe.later.popleft()
            if isinstance(message, wire.GiveBack):
                self._give_back(message)
            elif isinstance(message, wire.Offer) and message.join and self._keys():
                self._join(message)
            else:
                kept.append(message)
        self._pipe.later.extend(kept)

    def _join(self, offer: wire.Offer) -> None:
        if offer.batch != self.offer.batch or self.parked or not self.session.joinable:
            self._leave(offer, offer.loads, need=0, usable=self._rt.gate.usable())
            return
        peaks = self._rt.heated(offer)
        before = len(self.loads)
        verdict = self._rt.gate.extend(self.admitted, peaks, len(offer.loads))
        if isinstance(verdict, gate.Refused):
            self._leave(offer, offer.loads, need=verdict.need, usable=verdict.usable)
            return
        self.admitted, self.peaks, self._whole = verdict, peaks, False
        chosen = offer.loads[: verdict.members - before]
        if len(chosen) < len(offer.loads):
            self._leave(offer, offer.loads[len(chosen) :], need=0, usable=verdict.usable)
        self._add(offer, chosen)

    def _settle_all(self, ended: Mapping[work.Key, work.Outcome]) -> None:
        if not ended:
            return
        peak, loading = self._observed(), self._rt.residents.seconds
        for key, outcome in ended.items():
            load = self.loads.pop(key, None) or self._take_parked(key)
            since, loaded = self._taken.pop(key)
            seconds = time.monotonic() - since
            self._rt.forget(key, done=outcome.status is work.Status.DONE)
            self._pipe.flagged.pop(key, None)
            reply = self._settle(load, outcome, seconds)
            self._pipe.send(
                wire.Settled(
                    key=key, outcome=outcome, reply=reply, seconds=seconds, peak=peak,
                    members=max(1, self._most), loading=loading - loaded,
                )
            )  # fmt: skip
        if self.loads:
            self.admitted = self._rt.gate.shrink(self.admitted, self.peaks, len(self.loads))

    def _call(self, name: str) -> str:
        """The product's call, as errors name it."""
        return f"{type(self.session).__qualname__}.{name} of {self.offer.bucket[:100]}"

    def _keys(self) -> Iterator[work.Key]:
        yield from list(self.loads)
        yield from [load.item.key for load in self.parked]

    def _take_parked(self, key: work.Key) -> wire.Load:
        load = next(load for load in self.parked if load.item.key == key)
        self.parked.remove(load)
        return load

    def _leave(
        self, offer: wire.Offer, loads: Sequence[wire.Load], *, need: int, usable: int
    ) -> None:
        keys = tuple(load.item.key for load in loads)
        self._pipe.send(wire.Left(batch=offer.batch, keys=keys, need=need, usable=usable))

    # -- out of memory

    def _out_of_memory(self, error: Exception) -> Mapping[work.Key, work.Outcome]:
        """Park the members, give back all that can be, and go on with half of them.

        One member alone is tried once more on the emptied device; then it is its product's to end.
        """
        members, reserved = len(self.loads), self.admitted.reserved
        gave_up = members == 1 and self._alone
        ended: dict[work.Key, work.Outcome] = {}
        now = self._rt.gate.balance()
        # beside others, or in a child that leaks, it proves nothing
        proved = gave_up and now.foreign + now.difference <= gate.FOREIGN_SLACK
        if proved:  # all there is was not enough
            reserved = max(reserved, now.room - self._own_weights())
        for key in list(self.loads):
            outcome = ends.sound(
                self.session.drop(key, work.Why.NEVER_FITS if gave_up else work.Why.OOM),
                self._call("drop"), may_park=True,
            )  # fmt: skip
            if outcome.status is not work.Status.PARKED:
                ended[key] = outcome
            elif gave_up:  # there is no more to wait for
                ended[key] = work.Outcome.failed(f"it needs more memory than there is: {error}")
            else:
                self.parked.append(self.loads.pop(key))
        self._whole = False
        model = self.offer.loads[0].item.model
        # one alone gets an empty device; for less, its own model need not be loaded again
        self._rt.free("" if members == 1 else model)
        then = 0 if gave_up else max(1, members // 2)
        self.peaks = tuple(int(peak * _OOM_FACTOR) for peak in self.peaks)
        self._alone = members == 1 or then == 1
        if self.parked:
            self._resize(max(1, then))  # of those who wait one is added next
        self._tell_out_of_memory(error, members, then, reserved=reserved, proved=proved)
        return ended

    def _tell_out_of_memory(
        self,
        error: Exception,
        members: int,
        then: int,
        *,
        reserved: int | None = None,
        proved: bool = False,
    ) -> None:
        reserved = self.admitted.reserved if reserved is None else reserved
        self._pipe.send(
            wire.Note(
                event=events.OutOfMemory(
                    owner=self._rt.owner, bucket=self.offer.bucket,
                    model=self.offer.loads[0].item.model, members=members, then=then,
                    reserved=reserved, error=str(error)[:500], proved=proved,
                )
            )
        )  # fmt: skip

    def _unpark(self) -> None:
        """Add parked members again, as many as the reservation is for."""
        if not self.parked:
            return
        count = max(1, self.admitted.members)
        loads = [self.parked.popleft() for _ in range(min(count, len(self.parked)))]
        if self.admitted.members < count:
            self._resize(count)
        for load in loads:
            self.loads[load.item.key] = load
        self._settle_all(self._claim(loads))

    def _own_weights(self) -> int:
        model = self.offer.loads[0].item.model
        resident = self._rt.residents.sizes().get(model, 0)
        return resident or self._rt.weights_to_load(self.offer)

    def _resize(self, members: int) -> None:
        self.admitted = self._rt.gate.resize(
            self.admitted, self.peaks, members, self.offer.loads[0].item.model,
            weights=self._rt.weights_to_load(self.offer),
        )  # fmt: skip

    # -- bytes

    def _observed(self) -> int:
        """Answer the highest bytes so far over what was there before and the weights loaded.

        The allocator's growth counts as well as what was live in it: what lies in fragments was
        needed too.
        """
        peak = self._rt.owned.peak()
        grown = max(peak.allocated - self._base.allocated, peak.reserved - self._base.reserved)
        self._highest = max(self._highest, grown - self._loaded)
        return self._highest

    def _before_load(self) -> None:
        self._observed()

    def _after_load(self, nbytes: int) -> None:
        """Begin a new peak: what loading took on its way is none of the session's."""
        self._loaded += nbytes
        self._rt.owned.watch()
