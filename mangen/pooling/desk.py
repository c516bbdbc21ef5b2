"""The engine's desk: requests come in, are stopped, are given back.

One thread owns it, the engine's; it touches no database and never waits for a child.
"""

from __future__ import annotations

import time

from mangen.pooling import config, held, lives, requests, slots, wire, work


class Desk:
    """The table of what is in hand, and the ways in which a request leaves it unserved."""

    def __init__(self, settings: config.Config, devices: slots.Slots) -> None:
        #: None, then whether the stop is a cold one
        self.stopping: bool | None = None
        #: nothing is offered, and what the product claimed is dropped
        self.suspended = False
        self.table = held.Table()
        self._settings = settings
        self._slots = devices
        self._returns: list[wire.GiveBack] = []

    def add(self, request: requests.Request) -> None:
        if self.stopping is None:  # else it stays un-acked
            self.table.add(request, time.monotonic())

    def end(self, key: work.Key) -> None:
        """Forget one; a second message with its key comes in now."""
        twin = self.table.end(key)
        if twin is not None:
            self.add(twin)

    def put_back(self, key: work.Key) -> None:
        """Let one wait again that was offered and not taken."""
        if self.stopping is not None:
            del self.table.held[key]
            return
        one = self.table.put_back(key)
        if one.stopped is not None:
            self.abort(key, one.stopped)

    def flush(self) -> None:
        self.table.flush()

    def withdraw(self) -> None:
        """Stop what was revoked or has expired while it waits, or is offered and not yet taken.

        A plain task can't be stopped but with its child: once offered, it runs.
        """
        for key, one in list(self.table.held.items()):
            offered = one.waiting is not None and one.stopped is None and one.item.data is not None
            if (offered or key in self.table.window) and one.request.withdrawn():
                self.abort(key, work.Why.REVOKED)

    # -- stopping work

    def abort(self, key: work.Key, why: work.Why) -> None:
        """Stop one piece of work, wherever it is; unknown keys are none of ours."""
        one = self.table.held.get(key)
        if one is None:
            return
        one.stopped = why
        if key not in self.table.window:
            if one.child is not None:
                self.ask(one.child, why, only=key)
            return
        self.table.window.take(key)
        quiet = why is work.Why.REVOKED or one.item.data is None
        if one.item.data is not None:
            self.give_back_later(one, why, quiet=quiet)
        if quiet:
            one.request.revoked()
            self.end(key)

    def ask(self, child: lives.Child, why: work.Why, only: work.Key | None = None) -> None:
        """Ask for an end between steps; a plain task has none: it is killed after a grace."""
        batch = child.batch
        if batch is None:
            return
        for key in [only] if only is not None else batch.keys:
            child.tell(wire.Abort(key=key, why=why))
        if batch.bucket == wire.PLAIN and batch.dump_at is None and batch.kill_at is None:
            batch.kill_at = time.monotonic() + self._settings.grace_s

    def give_back_later(self, one: held.Held, why: work.Why, *, quiet: bool = False) -> None:
        """Let a child return it to the product; `quiet` when the request was told already."""
        load = wire.Load(item=one.item, payload=one.request.payload)
        self._returns.append(wire.GiveBack(load=load, why=why, quiet=quiet))

    def give_back(self) -> None:
        """Send what must be returned to the product through a child, an idle one if there is."""
        able = [
            child for child in self._slots.children
            if child.state in (lives.State.IDLE, lives.State.BUSY)
        ]  # fmt: skip
        if not able:
            return
        able.sort(key=lambda child: child.state is lives.State.BUSY)
        for message in self._returns:
            one = self.table.held.get(message.load.item.key)
            if one is not None and not message.quiet:
                one.child = able[0]
            able[0].tell(message)
        self._returns.clear()

    def replace(self, owner: str) -> None:
        for child in self._slots.children:
            if child.owner == owner and child.state is not lives.State.LEAVING:
                child.replaced = True
                self.ask(child, work.Why.ABORT)
                child.stop(self._settings.grace_s)
                child.leave_by = time.monotonic() + self._settings.grace_s

    # -- all of it, for a while

    def suspend(self) -> None:
        """Drop what runs, between its steps or by force after a grace, and offer nothing more.

        What waits keeps waiting. Whoever asked for this knows that the claims are lost.
        """
        self.suspended = True
        for child in self._slots.children:
            batch = child.batch
            if batch is None or batch.bucket == wire.PLAIN:  # a plain task has no claim
                continue
            child.replaced = True  # its end is no sign of a broken device
            self.ask(child, work.Why.SHUTDOWN)
            if batch.kill_at is None:
                batch.ask_at = batch.dump_at = None
                batch.kill_at = time.monotonic() + self._settings.grace_s

    def resume(self) -> None:
        """Go on after `suspend`."""
        self.suspended = False
        for child in self._slots.children:
            if child.state is not lives.State.LEAVING:
                child.replaced = False

    @property
    def at_work(self) -> bool:
        """Whether a child has claimed work in hand, or may have."""
        return any(
            child.batch is not None and child.batch.bucket != wire.PLAIN
            for child in self._slots.children
        )

    def stop(self, *, cold: bool) -> None:
        self.stopping = cold or bool(self.stopping)
        self.flush()
        for child in self._slots.children:
            if child.state is lives.State.STARTING:
                child.state = lives.State.LEAVING
                child.kill()
            elif child.state is not lives.State.LEAVING:
                child.stop(self._settings.grace_s)
            if cold:
                self.ask(child, work.Why.SHUTDOWN)
                child.leave_by = time.monotonic() + self._settings.grace_s
