"""What is left to do, and what was foretold of it."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from mangen.ledger import door


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Open jobs of one project that are alike; seconds are as planned, less what is done."""

    project: int
    klass: int  #: of the project
    weight: float
    queue: str
    lane: int  #: class of the jobs
    state: str
    stage: str
    bucket: str
    model: str
    held: bool  #: paused, or its project is closed
    jobs: int
    seconds: float
    squares: float  #: sum of squared seconds
    longest: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """When a project will be ready; where nobody can tell, `why` says so."""

    project: int
    jobs: int
    seconds: float  #: that devices will spend on it
    low: dt.datetime | None = None
    eta: dt.datetime | None = None
    high: dt.datetime | None = None
    why: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """Open work of one lane, in one state."""

    queue: str
    lane: int  #: class
    state: str
    jobs: int
    seconds: float  #: foretold
    age_s: float = 0.0  #: since it was counted


class Foreseeing(door.Door):
    """The ledger's door for whoever foretells."""

    def open_work(self, conn: sa.Connection) -> Sequence[Work]:
        """All that is open, by project and kind: as costly as there are open jobs."""
        return [Work(**row) for row in door.rows(conn, "open_work")]

    def worked_since(
        self, conn: sa.Connection, after: int | None
    ) -> tuple[Mapping[str, float], int]:
        """Kind of device -> seconds of work that were told since, and where to go on from.

        None: from now on.
        """
        if after is None:
            return {}, int(door.run(conn, "last_observation").scalar_one())
        found = door.run(conn, "worked_since", after=after).all()
        return {row.device: row.seconds for row in found}, max([after, *(r.last for r in found)])

    def looked_at(self, conn: sa.Connection) -> dt.datetime:
        """The time of the database."""
        found: dt.datetime = door.run(conn, "looked_at").scalar_one()
        return found

    def write_forecasts(self, conn: sa.Connection, told: Sequence[Forecast]) -> None:
        """Replace what was foretold; projects without a forecast have nothing open."""
        door.run(
            conn,
            "write_forecasts",
            projects=[one.project for one in told],
            jobs=[one.jobs for one in told],
            seconds=[one.seconds for one in told],
            low=[one.low for one in told],
            eta=[one.eta for one in told],
            high=[one.high for one in told],
            why=[one.why for one in told],
        )

    def write_backlogs(self, conn: sa.Connection, lanes: Sequence[Backlog]) -> None:
        """Replace the sums of open work."""
        counted = [*lanes, Backlog(queue="", lane=0, state="", jobs=0, seconds=0.0)]
        door.run(conn, "clear_backlogs")
        door.run(
            conn,
            "write_backlogs",
            queues=[one.queue for one in counted],
            lanes=[one.lane for one in counted],
            states=[one.state for one in counted],
            jobs=[one.jobs for one in counted],
            seconds=[one.seconds for one in counted],
        )

    def backlogs(self, conn: sa.Connection) -> tuple[Sequence[Backlog], float | None]:
        """The sums that were counted last, and how many seconds ago; None: never."""
        found = [
            Backlog(lane=row.pop("class"), **row) for row in map(dict, door.rows(conn, "backlogs"))
        ]
        ages = [one.age_s for one in found]
        return [one for one in found if one.queue], max(ages, default=None)
