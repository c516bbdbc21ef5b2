"""How `manage.py test` hands its arguments to pytest, and what leaving torch out does there."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from mangen.cli import dev, main

TESTS = pathlib.Path(__file__).parents[1]
#: a file that wants what is not there, one whose test does, and one that wants something else
WANTING = {
    "test_file.py": """
import pytest
pytest.importorskip("{name}", reason="the gpu extra is not installed")
def test_in_a_file(): pass
""",
    "test_one.py": """
import pytest
def test_alone(): pytest.importorskip("{name}", reason="torch is not installed: it is an extra")
""",
    "test_other.py": """
import pytest
def test_other(): pytest.skip("no CUDA device")
""",
}


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


def test_bench_without_a_name_says_what_each_measures(capsys):
    files = {file.stem for file in (TESTS / "benchmarks").glob("[a-z]*.py")}
    assert main.main(["bench"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = dict(line.split(maxsplit=1) for line in lines)
    assert set(listed) == files
    assert all(
        what.endswith(".") and len(line) <= 110
        for line, what in zip(lines, listed.values(), strict=True)
    )
    assert main.main(["bench", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == listed


def test_leaving_torch_out_is_said_to_the_tests_and_not_to_pytest():
    given, told = dev._without_torch(("-x", "--no-torch", "tests/ledger"))
    assert (given, told) == (["-x", "tests/ledger"], {"MANGEN_TEST_TORCH": "no"})
    assert dev._without_torch(("-x",)) == (["-x"], {})


@pytest.fixture
def wanting(tmp_path):
    """Run tests that want a package, beside the suite's own conftest; answer code and output."""

    def run(name, torch, *options):
        (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
        (tmp_path / "pytest.ini").touch()
        for file, text in WANTING.items():
            (tmp_path / file).write_text(text.format(name=name))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *options],
            env={**os.environ, "MANGEN_TEST_TORCH": torch}, cwd=tmp_path,
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_torch_is_left_out_though_it_is_installed(wanting, options):
    code, said = wanting("diffusers", "no", *options)
    assert (code, said.count("--no-torch leaves torch out")) == (0, 2), said
    assert "no CUDA device" in said


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_where_torch_must_be_a_skip_for_want_of_it_fails(wanting, options):
    code, said = wanting("not_a_package_of_anyone", "must", *options)
    assert code in (1, 2), said  # tests failed, or none could be collected
    assert "MANGEN_TEST_TORCH=must, and yet" in said
    assert "the gpu extra is not installed" in said
    code, said = wanting("not_a_package_of_anyone", "must", "--deselect=test_file.py",
                         "--ignore=test_file.py", *options)  # fmt: skip
    assert code == 1, said
    assert "torch is not installed: it is an extra" in said


def test_where_nothing_is_said_the_tests_skip_with_their_own_reason(wanting):
    code, said = wanting("not_a_package_of_anyone", "")
    assert code == 0, said
    assert "the gpu extra is not installed" in said
    assert wanting("not_a_package_of_anyone", "never")[0] == 4
