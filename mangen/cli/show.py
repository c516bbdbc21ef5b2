"""status and doctor: how things stand."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich import live, markup, table

from mangen import settings, stack
from mangen.cli import checks, numbers, output

_REFRESH_S = 1.0


@click.command()
@click.argument("projects", nargs=-1, type=numbers.PROJECT, metavar="[ID]...")
@click.option("--watch", is_flag=True, help="Stay until all has settled, or Ctrl-C.")
@output.as_json
def status(*, projects: Sequence[int], watch: bool, json_: bool) -> None:
    """Show how projects stand: progress, videos, failures.

    With --watch --json one line of JSON a change.
    """
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    with stack.join(settings.load()):
        if watch:
            _watch(list(projects) or None, json_=json_)
            return
        found = api.all_status(list(projects) or None)
        idle = not json_ and not _settled(found) and not api.workers()
    if json_:
        output.emit(found)
    elif found:
        people = output.people()
        people.print(output.screen(found, people.width))
        if idle:
            click.echo("no worker runs: `python3 manage.py up` does the work", err=True)
    else:
        click.echo("no project yet: `manage.py new novel.txt` makes one")


@click.command()
@output.as_json
@click.pass_context
def doctor(ctx: click.Context, *, json_: bool) -> None:
    """Say what is found, what is missing and how to mend it; checks the ledger's invariants."""
    found = checks.all_of(settings.load())
    if json_:
        output.emit(found)
    else:
        rows = table.Table(box=None, pad_edge=False, show_header=False)
        for check in found:
            mark = "[green]ok[/]" if check["ok"] else "[red]--[/]"
            rows.add_row(mark, check["name"], _text(check))
        output.people().print(rows)
    if not all(check["ok"] for check in found):
        ctx.exit(1)


def _watch(projects: list[int] | None, *, json_: bool) -> None:
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    people = output.people()
    if not json_ and people.is_terminal:
        with live.Live(console=people, refresh_per_second=4) as picture:
            while True:
                found = api.all_status(projects)
                picture.update(output.screen(found, people.width))
                if _settled(found):
                    return
                time.sleep(_REFRESH_S)
    last: Any = None
    while True:
        found = api.all_status(projects)
        said = [_steady(one) if json_ else output.line(one) for one in found]
        if said != last:
            if json_:
                output.emit(found)
            else:
                click.echo("\n".join(map(str, said)))
        last = said
        if _settled(found):
            return
        time.sleep(_REFRESH_S)


def _steady(one: Mapping[str, Any]) -> dict[str, Any]:
    """A status without what moves by itself: when it will be ready."""
    return {name: value for name, value in one.items() if not name.startswith("eta")}


def _settled(found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether nothing more will happen: what was never submitted does not count."""
    return all(one["state"] in output.SETTLED or one["state"] == "new" for one in found)


def _text(check: Mapping[str, Any]) -> str:
    mend = f"\n[yellow]mend:[/] {markup.escape(check['mend'])}" if check["mend"] else ""
    return markup.escape(str(check["detail"])) + mend
