"""trace: from a video, a shot or a job back to every attempt behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich import markup, tree

from mangen.cli import moments, output, parts

_ACTS = 5  #: the latest, in a summary
_CLOSING = "assemble"  #: the stage of a whole video
_COLOURS = {"done": "green", "failed": "red", "cancelled": "yellow", "skipped": "yellow"}


@click.command()
@click.argument("what", metavar="SCOPE|FILE")
@click.option("--full", is_flag=True, help="Of a video, too, each job with all its attempts.")
@output.as_json
def trace(*, what: str, full: bool, json_: bool) -> None:
    """Show where something came from: jobs, attempts, seeds, versions, devices, waits.

    A scope is an episode (12/e3: its current video), a shot (12/e3/s7) or a job (job/4711); a file
    is a stored or an exported one. Of a video a line for each shot; of less, and with --full, all.
    """
    from mangen import insight  # noqa: PLC0415 - lazy: --help must not load the ledger

    found = insight.trace(what)
    if json_:
        output.emit(found)
        return
    people = output.people()
    jobs = {job["id"]: job for job in found["jobs"]}
    if not full and any(jobs[root]["stage"] == _CLOSING for root in found["roots"]):
        for line in _head(found, acts=_ACTS):
            people.print(line, soft_wrap=True)
        people.print(parts.lines(found))
        click.echo(f"more: `trace {found['project']['id']}/eN/sN` of a shot, `--full` of all")
        return
    shown: set[int] = set()
    for line in _head(found):
        people.print(line, soft_wrap=True)
    for root in found["roots"]:
        if root not in shown:
            people.print(_branch(root, jobs, shown, None))


def _head(found: Mapping[str, Any], *, acts: int | None = None) -> list[str]:
    """What it is; what people did to it, the latest `acts` of it; and the sums."""
    title = markup.escape(found["project"]["title"])
    lines = [f"project {found['project']['id']}, {title}"]
    video = found["video"]
    if video is not None:
        age = "" if video["current"] else ", replaced since by a newer one"
        lines.append(f"episode {video['episode']}: {markup.escape(video['path'])}{age}")
        lines.append(f"sha256 {video['sha256']}")
        lines += [
            f"[yellow]replaced[/]: {markup.escape(output.replaced(one))}"
            for one in video["replaced"] or ()
        ]
    if found["same_bytes"]:
        also = ", ".join(f"job/{job}" for job in found["same_bytes"])
        lines.append(f"the same bytes were made by {also}")
    told = found["acts"][:acts]
    if len(told) < len(found["acts"]):
        lines.append(f"{len(found['acts']) - len(told)} earlier acts")
    lines += [
        f"{moments.moment(act['at'])} {markup.escape(act['by'])}: "
        f"{act['verb']} {markup.escape(act['scope'])}".rstrip()
        for act in reversed(told)
    ]
    seconds = found["totals"]["seconds"]
    ends = ", ".join(f"{n} {outcome}" for outcome, n in found["totals"]["attempts"].items())
    ran = moments.span(seconds.get("running", 0))
    lines.append(f"{len(found['jobs'])} jobs; attempts: {ends or 'none'}; they ran for {ran}")
    if cached := ", ".join(f"{n} {name}" for name, n in found["totals"]["cache"].items()):
        lines.append(f"cache: {cached.replace('voices_cached', 'voices')}")
    return lines


def _branch(
    number: int, jobs: Mapping[int, Any], shown: set[int], above: tree.Tree | None
) -> tree.Tree:
    """A job with its attempts, and below it what it needed; each job once."""
    job = jobs[number]
    state = f"[{_COLOURS.get(job['state'], 'cyan')}]{job['state']}[/]"
    name = f"[bold]{job['stage']}[/] {markup.escape(job['subject'])} job/{number} {state}"
    if number in shown:
        name += " (above)"
    own = above.add(name) if above is not None else tree.Tree(name)
    if number in shown:
        return own
    shown.add(number)
    for line in _made(job):
        own.add(line)
    for attempt in job["attempts"]:
        own.add(_attempt(attempt))
    for need in job["needs"]:
        _branch(need, jobs, shown, own)
    return own


def _made(job: Mapping[str, Any]) -> list[str]:
    lines = []
    if job["earlier"]:
        took = ", ".join(f"job/{one}" for one in job["earlier"])
        lines.append(f"in the place of {took}")
    if job["error"] and job["state"] != "done":
        lines.append(f"[red]{markup.escape(str(job['error']).splitlines()[0])}[/]")
    return [*lines, *_noted(job)]


def _noted(job: Mapping[str, Any]) -> list[str]:
    """How well models drew what counts today, and what they could not be told."""
    meta = parts.drawn(job)
    if meta is None:
        return []
    notes = meta.get("notes", {})
    words = [f"quality {meta['quality']}"]
    if notes.get("steps"):
        words.append(f"{notes['steps']} steps")
    if notes.get("tokens_left_out"):
        words.append(f"[yellow]{notes['tokens_left_out']} tokens of its prompt left out[/]")
    if notes.get("untranslated"):
        left = ", ".join(map(str, notes["untranslated"]))
        words.append(f"[yellow]not told, in no wordbook[/]: {markup.escape(left)}")
    return ["; ".join(words)]


def _attempt(attempt: Mapping[str, Any]) -> str:
    """One attempt in a few lines: how it ended, where and how long; by what; what went wrong."""
    where = f"{attempt['device']} ({markup.escape(attempt['owner'])})"
    first = [f"attempt {attempt['attempt']}: {attempt['outcome'] or 'running'} on {where}"]
    if waits := attempt["waits"]:
        first.append(f"ran {waits['running']:.1f} s, waited {_waited(waits)}")
    if attempt["loading_seconds"]:
        first.append(f"models loaded for {attempt['loading_seconds']:.1f} s of it")
    lines = ["; ".join(first), "; ".join(_by_what(attempt))]
    if attempt["error"]:
        lines.append(f"[red]{markup.escape(attempt['error'].splitlines()[0])}[/]")
    return "\n".join(line for line in lines if line)


def _by_what(attempt: Mapping[str, Any]) -> list[str]:
    words = []
    if attempt["engine"]:
        words.append(f"{attempt['engine']} {attempt['engine_version']}")
        if attempt["model"]:
            words.append(f"model {markup.escape(attempt['model'])} {attempt['model_version']}")
    if attempt["seed"] is not None:
        words.append(f"seed {attempt['seed']}")
    together = attempt["together"] or attempt["members"]
    if together > 1:
        words.append(f"in a batch of {together} ({attempt['session']})")
    if attempt["peak"]:
        words.append(f"peak {attempt['peak'] / 2**20:.0f} MiB")
    cached = {name: n for name, n in (attempt["cache"] or {}).items() if n}
    if cached:
        words.append("cache " + ", ".join(f"{n} {name}" for name, n in cached.items()))
    return words


def _waited(waits: Mapping[str, float]) -> str:
    parts = [
        f"{waits[name]:.1f} s {word}"
        for name, word in (
            ("blocked", "for others"),
            ("ready", "for its turn"),
            ("published", "in the window"),
        )
        if waits[name] >= 0.05
    ]
    return " + ".join(parts) or "nothing"
