"""What a deployment opens is counted, and fits into what the embedded server takes."""

import pathlib
import re

import pytest

import mangen
from mangen import errors
from mangen.ledger import connections, door
from mangen.stack import postgres

WORKER = pathlib.Path(mangen.__file__).parent / "worker.py"


def test_a_workers_connections_are_those_that_its_root_makes():
    text = WORKER.read_text("utf-8")
    made = re.findall(r"ledger\.Ledger\(([^)]*)\)|leader\.Leader\(([^)]*)\)", text)
    named = set(re.findall(r'application="mangen-(\w+)"', text))
    assert len(named - {"child"}) == connections.WORKER
    assert len(made) == len(named), "one of each"
    for book, _ in made:
        assert not book or "pool_size=1" in book


def test_the_embedded_server_takes_as_many_workers_as_up_may_start():
    most = int(postgres.CONFIGURATION["max_connections"])
    assert most >= 64 * connections.of_worker(1) + connections.COMMAND + 3


def test_the_room_of_a_server_is_what_it_says(ledger_url):
    before = connections.room(ledger_url)
    assert (before.most, before.reserved, before.vacuumed) == (100, 3, True)
    assert before.oldest_s >= 0
    engines = [door.engine_of(ledger_url) for _ in range(3)]
    held = [engine.connect() for engine in engines]
    after = connections.room(ledger_url)
    for conn, engine in zip(held, engines, strict=True):
        conn.close()
        engine.dispose()
    assert after.used >= 4  # and this look itself
    assert after.free <= 100 - 3 - 4


def test_a_server_that_is_not_there_is_named(tmp_path):
    with pytest.raises(errors.ServiceError, match="can't reach Postgres"):
        connections.room(f"postgresql+psycopg://me@/x?host={tmp_path}")
