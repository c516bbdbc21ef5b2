"""Rooms of the West: parlours and cottages with a hearth, halls with a stair or a throne."""

from __future__ import annotations

from mangen.engines.animatic import (
    colour,
    decor,
    furniture,
    horizon,
    interior,
    outline,
    pen,
    stage,
)


def room(s: stage.Stage) -> list[stage.Sheet]:
    """A parlour: papered wall, fireplace, curtains; or a cottage's one room under beams."""
    y, side = interior.floor(s), s.side
    rustic = s.era == "medieval"
    wood = s.light.hexed("#6a4632" if rustic else "#5a3a30")
    cloth = s.light.hexed(("#7a3038", "#2f4f4a", "#5a4a6e")[s.home % 3])

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#8a6a4c"))
        if rustic:
            interior.beams(p, s, wood)
        else:
            _papered(p, s, y, wood)
        w = min(250.0, s.w * 0.28)
        x = s.w * (0.5 - side * 0.27) - w / 2
        with p.moved(x, y - 760):
            furniture.window(p, w, 400, s.light, old=False)
            if not rustic:
                with p.moved(-44, -40):
                    furniture.curtain(p, w * 0.34, 660, cloth)
                with p.moved(w + 44, -40):
                    furniture.curtain(p, -w * 0.34, 660, cloth)
        interior.ray(p, s, (x, y - 360), w)
        with p.moved(s.w * (0.5 + side * 0.27), y + 8):
            hearth(p, s, rustic=rustic)
        if not rustic:
            with p.moved(s.w * (0.5 + side * 0.27), y - 760):
                decor.picture(p, (170, 210), s.light, s.fixed(53))

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.3), y + 120):
            if rustic:
                with p.moved(-side * 150, 6):
                    furniture.chair(p, 290, wood)
                furniture.table(p, 330, 210, wood)
                with p.moved(20, -230):
                    decor.candle(p, 120, s.light)
            else:
                _armchair(p, s, cloth)
        if not rustic:
            p.fill(outline.ellipse(s.w * 0.5, y + 150, s.w * 0.3, 46), s.light.hexed("#7d3f3c"))
            p.ink(outline.ellipse(s.w * 0.5, y + 150, s.w * 0.27, 38), 4, s.light.hexed("#c9a46a"))

    def near(p: pen.Pen) -> None:
        tone = horizon.shade(s, "#3a2420")
        if rustic:
            p.fill(outline.box(s.w * (0.5 + side * 0.48) - 60, -10, 120, s.h + 20), tone)
        else:
            with p.moved(s.w * (0.5 - side * 0.52), -20):
                furniture.curtain(p, side * s.w * 0.14, s.h + 40, tone)

    return interior.sheets(s, s.light.hexed("#cdbd98" if rustic else "#8f9a86"), back, front, near)


def _papered(p: pen.Pen, s: stage.Stage, y: float, wood: colour.Colour) -> None:
    """Wallpaper with a stripe, panels below it, a rail between."""
    paper = s.light.hexed("#7f8c78" if s.western else "#b99a72")
    for k in range(int(s.w / 56) + 2):
        p.fill(outline.box(k * 56 - 10, -10, 20, y), paper, alpha=0.5)
    p.shape(outline.box(-20, y - 210, s.w + 40, 212), colour.pale(wood, 0.1), width=4.5)
    p.shape(outline.box(-20, y - 226, s.w + 40, 22), wood, width=4.5)
    for k in range(int(s.w / 130) + 2):
        p.ink(outline.box(k * 130 - 40, y - 180, 96, 140), 3.5, colour.dark(wood, 0.3))
    p.shape(outline.box(-20, y - 26, s.w + 40, 28), wood, width=4)


