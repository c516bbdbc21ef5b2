import contextlib
import pathlib
import re
import socket
import tempfile
import threading

import psycopg
import pytest
import sqlalchemy as sa

import mangen
from mangen import errors
from mangen.dispatch import leader
from mangen.ledger import door, ledger, queries


@pytest.fixture
def pooler(ledger_url):
    """Yield the URL of a way to the database that tells a process number of its own making."""
    url = sa.make_url(ledger_url)
    there = pathlib.Path(url.query["host"]) / ".s.PGSQL.5432"
    ended = threading.Event()
    with socket.socket(socket.AF_UNIX) as door_, contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
        door_.bind(str(folder / ".s.PGSQL.5432"))
        door_.listen()
        door_.settimeout(0.05)

        def serve():
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    ours, _ = door_.accept()
                    theirs = socket.socket(socket.AF_UNIX)
                    theirs.connect(str(there))
                    stack.callback(ours.close)
                    stack.callback(theirs.close)
                    threading.Thread(target=copy, args=(ours, theirs, False)).start()
                    threading.Thread(target=copy, args=(theirs, ours, True)).start()

        def copy(source, target, answers):
            while data := source.recv(65536):
                if answers and (at := data.find(_KEY)) >= 0:
                    at += len(_KEY)
                    data = data[:at] + bytes(b ^ 0x55 for b in data[at : at + 4]) + data[at + 4 :]
                target.sendall(data)
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve)
        thread.start()
        yield url.set(query={"host": str(folder)}).render_as_string(hide_password=False)
        ended.set()
        thread.join()


#: the message in which a server tells its process number
_KEY = b"K\0\0\0\x0c"


_SPELLED = {**door.LIMITS, "transaction_timeout": "1min"}


def _limits(conn):
    return {name: conn.exec_driver_sql(f"show {name}").scalar_one() for name in door.LIMITS}


def test_every_statement_and_transaction_has_its_limits(desk):
    with desk.book.transaction() as conn:
        assert _limits(conn) == _SPELLED
    with desk.book.statement() as conn:
        assert _limits(conn) == _SPELLED


def test_behind_a_pooler_each_transaction_sets_its_limits_and_leaves_no_trace(pooler):
    book = ledger.Ledger(pooler, pool_size=1)
    with book.transaction() as conn:
        assert _limits(conn) == _SPELLED
    with book.statement() as conn:  # what a pooler would hand to the next client
        assert set(_limits(conn).values()) == {"0"}
    book.close()


def test_limits_can_be_left_out(ledger_url):
    book = ledger.Ledger(ledger_url, timeouts=False)
    with book.transaction() as conn:
        assert conn.exec_driver_sql("show transaction_timeout").scalar_one() == "0"
    book.close()


def test_a_transaction_that_idles_is_ended_by_the_server(desk, wanted, monkeypatch):
    [job] = desk.want(wanted("anchor", "c/a"))
    [fence] = desk.run(job)
    monkeypatch.setitem(door.LIMITS, "idle_in_transaction_session_timeout", "30ms")
    door._limits.cache_clear()
    book = ledger.Ledger(desk.book.url)

    def idle():
        with (
            book.finishing(fence),
            psycopg.connect(desk.book.url.replace("+psycopg", ""), autocommit=True) as other,
        ):
            # no sleep: wait in another session until the server has ended ours
            other.execute(
                "do $$ begin while exists (select 1 from pg_stat_activity where"
                " state = 'idle in transaction' and datname = current_database())"
                " loop perform pg_sleep(0.01), pg_stat_clear_snapshot(); end loop; end $$"
            )

    with pytest.raises(sa.exc.InternalError, match="idle-in-transaction timeout"):
        idle()
    book.close()
    monkeypatch.undo()
    door._limits.cache_clear()
    assert desk.state(job) == "running"
    desk.finish(fence)


def test_hot_statements_are_prepared_but_never_behind_a_pooler(desk, wanted, pooler):
    direct, behind = (ledger.Ledger(url, pool_size=1) for url in (desk.book.url, pooler))
    try:
        for n, book in enumerate((direct, behind)):
            ids = desk.want(*(wanted("anchor", f"c/{n}/{k}") for k in range(3)))
            desk.advance()
            for job in ids:
                with book.finishing(book.claim([job], desk.owner).granted[job]):
                    pass
        prepared = "select count(*) from pg_prepared_statements where not from_sql"
        for book, expected in ((direct, 3), (behind, 0)):  # claim_jobs, lock_attempt, finish_job
            with book.statement() as conn:
                assert conn.exec_driver_sql(prepared).scalar_one() == expected
    finally:
        direct.close()
        behind.close()


