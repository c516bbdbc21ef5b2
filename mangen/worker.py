"""The composition root of a worker: what its children do, and what its parent tells the ledger."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from celery import signals

from mangen import app as celery_app
from mangen import services, settings, storage
from mangen.comic import clips, keeping, makers, masks, submit
from mangen.comic.stages import door, kit
from mangen.dispatch import (
    canvas,
    drain,
    foresight,
    housekeeping,
    leader,
    pruning,
    publisher,
    purge,
    rank,
    reconcile,
    reporter,
)
from mangen.ledger import hours, jobs, ledger
from mangen.pooling import celery_task, events, work
from mangen.pooling import log as pool_log

#: between two looks for files that are gone, of projects at work
_FILES_S = 600.0
_PRUNE_S = 3600.0  #: between two turns of pruning

TASKS = [
    celery_app.build().register_task(
        type(name.title(), (celery_task.WorkTask,), {"name": f"mangen.{name}"})()
    )
    for name in door.STAGES
]


@celery_app.build().task(name=canvas.WAKE, ignore_result=True)  # type: ignore[untyped-decorator]  # Celery has no types
def wake(project: int) -> None:
    """Ring the pass for a project: the body and the errback of the anchors' chord."""
    _child_ledger(services.read(settings.load()).database_url).settled(project)


@functools.cache
def _child_ledger(url: str) -> ledger.Ledger:
    """The one connection of a child, shared by its jobs and its wakes."""
    return ledger.Ledger(url, application="mangen-child", pool_size=1)


def make_work(handed: Mapping[str, str]) -> work.Work:
    """Make what a child runs; called once in each child with the parent's settings."""
    chosen = settings.load(handed)
    book = _child_ledger(services.read(chosen).database_url)
    book.times = hours.Hours.parse(chosen.quiet_hours, chosen.time_zone)
    return door.ComicWork(kit.Kit(chosen, book), drain.QUEUES)


def make_listener(control: events.Control) -> events.Listener:
    """Make what the parent's pool talks to: the reporter, behind queues that never block."""
    return pool_log.Many(pool_log.Log(), WorkerListener(control, settings.load()))


class ControlledPool:
    """The reporter's view of the pool."""

    def __init__(self, control: events.Control) -> None:
        self._control = control

    def owners(self) -> Sequence[jobs.Owner]:
        return [
            jobs.Owner.parse(child["owner"], device=child["kind"], queues=drain.QUEUES)
            for child in self._control.report().get("children", ())
            if child["state"] not in {"starting", "standby"}
        ]

    def report(self) -> Mapping[str, Any]:
        return self._control.report()

    def stop_job(self, job: int) -> None:
        self._control.abort_job(lambda data: data.get("job") == job)

    def replace(self, owner: str) -> None:
        self._control.replace(owner)

    def suspend(self) -> None:
        self._control.suspend()

    def resume(self) -> None:
        self._control.resume()

    def quiet(self) -> bool:
        """Whether all that was claimed has been dropped after `suspend`."""
        report = self._control.report()
        return bool(report.get("suspended")) and not report.get("at_work")

    def learn(self, seen: Sequence[jobs.Observation]) -> None:
        """Hand the pool what workers before this one saw of work and of loading."""
        self._control.learn([_recalled(one) for one in seen if one.kind in {"work", "load"}])

    def expect(self, models: Sequence[str]) -> None:
        self._control.expect(models)


class WorkerListener:
    """Turns the pool's events into heartbeats, releases and observations. Never blocks."""

    def __init__(self, control: events.Control, chosen: settings.Settings) -> None:
        for path in (chosen.image_engine, chosen.voice_engine):
            makers.engine_class(path)  # a worker that could run nothing must not start
        url = services.read(chosen).database_url
        book = ledger.Ledger(url, application="mangen-beat", pool_size=1)
        book.times = hours.Hours.parse(chosen.quiet_hours, chosen.time_zone)
        turn = drain.Pass(
            book,
            functools.partial(canvas.send, celery_app.build()),
            lease_s=chosen.lease_s,
            lost_bell_s=chosen.lost_bell_s,
            weights=rank.Weights.parse(chosen.rank_weights),
            rules=publisher.Rules.of(chosen),
        )
        store = storage.Store(chosen.artifact_root)
        self._reporter = reporter.Reporter(
            book,
            ControlledPool(control),
            leader.Leader(url, lease_s=chosen.lease_s, application="mangen-pass"),
            turn,
            lease_s=chosen.lease_s,
            pass_s=chosen.pass_s,
            housekeep=functools.partial(_housekeep, url, _chores(chosen, store)),
            foresee=functools.partial(_foresee, url, chosen, _foresight(chosen)),
        )
        signals.task_revoked.connect(self._revoked)
        self._started = threading.Event()
        self._reports: dict[str, str] = {}  # of children that were killed, by owner

    def _revoked(self, request: Any = None, **_: Any) -> None:
        """Cancel what Celery itself dropped before it reached the pool."""
        data = getattr(request, "work", None)
        if data:
            self._reporter.hand_back(int(data["job"]), int(data["attempt"]), "revoked")

    def on(self, event: events.Event) -> None:
        match event:
            case events.PoolStarted():
                self._reporter.start()
                self._started.set()
            case events.ChildStopped(owner=owner):
                self._reporter.child_lost(owner, None, "shutdown")
            case events.PoolStopped():
                if self._started.is_set():
                    self._reporter.stop()
            case events.Finished():
                self._reporter.observe(_observation(event))
            case events.Loaded() | events.Restarted():
                self._reporter.observe(_of_device(event))
            case events.ChildReady():
                self._reporter.beat_soon()
            case events.TimedOut(owner=owner, report=report):
                self._reports[owner] = report
            case _:
                pass

    def child_lost(self, owner: str, keys: Sequence[work.Key], alone: bool) -> None:  # noqa: FBT001 - contracts.md spells it so
        held = {int(key.split("-", 1)[0]) for key in keys if key.split("-", 1)[0].isdecimal()}
        self._reporter.child_lost(
            owner, held if alone else set(), "child_lost", self._reports.pop(owner, "")
        )


