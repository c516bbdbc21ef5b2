"""The same path on services that mangen does not start: other brokers, another Postgres."""

from __future__ import annotations

import os
import uuid

import pytest
import sqlalchemy as sa

DATABASE = os.environ.get("MANGEN_TEST_DATABASE_URL", "")
BROKERS = {
    "rabbitmq": os.environ.get("MANGEN_TEST_AMQP_URL", ""),
    "redis": os.environ.get("MANGEN_TEST_REDIS_URL", ""),
}


@pytest.fixture
def database():
    """Yield the URL of a fresh database on the Postgres that was offered."""
    if not DATABASE:
        pytest.skip("set MANGEN_TEST_DATABASE_URL to a Postgres where databases may be made")
    name = f"mangen_{uuid.uuid4().hex[:12]}"
    admin = sa.create_engine(DATABASE, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as conn:
        conn.exec_driver_sql(f"create database {name}")
    yield sa.make_url(DATABASE).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as conn:
        conn.exec_driver_sql(f"drop database {name} with (force)")


@pytest.mark.parametrize("broker", sorted(BROKERS))
def test_the_whole_path_on_offered_services(broker, database, deploy, undisturbed):
    url = BROKERS[broker]
    if not url:
        variable = {"rabbitmq": "AMQP", "redis": "REDIS"}[broker]
        pytest.skip(f"set MANGEN_TEST_{variable}_URL to a broker that may be used")
    with deploy(database_url=database, broker_url=url) as one:
        assert not (one.home / "services.json").exists()
        one.start_worker(f"other-{uuid.uuid4().hex[:8]}")
        number = one.project()
        status = one.wait(number)
        assert status["state"] == "done", (status, one.tail())
        assert (one.storyboard(number), one.frames(number)) == undisturbed.reference
        assert one.violations() == []
        one.stop_workers()
        assert not (one.home / "services.json").exists()
