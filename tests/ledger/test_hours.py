from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from mangen import errors
from mangen.ledger import hours

SHANGHAI = zoneinfo.ZoneInfo("Asia/Shanghai")
NIGHT_AND_NOON = hours.Hours.parse("12:00-13:30, 22:30-06:00", "Asia/Shanghai")


def at(text, zone=SHANGHAI):
    return dt.datetime.fromisoformat(f"2026-03-{text}").replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("10 11:59", None),
        ("10 12:00", "10 13:30"),
        ("10 13:30", None),
        ("10 22:30", "11 06:00"),
        ("11 00:00", "11 06:00"),
        ("11 05:59", "11 06:00"),
        ("11 06:00", None),
    ],
)
def test_quiet_hours_wrap_midnight_and_say_until_when(now, until):
    moment = at(now).astimezone(dt.UTC)
    assert NIGHT_AND_NOON.quiet(moment) == (until is not None)
    assert NIGHT_AND_NOON.until(moment) == (until and at(until))


def test_the_zone_decides():
    assert not hours.Hours.parse("09:00-18:00", "UTC").quiet(at("10 10:00"))
    assert hours.Hours.parse("09:00-18:00", "Asia/Shanghai").quiet(at("10 10:00"))


def test_what_ended_last_is_known_and_always_quiet_never_ends():
    assert NIGHT_AND_NOON.opened(at("10 14:00")) == at("10 13:30")
    assert NIGHT_AND_NOON.opened(at("10 11:00")) == at("10 06:00")
    assert NIGHT_AND_NOON.opened(at("10 12:30")) is None
    assert hours.Hours().opened(at("10 12:30")) is None
    always = hours.Hours.parse("00:00-24:00", "UTC")
    assert always.quiet(at("10 00:00"))
    assert always.until(at("10 00:00")) is None


def test_a_clock_that_is_put_forward_moves_no_end():
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")  # 02:00 becomes 03:00 on 29 March 2026
    night = hours.Hours.parse("22:00-06:00", "Europe/Berlin")
    end = night.until(at("28 23:00", berlin))
    assert end == at("29 06:00", berlin)
    assert (end - at("28 23:00", berlin)).total_seconds() == 7 * 3600, "wall time"
    assert end.astimezone(dt.UTC) - at("28 23:00", berlin).astimezone(dt.UTC) == dt.timedelta(
        hours=6
    )


@pytest.mark.parametrize(
    ("quiet", "zone", "named"),
    [
        ("9-18", "UTC", "'9-18' is no span"),
        ("09:00-18:00;22:00-23:00", "UTC", "QUIET_HOURS"),
        ("09:00-25:00", "UTC", "00:00 to 24:00"),
        ("09:60-10:00", "UTC", "is no span"),
        ("09:00-09:00", "UTC", "all day is 00:00-24:00"),
        ("", "Asia/Beijing", "no time zone 'Asia/Beijing'"),
        ("", "../etc/passwd", "MANGEN_TIME_ZONE"),
    ],
)
def test_a_wrong_setting_is_named_with_its_mend(quiet, zone, named):
    with pytest.raises(errors.SettingsError, match=named):
        hours.Hours.parse(quiet, zone)


@given(
    minutes=st.lists(st.tuples(st.integers(0, 1439), st.integers(1, 1440)), max_size=3),
    now=st.integers(1_767_225_600, 1_798_761_600).map(
        lambda seconds: dt.datetime.fromtimestamp(seconds, dt.UTC)  # of 2026
    ),
)
def test_quiet_ends_where_it_is_no_more(minutes, now):
    spans = [(start, end) for start, end in minutes if start != end]
    text = ",".join(f"{s // 60:02d}:{s % 60:02d}-{e // 60:02d}:{e % 60:02d}" for s, e in spans)
    found = hours.Hours.parse(text, "Asia/Shanghai")
    until = found.until(now)
    if until is not None:
        assert found.quiet(now)
        assert not found.quiet(until)
        assert found.quiet(until - dt.timedelta(seconds=1))
        assert until - now <= dt.timedelta(days=1)


def test_the_database_finds_the_same_hours_quiet(desk):
    """The queries ask the server's clock and zones; people are told by Python's."""
    with desk.book.transaction() as conn:
        now = desk.book.now(conn)
        for zone in ("UTC", "Asia/Shanghai", "America/St_Johns"):
            local = now.astimezone(zoneinfo.ZoneInfo(zone))
            start = local.hour * 60 + local.minute
            for off, length in ((0, 30), (-20, 30), (-60, 30), (30, 30)):
                since, till = (start + off) % 1440, (start + off + length) % 1440
                word = f"{since // 60:02d}:{since % 60:02d}-{till // 60:02d}:{till % 60:02d}"
                desk.book.times = hours.Hours.parse(word, zone)
                quiet = desk.project in desk.book.withheld(conn)
                assert quiet == desk.book.times.quiet(now), (zone, word)
        assert conn.scalar(sa.text("select 1")) == 1
