"""What a person can do about a dead job: one table, from the kind of failure to the mend. Pure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from mangen.ledger import failures, scope

_GIB = float(1 << 30)
_SETTING = re.compile(r"MANGEN_[A-Z_]+[A-Z]")
_REPORT = re.compile(r"; see (\S+)$")
_SHOT = re.compile(r"e(\d+)/s(\d+)(?:/l(\d+))?")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of failure: how it is told from others, and its mend."""

    name: str
    fits: Callable[[failures.Dead], bool]
    mend: Callable[[failures.Dead], str]


def name_of(dead: failures.Dead) -> str:
    """What a job is, in words: `ep 3 shot 12 line 2, voice`."""
    found = _SHOT.fullmatch(dead.subject)
    if found is not None:
        words = f"ep {found[1]} shot {found[2]}" + (f" line {found[3]}" if found[3] else "")
    elif re.fullmatch(r"e\d+", dead.subject):
        words = f"ep {dead.subject[1:]}"
    elif dead.subject.startswith("c/"):
        name, _, engine = dead.subject[2:].partition("@")
        words = f"character {name}" + (f" by {engine}" if engine else "")
    elif dead.subject.startswith("clip/"):
        words = f"clip {dead.subject[5:]}"
    else:
        words = dead.subject
    return words if words == dead.stage else f"{words}, {dead.stage}"


def scope_of(dead: failures.Dead) -> str:
    """The scope of a job, as commands take it."""
    found = _SHOT.fullmatch(dead.subject)
    if found is not None:
        return str(scope.Scope(project=dead.project, path=f"e{found[1]}/s{found[2]}"))
    if re.fullmatch(r"e\d+", dead.subject):
        return str(scope.Scope(project=dead.project, path=dead.subject))
    return f"job/{dead.job}"


def report_of(dead: failures.Dead) -> str:
    """The file about the end of the process that had it; empty: there is none."""
    found = _REPORT.search(dead.error)
    return found[1] if found else ""


def of(dead: failures.Dead) -> tuple[str, str]:
    """The name of its kind of failure, and the mend."""
    kind = next(kind for kind in KINDS if kind.fits(dead))
    return kind.name, kind.mend(dead)


def _retry(dead: failures.Dead) -> str:
    return f"`manage.py retry {scope_of(dead)}`"


def _never_fits(dead: failures.Dead) -> str:
    return (
        f"it needs {dead.peak_bytes / _GIB:.1f} GiB beside its model, more than "
        f"{', '.join(dead.excluded) or 'any device here'} has: start a worker on a larger device "
        f"(MANGEN_DEVICES, MANGEN_CPU_MEMORY_GIB), then {_retry(dead)}; or make the project anew "
        "with a smaller --width and --height"
    )


def _setting(dead: failures.Dead) -> str:
    names = " and ".join(dict.fromkeys(_SETTING.findall(dead.error)))
    return f"set {names} as the error says, restart the workers, then {_retry(dead)}"


def _lost(dead: failures.Dead) -> str:
    report = report_of(dead)
    first = f"read {report}" if report else "read the workers' logs of that time"
    return (
        f"its process died under it {dead.failures} times, alone: {first}; a device that does so "
        f"with other work too is broken (`manage.py doctor`); then {_retry(dead)}"
    )


#: the first that fits counts
KINDS = (
    Kind(
        name="never fits",
        fits=lambda dead: dead.error.startswith("larger than every registered device"),
        mend=_never_fits,
    ),
    Kind(
        name="lost file",
        fits=lambda dead: "has no file" in dead.error or "no whole picture" in dead.error,
        mend=lambda dead: f"`manage.py rescue --deep` makes lost files anew, then {_retry(dead)}",
    ),
    Kind(
        name="too much replaced",
        fits=lambda dead: dead.stage == "assemble" and " pieces failed" in dead.error,
        mend=lambda dead: (
            "mend what failed in its shots (it is listed here too), then "
            f"{_retry(dead)}: what is done stays"
        ),
    ),
    Kind(
        name="too long",
        fits=lambda dead: "time limit" in dead.error or (
            dead.kind == "lost" and "reports" in report_of(dead)
        ),
        mend=lambda dead: (
            f"{f'read {report_of(dead)}; ' if report_of(dead) else ''}where it only is slow raise "
            "MANGEN_HARD_LIMIT_FACTOR or MANGEN_HARD_LIMIT_MIN_S and restart the workers; then "
            f"{_retry(dead)}"
        ),
    ),
    Kind(name="setting", fits=lambda dead: bool(_SETTING.search(dead.error)), mend=_setting),
    Kind(name="lost", fits=lambda dead: dead.kind == "lost", mend=_lost),
    Kind(
        name="permanent",
        fits=lambda dead: dead.kind == "permanent",
        mend=lambda dead: (
            "the same input fails again: change it"
            + (
                f" (`manage.py retake {scope_of(dead)} --prompt ...`)"
                if _SHOT.fullmatch(dead.subject)
                else ""
            )
            + f" or mend the cause that the error names, then {_retry(dead)}"
        ),
    ),
    Kind(
        name="transient",
        fits=lambda _dead: True,
        mend=lambda dead: (
            f"it failed {dead.failures} times, each time in a way that may pass: when the cause "
            f"has, {_retry(dead)}"
        ),
    ),
)  # fmt: skip
#: of what waits for room, and goes on by itself
ROOM = (
    "free some disk under MANGEN_HOME and MANGEN_ARTIFACTS, or memory of the machine: it goes on "
    "by itself within five minutes"
)
#: of errors that name another mend: packages, the registry of models, their folders
_TELLING = (
    "is not installed", "the registry ", "models add", "is not there", "is not whole",
    "get this file again",
)  # fmt: skip
_TOLD = "do what the error says: it goes on by itself within five minutes"


def waiting(error: str) -> str:
    """The mend of what waits and is not charged."""
    return _TOLD if any(words in error for words in _TELLING) else ROOM
