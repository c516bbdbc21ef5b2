"""Rooms where people live, trade and hold court: the room, the shop, the hall."""

from __future__ import annotations

from mangen.engines.animatic import (
    colour,
    decor,
    furniture,
    horizon,
    houses,
    interior,
    outline,
    parlours,
    pen,
    stage,
)


def room(s: stage.Stage) -> list[stage.Sheet]:
    """A living room: window, table with tea, shelf; old or modern."""
    if s.western:
        return parlours.room(s)
    return _old_room(s) if s.old else _new_room(s)


def _old_room(s: stage.Stage) -> list[stage.Sheet]:
    y, side = interior.floor(s), s.side
    wood = s.light.hexed("#7a5540")
    poor = s.era == "countryside"

    def back(p: pen.Pen) -> None:
        tone = s.light.hexed("#8a6548" if not poor else "#8a7858")
        furniture.planks(p, y, s.w, s.h, tone)
        interior.beams(p, s, wood)
        w = min(300.0, s.w * 0.34)
        with p.moved(s.w * (0.5 - side * 0.2) - w / 2, y - 780):
            furniture.window(p, w, 340, s.light, old=True)
        interior.ray(p, s, (s.w * (0.5 - side * 0.2) - w / 2, y - 440), w)
        with p.moved(s.w * (0.5 + side * 0.14), y - 790):
            furniture.scroll(p, 140, 330, s.light, s.fixed(50))
        with p.moved(s.w * (0.5 + side * 0.36), y + 6):
            if poor:
                houses.jar(p, 190, s.light)
            else:
                furniture.shelf(p, 230, 600, wood, chance=s.fixed(51), lit=s.light, goods="jars")
        if poor:
            _hung(p, s)

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.25), y + 110):
            with p.moved(-side * 150, 6):
                furniture.chair(p, 300, wood)
            furniture.table(p, 350, 220, wood)
            with p.moved(40, -244):
                furniture.teapot(p, s.light.hexed("#c9d2cf"))
            with p.moved(-110, -244):
                decor.candle(p, 130, s.light)
        if s.era == "xianxia":
            with p.moved(s.w * (0.5 + side * 0.44), -20):
                decor.gauze(p, -side * s.w * 0.24, y + 60, s.light.hexed("#b7c9c6"))

    def near(p: pen.Pen) -> None:
        dark = horizon.shade(s, "#3a2a24")
        p.fill(outline.box(s.w * (0.5 + side * 0.47) - 60, -10, 120, s.h + 20), dark)
        with p.moved(s.w * (0.5 - side * 0.42), s.h * 1.0):
            p.fill(outline.curve([(-180, 10, 1), (-170, -150, 1), (150, -150, 1), (170, 10, 1)]),
                   dark)  # fmt: skip

    wall = "#cfc0a2" if not poor else "#c2b18d"
    return interior.sheets(s, s.light.hexed(wall), back, front, near)


def _hung(p: pen.Pen, s: stage.Stage) -> None:
    """Corn and peppers that dry on the wall."""
    y = interior.floor(s) - 800
    for k, tone in enumerate(("#c94f38", "#d9a440", "#c94f38")):
        x = s.w * (0.5 + s.side * 0.34) + 46 * (k - 1)
        p.line(outline.straight([(x, y), (x, y + 30)]), 3, taper=(0, 0))
        for row in range(7):
            for d in (-9, 9):
                with p.moved(x + d, y + 34 + 24 * row, turn=-d * 3):
                    p.shape(outline.ellipse(0, 6, 8, 15), s.light.hexed(tone), width=2.4)


def _new_room(s: stage.Stage) -> list[stage.Sheet]:
    y, side, chance = interior.floor(s), s.side, s.fixed(52)
    hue = chance.random()
    cloth = s.light.on(colour.hsv(hue, 0.3, 0.74))

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#b08c66"))
        w = min(340.0, s.w * 0.4)
        x = s.w * (0.5 - side * 0.19) - w / 2
        with p.moved(x, y - 790):
            furniture.window(p, w, 400, s.light, old=False)
            with p.moved(-40, -36):
                furniture.curtain(p, w * 0.26, 520, cloth)
            with p.moved(w + 40, -36):
                furniture.curtain(p, -w * 0.26, 520, cloth)
        interior.ray(p, s, (x, y - 390), w)
        for k, (dx, dy, a, b) in enumerate(((0.14, 780, 150, 190), (0.31, 740, 120, 120))):
            with p.moved(s.w * (0.5 + side * dx), y - dy):
                decor.picture(p, (a, b), s.light, s.fixed(53 + k))
        with p.moved(s.w * (0.5 + side * 0.34), y + 4):
            furniture.shelf(p, 220, 430, s.light.hexed("#a8825f"), chance=s.fixed(55), lit=s.light,
                            goods="books")  # fmt: skip

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.24), y + 120):
            decor.sofa(p, 470, s.light.on(colour.hsv(hue + 0.5, 0.24, 0.62)))
        with p.moved(s.w * (0.5 + side * 0.2), y + 70):
            decor.standing_lamp(p, 560, s.light)
        with p.moved(s.w * (0.5 + side * 0.38), y + 150):
            decor.plant(p, 330, s.light, s.fixed(56))

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.44), s.h * 1.02):
            decor.plant(p, 330, s.light, s.fixed(57))

    return interior.sheets(s, s.light.on(colour.hsv(hue + 0.06, 0.1, 0.86)), back, front, near)


