"""Anchors gate shots by canvas, urgent work overtakes, and a failed anchor blocks nobody."""

from __future__ import annotations

import os
import signal

from mangen import app, services
from mangen.dispatch import canvas
from mangen.ledger import jobs, ledger


def test_the_anchors_chord_wakes_the_pass_by_its_body(undisturbed):
    log = undisturbed.log()
    anchors = undisturbed.query("select id from jobs where stage = 'anchor'")
    assert len(anchors) == 2
    assert log.count("Task mangen.wake") == 2  # received and succeeded: one chord, one body
    assert "mangen.wake" in log.split("Task mangen.anchor")[-1]


def test_failed_anchors_release_their_shots_by_the_errback(deployment):
    deployment.start_worker(image_engine="broken_engines:NoAnchors")
    number = deployment.project()
    status = deployment.wait(number)
    assert status["state"] == "degraded", (status, deployment.tail())
    assert {one["stage"] for one in status["failures"]} == {"anchor"}
    (episode,) = status["episodes"]
    assert {one["what"] for one in episode["replaced"]} == {"likeness of 陈默", "likeness of 林晓"}
    assert episode["video"]
    log = deployment.log()
    assert log.count("Task mangen.wake") >= 2  # the errback, once or more, and never a hang
    assert deployment.violations() == []


def test_an_anchor_overtakes_a_hundred_queued_low_jobs(deployment):
    """Through the real broker: what is published last, and high, is claimed first."""
    book = ledger.Ledger(services.read(deployment.settings).database_url)
    with book.transaction() as conn:
        number = book.insert_project(conn, title="queue", klass=1, settings={})
        low = book.insert_jobs(
            conn, number, [_job(f"low/{n}", "gpu.low", 2) for n in range(100)], by="test"
        )
        high = book.insert_jobs(conn, number, [_job("high", "gpu.high", 0)], by="test")
        book.ready_jobs(conn, dict.fromkeys([*low, *high], 0.0))
        published = book.publish_jobs(conn, [*low, *high])
    app.build.cache_clear()
    sent = canvas.send(
        app.build(), sorted(published, key=lambda job: -job.klass), {number: "queue"}
    )
    assert sent == 101
    assert app.build().backend.result_consumer._pubsub is None  # nobody subscribed
    deployment.start_worker(devices="cpu", window="2")
    claims = deployment.until(
        lambda: (
            found
            if len(
                found := deployment.query(
                    """select j.subject from events e join jobs j on j.id = e.job
                       where e.query = 'claim_jobs' order by e.id"""
                )
            )
            >= 10
            else None
        ),
        what="the first claims",
    )
    assert claims[0].subject == "high"
    book.close()


def test_what_is_revoked_in_the_brokers_queue_is_cancelled_in_the_ledger(deployment):
    worker = deployment.start_worker(devices="cpu", window="1")
    (child,) = deployment.until(lambda: deployment.children(worker), what="the worker's child")
    os.kill(child, signal.SIGSTOP)  # what is offered stays, the rest waits in the broker
    book = ledger.Ledger(services.read(deployment.settings).database_url)
    with book.transaction() as conn:
        number = book.insert_project(conn, title="queue")
        ids = book.insert_jobs(
            conn, number, [_job(f"e1/s1/l{n}", "gpu.high", 0) for n in range(6)], by="test"
        )
    book.settled(number)
    deployment.until(lambda: all(j.state == "published" for j in book.jobs(ids)), what="the bells")
    app.build.cache_clear()
    revoked = ids[3:]
    app.build().control.revoke([f"{job}-0-1" for job in revoked], terminate=True)
    os.kill(child, signal.SIGCONT)
    deployment.until(
        lambda: all(one.state in {"done", "cancelled"} for one in book.jobs(ids)),
        what="the end of all jobs",
    )
    assert {one.id for one in book.jobs(ids) if one.state == "cancelled"} == set(revoked)
    book.close()


def _job(subject, queue, klass):
    return jobs.Wanted(
        stage="voice",
        subject=subject,
        key=subject,
        queue=queue,
        klass=klass,
        bucket="tone/voice",
        model="tone",
        params={"text": "好", "language": "zh", "voice": "zm_yunyang", "speed": 1.0},
    )
