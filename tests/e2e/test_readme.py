"""The README's commands, run as they stand there."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"^python3 manage\.py (.+?)(?:\s+#.*)?$", re.MULTILINE)


def commands_of(name):
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)
    return [shlex.split(found) for block in blocks for found in COMMAND.findall(block)]


def test_both_readmes_name_the_same_commands():
    assert commands_of("README.md") == commands_of("README.zh-CN.md")


def test_every_command_of_the_readme_has_help():
    for command in commands_of("README.md") + commands_of("CONTRIBUTING.md"):
        done = subprocess.run(
            [sys.executable, ROOT / "manage.py", command[0], "--help"],
            capture_output=True,
            check=True,
            env={**os.environ, "MANGEN_ENV": "current"},
        )
        assert done.stdout


@pytest.fixture
def run(deployment, tmp_path):
    """Run one command in a folder with the novel of the README."""
    (tmp_path / "novel.txt").write_text("他推开门。“有人吗？”没有人答应。", "utf-8")
    environment = {**os.environ, **deployment.environment, "MANGEN_ENV": "current"}

    def start(*words):
        return subprocess.Popen(
            [sys.executable, ROOT / "manage.py", *words],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


@pytest.mark.timeout(600)  # many commands, and machines that do much else
def test_the_readmes_commands_work_in_their_order(run, deployment, tmp_path):
    listed = commands_of("README.md")
    assert [words[0] for words in listed] == [
        "demo", "new", "submit", "status", "up", "export",
        "pause", "resume", "priority", "retake", "cancel", "retry", "purge", "drain", "doctor",
        "failures", "rescue", "wardrobe",
    ]  # fmt: skip
    assert ended(run(*listed[0]))[0] == 0
    assert list((tmp_path / "videos").glob("*.mp4"))
    up = None
    for words in listed[1:]:
        if words[0] == "new":
            words = [*words]
            code, said = ended(run(*words))
            number = re.search(r"\d+", said)[0]
        elif words[0] == "up":
            up, code, said = run(*words), 0, ""
            deployment.wait(int(number))
        else:
            words = [re.sub(r"^1(?=/|$)", number, word) for word in words]
            code, said = ended(run(*words))
        assert code == 0 or (words[0] == "drain" and code == 5), f"{words}: {code}\n{said}"
    assert (tmp_path / "videos").is_dir()
    up.send_signal(signal.SIGINT)
    code, said = ended(up)
    assert code == 0, said


def ended(process):
    said, _ = process.communicate(timeout=180)
    return process.returncode, said
