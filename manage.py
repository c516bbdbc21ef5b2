"""The one door to mangen: `python3 manage.py COMMAND`; `--help` lists the commands.

Needs nothing but Python. The first call makes `.venv` beside this file and installs what the
command needs; later calls only look that it is current. An environment that has everything
already (active, or a container's) is used as it is.

  --gpu          also install what GPU workers need
  --no-torch     `test` without the GPU extra, and without the tests that need it
  MANGEN_ENV     current: use the running Python as it is; own: use .venv whatever is active
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from typing import Any

# No newer syntax or library above `main`: an old Python must get as far as its message.
NEEDED = (3, 11)
ROOT = pathlib.Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "mangen.json"
LOG = ROOT / ".venv.log"
LOCK = ROOT / ".venv.lock"
#: commands that need more than the base
EXTRAS = {"test": {"test", "gpu"}, "bench": {"test", "bench"}, "chaos": {"test"}}


class SetupError(Exception):
    """The environment can't be made; the message says what to do."""


def main(argv: list[str]) -> int:
    """Run one command in an environment that can."""
    try:
        check_python()
        gpu = "--gpu" in argv
        argv = [word for word in argv if word != "--gpu"]
        enter(needs(argv) | ({"gpu"} if gpu else set()), argv)
    except (SetupError, OSError) as error:
        sys.stderr.write(f"manage.py: {error}\n")
        return 3
    except KeyboardInterrupt:
        return 130
    sys.path.insert(0, str(ROOT))
    from mangen.cli import main as cli  # noqa: PLC0415 - only now are its packages there

    return cli.main(argv)


def needs(argv: list[str]) -> set[str]:
    """Answer the extras that a command line needs: none where it only asks for help."""
    command, *more = [word for word in argv if not word.startswith("-")] or [""]
    if "--help" in argv or "-h" in argv[:1] or (command == "bench" and not more):
        return set()
    found = set(EXTRAS.get(command, set()))
    if command == "bench" and more[0] == "gpu":
        found.add("gpu")
    return found - {"gpu"} if command == "test" and "--no-torch" in argv else found


def check_python() -> None:
    """Raise SetupError for a Python or a system that can't run mangen."""
    if sys.version_info < NEEDED:
        names = ("python3.14", "python3.13", "python3.12", "python3.11")
        newer = next((name for name in names if shutil.which(name)), None)
        mend = f"Run it with `{newer} manage.py`" if newer else "Install one and run it with that"
        raise SetupError(
            f"mangen needs Python {NEEDED[0]}.{NEEDED[1]} or newer; "
            f"this is {sys.version.split()[0]} ({sys.executable}). {mend}."
        )
    if not sys.platform.startswith("linux"):
        raise SetupError(
            f"mangen runs on Linux, this is {sys.platform}; use it in a container, or inside WSL"
        )


def enter(extras: set[str], argv: list[str]) -> None:
    """Return if this Python can run the command; else go on in `.venv`, made where needed."""
    choice = os.environ.get("MANGEN_ENV", "")
    if choice not in ("", "current", "own"):
        raise SetupError(f"MANGEN_ENV is {choice!r}: write current or own, or leave it out")
    inside = pathlib.Path(sys.prefix).resolve() == VENV.resolve()
    if choice == "current" or (inside and current(extras)):
        return
    if (inside or choice != "own") and not missing(extras):
        return
    if not current(extras):
        make(extras)
    os.execv(PYTHON, [str(PYTHON), str(ROOT / "manage.py"), *argv])  # noqa: S606 - no shell is wanted


def current(extras: set[str]) -> bool:
    """Whether `.venv` was made whole from today's pyproject.toml, with these extras."""
    stamp = read_stamp()
    return stamp.get("pyproject") == fingerprint() and extras <= set(stamp.get("extras", []))


