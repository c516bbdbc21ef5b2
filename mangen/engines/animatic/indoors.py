"""Rooms: a painted wall, a floor, and what stands before it."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import (
    backdrop,
    boat,
    colour,
    furniture,
    houses,
    outline,
    pen,
    sky,
    stage,
    trees,
)
from mangen.engines.animatic.colour import Colour

_FAR, _NEAR = 0.35, 0.62


def _sheets(
    s: stage.Stage, wall: Colour, *draw: tuple[Callable[[pen.Pen], None], float]
) -> list[stage.Sheet]:
    glow = s.light.lamp if s.light.dim else (255, 246, 220)
    found = [stage.Sheet(backdrop.solid(backdrop.wall(s, wall, 40, glow=glow)), _FAR)]
    for one, depth in draw:
        p = s.pen()
        one(p)
        found.append(stage.Sheet(p.sheet(wobble=1.0 * s.unit, seed=s.home), depth))
    return found


def floor(s: stage.Stage) -> float:
    """The y where wall and floor meet."""
    return s.h * {"close": 0.82, "establish": 0.68}.get(s.framing, 0.74)


def _beam(s: stage.Stage, p: pen.Pen, x: float, y: float, w: float) -> None:
    """Light that falls from a window across the room by day."""
    if s.light.dim or s.light.weather not in ("clear", "wind"):
        return
    p.fill(outline.straight([(x, y), (x + w, y), (x + w * 2.5, s.h), (x + w * 0.8, s.h)]), (255,
        244, 206),
           alpha=0.13)  # fmt: skip


def room(s: stage.Stage) -> list[stage.Sheet]:
    """A living room: window, table with tea, shelf or bed, lamp."""
    chance, y = s.fixed(50), floor(s)
    side = 1 if chance.random() < 0.5 else -1
    wood = s.light.hexed("#7a5540" if s.old else "#a8825f")

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#8a6548" if s.old else "#b08c66"))
        w = min(330.0, s.w * 0.36)
        x = s.w * (0.2 if side > 0 else 0.8) - w / 2
        with p.moved(x, y - 760):
            furniture.window(p, w, 340, s.light, old=s.old)
            if not s.old:
                tone = s.light.on(colour.hsv(chance.random(), 0.3, 0.7))
                with p.moved(-30, -34):
                    furniture.curtain(p, w * 0.26, 430, tone)
                with p.moved(w + 30, -34):
                    furniture.curtain(p, -w * 0.26, 430, tone)
        with p.moved(s.w * (0.72 if side > 0 else 0.28), y - 800):
            furniture.scroll(p, 150, 330, s.light, chance)
        with p.moved(s.w * (0.86 if side > 0 else 0.14), y):
            furniture.shelf(p, 250, 560, wood, chance=chance, lit=s.light, goods="books")
        _beam(s, p, x, y - 420, w)

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * (0.26 if side > 0 else 0.74), y + 120):
            furniture.table(p, 380, 230, wood)
            with p.moved(0, -254):
                furniture.teapot(p, s.light.hexed("#c9d2cf"))
        with p.moved(s.w * 0.5, -20):
            furniture.lamp(p, s.light, drop=s.h * 0.17)

    return _sheets(
        s, s.light.hexed("#cfc0a2" if s.old else "#d8cdbb"), (back, _FAR), (front, _NEAR)
    )


def hall(s: stage.Stage) -> list[stage.Sheet]:
    """A hall of pillars, with a screen, a high seat and lanterns."""
    y = floor(s)
    red = s.light.hexed("#8f3a30")

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#8d8578"))
        with p.moved(s.w / 2, y):
            p.shape(outline.box(-260, -560, 520, 560), s.light.hexed("#6b4a38"), width=5)
            for k in range(-2, 3):
                p.shape(outline.box(k * 98 - 44, -530, 88, 400), s.light.hexed("#c9b98e"), width=4)
                p.line(outline.curve([(k * 98 - 30, -190), (k * 98, -330), (k * 98 + 26, -470)],
                                     closed=False), 6, paint=s.light.hexed("#5c6b55"))  # fmt: skip
            p.shape(outline.box(-300, -590, 600, 36), s.light.hexed("#b58a45"), width=5)
            with p.moved(0, 8):
                furniture.chair(p, 330, s.light.hexed("#6a3b2c"))
            p.shape(outline.box(-190, -10, 380, 26), s.light.hexed("#a39888"), width=4.5)

    def front(p: pen.Pen) -> None:
        for x in (0.1, 0.9):
            px = s.w * x
            p.shape(
                outline.box(px - 44, -20, 88, y + 90),
                red,
                shade=colour.dark(red, 0.4),
                shift=(20, 0),
            )
            p.shape(outline.box(px - 62, y + 40, 124, 62), s.light.hexed("#8d877e"), width=5)
            with p.moved(px + (120 if x < 0.5 else -120), 40):
                p.line(outline.straight([(0, -60), (0, s.h * 0.13)]), 4, taper=(0, 0))
                with p.moved(0, s.h * 0.13):
                    houses.lantern(p, 50, s.light)
        p.shape(outline.box(-20, -30, s.w + 40, 112), s.light.hexed("#6f352a"), width=5)

    return _sheets(s, s.light.hexed("#a08d70"), (back, _FAR), (front, 0.72))


def shop(s: stage.Stage) -> list[stage.Sheet]:
    """A shop or tavern: shelves of jars behind a counter, lanterns above."""
    chance, y = s.fixed(52), floor(s)
    wood = s.light.hexed("#7c573d")

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#7d6048"))
        for x in (0.24, 0.76):
            with p.moved(s.w * x, y - 90):
                furniture.shelf(p, min(s.w * 0.42, 430), 600, wood, chance=chance, lit=s.light,
                                goods="jars" if s.old else "books")  # fmt: skip

    def front(p: pen.Pen) -> None:
        p.shape(
            outline.box(-20, y - 60, s.w * 0.72, 190), wood, shade=colour.dark(wood, 0.3), width=5
        )
        p.shape(outline.box(-20, y - 86, s.w * 0.74, 34), colour.pale(wood, 0.14), width=5)
        with p.moved(s.w * 0.2, y - 86):
            furniture.teapot(p, s.light.hexed("#8a5a44"))
        for k in range(3):
            with p.moved(s.w * (0.2 + 0.3 * k), s.h * 0.1):
                p.line(outline.straight([(0, -s.h * 0.12), (0, 0)]), 4, taper=(0, 0))
                houses.lantern(p, 40, s.light)

    return _sheets(s, s.light.hexed("#b59c78"), (back, _FAR), (front, _NEAR))


def classroom(s: stage.Stage) -> list[stage.Sheet]:
    """A blackboard, a window and rows of desks."""
    chance, y = s.fixed(53), floor(s)

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#a98a63"))
        p.fill(outline.box(0, y - 190, s.w, 164), s.light.hexed("#8fa89a"), alpha=0.7)
        with p.moved(s.w * 0.42, y - 700):
            furniture.blackboard(p, min(600.0, s.w * 0.62), 330, s.light, chance)
        with p.moved(s.w * 0.8, y - 740):
            furniture.window(p, min(250.0, s.w * 0.26), 430, s.light, old=False)

    def front(p: pen.Pen) -> None:
        for row in range(2):
            for k in range(-1, 5):
                with p.moved(
                    s.w * (0.04 + 0.27 * k + 0.1 * row), y + 130 + 150 * row, scale=0.9 + 0.3 * row
                ):
                    furniture.desk(p, 190, s.light, screen=False)

    return _sheets(s, s.light.hexed("#dcd6c2"), (back, _FAR), (front, _NEAR))


def office(s: stage.Stage) -> list[stage.Sheet]:
    """Wide windows on a skyline, desks with screens, files."""
    chance, y = s.fixed(54), floor(s)

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#a3a4a6"))
        w, h = s.w * 0.6, 470.0
        with p.moved(s.w * 0.07, y - 820):
            furniture.window(p, w, h, s.light, old=False)
            glass = outline.box(0, 0, w, h)
            with p.clipped(glass):
                for k in range(9):
                    bw = w * chance.uniform(0.09, 0.15)
                    with p.moved(w * (k + 0.5) / 9, h + 4):
                        houses.block(
                            p, bw, h * chance.uniform(0.25, 0.62), s.light, chance, far=0.45
                        )
                p.fill(outline.straight([(w * 0.1, h), (w * 0.4, 0), (w * 0.52, 0), (w * 0.22, h)]),
                       (255, 255, 255), alpha=0.12)  # fmt: skip
            p.ink(glass, 5)
        with p.moved(s.w * 0.86, y):
            furniture.shelf(
                p, 240, 620, s.light.hexed("#7f7b78"), chance=chance, lit=s.light, goods="files"
            )

    def front(p: pen.Pen) -> None:
        for x in (0.16, 0.84):
            with p.moved(s.w * x, y + 130):
                furniture.desk(p, 350, s.light, screen=True)

    return _sheets(s, s.light.hexed("#c6cacc"), (back, _FAR), (front, _NEAR))


def hospital(s: stage.Stage) -> list[stage.Sheet]:
    """A ward: bed, drip, curtain, window."""
    y = floor(s)

    def back(p: pen.Pen) -> None:
        furniture.tiles(p, y, s.w, s.h, s.light.hexed("#b6c4c2"))
        p.fill(outline.box(0, y - 250, s.w, 232), s.light.hexed("#9fbdb6"), alpha=0.8)
        with p.moved(s.w * 0.56, y - 760):
            furniture.window(p, min(320.0, s.w * 0.32), 360, s.light, old=False)
        p.line(outline.straight([(0, y - 800), (s.w * 0.4, y - 800)]), 8, taper=(0, 0))
        with p.moved(-10, y - 800):
            furniture.curtain(p, s.w * 0.26, 720, s.light.hexed("#a9cbd2"))

    def front(p: pen.Pen) -> None:
        with p.moved(s.w * 0.62, y + 150):
            furniture.bed(p, min(620.0, s.w * 0.66), s.light, ward=True)
        x = s.w * 0.22
        p.line(
            outline.straight([(x, y + 130), (x, y - 420)]),
            9,
            paint=s.light.hexed("#8f999d"),
            taper=(0, 0),
        )
        p.line(outline.straight([(x - 40, y - 416), (x + 40, y - 416)]), 8,
            paint=s.light.hexed("#8f999d"),
               taper=(0, 0))  # fmt: skip
        p.shape(outline.curve([(x + 20, y - 400), (x + 62, y - 400), (x + 60, y - 300), (x + 41,
            y - 284),
                               (x + 22, y - 300)]), s.light.hexed("#dcebe6"), width=4)  # fmt: skip
        p.line(outline.curve([(x + 41, y - 284), (x + 60, y - 120), (x + 150, y - 40)],
            closed=False), 4,
               paint=s.light.hexed("#dcebe6"))  # fmt: skip

    return _sheets(s, s.light.hexed("#dde3df"), (back, _FAR), (front, _NEAR))


def train(s: stage.Stage) -> list[stage.Sheet]:
    """A carriage: a wide window, facing seats, a rack."""
    y = floor(s)
    green, wood = s.light.hexed("#4c6a5d"), s.light.hexed("#8a6a48")

    def back(p: pen.Pen) -> None:
        furniture.planks(p, y, s.w, s.h, s.light.hexed("#7a6a58"))
        p.shape(
            outline.box(-20, y - 330, s.w + 40, 330), wood, shade=colour.dark(wood, 0.25), width=5
        )
        w = s.w * 0.54
        with p.moved(s.w * 0.23, y - 800):
            furniture.window(p, w, 400, s.light, old=False)
        for x in (-0.12, 0.88):
            with p.moved(s.w * x, y - 800):
                furniture.window(p, s.w * 0.24, 400, s.light, old=False)
        p.shape(outline.box(-20, y - 930, s.w + 40, 26), s.light.hexed("#6d6f72"), width=5)
        for k in range(4):
            p.shape(outline.box(s.w * (0.08 + 0.24 * k), y - 1010, 130, 82),
                    s.light.on(colour.hsv(0.05 + 0.21 * k, 0.42, 0.5)), width=5)  # fmt: skip

    def front(p: pen.Pen) -> None:
        for x, flip in ((0.06, False), (0.94, True)):
            with p.moved(s.w * x, y + 140, flip=flip):
                p.shape(outline.curve([(-110, 0, 1), (-110, -460), (-60, -500), (0, -470), (24,
                    -190),
                                       (150, -176), (160, -110), (150, 0, 1)]), green,
                        shade=colour.dark(green, 0.3), width=5.5)  # fmt: skip
                p.line(outline.curve([(-40, -440), (-24, -240), (0, -180)], closed=False), 5,
                       paint=colour.dark(green, 0.45))  # fmt: skip

    return _sheets(s, s.light.hexed("#cbbd9c"), (back, _FAR), (front, _NEAR))


PLACES: dict[str, Callable[[stage.Stage], list[stage.Sheet]]] = {
    "room": room, "hall": hall, "shop": shop, "classroom": classroom, "office": office,
    "hospital": hospital, "train": train,
}  # fmt: skip
