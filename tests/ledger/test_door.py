import psycopg
import pytest
import sqlalchemy as sa

from mangen import errors
from mangen.ledger import door, ledger


def test_every_transaction_sets_its_limits_and_leaves_no_trace(desk):
    with desk.book.transaction() as conn:
        for name, value in {
            "idle_in_transaction_session_timeout": "10s",
            "statement_timeout": "30s",
            "transaction_timeout": "1min",
        }.items():
            assert conn.exec_driver_sql(f"show {name}").scalar_one() == value
    with desk.book.statement() as conn:  # what a pooler would hand to the next client
        for name in door.LIMITS:
            assert conn.exec_driver_sql(f"show {name}").scalar_one() == "0"


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

    def idle():
        with (
            desk.book.finishing(fence),
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
    monkeypatch.undo()
    door._limits.cache_clear()
    assert desk.state(job) == "running"
    desk.finish(fence)


def test_no_statement_is_prepared_on_the_server(desk, wanted):
    for n in range(8):
        desk.want(wanted("anchor", f"c/{n}"))
    with desk.book.statement() as conn:
        assert conn.exec_driver_sql("select count(*) from pg_prepared_statements").scalar_one() == 0


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
