"""What happened, as records one after the other: projects, jobs with their events, acts.

Read in pages, each one statement of its own: memory stays flat, no snapshot is held for long, and
the events of one job always fit its row.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mangen.ledger import door

#: of the records; it grows when a field changes its meaning or goes
FORMAT = 1
_PAGE = 500


class History(door.Door):
    """The ledger's door for whoever writes down what happened."""

    def history(
        self, projects: Sequence[int] | None = None, *, since: dt.datetime | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yield a `history` record, then those of kind project, job, event, attempt and act.

        `since`: only events, attempts and acts from then on, and jobs that have any.
        """
        asked = None if projects is None else list(projects)
        with self.statement() as conn:
            started = door.run(conn, "looked_at").scalar_one()
            found = door.rows(conn, "history_projects", projects=asked)
            last = door.run(conn, "history_end").scalar_one()
        yield {
            "kind": "history",
            "format": FORMAT,
            "at": started.isoformat(),
            "since": None if since is None else since.isoformat(),
            "projects": asked,
        }
        for row in found:
            yield {"kind": "project", **row["project"]}
        pages = self._pages("history_page", projects=asked, since=since, last=last)
        for row in pages:
            if since is not None and not row["events"] and not row["attempts"]:
                continue
            yield {"kind": "job", **row["job"]}
            for event in row["events"]:
                yield {"kind": "event", **event}
            for attempt in row["attempts"]:
                yield {"kind": "attempt", **attempt}
        for row in self._pages("history_acts", projects=asked, since=since):
            yield {"kind": "act", **row["act"]}

    def _pages(self, query: str, **values: Any) -> Iterator[Mapping[str, Any]]:
        after = 0
        while True:
            with self.statement() as conn:
                page = door.rows(conn, query, after=after, limit=_PAGE, **values)
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1]["id"]
