"""What commands print: JSON for programs, tables for people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
from rich import console, markup, progress_bar, table

from mangen.cli import moments

_F = TypeVar("_F", bound=Callable[..., Any])

#: state -> colour
_COLOURS = {
    "done": "green", "degraded": "yellow", "failed": "red", "paused": "yellow",
    "working": "cyan", "planning": "cyan", "cancelled": "yellow", "purging": "yellow",
}  # fmt: skip
_TOLD = 3  #: failures of a project that `status` tells; `failures` lists them all
SETTLED = frozenset({"done", "degraded", "failed", "cancelled", "planned"})
WIDE = 110  #: columns from which the overview has a bar and the stages
_BAR = 24
_LEAST = {"title": 6, "ready": 17}  #: columns: of `about 21:55-21:58`, the rest of it wraps
_DONE = ("done", "failed", "skipped", "cancelled")


def as_json(command: _F) -> _F:
    """Give a command `--json`, handed on as `json_`."""
    return click.option("--json", "json_", is_flag=True, help="Print JSON for programs.")(command)


def emit(value: Any) -> None:
    """Print one JSON value on one line."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))


def overview(statuses: Sequence[Mapping[str, Any]], width: int) -> table.Table:
    """One row a project: with a bar and its stages where `width` has room for both."""
    wide = width >= WIDE
    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in (
        "id", "title", "state", *(["progress", ""] if wide else ["made"]), "episodes", "ready",
        *(["at work on"] if wide else []), "failures",
    ):  # fmt: skip
        rows.add_column(
            name,
            no_wrap=name not in ("title", "at work on", "ready"),
            overflow="fold",
            min_width=_LEAST.get(name),
        )
    for one in statuses:
        ready = sum(episode["state"] in ("done", "degraded") for episode in one["episodes"])
        rows.add_row(
            str(one["id"]),
            markup.escape(one["title"]),
            state(one["state"]),
            *([progress_bar.ProgressBar(completed=one["progress"], total=1, width=_BAR)] * wide),
            percent(one["progress"]),
            f"{ready}/{len(one['episodes'])}",
            moments.ready(one),
            *([at_work(one["stages"])] * wide),
            str(len(one["failures"]) or ""),
        )
    return rows


def screen(statuses: Sequence[Mapping[str, Any]], width: int) -> console.Group:
    """The overview, and below it what a person should know."""
    return console.Group(overview(statuses, width), *stages(statuses, width), *notes(statuses))


def stages(statuses: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """What is at work, a line a project, where the overview has no room for it."""
    if width >= WIDE:
        return []
    told = [(one["id"], at_work(one["stages"])) for one in statuses]
    return [f"{number}: {words}" for number, words in told if words]


def notes(statuses: Sequence[Mapping[str, Any]]) -> list[str]:
    """Finished videos, what was replaced, failures and what waits, each with its reason."""
    lines: list[str] = []
    for one in statuses:
        for episode in one["episodes"]:
            if episode.get("video"):
                name = f"{one['id']}: episode {episode['no']}"
                lines.append(f"{name}: {markup.escape(str(episode['video']))}")
            if episode.get("replaced"):
                kept = markup.escape("; ".join(map(replaced, episode["replaced"])))
                lines.append(f"{one['id']}: episode {episode['no']}: replaced: {kept}")
            if episode.get("next"):
                lines.append(
                    f"{one['id']}: episode {episode['no']}: its next video: {episode['next']}"
                )
        lines += _withheld(one)
        for failure in one["failures"][:_TOLD]:
            what = f"{failure['stage']} {failure['subject']}"
            lines.append(
                f"{one['id']}: [red]failed[/]: {markup.escape(what)} "
                f"(attempt {failure['attempt']}): {markup.escape(str(failure['error']))}"
            )
        if one["failures"]:
            lines.append(
                f"{one['id']}: {len(one['failures'])} failed: "
                f"`manage.py failures {one['id']}` says what mends them"
            )
        for waiting in one["waiting"]:
            what = f"{waiting['stage']} {waiting['subject']}"
            lines.append(
                f"{one['id']}: [yellow]waits[/]: {markup.escape(what)} until "
                f"{waiting['until']}: {markup.escape(str(waiting['error']))}"
            )
    return lines


def _withheld(one: Mapping[str, Any]) -> list[str]:
    """What of a project may not begin: by quiet hours or a budget, and by people."""
    lines = []
    if one.get("withheld"):
        lines.append(f"{one['id']}: [yellow]withheld[/]: {markup.escape(one['withheld'])}")
    for path in one["held"]:
        name = path if path.startswith("job/") else f"{one['id']}/{path}"
        lines.append(f"{one['id']}: [yellow]paused[/]: {name}")
    return lines


def replaced(piece: Mapping[str, Any]) -> str:
    """What stands for a piece of an episode that could not be made, and why."""
    return f"{piece['what']} by {piece['by']} ({piece['why'] or 'no reason was recorded'})"


def line(one: Mapping[str, Any]) -> str:
    """One project in one line of plain text, for logs."""
    words = [f"{one['state']}", percent(one["progress"]), at_work(one["stages"])]
    return f"project {one['id']}: " + "  ".join(word for word in words if word)


def percent(share: float) -> str:
    """A share in per cent, rounded down: 100 % is only said of what is whole."""
    return f"{math.floor(share * 100)} %"


def state(word: str) -> str:
    """A state in its colour."""
    return f"[{_COLOURS.get(word, 'default')}]{word}[/]"


def at_work(stages: Mapping[str, Mapping[str, int]]) -> str:
    """Stages that are not through, as `voice 3/14`."""
    words = []
    for stage, counts in stages.items():
        total = sum(counts.values())
        settled = sum(counts.get(name, 0) for name in _DONE)
        if settled < total:
            words.append(f"{stage} {settled}/{total}")
    return ", ".join(words)


def people() -> console.Console:
    """A console for people; its width is the terminal's, and wide where there is none."""
    made = console.Console(highlight=False)
    return made if made.is_terminal else console.Console(highlight=False, width=160)
