"""A worker whose heartbeats reach no ledger: it stops its work by itself, and goes on uncharged."""

from __future__ import annotations

import contextlib
import time

import psycopg
import sqlalchemy as sa

from mangen import services
from tests.e2e.test_kills import assert_same, middle


@contextlib.contextmanager
def away(deployment):
    """Keep everybody from the deployment's database, and let them in again."""
    url = sa.make_url(services.read(deployment.settings).database_url)
    with psycopg.connect(
        url.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False),
        autocommit=True,
    ) as conn:
        name = psycopg.sql.Identifier(url.database)
        allow = psycopg.sql.SQL("alter database {} with allow_connections {}")
        conn.execute(allow.format(name, psycopg.sql.SQL("false")))
        conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
            [url.database],
        )
        try:
            yield
        finally:
            conn.execute(allow.format(name, psycopg.sql.SQL("true")))


def test_a_ledger_that_is_away_for_longer_than_a_lease(undisturbed, deployment):
    worker = deployment.start_worker()
    number = deployment.project()
    middle(deployment, number)
    with away(deployment):
        deployment.until(
            lambda: "what runs is dropped" in deployment.log(), what="the end of the work"
        )
        time.sleep(deployment.lease_s)  # children that wait for the ledger don't hear: killed
    assert_same(deployment, number, undisturbed)
    assert "the ledger takes heartbeats again" in deployment.log()
    assert worker.poll() is None
    charged = deployment.query(
        "select id, stage, failures, losses, solo, error from jobs"
        " where failures > 0 or losses > 0 or solo"
    )
    assert charged == [], "nobody but the ledger was at fault"
