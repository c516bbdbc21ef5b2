"""Indoors: classrooms, offices, wards and carriages, and the list of all places under a roof."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import (
    aboard,
    colour,
    decor,
    furniture,
    horizon,
    houses,
    interior,
    outline,
    parlours,
    pen,
    rooms,
    stage,
    trees,
)

floor = interior.floor


def classroom(s: stage.Stage) -> list[stage.Sheet]:
    """A blackboard, windows and rows of desks."""
    y, side = floor(s), s.side

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#a98a63"))
        p.fill(outline.box(0, y - 190, s.w, 164), s.light.hexed("#8fa89a"), alpha=0.7)
        with p.moved(s.w * (0.5 - side * 0.1), y - 720):
            furniture.blackboard(p, min(500.0, s.w * 0.56), 320, s.light, s.fixed(53))
        w = min(220.0, s.w * 0.24)
        with p.moved(s.w * (0.5 + side * 0.35) - w / 2, y - 780):
            furniture.window(p, w, 470, s.light, old=False)
        interior.ray(p, s, (s.w * (0.5 + side * 0.35) - w / 2, y - 300), w)
        for k in () if s.western else (0.26, 0.6):
            x = s.w * (0.5 - side * (k - 0.42))
            p.shape(outline.box(x - 90, y - 878, 180, 20), (255, 250, 226), width=3.5)
            if s.light.dim:
                p.glow(x, y - 860, 200, (255, 246, 214), alpha=0.4)
        with p.moved(s.w * (0.5 - side * 0.1), y + 20):
            furniture.desk(p, 250, s.light, screen=False)

    def front(p: pen.Pen) -> None:
        for row in range(2):
            for k in range(-1, 5):
                if abs(0.06 + 0.29 * k + 0.11 * row - 0.5) < 0.12:
                    continue  # the aisle, where people stand
                x = s.w * (0.06 + 0.29 * k + 0.11 * row)
                with p.moved(x, y + 140 + 150 * row, scale=0.9 + 0.3 * row):
                    furniture.desk(p, 180, s.light, screen=False)
                    _books(p, s, k + 7 * row)

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.4), s.h * 1.04, scale=1.9):
            furniture.desk(p, 190, s.light, screen=False)
            _books(p, s, 3)

    return interior.sheets(s, s.light.hexed("#dcd6c2"), back, front, near)


def _books(p: pen.Pen, s: stage.Stage, salt: int) -> None:
    chance = s.fixed(60 + salt)
    for k in range(3):
        tone = s.light.on(colour.hsv(chance.random(), 0.4, 0.68))
        w = chance.uniform(46, 64)
        p.shape(outline.box(-70 + chance.uniform(-6, 6), -132 - 13 * k, w, 13), tone, width=3)


def office(s: stage.Stage) -> list[stage.Sheet]:
    """A wide window on a skyline, desks with screens, files; a study where it is long ago."""
    if s.western:
        return parlours.study(s)
    y, side = floor(s), s.side

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#a3a4a6"))
        w, h = s.w * 0.62, 500.0
        x = s.w * (0.1 if side > 0 else 0.9) - (0.0 if side > 0 else w)
        with p.moved(x, y - 820):
            furniture.window(p, w, h, s.light, old=False)
            glass, chance = outline.box(0, 0, w, h), s.fixed(54)
            with p.clipped(glass):
                for far, up in ((0.62, 0.7), (0.36, 0.46)):
                    for k in range(8):
                        bw = w * chance.uniform(0.1, 0.16)
                        with p.moved(w * (k + chance.uniform(0.2, 0.8)) / 8, h + 4):
                            houses.block(p, bw, h * chance.uniform(0.3, up), s.light, chance,
                                         far=far)  # fmt: skip
                p.fill(outline.straight([(w * 0.1, h), (w * 0.4, 0), (w * 0.52, 0), (w * 0.22, h)]),
                       (255, 255, 255), alpha=0.12)  # fmt: skip
            for k in (1, 2):
                p.line(outline.straight([(w * k / 3, 0), (w * k / 3, h)]), 9, taper=(0, 0))
            p.ink(glass, 5)
        interior.ray(p, s, (x, y - 320), w * 0.7)
        with p.moved(s.w * (0.5 + side * 0.36), y):
            furniture.shelf(p, 220, 620, s.light.hexed("#7f7b78"), chance=s.fixed(61), lit=s.light,
                            goods="files")  # fmt: skip
        for at in (0.3, 0.62):
            p.shape(outline.box(s.w * at - 110, y - 900, 220, 18), (255, 252, 236), width=3.5)

    def front(p: pen.Pen) -> None:
        for x in (0.2, 0.82):
            with p.moved(s.w * x, y + 130):
                furniture.desk(p, 330, s.light, screen=True)
        with p.moved(s.w * (0.5 + side * 0.2), y + 60):
            decor.plant(p, 250, s.light, s.fixed(62))

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.42), s.h * 1.03):
            decor.plant(p, 360, s.light, s.fixed(63))

    return interior.sheets(s, s.light.hexed("#c6cacc"), back, front, near)


def hospital(s: stage.Stage) -> list[stage.Sheet]:
    """A ward: bed, drip, curtain, window."""
    y, side = floor(s), s.side
    steel = s.light.hexed("#8f999d")

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#b6c4c2"))
        p.fill(outline.box(0, y - 250, s.w, 232), s.light.hexed("#9fbdb6"), alpha=0.8)
        w = min(300.0, s.w * 0.34)
        with p.moved(s.w * (0.5 + side * 0.2) - w / 2, y - 760):
            furniture.window(p, w, 380, s.light, old=False)
        interior.ray(p, s, (s.w * (0.5 + side * 0.2) - w / 2, y - 370), w)
        p.line(outline.straight([(0, y - 830), (s.w, y - 830)]), 8, paint=steel, taper=(0, 0))
        with p.moved(s.w * (0.5 - side * 0.45), y - 830):
            furniture.curtain(p, side * s.w * 0.24, 760, s.light.hexed("#a9cbd2"))
        with p.moved(s.w * (0.5 - side * 0.14), y - 560):
            p.shape(outline.box(-60, -44, 120, 88), s.light.hexed("#3a444c"), width=4.5)
            pulse = [(-48, 6), (-20, 6), (-10, -26), (2, 28), (12, 6), (48, 6)]
            p.line(outline.straight(pulse), 5, paint=(120, 232, 160), taper=(0, 0))

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 + side * 0.14), y + 150, flip=side < 0):
            furniture.bed(p, min(560.0, s.w * 0.62), s.light, ward=True)
        x = s.w * (0.5 - side * 0.26)
        p.line(outline.straight([(x, y + 130), (x, y - 420)]), 9, paint=steel, taper=(0, 0))
        p.line(outline.straight([(x - 40, y - 416), (x + 40, y - 416)]), 8, paint=steel,
               taper=(0, 0))  # fmt: skip
        with p.moved(x, y, flip=side < 0):
            bag = [(20, -400), (62, -400), (60, -300), (41, -284), (22, -300)]
            p.shape(outline.curve(bag), s.light.hexed("#dcebe6"), width=4)
            tube = [(41, -284), (60, -120), (150, -40)]
            p.line(outline.curve(tube, closed=False), 4, paint=s.light.hexed("#dcebe6"))

    def near(p: pen.Pen) -> None:
        with p.moved(s.w * (0.5 - side * 0.52), -20):
            furniture.curtain(p, side * s.w * 0.2, s.h + 40, horizon.shade(s, "#6d8c94"))

    return interior.sheets(s, s.light.hexed("#dde3df"), back, front, near)


def train(s: stage.Stage) -> list[stage.Sheet]:
    """A carriage: a wide window on the land outside, facing seats, a rack."""
    y = floor(s)
    green, wood = s.light.hexed("#4c6a5d"), s.light.hexed("#8a6a48")

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#7a6a58"))
        p.shape(
            outline.box(-20, y - 360, s.w + 40, 360), wood, shade=colour.dark(wood, 0.25), width=5
        )
        w, h = s.w * 0.56, 420.0
        with p.moved(s.w * 0.22, y - 810):
            furniture.window(p, w, h, s.light, old=False)
            chance = s.fixed(64)
            with p.clipped(outline.box(0, 0, w, h)):
                for _ in range(5):
                    with p.moved(w * chance.random(), h + 6):
                        trees.tree(p, h * chance.uniform(0.3, 0.62), s.light, chance, far=0.4,
                                   leaf=horizon.leaf(s))  # fmt: skip
            p.ink(outline.box(0, 0, w, h), 5)
        for x in (-0.12, 0.88):
            with p.moved(s.w * x, y - 810):
                furniture.window(p, s.w * 0.24, h, s.light, old=False)
        for x in (0.19, 0.81):
            with p.moved(s.w * x, y - 850):
                furniture.curtain(p, 70 if x < 0.5 else -70, 500, s.light.hexed("#8a4a44"))
        p.shape(outline.box(-20, y - 930, s.w + 40, 26), s.light.hexed("#6d6f72"), width=5)
        for k, tall in enumerate((82, 110, 70, 96)):
            bag = s.light.on(colour.hsv(0.05 + 0.21 * k, 0.36, 0.5))
            p.shape(outline.box(s.w * (0.12 + 0.21 * k), y - 928 - tall, 130, tall), bag, width=5)
        p.shape(outline.box(s.w * 0.36, y - 350, s.w * 0.28, 26), colour.pale(wood, 0.2), width=4.5)
        p.shape(outline.box(s.w * 0.49, y - 324, s.w * 0.02, 330), colour.dark(wood, 0.3), width=4)
        with p.moved(s.w * 0.56, y - 350):
            p.shape(outline.box(-14, -46, 28, 46), s.light.hexed("#d9dcd6"), width=3.5)

    def front(p: pen.Pen) -> None:
        for x, flip in ((0.15, False), (0.85, True)):
            with p.moved(s.w * x, y + 140, flip=flip):
                p.shape(outline.curve([(-110, 0, 1), (-110, -460), (-60, -500), (0, -470),
                                       (24, -190), (150, -176), (160, -110), (150, 0, 1)]), green,
                        shade=colour.dark(green, 0.3), width=5.5)  # fmt: skip
                p.line(outline.curve([(-40, -440), (-24, -240), (0, -180)], closed=False), 5,
                       paint=colour.dark(green, 0.45))  # fmt: skip

    def near(p: pen.Pen) -> None:
        dark = horizon.shade(s, "#24382f")
        x = s.w * (0.5 - s.side * 0.45)
        p.fill(outline.curve([(x - 150, s.h + 10, 1), (x - 140, s.h * 0.8), (x, s.h * 0.75),
                              (x + 140, s.h * 0.8), (x + 150, s.h + 10, 1)]), dark)  # fmt: skip

    return interior.sheets(s, s.light.hexed("#cbbd9c"), back, front, near)


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "room": rooms.room,
    "hall": rooms.hall,
    "shop": rooms.shop,
    "classroom": classroom,
    "office": office,
    "hospital": hospital,
    "train": train,
    "spaceship": aboard.spaceship,
}
