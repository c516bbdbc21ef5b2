"""What an offer says besides the work itself."""

from __future__ import annotations

import types

import pytest

from mangen.pooling import config, events, held, learned, offers, work


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
    return [made._forecast(child, model, now) for model, now in runs]


def test_the_forecast_names_what_waits_whether_it_is_resident_or_not(lore):
    assert forecasts(lore, "bca", "ab", [("a", 0.0)]) == [("b", "c")]


def test_a_resident_model_is_wanted_until_larger_batches_would_have_paid_for_its_load(lore):
    runs = [("a", 0.0), ("b", 1.0), ("b", 199.0), ("b", 201.0)]  # 2 s are 1 % of 200 s
    assert forecasts(lore, "", "ab", runs) == [("b",), ("a",), ("a",), ()]
