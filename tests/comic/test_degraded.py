"""Episodes with pieces that failed, made by the real stages: degraded, failed, and mended."""

from __future__ import annotations

import pytest

from mangen.comic import control
from tests.comic.studio import Line


@pytest.fixture
def line(studio):
    studio.planned()
    one = Line(studio)
    assert len(one.shots()) >= 4
    return one


def lost(line, count):
    """So many shots, of which neither panel nor clip is made."""
    return {("illustrate", subject) for subject in line.shots()[1 : 1 + count]}


def test_an_episode_fails_or_is_degraded_by_how_much_is_lost_and_a_retry_mends_it(line):
    line.run(failing=lost(line, len(line.shots()) - 1))
    film = line.studio.job("assemble", "e1")
    assert (film.state, film.error_kind, line.episode().video) == ("failed", "permanent", None)
    assert "pieces failed, more than 30%" in film.error

    [(_, subject)] = gone = lost(line, 1)
    line.studio.do(control.retry, "e1")
    line.run(failing=gone)
    degraded = line.episode()
    assert degraded.state == "degraded"
    assert [one["what"] for one in degraded.replaced] == [f"shot {subject}"]
    assert line.studio.states()["animate", subject] == "skipped"

    line.studio.do(control.retry, "e1")
    line.run()
    mended = line.episode()
    assert (mended.state, mended.replaced) == ("done", [])
    assert mended.video != degraded.video


def test_clips_that_turn_out_to_be_broken_count_too(line):
    made = line.make

    def make_and_break(row):
        made(row)
        if row.stage == "animate":
            [clip] = line.studio.book.artifacts([row.id])[row.id]
            line.tools.file_of(clip).write_bytes(b"no film")

    line.make = make_and_break
    line.run()
    film = line.studio.job("assemble", "e1")
    assert film.state == "failed"
    assert "7 of 14 pieces failed" in film.error
