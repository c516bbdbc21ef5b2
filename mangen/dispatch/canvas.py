"""How a job becomes a message: the anchors' chord, and single bells.

The message only rings: it carries what placement needs in one header and, for Flower's readers,
the job's id, its project's title and what it is. Losing one loses seconds, never work.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import celery

from mangen.ledger import jobs

log = logging.getLogger(__name__)

WAKE = "mangen.wake"
#: jobs of this queue gate others: those that one pass finds ready are one chord a project
GATING_QUEUE = "gpu.high"
#: how long publishing may try to reach a broker before the bell is left to the next pass
_CONNECT_S = 2.0


def header(job: jobs.Job) -> dict[str, Any]:
    """What the pool and the child must know of a job before it is claimed."""
    return {
        "job": job.id,
        "attempt": job.attempt,
        "stage": job.stage,
        "bucket": job.bucket,
        "rank": job.rank,
        "class": job.klass,
        "model": job.model,
        "peaks": list(job.peaks),
        "seconds": job.seconds_est,
        "planned": job.seconds_theory,
        "cap": job.cap,
        "solo": job.solo,
    }


def message(app: celery.Celery, job: jobs.Job, title: str) -> celery.Signature:
    """Make the message of one publication; its id is new at each one."""
    return app.signature(
        f"mangen.{job.stage}",
        args=(job.id, title, job.subject),
        immutable=True,
        task_id=f"{job.id}-{job.attempt}-{job.bell}",
        queue=job.queue,
        headers={"work": header(job)},
        # a chord counts its members all the same; nobody waits here for what they return, and a
        # publisher that subscribed to results would hang with a broker that died
        ignore_result=True,
    )


def _chorded(app: celery.Celery, job: jobs.Job) -> bool:
    """Whether a job goes into its project's chord.

    Whatever is republished goes singly: a chord counts each member once. So does all where the
    result backend can't count (RabbitMQ alone): the pass then opens the shots by itself.
    """
    return (
        job.queue == GATING_QUEUE
        and job.home_queue in (None, GATING_QUEUE)  # no urgent or promoted work
        and job.bell == 1
        and job.attempt == 0
        and app.backend.supports_native_join
    )


def send(app: celery.Celery, ready: Sequence[jobs.Job], titles: Mapping[int, str]) -> int:
    """Send the messages of published jobs; answers how many went out.

    A broker that can't be reached is logged, not raised: the jobs' bells are found lost by a
    later pass, and rung again.
    """
    sent = 0
    try:
        with app.connection_for_write(connect_timeout=_CONNECT_S) as connection:
            connection.ensure_connection(max_retries=1, timeout=_CONNECT_S)
            _unwatch(app)
            for project, gating in _by_project(job for job in ready if _chorded(app, job)).items():
                wake = app.signature(
                    WAKE, args=(project,), immutable=True, queue="cpu", ignore_result=True
                )
                body = wake.on_error(wake.clone())
                header_group = [message(app, job, titles[project]) for job in gating]
                celery.chord(header_group, app=app)(body, connection=connection)
                sent += len(gating)
            for job in ready:
                if not _chorded(app, job):
                    message(app, job, titles[job.project]).apply_async(
                        connection=connection, retry=False
                    )
                    sent += 1
    except Exception as error:  # noqa: BLE001 - any transport's and result backend's own errors
        log.warning("the broker can't be reached, %d bells wait: %s", len(ready) - sent, error)
    return sent


def _unwatch(app: celery.Celery) -> None:
    """Keep this thread's result backend from listening for what a chord's members return.

    Publishing a group subscribes to each member's result, though nobody here waits for one; with
    a broker that died, dropping those subscriptions then hangs for 20 s of retries
    (celery.canvas.group._apply_tasks, celery.result.AsyncResult.__del__).
    """
    app.backend.add_pending_result = lambda result, **_: result


def _by_project(ready: Iterable[jobs.Job]) -> dict[int, list[jobs.Job]]:
    grouped: dict[int, list[jobs.Job]] = {}
    for job in ready:
        grouped.setdefault(job.project, []).append(job)
    return grouped
