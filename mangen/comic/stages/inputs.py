"""What a job's needs made: read from the rows, in one query."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from mangen.ledger import jobs, ledger
from mangen.ledger.states import State

_INPUTS = sa.text(
    """
    select n.id, n.stage, n.subject, n.state, n.error,
           coalesce(jsonb_agg(jsonb_build_object(
               'kind', a.kind, 'path', a.path, 'sha256', a.sha256, 'meta', a.meta
           ) order by a.path) filter (where a.path is not null), '[]') as artifacts
    from job_dependencies d
    join jobs n on n.id = d.needs
    left join artifacts a on a.job = n.id and a.attempt = n.attempt and n.state = 'done'
    where d.job = :job
    group by n.id
    """
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """One settled need. Where it failed there are no artifacts."""

    stage: str
    subject: str
    state: State
    error: str
    artifacts: Sequence[jobs.Artifact]

    def find(self, kind: str) -> jobs.Artifact | None:
        """Answer the artifact of a kind, where there is one."""
        return next((one for one in self.artifacts if one.kind == kind), None)


#: stage and subject
Needs = Mapping[tuple[str, str], "Input"]


def of(book: ledger.Ledger, job: int) -> Needs:
    """Answer a job's needs by (stage, subject)."""
    with book.transaction() as conn:
        rows = conn.execute(_INPUTS, {"job": job}).all()
    return {(row.stage, row.subject): _input(row) for row in rows}


def _input(row: Any) -> Input:
    return Input(
        stage=row.stage,
        subject=row.subject,
        state=State(row.state),
        error=row.error or ("it was cancelled" if row.state == State.CANCELLED else ""),
        artifacts=[jobs.Artifact(**one) for one in row.artifacts],
    )
