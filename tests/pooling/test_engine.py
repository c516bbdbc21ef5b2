from __future__ import annotations

import os
import signal
import threading

import pytest

from mangen.pooling import config, engine, events

SETTINGS = config.Config.of({"app": ":", "work": "a:b", "child": "no_such_module"})
WAIT_S = 30.0


class Ear:
    """Raises what it is told to at its first event, and then lets a test go on."""

    def __init__(self, error=None):
        self.error, self.heard, self.change = error, [], threading.Event()

    def on(self, event):
        self.heard.append(event)
        error, self.error = self.error, None
        if error is not None:
            raise error
        self.change.set()

    def child_lost(self, *_):
        pass


def started(monkeypatch, ear, **more):
    monkeypatch.setattr(engine.slots.Slots, "tend", lambda _self, _now: None)  # starts nobody
    one = engine.Engine("w", SETTINGS, 1, **more)
    one.listener = ear
    one.start()
    return one


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()])
def test_a_fault_that_ends_the_thread_is_told_to_whoever_asked(monkeypatch, error):
    told = threading.Event()
    one = started(monkeypatch, Ear(error), on_fault=told.set)
    assert told.wait(WAIT_S)
    one.join(WAIT_S)
    assert not one.alive()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_where_nobody_asked_the_process_is_told_to_end(monkeypatch):
    sent = threading.Event()

    def kill(pid, number):
        assert (pid, number) == (os.getpid(), signal.SIGTERM)
        sent.set()

    monkeypatch.setattr(engine.os, "kill", kill)
    one = started(monkeypatch, Ear(SystemExit(1)))
    assert sent.wait(WAIT_S)
    one.join(WAIT_S)


@pytest.mark.parametrize("error", [ValueError("x"), GeneratorExit(), BaseException("x")])
def test_any_other_fault_is_counted_and_the_thread_goes_on(monkeypatch, error):
    ear = Ear(error)
    one = started(monkeypatch, ear)
    one.stop(cold=False)
    assert ear.change.wait(WAIT_S)
    one.join(WAIT_S)
    assert ear.heard[-1] == events.PoolStopped(worker="w", cold=False)
    assert not one.alive()


def test_its_own_thread_does_not_wait_for_itself(monkeypatch):
    ear = Ear()
    one = started(monkeypatch, ear)
    joined = threading.Event()

    def join(_keys):
        one.join()
        joined.set()

    monkeypatch.setattr(one, "_on_expected", join)
    one.expect(["m"])
    assert joined.wait(WAIT_S)
    one.stop(cold=False)
    one.join(WAIT_S)
    assert not one.alive()
