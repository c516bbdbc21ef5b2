"""What ought to exist: insert what is missing, supersede what is replaced, reuse what is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import sqlalchemy as sa

from mangen import errors
from mangen.ledger import control, door, jobs, projects

#: version of the payloads this code writes; workers claim what they understand
FORMAT = 1

#: jobs written by one statement: a whole novel must not run into a statement's time limit
_PIECE = 5000
_MANY = 1000

Subject: TypeAlias = tuple[str, str]  #: (stage, subject)


class Wanting(projects.Projects, control.Control):
    """The ledger's door for whoever plans."""

    def insert_jobs(
        self, conn: sa.Connection, project: int, wanted: Sequence[jobs.Wanted], *, by: str
    ) -> Sequence[int]:
        """Make the wanted jobs exist; answers the ids that were inserted or revived.

        Idempotent. A subject's current row with another key is superseded. A wanted row that was
        cancelled or superseded goes back to blocked (a done one is simply current again). Needs
        are found among the wanted and the project's current jobs; one that is in neither raises
        LedgerError, an unknown project UnknownProject.
        """
        subjects = _subjects(wanted)
        self.lock_project(conn, project)
        plan = self._look(conn, project, subjects, wanted)
        if plan.replaced:
            self.supersede_jobs(conn, plan.replaced, by=by)
        revived = self.revive_jobs(conn, plan.revived, by=by, wanted=True) if plan.revived else []
        if plan.kept:
            door.run(conn, "keep_jobs", ids=plan.kept)
        made: list[int] = []
        for at in range(0, len(plan.missing), _PIECE):
            piece = [_row(no, want) for no, want in enumerate(plan.missing[at : at + _PIECE])]
            values = json.dumps(piece, ensure_ascii=False)
            for row in door.run(
                conn, "insert_jobs", project=project, wanted=values, format=FORMAT, by=by
            ):
                made.append(row.id)
                plan.ids[row.stage, row.subject] = row.id
        door.run(conn, "hold_new", project=project, ids=made)
        self._wait_again(conn, plan, wanted, {*plan.ids.values()} - {*made})
        standing = {*revived, *plan.blocked}
        self._write_dependencies(conn, project, plan.ids, wanted, made=set(made), standing=standing)
        door.run(conn, "insert_dirty", project=project)
        if len(made) >= _MANY:
            door.run(conn, "learn_statistics")
        return sorted({*made, *revived})

    def _wait_again(
        self,
        conn: sa.Connection,
        plan: _Plan,
        wanted: Sequence[jobs.Wanted],
        standing: set[int],
    ) -> None:
        """Count the time anew in which what was asked for before, and again, must begin."""
        waits: dict[float, list[int]] = {}
        for want in wanted:
            job = plan.ids[want.stage, want.subject]
            if want.expires_s is not None and job in standing:
                waits.setdefault(want.expires_s, []).append(job)
        for seconds, ids in waits.items():
            door.run(conn, "expire_at", ids=ids, expires_s=seconds)

    def _look(
        self,
        conn: sa.Connection,
        project: int,
        subjects: Mapping[str, list[str]],
        wanted: Sequence[jobs.Wanted],
    ) -> _Plan:
        """What is there, with every row that must change locked, in order of id."""
        plan = _Plan(door.rows(conn, "standing_jobs", project=project, **subjects), wanted)
        if not plan.moves:
            return plan
        door.run(conn, "lock_jobs", ids=plan.moves)
        # again: children, and people who cancel, may have moved them before they were locked
        return _Plan(door.rows(conn, "standing_jobs", project=project, **subjects), wanted)

    def _write_dependencies(
        self,
        conn: sa.Connection,
        project: int,
        ids: Mapping[Subject, int],
        wanted: Sequence[jobs.Wanted],
        *,
        made: set[int],
        standing: set[int],
    ) -> None:
        """Write what new rows need, and replace what those need that stood and wait again."""
        edges = self._edges(conn, project, ids, wanted, {*made, *standing})
        for some in (made, standing):
            ordered = sorted(edges.keys() & some)
            for at in range(0, len(ordered), _PIECE):
                piece = ordered[at : at + _PIECE]
                rows = [(job, *edge) for job in piece for edge in edges[job].items()]
                values: dict[str, Any] = {
                    "job": [job for job, _, _ in rows],
                    "needs": [needs for _, needs, _ in rows],
                    "kind": [kind for _, _, kind in rows],
                }
                if some is made:
                    door.run(conn, "insert_dependencies", **values)
                else:
                    door.run(conn, "replace_dependencies", **values, standing=piece)

    def _edges(
        self,
        conn: sa.Connection,
        project: int,
        ids: Mapping[Subject, int],
        wanted: Sequence[jobs.Wanted],
        waiting: set[int],
    ) -> dict[int, dict[int, str]]:
        """Waiting job -> what it needs -> kind; raises LedgerError for a need that is nowhere."""
        found = dict(ids)
        asked = {(n.stage, n.subject) for w in wanted for n in w.needs} - found.keys()
        if asked:
            pairs = sorted(asked)
            for row in door.run(
                conn,
                "standing_jobs",
                project=project,
                stages=[stage for stage, _ in pairs],
                subjects=[subject for _, subject in pairs],
            ):
                if not row.superseded:
                    found[row.stage, row.subject] = row.id
        edges: dict[int, dict[int, str]] = {}
        for want in wanted:
            job = ids[want.stage, want.subject]
            if job not in waiting:
                continue
            own = edges.setdefault(job, {})
            for need in want.needs:
                needs = found.get((need.stage, need.subject))
                if needs is None:
                    raise errors.LedgerError(
                        f"project {project}: {want.stage} {want.subject} needs {need.stage} "
                        f"{need.subject}, which is neither wanted nor there"
                    )
                own[needs] = "hard" if "hard" in (need.kind, own.get(needs)) else "soft"
        return edges


class _Plan:
    """What stands beside what is wanted, sorted by what has to happen to it."""

    def __init__(
        self, standing: Sequence[Mapping[str, Any]], wanted: Sequence[jobs.Wanted]
    ) -> None:
        keys = {(want.stage, want.subject): want.key for want in wanted}
        self.ids: dict[Subject, int] = {}
        self.replaced: list[int] = []
        self.revived: list[int] = []
        self.kept: list[int] = []
        self.blocked: list[int] = []
        for row in standing:
            subject = row["stage"], row["subject"]
            if row["key"] != keys[subject]:
                if not row["superseded"]:
                    self.replaced.append(row["id"])
                continue
            self.ids[subject] = row["id"]
            if row["state"] == "cancelled" or (
                row["superseded"] and row["state"] in ("failed", "skipped")
            ):
                self.revived.append(row["id"])
            elif row["superseded"] or row["stop"]:
                self.kept.append(row["id"])
            elif row["state"] == "blocked":
                self.blocked.append(row["id"])
        self.moves = sorted((*self.replaced, *self.revived, *self.kept))
        self.missing = [want for want in wanted if (want.stage, want.subject) not in self.ids]


def _subjects(wanted: Sequence[jobs.Wanted]) -> dict[str, list[str]]:
    seen: set[Subject] = set()
    for want in wanted:
        if (want.stage, want.subject) in seen:
            raise errors.LedgerError(f"{want.stage} {want.subject} is wanted twice")
        seen.add((want.stage, want.subject))
    return {
        "stages": [want.stage for want in wanted],
        "subjects": [want.subject for want in wanted],
    }


def _row(no: int, want: jobs.Wanted) -> dict[str, Any]:
    return {
        "no": no,
        "stage": want.stage,
        "subject": want.subject,
        "key": want.key,
        "queue": want.queue,
        "class": want.klass,
        "bucket": want.bucket,
        "model": want.model,
        "cap": want.cap,
        "episode": want.episode,
        "seconds_est": jobs.likely_s(want.seconds_est),
        "brings": want.brings,
        "peaks": list(want.peaks),
        "expires_s": want.expires_s,
        "params": dict(want.params),
    }
