"""The turn that foretells: when each project will be ready, and how much waits in each lane.

Whoever leads takes it every few seconds and writes rows, so that asking costs next to nothing,
however large the backlog and however often a scaler asks.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence

from mangen.dispatch import forecast, pace
from mangen.ledger import durations, foreseeing, jobs, ledger

EVERY_S = 10.0
#: older sums are counted anew by whoever asks: nobody leads
STALE_S = 120.0
#: after a longer gap between two looks the time between them says nothing of the pace
_GAP_S = 120.0


class Foresight:
    """Looks at all that is open, and writes what will become of it; remembers the devices' pace."""

    def __init__(self, *, lease_s: float, quantum_s: float, planning: str) -> None:
        self._lease_s, self._quantum_s, self._planning = lease_s, quantum_s, planning
        self._pace = pace.Pace()
        self._seen: int | None = None  # the last observation that was looked at
        self._before: tuple[dt.datetime, bool] | None = None  # the last look, did work wait then

    def turn(self, book: ledger.Ledger) -> int:
        """Look, foretell, write; answers how many projects have open jobs."""
        with book.transaction() as conn:
            work = book.open_work(conn)
            living = book.living_owners(conn)
            lessons = book.durations(conn)
            now = book.looked_at(conn)
            worked, self._seen = book.worked_since(conn, self._seen)
        self._keep_pace(now, work, living, worked)
        crew = pace.devices(living, lease_s=self._lease_s, pace=self._pace)
        learned = durations.Learned(lessons, devices={one.owner.device for one in living})
        told = forecast.foresee(
            work, learned, crew, now=now, quiet=book.times, quantum=self._quantum_s,
            planning=self._planning,
        )  # fmt: skip
        lanes = forecast.backlogs(work, learned)
        with book.transaction() as conn:
            book.write_forecasts(conn, told)
            book.write_backlogs(conn, lanes)
        return len(told)

    def _keep_pace(
        self,
        now: dt.datetime,
        work: Sequence[foreseeing.Work],
        living: Sequence[jobs.Living],
        worked: Mapping[str, float],
    ) -> None:
        """Where work waited from the last look to this one, see how much of the time was worked."""
        # more waits than the windows hold, or a device may have stood still for want of it
        waits = sum(one.jobs for one in work if one.state == "ready" and not one.held) > 0
        before, self._before = self._before, (now, waits)
        if before is None or not waits or not before[1]:
            return
        passed = (now - before[0]).total_seconds()
        if not 0 < passed <= _GAP_S:
            return
        kinds = collections.Counter(
            one.owner.device for one in living if one.silent_s <= self._lease_s
        )
        for kind, devices in kinds.items():
            self._pace.saw(kind, worked=worked.get(kind, 0.0), had=passed * devices)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """What waits now, by lane and state, and who is there for it."""

    lanes: tuple[foreseeing.Backlog, ...]
    devices: tuple[pace.Device, ...]
    age_s: float  #: since the lanes were counted


def waiting(book: ledger.Ledger, *, lease_s: float) -> Waiting:
    """Answer the backlog as it was counted last, or count it where nobody does or did of late."""
    with book.transaction() as conn:
        lanes, age_s = book.backlogs(conn)
        living = book.living_owners(conn)
        crew = pace.devices(living, lease_s=lease_s)
        # without a worker nobody will count again, and the last count may be from before its end
        if age_s is None or age_s > STALE_S or not crew:
            learned = durations.Learned(
                book.durations(conn), devices={one.owner.device for one in living}
            )
            lanes, age_s = forecast.backlogs(book.open_work(conn), learned), 0.0
    return Waiting(lanes=tuple(lanes), devices=tuple(crew), age_s=age_s)
