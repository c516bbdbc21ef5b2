"""Quiet hours and days: when nothing but urgent work may begin, by the clock of the database.

The queries of publishing and claiming are handed the hours and ask the server's own clock; here is
what people are told, and how a setting is read.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator, Mapping
from typing import Any

from mangen import errors

_SPAN = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")
_DAY = 24 * 60  #: minutes
#: files among a system's time zones that are no names of any: Postgres refuses each query by them
_NOWHERE = ("localtime", "posixrules", "Factory")
_APART = ("posix/", "right/")
_FAR = 2_000  #: spans that are looked at ahead: years of them


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hours:
    """Quiet spans of a day in one time zone: minutes of the day, none over midnight."""

    spans: tuple[tuple[int, int], ...] = ()
    zone: str = "UTC"

    @classmethod
    def parse(cls, quiet: str, zone: str) -> Hours:
        """Read `09:00-18:00,22:30-06:00` and an IANA name; raises SettingsError."""
        _zone(zone)
        spans: list[tuple[int, int]] = []
        for word in quiet.split(",") if quiet.strip() else ():
            match = _SPAN.fullmatch(word)
            numbers = [int(part) for part in match.groups()] if match else []
            if not numbers or numbers[1] > 59 or numbers[3] > 59:
                raise _wrong(word, "write 09:00-18:00, several with commas")
            start, end = numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3]
            if start >= _DAY or end > _DAY:
                raise _wrong(word, "a day has hours from 00:00 to 24:00")
            if start == end:
                raise _wrong(word, "it is empty; all day is 00:00-24:00")
            spans += [(start, end)] if start < end else [(start, _DAY), (0, end)]
        return cls(spans=tuple(sorted(span for span in spans if span[0] < span[1])), zone=zone)

    @property
    def values(self) -> Mapping[str, Any]:
        """What the queries are handed."""
        return {
            "quiet_from": [_clock(start) for start, _ in self.spans],
            "quiet_till": [_clock(end) for _, end in self.spans],
            "zone": self.zone,
        }

    def quiet(self, now: dt.datetime) -> bool:
        """Whether that moment is quiet."""
        local = now.astimezone(_zone(self.zone))
        minute = local.hour * 60 + local.minute
        return any(start <= minute < end for start, end in self.spans)

    def until(self, now: dt.datetime) -> dt.datetime | None:
        """When the quiet of `now` ends, in the zone; None where it isn't quiet, or always is."""
        if not self.quiet(now):
            return None
        ends = sorted(end for end in self._ends(now, range(3)) if end > now)
        return next((end for end in ends if not self.quiet(end)), None)

    def opened(self, now: dt.datetime) -> dt.datetime | None:
        """When the last quiet before `now` ended; None where there is none, or it is quiet now."""
        if self.quiet(now):
            return None
        ends = [end for end in self._ends(now, range(-2, 1)) if end <= now and not self.quiet(end)]
        return max(ends, default=None)

    def after(self, now: dt.datetime, seconds: float) -> dt.datetime | None:
        """When so many seconds outside of the quiet spans will have passed; None: never."""
        at = now
        if not self.spans:
            return at + dt.timedelta(seconds=seconds)
        for _ in range(_FAR):
            if (end := self.until(at)) is not None:
                at = end
            elif self.quiet(at):
                return None
            local = at.astimezone(_zone(self.zone))
            passed = local.hour * 3600 + local.minute * 60 + local.second
            ahead = min((start * 60 - passed) % 86_400 for start, _ in self.spans)
            if seconds <= ahead:
                return at + dt.timedelta(seconds=seconds)
            seconds -= max(1, ahead)
            at += dt.timedelta(seconds=max(1, ahead))
        return None

    def _ends(self, now: dt.datetime, days: range) -> Iterator[dt.datetime]:
        zone = _zone(self.zone)
        today = now.astimezone(zone).date()
        for day in days:
            for _, end in self.spans:
                date = today + dt.timedelta(days=day + end // _DAY)
                hour, minute = divmod(end % _DAY, 60)
                yield dt.datetime.combine(date, dt.time(hour, minute), zone)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _zone(name: str) -> dt.tzinfo:
    if name == "UTC":  # known where a system has no time zones, too
        return dt.UTC
    named = name not in _NOWHERE and not name.startswith(_APART)
    try:
        return zoneinfo.ZoneInfo(name if named else "")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise errors.SettingsError(
            f"MANGEN_TIME_ZONE: there is no time zone {name!r} here; write an IANA name as "
            "Asia/Shanghai (a system without time zones needs the package tzdata)"
        ) from error


def _wrong(word: str, mend: str) -> errors.SettingsError:
    return errors.SettingsError(f"MANGEN_QUIET_HOURS: {word.strip()!r} is no span: {mend}")
