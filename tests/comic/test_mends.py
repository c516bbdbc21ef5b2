import dataclasses
import datetime as dt

import pytest

from mangen.comic import mends
from mangen.ledger import failures

DEAD = failures.Dead(
    job=7, project=12, title="t", stage="illustrate", subject="e3/s7", kind="transient",
    error="away", attempts=3, failures=3, losses=0, excluded=(), peak_bytes=3 << 30, queue="cpu",
    at=dt.datetime.now(dt.UTC), owner="w/0/1", device="cpu", device_state="living", skipped=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "said", "more"),
    [
        ("transient", "has, `manage.py retry 12/e3/s7`", {}),
        ("permanent", "retake 12/e3/s7 --prompt", {"kind": "permanent"}),
        ("permanent", "then `manage.py retry job/7`", {"kind": "permanent", "subject": "c/陈默"}),
        (
            "never fits",
            "3.0 GiB beside its model, more than RTX 4090, cpu has",
            {
                "kind": "permanent",
                "error": "larger than every registered device: RTX 4090, cpu",
                "excluded": ("RTX 4090", "cpu"),
            },
        ),
        (
            "setting",
            "set MANGEN_IMAGE_ENGINE as",
            {"kind": "permanent", "error": "draws with a, wants b: set MANGEN_IMAGE_ENGINE alike"},
        ),
        ("lost", "died under it 3 times", {"kind": "lost", "error": "its process died"}),
        ("too long", "read var/reports/w.txt", {
            "kind": "lost", "error": "its process died while it ran; see var/reports/w.txt",
        }),
        ("too long", "MANGEN_HARD_LIMIT_FACTOR", {"error": "it ran past its time limit"}),
        ("too much replaced", "then `manage.py retry 12/e3`", {
            "stage": "assemble", "subject": "e3", "kind": "permanent",
            "error": "episode 3: 4 of 9 pieces failed, more than 30%",
        }),
        ("lost file", "rescue --deep", {"error": "the panel of e3/s7 (project 12) has no file"}),
    ],
)  # fmt: skip
def test_each_kind_of_failure_has_its_mend(kind, said, more):
    name, mend = mends.of(dataclasses.replace(DEAD, **more))
    assert name == kind
    assert said in mend


@pytest.mark.parametrize(
    ("stage", "subject", "words", "scope"),
    [
        ("illustrate", "e3/s12", "ep 3 shot 12, illustrate", "12/e3/s12"),
        ("voice", "e3/s12/l2", "ep 3 shot 12 line 2, voice", "12/e3/s12"),
        ("assemble", "e3", "ep 3, assemble", "12/e3"),
        ("anchor", "c/陈默", "character 陈默, anchor", "job/7"),
        ("animate", "clip/ab12", "clip ab12, animate", "job/7"),
        ("storyboard", "project", "project, storyboard", "job/7"),
    ],
)
def test_a_dead_job_is_named_in_words_and_by_its_scope(stage, subject, words, scope):
    dead = dataclasses.replace(DEAD, stage=stage, subject=subject)
    assert (mends.name_of(dead), mends.scope_of(dead)) == (words, scope)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("[Errno 28] No space left on device", "free some disk"),
        (
            "models can't be run here, as torch is not installed (No module named torch)",
            "the error",
        ),
        ("the registry /home/models.json is damaged", "do what the error says"),
        ("this work is for the model sdxl: add it again by `manage.py models add`", "the error"),
    ],
)
def test_what_waits_has_its_mend(error, said):
    assert said in mends.waiting(error)
