"""A Celery app with toy work, run by real workers in the contract tests.

The header `work` carries `do`: a list of words, one a step: sleep:S, kill, oom, fail, exit, raise,
hog:MIB, progress:S. What happens is appended to the log file TOY_LOG, a JSON object a line.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import celery
import kombu
from celery import signals

from mangen.pooling import celery_cure, celery_task, models, work

LOG = pathlib.Path(os.environ["TOY_LOG"])
PREFIX = os.environ.get("TOY_PREFIX", "")
QUEUES = [PREFIX + name for name in ("gpu.high", "cpu", "gpu.mid", "gpu.low")]

app = celery.Celery("toy", broker=os.environ["TOY_BROKER"], backend=os.environ["TOY_RESULTS"])
app.conf.update(
    worker_pool="mangen.pooling.celery_pool:ResidentPool",
    worker_concurrency=int(os.environ.get("TOY_CHILDREN", "1")),
    worker_prefetch_multiplier=int(os.environ.get("TOY_WINDOW", "4")),
    worker_send_task_events=True,
    worker_enable_prefetch_count_reduction=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options=(
        {"queue_order_strategy": "priority"} if os.environ["TOY_BROKER"].startswith("redis") else {}
    ),
    task_queues=[kombu.Queue(name, kombu.Exchange(name), routing_key=name) for name in QUEUES],
    task_default_queue=PREFIX + "cpu",
    task_send_sent_event=True,
    resident_pool={
        "app": "app_toy:app",
        "work": "app_toy:make_work",
        "listener": "app_toy:make_listener",
        "devices": ["cpu"] * int(os.environ.get("TOY_CHILDREN", "1")),
        "cpu_bytes": 2**30,
        "grace_s": 1.0,
        "hard_min_s": 2.0,
        "hard_factor": 1.0,
        "measure_sizes": False,  # these steps run one after another: no batch would be worth it
        "settings": {"log": str(LOG)},
        **json.loads(os.environ.get("TOY_POOL", "{}")),
    },
)
app.conf.update(json.loads(os.environ.get("TOY_CONF", "{}")))
if os.environ.get("TOY_ILL"):
    celery_cure.apply = lambda: None


def write(what, **more):
    line = json.dumps({"what": what, "at": time.monotonic(), **more}) + "\n"
    handle = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode())
    os.close(handle)


@signals.task_failure.connect
def on_failure(task_id=None, exception=None, **_):
    write("celery_failed", key=task_id, pid=os.getpid(), error=repr(exception))


class Session:
    joinable = True

    def __init__(self, bucket, rt):
        self.bucket, self.rt, self.left = bucket, rt, {}

    def add(self, items):
        ended = {}
        for item in items:
            words = list(item.data.get("do", []))
            if words[:1] == ["stale"]:
                ended[item.key] = work.Outcome.stale("someone else had it")
                continue
            if words[:1] == ["raise-in-add"]:
                marker = LOG.with_name(f"raised-{item.key}")
                if not marker.exists():
                    marker.touch()
                    raise RuntimeError("the store does not answer")
                words = []
            self.left[item.key] = (item, words)
            write("claim", key=item.key, owner=self.rt.owner, pid=os.getpid(), bucket=self.bucket,
                  name=item.data.get("name"), mates=len(items))  # fmt: skip
        return ended

    def step(self):
        ended = {}
        for key, (item, words) in list(self.left.items()):
            if words:
                outcome = self.act(item, *words.pop(0).partition(":")[::2])
                if outcome is not None:
                    ended[key] = outcome
            if not words and key not in ended:
                ended[key] = work.Outcome.done({"name": item.data.get("name"), "pid": os.getpid()})
        for key, outcome in ended.items():
            del self.left[key]
            write("end", key=key, status=outcome.status)
        return ended

    def act(self, item, word, more):  # noqa: C901 - one line a word
        if word == "sleep":
            time.sleep(float(more))
        elif word == "progress":
            until = time.monotonic() + float(more)
            while time.monotonic() < until:
                time.sleep(0.02)
                self.rt.progress(item.key, 1, 2)
        elif word == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "oom":
            raise MemoryError("too large")
        elif word == "raise":
            raise RuntimeError("nobody expected this")
        elif word == "exit":
            sys.exit(3)
        elif word == "model":
            spec = models.ModelSpec(key=more, weight_bytes=2**20, load=object)
            with self.rt.use(spec):
                pass
        elif word == "spawn":
            write("spawned", key=item.key, pid=subprocess.Popen(["sleep", "60"]).pid)
        elif word == "fail":
            return work.Outcome.failed("the toy is broken")
        return None

    def drop(self, key, why):
        self.left.pop(key, None)
        write("drop", key=key, why=why)
        if why is work.Why.OOM:
            return work.Outcome.parked()
        if why is work.Why.NEVER_FITS:
            return work.Outcome.failed("out of memory, alone")
        return work.Outcome.aborted(why)

    def close(self):
        write("close", bucket=self.bucket)


class Work:
    def open(self, bucket, rt):
        return Session(bucket, rt)

    def spec(self, _model):
        return None

    def give_back(self, item, why):
        write("give_back", key=item.key, why=why)
        return work.Outcome.aborted(why)


def make_work(settings):
    if LOG.with_name("no-start").exists():
        raise RuntimeError("this device does not come up")
    inherited = [name for name in os.environ if name.startswith("FORKED_BY")]
    write(
        "work",
        inherited=inherited,
        settings=settings,
        pid=os.getpid(),
        thread=threading.current_thread().name,
    )
    return Work()


class Listener:
    def __init__(self, control):
        self.control = control

    def on(self, event):
        name = type(event).__name__
        more = {field: getattr(event, field) for field in event.__slots__}
        write("event", event=name, **json.loads(json.dumps(more, default=str)))
        if name == "Progressed" and event.data and event.data.get("name") == "stop me":
            self.control.abort_job(lambda data: data.get("name") == "stop me")
        if name == "Progressed" and event.data and event.data.get("name") == "replace me":
            owner = next(
                child["owner"]
                for child in self.control.report()["children"]
                if child["state"] == "busy"
            )
            self.control.replace(owner)

    def child_lost(self, owner, keys, alone):
        write("lost", owner=owner, keys=list(keys), alone=alone)


def make_listener(control):
    write("listener", torch="torch" in sys.modules, worker=control.worker)
    return Listener(control)


@app.task(base=celery_task.WorkTask, bind=True, name="toy.work")
def toy(self, *args, **kwargs):
    return celery_task.WorkTask.run(self, *args, **kwargs)


@app.task(name="toy.plain")
def plain(value=0, sleep=0.0, word=""):
    write("plain", key=plain.request.id, value=value, pid=os.getpid())
    time.sleep(sleep)
    if word == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "exit":
        sys.exit(3)
    if word == "oom":
        raise MemoryError("too large")
    if word == "raise":
        raise ValueError("a plain error")
    return value + 1


@app.task(name="toy.count")
def count(values):
    write("count", values=values)
    return len(values)
