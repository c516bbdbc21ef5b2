"""What follows from what children say, and from their deaths: without any process."""

from __future__ import annotations

import pathlib
import types

import pytest

from mangen.pooling import (
    answers,
    config,
    desk,
    events,
    learned,
    lives,
    reports,
    slots,
    wear,
    wire,
    work,
)

GOOD = {"app": "a:app", "work": "a:make_work"}


class Request:
    """Keeps what it was told."""

    payload = limit = None

    def __init__(self, key, *, bad=False, data=True):
        self.item = work.Item(key=key, name="t", bucket="b", data={} if data else None)
        self.told, self.gone, self.bad = [], False, bad

    def withdrawn(self):
        return self.gone

    def taken(self, _pid, _at):
        self.told.append("taken")
        if self.bad:
            raise RuntimeError("no broker")

    def __getattr__(self, name):
        return lambda *_: self.told.append(name)


class Child:
    """A lives.Child without a process."""

    slot = pid = tasks = 0
    owner = "w/0/1"
    error = worn = ""
    kind = "cpu"
    ready_at = 1.0
    leave_by = None
    replaced = killed = False

    def __init__(self, hello=None, *_more):
        self.hello = hello or types.SimpleNamespace(owner="w/0/1", device="cpu", slot=0)
        self.slot = self.hello.slot
        self.state = lives.State.BUSY
        self.report, self.wear, self.barred = wire.Report(), wear.Wear(0), {}
        self.batch, self.heard, self.processes = None, [], {}

    def tell(self, message):
        self.heard.append(message)

    def stacks(self):
        return "deep in \udcff"

    def bury(self):
        self.state = lives.State.DEAD

    def kill(self):
        self.killed = True


class Room:
    """An Answers over its desk, with one child that has these requests in hand."""

    def __init__(self, *requests, taken=(), **more):
        self.settings = config.Config.of({**GOOD, **more})
        self.told, self.lost = [], []
        self.slots = slots.Slots(
            "w", self.settings, hear=lambda _heard: None, tell=self.told.append
        )
        self.desk = desk.Desk(self.settings, self.slots)
        self.table = self.desk.table
        self.answers = answers.Answers(
            self.settings, self.slots, self.desk, learned.Learned(),
            tell=self.told.append, lost=lambda *given: self.lost.append(given),
        )  # fmt: skip
        self.give(*requests, taken=taken)

    def give(self, *requests, taken=()):
        """Offer these to a new child."""
        self.child = Child()
        next(iter(self.slots)).child = self.child
        for one in requests:
            if one.item.key not in self.table.held:
                self.desk.add(one)
            held = self.table.offer(one.item.key, self.child)
            if one.item.key in taken:
                held.waiting, held.taken = None, True
        keys = {one.item.key for one in requests}
        if requests:
            self.child.batch = lives.Batch(
                number=1, bucket="b", model="", first=requests[0].item, cap=1, began=0.0,
                limit=None, offered=keys - {*taken}, taken={*taken},
            )  # fmt: skip

    def die(self):
        self.answers.hear(lives.Died(self.child, -9))

    def say(self, message):
        self.answers.hear(lives.Said(self.child, message))

    def unsent(self, message, *guilty):
        error = TypeError("cannot pickle 'lock'")
        self.answers.hear(lives.Unsent(self.child, message, frozenset(guilty), error))

    @property
    def waiting(self):
        return {one.item.key for one in self.table.window}


@pytest.fixture
def room():
    made = []

    def start(*requests, **more):
        made.append(Room(*requests, **more))
        return made[-1]

    yield start
    for one in made:
        one.slots.close()


@pytest.mark.parametrize("key", ["k", "k\udcff", "k\0"])
@pytest.mark.parametrize("where", ["a file", "a folder", "a\udcff folder"])
def test_a_hang_is_buried_whatever_becomes_of_its_report(room, tmp_path, key, where):
    folder = tmp_path / where
    if where == "a file":
        folder.write_text("in the way")
    late, beside = Request(key), Request("beside")
    one = room(late, beside, taken=(key,), reports=str(folder))
    one.child.batch.timed_out = True
    one.die()
    assert one.child.state is lives.State.DEAD
    assert one.waiting == {"beside"}
    assert late.told == ["lost"]
    report = next(told.report for told in one.told if isinstance(told, events.TimedOut))
    assert (report == "") == (where == "a file")
    if report:
        assert "deep in \\udcff" in pathlib.Path(report).read_text("utf-8")


@pytest.mark.parametrize("worker", ["w" * 300, "../../w", "w\0", "w\udcff/ü\n"])
def test_a_report_lies_in_its_folder_whatever_its_worker_is_called(tmp_path, worker):
    child = Child()
    child.owner = f"{worker}/0/1234567"
    path = pathlib.Path(reports.write(str(tmp_path), child, ["k"], 1.0))
    assert path.parent == tmp_path
    assert path.stat().st_size > 0
    assert len(path.name) <= 100
    assert path.name.endswith("-0-1234567.txt")


def test_a_request_that_raises_keeps_no_other_from_its_end(room):
    one = room(Request("a", bad=True), good := Request("b"), taken=("b",))
    one.table.held["a"].lost_offers = 3
    one.die()
    assert good.told == ["lost"]
    assert one.table.held == {}


