"""The child's loop, with a real pipe and the test as its parent."""

from __future__ import annotations

import multiprocessing
import pickle
import threading

import pytest

from mangen.pooling import child, errors, models, testing, wire, work
from mangen.pooling.devices import cpu, device

MODEL = models.ModelSpec(key="m", weight_bytes=100, load=object)
BIG = models.ModelSpec(key="big", weight_bytes=2 * 2**30, load=object)


class Session:
    """Each item's data is what it does: a list of words, one a step."""

    def __init__(self, log, rt):
        self.log, self.rt, self.left = log, rt, {}
        self.joinable = True

    def add(self, items):
        self.log.append(("add", [item.key for item in items]))
        stale = {item.key: work.Outcome.stale("s") for item in items if item.data == ["stale"]}
        self.left.update({item.key: list(item.data) for item in items if item.key not in stale})
        return stale

    def step(self):
        ended = {}
        for key, words in list(self.left.items()):
            word = words.pop(0) if words else "done"
            if word == "progress":
                while True:
                    self.rt.progress(key, 1, 2)
            elif word == "oom":
                raise MemoryError
            elif word == "huge":
                with self.rt.use(models.ModelSpec(key="h", weight_bytes=2**50, load=object)):
                    pass
            elif word in ("use", "use big"):
                with self.rt.use(MODEL if word == "use" else BIG):
                    pass
            elif word == "raise":
                raise RuntimeError("unexpected")
            if not words:
                ended[key] = work.Outcome.done(key)
                del self.left[key]
        return ended

    def drop(self, key, why):
        self.log.append(("drop", key, str(why)))
        del self.left[key]
        return work.Outcome.failed(why) if why is work.Why.OOM else work.Outcome.aborted(why)

    def close(self):
        self.log.append(("close",))


class Product:
    def __init__(self):
        self.log = []
        self.may_open = threading.Event()

    def open(self, bucket, rt):
        assert bucket != "wait" or self.may_open.wait(10)
        return Session(self.log, rt)

    def spec(self, model):
        return MODEL if model == "m" else None

    def give_back(self, item, why):
        self.log.append(("give_back", item.key, str(why)))
        return work.Outcome.aborted(why)


class Parent:
    def __init__(self, nbytes=2**40, **more):
        self.conn, theirs = multiprocessing.Pipe()
        self.product = Product()
        hello = wire.Hello(
            owner="w/0/1", slot=0, device="cpu", worker="w", app="", work="", settings={},
            options=device.Options(cpu_bytes=nbytes), **more,
        )  # fmt: skip

        def run():
            with theirs:
                try:
                    child.serve(
                        theirs, self.product, lambda load, out, _s: (load.payload, out), hello
                    )
                except SystemExit as end:
                    self.status = end.code

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        assert isinstance(self.hear(wire.Ready), wire.Ready)

    def say(self, message):
        self.conn.send(message)

    def hear(self, kind):
        """Answer the next message of this kind; skip the others."""
        while True:
            assert self.conn.poll(10), f"no {kind.__name__} came"
            message = self.conn.recv()
            if isinstance(message, kind):
                return message

    def until_idle(self):
        heard = []
        while not heard or not isinstance(heard[-1], wire.Idle | wire.Broken):
            assert self.conn.poll(10)
            heard.append(self.conn.recv())
        return heard

    def offer(self, *given, join=False, peaks=None, bucket="b", **more):
        loads = tuple(
            wire.Load(item=work.Item(key=key, name="t", bucket=bucket, data=words), payload=key)
            for key, words in given
        )
        self.say(
            wire.Offer(
                batch=1, bucket=bucket, loads=loads, peaks=peaks or (0,) * len(loads), join=join,
                **more,
            )
        )  # fmt: skip


@pytest.fixture
def parent():
    made = Parent()
    yield made
    made.say(wire.Stop())
    made.thread.join(10)
    assert not made.thread.is_alive()
    made.conn.close()


def test_work_is_claimed_then_taken_then_settled_then_the_child_is_idle(parent):
    parent.offer(("a", ["use"]), ("b", ["stale"]))
    kinds = [type(one).__name__ for one in parent.until_idle()]
    assert kinds == ["Note", "Taken", "Settled", "Note", "Settled", "Note", "Idle"]
    assert parent.product.log == [("add", ["a", "b"]), ("close",)]


