"""What a chaos run does to work under way: each act seeded, noted, and never waited for."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import signal
import time

import psutil
import sqlalchemy as sa
from kombu import exceptions as kombu_errors
from redis import exceptions as redis_errors

from mangen import api, control, errors, troubles
from mangen import app as celery_app
from mangen.dispatch import canvas

#: what an act may meet while a server is down: it did nothing then, or did it unseen
AWAY = (
    errors.ServiceError, errors.UnknownProject, sa.exc.DBAPIError, OSError,
    kombu_errors.KombuError, redis_errors.RedisError,
)  # fmt: skip
#: how often each act comes among the others
WEIGHTS = {
    "kill_child": 6,
    "kill_worker": 4,
    "freeze_worker": 2,
    "freeze_parent": 1,
    "freeze_child": 1,
    "kill_broker": 2,
    "wipe_broker": 2,
    "lose_messages": 3,
    "kill_postgres": 3,
    "kill_keeper": 1,
    "duplicate": 5,
    "pause": 4,
    "cancel": 4,
    "retake": 4,
    "rescue": 1,
}
KILLS = ("kill_child", "kill_worker", "kill_broker", "wipe_broker", "kill_postgres", "kill_keeper")
#: act -> whose life it ends; who dies again within a minute is started ever later
SERVERS = {
    "kill_broker": "valkey",
    "wipe_broker": "valkey",
    "kill_postgres": "postgres",
    "kill_keeper": "keeper",
}
_HEALTHY_S = 62.0
_FROZEN_LEASES = 2.7  #: two looks a lease apart, and some
_MOST_S = 4.0  #: longest time until what was paused or cancelled is asked for again
_AT_WORK = 0.8  #: of what befalls workers

_RUNNING = sa.text("select owner from jobs where state = 'running'")
_PUBLISHED = sa.text(
    "select id from jobs where state in ('published', 'running', 'done') and attempt + bell > 0"
    " order by state = 'published' desc, id desc limit 12"
)
_SHOTS = sa.text(
    "select j.project, j.subject from jobs j where j.stage = 'animate' and not j.superseded"
    " and j.project = any(:projects) order by j.id"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Later:
    """What has to be asked for again: a pause's resume, a cancel's retry."""

    due: float
    verb: str
    scope: str


class Acts:
    """The acts of one run; `log` is called with a line of JSON for each."""

    def __init__(self, ground, dice, log):
        self._ground, self._dice, self._log = ground, dice, log
        self._began = time.monotonic()
        self._later: list[Later] = []
        self._killed: dict[str | None, float] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        self.retakes: collections.Counter[tuple[int, str]] = collections.Counter()
        self.open: list[int] = []  #: projects under way, as the run sees them
        self.all: list[int] = []

    def choose(self):
        """The next act: what was not done yet comes first, so that a short run has all of them."""
        pool = self.missing() or [name for name in WEIGHTS if self._rested(name)]
        return self._dice.choices(pool, [WEIGHTS[name] for name in pool])[0]

    def _rested(self, name):
        """Whether the keeper would start what this kills at once: else all only waits for it."""
        server = SERVERS.get(name)
        return server is None or time.monotonic() - self._killed.get(server, 0.0) > _HEALTHY_S

    def missing(self):
        """The acts that were not done yet."""
        return [name for name in WEIGHTS if not self.counts[name]]

    def do(self, name):
        """Do one act; where nothing can be done just now, nothing is counted."""
        try:
            what = getattr(self, f"_{name}")()
        except psutil.Error:
            return  # it died by itself meanwhile
        except AWAY as error:
            self.note(name, away=f"{type(error).__name__}: {str(error).splitlines()[0][:120]}")
            return
        if what is not None:
            self.counts[name] += 1
            self._killed[SERVERS.get(name)] = time.monotonic()
            self.note(name, **what)

    def note(self, act, **more):
        """Write down what was done, and when."""
        at = round(time.monotonic() - self._began, 2)
        self._log(json.dumps({"at": at, "act": act, **more}, ensure_ascii=False))

    def tick(self):
        """Ask again for what is due to be asked for again."""
        now = time.monotonic()
        for one in [one for one in self._later if one.due <= now]:
            self._ask(one)

    def end(self):
        """Lift every pause and every cancellation; answers whether the ledger took it all."""
        try:
            with api.open_ledger() as (_, book), book.transaction() as conn:
                held = book.holds(conn, None)
            control.resume("all")
            for number, paths in held.items():
                control.resume(*(f"{number}/{path}" if path else number for path in paths))
            for number in self.all:
                with contextlib.suppress(errors.UnknownProject):  # the judge tells of it
                    control.retry(number)
        except AWAY as error:
            self.note("end", away=str(error).splitlines()[0][:120])
            return False
        self._later.clear()
        return True

    def _ask(self, one):
        self._later.remove(one)
        try:
            getattr(control, one.verb)(one.scope)
            self.note(one.verb, scope=one.scope)
        except errors.UsageError as error:  # what it named was replaced meanwhile
            self.note(one.verb, scope=one.scope, refused=str(error))
        except AWAY as error:
            self.note(one.verb, scope=one.scope, away=type(error).__name__)
            self._later.append(dataclasses.replace(one, due=time.monotonic() + 0.5))

    # -- processes

    def _worker(self):
        """A worker that is awake, and mostly one at work: the idle have little to lose."""
        awake = self._ground.awake()
        if awake and self._dice.random() < _AT_WORK:
            with contextlib.suppress(*AWAY), api.open_ledger() as (_, book), book.statement() as c:
                names = {owner.split("@")[0] for owner in c.scalars(_RUNNING)}
                awake = [name for name in awake if name in names] or awake
        return self._dice.choice(awake) if awake else None

    def _kill_child(self):
        name = self._worker()
        children = self._ground.children(name) if name else []
        return self._kill(self._dice.choice(children), worker=name) if children else None

    def _kill_worker(self):
        name = self._worker()
        return self._kill(self._ground.parent(name), worker=name) if name else None

    def _kill_postgres(self):
        return self._kill(self._ground.server("postgres"))

    def _kill_broker(self):
        return self._kill(self._ground.server("valkey"))

    def _kill_keeper(self):
        return self._kill(self._ground.keeper())

    def _wipe_broker(self):
        server = self._ground.server("valkey")
        if server is None:
            return None
        server.send_signal(signal.SIGSTOP)  # it writes nothing more
        self._ground.wipe_broker()
        return self._kill(server)

    def _kill(self, process, **more):
        if process is None:
            return None
        process.kill()
        return {"pid": process.pid, **more}

    def _freeze_worker(self):
        return self._freeze(lambda name: [self._ground.parent(name), *self._ground.children(name)])

    def _freeze_parent(self):
        return self._freeze(lambda name: [self._ground.parent(name)])

    def _freeze_child(self):
        return self._freeze(lambda name: self._ground.children(name)[:1])

    def _freeze(self, whom):
        name = self._worker()
        processes = whom(name) if name else []
        if not processes:
            return None
        seconds = _FROZEN_LEASES * self._ground.lease_s
        self._ground.freeze(name, processes, seconds)
        return {"worker": name, "pids": [one.pid for one in processes], "seconds": seconds}

    # -- messages

    def _duplicate(self):
        """Send messages again: one under its own id, one under a new one."""
        with api.open_ledger() as (_, book), book.transaction() as conn:
            ids = conn.scalars(_PUBLISHED).all()
            if not ids:
                return None
            chosen = self._dice.sample(list(ids), min(3, len(ids)))
            found = book.jobs(chosen, conn)
        app = celery_app.build()
        with app.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, timeout=2)
            for job in found:
                for bell in (job.bell, job.bell + 1000):
                    again = dataclasses.replace(job, bell=bell)
                    canvas.message(app, again, "twice").apply_async(
                        connection=connection, retry=False
                    )
        return {"jobs": list(chosen)}

    def _lose_messages(self):
        app = celery_app.build()
        queue = self._dice.choice(["gpu.high", "cpu", "gpu.mid", "gpu.low"])
        with app.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, timeout=2)
            return {"queue": queue, "lost": connection.default_channel.queue_purge(queue)}

    # -- control

    def _pause(self):
        return self._then("pause", "resume")

    def _cancel(self):
        return self._then("cancel", "retry")

    def _then(self, verb, mend):
        """Act on a project, an episode or a shot, and ask for it again a little later."""
        if not self.open:
            return None
        number = self._dice.choice(self.open)
        shots = [path for _, path in self._shots([number])]
        paths = ["", *(["e1", *shots] if shots else ())]
        path = self._dice.choice(paths)
        scope = f"{number}/{path}" if path else str(number)
        later = Later(
            due=time.monotonic() + self._dice.uniform(0.3, _MOST_S), verb=mend, scope=scope
        )
        self._later.append(later)  # first: an answer that never came may have been an act
        try:
            [answer] = getattr(control, verb)(scope)
        except errors.UsageError as error:
            self._later.remove(later)
            return self.note(verb, scope=scope, refused=str(error))
        return {"scope": scope, "changed": answer["changed"]}

    def _retake(self):
        shots = self._shots(self.all)
        if not shots:
            return None
        number, path = self._dice.choice(shots)
        try:
            control.retake(f"{number}/{path}")
        except errors.UsageError as error:
            return self.note("retake", scope=f"{number}/{path}", refused=str(error))
        self.retakes[number, path] += 1
        return {"scope": f"{number}/{path}"}

    def _shots(self, numbers):
        with api.open_ledger() as (_, book), book.transaction() as conn:
            rows = conn.execute(_SHOTS, {"projects": numbers}).all()
        return [(row.project, row.subject) for row in rows]

    def _rescue(self):
        return {"mended": [one["what"] for one in troubles.rescue()]}
