"""Boats."""

from __future__ import annotations

from mangen.engines.animatic import colour, light, outline, pen


def covered(p: pen.Pen, w: float, lit: light.Light) -> None:
    """A black-awninged boat, lying at the origin, with a lamp at the bow."""
    k = w / 640
    hull, awning = lit.hexed("#5a4334"), lit.hexed("#3b3a42")
    with p.moved(0, 0, scale=k):
        p.fill(outline.ellipse(0, 38, 330, 17), colour.dark(hull, 0.5), alpha=0.4)
        for x in (-118, -6, 106):
            hood = outline.curve(
                [(x - 68, 0, 1), (x - 62, -84), (x, -126), (x + 62, -84), (x + 68, 0, 1)]
            )
            p.shape(hood, awning, shade=colour.dark(awning, 0.3), width=5)
            for d in (-40, -14, 14, 40):
                p.line(outline.curve([(x + d * 1.2, -4), (x + d, -70), (x + d * 0.5, -116)],
                    closed=False),
                       3, paint=colour.pale(awning, 0.18))  # fmt: skip
        p.shape(outline.curve([(-330, -36, 1), (-276, 16), (-200, 38), (200, 38), (280, 14),
                               (342, -48, 1), (220, -8), (0, -2), (-220, -8)]), hull,
                shade=colour.dark(hull, 0.34), shift=(4, -14))  # fmt: skip
        p.line(outline.straight([(202, -100), (202, -72)]), 4)
        if lit.dim or lit.weather != "clear":
            p.glow(202, -56, 110, (255, 184, 90), alpha=0.8)
        p.shape(outline.ellipse(202, -54, 15, 20), (240, 168, 70), width=3.5)


def sail(p: pen.Pen, lit: light.Light, *, far: float) -> None:
    """A junk under one ribbed sail, about 600 units tall, afloat at the origin."""
    hull, cloth = lit.hexed("#4a3a33", far), lit.hexed("#b9a37c", far)
    line = colour.mix(colour.INK, lit.haze, far)
    p.line(outline.straight([(10, -20), (10, -610)]), 18, paint=line, taper=(0, 0))
    leech = [(30, -590, 1), (250, -470), (270, -250), (200, -90, 1), (-150, -110, 1), (-110, -400)]
    p.shape(outline.curve(leech), cloth, shade=colour.dark(cloth, 0.25), line=line, width=12)
    for k in range(1, 5):
        y = -590 + 98 * k
        p.line(outline.straight([(-110, y), (256, y + 20)]), 9, paint=line, taper=(0, 0))
    p.shape(
        outline.curve(
            [(-300, -70, 1), (-230, 10), (210, 10), (330, -90, 1), (180, -40), (-150, -40)]
        ),
        hull,
        line=line,
        width=12,
    )
