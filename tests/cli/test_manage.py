import ast
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

SOURCE = pathlib.Path(__file__).parents[2] / "manage.py"

#: stands for uv: counts its calls, makes the least environment Python takes for one
UV = """#!/bin/sh
echo "$@" >> "{folder}/calls"
case "$1" in
venv)
    for last; do :; done
    mkdir -p "$last/bin"
    ln -s {python} "$last/bin/python"
    printf 'home = %s\\n' {home} > "$last/pyvenv.cfg" ;;
pip)
    echo "resolving"
    [ ! -e "{folder}/broken" ] || {{ echo "error: no route to host"; exit 1; }} ;;
esac
"""
CLI = """
import json, sys
def main(argv):
    print(json.dumps({"argv": argv, "prefix": sys.prefix}))
    return 7
"""


class Clone:
    """A folder with manage.py, a pyproject of unmet wishes, and a command line that echoes."""

    def __init__(self, folder):
        self.folder = folder
        self.venv = folder / ".venv"
        self.calls_file = folder / "calls"
        (folder / "manage.py").write_bytes(SOURCE.read_bytes())
        self.wish("not-a-package-anyone-has>=1")
        (folder / "mangen" / "cli").mkdir(parents=True)
        (folder / "mangen" / "__init__.py").touch()
        (folder / "mangen" / "cli" / "__init__.py").touch()
        (folder / "mangen" / "cli" / "main.py").write_text(CLI)
        self.programs = folder / "programs"
        self.programs.mkdir()

    def wish(self, requirement):
        (self.folder / "pyproject.toml").write_text(
            textwrap.dedent(f"""
            [project]
            name = "mangen"
            version = "1"
            dependencies = ["{requirement}"]
            [project.optional-dependencies]
            test = ["not-a-test-package>=1"]
            gpu = ["not-a-gpu-package>=1"]
            """)
        )

    def with_uv(self):
        uv = self.programs / "uv"
        python = os.path.realpath(sys.executable)
        uv.write_text(
            UV.format(folder=self.folder, python=python, home=pathlib.Path(python).parent)
        )
        uv.chmod(0o755)
        return self

    def start(self, *argv, **environment):
        return subprocess.Popen(
            [sys.executable, self.folder / "manage.py", *argv],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
            env={"PATH": f"{self.programs}:/usr/bin:/bin", **environment},
        )  # fmt: skip

    def run(self, *argv, **environment):
        process = self.start(*argv, **environment)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def calls(self):
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def extras(self):
        return json.loads((self.venv / "mangen.json").read_text())["extras"]


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "a clone"  # with a space, as people have
    folder.mkdir()
    return Clone(folder)