def hearth(p: pen.Pen, s: stage.Stage, *, rustic: bool) -> None:
    """A fireplace around its foot, a clock on its shelf; it burns in the cold and the dark."""
    stone = s.light.hexed("#8c8578" if rustic else "#b9b0a2")
    w, h = 300.0, 380.0
    p.shape(outline.box(-w / 2, -h, w, h), stone, shade=colour.dark(stone, 0.2), width=5)
    if rustic:
        for k in range(5):
            for c in range(3):
                x = -w / 2 + (c + 0.5 * (k % 2)) * w / 3
                p.ink(outline.box(x, -h + 76 * k, w / 3, 76), 3, colour.dark(stone, 0.3))
    mouth = outline.curve([(-92, 0, 1), (-92, -200), (0, -244), (92, -200), (92, 0, 1)])
    p.shape(mouth, s.light.hexed("#2a2024"), width=5)
    burns = s.light.dim or s.light.weather != "clear" or "fire" in s.objects or rustic
    if burns:
        p.glow(0, -70, 300, (255, 150, 66), alpha=0.5)
        for k, tone in enumerate(((222, 92, 40), (246, 160, 60), (255, 226, 140))):
            r = 66 - 18 * k
            flame = [(-r, -8, 1), (-r * 0.8, -60), (-r * 0.2, -90), (0, -150 + 26 * k, 1),
                     (r * 0.4, -84), (r * 0.9, -54), (r, -8, 1)]  # fmt: skip
            p.fill(outline.curve(flame), tone)
    for x in (-60, 4):
        p.shape(outline.box(x, -22, 62, 20), s.light.hexed("#5a3d2c"), width=3.5)
    p.shape(outline.box(-w / 2 - 30, -h - 26, w + 60, 34), colour.dark(stone, 0.12), width=5)
    if rustic:
        for k in (-80, -10, 60):
            p.shape(outline.box(k, -h - 76, 40, 50), s.light.hexed("#8a6a4e"), width=3.5)
        return
    p.shape(outline.curve([(-48, -h - 26, 1), (-48, -h - 96), (0, -h - 128), (48, -h - 96),
                           (48, -h - 26, 1)]), s.light.hexed("#6a4232"), width=4)  # fmt: skip
    p.shape(outline.ellipse(0, -h - 80, 26, 26), s.light.hexed("#efe6d0"), width=3.5)
    p.line(outline.straight([(0, -h - 80), (0, -h - 98)]), 3, taper=(0, 0))
    for x in (-120, 110):
        with p.moved(x, -h - 26):
            decor.candle(p, 80, s.light)


def _armchair(p: pen.Pen, s: stage.Stage, cloth: colour.Colour) -> None:
    """A buttoned wing chair."""
    tone = colour.mix(cloth, s.light.hexed("#6a4a3a"), 0.45)
    p.fill(outline.ellipse(0, 0, 170, 18), (14, 12, 22), alpha=0.3)
    for x in (-116, 96):
        p.shape(outline.box(x, -40, 20, 42), s.light.hexed("#4a3026"), width=3.5)
    back = [(-120, -120, 1), (-136, -380), (-70, -420), (70, -420), (136, -380), (120, -120, 1)]
    p.shape(outline.curve(back), tone, shade=colour.dark(tone, 0.28), width=5)
    for x, y in ((-50, -340), (50, -340), (0, -280), (-50, -220), (50, -220)):
        p.fill(outline.ellipse(x, y, 6, 6), colour.dark(tone, 0.45))
    p.shape(outline.box(-130, -190, 260, 152), colour.pale(tone, 0.06),
            shade=colour.dark(tone, 0.25), width=5)  # fmt: skip
    for side in (-1, 1):
        arm = outline.box(-166 if side < 0 else 110, -232, 56, 196)
        p.shape(arm, tone, shade=colour.dark(tone, 0.3), width=5)


def hall(s: stage.Stage) -> list[stage.Sheet]:
    """A hall: a stair with its banister and a lamp; or stone, banners and a high seat."""
    y, side = interior.floor(s), s.side
    stony = s.era == "medieval"
    wood = s.light.hexed("#5a3a2c")
    red = s.light.hexed("#7d2f38")

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#8d8578" if stony else "#a79c8a"))
        carpet = [(s.w * 0.44, y), (s.w * 0.56, y), (s.w * 0.74, s.h), (s.w * 0.26, s.h)]
        p.fill(outline.straight(carpet), red)
        if stony:
            _stones(p, s, y)
            with p.moved(s.w / 2, y + 6):
                p.shape(outline.box(-210, -22, 420, 30), s.light.hexed("#8f887a"), width=4.5)
                p.shape(outline.curve([(-90, -20, 1), (-100, -330, 1), (0, -430, 1),
                                       (100, -330, 1), (90, -20, 1)]), s.light.hexed("#8a6a34"),
                        shade=s.light.hexed("#5f4722"), width=5)  # fmt: skip
                p.shape(outline.box(-66, -280, 132, 250), red, width=4)
        else:
            _papered(p, s, y, wood)
            _stairs(p, s, y, wood)
            with p.moved(s.w * (0.5 - side * 0.3), y + 4):
                decor.door(p, (170, 420), s.light, old=False)

    def front(p: pen.Pen) -> None:
        if stony:
            for k in (-1, 1):
                x = s.w * (0.5 + k * 0.37)
                stone = s.light.hexed("#938b7d")
                p.shape(outline.box(x - 46, -20, 92, y + 96), stone,
                        shade=colour.dark(stone, 0.3), shift=(20, 0))  # fmt: skip
                with p.moved(x - k * 20, s.h * 0.2):
                    _banner(p, s, k)
            return
        brass = s.light.hexed("#b08a45")
        p.line(outline.straight([(s.w / 2, -10), (s.w / 2, s.h * 0.17)]), 6, paint=brass,
               taper=(0, 0))  # fmt: skip
        for k in range(-2, 3):
            x = s.w / 2 + k * 52
            if s.light.dim or not s.western:
                p.glow(x, s.h * 0.17, 90, s.light.lamp, alpha=0.5)
            p.shape(outline.ellipse(x, s.h * 0.17, 15, 20), (255, 236, 190), width=3)
        arms = [(s.w / 2 - 110, s.h * 0.185), (s.w / 2, s.h * 0.2), (s.w / 2 + 110, s.h * 0.185)]
        p.line(outline.curve(arms, closed=False), 9, paint=brass)

    def near(p: pen.Pen) -> None:
        tone = horizon.shade(s, "#3a2a24")
        p.fill(outline.box(s.w * (0.5 - side * 0.49) - 70, -10, 140, s.h + 20), tone)

    return interior.sheets(
        s,
        s.light.hexed("#9a9284" if stony else "#8a9180" if s.western else "#cbb28a"),
        back,
        front,
        near,
    )


