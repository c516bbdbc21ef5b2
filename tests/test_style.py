"""Lint, layout and types are clean, and the versions agree."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

import mangen

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "tool",
    [
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--no-cache", "--check", "."),
        ("mypy",),
    ],
    ids=" ".join,
)
def test_the_code_is_clean(tool, tmp_path):
    extra = ["--cache-dir", str(tmp_path)] if tool[0] == "mypy" else []
    done = subprocess.run(
        [sys.executable, "-m", *tool, *extra], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_changelog_and_the_package_have_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert mangen.__version__ == project["version"] == newest[1]


def test_no_exception_to_a_rule_stands_without_its_reason():
    bare = re.compile(r"# (noqa(: [A-Z]+\d+(, [A-Z]+\d+)*)?|type: ignore(\[[\w, -]+\])?)\s*$")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*ROOT.glob("*.py"), *ROOT.glob("mangen/**/*.py"), *ROOT.glob("tests/**/*.py")]
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []
