"""The summary of a trace: a line for each part of a video, however many jobs made it."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich import markup, table

from mangen.cli import moments, output

#: the state of a part is the first of these that one of its jobs has
_WORST = ("failed", "cancelled", "skipped", "running", "published", "ready", "blocked", "done")
#: notes of what a model could not be told
_UNTOLD = ("tokens_left_out", "untranslated")
_MINUTE = 60.0
_NUMBERS = re.compile(r"\d+")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """All that was done for a character, a shot, or the episode itself."""

    name: str  #: c/NAME, eN/sN, eN
    state: str
    jobs: int
    attempts: int
    ends: Mapping[str, int]  #: of the attempts that were not done, by outcome
    seconds: float  #: that its attempts ran
    where: Sequence[str]  #: workers, each with the kind of its device
    by: Sequence[str]  #: the models that drew or spoke it
    hits: int  #: of the feature cache, of `looks`; a batch's count for all its members
    looks: int
    voices: int  #: lines that had been spoken before
    notes: Sequence[str]


def parts(found: Mapping[str, Any]) -> list[Part]:
    """The parts of a trace: characters, then shots in their order, then what closes it."""
    jobs: dict[str, list[Mapping[str, Any]]] = {}
    for job in found["jobs"]:
        jobs.setdefault(_name(job["subject"]), []).append(job)
    return [_part(name, jobs[name]) for name in sorted(jobs, key=_place)]


def lines(found: Mapping[str, Any]) -> table.Table:
    """The parts as a table for people."""
    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in ("part", "state", "attempts", "ran", "worker", "by", "cache", ""):
        rows.add_column(name, no_wrap=name in ("part", "state", "ran"), overflow="fold")
    for one in parts(found):
        rows.add_row(
            markup.escape(one.name),
            output.state(one.state),
            _attempts(one),
            _long(one),
            markup.escape(", ".join(one.where)),
            markup.escape(", ".join(one.by)),
            _cached(one),
            markup.escape("; ".join(one.notes)),
        )
    return rows


def drawn(job: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What is noted about the picture or clip that counts today; None of what no model drew."""
    if not job["attempts"]:
        return None
    last = job["attempts"][-1]["attempt"]
    metas = [one["meta"] for one in job["artifacts"] if one["attempt"] == last]
    return next((one for one in metas if one.get("quality")), None)


def _name(subject: str) -> str:
    """What part a job's subject is of: a line is of its shot."""
    return "/".join(subject.split("/")[:2])


def _place(name: str) -> tuple[int, list[int], str]:
    kind = 0 if name.startswith("c/") else 2 if "/" not in name else 1
    return kind, [int(digits) for digits in _NUMBERS.findall(name)] if kind == 1 else [], name


def _part(name: str, jobs: Sequence[Mapping[str, Any]]) -> Part:
    attempts = [attempt for job in jobs for attempt in job["attempts"]]
    states = {job["state"] for job in jobs}
    sessions = {
        one["session"] or (one["owner"], one["started_at"]): one["cache"] or {} for one in attempts
    }
    hits = sum(cache.get("hits", 0) for cache in sessions.values())
    return Part(
        name=name,
        state=next(state for state in _WORST if state in states),
        jobs=len(jobs),
        attempts=len(attempts),
        ends=collections.Counter(
            one["outcome"] or "running" for one in attempts if one["outcome"] != "done"
        ),
        seconds=sum(map(_ran, attempts)),
        where=sorted({f"{one['worker'] or one['owner']} {one['device']}" for one in attempts}),
        by=sorted({one["model"] or one["engine"] for one in attempts if one["engine"]}),
        hits=hits,
        looks=hits + sum(cache.get("misses", 0) for cache in sessions.values()),
        voices=sum(bool(one["made"].get("cached")) for one in attempts),
        notes=_notes(jobs),
    )


def _ran(attempt: Mapping[str, Any]) -> float:
    if attempt["ended_at"] is None:
        return 0.0
    began, ended = (dt.datetime.fromisoformat(attempt[n]) for n in ("started_at", "ended_at"))
    return (ended - began).total_seconds()


def _notes(jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What went wrong, how well it was drawn, and how often it was done anew."""
    wrong = [
        f"{job['stage']}: {str(job['error']).splitlines()[0]}"
        for job in jobs
        if job["error"] and job["state"] != "done"
    ]
    told = [meta for meta in map(drawn, jobs) if meta is not None]
    marks = [f"quality {quality}" for quality in sorted({meta["quality"] for meta in told})]
    if any(meta.get("notes", {}).get(name) for meta in told for name in _UNTOLD):
        marks.append("not all of its prompt was told")
    takes = max(len(job["earlier"]) for job in jobs)
    return [*wrong, *marks, *([f"take {takes + 1}"] if takes else [])]


def _long(one: Part) -> str:
    if not one.attempts:
        return ""
    return f"{one.seconds:.1f} s" if one.seconds < _MINUTE else moments.span(one.seconds)


def _attempts(one: Part) -> str:
    ends = ", ".join(f"{n} {outcome}" for outcome, n in one.ends.items())
    return f"{one.attempts} ({ends})" if ends else str(one.attempts)


def _cached(one: Part) -> str:
    words = [f"{one.hits} of {one.looks}"] if one.looks else []
    if one.voices:
        words.append(f"{one.voices} voices" if one.voices > 1 else "1 voice")
    return ", ".join(words)
