from __future__ import annotations

import importlib.util

import celery
import pytest

from mangen.pooling import celery_pool, config, errors

GOOD = {"app": "a:app", "work": "a:make_work"}


def test_a_good_dict_is_read():
    made = config.Config.of({**GOOD, "devices": ["cpu", "cpu"], "patience_s": 3.0})
    assert made.devices == ("cpu", "cpu")
    assert made.policy.patience_s == 3.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "must be a dict"),
        ({**GOOD, "patience": 3}, r"unknown keys: \['patience'\]"),
        ({"app": "a:app"}, r"\['work'\] must be written as module:attribute"),
        ({**GOOD, "app": "a.app"}, r"\['app'\] must be written as module:attribute"),
        ({**GOOD, "devices": []}, "has no devices"),
        ({**GOOD, "devices": ["gpu"]}, "knows no device 'gpu'"),
    ],
)
def test_a_wrong_dict_is_told_where_and_how_to_mend_it(given, message):
    with pytest.raises(errors.ConfigError, match=message):
        config.Config.of(given)


def test_the_pool_refuses_to_run_without_prefetch():
    app = celery.Celery("t", set_as_current=False)
    app.conf.update(worker_disable_prefetch=True, resident_pool=GOOD)
    with pytest.raises(errors.ConfigError, match="worker_disable_prefetch"):
        celery_pool.ResidentPool(1, app=app, initargs=(app, "w@h"))


def test_cuda_without_torch_is_refused_before_any_child_starts(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(errors.ConfigError, match="cuda:1 needs torch"):
        config.Config.of({**GOOD, "devices": ["cpu", "cuda:1"]})


def test_each_device_has_a_cache_of_its_size():
    made = config.Config.of({**GOOD, "cpu_bytes": 400, "cache_kinds": {"text": {"worth": 2.0}}})
    assert (made.cache_of("cpu").host_bytes, made.cache_of("cpu").host_is_device) == (100, True)
    card = made.cache_of("cuda:0")
    assert (card.host_bytes, card.host_is_device) == (2**31, False)
    assert card.kinds["text"].worth == 2.0
    with pytest.raises(errors.ConfigError, match="cache kind 'text'"):
        config.Config.of({**GOOD, "cache_kinds": {"text": {"wort": 2.0}}}).cache_of("cpu")
