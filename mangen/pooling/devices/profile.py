"""Profiles of simulated cards: bytes, seconds and recorded streams, each number with its source.

A profile is JSON, bundled in `profiles/NAME.json` or put into a folder by `register`, where every
process finds it:

    {"total": bytes, "context": bytes a process holds beside its allocator,
     "source": where the two come from,
     "expandable": true, unless the allocator's default segments are wanted,
     "models": {NAME: {"weights": bytes in all, or tensor by tensor, or recorded component names,
                       "load_s": seconds, "fetch_s": the host's part of them, "source": ...}},
     "stages": {NAME: {"steps": 1, "step_s": seconds of one step with one member,
                       "gain": {members: throughput against one by one}, "peak": theory bytes of
                       one member over the weights, "actual": bytes really used where no stream is
                       recorded, "streams": {members: [recorded names, or lists of events as
                       `Stage.stream` answers them, one after another]},
                       "serial": true where members go one by one, so that bytes don't grow,
                       "source": ...}}}
"""

from __future__ import annotations

import array
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import re
import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.pooling import errors

_HERE = pathlib.Path(__file__).with_name("profiles")
_NAME = re.compile(r"[A-Za-z0-9_]+")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """`weights`: bytes of each tensor. `fetch_s` is the host's part of `load_s`, in seconds."""

    weights: tuple[int, ...]
    load_s: float
    fetch_s: float = 0.0
    source: str = ""

    @property
    def nbytes(self) -> int:
        return sum(self.weights)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """What one run costs: `step_s` is one step with one member; `peak` is theory, in bytes."""

    steps: int = 1
    step_s: float
    gain: Mapping[int, float] = dataclasses.field(default_factory=dict)
    serial: bool = False
    peak: int
    actual: int = 0
    streams: Mapping[int, tuple[str | tuple[int, ...], ...]] = dataclasses.field(
        default_factory=dict
    )
    source: str = ""

    def seconds(self, members: int, steps: int | None = None) -> float:
        """Device seconds of a run; between measured counts the gain is interpolated."""
        return self.step_s * (self.steps if steps is None else steps) * members / self._at(members)

    def peaks(self, members: int) -> int:
        """Theory: bytes over the weights, linear in members unless they go one by one."""
        return self.peak * self._wide(members)

    def _wide(self, members: int) -> int:
        return 1 if self.serial else members

    def stream(self, members: int) -> list[int]:
        """Answer allocations in bytes and, as -k, frees of the k-th youngest of them.

        A count that was not recorded takes the next lower one's, in proportion. Where nothing was
        recorded it is one block of the actual bytes.
        """
        if not self.streams:
            return [(self.actual or self.peak) * self._wide(members), -1]
        below = [count for count in self.streams if count <= members]
        count = max(below) if below else min(self.streams)
        parts = (recorded(one) if isinstance(one, str) else one for one in self.streams[count])
        whole = [event for part in parts for event in part]
        if count == members or self.serial:
            return whole
        return [-(-event * members // count) if event > 0 else event for event in whole]

    def _at(self, members: int) -> float:
        """The gain with so many members: 1 alone, flat beyond the largest measured count."""
        points = sorted({1: 1.0, **self.gain}.items())
        for (low, first), (high, second) in itertools.pairwise(points):
            if low <= members <= high:
                return first + (second - first) * (members - low) / (high - low)
        return points[-1][1]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A kind of card, and what is known of the work on it."""

    name: str
    total: int
    context: int
    source: str
    expandable: bool = True
    models: Mapping[str, Model]
    stages: Mapping[str, Stage]

    @classmethod
    def of(cls, name: str, data: object) -> Profile:
        """Read the JSON data; raises ConfigError that names the profile."""
        try:
            given = dict(data)  # type: ignore[call-overload]  # what is no mapping raises below
            models = {key: _model(one) for key, one in given.pop("models", {}).items()}
            stages = {key: _stage(one) for key, one in given.pop("stages", {}).items()}
            return cls(**{"context": 0, **given, "name": name}, models=models, stages=stages)
        except (KeyError, TypeError, ValueError) as error:
            raise errors.ConfigError(f"the profile {name} is not readable: {error!r}") from error

    def model(self, key: str) -> Model:
        if key not in self.models:
            raise errors.ConfigError(f"the profile {self.name} has no model {key!r}")
        return self.models[key]

    def stage(self, key: str) -> Stage:
        if key not in self.stages:
            raise errors.ConfigError(f"the profile {self.name} has no stage {key!r}")
        return self.stages[key]


def find(name: str, folder: str = "") -> Profile:
    """Answer the profile registered in the folder, else the bundled one; raises ConfigError."""
    places = [_HERE / f"{name}.json"]
    if folder:
        places.insert(0, pathlib.Path(folder) / "profiles" / f"{name}.json")
    for place in places:
        try:
            text = place.read_text("utf-8")
        except FileNotFoundError:
            continue
        try:
            return Profile.of(name, json.loads(text))
        except ValueError as error:
            raise errors.ConfigError(f"the profile {place} is not JSON: {error}") from error
    bundled = sorted(path.stem for path in _HERE.glob("*.json"))
    raise errors.ConfigError(f"there is no profile {name!r} of a simulated card: {bundled} are")


def register(folder: str, name: str, data: Mapping[str, Any]) -> Profile:
    """Write the profile where every process that is given this folder finds it."""
    if not _NAME.fullmatch(name):
        raise errors.ConfigError(f"a profile's name is letters, digits and _: not {name!r}")
    made = Profile.of(name, data)
    place = pathlib.Path(folder) / "profiles"
    place.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=place, prefix=f".{name}-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file)
    pathlib.Path(draft).replace(place / f"{name}.json")
    return made


@functools.cache
def recorded(name: str) -> tuple[int, ...]:
    """Read one stream of those that tests/streams/record.py wrote; raises ConfigError."""
    index, body = _recordings()
    if name not in index:
        raise errors.ConfigError(f"no stream {name!r} is recorded")
    offset, length = index[name]
    numbers = array.array("q", zlib.decompress(body[offset : offset + length]))
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


def names() -> tuple[str, ...]:
    """The names of all recorded streams."""
    return tuple(_recordings()[0])


def highest(stream: Sequence[int]) -> int:
    """The most bytes live at once, unrounded."""
    born: list[int] = []
    live = peak = 0
    for event in stream:
        live += event if event > 0 else -born[event]
        if event > 0:
            born.append(event)
        peak = max(peak, live)
    return peak


@functools.cache
def _recordings() -> tuple[dict[str, tuple[int, int]], bytes]:
    head, body = (_HERE / "streams.bin").read_bytes().split(b"\n", 1)
    return {name: (offset, length) for name, (offset, length) in json.loads(head).items()}, body


def _model(given: Mapping[str, Any]) -> Model:
    weights = given["weights"]
    sizes: list[int] = []
    for one in [weights] if isinstance(weights, int) else weights:
        sizes.extend([one] if isinstance(one, int) else recorded(f"weights/{one}"))
    return Model(**{**given, "weights": tuple(sizes)})


def _stage(given: Mapping[str, Any]) -> Stage:
    gain = {int(count): float(times) for count, times in given.get("gain", {}).items()}
    streams = {
        int(count): tuple(one if isinstance(one, str) else tuple(one) for one in found)
        for count, found in given.get("streams", {}).items()
    }
    return Stage(**{**given, "gain": gain, "streams": streams})
