"""The pool on simulated cards, for the tests that run all of it."""

from __future__ import annotations

import pathlib
import sys

import pytest

# children import their product by name: what the parent can import, they can
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import sim_pool


@pytest.fixture
def start(tmp_path):
    """Yield a function that registers the `small` card and starts a pool; all are closed."""
    started = []

    def made(*, card=None, **more):
        sim_pool.registered(tmp_path, **(card or {}))
        one = sim_pool.Sim(tmp_path, **more)
        started.append(one)
        return one

    yield made
    for one in started:
        one.pool.close(cold=True)
