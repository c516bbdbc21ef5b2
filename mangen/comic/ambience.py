"""What is heard of a place: loops by place, hour and weather, crossfaded between scenes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from mangen.comic import noises

_FADE_S = 0.6

#: loops and gains by place, at day and at night; a gain of 1 is the level that was asked for
_PLACES: Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]] = {
    "room": ({"room": 0.5}, {"room": 0.5}),
    "hall": ({"room": 0.6}, {"room": 0.6}),
    "shop": ({"room": 0.5, "crowd": 0.3}, {"room": 0.5}),
    "classroom": ({"room": 0.5, "crowd": 0.3, "birds": 0.2}, {"room": 0.5, "insects": 0.2}),
    "office": ({"room": 0.7}, {"room": 0.7}),
    "hospital": ({"room": 0.8}, {"room": 0.8}),
    "street": ({"street": 1.0}, {"street": 0.7}),
    "market": ({"market": 1.0}, {"market": 1.0}),
    "courtyard": ({"leaves": 0.3, "birds": 0.4}, {"insects": 0.5, "wind": 0.2}),
    "garden": ({"leaves": 0.4, "birds": 0.6}, {"insects": 0.6, "leaves": 0.2}),
    "river": ({"river": 1.0, "birds": 0.25}, {"river": 0.9, "insects": 0.4}),
    "sea": ({"sea": 1.3}, {"sea": 1.2, "insects": 0.15}),
    "mountain": ({"wind": 0.8, "birds": 0.3}, {"wind": 0.9}),
    "forest": ({"leaves": 0.6, "birds": 0.6}, {"leaves": 0.4, "insects": 0.7}),
    "field": ({"wind": 0.4, "birds": 0.5}, {"insects": 0.8, "wind": 0.3}),
    "palace": ({"room": 0.6}, {"room": 0.6}),
    "ruin": ({"wind": 0.9}, {"wind": 1.0}),
    "train": ({"train": 1.0}, {"train": 1.0}),
    "harbour": ({"sea": 0.8, "crowd": 0.3, "birds": 0.2}, {"sea": 0.8}),
    "deck": ({"sea": 1.0, "wind": 0.4}, {"sea": 1.0, "wind": 0.5}),
    "spaceship": ({"room": 0.9}, {"room": 0.9}),
}
_OUTDOORS: Mapping[str, Mapping[str, float]] = {
    "rain": {"rain": 1.2},
    "thunder": {"thunder": 1.4},
    "snow": {"wind": 0.5},
    "wind": {"wind": 1.3},
    "fog": {"wind": 0.3},
}
_INDOORS: Mapping[str, Mapping[str, float]] = {
    "rain": {"roof": 1.0},
    "thunder": {"roof": 1.2},
    "wind": {"wind": 0.5},
}
_INSIDE = frozenset(
    {"room", "hall", "shop", "classroom", "office", "hospital", "palace", "train", "spaceship"}
)
_BAD = frozenset({"rain", "thunder", "snow", "wind"})  #: neither birds nor crickets then


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of an episode, in seconds, with the loops that are heard in it."""

    start: float
    stop: float
    loops: Mapping[str, float]


def loops(
    place: str, time: str = "day", weather: str = "clear", *, crowd: bool = False
) -> dict[str, float]:
    """The loops of a place and how loud they are; an unknown place is a quiet one."""
    day, night = _PLACES.get(place, _PLACES["room"])
    found = dict(night if time == "night" else day)
    if time == "dusk":
        found.pop("birds", None)
    inside = place in _INSIDE
    if weather in _BAD and not inside:
        found = {name: gain for name, gain in found.items() if name not in {"birds", "insects"}}
    for name, gain in (_INDOORS if inside else _OUTDOORS).get(weather, {}).items():
        found[name] = max(found.get(name, 0.0), gain)
    if crowd and "market" not in found:
        found["crowd"] = max(found.get("crowd", 0.0), 0.8)
    return found


class Ambience:
    """The places of a whole episode, at 24 kHz and about `level` LUFS."""

    def __init__(self, spans: Sequence[Span], *, level: float) -> None:
        self._spans: list[Span] = []
        self._gain = 10 ** ((level - noises.LUFS) / 20)
        for span in spans:
            before = self._spans[-1] if self._spans else None
            if before is not None and before.loops == span.loops:
                self._spans[-1] = dataclasses.replace(before, stop=span.stop)
            else:
                self._spans.append(span)

    def window(self, start: int, stop: int) -> noises.Samples:
        """Samples `start` to `stop` of the episode. A loop goes on through scenes that share it."""
        made = np.zeros(stop - start, np.float32)
        fade = round(_FADE_S * noises.RATE)
        near = [
            span
            for span in self._spans
            if span.start * noises.RATE - fade < stop and span.stop * noises.RATE + fade > start
        ]
        for name in sorted({name for span in near for name in span.loops}):
            gains = np.zeros(stop - start)
            t = np.arange(start, stop) / noises.RATE
            for span in near:
                if gain := span.loops.get(name):
                    rise = np.clip((t - span.start) / _FADE_S + 0.5, 0, 1)
                    fall = np.clip((span.stop - t) / _FADE_S + 0.5, 0, 1)
                    gains += gain * np.minimum(rise, fall)
            made += _heard(name, start, stop) * (gains * self._gain).astype(np.float32)
        return made


def _heard(name: str, start: int, stop: int) -> noises.Samples:
    loop = noises.loop(name)
    return np.take(loop, np.arange(start, stop), mode="wrap")
