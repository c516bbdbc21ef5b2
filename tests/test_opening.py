"""The ledger is opened once around many calls of the API."""

from __future__ import annotations

import psycopg

from mangen import api


def test_calls_within_an_open_ledger_share_it(empty_database, monkeypatch, tmp_path):
    monkeypatch.setenv("MANGEN_DATABASE_URL", empty_database)
    monkeypatch.setenv("MANGEN_BROKER_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("MANGEN_HOME", str(tmp_path))
    text = tmp_path / "a.txt"
    text.write_text("雪落下来了。", "utf-8")
    with api.open_ledger() as outer:
        made = [api.create_project(text) for _ in range(3)]
        for number in made:
            api.submit_novel(number)
        with api.open_ledger() as inner:
            assert inner[1] is outer[1]
        with psycopg.connect(empty_database.replace("+psycopg", ""), autocommit=True) as conn:
            query = "select count(*) from pg_stat_activity where application_name = 'mangen-api'"
            assert conn.execute(query).fetchone() == (1,)
    with api.open_ledger() as later:
        assert later[1] is not outer[1]
        assert [one["id"] for one in api.all_status()] == made