def _stones(p: pen.Pen, s: stage.Stage, y: float) -> None:
    chance, tone = s.fixed(71), s.light.hexed("#7f786c")
    for k in range(int(y / 70) + 1):
        for c in range(-1, int(s.w / 120) + 1):
            if chance.random() < 0.4:
                p.ink(outline.box(c * 120 + 60 * (k % 2), y - 70 * (k + 1), 120, 70), 3, tone)
    for x in (0.2, 0.8):
        arch = [(s.w * x - 60, y - 360, 1), (s.w * x - 60, y - 640), (s.w * x, y - 740),
                (s.w * x + 60, y - 640), (s.w * x + 60, y - 360, 1)]  # fmt: skip
        p.shape(outline.curve(arch), s.light.sky[1], width=7)
        p.line(outline.straight([(s.w * x, y - 720), (s.w * x, y - 360)]), 7, taper=(0, 0))


def _banner(p: pen.Pen, s: stage.Stage, side: int) -> None:
    tone = s.light.hexed("#7d2f38" if side < 0 else "#2f4468")
    cloth = [(-70, 0), (70, 0), (70, 330), (0, 270), (-70, 330)]
    p.shape(outline.straight(cloth), tone, shade=colour.dark(tone, 0.25), width=4.5)
    p.ink(outline.ellipse(0, 130, 34, 40), 7, s.light.hexed("#c9a04a"))


def _stairs(p: pen.Pen, s: stage.Stage, y: float, wood: colour.Colour) -> None:
    """A stair that climbs along the wall to one side."""
    side, steps = s.side, 9
    x0, wide = s.w * (0.5 + side * 0.08), s.w * 0.052
    for k in range(steps):
        x = x0 + side * wide * k
        top = y - 52 * (k + 1)
        left = x if side > 0 else x - wide - s.w * 0.6
        p.shape(outline.box(left, top, wide + s.w * 0.6, y - top + 4),
                colour.pale(wood, 0.16), width=3.5)  # fmt: skip
        p.fill(outline.box(left, top, wide + s.w * 0.6, 11), colour.pale(wood, 0.34))
    for k in range(steps):
        x = x0 + side * wide * (k + 0.5)
        top = y - 52 * (k + 1)
        p.line(outline.straight([(x, top), (x, top - 120)]), 9, paint=wood, taper=(0, 0))
    rail = [(x0, y - 170), (x0 + side * wide * steps, y - 52 * steps - 150)]
    p.line(outline.straight(rail), 22, paint=wood, taper=(0, 0))
    p.shape(outline.box(x0 - 18, y - 190, 36, 194), wood, width=4.5)
    p.shape(outline.ellipse(x0, y - 204, 24, 24), wood, width=4.5)


def study(s: stage.Stage) -> list[stage.Sheet]:
    """A counting house or study: shelves of ledgers, a desk with a lamp, a tall window."""
    y, side = interior.floor(s), s.side
    wood = s.light.hexed("#5a3c2c")

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#7d6048"))
        _papered(p, s, y, wood)
        with p.moved(s.w * (0.5 + side * 0.3), y + 4):
            furniture.shelf(p, min(330.0, s.w * 0.36), 720, wood, chance=s.fixed(61), lit=s.light,
                            goods="books")  # fmt: skip
        w = min(230.0, s.w * 0.26)
        x = s.w * (0.5 - side * 0.26) - w / 2
        with p.moved(x, y - 780):
            furniture.window(p, w, 470, s.light, old=False)
        interior.ray(p, s, (x, y - 310), w)

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.26), y + 130):
            furniture.table(p, 400, 230, wood)
            with p.moved(-110, -252):
                decor.candle(p, 130, s.light)
            for k in range(3):
                p.shape(outline.box(40 + 4 * k, -268 - 16 * k, 90, 16),
                        s.light.on(colour.hsv(0.05 + 0.3 * k, 0.4, 0.55)), width=3)  # fmt: skip

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.52), -20):
            furniture.curtain(p, side * s.w * 0.14, s.h + 40, horizon.shade(s, "#3a2c2a"))

    return interior.sheets(s, s.light.hexed("#8a7f68"), back, front, near)
