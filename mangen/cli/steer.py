"""pause, resume, cancel, priority, retry, purge, acts: steering work while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click
from rich import markup, table

from mangen import errors
from mangen.cli import moments, numbers, output

_F = TypeVar("_F", bound=Callable[..., Any])
_CLASSES = ("high", "mid", "low")


def scoped(command: _F) -> _F:
    """Give a command its scopes, `--by` and `--json`."""
    command = output.as_json(command)
    command = click.option("--by", help="Who asks, for the record; by default the user's name.")(
        command
    )
    return click.argument("scopes", nargs=-1, required=True, metavar="SCOPE...")(command)


def jobs(number: int) -> str:
    """So many jobs, in words."""
    return "1 job" if number == 1 else f"{number} jobs"


def tell(answers: Sequence[Mapping[str, Any]], *, json_: bool, words: Callable[[Any], str]) -> None:
    """Print what an act did to each scope."""
    if json_:
        output.emit(answers)
        return
    for answer in answers:
        click.echo(f"{answer['scope']}: {words(answer)}")


@click.command()
@scoped
def pause(*, scopes: Sequence[str], by: str | None, json_: bool) -> None:
    """Let nothing of a scope begin any more; what runs ends.

    A scope is a project (12), an episode (12/e3), a shot (12/e3/s7), a job (job/4711), or all. A
    pause stands until just that scope is resumed.
    """
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    tell(
        control.pause(*scopes, by=by),
        json_=json_,
        words=lambda one: "paused" if one["changed"] else "it was paused before",
    )


@click.command()
@scoped
def resume(*, scopes: Sequence[str], by: str | None, json_: bool) -> None:
    """Lift the pause of a project, episode, shot, job or of all; names the pauses that stay."""
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    def words(one: Mapping[str, Any]) -> str:
        said = "goes on" if one["changed"] else "there was no such pause"
        still = one.get("still", ())
        return f"{said}; still paused: {', '.join(still)}" if still else said

    tell(control.resume(*scopes, by=by), json_=json_, words=words)


@click.command()
@scoped
def cancel(*, scopes: Sequence[str], by: str | None, json_: bool) -> None:
    """End what is open of a project, episode, shot or job; running work stops at its next step.

    An episode without a cancelled shot is finished all the same, with the picture beside it.
    `retry` and `submit` bring back what was cancelled.
    """
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    def words(one: Mapping[str, Any]) -> str:
        if not one["changed"]:
            return "nothing was open"
        running = f", {one['stopping']} more stop now" if one["stopping"] else ""
        return f"{jobs(one['cancelled'])} cancelled{running}"

    tell(control.cancel(*scopes, by=by), json_=json_, words=words)


@click.command()
@scoped
@click.option("--weight", type=float, help="Its share beside projects of weight 1.")
@click.option(
    "--budget", type=float, metavar="S", help="Seconds a day on the gpu queues; -1: no limit."
)
def priority(
    *,
    scopes: Sequence[str],
    weight: float | None,
    budget: float | None,
    by: str | None,
    json_: bool,
) -> None:
    """Change what a project is worth beside others: `priority 12 high`, or mid, or low.

    Episodes, shots and jobs have a class too: what of them is not done moves to it.
    """
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    def words(one: Mapping[str, Any]) -> str:
        found = [
            f"{name} {_worth(one[name])}" for name in ("class", "weight", "budget") if name in one
        ]
        return ", ".join(found) or "it was so before"

    strange = [word for word in scopes if word.isalpha() and word not in _CLASSES]
    if strange:
        raise errors.UsageError(
            f"{strange[0]!r} is neither a class nor a scope: write high, mid or low beside what it "
            "is for, as `priority 12 high`"
        )
    classes = [word for word in scopes if word in _CLASSES]
    if len(classes) > 1:
        raise errors.UsageError(f"one of high, mid and low, not {' and '.join(classes)}")
    answers = control.set_priority(
        *(word for word in scopes if word not in _CLASSES),
        klass=classes[0] if classes else None,
        weight=weight,
        budget=budget,
        by=by,
    )
    tell(answers, json_=json_, words=words)


@click.command()
@scoped
def retry(*, scopes: Sequence[str], by: str | None, json_: bool) -> None:
    """Give what failed, was skipped or cancelled of a project, episode, shot or job another chance.

    A finished, degraded episode is assembled again with what this mends.
    """
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    tell(
        control.retry(*scopes, by=by),
        json_=json_,
        words=lambda one: (
            f"{jobs(one['jobs'])} tried again" if one["changed"] else "nothing had failed"
        ),
    )


@click.command()
@scoped
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--wait", "wait_s", type=float, default=60.0, show_default=True, metavar="S",
    help="Seconds to wait for running work to stop.",
)  # fmt: skip
def purge(*, scopes: Sequence[str], yes: bool, wait_s: float, by: str | None, json_: bool) -> None:
    """Remove projects for good: texts, jobs, videos. Only the record of acts stays."""
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    if not yes:
        click.confirm(
            f"remove {', '.join(scopes)} with all videos, for good?", abort=True, err=True
        )

    def words(one: Mapping[str, Any]) -> str:
        if one["removed"]:
            return "removed" if one["changed"] else "it was removed"
        return f"{jobs(one['running'])} still at work; stopped, any worker removes the rest"

    tell(control.purge(*scopes, by=by, timeout_s=wait_s), json_=json_, words=words)


@click.command()
@click.argument("projects", nargs=-1, type=numbers.PROJECT, metavar="[ID]...")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@output.as_json
def acts(*, projects: Sequence[int], limit: int, json_: bool) -> None:
    """Show who asked for what, the newest first; purged projects too."""
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    found = control.acts(*projects, limit=limit)
    if json_:
        output.emit(found)
        return
    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in ("at", "by", "what", "scope", "detail"):
        rows.add_column(name)
    for one in found:
        where = "/".join(str(word) for word in (one["project"], one["scope"]) if word)
        detail = ", ".join(_details(one["detail"]))
        rows.add_row(
            moments.moment(one["at"]), markup.escape(one["by"]), one["verb"], where,
            markup.escape(detail),
        )  # fmt: skip
    output.people().print(rows)


def _worth(value: Any) -> str:
    """A class, a weight or a budget."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _details(detail: Mapping[str, Any]) -> Iterator[str]:
    """What a record says, in words: no count of nothing, and `[from, to]` as an arrow."""
    for key, value in detail.items():
        name = key.replace("_", " ")
        if value in ("", [], {}) or (isinstance(value, int) and not value):
            continue
        if value is None:
            yield f"{name} {'all' if key == 'episodes' else 'none'}"
        elif not isinstance(value, list):
            yield f"{name} {value}"
        elif all(isinstance(one, Mapping) for one in value):
            yield from ("; ".join(_changes(one)) for one in value)
        else:
            yield f"{name} {', '.join(map(str, value))}"


def _changes(one: Mapping[str, Any]) -> Iterator[str]:
    for key, value in one.items():
        pair = isinstance(value, list) and len(value) == 2  # what was, what is
        told = [", ".join(filter(None, map(str, side))) if isinstance(side, list) else str(side)
                for side in (value if pair else [value])]  # fmt: skip
        yield f"{key} {' → '.join(told).strip()}"