def test_members_settle_when_they_end_with_the_reply_of_their_payload(parent):
    parent.offer(("short", ["x"]), ("long", ["x", "x"]))
    settled = [one for one in parent.until_idle() if isinstance(one, wire.Settled)]
    assert [(one.key, one.members) for one in settled] == [("short", 2), ("long", 2)]
    assert settled[0].reply == ("short", work.Outcome.done("short"))


def test_an_abort_leaves_the_step_and_drops_the_member(parent):
    parent.offer(("a", ["progress"]))
    parent.hear(wire.Progress)
    parent.say(wire.Abort(key="a", why=work.Why.DEADLINE))
    assert parent.hear(wire.Settled).outcome == work.Outcome.aborted("deadline")
    assert ("drop", "a", "deadline") in parent.product.log


def test_what_was_aborted_on_its_way_is_given_back_unclaimed(parent):
    parent.offer(("first", ["x"]), ("second", ["x"]), bucket="wait")
    parent.say(wire.Abort(key="second", why=work.Why.REVOKED))
    parent.product.may_open.set()
    heard = parent.until_idle()
    ends = {one.key: one.outcome.status for one in heard if isinstance(one, wire.Settled)}
    assert ends == {"first": "done", "second": "aborted"}
    assert next(one for one in heard if isinstance(one, wire.Taken)).keys == ("first", "second")
    assert parent.product.log[:2] == [("add", ["first"]), ("give_back", "second", "revoked")]


def test_others_join_between_steps_and_a_late_join_is_left(parent):
    parent.offer(("a", ["x"] * 2000))
    parent.hear(wire.Taken)
    parent.offer(("b", ["x"]), join=True, peaks=(0, 0))
    parent.until_idle()
    assert parent.product.log[:2] == [("add", ["a"]), ("add", ["b"])]
    parent.offer(("late", ["x"]), join=True, peaks=(0, 0))
    assert parent.hear(wire.Left).keys == ("late",)


def test_what_does_not_fit_now_is_left_and_what_never_fits_is_given_back():
    parent = Parent(nbytes=2**30)
    parent.offer(("now", ["x"]), ("rest", ["x"]), peaks=(0, 2**40))
    assert parent.hear(wire.Left).keys == ("rest",)
    parent.until_idle()
    parent.offer(("probed", ["x"]), peaks=(2**40,))
    assert parent.hear(wire.Settled).outcome == work.Outcome.done("probed")
    parent.until_idle()
    parent.offer(("never", ["x"]), peaks=(2**40,), hopeless=True)
    assert parent.hear(wire.Settled).outcome == work.Outcome.aborted("never_fits")
    parent.until_idle()
    parent.say(wire.Stop())
    parent.thread.join(10)
    parent.conn.close()
    assert ("give_back", "never", "never_fits") in parent.product.log


@pytest.mark.parametrize(
    ("forecast", "members", "stays"), [(("big",), 1, True), (("other",), 2, False), ((), 2, False)]
)
def test_a_model_that_is_wanted_next_is_not_evicted_for_a_larger_batch(forecast, members, stays):
    parent = Parent(nbytes=2**32)
    parent.offer(("first", ["use big"]))
    parent.until_idle()
    parent.offer(("a", ["x"]), ("b", ["x"]), peaks=(2**29, 5 * 2**29), forecast=forecast)
    heard = parent.until_idle()
    parent.say(wire.Stop())
    parent.thread.join(10)
    parent.conn.close()
    assert parent.product.log[2] == ("add", ["a", "b"][:members])
    assert ("big" in heard[-1].report.residents) == stays
    assert any(isinstance(one, wire.Left) for one in heard) == stays


def test_a_wanted_model_goes_where_not_even_one_has_room():
    parent = Parent(nbytes=2**32)
    parent.offer(("first", ["use big"]))
    parent.until_idle()
    parent.offer(("a", ["x"]), peaks=(5 * 2**29,), forecast=("big",))
    heard = parent.until_idle()
    parent.say(wire.Stop())
    parent.thread.join(10)
    parent.conn.close()
    assert parent.product.log[2] == ("add", ["a"])
    assert heard[-1].report.residents == {}


