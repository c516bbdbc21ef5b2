"""A scope: which part of the work a person's command means."""

from __future__ import annotations

import dataclasses
import re

from mangen import errors

ALL = "all"
_WORDS = re.compile(
    r"(?P<project>[1-9][0-9]{0,17})(?P<path>/e[1-9][0-9]{0,5}(?:/s[1-9][0-9]{0,5})?)?"
    r"|job/(?P<job>[1-9][0-9]{0,17})"
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """A project, an episode or a shot of it, one job, or all projects.

    `path` is empty for a whole project, `eN`, `eN/sN`, `job/ID` or `all`: what a job's subject
    begins with. `project` is None for all projects, and for a job that was not looked up yet.
    """

    project: int | None
    path: str = ""

    @property
    def job(self) -> int | None:
        """The id of the one job that is meant."""
        return int(self.path[4:]) if self.path.startswith("job/") else None

    @property
    def episode(self) -> int | None:
        """The number of the episode that is meant, wholly or in part."""
        return int(self.path.split("/")[0][1:]) if self.path.startswith("e") else None

    @property
    def shot(self) -> int | None:
        """The number of the shot that is meant."""
        return int(self.path.split("/s")[1]) if "/s" in self.path else None

    def __str__(self) -> str:
        if self.path == ALL or self.job is not None:
            return self.path
        return f"{self.project}/{self.path}" if self.path else str(self.project)


def parse(words: str | int) -> Scope:
    """Read `12`, `12/e3`, `12/e3/s7`, `job/4711` or `all`; raises UsageError."""
    text = str(words).strip()
    if text == ALL:
        return Scope(project=None, path=ALL)
    found = _WORDS.fullmatch(text)
    if found is None:
        raise errors.UsageError(
            f"{text!r} names nothing: write a project as 12, an episode as 12/e3, a shot as "
            "12/e3/s7, a job as job/4711, or all"
        )
    if found["job"]:
        return Scope(project=None, path=text)
    return Scope(project=int(found["project"]), path=(found["path"] or "").removeprefix("/"))
