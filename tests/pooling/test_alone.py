"""The pool without Celery: whatever happens, every future ends."""

from __future__ import annotations

import threading
from concurrent import futures

import pytest

from mangen.pooling import alone, errors, work

WAIT_S = 60.0


def item(key, bucket="b", **more):
    return work.Item(key=key, name="t", bucket=bucket, **{"data": {"keep": 0}, **more})


@pytest.fixture
def pool(tmp_path):
    with alone.Pool(
        "sim_product:make_keeper", folder=str(tmp_path), linger_s=0.01, grace_s=1.0,
        cache_kinds={"toy": {}},
    ) as made:  # fmt: skip
        yield made


def all_end(given):
    """Wait for all of them as those do who wait for many at once."""
    return not futures.wait(given, WAIT_S).not_done


@pytest.mark.parametrize(
    "wrong",
    [None, item(["x"]), item("k", rank=float("nan")), item("k", data={"f": lambda: 1}),
     item("k", bucket="plain")],
)  # fmt: skip
def test_what_can_not_be_served_is_refused_at_once_and_harms_no_other(pool, wrong):
    with pytest.raises(errors.PoolError):
        pool.submit(wrong)
    assert pool.submit(item("good")).result(WAIT_S).status is work.Status.DONE
    assert "faults" not in pool.report()["counters"]


def test_a_task_without_data_is_not_said_to_be_done(pool):
    outcome = pool.submit(item("k", bucket="plain", data=None)).result(WAIT_S)
    assert outcome.status is work.Status.FAILED
    assert "no work of this pool's product" in outcome.error


@pytest.mark.parametrize("cold", [False, True])
def test_what_is_submitted_while_the_pool_closes_ends_or_is_refused(pool, cold):
    given, begun = [], threading.Barrier(5)

    def submit(name):
        begun.wait()
        for n in range(2_000):
            try:
                given.append(pool.submit(item(f"{name}-{n}")))
            except errors.PoolError:
                return

    threads = [threading.Thread(target=submit, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    begun.wait()
    pool.close(cold=cold)
    for thread in threads:
        thread.join()
    assert all_end(given)


def test_who_waits_for_many_hears_of_one_that_is_cancelled(pool):
    one = pool.submit(item("k"))
    one.cancel()
    assert all_end([one])
    assert pool.submit(item("next")).result(WAIT_S).status is work.Status.DONE


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_a_callback_that_raises_ends_nothing_but_itself(pool, error):
    def fail(_future):
        raise error

    failing = pool.submit(item("failing"))
    failing.add_done_callback(fail)
    assert failing.result(WAIT_S).status is work.Status.DONE
    assert pool.submit(item("next")).result(WAIT_S).status is work.Status.DONE
    waiting = [pool.submit(item(f"k{n}")) for n in range(20)]
    waiting[0].add_done_callback(fail)
    pool.close(cold=True)
    assert all_end(waiting)


def test_a_callback_may_close_the_pool(pool):
    first, closed = pool.submit(item("first")), threading.Event()

    def close(_future):
        pool.close()
        closed.set()

    first.add_done_callback(close)
    rest = [pool.submit(item(f"k{n}", bucket=f"b{n}")) for n in range(20)]
    assert closed.wait(WAIT_S)
    pool.close()
    assert all_end([first, *rest])


# the engine raises again what it died of
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_when_the_engine_dies_all_futures_fail_and_the_process_lives(pool, monkeypatch):
    given = [pool.submit(item(f"k{n}")) for n in range(20)]

    def die():
        raise SystemExit

    monkeypatch.setattr(pool._engine, "_tend", die)
    assert all_end(given)
    with pytest.raises(errors.PoolError, match="engine failed"):
        given[-1].result()
    with pytest.raises(errors.PoolError, match="engine failed"):
        pool.submit(item("late"))
    pool.close()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"work": "__main__:make"}, "nothing a child can import"),
        ({"work": "a:make", "listener": "a:listen"}, "without Celery it is an object"),
    ],
)
def test_what_no_child_or_thread_could_use_is_refused_at_once(more, message):
    with pytest.raises(errors.ConfigError, match=message):
        alone.Pool(**more)
