"""The horizon: what every place under the sky begins with: sky, hills, earth, far houses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import (
    backdrop,
    colour,
    houses,
    noise,
    pen,
    sky,
    stage,
    terraces,
    trees,
)

#: depths, from infinitely far to before the people
SKY, MID, WATER, GROUND, ROWS, NEAR, FRONT = 0.15, 0.3, 0.45, 0.5, 0.55, 1.0, 1.5


def heaven(s: stage.Stage, *ridges: tuple[float, float, str], orb: bool = True) -> noise.Floats:
    """Sky with lines of hills: (units above the horizon, rise, colour) each."""
    canvas = sky.sky(s, orb=orb)
    for k, (up, rise, tone) in enumerate(ridges):
        far = 0.62 - 0.2 * k
        sky.ridge(s, canvas, s.horizon - up, rise=rise, salt=60 + k, tone=s.light.hexed(tone, far))
    return canvas


def painted(canvas: noise.Floats) -> stage.Sheet:
    """The farthest sheet."""
    return stage.Sheet(backdrop.solid(canvas), SKY)


def earth(
    s: stage.Stage, far: str, near: str, *, drop: float = 0, rise: float = 6, lit: bool = False
) -> stage.Sheet:
    """Ground from the horizon on, white in snow; `lit` puts light on its crest."""
    if s.light.weather == "snow":
        far, near = "#e9e8ea", "#c3c8d4"
    edge = colour.mix(s.light.rim, s.light.sky[2], 0.3) if lit else None
    image = backdrop.ground(
        s,
        s.horizon + drop,
        s.light.hexed(far, 0.25),
        colour.dark(s.light.hexed(near), 0.18),
        salt=70,
        rise=rise,
        edge=edge,
    )
    return stage.Sheet(image, GROUND)


def drawn(s: stage.Stage, draw: Callable[[pen.Pen], None], depth: float) -> stage.Sheet:
    """What `draw` inks, with lines as by hand."""
    p = s.pen()
    draw(p)
    return stage.Sheet(p.sheet(wobble=1.0 * s.unit, seed=11), depth)


def front(s: stage.Stage, draw: Callable[[pen.Pen], None]) -> stage.Sheet:
    """Something dark and out of focus before everything: keep it to the edges."""
    p = s.pen(over=1)
    draw(p)
    return stage.Sheet(backdrop.blurred(s, p.sheet(), 3.6), FRONT)


def shade(s: stage.Stage, local: str = "#2c2a2e") -> colour.Colour:
    """What stands in the foreground against the light."""
    return colour.mix(colour.dark(s.light.hexed(local), 0.25), s.light.haze, 0.06)


def leaf(s: stage.Stage) -> str | None:
    """The season's leaves; none in snow."""
    if s.light.weather == "snow":
        return None
    return ("#64835a", "#7d9256", "#6f8a5c", "#587a63")[s.home % 4]


def row(s: stage.Stage, y: float, *, far: float, size: float) -> Callable[[pen.Pen], None]:
    """A row of houses of the era along a line."""
    chance = s.fixed(80)

    def draw(p: pen.Pen) -> None:
        x, k = -60.0, 0
        while x < s.w + 80:
            w, tall = size * chance.uniform(0.8, 1.3), chance.uniform(1.1, 2.4)
            with p.moved(x + w / 2, y + 4 + chance.uniform(-5, 6)):
                if s.western:
                    timber = s.era == "medieval"
                    terraces.house(
                        p, w, w * (0.5 + 0.3 * tall), s.light, chance, far=far, timber=timber
                    )
                elif s.old:
                    houses.cottage(p, w, w * 0.5, s.light, chance, far=far, gable=k % 3 == 1)
                else:
                    houses.block(p, w, w * tall, s.light, chance, far=far)
            x += w * chance.uniform(0.92, 1.12)
            k += 1

    return draw


def grove(
    s: stage.Stage, y: float, *spots: tuple[float, float], far: float
) -> Callable[[pen.Pen], None]:
    """Trees at (share of the width, height) along a line."""
    chance = s.fixed(81)

    def draw(p: pen.Pen) -> None:
        for x, h in spots:
            with p.moved(s.w * x, y + 6):
                trees.tree(p, h, s.light, chance, far=far, leaf=leaf(s))

    return draw


def softened(s: stage.Stage, sheet: stage.Sheet, strength: float = 0.34) -> stage.Sheet:
    """A far sheet whose foot lies in haze."""
    image: protocol.Image = sheet.image.copy()
    rows = image.shape[0]
    end = int(s.horizon * s.unit)
    start = int((s.horizon - 230) * s.unit)
    t = (np.arange(rows) - start) / max(1, end - start)
    veil = (np.clip(t, 0, 1) ** 2 * strength).astype(np.float32)[:, None, None]
    haze = np.array(s.light.haze, np.float32) / 255
    alpha = image[..., 3:4].astype(np.float32)
    image[..., :3] = image[..., :3] * (1 - veil) + haze * alpha * veil + 0.5
    return stage.Sheet(image, sheet.depth)
