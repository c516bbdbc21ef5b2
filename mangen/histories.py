"""What happened, written down as a file, and such a file replayed."""

from __future__ import annotations

import contextlib
import datetime as dt
import gzip
import io
import json
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

import mangen
from mangen import api, errors
from mangen.ledger import history
from mangen.ledger import replay as replaying


def export(
    out: pathlib.Path, *, projects: Sequence[int] | None = None, since: dt.datetime | None = None
) -> dict[str, int]:
    """Write down what happened, a record of JSON a line, as docs/tracing.md tells.

    A name that ends in `.gz` is compressed, `-` is standard output. The file is there when it is
    whole. Answers how many records of each kind there are. Raises UnknownProject.
    """
    counts: dict[str, int] = {}
    with api.open_ledger() as (_, book):
        if projects is not None:
            with book.transaction() as conn:
                for project in projects:
                    book.project(project, conn)
        with _written(out) as file:
            for record in book.history(projects, since=since):
                kind = str(record["kind"])
                more = {"mangen": mangen.__version__} if kind == "history" else {}
                file.write(json.dumps({**record, **more}, ensure_ascii=False) + "\n")
                counts[kind] = counts.get(kind, 0) + 1
    return counts


def replay(file: pathlib.Path) -> dict[str, Any]:
    """Replay a recorded history through the table of transitions; answers what can't have been."""
    one = replaying.Replay()
    faults: list[replaying.Fault] = []
    for number, record in enumerate(_records(file), 1):
        try:
            faults.extend(one.feed(record))
        except (KeyError, TypeError) as error:
            raise errors.UsageError(
                f"{file}, line {number}: this is no {record.get('kind')}: {error!r}"
            ) from error
    faults.extend(one.close())
    return {
        "ok": not faults,
        "jobs": one.jobs,
        "events": one.events,
        "faults": [{"job": f.job, "event": f.event, "what": f.what} for f in faults],
    }


def _records(file: pathlib.Path) -> Iterator[Mapping[str, Any]]:
    """The records of a history; raises UsageError that names the line."""
    number = 0
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as read:
            for line in read:
                number += 1
                record = json.loads(line)
                if number == 1 and (
                    not isinstance(record, dict) or record.get("kind") != "history"
                ):
                    raise errors.UsageError(
                        f"{file} is no history: `manage.py history export --out FILE` writes one"
                    )
                if number == 1 and record.get("format") != history.FORMAT:
                    raise errors.UsageError(
                        f"{file} has format {record.get('format')}, this mangen reads "
                        f"{history.FORMAT}: use the version that wrote it ({record.get('mangen')})"
                    )
                if not isinstance(record, dict):
                    raise errors.UsageError(f"{file}, line {number}: a record is an object")
                yield record
        if not number:
            raise errors.UsageError(f"{file} is empty: its export did not end; export it again")
    except (ValueError, EOFError) as error:
        raise errors.UsageError(f"{file}, line {number}: this is no record: {error}") from error
    except OSError as error:
        raise errors.UsageError(f"{file} can't be read: {error.strerror or error}") from error


@contextlib.contextmanager
def _written(out: pathlib.Path) -> Iterator[TextIO]:
    """A text file that takes its name when it is whole."""
    if str(out) == "-":
        yield sys.stdout
        return
    part = out.with_name(out.name + ".part")
    try:
        with part.open("wb") as raw:
            if out.suffix == ".gz":
                with (
                    gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
                    io.TextIOWrapper(packed, "utf-8") as file,
                ):
                    yield file
            else:
                with io.TextIOWrapper(raw, "utf-8") as file:
                    yield file
        part.replace(out)
    except OSError as error:
        raise errors.UsageError(f"can't write {out}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
