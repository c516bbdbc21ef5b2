"""What Postgres refuses is told with its mend, and not as a fault of mangen's."""

from __future__ import annotations

import psycopg.errors
import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.ledger import refused


def _count_within_50_ms(book):
    with refused.told(), book.transaction() as conn:
        conn.exec_driver_sql("set local statement_timeout = 50")
        conn.exec_driver_sql("select count(*) from jobs")


def test_a_lock_that_someone_holds_is_named(desk):
    with desk.book.transaction() as holder:
        holder.exec_driver_sql("lock table jobs in access exclusive mode")
        with pytest.raises(errors.ServiceError, match="someone may hold a lock"):
            _count_within_50_ms(desk.book)


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (psycopg.errors.DiskFull(), "make room"),
        (psycopg.errors.DeadlockDetected(), "ask again later"),
        (psycopg.errors.AdminShutdown(), "when it is back"),
    ],
)
def test_a_refusal_names_its_mend(cause, said):
    with pytest.raises(errors.ServiceError, match=said) as caught, refused.told():
        raise sa.exc.OperationalError("select 1", {}, cause)
    assert "select 1" not in str(caught.value)


def test_a_fault_of_ours_stays_one(desk):
    with pytest.raises(sa.exc.ProgrammingError), refused.told():
        desk.sql("select nothing from nowhere")
