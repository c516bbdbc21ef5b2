import os
import signal
import socket
from concurrent import futures

import psycopg
import pytest

from mangen import errors, stack
from mangen.stack import clients, place, record

pytestmark = pytest.mark.slow


def connect(url):
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True, connect_timeout=5)


def answers(url):
    try:
        connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def ping(url):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(url.removeprefix("redis+socket://"))
        except OSError:
            return False
        probe.sendall(b"PING\r\n")
        return probe.recv(16) == b"+PONG\r\n"


def test_the_first_client_starts_all_and_the_last_takes_it_along(home, until):
    with stack.join(home.settings(), schema=False) as found:
        assert answers(found.database_url)
        assert ping(found.broker_url)
        assert stack.services(home.settings()) == found
        assert home.server("postgres").ppid() == home.keeper().pid
    until(home.quiet)
    with pytest.raises(errors.ServiceError, match=r"manage\.py up"):
        stack.services(home.settings())


def test_clients_of_several_processes_share_one_keeper(home, client, until):
    first, said = client()
    keeper = home.keeper()
    second, said_too = client()
    assert said_too == said
    assert home.keeper() == keeper
    first.stdin.close()
    first.wait(30)
    assert answers(said["database"])
    second.send_signal(signal.SIGKILL)
    until(home.quiet)
    assert not keeper.is_running() or keeper.status() == "zombie"


def test_first_clients_at_once_start_one_keeper(home, client):
    with futures.ThreadPoolExecutor(4) as threads:
        said = [each.result()[1] for each in [threads.submit(client) for _ in range(4)]]
    assert len({one["database"] for one in said}) == 1
    assert all(answers(one["database"]) for one in said)
    lines = (home.place.logs / "keeper.log").read_text().splitlines()
    assert sum("postgres started" in line for line in lines) == 1


def test_a_killed_keeper_takes_its_servers_and_a_client_starts_it_again(home, until):
    with stack.join(home.settings(), schema=False) as found:
        with connect(found.database_url) as conn:
            conn.execute("create table kept as select 1 as one")
        keeper, postgres, valkey = home.keeper(), home.server("postgres"), home.server("valkey")
        keeper.kill()
        until(lambda: home.keeper() not in (None, keeper))
        assert postgres != home.server("postgres")
        assert valkey != home.server("valkey")
        assert stack.services(home.settings()) == found
        with connect(found.database_url) as conn:
            assert conn.execute("select one from kept").fetchone() == (1,)


def test_killed_servers_are_started_again(home, until):
    with stack.join(home.settings(), schema=False) as found:
        keeper, postgres, valkey = home.keeper(), home.server("postgres"), home.server("valkey")
        with connect(found.database_url) as conn:
            conn.execute("create table kept as select 1 as one")
            postgres.kill()
            valkey.kill()
        until(lambda: home.server("postgres") not in (None, postgres))
        until(lambda: answers(found.database_url) and ping(found.broker_url))
        with connect(found.database_url) as conn:
            assert conn.execute("select one from kept").fetchone() == (1,)
        assert home.keeper() == keeper


def test_everything_killed_at_once_leaves_a_home_that_starts(home, client, until):
    process, said = client()
    for each in (process, home.keeper(), home.server("postgres"), home.server("valkey")):
        each.kill()
    until(lambda: not clients.keeper_lives(home.place))
    process, said_again = client()
    assert said_again == said
    assert answers(said["database"])


def test_leftovers_that_name_strangers_are_not_believed(home, until):
    with stack.join(home.settings(), schema=False) as found:
        pass
    data = home.place.data(place.postgres_user()) / "postgres"
    # wait for the end by becoming a client again, which the ending keeper holds up
    with stack.join(home.settings(), schema=False):
        pid = (data / "postmaster.pid").read_text()
        for each in (home.keeper(), home.server("postgres")):
            each.kill()
        stranger = "\n".join([str(os.getpid()), *pid.splitlines()[1:]])
        (data / "postmaster.pid").write_text(stranger)
        (home.place.sockets / ".s.PGSQL.5432.lock").write_text(stranger)
    # a kill takes a moment; who joins within it is served by the watcher, a little later
    until(lambda: not clients.keeper_lives(home.place))
    with stack.join(home.settings(), schema=False):
        assert answers(found.database_url)


def test_a_lost_socket_brings_the_server_back(home, until):
    with stack.join(home.settings(), schema=False) as found:
        for name in (".s.PGSQL.5432", "valkey.sock"):
            (home.place.sockets / name).unlink()
        until(lambda: answers(found.database_url) and ping(found.broker_url))


def test_a_broker_that_cannot_load_its_data_starts_without_them(home, until):
    with stack.join(home.settings(database_url="postgresql+psycopg://elsewhere/x"), schema=False):
        pass
    until(home.quiet)
    for file in (home.folder / "valkey" / "appendonlydir").iterdir():
        file.write_bytes(b"no such thing")
    chosen = home.settings(database_url="postgresql+psycopg://elsewhere/x")
    with stack.join(chosen, schema=False) as found:
        assert ping(found.broker_url)
        assert found.database_url == "postgresql+psycopg://elsewhere/x"
    assert list(home.folder.glob("valkey.broken-*"))


def test_only_what_has_no_url_is_started_and_more_when_asked(home):
    with stack.join(home.settings(database_url="postgresql://elsewhere/x"), schema=False):
        assert record.running(home.place) == {"valkey"}
        assert home.server("postgres") is None
        with stack.join(home.settings(), schema=False) as found:
            assert answers(found.database_url)


def test_with_all_urls_given_nothing_is_started(home):
    chosen = home.settings(database_url="postgresql://a/x", broker_url="amqp://b")
    with stack.join(chosen, schema=False) as found:
        assert found.broker_url == "amqp://b"
        assert not home.folder.exists()


def test_data_of_another_postgres_are_left_alone(home, until):
    with stack.join(home.settings(), schema=False):
        pass
    until(home.quiet)
    data = home.place.data(place.postgres_user()) / "postgres"
    (data / "PG_VERSION").write_text("12\n")
    with (
        pytest.raises(errors.ServiceError, match="made by Postgres 12, but 18 is installed"),
        stack.join(home.settings(), schema=False),
    ):
        pass
    assert (data / "base").exists()


def test_the_ledger_is_made_when_a_client_joins(home):
    with stack.join(home.settings()) as found, connect(found.database_url) as conn:
        assert conn.execute("select count(*) from jobs").fetchone() == (0,)
