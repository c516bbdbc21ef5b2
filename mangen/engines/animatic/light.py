"""Light: what hour, weather and mood do to every colour of a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from mangen.engines import protocol
from mangen.engines.animatic import colour
from mangen.engines.animatic.colour import Colour

_SKIES: dict[str, tuple[str, str, str]] = {
    "dawn": ("#586f9f", "#d99f96", "#f8dcae"),
    "day": ("#6ba3c4", "#b4d6d8", "#f2ead0"),
    "dusk": ("#3b3a68", "#c4604f", "#f4b56c"),
    "night": ("#070d2a", "#1b3062", "#3f6aa6"),
}
_TINTS = {"dawn": "#ffe9d8", "day": "#ffffff", "dusk": "#ffd9b4", "night": "#8d9fd2"}
_RIMS = {"dawn": "#ffe6bd", "day": "#fff6dc", "dusk": "#ffc37a", "night": "#bcd0ff"}
#: weather -> (upper sky, lower sky, how much of it, tint, how much of that)
_WEATHERS: dict[str, tuple[str, str, float, str, float]] = {
    "clear": ("#000000", "#000000", 0.0, "#ffffff", 0.0),
    "rain": ("#5c6672", "#a3aeb4", 0.66, "#b3c0cc", 0.55),
    "snow": ("#8f8f93", "#e8d9b4", 0.88, "#f1efe8", 0.5),
    "fog": ("#a9adab", "#dcdcd2", 0.72, "#dcdedb", 0.5),
    "wind": ("#7f93a0", "#dfd6b8", 0.3, "#f2ecdc", 0.3),
    "thunder": ("#1d2030", "#5c6479", 0.8, "#8f98b4", 0.7),
}
_GREY_OF_NIGHT: Colour = (26, 34, 66)
_ON_PEOPLE = 0.6
_LAMPLIT: Colour = (255, 224, 176)


@dataclasses.dataclass(frozen=True, slots=True)
class Light:
    """The light of one scene."""

    sky: tuple[Colour, Colour, Colour]  #: top, middle, horizon
    veil: Colour  #: multiplies every local colour of the place
    tint: Colour  #: what falls on people: less of it, so that faces keep their own colours
    haze: Colour  #: what distance fades into
    rim: Colour  #: the bright edge of people
    lamp: Colour  #: windows, lanterns
    night: bool
    dim: bool  #: lamps burn
    time: str
    weather: str
    dyes: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: code -> code instead

    def on(self, local: Colour, far: float = 0.0) -> Colour:
        """A local colour in this light, `far` of 0..1 away."""
        return colour.mix(colour.times(local, self.veil), self.haze, far)

    def hexed(self, local: str, far: float = 0.0) -> Colour:
        return self.on(colour.of(self.dyes.get(local, local)), far)


def under(lit: Light, dyes: Mapping[str, str]) -> Light:
    """The same light where things of some colours have others."""
    return dataclasses.replace(lit, dyes=dyes)


def of(scene: protocol.SceneLabels, *, roofed: bool = False) -> Light:
    """The light of a scene; unknown words count as a calm, clear day.

    Under a roof lamps soften what hour and weather do to things, but the window shows them whole.
    """
    time = scene.time if scene.time in _SKIES else "day"
    weather = scene.weather if scene.weather in _WEATHERS else "clear"
    night = time == "night"
    top, mid, low = (colour.of(c) for c in _SKIES[time])
    tint = colour.of(_TINTS[time])
    upper, lower, amount, cast, cast_by = _WEATHERS[weather]
    up, down, veil = colour.of(upper), colour.of(lower), colour.of(cast)
    if night:
        up, down = colour.mix(up, _GREY_OF_NIGHT, 0.8), colour.mix(down, _GREY_OF_NIGHT, 0.62)
        veil = colour.mix(veil, (255, 255, 255), 0.5)
    top, mid = colour.mix(top, up, amount), colour.mix(mid, colour.mix(up, down, 0.5), amount)
    low = colour.mix(low, down, amount)
    tint = colour.times(tint, colour.mix((255, 255, 255), veil, cast_by))
    sky = (top, mid, low)
    if roofed:
        tint = colour.mix(tint, _LAMPLIT if time in ("night", "dusk") else (246, 244, 240), 0.6)
    sky, tint = _mooded(sky, tint, scene.mood, weather)
    return Light(
        sky=sky,
        veil=tint,
        tint=colour.mix((255, 255, 255), tint, _ON_PEOPLE),
        haze=colour.mix(sky[2], sky[1], 0.35),
        rim=colour.mix(colour.of(_RIMS[time]), low, 0.25),
        lamp=(255, 208, 122),
        night=night,
        dim=time in ("night", "dusk") or weather == "thunder",
        time=time,
        weather=weather,
    )


def _mooded(
    sky: tuple[Colour, Colour, Colour], tint: Colour, mood: str, weather: str
) -> tuple[tuple[Colour, Colour, Colour], Colour]:
    changes: dict[str, tuple[Colour, float, Colour]] = {
        "warm": ((255, 206, 136), 0.22, (255, 228, 190)),
        "sad": ((120, 132, 150), 0.36, (206, 216, 232)),
        "tense": ((96, 36, 46), 0.38, (232, 200, 196)),
        "dark": ((20, 20, 40), 0.5, (158, 160, 190)),
        "bright": ((255, 250, 232), 0.16, (255, 255, 250)),
    }
    if mood not in changes:
        return sky, tint
    cast, amount, veil = changes[mood]
    if mood == "sad" and weather == "snow":  # winter's pale gold is sad enough
        amount, veil = amount * 0.35, colour.mix((255, 255, 255), veil, 0.4)
    # the light low in the sky keeps its colour, or a sad winter would be mere grey
    a, b, c = (
        colour.mix(tone, cast, amount * share)
        for tone, share in zip(sky, (1, 0.8, 0.4), strict=True)
    )
    return (a, b, c), colour.times(tint, veil)
