from __future__ import annotations

import logging

from mangen.pooling import events, log

REFUSED = events.Refused(owner="w/0/1", bucket="b", need=2**31, usable=2**30, never=False)


def test_what_asks_for_a_person_stands_out():
    never = events.Refused(owner="w/0/1", bucket="b", need=2**31, usable=2**30, never=True)
    assert log.line(REFUSED) == (
        logging.INFO,
        "w/0/1 refused b for now: it needs 2.00 GiB, usable are 1.00 GiB",
    )
    assert log.line(never) == (
        logging.WARNING,
        "w/0/1 refused b for good: it needs 2.00 GiB, usable are 1.00 GiB",
    )


def test_a_killed_childs_line_names_its_report_or_shows_its_stacks():
    told = events.TimedOut(owner="w/0/1", keys=("a", "b"), seconds=2.0, stacks="here", report="r")
    assert log.line(told) == (
        logging.ERROR,
        "w/0/1 was killed after 2.0 s with a, b; see r",
    )
    bare = events.TimedOut(owner="w/0/1", keys=("a",), seconds=2.0, stacks="here")
    assert log.line(bare)[1].endswith("with a:\nhere")


def test_an_event_without_a_sentence_of_its_own_is_shown_as_it_is(caplog):
    event = events.Miss(owner="w/0/1", kind="text")
    with caplog.at_level(logging.DEBUG, "mangen.pooling"):
        log.Log().on(event)
    assert "Miss(owner='w/0/1', kind='text')" in caplog.text


def test_one_listeners_fault_is_not_the_others(caplog):
    class Broken:
        def on(self, _event):
            raise RuntimeError("no")

        def child_lost(self, _owner, _keys, _alone):
            raise RuntimeError("no")

    heard = []

    class Good:
        def on(self, event):
            heard.append(event)

        def child_lost(self, owner, keys, alone):
            heard.append((owner, tuple(keys), alone))

    both = log.Many(Broken(), Good())
    both.on(REFUSED)
    both.child_lost("w/0/1", ["a"], True)
    assert heard == [REFUSED, ("w/0/1", ("a",), True)]
    assert caplog.text.count("a listener failed") == 2


def test_running_out_alone_the_first_time_is_said_to_be_tried_again():
    event = events.OutOfMemory(
        owner="w/0/1", bucket="b", model="m", members=1, then=1, reserved=0, error="full"
    )
    assert "tries once more, alone on the device: full" in log.line(event)[1]
