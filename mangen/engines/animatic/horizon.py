"""The horizon: what every place under the sky begins with: sky, hills, earth, far houses."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import backdrop, noise, pen, props, stage

SKY, MID, GROUND, NEAR = 0.15, 0.4, 0.55, 0.8  #: depths


def sky(s: stage.Stage, *ridges: tuple[float, float, str], orb: bool = True) -> noise.Floats:
    """Sky with lines of hills: (units above the horizon, rise, colour) each."""
    canvas = backdrop.sky(s, orb=orb)
    for k, (up, rise, tone) in enumerate(ridges):
        far = 0.62 - 0.2 * k
        backdrop.ridge(
            s,
            canvas,
            s.horizon - up,
            rise=rise,
            salt=60 + k,
            tone=s.light.hexed(tone, far),
        )
    return canvas


def earth(s: stage.Stage, far: str, near: str, *, drop: float = 0, rise: float = 6) -> stage.Sheet:
    if s.light.weather == "snow":
        far, near = "#e9e8ea", "#d3d6de"
    image = backdrop.ground(
        s, s.horizon + drop, s.light.hexed(far, 0.25), s.light.hexed(near), salt=70, rise=rise
    )
    return stage.Sheet(image, GROUND)


def drawn(s: stage.Stage, draw: Callable[[pen.Pen], None], depth: float) -> stage.Sheet:
    p = s.pen()
    draw(p)
    return stage.Sheet(p.sheet(wobble=1.0 * s.unit, seed=s.seed + 1), depth)


def leaf(s: stage.Stage) -> str | None:
    if s.light.weather == "snow":
        return None
    return ("#64835a", "#7d9256", "#a9803f", "#587a63")[s.seed % 4]


def houses(s: stage.Stage, y: float, *, far: float, size: float) -> Callable[[pen.Pen], None]:
    chance = s.chance(80)

    def draw(p: pen.Pen) -> None:
        x = -60.0
        while x < s.w + 80:
            w = size * chance.uniform(0.8, 1.3)
            with p.moved(x + w / 2, y + 4):
                if s.old:
                    props.cottage(
                        p, w, w * 0.5, s.light, chance, far=far, gable=chance.random() < 0.5
                    )
                else:
                    props.block(p, w, w * chance.uniform(1.1, 2.4), s.light, chance, far=far)
            x += w * chance.uniform(0.95, 1.15)

    return draw
