"""What Postgres refuses is told with its mend, and not as a fault of mangen's."""

from __future__ import annotations

import click
import psycopg.errors
import pytest
import sqlalchemy as sa

from mangen.cli import main


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (psycopg.errors.QueryCanceled(), "may hold a lock"),
        (psycopg.errors.DiskFull(), "make room"),
        (psycopg.errors.DeadlockDetected(), "ask again later"),
    ],
)
def test_a_refusal_names_its_mend(cause, said, monkeypatch, capsys):
    @click.command()
    def refused():
        raise sa.exc.OperationalError("select 1", {}, cause)

    monkeypatch.setitem(main.root.commands, "refused", refused)
    assert main.main(["refused"]) == 3
    told = capsys.readouterr().err
    assert said in told
    assert "select 1" not in told
    assert "fault" not in told
