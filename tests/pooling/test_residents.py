from __future__ import annotations

import pytest

from mangen.pooling import errors, models, residents


def spec(key, nbytes=10, log=None):
    def load():
        if log is not None:
            log.append(key)
        return f"model {key}"

    return models.ModelSpec(key=key, weight_bytes=nbytes, load=load)


def test_a_model_is_loaded_and_warmed_once_and_stays():
    log, warmed = [], []
    heard = []
    held = residents.Residents(lambda _n, _keep: True, lambda one, _s: heard.append(one.key))
    model = models.ModelSpec(
        key="m", weight_bytes=10, load=lambda: log.append("load") or "m", warm=warmed.append
    )
    for _ in range(2):
        with held.use(model) as value:
            assert value == "m"
    assert (log, warmed, heard) == (["load"], ["m"], ["m"])
    assert held.sizes() == {"m": 10}


def test_pinned_models_and_the_one_to_keep_are_not_evicted():
    held = residents.Residents(lambda _n, _keep: True)
    for key in "abc":
        with held.use(spec(key)):
            pass
    with held.use(spec("a")):
        assert held.evict(100, keep="b") == 10
    assert set(held.sizes()) == {"a", "b"}


def test_the_longest_unused_goes_first_and_only_as_many_as_needed():
    held = residents.Residents(lambda _n, _keep: True)
    for key in "aba":
        with held.use(spec(key)):
            pass
    assert held.evict(5) == 10
    assert set(held.sizes()) == {"a"}


def test_a_model_that_has_no_room_is_a_memory_error_that_names_it():
    held = residents.Residents(lambda _n, _keep: False)
    with (
        pytest.raises(errors.NoRoom, match="the model big needs 10 bytes") as caught,
        held.use(spec("big")),
    ):
        pass
    assert isinstance(caught.value, MemoryError)
    assert held.sizes() == {}


def test_a_model_is_unpinned_when_its_use_fails():
    held = residents.Residents(lambda _n, _keep: True)
    with pytest.raises(ValueError, match="oops"), held.use(spec("a")):
        raise ValueError("oops")
    assert held.evict(1) == 10
