"""Pruning: what grows with time alone goes in small batches, each a transaction of its own.

Every method removes one batch and answers how much went; a caller repeats it until nothing does,
with a pause between. What runs, waits, or made a current video is never touched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from mangen.ledger import door

#: jobs of one batch; their events, attempts and files go with them
_TAKES = 200
_EVENTS = 2_000
_ROWS = 5_000


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """What one page of old events holds."""

    last: int | None  #: id of its last event; None: there is none
    more: bool  #: whether the next page may hold old ones too
    jobs: Sequence[int]  #: whose histories may be forgotten


class Pruning(door.Door):
    """The ledger's door for what nobody needs any more."""

    def find_old_takes(self, older_than_s: float, *, after: int = 0) -> Mapping[int, int]:
        """Job -> project of work that was replaced so long ago and that nothing needs, by id."""
        with self.statement() as conn:
            found = door.run(
                conn, "find_old_takes", older_than_s=float(older_than_s), after=after, limit=_TAKES
            )
            return {row.id: row.project for row in found}

    def condemn_takes(self, ids: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """Keep replaced work from being wanted again; answers the files of each that must go."""
        with self.transaction() as conn:
            found = door.run(conn, "condemn_takes", ids=list(ids))
            return {row.id: row.paths for row in found}

    def remove_takes(self, ids: Sequence[int]) -> int:
        """Remove condemned work with all that hangs on it, once its files are gone."""
        with self.transaction() as conn:
            return len(door.run(conn, "remove_takes", ids=list(ids)).all())

    def find_old_histories(self, older_than_s: float, *, after: int = 0) -> Page:
        """Look at the next events by age: which jobs' histories may be forgotten."""
        with self.statement() as conn:
            [row] = door.rows(
                conn,
                "find_old_histories",
                older_than_s=float(older_than_s),
                after=after,
                limit=_EVENTS,
            )
        return Page(**row)

    def forget_histories(self, ids: Sequence[int], older_than_s: float) -> int:
        """Remove all events of these jobs, where they are still settled so long."""
        with self.transaction() as conn:
            found = door.run(
                conn, "forget_histories", ids=list(ids), older_than_s=float(older_than_s)
            )
            return int(found.scalar_one())

    def prune_observations(self, keep: int) -> int:
        """Remove some of the oldest observations beyond so many."""
        with self.transaction() as conn:
            return len(door.run(conn, "prune_observations", keep=keep, limit=_ROWS).all())

    def prune_owners(self, older_than_s: float) -> int:
        """Remove some owners released so long ago, of whom no attempt tells."""
        with self.transaction() as conn:
            found = door.run(conn, "prune_owners", older_than_s=float(older_than_s), limit=_ROWS)
            return len(found.all())

    def prune_spent(self) -> int:
        """Remove some of what was spent on days that no budget asks about."""
        with self.transaction() as conn:
            return len(door.run(conn, "prune_spent", limit=_ROWS).all())
