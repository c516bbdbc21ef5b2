"""Objects: the things that words name, where they belong in a scene, or large for an insert."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from mangen.engines.animatic import (
    animals,
    backdrop,
    belongings,
    colour,
    crops,
    decor,
    dye,
    fixtures,
    horizon,
    light,
    nature,
    noise,
    outline,
    pen,
    places,
    sky,
    stage,
    tools,
    vehicles,
)

#: a thing of about 600 units that stands on the origin
THINGS: dict[str, Callable[[pen.Pen, light.Light], None]] = {
    **tools.TOOLS,
    **belongings.BELONGINGS,
    **animals.ANIMALS,
    **vehicles.VEHICLES,
    **fixtures.FIXTURES,
}
_SKIES = frozenset({"moon", "rain", "snow"})
#: what `draw` or `portrait` know
KNOWN: frozenset[str] = frozenset(THINGS) | _SKIES

_SHORES = frozenset({"river", "sea"})
#: what stands or lies on the ground out of doors, and how large
_OUTSIDE: dict[str, float] = {
    "horse": 0.62, "dog": 0.34, "cat": 0.24, "animal": 0.42, "car": 0.72, "bicycle": 0.56,
    "tree": 1.0, "fire": 0.4, "flag": 0.95, "drum": 0.46, "bell": 0.5, "fork": 0.56, "sword": 0.42,
    "staff": 0.56, "lantern": 0.5, "umbrella": 0.4, "flower": 0.3, "flowers": 0.3, "table": 0.5,
    "chair": 0.42, "train": 0.7, "throne": 0.6,
}  # fmt: skip
#: the same under a roof
_INSIDE: dict[str, float] = {
    "dog": 0.4, "cat": 0.32, "bed": 0.86, "desk": 0.6, "table": 0.62, "chair": 0.56, "throne": 0.72,
    "screen": 0.8, "drum": 0.52, "door": 0.98, "flag": 0.8, "bell": 0.6, "brazier": 0.5,
    "mirror": 0.6, "animal": 0.42,
}  # fmt: skip
#: what lies on a small table; outside only where a meal would
_TABLED = frozenset(belongings.BELONGINGS) | {"sword", "lantern", "umbrella", "clock", "watch"}
_MEALS = frozenset({"food", "wine", "cup", "tea", "money", "lamp", "candle"})


#: what is wider than others, and by how much it is smaller in a portrait
_WIDE: dict[str, float] = {"fan": 0.72, "train": 0.72, "horse": 0.82, "food": 0.9, "car": 0.92,
    "melons": 0.78, "tree": 0.74,
}  # fmt: skip


def draw(s: stage.Stage, name: str) -> list[stage.Sheet]:
    """Sheets that put a thing into the scene; nothing for what belongs nowhere in it."""
    roofed = places.roofed(s)
    if name == "melons" and s.place in nature.PLACES:
        y = s.h * nature.SHORES.get(s.place, s.horizon / s.h)
        return [
            horizon.drawn(s, lambda p: crops.melons(p, s, y, near=False), horizon.ROWS),
            horizon.drawn(s, lambda p: crops.melons(p, s, y, near=True), horizon.NEAR),
        ]
    if name == "boat":
        return [_boat(s)] if s.place in _SHORES else []
    if name == "bird" and not roofed:
        return [horizon.drawn(s, lambda p: _flock(p, s), horizon.MID)]
    if name == "fire" and roofed:
        if s.western and s.place == "room":
            return []  # it burns in the hearth
        name = "brazier"
    slot, kind = _slot(s, name, roofed=roofed)
    if slot > 1:
        return []
    if kind == "stand":
        return [horizon.drawn(s, lambda p: _stand(p, s, name, slot), horizon.ROWS)]
    if kind == "ground":
        size = (_INSIDE if roofed else _OUTSIDE)[name]
        return [horizon.drawn(s, lambda p: _ground(p, s, name, (slot, size)), horizon.ROWS)]
    return []


def _kind(s: stage.Stage, name: str, *, roofed: bool) -> str:
    if name in (_INSIDE if roofed else _OUTSIDE):
        return "ground"
    if name == "door" or (name == "boat" and s.place in _SHORES):
        return ""
    return "stand" if name in (_TABLED if roofed else _MEALS) else ""


def _slot(s: stage.Stage, name: str, *, roofed: bool) -> tuple[int, str]:
    """The how manieth of the things on one side or the other it is, and how it is shown."""
    placed = [one for one in sorted(s.objects | {name}) if _kind(s, one, roofed=roofed)]
    kind = _kind(s, name, roofed=roofed)
    return (placed.index(name) if kind else 0), kind


def _ground(p: pen.Pen, s: stage.Stage, name: str, at: tuple[int, float]) -> None:
    slot, size = at
    y = places.ground(s)
    y += (s.h - y) * (0.2 if size > 0.6 else 0.3)
    side = -s.side if slot == 0 else s.side
    reach = 0.17 if size > 0.5 else 0.24
    with p.moved(s.w * (0.5 + side * reach), y, scale=size, flip=side > 0):
        p.fill(outline.ellipse(0, -4, 250, 26), (14, 12, 22), alpha=0.3)
        if name == "door" and not s.old:
            decor.door(p, (290, 580), s.light, old=False)
        else:
            THINGS[name](p, s.light)


def _stand(p: pen.Pen, s: stage.Stage, name: str, slot: int) -> None:
    """A small table at a side with the thing on it."""
    side = -s.side if slot == 0 else s.side
    y = places.ground(s) + (s.h - places.ground(s)) * 0.36
    wood = s.light.hexed("#6b4a38" if s.old else "#a9835c")
    with p.moved(s.w * (0.5 + side * 0.28), y):
        p.fill(outline.ellipse(0, 0, 120, 14), (14, 12, 22), alpha=0.3)
        for x in (-82, 62):
            p.shape(outline.box(x, -200, 20, 200), colour.dark(wood, 0.25), width=4.5)
        p.shape(outline.box(-96, -196, 192, 34), colour.dark(wood, 0.12), width=4.5)
        p.shape(outline.box(-116, -218, 232, 26), wood, width=5)
        with p.moved(0, -216, scale=0.28):
            THINGS[name](p, s.light)


def _boat(s: stage.Stage) -> stage.Sheet:
    """A covered boat near the shore."""
    y = s.h * nature.SHORES[s.place] - 46

    def afloat(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - s.side * 0.1), y, scale=0.78):
            vehicles.wupeng(p, s.light)

    return horizon.drawn(s, afloat, horizon.GROUND)


def _flock(p: pen.Pen, s: stage.Stage) -> None:
    """Birds that fly off in a loose line."""
    chance = s.fixed(95)
    for k in range(7):
        x = s.w * (0.5 - s.side * (0.3 - 0.055 * k))
        y = s.h * (0.4 - 0.022 * k) + chance.uniform(-24, 24)
        with p.moved(x, y, scale=0.09 + 0.012 * k, flip=s.side < 0):
            animals.bird(p, s.light)


def portrait(s: stage.Stage, name: str) -> list[stage.Sheet]:
    """A thing alone, large, before the blurred place, opaque sheet first; unknown: nothing."""
    name, code = dye.parted(name)
    if name == "moon":
        return [horizon.painted(_moonlit(s))]
    if name in ("rain", "snow"):
        s = dataclasses.replace(s, light=dataclasses.replace(s.light, weather=name))
        name = "window"
    if name not in THINGS:
        return []
    lit = dye.dyed(s.light, name, code)
    base, size = s.h * 0.655, min(1.0, s.h * 0.4 / 600, s.w * 0.78 / 700)
    size *= _WIDE.get(name, 1.0)

    def alone(p: pen.Pen) -> None:
        with p.moved(s.w / 2, base, scale=size):
            p.fill(outline.ellipse(0, 0, 330, 36), (14, 12, 22), alpha=0.4)
            THINGS[name](p, lit)

    return [
        stage.Sheet(backdrop.solid(_behind(s, base)), horizon.SKY),
        horizon.drawn(s, alone, horizon.NEAR),
    ]


def _behind(s: stage.Stage, base: float) -> noise.Floats:
    """The place out of focus, a plane to lie on, light around the middle."""
    found = places.sheets(s)
    image = found[0].image[..., :3]
    for one in found[1:]:
        image = pen.over(image, one.image) if one.depth < horizon.NEAR else image
    canvas: noise.Floats = backdrop.blurred(s, image, 15).astype(np.float32)
    canvas *= np.float32(0.72)
    roofed = places.roofed(s)
    local = "#7a5540" if roofed else "#6d6650"
    near = s.light.hexed(local)
    plane = backdrop.ground(s, base - s.h * 0.05, near, colour.dark(near, 0.45), salt=96, rise=0)
    weight = plane[..., 3:4].astype(np.float32) / 255
    canvas = (canvas * (1 - weight) + plane[..., :3]).astype(np.float32)
    tone = s.light.lamp if s.light.dim else (255, 244, 214)
    sky.shine(s, canvas, s.w / 2, s.h * 0.46, r=s.w * 0.62, tone=tone, strength=0.5)
    return canvas


def _moonlit(s: stage.Stage) -> noise.Floats:
    """Nothing but the moon."""
    top, mid, low = (colour.of(c) for c in ("#070d2a", "#1b3062", "#3f6aa6"))
    canvas = sky.gradient(s, [(0, top), (0.6, mid), (1, low)])
    sky.stars(s, canvas)
    r = min(s.w * 0.3, s.h * 0.3)
    sky.moon(s, canvas, s.w / 2, s.h * 0.43, r)
    tone = colour.mix(mid, (190, 206, 232), 0.4)
    for k, y in enumerate((0.5, 0.6)):
        sky.clouds(s, canvas, s.h * y, thick=60, salt=50 + k, tone=tone, alpha=0.6)
    return canvas
