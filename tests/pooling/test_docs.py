"""docs/pooling.md says what the code does."""

from __future__ import annotations

import dataclasses
import importlib
import logging
import os
import pathlib
import re
import subprocess
import sys

import pytest

from mangen.pooling import alone, config, events, lives, log, work

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "pooling.md").read_text("utf-8")
PRODUCT = ROOT / "tests" / "pooling" / "other_product"


def section(title):
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PRODUCT)
        embedding = importlib.import_module("embedding")
        with alone.Pool("embedding:Embedding", cache_kinds={"text": {}}) as pool:
            pool.submit(embedding.item("one", "a text")).result(timeout=60)
            yield pool.report()
        del sys.modules["embedding"]


def test_every_key_of_the_configuration_is_told_with_its_default():
    rows = re.findall(
        r"^\| `(\w+)` \| (?:`(.*?)`)? ?\| .+ \|$", section("Configuration"), re.MULTILINE
    )
    fields = {field.name: field for field in dataclasses.fields(config.Config)}
    made = config.Config(app="a:app", work="a:Work")
    assert rows == [
        (name, "" if name in {"app", "work"} else repr(getattr(made, name))) for name in fields
    ]


def test_every_key_of_the_report_is_told(report):
    cells = re.findall(r"^\| (`.+?) \| .+ \|$", section("What it says"), re.MULTILINE)
    told = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} - {"devices"}
    (child,) = report["children"]
    assert told == (report.keys() - {"children"}) | child.keys()


def test_bytes_states_and_the_caches_counters_are_told(report):
    told = set(re.findall(r"`(\w+)`", section("What it says")))
    (child,) = report["children"]
    assert told > child["bytes"].keys()
    assert told > child["cache"]["text"].keys()
    assert told > set(lives.State) - {"dead"}


def test_the_program_without_celery_runs():
    (program,) = re.findall(r"```python\n(.*?)```", section("Without Celery"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": f"{PRODUCT}:{ROOT}"},
    )  # fmt: skip
    assert done.stdout.strip() == "done 64 numbers"


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target


def test_the_seams_exist():
    names = re.findall(r"^\| (`.+?) \| \[(\w+)\.py\]", section("Seams"), re.MULTILINE)
    found = {name: module for cell, module in names for name in re.findall(r"`(\w+)`", cell)}
    for name, module in found.items():
        folder = "mangen.pooling.devices" if module == "device" else "mangen.pooling"
        assert hasattr(sys.modules[f"{folder}.{module}"], name), name
    assert {"Work", "Session", "Item", "ModelSpec"} <= found.keys()


def test_what_the_log_says_to_a_person_is_told_and_nothing_else_is_a_warning():
    words = " ".join(section("What it says").split())
    phrases = [phrase.split(" ... ") for phrase in re.findall(r"\*([^*]+)\*", words)]
    needed = {phrase[-1] for phrase in phrases} - {"for now"}
    for event in map(example, events.Event.__subclasses__()):
        level, said = log.line(event)
        found = [phrase[-1] for phrase in phrases if all(part in said for part in phrase)]
        assert (level >= logging.WARNING) == bool(found), said
        needed -= set(found)
    assert not needed


def example(kind):
    """Make an event with something plain in each field."""
    plain = {"str": "x", "int": 1, "float": 1.0, "bool": True, "work.Status": work.Status.DONE}
    return kind(
        **{
            field.name: plain.get(field.type, ("x",) if "tuple" in field.type else None)
            for field in dataclasses.fields(kind)
        }
    )
