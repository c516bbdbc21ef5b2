from __future__ import annotations

import threading

import pytest

from mangen.pooling import errors, models, residents


class House:
    """Room for `room` bytes, and a record of what was told."""

    def __init__(self, room=1000):
        self.room, self.told = room, []

    def make_room(self, wanted, _keep):
        return wanted <= self.room

    def fits(self, wanted):
        return wanted <= self.room

    def loading(self):
        self.told.append("loading")

    def loaded(self, spec, _seconds, *, ahead):
        self.told.append(f"loaded {spec.key}{' ahead' * ahead}")

    def warmed(self, spec, _seconds):
        self.told.append(f"warmed {spec.key}")

    def evicted(self, spec):
        self.told.append(f"evicted {spec.key}")


def made(**more):
    return residents.Residents(House(**more))


def spec(key, nbytes=10, log=None):
    def load():
        if log is not None:
            log.append(key)
        return f"model {key}"

    return models.ModelSpec(key=key, weight_bytes=nbytes, load=load)


def test_a_model_is_loaded_and_warmed_once_and_stays():
    log, warmed = [], []
    house = House()
    held = residents.Residents(house)
    model = models.ModelSpec(
        key="m", weight_bytes=10, load=lambda: log.append("load") or "m", warm=warmed.append
    )
    for _ in range(2):
        with held.use(model) as value:
            assert value == "m"
    assert (log, warmed) == (["load"], ["m"])
    assert house.told == ["loading", "loaded m", "warmed m"]
    assert held.seconds > 0
    assert held.sizes() == {"m": 10}


def test_pinned_models_and_the_one_to_keep_are_not_evicted():
    held = made()
    for key in "abc":
        with held.use(spec(key)):
            pass
    with held.use(spec("a")):
        assert held.evict(100, keep="b") == 10
    assert set(held.sizes()) == {"a", "b"}


def test_the_longest_unused_goes_first_and_only_as_many_as_needed():
    held = made()
    for key in "aba":
        with held.use(spec(key)):
            pass
    assert held.evict(5) == 10
    assert set(held.sizes()) == {"a"}


def test_a_model_that_has_no_room_is_a_memory_error_that_names_it():
    held = made(room=9)
    with (
        pytest.raises(errors.NoRoom, match="the model big needs 10 bytes") as caught,
        held.use(spec("big")),
    ):
        pass
    assert isinstance(caught.value, MemoryError)
    assert held.sizes() == {}


def test_a_model_is_unpinned_when_its_use_fails():
    held = made()
    with pytest.raises(ValueError, match="oops"), held.use(spec("a")):
        raise ValueError("oops")
    assert held.evict(1) == 10


def test_what_is_expected_is_evicted_last():
    held = made()
    for key in "abc":
        with held.use(spec(key)):
            pass
    held.expected = ("a",)
    assert held.evict(20) == 20
    assert set(held.sizes()) == {"a"}


def test_a_model_that_fails_to_warm_is_not_resident():
    def warm(_value):
        raise MemoryError("no room for a pass")

    held = made()
    model = models.ModelSpec(key="m", weight_bytes=10, load=object, warm=warm)
    with pytest.raises(MemoryError), held.use(model):
        pass
    assert held.sizes() == {}


def test_a_model_is_fetched_once_in_another_thread_and_again_after_it_was_loaded():
    fetched = []
    done = threading.Event()

    def fetch():
        fetched.append(threading.current_thread().name)
        done.set()

    held = made()
    model = models.ModelSpec(key="m", weight_bytes=10, load=object, fetch=fetch)
    held.fetch(model)
    assert done.wait(10)
    held.fetch(model)
    assert fetched == ["fetch-m"]
    with held.use(model):
        held.fetch(model)  # it is here
    assert held.evict(1) == 10
    done.clear()
    held.fetch(model)
    assert done.wait(10)
    assert fetched == ["fetch-m"] * 2


def test_a_fetch_that_fails_is_none_of_the_sessions(caplog):
    def fetch():
        raise OSError("the disk is gone")

    held = made()
    model = models.ModelSpec(key="m", weight_bytes=10, load=object, fetch=fetch)
    held.fetch(model)
    held._fetching.join(10)
    assert "could not be fetched ahead" in caplog.text
    with held.use(model):
        pass


def test_only_what_fits_is_loaded_ahead():
    held = made(room=15)
    assert held.load_ahead(spec("a"))
    assert not held.load_ahead(spec("a"))
    assert not held.load_ahead(spec("big", nbytes=16))
    assert held.sizes() == {"a": 10}
