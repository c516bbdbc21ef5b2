"""The turn that foretells: when each project will be ready, and how much waits in each lane.

Whoever leads takes it every few seconds and writes rows, so that asking costs next to nothing,
however large the backlog and however often a scaler asks.
"""

from __future__ import annotations

import dataclasses

from mangen.dispatch import forecast
from mangen.ledger import durations, foreseeing, ledger

EVERY_S = 10.0
#: older sums are counted anew by whoever asks: nobody leads
STALE_S = 120.0


class Foresight:
    """Looks at all that is open, and writes what will become of it."""

    def __init__(
        self, book: ledger.Ledger, *, lease_s: float, quantum_s: float, planning: str
    ) -> None:
        self._book, self._lease_s = book, lease_s
        self._quantum_s, self._planning = quantum_s, planning

    def turn(self) -> int:
        """Look, foretell, write; answers how many projects have open jobs."""
        with self._book.transaction() as conn:
            work = self._book.open_work(conn)
            living = self._book.living_owners(conn)
            lessons = self._book.durations(conn)
            now = self._book.looked_at(conn)
        crew = forecast.devices(living, lease_s=self._lease_s)
        learned = durations.Learned(lessons, devices={one.owner.device for one in living})
        told = forecast.foresee(
            work, learned, crew, now=now, quiet=self._book.times, quantum=self._quantum_s,
            planning=self._planning,
        )  # fmt: skip
        lanes = forecast.backlogs(work, learned)
        with self._book.transaction() as conn:
            self._book.write_forecasts(conn, told)
            self._book.write_backlogs(conn, lanes)
        return len(told)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """What waits now, by lane and state, and who is there for it."""

    lanes: tuple[foreseeing.Backlog, ...]
    devices: tuple[forecast.Device, ...]
    age_s: float  #: since the lanes were counted


def waiting(book: ledger.Ledger, *, lease_s: float) -> Waiting:
    """Answer the backlog as it was counted last, or count it where nobody did of late."""
    with book.transaction() as conn:
        lanes, age_s = book.backlogs(conn)
        living = book.living_owners(conn)
        if age_s is None or age_s > STALE_S:
            learned = durations.Learned(
                book.durations(conn), devices={one.owner.device for one in living}
            )
            lanes, age_s = forecast.backlogs(book.open_work(conn), learned), 0.0
    crew = forecast.devices(living, lease_s=lease_s)
    return Waiting(lanes=tuple(lanes), devices=tuple(crew), age_s=age_s)