def test_a_hand_back_that_ends_its_children_ends_as_lost(room):
    one = room()
    request = Request("k")
    one.desk.add(request)
    one.desk.abort("k", work.Why.PAUSED)
    deaths = 0
    while "k" in one.table.held:
        one.desk.give_back()
        assert [type(word) for word in one.child.heard] == [wire.GiveBack]
        one.die()
        deaths += 1
        one.give()
    assert deaths == 4
    assert request.told == ["taken", "terminated"]


def test_what_is_withdrawn_on_its_way_is_asked_to_stop(room):
    gone, plain = Request("gone"), Request("plain", data=False)
    one = room(gone, plain, Request("other"))
    gone.gone = plain.gone = True
    for _ in range(2):
        one.desk.withdraw()
    assert one.child.heard == [wire.Abort(key="gone", why=work.Why.REVOKED)]
    assert one.child.batch.kill_at is None


def test_what_is_withdrawn_when_it_is_taken_is_asked_to_stop(room):
    one = room(gone := Request("gone"), Request("other"))
    gone.gone = True
    one.say(wire.Taken(batch=1, keys=("gone", "other"), at=0.0))
    assert one.child.heard == [wire.Abort(key="gone", why=work.Why.REVOKED)]
    assert gone.told == ["taken"]


def offer(*requests, join=False):
    loads = tuple(wire.Load(item=one.item, payload=None) for one in requests)
    return wire.Offer(batch=1, bucket="b", loads=loads, peaks=(0,), join=join)


def test_what_cant_be_sent_fails_and_what_was_beside_it_waits_again(room):
    guilty, beside = Request("guilty"), Request("beside")
    one = room(guilty, beside)
    one.unsent(offer(guilty, beside), "guilty")
    assert guilty.told == ["taken", "lost"]
    assert one.waiting == {"beside"}
    assert (one.child.state, one.child.batch) == (lives.State.IDLE, None)
    assert not one.child.killed


def test_a_join_that_cant_be_sent_leaves_the_batch_as_it_is(room):
    guilty, runs = Request("guilty"), Request("runs")
    one = room(guilty, runs, taken=("runs",))
    one.unsent(offer(guilty, join=True), "guilty")
    assert guilty.told == ["taken", "lost"]
    assert (one.child.state, one.child.batch.keys) == (lives.State.BUSY, {"runs"})


def test_where_nobody_is_guilty_all_fail_and_a_word_that_must_come_ends_the_child(room):
    both = Request("a"), Request("b")
    one = room(*both)
    one.unsent(offer(*both))
    assert [request.told for request in both] == [["taken", "lost"]] * 2
    one.unsent(wire.Stop())
    assert one.child.killed
    assert "can't be sent" in one.child.error


def test_a_broken_child_is_offered_nothing_and_its_end_was_not_planned(room):
    one = room()
    one.child.state, one.child.ready_at = lives.State.IDLE, None
    one.say(wire.Broken(error="Traceback\nKeyError: 'x'"))
    assert one.slots.free == []
    one.die()
    assert next(iter(one.slots)).deaths == 1
    assert [told.why for told in one.told if isinstance(told, events.ChildLost)] == [
        "KeyError: 'x'"
    ]


# -- slots


class Starting(Child):
    """Can't be started on slot 0."""

    def __init__(self, hello, *more):
        if hello.slot == 0:
            raise OSError("no process is left")
        super().__init__(hello, *more)


def test_a_slot_that_cant_start_rests_longer_each_time_and_the_others_go_on(room, monkeypatch):
    monkeypatch.setattr(lives, "Child", Starting)
    one = room(devices=["cpu", "cpu"])
    bad, good = one.slots
    bad.child, now = None, 0.0
    for deaths in range(1, slots.QUARANTINE_DEATHS + 1):
        one.slots.tend(now)
        one.slots.tend(now)
        assert bad.deaths == deaths
        now = bad.not_before
    assert good.child is not None
    rests = [told for told in one.told if isinstance(told, events.Quarantined)]
    assert [(told.slot, told.deaths) for told in rests] == [(0, slots.QUARANTINE_DEATHS)]
    assert "no process is left" in rests[0].why


def test_a_standby_that_dies_is_tried_again_later_and_rests_no_slot(room, monkeypatch):
    monkeypatch.setattr(lives, "Child", Child)
    one = room()
    slot = next(iter(one.slots))
    one.slots.wear_out()
    one.slots.tend(100.0)
    serves, standby = slot.child, slot.standby
    standby.state = lives.State.STARTING
    assert not one.slots.bury(standby, 1, 100.0)
    assert (slot.child, slot.standby, slot.deaths, slot.not_before) == (serves, None, 0, 0.0)
    one.slots.tend(129.0)
    assert slot.standby is None
    one.slots.tend(130.0)
    assert slot.standby is not None


def test_a_start_that_fails_leaves_nothing_open():
    fds = pathlib.Path("/proc/self/fd")
    before = len(list(fds.iterdir()))
    with pytest.raises(OSError, match="no such"):
        _start_failing()
    assert len(list(fds.iterdir())) == before


def _start_failing():
    hello = wire.Hello(owner="w/0/1", slot=0, device="cpu", worker="w", app="", work="",
                       settings={})  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lives.subprocess, "Popen", _no_process)
        lives.Child(hello, "m", ("cpu",), lambda _heard: None, wear.Wear(0))


def _no_process(*_args, **_more):
    raise OSError("no such process")