def _chores(chosen: settings.Settings, store: storage.Store) -> housekeeping.Chores:
    """What the leader does beside the pass."""
    chores = housekeeping.Chores()
    chores.add(
        "sweeping orphaned files",
        chosen.lease_s,
        functools.partial(housekeeping.sweep, store=store, lease_s=chosen.lease_s),
    )
    chores.add("sweeping pictures of clips", _FILES_S, functools.partial(clips.sweep, store=store))
    chores.add("sweeping masks", _FILES_S, functools.partial(masks.sweep, store=store))
    chores.add(
        "looking for lost files",
        _FILES_S,
        functools.partial(reconcile.files_at_work, store=store, essential=keeping.essential),
    )
    chores.add(
        "removing purged projects",
        chosen.lease_s,
        functools.partial(purge.finish_all, store=store),
    )
    chores.add(
        "pruning the past",
        _PRUNE_S,
        functools.partial(
            pruning.prune, store=store, keep=pruning.Keep.of(chosen), pinned=keeping.pinned
        ),
    )
    return chores


def _foresight(chosen: settings.Settings) -> foresight.Foresight:
    return foresight.Foresight(
        lease_s=chosen.lease_s, quantum_s=chosen.fair_quantum_s, planning=submit.STAGE
    )


def _foresee(url: str, chosen: settings.Settings, turn: foresight.Foresight) -> None:
    """Foretell what is open, on a connection of its own: large backlogs take a while."""
    book = ledger.Ledger(url, application="mangen-foresee", pool_size=1)
    book.times = hours.Hours.parse(chosen.quiet_hours, chosen.time_zone)
    try:
        turn.turn(book)
    finally:
        book.close()


def _housekeep(url: str, chores: housekeeping.Chores) -> None:
    """Do chores on a connection of their own, so that no heartbeat waits for them."""
    book = ledger.Ledger(url, application="mangen-sweep", pool_size=1)
    try:
        chores.turn(book)
    finally:
        book.close()


def _observation(event: events.Finished) -> jobs.Observation:
    data = event.data or {}
    return jobs.Observation(
        kind="work",
        model=data.get("model", ""),
        stage=data.get("stage", ""),
        bucket=data.get("bucket", ""),
        device=event.kind,
        members=event.members,
        seconds=event.seconds,
        peak=event.peak,
        meta={
            "job": data.get("job"),
            "attempt": data.get("attempt"),
            "owner": event.owner,
            "status": str(event.status),
            "task": f"mangen.{data.get('stage', '')}",
            "planned": data.get("planned"),
            "loading": event.loading,
            "theory": event.theory if event.status is work.Status.DONE else 0,
        },
    )


def _of_device(event: events.Loaded | events.Restarted) -> jobs.Observation:
    if isinstance(event, events.Loaded):
        return jobs.Observation(
            kind="load", model=event.model, device=event.device, seconds=event.seconds,
            peak=event.nbytes, meta={"owner": event.owner, "ahead": event.ahead},
        )  # fmt: skip
    return jobs.Observation(
        kind="restart", device=event.device, seconds=event.seconds,
        meta={"old": event.old, "new": event.new, "tasks": event.tasks, "why": event.why},
    )  # fmt: skip


def _recalled(one: jobs.Observation) -> events.Seen:
    return events.Seen(
        name="" if one.kind == "load" else str(one.meta.get("task", "")),
        model=one.model,
        bucket=one.bucket,
        device=one.device,
        members=one.members,
        seconds=one.seconds or 0.0,
        peak=one.peak or 0,
        theory=int(one.meta.get("theory") or 0),
    )
