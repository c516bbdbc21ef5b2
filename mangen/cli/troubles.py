"""failures and rescue: what went wrong, and what mends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich import markup

from mangen.cli import output


@click.command("failures")
@click.argument("what", nargs=-1, metavar="[SCOPE]...")
@click.option("--long", "long_", is_flag=True, help="Show errors whole, not their first line.")
@output.as_json
def dead(*, what: Sequence[str], long_: bool, json_: bool) -> None:
    """List dead jobs: why they failed, on which device, and what mends it.

    A scope is a project (12), an episode (12/e3), a shot (12/e3/s7) or a job (job/4711); without
    one all projects are looked through.
    """
    from mangen import troubles  # noqa: PLC0415 - lazy: --help must not load the ledger

    found = troubles.failed(*what)
    if json_:
        output.emit(found)
        return
    people = output.people()
    for one in found["failures"]:
        people.print("\n".join(_failure(one, long_=long_)), soft_wrap=True)
    for one in found["waiting"]:
        people.print(
            f"[yellow]waits[/] project {one['project']}, {one['stage']} "
            f"{markup.escape(one['subject'])} (job/{one['job']}): {markup.escape(one['error'])}\n"
            f"  mend: {markup.escape(one['mend'])}",
            soft_wrap=True,
        )
    if not found["failures"] and not found["waiting"]:
        click.echo("nothing failed")


@click.command()
@click.option("--deep", is_flag=True, help="Read every stored file and compare its checksum.")
@click.option(
    "--even-all", is_flag=True, help="Make files anew though the artifact store holds none at all."
)
@output.as_json
def rescue(*, deep: bool, even_all: bool, json_: bool) -> None:
    """Find and mend what crashes left behind, with or without workers; says what it mended.

    Requests that expired, work of dead workers, lost messages, jobs nobody looked at, files without
    rows, and files that are gone: those that work or a finished video needs are made anew. Safe at
    any time, any number of times. Waits for a lease where a worker seems to be dead.
    """
    from mangen import troubles  # noqa: PLC0415 - lazy: --help must not load the ledger

    def tell(one: Mapping[str, Any]) -> None:
        if not json_:
            click.echo(_mend(one))

    done = troubles.rescue(deep=deep, even_all=even_all, tell=tell)
    if json_:
        output.emit(done)
    elif not done:
        click.echo("nothing was to be mended")


def _failure(one: Mapping[str, Any], *, long_: bool) -> list[str]:
    """A dead job in a few lines."""
    title, what = markup.escape(one["title"]), markup.escape(one["what"])
    counts = (
        f"job/{one['job']}, {one['kind']}; attempts {one['attempts']}, "
        f"failures {one['failures']}, losses {one['losses']}"
    )
    lines = [
        f"[red]failed[/] project {one['project']} ({title}): {what}  ({counts})",
        f"  cause: {markup.escape(one['error'] if long_ else one['cause'])}",
    ]
    if one["owner"]:
        owner = markup.escape(one["owner"])
        lines.append(f"  where: {owner} on {one['device']}, now {one['device_state']}")
    if one["report"]:
        lines.append(f"  report: {markup.escape(one['report'])}")
    if one["skipped"]:
        lines.append(f"  jobs skipped for it: {one['skipped']}")
    lines.append(f"  mend: {markup.escape(one['mend'])}")
    return lines


def _mend(one: Mapping[str, Any]) -> str:
    """One thing that was mended, or only found, in a line."""
    where = f" project {one['project']}" if one["project"] is not None else ""
    jobs = f" (jobs {', '.join(map(str, one['jobs']))})" if one["jobs"] else ""
    return f"{one['what']}:{where} {one['detail']}{jobs}"
