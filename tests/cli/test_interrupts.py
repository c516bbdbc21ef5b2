"""Ends that are asked for: raised, counted, and ignored where `nohup` says so."""

import os
import signal
import threading

import pytest

from mangen.cli import interrupts


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_every_end_is_an_interrupt_that_cleans_up(number):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupts.raised():
        send(number)
    assert signal.getsignal(number) is before


def test_ends_are_counted_and_the_count_stays_apart():
    with interrupts.raised():
        with interrupts.counted() as asked:
            send(signal.SIGTERM)
            send(signal.SIGHUP)
            assert asked() == 2
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGTERM)


@pytest.mark.parametrize("way", [interrupts.raised, interrupts.counted])
def test_what_nohup_ignores_stays_ignored(way):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with way() as asked:
            send(signal.SIGHUP)
            assert asked is None or asked() == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_thread_leaves_signals_alone():
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def look():
        with interrupts.raised():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]
