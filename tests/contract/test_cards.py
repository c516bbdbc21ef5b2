"""Cards under Celery: one worker a card, seen in its stats, and free again when it is gone."""

from __future__ import annotations

import pytest


@pytest.fixture
def on_card(fresh_toy, tmp_path):
    """Answer a function that starts a worker on the one simulated card of this test."""

    def start(name, **more):
        return fresh_toy.start(
            name=name, devices=["sim:card_24g"], folder=str(tmp_path), speed=1000.0, **more
        )

    return start


def test_a_worker_says_what_its_card_does(fresh_toy, on_card):
    on_card("first")
    fresh_toy.send("model:m").get(timeout=10)
    # the child tells of its device apart from its answers
    (device,) = fresh_toy.until(
        lambda: [one for one in fresh_toy.stats("first")["devices"] if one["residents"]]
    )
    assert (device["device"], device["kind"]) == ("sim:card_24g", "card_24g")
    assert device["card"] == "sim:card_24g/0"
    assert device["residents"] == {"m": 2**20}
    assert device["bytes"]["total"] == 22 * 2**30
    assert device["bytes"]["reserved"] == 0
    (loaded,) = fresh_toy.events("Loaded")
    assert (loaded["model"], loaded["device"]) == ("m", "card_24g")


def test_a_second_worker_on_a_card_is_refused_until_the_first_is_gone(fresh_toy, on_card):
    first = on_card("first")
    second = on_card("second", comes=False)
    assert second.wait(30) != 0
    assert "sim:card_24g/0) is held by the worker first@test" in fresh_toy.output()
    first.kill()
    first.wait()
    on_card("third")
    fresh_toy.send().get(timeout=10)
