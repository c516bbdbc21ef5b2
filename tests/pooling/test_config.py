from __future__ import annotations

import dataclasses
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
        ({**GOOD, "devices": "cpu"}, r"\['devices'\] must be a list of names"),
        ({**GOOD, "devices": [0]}, r"\['devices'\] must be a list of names"),
        ({**GOOD, 5: 5}, r"unknown keys: \['5'\]"),
        ({**GOOD, "listener": "a.b"}, r"\['listener'\] must be written as module:attribute"),
        ({**GOOD, "work": 5}, r"\['work'\] must be a text, not 5"),
        ({**GOOD, "child": ""}, r"\['child'\] must be the name of a module"),
        ({**GOOD, "reports": 5}, r"\['reports'\] must be a text"),
        ({**GOOD, "folder": "a\0b"}, r"\['folder'\] must be a text"),
        ({**GOOD, "measure_sizes": 1}, r"\['measure_sizes'\] must be True or False"),
        ({**GOOD, "settings": [1]}, r"\['settings'\] must be a dict"),
        ({**GOOD, "settings": {"a": lambda: 1}}, r"\['settings'\] must be data that can be sent"),
        ({**GOOD, "cache_kinds": ["text"]}, r"\['cache_kinds'\] must be a dict"),
        ({**GOOD, "cache_kinds": {"total": {}}}, "may be named total"),
        ({**GOOD, "cache_kinds": {5: {}}}, "cache kind 5 must be named by a text"),
        ({**GOOD, "cache_kinds": {"text": 2}}, "cache kind 'text' is 2: it must be a dict"),
        ({**GOOD, "cache_kinds": {"text": {"worth": "x"}}}, "worth must be a finite number"),
        ({**GOOD, "cache_kinds": {"text": {"worth": float("nan")}}}, "worth must be a finite"),
        ({**GOOD, "cache_kinds": {"text": {"worth": 10**400}}}, "worth must be a finite"),
        ({**GOOD, "cache_kinds": {"text": {"wort": 2.0}}}, "cache kind 'text'.*wort"),
        ({**GOOD, "cache_kinds": {"text": {"only_while": "t"}}}, "only_while must be a list"),
        ({**GOOD, "margin": 1.0}, r"\['margin'\] must be a share below 1"),
    ],
)
def test_a_wrong_dict_is_told_where_and_how_to_mend_it(given, message):
    with pytest.raises(errors.ConfigError, match=message):
        config.Config.of(given)


NUMBERS = [
    field.name for field in dataclasses.fields(config.Config) if str(field.type) in ("int", "float")
]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "wrong",
    [-1, float("nan"), float("inf"), pytest.param(10**400, id="huge"), "5", None, True, [1]],
)
def test_a_number_that_is_none_or_has_no_end_is_told_by_its_name(name, wrong):
    with pytest.raises(errors.ConfigError, match=rf"\['{name}'\] must be"):
        config.Config.of({**GOOD, name: wrong})


def test_a_folder_may_be_a_path(tmp_path):
    assert config.Config.of({**GOOD, "reports": tmp_path}).reports == str(tmp_path)


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
        config.Config.of({**GOOD, "cache_kinds": {"text": {"wort": 2.0}}})


def test_work_is_strange_where_it_belongs_on_a_device_that_this_pool_has():
    places = {"render": "card", "draw": "cpu", "render/small": "cpu"}
    both = config.Config(app=":", work=":", devices=("cuda:0", "cpu"), places=places)
    found = {
        (device, word): both.strange(device, f"{word}/x")
        for device in ("cuda:0", "cpu") for word in ("render", "draw", "any")
    }  # fmt: skip
    assert {name for name, strange in found.items() if strange} == {
        ("cuda:0", "draw"), ("cpu", "render"),
    }  # fmt: skip
    assert both.strange("cuda:0", "render/small/x")
    assert not both.strange("cpu", "render/small")
    alone = dataclasses.replace(both, devices=("cpu", "cpu"))
    assert not alone.strange("cpu", "render/x")
    with pytest.raises(errors.ConfigError, match=r"places.*card and cpu"):
        config.Config.of({"app": "a:b", "work": "c:d", "places": {"render": "gpu"}})
