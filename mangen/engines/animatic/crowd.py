"""Crowds: rows of people behind the scene's own, simple and in the scene's light."""

from __future__ import annotations

import random

from mangen.engines.animatic import colour, horizon, outline, pen, places, stage
from mangen.engines.animatic.colour import Colour

_OLD = frozenset({"ancient", "xianxia"})
#: era -> what people wear
_CLOTHES: dict[str, tuple[str, ...]] = {
    "ancient": ("#7d8a8f", "#8f7a5c", "#6d7d6a", "#8c6a62", "#a39a84", "#5c6472"),
    "xianxia": ("#b9c4c6", "#8fa3a8", "#a8a2b8", "#c2b8a4", "#7f9394", "#9a8fa0"),
    "republic": ("#4e5a6c", "#6d6a64", "#5f6b5a", "#7a5f52", "#3f4654", "#857a66"),
    "countryside": ("#5a6472", "#7a6a52", "#6a7258", "#8a6f5a", "#4e545c", "#948a74"),
    "campus": ("#3e5577", "#e2ddd2", "#4f6a62", "#5d5f72", "#c9c4ba", "#3f4a5c"),
    "victorian": ("#4a3f52", "#3f4a44", "#6a5a4e", "#34405a", "#5a4a48", "#7d7464"),
    "medieval": ("#7a6248", "#5a6b4f", "#8a7a5c", "#6b4f3f", "#5f6472", "#94856a"),
    "future": ("#8fa3b0", "#c9ccd0", "#5c6672", "#4a4f66", "#a8b4ba", "#6f7d8a"),
    "modern": ("#4a5568", "#8a7f78", "#5c6f6a", "#7b5f62", "#3d414c", "#a39c90"),
}


def draw(s: stage.Stage) -> list[stage.Sheet]:
    """Two rows of people, fading into the haze, behind the people of the shot."""
    return [horizon.drawn(s, lambda p: _rows(p, s), horizon.ROWS)]


def _rows(p: pen.Pen, s: stage.Stage) -> None:
    chance = s.fixed(97)
    ground = places.ground(s)
    for row, (drop, size, far) in enumerate(
        ((0.1, 0.3, 0.46), (0.18, 0.38, 0.3), (0.28, 0.48, 0.16))
    ):
        step = 250 * size
        x = -step * chance.random()
        while x < s.w + step:
            gap = abs(x / s.w - 0.5) < (0.0, 0.1, 0.2)[row]  # room for the shot's own people
            y = ground + (s.h - ground) * drop + chance.uniform(-12, 12)
            seed = chance.randrange(1 << 20)
            if not gap:
                with p.moved(x, y, scale=size * chance.uniform(0.9, 1.08), flip=x > s.w / 2):
                    _person(p, s, random.Random(seed), far)
            x += step * chance.uniform(0.7, 1.25)


def _person(p: pen.Pen, s: stage.Stage, chance: random.Random, far: float) -> None:
    """Somebody about 700 units tall, turned to the middle, a face in three strokes."""
    clothes = _CLOTHES.get(s.era, _CLOTHES["modern"])
    cloth = s.light.hexed(chance.choice(clothes), far)
    skin, hair = s.light.hexed("#d9b48f", far), s.light.hexed("#2b262b", far)
    line = colour.mix(colour.INK, s.light.haze, far)
    wide, tall = chance.uniform(0.92, 1.14), chance.uniform(0.92, 1.05)
    long = s.era in _OLD or (s.era == "republic" and chance.random() < 0.5)
    woman, style = chance.random() < 0.45, chance.random()
    with p.moved(0, 0, scale=tall):
        p.fill(outline.ellipse(0, 0, 120, 16), colour.dark(cloth, 0.7), alpha=0.3)
        _body(p, cloth, line, (wide, long or woman))
        arm = outline.curve(
            [(-70 * wide, -480), (-112 * wide, -380), (-84 * wide, -270)], closed=False
        )
        p.line(arm, 54, paint=line, taper=(0, 0))
        p.line(arm, 42, paint=colour.dark(cloth, 0.14), taper=(0, 0))
        p.shape(outline.box(-20, -560, 44, 60), skin, width=5, line=line)
        p.shape(outline.ellipse(8, -610, 66, 76), skin, width=6, line=line)
        for x in (14, 48):  # far away a face is two dots
            p.fill(outline.ellipse(x, -606, 5, 8), line, alpha=0.8)
        p.line(outline.straight([(24, -572), (42, -572)]), 5, paint=line, alpha=0.6)
        _hair(p, hair, line, (woman, s.era in _OLD, style))


def _body(p: pen.Pen, cloth: Colour, line: Colour, shape: tuple[float, bool]) -> None:
    wide, gown = shape
    dim = colour.dark(cloth, 0.26)
    if gown:
        p.shape(outline.curve([(-60 * wide, -510), (-90 * wide, -440), (-80 * wide, -280),
                               (-120 * wide, 0, 1), (120 * wide, 0, 1), (80 * wide, -280),
                               (92 * wide, -440), (60 * wide, -510), (0, -520)]), cloth,
                shade=dim, width=6, line=line)  # fmt: skip
        p.line(
            outline.straight([(-78 * wide, -300), (78 * wide, -300)]), 14, paint=dim, taper=(0, 0)
        )
        return
    leg = colour.dark(cloth, 0.5)
    for x in (-56, 8):
        p.shape(outline.box(x * wide, -270, 50 * wide, 270), leg, width=6, line=line)
    p.shape(outline.curve([(-60 * wide, -510), (-94 * wide, -440), (-84 * wide, -220, 1),
                           (84 * wide, -220, 1), (96 * wide, -440), (60 * wide, -510), (0, -520)]),
            cloth, shade=dim, width=6, line=line)  # fmt: skip


def _hair(p: pen.Pen, hair: Colour, line: Colour, who: tuple[bool, bool, float]) -> None:
    woman, old, style = who
    p.shape(outline.curve([(-66, -590, 1), (-72, -660), (-10, -706), (60, -690), (76, -640, 1),
                           (20, -650), (-24, -600, 1), (-40, -540)]), hair, width=5,
                           line=line)  # fmt: skip
    if old:
        p.shape(outline.ellipse(-14, -712, 30, 28), hair, width=5, line=line)
    elif woman and style < 0.6:
        p.shape(outline.curve([(-66, -640, 1), (-96, -560), (-80, -450, 1), (-34, -470, 1),
                               (-30, -600)]), hair, width=5, line=line)  # fmt: skip
    elif not woman and style > 0.7:
        brim = outline.curve([(-96, -650), (0, -676), (104, -646), (0, -640)])
        p.shape(outline.curve([(-62, -660, 1), (-50, -720), (50, -720), (66, -656, 1)]), hair,
                width=5, line=line)  # fmt: skip
        p.shape(brim, colour.dark(hair, 0.2), width=5, line=line)
