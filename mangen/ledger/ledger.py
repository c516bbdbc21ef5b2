"""The ledger: every move a job can make, each method named as its query."""

from __future__ import annotations

from mangen.ledger import (
    acting,
    claiming,
    durations,
    foreseeing,
    history,
    holding,
    mending,
    owning,
    passing,
    priority,
    pruning,
    publishing,
    purging,
    scoping,
    traces,
    wanting,
)


class Ledger(
    wanting.Wanting,
    mending.Mending,
    passing.Passing,
    publishing.Publishing,
    priority.Priority,
    claiming.Claiming,
    owning.Owning,
    durations.Observing,
    foreseeing.Foreseeing,
    history.History,
    traces.Traces,
    holding.Holding,
    acting.Acting,
    scoping.Scoping,
    purging.Purging,
    pruning.Pruning,
):
    """The scheduler's ledger in one Postgres database.

    Methods that take `conn` work within that transaction; the others open their own. No
    transaction may stay open across engine work: the server ends one that idles for 10 s.
    """
