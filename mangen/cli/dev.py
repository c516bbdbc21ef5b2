"""test, bench and chaos: for those who work on mangen itself."""

from __future__ import annotations

import ast
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import click

from mangen import errors, settings
from mangen.cli import output

ROOT = pathlib.Path(__file__).parents[2]
#: services that the tests' extra matrix may use
_OFFERED = f"{settings.PREFIX}TEST_"
#: the whole suite runs in so many processes at most; more would only wait for its longest files
_PROCESSES = 4
#: pytest's arguments that need the tests in one process
_ALONE = {"-s", "--capture=no", "--pdb", "--trace", "--pyargs", "-n0"}
#: leaves the tests out that need torch, whether it is installed or not
_NO_TORCH = "--no-torch"
_PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(context_settings={**_PASSED_ON, "help_option_names": ["--help"]})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENTS]...")
@click.pass_context
def test(ctx: click.Context, *, arguments: Sequence[str]) -> None:
    """Run the tests in a temporary home, with no setting of yours.

    Without a path or a choice the whole suite runs, in as many processes as there are cores, up to
    four; -n0 keeps it in one. --no-torch leaves torch out, with the tests that need it.
    """
    _require(ROOT / "tests")
    given, left_out = _without_torch(arguments)
    if left_out:
        click.echo(f"{_NO_TORCH}: the tests that need torch are left out", err=True)
    with tempfile.TemporaryDirectory(prefix="mangen-test-") as home:
        command = [sys.executable, "-m", "pytest", *_processes(given), *given]
        ctx.exit(subprocess.call(command, cwd=ROOT, env={**_environment(home), **left_out}))


@click.command(context_settings=_PASSED_ON)
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--json] [ARGUMENTS]...")
@click.pass_context
def bench(ctx: click.Context, *, name: str | None, arguments: Sequence[str]) -> None:
    """Run one of tests/benchmarks; without NAME, list them and what they measure.

    With --json the last line is one object.
    """
    folder = ROOT / "tests" / "benchmarks"
    _require(folder)
    known = _benchmarks(folder)
    if name == "--json":
        output.emit(known)
        return
    if name is None:
        wide = max(map(len, known), default=0)
        click.echo("\n".join(f"{one:{wide}}  {what}" for one, what in known.items()))
        return
    if name not in known:
        raise errors.UsageError(
            f"there is no benchmark {name!r}; there are {', '.join(known) or 'none yet'}"
        )
    with tempfile.TemporaryDirectory(prefix="mangen-bench-") as home:
        command = [sys.executable, str(folder / f"{name}.py"), *arguments]
        ctx.exit(subprocess.call(command, cwd=ROOT, env=_environment(home)))


@click.command()
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, max=10_000),
    default=2.0,
    show_default=True,
    help="Of acts; then the work drains and is judged.",
)
@click.option("--seed", default=1, show_default=True, help="Of the acts, their order and targets.")
@click.option(
    "--projects",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="In flight at any time.",
)
@click.option(
    "--workers", type=click.IntRange(1, 16), default=2, show_default=True, help="Processes."
)
@click.option("--keep", is_flag=True, help="Keep the run's folder though all went well.")
@output.as_json
@click.pass_context
def chaos(
    ctx: click.Context,
    *,
    minutes: float,
    seed: int,
    projects: int,
    workers: int,
    keep: bool,
    json_: bool,
) -> None:
    """Kill, freeze, wipe and duplicate while projects are made, and judge what comes of it.

    Everything runs in a home of its own. Exit code 1 where something was lost, done twice, left
    open or broken: the run's folder is kept then, with its acts, logs and database. With --json
    the last line is one object: ok, violations, finished, kills and more.
    """
    program = ROOT / "tests" / "chaos" / "chaos.py"
    _require(program.parent)
    command = [sys.executable, str(program), f"--minutes={minutes}", f"--seed={seed}"]
    command += [f"--projects={projects}", f"--workers={workers}"]
    command += ["--keep"] * keep + ["--json"] * json_
    with tempfile.TemporaryDirectory(prefix="mangen-chaos-none-") as home:
        ctx.exit(subprocess.call(command, cwd=ROOT, env=_environment(home)))


def _benchmarks(folder: pathlib.Path) -> dict[str, str]:
    """Benchmark -> what it measures, the first line of its own docstring; none is imported."""
    return {
        file.stem: (ast.get_docstring(ast.parse(file.read_bytes())) or "").partition("\n")[0]
        for file in sorted(folder.glob("[a-z]*.py"))
    }


def _without_torch(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Answer what is pytest's own, and what tells the tests to leave torch out: see conftest.py."""
    given = [word for word in arguments if word != _NO_TORCH]
    return given, {f"{_OFFERED}TORCH": "no"} if len(given) < len(arguments) else {}


def _processes(arguments: Sequence[str]) -> list[str]:
    """Options that spread the whole suite over the cores; none for a part of it.

    Files stay whole, as their tests share servers and workers, and keep the order of the
    collection, which has the longest first.
    """
    part = any(not word.startswith("-") or word in _ALONE for word in arguments)
    count = min(_PROCESSES, len(os.sched_getaffinity(0)))
    if part or count == 1:
        return []
    return ["-n", str(count), "--dist", "loadfile", "--no-loadscope-reorder"]


def _require(folder: pathlib.Path) -> None:
    if not folder.is_dir():
        raise errors.UsageError(
            f"{folder} is not there: tests and benchmarks need a clone of the repository"
        )


def _environment(home: str) -> dict[str, str]:
    """This environment without any setting, the home apart; nothing of the user's is touched."""
    none = pathlib.Path(home) / "none.toml"
    none.touch()
    kept = {
        name: text
        for name, text in dict(os.environ).items()
        if not name.startswith(settings.PREFIX) or name.startswith(_OFFERED)
    }
    return {
        **kept,
        f"{settings.PREFIX}HOME": home,
        f"{settings.PREFIX}CONFIG": str(none),
        "PYTHONPATH": str(ROOT),
    }
