"""Recorded histories, replayed through the table of transitions. Pure.

A history is records, each a mapping with a `kind`. Those of a job come together, and these count
here: `job` with the state that its row had, then its `event`s in order of id. Other kinds pass.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mangen.ledger import states


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """What can't have happened."""

    job: int
    event: int | None
    what: str

    def __str__(self) -> str:
        place = f"event {self.event} of job {self.job}" if self.event else f"job {self.job}"
        return f"{place}: {self.what}"


@dataclasses.dataclass(slots=True)
class _Life:
    job: int
    row: str | None  #: where the row stood when it was written down
    state: str | None = None
    attempt: int = 0
    event: int = 0
    begun: bool = False
    finished: bool = False


@dataclasses.dataclass(slots=True)
class Replay:
    """Feed it records in their order; afterwards `jobs` and `events` say how many it saw.

    `whole`: histories begin where their jobs were inserted, or revived after they were pruned.
    Otherwise the first event of each job is taken at its word.
    """

    whole: bool = True
    jobs: int = 0
    events: int = 0
    _life: _Life | None = None

    def feed(self, record: Mapping[str, Any]) -> Iterator[Fault]:
        """Take one record in; yields what is wrong with it."""
        match record.get("kind"):
            case "history":
                self.whole = record.get("since") is None
            case "job":
                yield from self.close()
                self.jobs += 1
                self._life = _Life(job=record["id"], row=record.get("state"))
            case "event":
                self.events += 1
                if self._life is None or self._life.job != record["job"]:
                    yield from self.close()
                    self.jobs += 1
                    self._life = _Life(job=record["job"], row=None)
                for what in self._moved(self._life, record):
                    yield Fault(job=record["job"], event=record["id"], what=what)

    def close(self) -> Iterator[Fault]:
        """End the history of the last job; yields what is wrong with its end."""
        life, self._life = self._life, None
        if life is None or life.row is None:
            return
        if not life.begun:
            if self.whole and life.row not in states.SETTLED:  # else its events were pruned
                yield Fault(job=life.job, event=None, what="it has a row and no events")
        elif life.state != life.row:
            what = f"its row says {life.row}, its last event {life.state}"
            yield Fault(job=life.job, event=None, what=what)

    def _moved(self, life: _Life, event: Mapping[str, Any]) -> Iterator[str]:
        query, frm, to = event["query"], event["from"], event["to"]
        if query not in states.TRANSITIONS:
            yield f"there is no transition {query}"
        elif (frm, to) not in states.TRANSITIONS[query]:
            yield f"{query} never leads from {frm or 'nothing'} to {to}"
        if event["id"] <= life.event:
            yield f"it comes after event {life.event}"
        anew = not life.begun and query == "revive_jobs"  # all before it was pruned
        if life.begun or (self.whole and not anew):
            if frm != life.state:
                yield f"it leaves {frm or 'nothing'}, but the job was {life.state or 'not there'}"
            claimed = life.attempt + (query == "claim_jobs")
            if event["attempt"] != claimed:
                yield f"it is of attempt {event['attempt']}, not of attempt {claimed}"
        if life.finished:
            yield "the job was done"
        life.begun, life.event = True, event["id"]
        life.state, life.attempt = to, event["attempt"]
        life.finished = life.finished or to == states.State.DONE


def replay(records: Iterable[Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield all that can't have happened in a recorded history."""
    one = Replay()
    for record in records:
        yield from one.feed(record)
    yield from one.close()
