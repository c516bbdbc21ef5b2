"""Products that answer nonsense, raise where they should not, or find no memory: in the child."""

from __future__ import annotations

import contextlib

import pytest
import test_child

from mangen.pooling import cache, ends, events, gate, models, once, wire, work
from mangen.pooling.devices import cpu

DONE = work.Outcome.done


class Bad(test_child.Session):
    """Does what the product's `answers` say in place of a call, by its name and key."""

    def __init__(self, product, rt):
        super().__init__(product.log, rt)
        self.answers = product.answers

    def add(self, items):
        ended = super().add(items)
        for item in items:
            if ("add", item.key) in self.answers:
                ended = self.answers["add", item.key](self, items)
        return ended

    def step(self):
        ended = super().step()
        for key in list(ended):
            if ("step", key) in self.answers:
                ended = self.answers["step", key](ended)
        return ended

    def drop(self, key, why):
        outcome = super().drop(key, why)
        if why is work.Why.OOM:
            return work.Outcome.parked()
        return self.answers.get(("drop", key), lambda _outcome: outcome)(outcome)


class Product(test_child.Product):
    def __init__(self):
        super().__init__()
        self.answers = {}

    def open(self, _bucket, rt):
        self.answers.get(("open",), lambda: None)()
        return Bad(self, rt)

    def spec(self, model):
        return self.answers.get(("spec",), super().spec)(model)

    def give_back(self, item, why):
        return self.answers.get(("give_back",), super().give_back)(item, why)


@pytest.fixture
def serve(monkeypatch):
    """Yield a function that starts a child over the bad product with these answers."""
    monkeypatch.setattr(test_child, "Product", Product)
    started = []

    def made(answers, **more):
        parent = test_child.Parent(**more)
        parent.product.answers.update(answers)
        started.append(parent)
        return parent

    yield made
    for parent in started:
        with contextlib.suppress(BrokenPipeError):
            parent.say(wire.Stop())
        parent.thread.join(10)
        assert not parent.thread.is_alive()
        parent.conn.close()


def outcomes(heard):
    return {one.key: one.outcome for one in heard if isinstance(one, wire.Settled)}


def still_serves(parent):
    parent.offer(("next", ["x"]))
    return outcomes(parent.until_idle()) == {"next": DONE("next")}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (5, "Bad.step of b answered 5, which is no Outcome"),
        (None, "answered None, which is no Outcome"),
        (work.Outcome(status="fine"), "which is no Outcome"),
        (work.Outcome.parked(), "the work parked a member unasked"),
        (DONE(lambda: 1), "its value can't be sent"),
    ],
)
def test_an_end_that_is_none_fails_its_member_alone(serve, answer, error):
    parent = serve({("step", "a"): lambda ended: {**ended, "a": answer}})
    parent.offer(("a", ["x"]), ("b", ["x"]))
    ended = outcomes(parent.until_idle())
    assert (ended["a"].status, ended["b"]) == (work.Status.FAILED, DONE("b"))
    assert error in ended["a"].error
    assert still_serves(parent)


def test_a_member_that_parks_itself_when_it_is_stopped_fails(serve):
    parent = serve({("drop", "a"): lambda _outcome: work.Outcome.parked()})
    parent.offer(("a", ["progress"]))
    parent.hear(wire.Progress)
    parent.say(wire.Abort(key="a", why=work.Why.ABORT))
    assert "unasked" in outcomes(parent.until_idle())["a"].error
    assert still_serves(parent)


@pytest.mark.parametrize("call", ["add", "step"])
@pytest.mark.parametrize("answer", [None, [], {"nobody": DONE()}])
def test_an_answer_of_nobody_knows_whom_breaks_the_child_with_words(serve, call, answer):
    parent = serve({(call, "a"): lambda *_: answer})
    parent.offer(("a", ["x"]))
    heard = parent.until_idle()
    assert [one.keys for one in heard if isinstance(one, wire.Taken)] == [("a",)]
    error = heard[-1].error
    assert f"Bad.{call} of b answered" in error
    assert ("nobody" in error) == bool(answer)


class Full:
    """Raises out of memory at its first calls, then does what it should."""

    def __init__(self, times):
        self.times = times

    def __call__(self, *_):
        self.times -= 1
        if self.times >= 0:
            raise MemoryError("no room")
        return {}


def test_out_of_memory_while_members_are_added_frees_the_device_and_adds_them_alone(serve):
    parent = serve({("add", "b"): Full(1)})
    parent.offer(("first", ["use big"]), bucket="other")
    parent.until_idle()
    parent.offer(("a", ["x"]), ("b", ["x"]), ("c", ["x"]))
    heard = parent.until_idle()
    assert outcomes(heard) == {key: DONE(key) for key in "abc"}
    assert heard[-1].report.residents == {}
    told = [one.event for one in heard if isinstance(one, wire.Note)]
    assert [one.members for one in told if isinstance(one, events.OutOfMemory)] == [3]
    log = [one for one in parent.product.log[2:] if one[0] == "add"]
    assert log == [("add", ["a", "b", "c"]), *(("add", [key]) for key in "abc")]


def test_a_member_that_has_no_memory_alone_either_fails_and_the_others_run(serve):
    parent = serve({("add", "b"): Full(2)})
    parent.offer(("a", ["x"]), ("b", ["x"]))
    ended = outcomes(parent.until_idle())
    assert ended["a"] == DONE("a")
    assert ended["b"].status is not work.Status.DONE
    assert ("drop", "b", "never_fits") in parent.product.log
    assert still_serves(parent)