@pytest.fixture
def door():
    spec = importlib.util.spec_from_file_location("manage_under_test", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_first_command_installs_and_goes_on_in_the_new_environment(clone):
    clone.with_uv()
    code, out, err = clone.run("status", "--json")
    assert (code, json.loads(out)["argv"]) == (7, ["status", "--json"])
    assert json.loads(out)["prefix"] == str(clone.venv)
    assert "installing what mangen needs" in err
    assert "done in" in err
    assert len(clone.calls()) == 2
    code, out, err = clone.run("status")
    assert (code, err) == (7, "")
    assert len(clone.calls()) == 2


def test_a_command_that_needs_more_installs_more_and_keeps_the_rest(clone):
    clone.with_uv()
    clone.run("chaos")
    assert clone.calls()[-1].endswith("--editable .[test]")
    _, out, _ = clone.run("up", "--gpu")
    assert json.loads(out)["argv"] == ["up"]
    assert clone.extras() == ["gpu", "test"]
    count = len(clone.calls())
    clone.run("demo")
    assert len(clone.calls()) == count
    clone.run("bench")
    clone.run("bench", "--help")
    assert len(clone.calls()) == count, "a list or a help needs nothing more"


def test_the_demo_s_environment_holds_no_torch_and_test_adds_it(clone):
    clone.with_uv()
    clone.run("demo")
    assert clone.extras() == []
    clone.run("test", "--no-torch")
    assert clone.extras() == ["test"]
    _, out, _ = clone.run("test", "tests/ledger")
    assert json.loads(out)["argv"] == ["test", "tests/ledger"]
    assert clone.extras() == ["gpu", "test"]
    count = len(clone.calls())
    _, out, _ = clone.run("test", "--no-torch", "-x")
    assert json.loads(out)["argv"] == ["test", "--no-torch", "-x"], "the command says it on"
    assert len(clone.calls()) == count, "what is there stays there"


def test_an_extra_that_changed_is_installed_by_the_command_that_needs_it(clone):
    clone.with_uv()
    clone.run("test")
    clone.wish("another-package-nobody-has>=2")
    clone.run("demo")
    assert clone.calls()[-1].endswith("--editable .[gpu,test]"), "nothing is taken away"


def test_only_the_benchmark_of_the_gpu_needs_its_extra(door):
    assert door.needs(["bench", "ledger", "--json"]) == {"test", "bench"}
    assert door.needs(["bench", "gpu", "--json"]) == {"test", "bench", "gpu"}
    assert door.needs(["bench", "--json"]) == set()
    assert door.needs(["demo", "--no-torch"]) == set()


def test_new_wishes_are_installed_into_what_is_there(clone):
    clone.with_uv()
    clone.run("demo")
    clone.wish("another-package-nobody-has>=2")
    code, _, _ = clone.run("demo")
    assert code == 7
    assert [call.split()[0] for call in clone.calls()] == ["venv", "pip", "pip"]


def test_a_failed_installation_leaves_nothing_and_says_what_to_do(clone):
    clone.with_uv()
    (clone.folder / "broken").touch()
    code, out, err = clone.run("demo")
    assert (code, out) == (3, "")
    assert not clone.venv.exists()
    assert "no route to host" in err
    assert "Nothing half-made was left behind" in err
    assert "run the same command again" in err
    assert "Traceback" not in err
    (clone.folder / "broken").unlink()
    assert clone.run("demo")[0] == 7


def test_a_failed_update_keeps_the_environment_but_does_not_trust_it(clone):
    clone.with_uv()
    clone.run("demo")
    clone.wish("another-package-nobody-has>=2")
    (clone.folder / "broken").touch()
    code, _, err = clone.run("demo")
    assert code == 3
    assert ".venv is kept" in err
    assert (clone.venv / "bin" / "python").exists()
    (clone.folder / "broken").unlink()
    assert clone.run("demo")[0] == 7


def test_first_commands_at_once_install_once(clone):
    clone.with_uv()
    running = [clone.start("status") for _ in range(4)]
    assert {process.communicate(timeout=120) and process.returncode for process in running} == {7}
    assert [call.split()[0] for call in clone.calls()] == ["venv", "pip"]


def test_a_real_pip_without_a_network_fails_as_clearly(clone):
    code, _, err = clone.run("demo", PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert code == 3
    assert "the installation failed" in err
    assert "No matching distribution" in err
    assert not clone.venv.exists()


def test_an_environment_that_has_everything_is_used_as_it_is(clone):
    clone.wish("pytest>=1")
    code, out, err = clone.run("demo")
    assert (code, err) == (7, "")
    assert json.loads(out)["prefix"] == sys.prefix
    assert not clone.venv.exists()


def test_an_environment_may_be_forced(clone):
    _, out, _ = clone.run("demo", MANGEN_ENV="current")
    assert json.loads(out)["prefix"] == sys.prefix
    code, _, err = clone.run("demo", MANGEN_ENV="mine")
    assert (code, err.strip()) == (
        3, "manage.py: MANGEN_ENV is 'mine': write current or own, or leave it out",
    )  # fmt: skip


def test_an_old_python_is_told_which_to_use(door, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert door.main(["demo"]) == 3
    err = capsys.readouterr().err
    assert "mangen needs Python 3.11 or newer; this is" in err
    assert "Install one" in err
    newer = tmp_path / "python3.12"
    newer.touch(mode=0o755)
    door.main(["demo"])
    assert "`python3.12 manage.py`" in capsys.readouterr().err


def test_an_old_python_can_read_the_file(door):
    tree = ast.parse(SOURCE.read_text("utf-8"), feature_version=(3, 8))
    top = [name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names]
    assert set(top) <= sys.stdlib_module_names
    old = {"hashlib", "json", "os", "pathlib", "shutil", "subprocess", "sys", "time"}
    assert set(top) == old


def test_a_python_without_venv_is_told_the_package(door, monkeypatch, capsys, tmp_path):
    for name, file in (("ROOT", "."), ("VENV", "v"), ("LOG", "log"), ("LOCK", "lock")):
        monkeypatch.setattr(door, name, tmp_path / file)
    monkeypatch.setattr(door, "PYTHON", tmp_path / "v" / "bin" / "python")
    monkeypatch.setattr(door, "STAMP", tmp_path / "v" / "mangen.json")
    (tmp_path / "pyproject.toml").write_bytes((SOURCE.parent / "pyproject.toml").read_bytes())
    monkeypatch.setenv("PATH", str(tmp_path))
    # what Debian's Python says when python3-venv is not installed
    debian = tmp_path / "python"
    debian.write_text("#!/bin/sh\necho 'because ensurepip is not available'\nexit 1\n")
    debian.chmod(0o755)
    monkeypatch.setattr(sys, "_base_executable", str(debian))
    with pytest.raises(door.SetupError, match=r"apt install python3\.\d+-venv"):
        door.make(set())
    assert not (tmp_path / "v").exists()
