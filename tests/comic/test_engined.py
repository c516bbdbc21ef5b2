"""Members that share an engine's batch: what is told of them, and when others may join."""

from __future__ import annotations

import types

import pytest

from mangen import errors
from mangen.comic.stages import engined, faults, stage
from mangen.ledger.states import ErrorKind


class Run:
    """A batch whose members end as they are told to."""

    joinable = True

    def __init__(self, **ends):
        self.ends, self.here = ends, []

    def add(self, requests):
        self.here += requests

    def step(self):
        return {key: self.ends[key] for key in self.here}


def job(subject):
    return types.SimpleNamespace(project=12, subject=subject, params={})


def members(run, request_of=lambda _job: None):
    return engined.Engined(run, request_of, lambda _job, product: stage.Made(value=product))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.EngineError("nothing to draw"), ErrorKind.PERMANENT),
        (errors.EngineUnavailable("not now"), ErrorKind.TRANSIENT),
        (errors.EngineMissing("torch is not installed"), ErrorKind.RESOURCE),
    ],
)
def test_what_an_engine_refuses_is_told_with_its_shot(error, kind):
    made = members(Run(a=error, b={"n": 1}))
    made.add("a", job("e1/s3"))
    made.add("b", job("e1/s4"))
    ended = made.step()
    assert str(ended["a"]) == f"e1/s3 of project 12: {error}"
    assert faults.kind_of(ended["a"]) is kind
    assert ended["b"].value == {"n": 1}


def test_work_for_a_model_that_is_not_as_it_was_waits_and_is_not_charged():
    gone = errors.ModelError("sdxl is no longer registered")
    made = members(Run(a=gone))
    made.add("a", job("e1/s3"))
    assert faults.kind_of(made.step()["a"]) is ErrorKind.RESOURCE


def test_a_request_that_can_not_be_made_is_told_with_its_shot():
    def refuse(_job):
        raise errors.EngineError("no prompt")

    with pytest.raises(errors.EngineError, match="e1/s3 of project 12: no prompt"):
        members(Run(), refuse).add("a", job("e1/s3"))


def test_others_may_join_where_they_may_join_the_engines_batch():
    run = Run()
    made = members(run)
    assert made.joinable
    run.joinable = False
    assert not made.joinable