def test_out_of_memory_before_any_member_is_known_adds_them_again(serve, monkeypatch):
    add, full = test_child.Session.add, Full(1)
    monkeypatch.setattr(test_child.Session, "add", lambda self, items: full() or add(self, items))
    parent = serve({})
    parent.offer(("a", ["x"]), ("b", ["stale"]))
    assert outcomes(parent.until_idle()) == {"a": DONE("a"), "b": work.Outcome.stale("s")}


def test_who_waits_parked_gets_room_for_one_when_the_one_before_was_given_up(serve, monkeypatch):
    resize, members = gate.Gate.resize, []

    def watched(self, admitted, peaks, count, *more, **named):
        members.append(count)
        return resize(self, admitted, peaks, count, *more, **named)

    monkeypatch.setattr(gate.Gate, "resize", watched)
    parent = serve({})
    parent.offer(("a", ["oom"]), ("b", ["x"]))
    ended = outcomes(parent.until_idle())
    assert (ended["a"].status, ended["b"]) == (work.Status.ABORTED, DONE("b"))
    assert set(members) == {1}


def test_a_session_that_finds_no_memory_to_open_is_tried_once_more(serve):
    parent = serve({("open",): Full(1)})
    assert still_serves(parent)
    parent.product.answers["open",] = Full(2)
    parent.offer(("a", ["x"]))
    assert "MemoryError: no room" in parent.until_idle()[-1].error


def test_a_hand_back_that_raises_fails_and_costs_no_running_session(serve):
    def give_back(_item, _why):
        raise OSError("the database is gone")

    parent = serve({("give_back",): give_back})
    parent.offer(("a", ["x", "progress"]))
    parent.hear(wire.Progress)
    load = wire.Load(item=work.Item(key="g", name="t", bucket="b", data={}), payload="g")
    parent.say(wire.GiveBack(load=load, why=work.Why.PAUSED))
    parent.say(wire.Abort(key="a", why=work.Why.ABORT))
    ended = outcomes(parent.until_idle())
    assert "could not be given back: OSError('the database is gone')" in ended["g"].error
    assert ended["a"].status is work.Status.ABORTED


def raises(_model):
    raise RuntimeError("no such model")


def test_a_spec_that_raises_is_told_once_and_the_work_runs(serve):
    parent = serve({("spec",): raises})
    parent.say(wire.Expect(models=("m",)))
    load = wire.Load(
        item=work.Item(key="a", name="t", bucket="b", model="m", data=["x"]), payload="a"
    )
    told = []
    for _ in range(2):
        parent.say(wire.Offer(batch=1, bucket="b", loads=(load,), peaks=(0,), forecast=("n",)))
        heard = parent.until_idle()
        assert outcomes(heard) == {"a": DONE("a")}
        told += [one.event for one in heard if isinstance(one, wire.Note)]
    failed = [one for one in told if isinstance(one, events.LoadFailed)]
    assert sorted(one.model for one in failed) == ["m", "n"]
    assert "no such model" in failed[0].error


@pytest.mark.parametrize("broken", ["spec", "fetch"])
def test_a_standby_moves_in_though_it_can_fetch_nothing_ahead(monkeypatch, broken):
    def fetch():
        raise OSError("no such mirror")

    spec = models.ModelSpec(key="m", weight_bytes=1, load=object, fetch=fetch)
    monkeypatch.setattr(
        test_child.Product, "spec", lambda _self, model: raises(model) if broken == "spec" else spec
    )
    monkeypatch.setattr(test_child.Parent, "hear", lambda _self, _kind: wire.Ready(report=None))
    parent = test_child.Parent(standby=True, models=("m",))
    monkeypatch.undo()
    failed = parent.hear(wire.Note).event
    assert isinstance(failed, events.LoadFailed)
    parent.hear(wire.Fetched)
    parent.say(wire.MoveIn(models=()))
    parent.hear(wire.Ready)
    parent.say(wire.Stop())
    parent.thread.join(10)
    parent.conn.close()


def test_a_fault_of_the_cache_costs_no_member(serve, monkeypatch, caplog):
    def settle(*_args, **_more):
        raise OSError("the disk is gone")

    monkeypatch.setattr(cache.Cache, "settle", settle)
    monkeypatch.setattr(cache.Cache, "close_session", settle)
    parent = serve({})
    parent.offer(("a", ["x"]), ("b", ["x"]))
    assert outcomes(parent.until_idle()) == {"a": DONE("a"), "b": DONE("b")}
    assert still_serves(parent)
    assert caplog.text.count("Traceback") == 1


def test_looks_at_the_device_go_on_after_one_that_failed(serve, monkeypatch):
    memory, full = cpu.Cpu.memory, Full(1)
    parent = serve({}, monitor_s=0.01, idle_trim_s=60.0)
    monkeypatch.setattr(cpu.Cpu, "memory", lambda self: full() or memory(self))
    while full.times >= 0:
        parent.hear(wire.Looked)
    parent.hear(wire.Looked)


def test_a_function_that_answers_no_mapping_fails_its_items():
    session = once.Once(lambda _items: None)
    session.add([work.Item(key="a", name="t", bucket="b")])
    assert session.step() == {"a": work.Outcome.failed("the work answered NoneType, no mapping")}


def test_an_outcome_is_sound_as_it_is():
    for outcome in (DONE({"a": 1}), work.Outcome.stale("s"), work.Outcome.aborted("x")):
        assert ends.checked({"k": outcome}, "here", ["k"]) == {"k": outcome}
    assert ends.sound(work.Outcome.parked(), "here", may_park=True).status is work.Status.PARKED
