"""What an offer says besides the work itself."""

from __future__ import annotations

import types

import pytest

from mangen.pooling import (
    config,
    estimate,
    events,
    held,
    idling,
    learned,
    lives,
    meter,
    offers,
    wire,
    work,
)


@pytest.fixture
def lore():
    made = learned.Learned()
    for model in ("a", "b"):
        made.hear(
            types.SimpleNamespace(batch=None),
            events.Loaded(owner="w/0/1", device="card", model=model, seconds=2.0, nbytes=1),
        )
    return made


def forecasts(lore, waiting, residents, runs):
    """Answer the forecast of each (model, moment) that one device is given."""
    table = held.Table()
    for n, model in enumerate(waiting):
        table.window.add(work.Item(key=str(n), name="t", bucket=model, model=model), 0.0)
    made = offers.Offers(config.Config(app=":", work=":"), None, table, lore)
    child = types.SimpleNamespace(
        slot=0, kind="card", report=types.SimpleNamespace(residents=dict.fromkeys(residents, 1))
    )
    said = []
    for model, now in runs:
        said.append(made._forecast(child, model, now, table.window.alike))
        made._used[child.slot, model] = now
    return said


def test_the_forecast_names_what_waits_whether_it_is_resident_or_not(lore):
    assert forecasts(lore, "bca", "ab", [("a", 0.0)]) == [("b", "c")]


def test_a_resident_model_is_wanted_until_larger_batches_would_have_paid_for_its_load(lore):
    runs = [("a", 0.0), ("b", 1.0), ("b", 199.0), ("b", 201.0)]  # 2 s are 1 % of 200 s
    assert forecasts(lore, "", "ab", runs) == [("b",), ("a",), ("a",), ()]


class Child:
    """What the desk knows of an idle one."""

    def __init__(self):
        self.slot, self.kind, self.state, self.batch = 0, "card", lives.State.IDLE, None
        self.report, self.barred, self.ready_at = wire.Report(room=100), {}, 0.0
        self.told = []
        self.tell = self.told.append


def waiting_for(items):
    """Answer a table in which these wait."""
    table = held.Table()
    for one in items:
        table.add(types.SimpleNamespace(item=one, payload=None, limit=None), 0.0)
    return table


def item(key, bucket="b", **more):
    return work.Item(key=key, name="t", bucket=bucket, data={}, **more)


def test_what_is_said_is_of_the_offered_and_of_all_that_wait_on():
    table = waiting_for(
        [item("a", cap=2, peaks=(90,)), item("b", "c", peaks=(7,)), item("c", model="m")]
    )
    made = offers.Offers(config.Config(app=":", work=":"), None, table, learned.Learned())
    child = Child()
    made._offer(child, ["a"], 1.0)
    (offer,) = child.told
    assert [load.item.key for load in offer.loads] == ["a"]
    assert (offer.largest, offer.waiting, offer.forecast) == (7, {"t": 2}, ("m",))
    assert (child.state, child.batch.number, child.batch.offered) == (lives.State.BUSY, 1, {"a"})
    assert table.held["a"].child is child
    assert "a" not in table.window


@pytest.mark.parametrize("part", ["together", "weights", "peak_of_one", "seconds"])
def test_a_fault_in_an_offer_leaves_nothing_half_offered(part, monkeypatch):
    table, lore, child = waiting_for([item("a"), item("b")]), learned.Learned(), Child()
    made = offers.Offers(config.Config(app=":", work=":"), None, table, lore)

    def fail(*_args):
        raise OverflowError

    with monkeypatch.context() as patched:
        patched.setattr(lore.estimates, part, fail)
        with pytest.raises(OverflowError):
            made._offer(child, ["a"], 1.0)
    assert (child.told, child.batch, child.state) == ([], None, lives.State.IDLE)
    assert [one.item.key for one in table.window] == ["a", "b"]
    assert table.held["a"].child is None
    made._offer(child, ["a"], 1.0)
    assert child.told[0].batch == 1


@pytest.mark.parametrize("room", [100, 0])
def test_however_many_wait_each_sort_of_work_is_estimated_once(room, monkeypatch):
    table = waiting_for([item(str(n), f"b{n % 3}", peaks=(9, 12)) for n in range(600)])
    lore, child, asked = learned.Learned(), Child(), []
    real = lore.estimates.peak_of_one

    def peak_of_one(kind, theory):
        asked.append(kind)
        return real(kind, theory)

    monkeypatch.setattr(lore.estimates, "peak_of_one", peak_of_one)
    monkeypatch.setattr(lore.estimates, "peaks", None)
    settings = config.Config(app=":", work=":")
    child.report = wire.Report(room=room)
    slot = types.SimpleNamespace(child=child, meter=meter.Meter(5.0), number=0, device="sim:card")
    look = idling.Idling(settings, [slot], table, lore).look
    assert list(look(1.0)) == []
    assert len(asked) == 3
    assert [alarm.waiting for alarm in look(7.0)] == ([600] if room else [])


