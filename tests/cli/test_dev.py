"""How `manage.py test` hands its arguments to pytest."""

from __future__ import annotations

import os

import pytest

from mangen.cli import dev


@pytest.fixture
def cores(monkeypatch):
    return lambda count: monkeypatch.setattr(
        os, "sched_getaffinity", lambda _pid: set(range(count))
    )


@pytest.mark.parametrize(("count", "processes"), [(2, "2"), (3, "3"), (64, "4")])
@pytest.mark.parametrize("arguments", [(), ("-x", "--durations=9")])
def test_the_whole_suite_is_spread_over_the_cores_in_whole_files(
    cores, arguments, count, processes
):
    cores(count)
    options = dev._processes(arguments)
    assert options[:2] == ["-n", processes]
    assert options[options.index("--dist") + 1] == "loadfile"


@pytest.mark.parametrize(
    "arguments", [("tests/ledger",), ("-k", "lease"), ("-x", "--pdb"), ("-s",), ("-n0",)]
)
def test_a_part_and_what_a_person_steps_through_stay_in_one_process(cores, arguments):
    cores(8)
    assert dev._processes(arguments) == []


def test_one_core_has_one_process(cores):
    cores(1)
    assert dev._processes(()) == []
