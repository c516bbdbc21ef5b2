import datetime as dt

import pytest

from mangen.cli import moments

NOW = dt.datetime(2026, 3, 6, 20, 12, 20, tzinfo=dt.timezone(dt.timedelta(hours=8)))  # a Friday


def after(low, eta, high):
    """A status whose project is ready after so many minutes."""
    names = ("eta_low", "eta", "eta_high")
    times = [(NOW + dt.timedelta(minutes=m)).astimezone(dt.UTC) for m in (low, eta, high)]
    return {name: at.isoformat() for name, at in zip(names, times, strict=True)}


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        ((0.3, 0.5, 0.9), "about 20:12-20:14 (in 30 s)"),
        ((2, 3, 5), "about 20:14-20:18 (in 3 min)"),
        ((-1, 0, 0), "about 20:12-20:13 (in no time)"),
        ((40, 55, 62), "about 20:50-21:15 (in 55 min)"),
        ((110, 120, 140), "about 22:00-22:35 (in 2 h)"),
        ((400, 440, 500), "about Sat 02:50-04:40 (in 7 h)"),
        ((200, 230, 300), "about 23:30-Sat 01:20 (in 4 h)"),
        ((9000, 9500, 10000), "about 13 Mar 02:10-19:00 (in 7 days)"),
    ],
)
def test_when_a_project_will_be_ready_is_said_for_people(minutes, said):
    assert moments.ready(after(*minutes), NOW) == said


def test_a_watched_line_stands_still_while_nothing_changes():
    one = after(110, 120, 140)
    lines = {moments.ready(one, NOW + dt.timedelta(seconds=s)) for s in range(0, 600, 20)}
    assert len(lines) == 1


def test_where_nobody_can_tell_it_says_why():
    assert moments.ready({"eta": None, "eta_why": "no worker runs"}) == "no worker runs"
    assert moments.ready({}) == ""
