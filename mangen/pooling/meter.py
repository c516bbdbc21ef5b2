"""How busy a device is: of the time in which work waited or ran, how much did it run. Pure."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Seconds in which a session ran, and in which one ran or work waited."""

    busy_s: float = 0.0
    wanted_s: float = 0.0

    @property
    def ratio(self) -> float:
        """Busy of wanted; 1 when nothing was wanted: the device has missed nothing."""
        return self.busy_s / self.wanted_s if self.wanted_s else 1.0


class Meter:
    """One slot's meter, moved on by each transition. `idle_alarm_s` 0: no alarm."""

    def __init__(self, idle_alarm_s: float = 0.0) -> None:
        #: since the first note
        self.total = Reading()
        #: since when it is idle and ready though fitting work waits
        self.idle_since: float | None = None
        self._idle_alarm_s = idle_alarm_s
        self._alarmed = False
        self._at: float | None = None
        self._running = False
        self._wanted = False
        self._read = Reading()

    def note(self, now: float, *, running: bool, wanted: bool, ready: bool = True) -> None:
        """Take down a state that holds from now on, or that it holds still.

        `wanted`: work waits that the device has room for. `ready`: it could take some; while it
        isn't, as in a restart, the time is wanted and lost, but it is no reason for an alarm.
        """
        self._move(now)
        self._running, self._wanted = running, wanted
        if running or not wanted or not ready:
            self.idle_since, self._alarmed = None, False
        elif self.idle_since is None:
            self.idle_since = now

    def read(self, now: float) -> tuple[float, float]:
        """Answer busy and wanted seconds since the last read."""
        self._move(now)
        last, self._read = self._read, self.total
        return self.total.busy_s - last.busy_s, self.total.wanted_s - last.wanted_s

    def alarm(self, now: float) -> bool:
        """Whether it idles for too long; True once for each time that it begins to idle."""
        late = self.idle_since is not None and now - self.idle_since >= self._idle_alarm_s
        if not late or self._alarmed or self._idle_alarm_s <= 0:
            return False
        self._alarmed = True
        return True

    def _move(self, now: float) -> None:
        passed = 0.0 if self._at is None else max(0.0, now - self._at)
        self._at = now if self._at is None else max(self._at, now)
        self.total = Reading(
            busy_s=self.total.busy_s + passed * self._running,
            wanted_s=self.total.wanted_s + passed * (self._running or self._wanted),
        )
