"""history: write down what happened, and replay it."""

from __future__ import annotations

import datetime as dt
import pathlib
from collections.abc import Sequence

import click

from mangen.cli import door, numbers, output


@click.group(cls=door.Door)
def history() -> None:
    """Write down what happened to jobs, or replay such a record."""


@history.command()
@click.argument("projects", nargs=-1, type=numbers.PROJECT, metavar="[ID]...")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]),
    help="Only what happened from then on; without a zone, this machine's time.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True, path_type=pathlib.Path),
    help="File for the records; .gz is compressed, - is standard output.",
)
@output.as_json
def export(
    *, projects: Sequence[int], since: dt.datetime | None, out: pathlib.Path, json_: bool
) -> None:
    """Write down events, attempts and acts of projects (all, without ids): JSON lines."""
    from mangen import histories  # noqa: PLC0415 - lazy: --help must not load the ledger

    start = None if since is None else since.astimezone()
    counts = histories.export(out, projects=list(projects) or None, since=start)
    quiet = str(out) == "-"
    if json_ and not quiet:
        output.emit({"out": str(out), "records": counts})
    else:
        said = ", ".join(f"{n} {kind}s" for kind, n in counts.items() if kind != "history")
        click.echo(f"{out}: {said or 'nothing'}", err=quiet)


@history.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=pathlib.Path))
@output.as_json
@click.pass_context
def replay(ctx: click.Context, *, file: pathlib.Path, json_: bool) -> None:
    """Replay a record through the table of transitions; exit code 1 if it can't have happened."""
    from mangen import histories  # noqa: PLC0415 - lazy: --help must not load the ledger

    found = histories.replay(file)
    if json_:
        output.emit(found)
    else:
        for fault in found["faults"]:
            place = f"job {fault['job']}" + (f", event {fault['event']}" if fault["event"] else "")
            click.echo(f"{place}: {fault['what']}")
        good = "all of it is legal" if found["ok"] else f"{len(found['faults'])} faults"
        click.echo(f"{found['jobs']} jobs, {found['events']} events: {good}")
    if not found["ok"]:
        ctx.exit(1)
