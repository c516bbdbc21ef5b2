"""Crops: what grows in rows that widen towards us: grain, and the melons by the sea."""

from __future__ import annotations

import random

from mangen.engines.animatic import colour, outline, pen, stage
from mangen.engines.animatic.colour import Colour

_ROWS = 8


def rows(p: pen.Pen, s: stage.Stage) -> None:
    """Young grain in furrows that meet at the horizon."""
    chance, y = s.fixed(70), s.horizon
    snow = s.light.weather == "snow"
    green = s.light.hexed("#b9b7a8" if snow else "#7d944c")
    for k in range(-8, 9):
        x = s.w / 2 + k * 46
        p.line(
            outline.straight([(x, y + 12), (s.w / 2 + (x - s.w / 2) * 4.4, s.h + 20)]),
            26,
            paint=colour.dark(green, 0.42),
            taper=(0.9, 0),
            alpha=0.6,
        )
    for row in range(11):
        t = ((row + 1) / 11) ** 1.7
        yy = y + 16 + (s.h - y) * t
        tone = colour.mix(colour.mix(green, s.light.haze, 0.3), colour.dark(green, 0.12), t)
        for k in range(-8, 9):
            xx = s.w / 2 + k * 46 * (1 + 3.4 * t)
            if not -40 < xx < s.w + 40:
                continue
            with p.moved(xx + chance.uniform(-4, 4), yy, scale=0.25 + 1.15 * t):
                for lean in (-30, -16, -4, 8, 20, 32):
                    blade = outline.curve(
                        [(0, 0), (lean * 0.4, -24), (lean, -40 - chance.uniform(0, 16))],
                        closed=False,
                    )
                    p.line(blade, 8, paint=colour.dark(tone, chance.uniform(0, 0.24)),
                           taper=(0, 0.7))  # fmt: skip


def patch(s: stage.Stage, y: float, *, near: bool) -> list[tuple[float, float, float, int]]:
    """Where melons lie from `y` down, the far ones first: (x, y, radius, seed)."""
    chance = s.fixed(73)
    found = []
    for row in range(_ROWS):
        t = row / (_ROWS - 1)
        line, r = y + 26 + t**1.55 * (s.h - y - 30), 8 + 60 * t**1.25
        step = r * (3.0 if t > 0.3 else 2.7)
        x = -80 + chance.random() * step
        while x < s.w + 80:
            spot = (x, line + chance.uniform(-0.25, 0.25) * r, r * chance.uniform(0.8, 1.12))
            if near == (t > 0.72):
                found.append((*spot, chance.randrange(1 << 20)))
            x += step * chance.uniform(0.85, 1.3)
    return sorted(found, key=lambda one: one[1])


def melons(p: pen.Pen, s: stage.Stage, y: float, *, near: bool) -> None:
    """Striped melons in rows, between their leaves; the near rows apart from the others."""
    gold = (255, 233, 174) if s.light.night else colour.pale(s.light.rim, 0.2)
    for x, yy, r, seed in patch(s, y, near=near):
        t = min(1.0, max(0.0, (yy - y) / (s.h - y)))
        green = (46, 140, 88) if not s.light.night else colour.mix((62, 127, 120), (44, 138, 86), t)
        base = s.light.on(green, 0.2 * (1 - t)) if not s.light.night else colour.dark(green, 0.1)
        leafy = colour.dark(colour.mix(base, (40, 108, 92), 0.5), 0.22)
        chance = random.Random(seed)
        for _ in range(3):
            leaf(p, x + chance.uniform(-1.4, 1.4) * r, yy + chance.uniform(0.1, 0.7) * r,
                 size=r / 52 * chance.uniform(0.7, 1.1), tone=leafy, chance=chance)  # fmt: skip
        with p.moved(x, yy, turn=chance.uniform(-14, 14)):
            melon(p, r, base, gold)
        for _ in range(2):
            leaf(p, x + chance.uniform(-1.3, 1.3) * r, yy + chance.uniform(0.6, 1.0) * r,
                 size=r / 50 * chance.uniform(0.6, 1.0), tone=colour.pale(leafy, 0.1),
                 chance=chance)  # fmt: skip
        if r > 20:
            vine = outline.curve([(x - r * 1.6, yy + r * 0.8), (x - r * 0.8, yy + r * 0.45),
                                  (x, yy + r * 0.85), (x + r * 1.3, yy + r * 0.7)],
                                 closed=False)  # fmt: skip
            p.line(vine, max(1.6, r * 0.08), paint=colour.dark(leafy, 0.4))


def melon(p: pen.Pen, r: float, base: Colour, light: Colour) -> None:
    """One melon around the origin."""
    p.fill(outline.ellipse(r * 0.1, r * 0.72, r * 1.15, r * 0.26), (11, 19, 38), alpha=0.4)
    body = outline.ellipse(0, 0, r, r * 0.84)
    p.fill(body, colour.dark(base, 0.3))
    with p.clipped(body):
        p.fill(outline.ellipse(r * 0.1, -r * 0.1, r, r * 0.84), base)
        stripe = colour.dark(base, 0.52)
        for k in (-0.78, -0.4, 0, 0.4, 0.78):
            bend = outline.curve([(k * r * 0.5, -r * 0.82), (k * r * 0.98, -r * 0.3),
                                  (k * r * 0.98, r * 0.3), (k * r * 0.5, r * 0.82)],
                                 closed=False)  # fmt: skip
            for a in range(0, len(bend) - 4, 5):
                p.line(bend[a : a + 5], r * 0.13, paint=stripe, taper=(0.2, 0.2))
        p.fill(outline.ellipse(r * 0.3, -r * 0.42, r * 0.34, r * 0.14, turn=8),
               colour.mix(base, light, 0.62))  # fmt: skip
    p.ink(body, max(1.4, r * 0.06), colour.mix(colour.INK, (16, 32, 43), 0.5))


def leaf(
    p: pen.Pen, x: float, y: float, *, size: float, tone: Colour, chance: random.Random
) -> None:
    """A lobed leaf that points anywhere upwards."""
    with p.moved(x, y, scale=size, turn=chance.uniform(-70, 70)):
        p.fill(
            outline.curve([(0, 0, 1), (-26, -10), (-36, -34), (-14, -50, 1), (-12, -64), (12, -64),
                           (14, -50, 1), (36, -34), (26, -10)]),
            tone,
        )  # fmt: skip
        if size > 0.4:
            p.line(outline.straight([(0, 0), (0, -52)]), 3, paint=colour.dark(tone, 0.35))
            for k in (-18, 18):
                p.line(outline.straight([(0, -20), (k, -36)]), 3, paint=colour.dark(tone, 0.35))