def hall(s: stage.Stage) -> list[stage.Sheet]:
    """A hall of pillars: screen, high seat and lanterns; in the West and today a stair."""
    if not s.old:
        return parlours.hall(s)
    y = interior.floor(s)
    red, gold = s.light.hexed("#8f3a30"), s.light.hexed("#b58a45")

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#8d8578"))
        carpet = s.light.hexed("#8c3038")
        p.fill(outline.straight([(s.w * 0.43, y), (s.w * 0.57, y), (s.w * 0.8, s.h), (s.w * 0.2,
            s.h)]),
               carpet)  # fmt: skip
        for side in (-1, 1):
            edge = [(s.w * (0.5 + side * 0.063), y), (s.w * (0.5 + side * 0.27), s.h)]
            p.line(outline.straight(edge), 12, paint=gold, taper=(0.9, 0))
            for k in (0.46, 0.33):
                px, far = s.w * (0.5 + side * k), 0.18 if k < 0.4 else 0.0
                tone = colour.mix(colour.dark(red, 0.2), s.light.haze, far)
                p.shape(outline.box(px - 24, -20, 48, y + 20), tone, shade=colour.dark(tone, 0.4),
                        shift=(12, 0), width=4)  # fmt: skip
        with p.moved(s.w / 2, y + 6):
            decor.screen(p, (min(500.0, s.w * 0.56), 560), s.light, s.fixed(58))
            p.shape(outline.box(-230, -18, 460, 30), s.light.hexed("#a39888"), width=4.5)
            with p.moved(0, -14):
                furniture.chair(p, 300, s.light.hexed("#8a5a2c"))
        p.shape(outline.box(-20, y - 790, s.w + 40, 60), colour.dark(red, 0.35), width=4.5)
        for k in range(9):
            x = s.w * (k + 0.5) / 9
            p.shape(outline.curve([(x - 40, y - 730, 1), (x + 40, y - 730, 1), (x + 22, y - 690),
                                   (x - 22, y - 690)]), gold, width=3.5)  # fmt: skip

    def front(p: pen.Pen) -> None:
        for side in (-1, 1):
            px = s.w * (0.5 + side * 0.36)
            p.shape(outline.box(px - 40, -20, 80, y + 96), red, shade=colour.dark(red, 0.42),
                    shift=(20, 0))  # fmt: skip
            p.shape(outline.box(px - 56, y + 54, 112, 56), s.light.hexed("#8d877e"), width=5)
            with p.moved(s.w * (0.5 + side * 0.22), s.h * 0.16):
                p.line(outline.straight([(0, -s.h * 0.2), (0, 0)]), 4, taper=(0, 0))
                houses.lantern(p, 46, s.light)
            with p.moved(s.w * (0.5 + side * 0.26), y + 150):
                decor.candle(p, 230, s.light)

    def near(p: pen.Pen) -> None:
        for side in (-1, 1):
            with p.moved(s.w * (0.5 + side * 0.5), -20):
                decor.gauze(p, -side * s.w * 0.2, s.h * 0.9, horizon.shade(s, "#5a2024"))

    return interior.sheets(s, s.light.hexed("#9a8768"), back, front, near)


def shop(s: stage.Stage) -> list[stage.Sheet]:
    """A shop or tavern: shelves behind a counter, lights above, wares in front."""
    y, side = interior.floor(s), s.side
    old = s.old or s.western
    wood = s.light.hexed("#7c573d" if old else "#9a7a58")

    def back(p: pen.Pen) -> None:
        if old:
            furniture.planks(p, y, s.w, s.h, s.light.hexed("#7d6048"))
        else:
            furniture.tiles(p, y, s.w, s.h, s.light.hexed("#b0a494"))
        for k, x in enumerate((0.27, 0.73)):
            with p.moved(s.w * x, y - 60):
                furniture.shelf(p, min(s.w * 0.4, 400), 640, wood, chance=s.fixed(59 + k),
                                lit=s.light, goods="jars")  # fmt: skip
        if old:
            interior.beams(p, s, wood)

    def front(p: pen.Pen) -> None:
        x = s.w * 0.28 if side > 0 else -40.0
        p.shape(outline.box(x, y - 70, s.w * 0.72 + 40, 220), wood, shade=colour.dark(wood, 0.3),
                width=5)  # fmt: skip
        for k in range(1, 6):
            panel = outline.box(x + k * s.w * 0.12 - 60, y - 30, 80, 140)
            p.ink(panel, 3.5, colour.dark(wood, 0.45))
        p.shape(outline.box(x - 20, y - 98, s.w * 0.72 + 80, 34), colour.pale(wood, 0.14), width=5)
        with p.moved(s.w * (0.5 + side * 0.28), y - 98):
            if old:
                furniture.teapot(p, s.light.hexed("#8a5a44"))
            else:
                _till(p, s)
        _lights(p, s)

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.42), s.h * 1.02):
            houses.jar(p, 300, s.light)

    return interior.sheets(s, s.light.hexed("#b59c78"), back, front, near)


def _lights(p: pen.Pen, s: stage.Stage) -> None:
    """A row of lanterns or lamps under the ceiling."""
    for at in (0.2, 0.5, 0.8):
        with p.moved(s.w * at, s.h * (0.14 if at == 0.5 else 0.16)):
            p.line(outline.straight([(0, -s.h * 0.2), (0, 0)]), 4, taper=(0, 0))
            if s.old:
                houses.lantern(p, 42, s.light)
            else:
                with p.moved(0, -20):
                    furniture.lamp(p, s.light, drop=30)


def _till(p: pen.Pen, s: stage.Stage) -> None:
    p.shape(outline.box(-60, -70, 120, 70), s.light.hexed("#4a4c55"), width=4.5)
    p.shape(outline.box(-50, -130, 100, 64), s.light.hexed("#33353d"), width=4.5)
    p.fill(outline.box(-40, -120, 80, 44), (132, 190, 196))