def read_stamp() -> dict[str, Any]:
    """What `.venv` holds; empty where it isn't whole."""
    try:
        stamp = json.loads(STAMP.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(stamp) if os.access(PYTHON, os.X_OK) else {}


def fingerprint() -> str:
    """The sha256 of pyproject.toml."""
    try:
        return hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    except OSError as error:
        raise SetupError(f"can't read pyproject.toml beside manage.py: {error.strerror}") from error


def missing(extras: set[str]) -> list[str]:
    """The requirements that this Python does not meet."""
    import tomllib  # noqa: PLC0415 - needs the Python that was checked
    from importlib import metadata  # noqa: PLC0415 - with it

    try:
        from packaging import requirements  # noqa: PLC0415 - itself a dependency
    except ImportError:
        return ["packaging"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in sorted(extras):
        lines += project["optional-dependencies"][extra]
    unmet = []
    for line in lines:
        requirement = requirements.Requirement(line)
        try:
            found = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            found = ""
        if not found or not requirement.specifier.contains(found, prereleases=True):
            unmet.append(line)
    return unmet


def make(extras: set[str]) -> None:
    """Make or mend `.venv`; concurrent first commands wait for each other."""
    import fcntl  # noqa: PLC0415 - absent on Windows, which gets its message first

    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write("manage.py: another command is installing; waiting for it\n")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if current(extras):
            return
        extras = extras | set(read_stamp().get("extras", []))
        new = not usable()
        try:
            if new:
                shutil.rmtree(VENV, ignore_errors=True)
            elif STAMP.exists():
                STAMP.unlink()  # not whole until the end
            install(extras, new=new)
            part = STAMP.with_suffix(".part")
            part.write_text(json.dumps({"pyproject": fingerprint(), "extras": sorted(extras)}))
            part.replace(STAMP)
        except BaseException:
            if new:
                shutil.rmtree(VENV, ignore_errors=True)
            raise


def usable() -> bool:
    """Whether `.venv` holds a working Python that is new enough, and a way to install into it."""
    probe = f"import sys; sys.exit(sys.version_info < {NEEDED})"
    if not quiet([PYTHON, "-c", probe]):
        return False
    return bool(shutil.which("uv")) or quiet([PYTHON, "-m", "pip", "--version"])


def quiet(command: list[str | pathlib.Path]) -> bool:
    """Run a command for its exit status alone."""
    try:
        return subprocess.call(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) == 0  # fmt: skip
    except OSError:
        return False


def install(extras: set[str], *, new: bool) -> None:
    """Fill `.venv` by uv where it is there, else by venv and pip; raises SetupError."""
    uv = shutil.which("uv")
    target = "." + (f"[{','.join(sorted(extras))}]" if extras else "")
    create: list[str | pathlib.Path]
    fill: list[str | pathlib.Path]
    if uv:
        create = [uv, "venv", "--python", sys.executable, VENV]
        fill = [uv, "pip", "install", "--python", PYTHON, "--editable", target]
    else:
        create = [getattr(sys, "_base_executable", sys.executable), "-m", "venv", VENV]
        fill = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
                "--progress-bar", "off", "--editable", target]  # fmt: skip
    what = " and ".join(["what mangen needs", *sorted(extras)])
    LOG.write_bytes(b"")
    if new and not run(create, "making .venv"):
        venv_missing = "ensurepip" in log_tail(80)
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupError(
            f"can't make .venv. Install Python's venv first: `apt install python{version}-venv` "
            "(or python3-venv), then run this again"
            if venv_missing
            else f"can't make .venv; the end of {LOG}:\n{log_tail(15)}"
        )
    if not run(fill, f"installing {what}"):
        left = (
            "Nothing half-made was left behind"
            if new
            else ".venv is kept and will be completed by the next run"
        )
        raise SetupError(
            f"the installation failed; the end of {LOG}:\n{log_tail(15)}\n"
            f"{left}: check the network (or PIP_INDEX_URL) and the disk's free space, "
            "then run the same command again"
        )


def run(command: list[str | pathlib.Path], what: str) -> bool:
    """Run a step with a progress line; its output goes to the log. Answers whether it went well."""
    environment = dict(os.environ)
    if not environment.get("HOME"):
        environment.pop("HOME", None)  # an empty one would be taken for the current folder
    # what an active environment sets must not lead the installers astray
    for name in ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX"):
        environment.pop(name, None)
    started = time.monotonic()
    live = sys.stderr.isatty()
    if not live:
        sys.stderr.write(f"manage.py: {what} ...\n")
    with LOG.open("ab") as log:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=ROOT
            )
        except OSError as error:
            log.write(f"{command[0]}: {error.strerror}\n".encode())
            return False
        try:
            while process.poll() is None:
                if live:
                    show(f"{time.monotonic() - started:4.0f} s  {what}: {log_tail(1)}")
                time.sleep(0.1)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            if live:
                show("")
    seconds = time.monotonic() - started
    if process.returncode == 0:
        sys.stderr.write(f"manage.py: {what}: done in {seconds:.0f} s\n")
    return process.returncode == 0


def show(line: str) -> None:
    """Replace the progress line."""
    width = shutil.get_terminal_size().columns - 1
    sys.stderr.write("\r\x1b[K" + line[:width])
    sys.stderr.flush()


def log_tail(lines: int) -> str:
    """The last lines of the log that say something."""
    with LOG.open("rb") as log:
        log.seek(max(0, LOG.stat().st_size - 8192))
        said = [line for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return "\n".join(said[-lines:]).strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
