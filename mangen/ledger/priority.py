"""Priority: a project's class, its weight among others, and its budget of a day."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from mangen import errors
from mangen.ledger import door, projects

CLASSES = {"high": 0, "mid": 1, "low": 2}
#: beyond it, one turn would put a lane's clock where single seconds no longer count
_HEAVIEST = 1e6


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Withheld:
    """Why nothing of a project begins just now."""

    quiet: bool  #: quiet hours, and the project isn't urgent
    budget: float | None  #: seconds a day on the gpu queues; None: no limit
    spent: float  #: of it, today


class Priority(door.Door):
    """The ledger's door for what one project is worth beside others.

    Each is one transaction's part, and raises UnknownProject. Repeating it changes nothing.
    """

    def set_class(self, conn: sa.Connection, project: int, klass: int) -> int:
        """Make a project high (0), mid (1) or low (2); answers how many of its jobs moved.

        High: all its jobs go to class 0, and those of the gpu queues to gpu.high. Low: one class
        and one gpu queue lower than planned. What is not done follows, from where it was planned.
        """
        if klass not in CLASSES.values():
            raise errors.UsageError(f"there is no class {klass}: 0 is high, 1 mid, 2 low")
        self._of(conn, "set_class", project, klass=klass)
        return len(door.run(conn, "move_jobs", project=project).all())

    def set_weight(self, conn: sa.Connection, project: int, weight: float) -> None:
        """Let a project have `weight` times the share of one with weight 1."""
        if not 1 / _HEAVIEST <= weight <= _HEAVIEST:  # NaN is refused by this, too
            raise errors.UsageError(
                f"a weight must be from {1 / _HEAVIEST:g} to {_HEAVIEST:g}, not {weight}"
            )
        self._of(conn, "set_weight", project, weight=float(weight))

    def set_budget(self, conn: sa.Connection, project: int, seconds: float | None) -> None:
        """Bound what a project uses of the gpu queues a day, in seconds of a device; None: not."""
        if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
            raise errors.UsageError(f"a budget must be 0 or more seconds a day, not {seconds}")
        budget = None if seconds is None else float(seconds)
        self._of(conn, "set_budget", project, budget=budget)

    def withheld(
        self, conn: sa.Connection, ids: Sequence[int] | None = None
    ) -> Mapping[int, Withheld]:
        """Projects that quiet hours or a spent budget keep from beginning anything now."""
        wanted = None if ids is None else list(ids)
        found = door.run(conn, "withheld", ids=wanted, **self.times.values)
        return {
            row.id: Withheld(quiet=row.quiet, budget=row.budget, spent=row.spent) for row in found
        }

    def _of(self, conn: sa.Connection, query: str, project: int, **values: object) -> None:
        if not door.run(conn, query, project=project, **values).all():
            raise projects.unknown(project)