def test_what_can_not_wait_is_not_held():
    table = held.Table()
    with pytest.raises(TypeError):
        table.add(types.SimpleNamespace(item=item("a", rank=None)), 0.0)
    assert (table.held, len(table.window), list(table.window)) == ({}, 0, [])


def test_one_who_waits_joins_one_who_runs_where_two_are_to_be_tried():
    """Sizes are climbed by how many there are: those who run are among them."""
    lore = learned.Learned()
    table = waiting_for([item("a", cap=4, peaks=(1,) * 4), item("b", cap=4, peaks=(1,) * 4)])
    devices = types.SimpleNamespace(joinable=lambda _child: True)
    settings = config.Config(app=":", work=":")
    made, child = offers.Offers(settings, devices, table, lore), Child()
    made._offer(child, ["a"], 1.0)
    child.batch.offered, child.batch.taken, child.batch.joinable = set(), {"a"}, True
    made._join(child, 1.0, settings.policy)
    assert len(child.told) == 1, "nothing was measured yet: one alone is"
    kind = estimate.Kind.of(item("a"), child.kind)
    lore.sizes.observe(kind, 1, 1.0)
    lore.sizes.observe(kind, 1, 1.0)
    made._join(child, 1.0, settings.policy)
    assert child.told[-1].join
    assert [load.item.key for load in child.told[-1].loads] == ["b"]


@pytest.fixture
def running():
    """Answer a function that lets the first of these run alone, and tells who is to join it."""

    def joined(lore, *items):
        table, child = waiting_for(items), Child()
        devices = types.SimpleNamespace(joinable=lambda _child: True)
        settings = config.Config(app=":", work=":")
        made, first = offers.Offers(settings, devices, table, lore), items[0].key
        made._offer(child, [first], 1.0)
        table.held[first].taken = True
        child.batch.offered, child.batch.taken, child.batch.joinable = set(), {first}, True
        made._join(child, 1.0, settings.policy)
        return child.told[1:]

    return joined


def test_somebody_urgent_joins_a_batch_of_the_size_that_is_cheapest(running):
    first, other = item("a", cap=4), item("b", cap=4)
    urgent = item("u", cap=4, klass=0, peaks=(1,) * 4)
    assert running(learned.Learned(), first, other) == []
    (offer,) = running(learned.Learned(), first, other, urgent)
    assert [load.item.key for load in offer.loads] == ["u"]
    assert running(learned.Learned(), item("a", cap=4, klass=0), urgent) == []


def test_nobody_is_too_urgent_for_a_size_at_which_memory_ran_out(running):
    lore = learned.Learned()
    lore.sizes.oom(estimate.Kind.of(item("a"), "card"), 2)
    assert running(lore, item("a", cap=4), item("u", cap=4, klass=0)) == []


def test_nobody_joins_what_is_to_be_alone(running):
    urgent = item("u", cap=4, klass=0)
    assert running(learned.Learned(), item("a", cap=4, solo=True), urgent) == []


def test_who_joins_is_told_with_the_bytes_of_who_runs(running):
    large, small = item("a", cap=2, peaks=(60, 90)), item("b", cap=2, klass=0, peaks=(10, 20))
    (offer,) = running(learned.Learned(), large, small)
    assert offer.peaks == (60, 90)


def test_a_device_looks_ahead_only_to_what_belongs_on_it():
    items = [item("a", "draw/1", model="m"), item("b", "render/1", model="r")]
    table = waiting_for(items)
    settings = config.Config(
        app=":", work=":", devices=("sim:x", "cpu"), places={"render": "card", "draw": "cpu"}
    )
    devices = types.SimpleNamespace(
        of=lambda _child: types.SimpleNamespace(device="cpu"), free=[], children=[]
    )
    made, child = offers.Offers(settings, devices, table, learned.Learned()), Child()
    made.schedule(1.0)
    assert made._as_device(child, 1.0).strange == {"render/1"}
    assert made.welcome(child, ["r", "m", "new"]) == ("m", "new")
    assert made._forecast(child, "", 1.0, table.window.alike) == ("m",)
