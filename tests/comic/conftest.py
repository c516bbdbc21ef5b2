"""What the tests of comic share: the cases, and storyboards of short texts."""

from __future__ import annotations

import pathlib
import uuid

import psycopg
import pytest
import sqlalchemy as sa

from mangen.comic import plan, tables, text
from mangen.ledger import ledger, migrate
from tests.comic.studio import Studio

CASES = pathlib.Path(__file__).parents[1] / "cases" / "text"


class Boards:
    """Makes storyboards of cases and words, and looks into them."""

    @staticmethod
    def path(number):
        """The path of a case by its number."""
        return next(CASES.glob(f"{number:02d}_*"))

    def case(self, number):
        """The source and the storyboard of a case."""
        source = text.read(self.path(number))
        return source, plan.plan(source, title="题目")

    @staticmethod
    def of(words, **wishes):
        """The source and the storyboard of some words."""
        source = text.decode(words.encode(), "text")
        return source, plan.plan(source, title="题目", **wishes)

    @staticmethod
    def shots(board):
        return [s for e in board.episodes for s in e.shots if s.kind == "shot"]

    def lines(self, board):
        return [line for shot in self.shots(board) for line in shot.lines]

    def said(self, board):
        """(speaker, text) of all speech, in order."""
        return [(line.speaker, line.text) for line in self.lines(board) if line.quoted]

    def uncovered(self, source, board):
        """Characters of the source that are in no span or in several; spans must be in order."""
        spans = [line.span for line in self.lines(board)]
        assert spans == sorted(spans)
        spans += [piece.span for piece in board.left_out]
        times = [0] * len(source.text)
        for start, end in spans:
            assert 0 <= start < end <= len(source.text)
            for at in range(start, end):
                times[at] += 1
        return [
            (at, ch) for at, ch in enumerate(source.text) if not ch.isspace() and times[at] != 1
        ]


@pytest.fixture(scope="session")
def boards():
    return Boards()


@pytest.fixture(scope="module")
def comic_url(postgres_server):
    """A migrated database for the tests of one module."""
    name = f"c{uuid.uuid4().hex[:12]}"
    with psycopg.connect(
        host=str(postgres_server), user="postgres", dbname="postgres", autocommit=True
    ) as conn:
        conn.execute(f"create database {name}")
    url = f"postgresql+psycopg://postgres@/{name}?host={postgres_server}"
    migrate.upgrade(url)
    return url


@pytest.fixture
def studio(comic_url, tmp_path):
    """A fresh project's studio; at the end every invariant holds."""
    book = ledger.Ledger(comic_url, application="test", pool_size=4)
    with book.transaction() as conn:
        names = ", ".join(table.name for table in tables.metadata.sorted_tables)
        conn.execute(sa.text(f"truncate {names} restart identity cascade"))
    one = Studio(book, tmp_path)
    yield one
    broken = one.broken()
    book.close()
    assert broken == []
