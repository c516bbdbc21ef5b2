"""backlog: what waits, in seconds of devices."""

from __future__ import annotations

import click
from rich import table

from mangen.cli import moments, output


@click.command()
@output.as_json
def backlog(*, json_: bool) -> None:
    """Show how much work waits in each queue, in seconds of devices, and who is there for it.

    Predicted from what was learned of such work. Autoscalers ask for --json: `seconds` can begin
    now, `blocked_seconds` wait for other jobs.
    """
    from mangen import insight  # noqa: PLC0415 - lazy: --help must not load the ledger

    found = insight.backlog()
    if json_:
        output.emit(found)
        return
    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in ("queue", "can begin", "blocked", "jobs", "devices", "for each device"):
        rows.add_column(name, justify="left" if name == "queue" else "right")
    for name, queue in found["queues"].items():
        each = queue["seconds_per_device"]
        rows.add_row(
            name,
            moments.span(queue["seconds"]),
            moments.span(queue["blocked_seconds"]),
            str(sum(queue["jobs"].values())),
            str(queue["devices"]),
            "-" if each is None else moments.span(each),
        )
    output.people().print(rows)
