"""Beside procrastinate's SQL: its own queries, run by psycopg as its connector does, no worker.

Both insert in twenties and finish one by one, with events on. Ours also writes two rows of each
job's parameters and needs, readies and publishes it, as the pass does, and claims twenty at a time;
procrastinate fetches one by one, which is all its API has. `ours_singly` claims one by one too.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.types import composite, json

from mangen.ledger import jobs, ledger

EACH = 20  #: jobs of one insert
TEXT = "深蓝的天空中，挂着一轮金黄的圆月，下面是海边的沙地。" * 4


def there() -> bool:
    return importlib.util.find_spec("procrastinate") is not None


def prepare(url: str) -> None:
    """Make procrastinate's schema in an empty database."""
    from procrastinate import schema  # noqa: PLC0415 - an extra: it may not be there

    with _connect(url) as conn:
        conn.execute(schema.SchemaManager.get_schema())


def theirs(url: str, number: int, share: int) -> Iterator[int]:
    """Defer so many jobs in twenties, then fetch and finish one after the other."""
    from procrastinate import sql  # noqa: PLC0415 - an extra: it may not be there

    queries = sql.queries
    with _connect(url) as conn:
        made = composite.CompositeInfo.fetch(conn, "procrastinate_job_to_defer_v1")
        assert made is not None
        composite.register_composite(made, conn)
        worker = conn.execute("SELECT * FROM procrastinate_register_worker_v1()").fetchone()
        assert worker is not None
        yield 0
        for first in range(0, share, EACH):
            wanted = [
                made.python_type("cpu", "voice", 0, None, None,
                                 json.Jsonb({"no": first + n, "text": TEXT}), None)
                for n in range(EACH)
            ]  # fmt: skip
            conn.execute(queries["defer_jobs"], {"jobs": wanted})
            for _ in range(EACH):
                job = conn.execute(
                    queries["fetch_job"], {"queues": ["cpu"], "worker_id": worker[0]}
                ).fetchone()
                assert job is not None
                assert job[0] is not None
                conn.execute(
                    queries["finish_job"],
                    {"job_id": job[0], "status": "succeeded", "delete_job": False},
                )
        yield share


def ours(url: str, number: int, share: int) -> Iterator[int]:
    """The same through the ledger: plan twenty, ready, publish and claim them, finish each."""
    yield from _ours(url, number, share, EACH)


def ours_singly(url: str, number: int, share: int) -> Iterator[int]:
    """As `ours`, claimed one by one."""
    yield from _ours(url, number, share, 1)


def _ours(url: str, number: int, share: int, batch: int) -> Iterator[int]:
    book = ledger.Ledger(url, application="mangen-child", pool_size=1)
    owner = jobs.Owner(worker="peer", slot=number, generation=time.time_ns(), queues=("cpu",))
    book.register(owner)
    with book.transaction() as conn:
        project = book.insert_project(conn, title=f"peer {number}")
        first = book.insert_jobs(conn, project, [_wanted("anchor", "c/1", ())], by="bench")
    _open(book, project)
    for fence in book.claim(first, owner).granted.values():
        with book.finishing(fence):
            pass
    yield 0
    for start in range(0, share, EACH):
        needs = (jobs.Need(stage="anchor", subject="c/1"),)
        wanted = [_wanted("voice", f"e1/s{start + n}/l1", needs) for n in range(EACH)]
        with book.transaction() as conn:
            made = book.insert_jobs(conn, project, wanted, by="bench")
        _open(book, project)
        for at in range(0, EACH, batch):
            for fence in book.claim(made[at : at + batch], owner).granted.values():
                book.finish(fence)
    yield share
    book.close()


def _open(book: ledger.Ledger, project: int) -> None:
    """What the pass does for one project; publishing as it does, without its choice."""
    with book.transaction() as conn:
        book.look_project(conn, project)
        near = book.clear_dirty(conn, project)
        found = book.find_ready(conn, project, near=near)
        ready = book.ready_jobs(conn, {one.id: 1.0 for one in found})
    with book.transaction() as conn:
        book.publish_jobs(conn, ready)


def _wanted(stage: str, subject: str, needs: tuple[jobs.Need, ...]) -> jobs.Wanted:
    return jobs.Wanted(
        stage=stage, subject=subject, key="k", queue="cpu", klass=1, bucket=stage, model="",
        params={"text": TEXT}, needs=needs,
    )  # fmt: skip


def _connect(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)
