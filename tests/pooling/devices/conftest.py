"""A small simulated card of round numbers, from inside and from outside."""

from __future__ import annotations

import pytest

from mangen.pooling.devices import device, profile, simulated

MIB = 2**20
TINY = {
    "total": 1024 * MIB,
    "context": 64 * MIB,
    "source": "small round numbers for tests",
    "models": {
        "one": {"weights": [30 * MIB, 50 * MIB], "load_s": 40.0, "fetch_s": 30.0},
        "two": {"weights": [20 * MIB] * 20, "load_s": 60.0, "fetch_s": 50.0},
        "vast": {"weights": [300 * MIB] * 4, "load_s": 60.0},
    },
    "stages": {
        "draw": {"steps": 4, "step_s": 2.0, "peak": 100 * MIB, "gain": {"2": 1.25}},
        "more": {"step_s": 1.0, "peak": 100 * MIB, "actual": 130 * MIB},
    },
}


@pytest.fixture
def options(tmp_path):
    profile.register(str(tmp_path), "tiny", TINY)
    return device.Options(folder=str(tmp_path), speed=1e6)


@pytest.fixture
def card(options):
    opened = simulated.open_here("sim:tiny", options)
    yield opened
    opened.close()


@pytest.fixture
def outside(options):
    seen = simulated.SimulatedCard("sim:tiny", options)
    yield seen
    seen.close()