def test_some_sessions_of_each_size_begin_trimmed_so_that_their_peak_shows_whole(monkeypatch):
    parent = Parent(idle_trim_s=600.0)
    monkeypatch.setattr(cpu.Cpu, "trim", lambda _: parent.product.log.append(("trim",)))
    for n in range(41):
        parent.offer((f"k{n}", ["x"]))
        parent.until_idle()
    parent.offer(("a", ["x"]), ("b", ["x"]))
    parent.until_idle()
    parent.say(wire.Stop())
    parent.thread.join(10)
    parent.conn.close()
    log = [one for one in parent.product.log if one != ("close",)]
    trimmed = [log[n + 1][1] for n, one in enumerate(log) if one == ("trim",)]
    assert trimmed == [["k0"], ["k40"], ["a", "b"]]


@pytest.mark.parametrize("word", ["oom", "huge"])
def test_out_of_memory_drops_every_member_and_the_child_lives(parent, word):
    parent.offer(("a", [word]), ("b", ["x", "x"]))
    settled = [one for one in parent.until_idle() if isinstance(one, wire.Settled)]
    assert {one.key: one.outcome.error for one in settled} == {"a": "oom", "b": "oom"}
    parent.offer(("c", ["x"]))
    assert parent.hear(wire.Settled).outcome == work.Outcome.done("c")
    parent.until_idle()


def test_an_exception_that_leaves_the_session_ends_the_child():
    parent = Parent()
    parent.offer(("a", ["raise"]))
    last = parent.until_idle()[-1]
    assert isinstance(last, wire.Broken)
    assert "RuntimeError: unexpected" in last.error
    parent.thread.join(10)
    parent.conn.close()
    assert parent.status == child.EXIT_BROKEN
    assert parent.product.log[-1] == ("close",)


def test_given_back_work_is_settled_unless_celery_was_told_already(parent):
    load = wire.Load(item=work.Item(key="a", name="t", bucket="b", data={}), payload="a")
    parent.say(wire.GiveBack(load=load, why=work.Why.REVOKED, quiet=True))
    parent.say(wire.GiveBack(load=load, why=work.Why.PAUSED))
    assert parent.hear(wire.Settled).outcome == work.Outcome.aborted("paused")
    assert parent.product.log == [("give_back", "a", "revoked"), ("give_back", "a", "paused")]


def test_a_plain_task_is_taken_before_it_runs_and_touches_no_session(parent):
    parent.offer(("a", None), bucket=wire.PLAIN)
    kinds = [type(one).__name__ for one in parent.until_idle()]
    assert kinds == ["Taken", "Settled", "Idle"]
    assert parent.product.log == []


def test_the_fake_drives_a_session_as_the_child_does(parent):
    items = [("a", ["use"]), ("b", ["stale"]), ("c", ["x", "x"])]
    parent.offer(*items)
    there = {one.key: one.outcome for one in parent.until_idle() if isinstance(one, wire.Settled)}
    product = Product()
    rt = testing.Here()
    here = testing.drive(
        product, [work.Item(key=k, name="t", bucket="b", data=words) for k, words in items], rt
    )
    assert here == there
    assert product.log == parent.product.log
    assert rt.residents.sizes() == {"m": 100}


def test_the_fake_stops_and_runs_out_of_memory_like_the_child():
    rt = testing.Here()
    rt.stop("a")
    product = Product()
    ended = testing.drive(
        product, [work.Item(key="a", name="t", bucket="b", data=["progress"])], rt
    )
    assert ended == {"a": work.Outcome.aborted("abort")}
    ended = testing.drive(product, [work.Item(key="b", name="t", bucket="b", data=["oom"])])
    assert ended == {"b": work.Outcome.failed("oom")}


def test_errors_that_cross_processes_survive_pickle():
    error = pickle.loads(pickle.dumps(errors.WorkFailed("the scene is empty")))  # noqa: S301 - our own
    assert (type(error), error.args) == (errors.WorkFailed, ("the scene is empty",))
