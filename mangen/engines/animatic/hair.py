"""Hair, in the face's units: what hangs behind the head and what lies on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import colour, face, hairdo, hat, outline, pen
from mangen.engines.animatic.colour import Colour

Knots = list[tuple[float, ...]]
_SKY: Colour = (104, 128, 178)  #: what black hair shines in


def _style(look: Mapping[str, Any]) -> tuple[str, hairdo.Do]:
    style: str = look["hair_style"]
    if look["hat"] != "none":
        style = hairdo.FLATTENED.get(style, style)
    return style, hairdo.STYLES.get(style, hairdo.STYLES["short"])


def behind(p: pen.Pen, look: Mapping[str, Any], turn: float) -> None:
    """Draw what the head and shoulders cover."""
    w, g = face.half_width(look), -turn * 12
    style, do = _style(look)
    hair = colour.of(look["hair"])
    back = colour.dark(hair, 0.3)
    ribbon = colour.of(look["trim"])
    if do.fall:
        _flowing(p, w, g, back, do)
    if style == "bob":
        knots: Knots = [(w + 12, -40), (w + 20, 46), (w + 4, 94, 1)]
        shape = outline.curve([(0, -124), *knots, (0, 100), *_mirrored(knots)])
        p.shape(outline.moved(shape, g * 0.5, 0), back)
    elif style == "ponytail":
        _tail(p, turn, back, ribbon, -1 if turn > 0.2 or -0.2 <= turn < 0 else 1)
    elif style == "twin_tails":
        for side in (-1, 1):
            _tail(p, turn, back, ribbon, side, out=w * 0.6)
    elif style == "queue":
        x = 34 if turn <= 0 else -34
        plait = outline.limb([(x + g, 40), (x * 2.2 + g, 170), (x * 2 + g, 330)], [30, 26, 14])
        p.shape(plait, back, width=5)
    _buns(p, style, w, g, hair=hair, back=back)
    for side in (-1, 1):
        if style == "tufts":
            p.shape(outline.ellipse(side * w * 0.82 + g, -112, 25, 24), hair, shade=back)
            p.fill(outline.ellipse(side * w * 0.7 + g, -98, 13, 8, turn=side * 30), ribbon)
        elif style == "braids":
            p.shape(outline.ellipse(side * (w + 4) + g, 44, 14, 20), back, width=4)


def _buns(p: pen.Pen, style: str, w: float, g: float, *, hair: Colour, back: Colour) -> None:
    spots: dict[str, list[tuple[float, float, float, float]]] = {
        "bun": [(g, -128, 44, 36)],
        "low_bun": [(g + (30 if g >= 0 else -30), 70, 46, 38)],
        "double_bun": [(-w * 0.72 + g, -116, 34, 32), (w * 0.72 + g, -116, 34, 32)],
        "topknot": [(g, -136, 24, 28)], "long_topknot": [(g, -136, 24, 28)],
        "updo": [(-34 + g, -138, 38, 34), (34 + g, -138, 38, 34), (g, -162, 40, 36)],
        "half_up": [(g, -128, 30, 24)],
    }  # fmt: skip
    for x, y, rx, ry in spots.get(style, []):
        p.shape(outline.ellipse(x, y, rx, ry), hair, shade=back, width=5)
        gloss = outline.ellipse(x, y - 2, rx * 0.62, ry * 0.56, start=190, end=330)
        p.line(gloss, 5, paint=colour.pale(hair, 0.25))


def _mirrored(knots: Knots) -> Knots:
    return [(-x, y, *corner) for x, y, *corner in reversed(knots)]


def _flowing(p: pen.Pen, w: float, g: float, tone: Colour, do: hairdo.Do) -> None:
    """Hair that falls behind the shoulders."""
    end, wave = do.fall, do.wave
    knots: Knots = [
        (w + 10, -60), (w + 20, 20), (w + 18 + wave, end * 0.42), (w + 22 - wave * 0.4, end * 0.72),
        (w + 6 + wave, end * 0.95, 1), (w * 0.4, end),
    ]  # fmt: skip
    fall = outline.curve([(0, -126), *knots, (0, end * 0.95, 1), *_mirrored(knots)])
    p.shape(outline.moved(fall, g, 0), tone, width=5)
    for k in (-0.8, -0.35, 0.35, 0.8):
        strand = [(k * w + g, 60), (k * (w + 14) + g, end * 0.6), (k * (w + 8) + g, end * 0.93)]
        p.line(outline.curve(strand, closed=False), 4, paint=colour.pale(tone, 0.14))


def _tail(
    p: pen.Pen, turn: float, tone: Colour, ribbon: Colour, side: int, *, out: float = 0
) -> None:
    """A tail, on the side the face turns away from, or one on each."""
    x = (-turn * 50 + 24 * side) if not out else side * out - turn * 12
    knots = [(0, -100, 1), (78, -112), (118, -20), (96, 92), (70, 160, 1), (58, 60), (30, -40)]
    if out:
        knots = [(-8, -96, 1), (50, -104), (92, -10), (84, 110), (52, 190, 1), (36, 80), (14, -40)]
    p.shape(outline.curve([(x + side * dx, *rest) for dx, *rest in knots]), tone)
    p.shape(outline.ellipse(x + side * (24 if out else 34), -100, 15, 13), ribbon, width=4)


def front(p: pen.Pen, look: Mapping[str, Any], turn: float) -> None:
    """Draw what lies on the head, the hat included."""
    w, g = face.half_width(look), turn * 10
    style, do = _style(look)
    hair = colour.of(look["hair"])
    trim = colour.of(look["trim"])
    if style == "balding":
        for side in (-1, 1):
            tuft: Knots = [
                (side * (w + 4), 10, 1), (side * (w + 15), -40), (side * w, -76),
                (side * (w - 18), -52), (side * (w - 9), -18),
            ]  # fmt: skip
            p.shape(outline.curve(tuft), hair, width=4)
    elif do.fringe:
        _cap(p, do, w, g, turn=turn, hair=hair)
    if style == "braids":
        _braids(p, w, hair, trim)
    if do.locks:
        _locks(p, w, g, do.locks, hair)
    _ornaments(p, look, style, g, trim)
    hat.draw(p, look, turn)


def _braids(p: pen.Pen, w: float, hair: Colour, trim: Colour) -> None:
    for side in (-1, 1):
        for k in range(5):
            x, y = side * (w + 6 + 2 * k), 62 + 31 * k
            p.shape(outline.ellipse(x, y, 16 - k, 19, turn=side * -14), hair,
                    shade=colour.dark(hair, 0.3), width=4)  # fmt: skip
        p.shape(outline.ellipse(side * (w + 16), 210, 12, 9), trim, width=4)


def _locks(p: pen.Pen, w: float, g: float, end: float, hair: Colour) -> None:
    """Strands before the ears."""
    for side in (-1, 1):
        x = side * (w - 3) + g * 0.3
        lock: Knots = [
            (x - side * 10, -52, 1), (x + side * 10, -46, 1), (x + side * 13, end * 0.5),
            (x + side * 2, end, 1), (x - side * 4, end * 0.4),
        ]  # fmt: skip
        p.shape(outline.curve(lock), hair, shade=colour.dark(hair, 0.3), width=4.5)


def _cap(p: pen.Pen, do: hairdo.Do, w: float, g: float, *, turn: float, hair: Colour) -> None:
    top, low = do.crown, do.sides
    fringe = [(k * w + g, y) for k, y in do.fringe]
    out = w + do.out
    near, far = 9 * max(0.0, turn), 9 * max(0.0, -turn)  # the back of a turned skull shows
    knots: Knots = [(-out - near * 0.4, low, 1), (-out - 6 - near, -46),
                    (-w * 0.78 + g * 0.5 - near * 0.6, top + 26)]  # fmt: skip
    knots += [(x * w + g, top + dy, 1) if sharp else (x * w + g, top + dy)
              for x, dy, sharp in do.top]  # fmt: skip
    knots += [(w * 0.78 + g * 0.5 + far * 0.6, top + 26), (out + 6 + far, -46),
              (out + far * 0.4, low, 1)]  # fmt: skip
    inner = max(-30.0, low * 0.5 - 26)
    knots += [(w - 7, inner), *[(x, y, 1) for x, y in reversed(fringe)], (-w + 7, inner)]
    cap = outline.curve(knots)
    if do.curly:
        for n in range(9):
            angle = math.radians(180 + 22.5 * n)
            x, y = g + math.cos(angle) * (out - 2), -46 + math.sin(angle) * (-top - 52)
            p.shape(outline.ellipse(x, y, 25, 24), hair, shade=colour.dark(hair, 0.3), width=5)
    p.shape(cap, hair, shade=colour.dark(hair, 0.34), shift=(8, -9), width=5)
    with p.clipped(cap):
        for k in (-0.85, -0.55, -0.26, 0.06, 0.36, 0.64, 0.88):
            strand = [(k * w * 0.5 + g, top + 12), (k * w + g, -78), (k * w * 1.15 + g, -46)]
            p.line(outline.curve(strand, closed=False), 3.2, paint=colour.dark(hair, 0.45),
                   alpha=0.7)  # fmt: skip
        _shine(p, w, g, top, hair)


def _shine(p: pen.Pen, w: float, g: float, top: float, hair: Colour) -> None:
    """The ring of light that lies around a head of hair, ragged below."""
    ring: Knots = []
    for n in range(13):
        x = -0.68 + n * 0.113
        ring.append((x * w + g * 1.2, top + 30 + 34 * x * x, 1))
    for n in reversed(range(13)):
        x = -0.68 + n * 0.113
        deep = 15 if n % 2 else 5
        ring.append((x * w + g * 1.2, top + 30 + 34 * x * x + deep * (1 - 0.9 * abs(x)), 1))
    light = colour.mix(colour.pale(hair, 0.32), _SKY, 0.34 if sum(hair) < 180 else 0.0)
    p.fill(outline.straight([knot[:2] for knot in ring]), light, alpha=0.62)


def _ornaments(p: pen.Pen, look: Mapping[str, Any], style: str, g: float, trim: Colour) -> None:
    if look["hat"] != "none":
        return
    if style in ("topknot", "long_topknot", "half_up") and not look["female"]:
        guan: Knots = [(-22 - g, -104), (-25 - g, -122, 1), (-12 - g, -127), (-g, -137),
                       (12 - g, -127), (25 - g, -122, 1), (22 - g, -104)]  # fmt: skip
        p.shape(outline.curve(guan), trim, shade=colour.dark(trim, 0.25), width=4)
        pin = outline.straight([(-46 - g, -116), (48 - g, -120)])
        p.line(pin, 11, taper=(0, 0))
        p.line(pin, 5, paint=colour.pale(trim, 0.4), taper=(0, 0))
    if not look["hairpin"] or style not in hairdo.PINNED:
        return
    y = -150.0 if style == "updo" else -122.0
    pin = outline.straight([(-62 - g, y + 10), (80 - g, y - 18)])
    p.line(pin, 11, taper=(0, 0))
    p.line(pin, 5, paint=(224, 184, 84), taper=(0, 0))
    for k in range(4):
        bead = outline.ellipse(84 - g + 2 * k, y - 18 + k * 16, 8 - k, 8 - k)
        p.shape(bead, ((197, 72, 61), (240, 214, 150))[k % 2], width=3)
    if style in ("updo", "double_bun"):
        for dx in (-22, 0, 22):
            p.shape(outline.ellipse(dx + g, -112, 10, 10), trim, width=3.4)
            p.fill(outline.ellipse(dx + g, -112, 4, 4), (240, 214, 150))
