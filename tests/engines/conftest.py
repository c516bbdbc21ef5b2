"""A child's runtime for engine tests: models stay resident, progress is written down."""

from __future__ import annotations

import contextlib

import pytest


class Forgets:
    """A feature cache that keeps nothing."""

    def get(self, _kind, _signature):
        return None

    def put(self, _kind, _signature, _value, *, seconds, by=None):
        assert seconds >= 0
        assert by is not None


class Runtime:
    owner = "test/0/1"
    device = kind = "cpu"
    cache = Forgets()

    def __init__(self):
        self.resident, self.pinned, self.told = {}, 0, []

    @contextlib.contextmanager
    def use(self, spec):
        if spec.key not in self.resident:
            self.resident[spec.key] = spec.load()
            if spec.warm:
                spec.warm(self.resident[spec.key])
        self.pinned += 1
        try:
            yield self.resident[spec.key]
        finally:
            self.pinned -= 1

    def progress(self, key, done, of):
        self.told.append((key, done, of))


@pytest.fixture(scope="session")
def runtime():
    return Runtime()


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def make(runtime):
    """Make one product with an engine; raises what the engine answered."""

    def one(engine, request):
        run = engine.open(engine.bucket(request), runtime)
        try:
            run.add({"one": request})
            while True:
                ended = run.step()
                if ended:
                    break
        finally:
            run.close()
        if isinstance(ended["one"], Exception):
            raise ended["one"]
        return ended["one"]

    return one