def test_a_hot_query_is_one_and_answers_no_column_that_may_come_later():
    assert set(queries.QUERIES) >= queries.HOT
    for name in queries.HOT:
        text = str(queries.QUERIES[name])
        assert not re.search(r"SELECT \* FROM (?!unnest|jsonb)|\b[aj]\.\*", text), name


def test_connections_are_made_at_the_door_alone():
    """So that each has its limits; the keeper's own probe asks whether there is a server at all."""
    package = pathlib.Path(mangen.__file__).parent
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if re.search(r"create_engine\(|psycopg\.connect\(", file.read_text("utf-8"))
    }
    assert found == {"ledger/door.py", "stack/postgres.py"}


def test_the_pass_and_what_it_leads_by_have_limits_too(ledger_url):
    head = leader.Leader(ledger_url, lease_s=3, application="test")
    try:
        with head.connection.begin():
            for name, value in door.LIMITS.items():
                told = head.connection.exec_driver_sql(f"show {name}").scalar_one()
                assert told in (value, value.replace("60s", "1min"))
    finally:
        head.close()


def test_a_server_whose_connections_are_all_taken_says_what_to_do(desk, ledger_url):
    name = sa.make_url(ledger_url).database
    with psycopg.connect(ledger_url.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute("create role guest login")
        admin.execute(f"alter database {name} connection limit 0")
        try:
            book = ledger.Ledger(
                sa.make_url(ledger_url).set(username="guest").render_as_string(hide_password=False)
            )
            with pytest.raises(errors.ServiceError, match="raise its max_connections"):
                book.projects()
            book.close()
        finally:
            admin.execute(f"alter database {name} connection limit -1")
            admin.execute("drop role guest")


def test_a_dead_connection_is_replaced(desk):
    with desk.book.statement() as conn:
        pid = conn.exec_driver_sql("select pg_backend_pid()").scalar_one()
    with psycopg.connect(desk.book.url.replace("+psycopg", ""), autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", [pid])
    assert desk.book.project(desk.project).title == "故乡"


def test_an_unreachable_server_is_named_without_its_password(tmp_path):
    book = ledger.Ledger(f"postgresql+psycopg://me:secret@/x?host={tmp_path}")
    with pytest.raises(errors.ServiceError, match="can't reach Postgres at") as caught:
        book.projects()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "word"), [("nonsense", "is no URL"), ("sqlite://", "needs Postgres, not sqlite")]
)
def test_a_wrong_url_is_refused(url, word):
    with pytest.raises(errors.ServiceError, match=word):
        ledger.Ledger(url)


def test_notifications_come_at_the_commit(desk):
    with psycopg.connect(desk.book.url.replace("+psycopg", ""), autocommit=True) as conn:
        conn.execute("listen mangen_wake")
        with desk.book.transaction() as own:
            desk.book.notify(own, desk.book.WAKE, "7")
        desk.book.settled(desk.project)
        heard = [note.payload for note in conn.notifies(timeout=10, stop_after=2)]
    assert heard == ["7", str(desk.project)]


def test_a_transaction_is_rolled_back_by_any_exception(desk):
    def write():
        with desk.book.transaction() as conn:
            desk.book.insert_project(conn, title="half")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert [one.title for one in desk.book.projects()] == ["故乡"]


def test_limits_can_be_lifted_for_one_transaction(desk):
    with desk.book.transaction() as conn:
        desk.book.lift_limits(conn)
        lifted = conn.execute(sa.text("select current_setting('statement_timeout')")).scalar_one()
    with desk.book.transaction() as conn:
        after = conn.execute(sa.text("select current_setting('statement_timeout')")).scalar_one()
    assert (lifted, after) == ("0", "30s")


def test_a_notification_alone_does_not_wait_for_the_disk_and_one_among_writes_does(desk):
    waits = sa.text("show synchronous_commit")
    with desk.book.transaction() as conn:
        desk.book.notify(conn, desk.book.WAKE, "7")
        assert conn.scalar(waits) == "on"
        door.run(conn, "ring", channel=desk.book.WAKE, payload="7")
        assert conn.scalar(waits) == "off"
    with desk.book.statement() as conn:
        door.run(conn, "ring", channel=desk.book.WAKE, payload="7")
        assert conn.scalar(waits) == "on"
