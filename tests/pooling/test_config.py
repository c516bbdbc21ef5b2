from __future__ import annotations

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
