"""Panels: a scene, the people in it and what lies over both, as layers by depth."""

from __future__ import annotations

import math

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import (
    card,
    cast,
    colour,
    figure,
    indoors,
    nature,
    outline,
    pen,
    stage,
    town,
    wardrobe,
)

PLACES = {**indoors.PLACES, **town.PLACES, **nature.PLACES}
_PLAIN = "room"
_PAPER = (226, 214, 186)
_MERGE = 0.11  #: sheets whose depths differ by no more become one layer


def draw(request: protocol.PanelRequest) -> protocol.Panel:
    """Draw one panel, 1.25 times the frame, as 2 to 4 layers."""
    s = stage.of(request)
    sheets = list(PLACES.get(request.scene.place, PLACES[_PLAIN])(s))
    if request.kind == "shot":
        if s.framing == "close":
            sheets = [_blurred(s, sheet) for sheet in sheets]
        sheets += _people(s, request)
    else:
        sheets += card.sheets(s, request)
    layers = _merged(sorted(sheets, key=lambda sheet: sheet.depth))
    image = layers[0].image[..., :3]
    for layer in layers[1:]:
        image = pen.over(image, layer.image)
    return protocol.Panel(
        image=image,
        layers=tuple(protocol.Layer(image=pen.straight(x.image), depth=x.depth) for x in layers),
    )


def _people(s: stage.Stage, request: protocol.PanelRequest) -> list[stage.Sheet]:
    framing = request.scene.framing
    people = cast.placed(s, request.figures, framing, foot(s, request.scene.place))
    if framing == "insert" and people:
        return [stage.Sheet(cast.eyes(s, people[-1]), cast.DEPTH)]
    found = [stage.Sheet(_speed(s), cast.DEPTH - 0.01)] if framing == "action" else []
    if people:
        found.append(stage.Sheet(cast.sheet(s, people), cast.DEPTH))
    return found


def foot(s: stage.Stage, place: str) -> float:
    """The y at which people stand when they are seen whole."""
    if place in nature.SHORES:
        return s.h * (nature.SHORES[place] + 0.045)
    start = indoors.floor(s) if place in indoors.PLACES else s.horizon
    return start + (s.h - start) * 0.42


def _blurred(s: stage.Stage, sheet: stage.Sheet) -> stage.Sheet:
    """A background out of focus, so that a face stands alone."""
    soft = cv2.GaussianBlur(sheet.image, (0, 0), 3.2 * s.unit)
    return stage.Sheet(np.asarray(soft, np.uint8), sheet.depth)


def _speed(s: stage.Stage) -> protocol.Image:
    """Lines that run from the edges towards the middle."""
    p, chance = s.pen(), s.chance(30)
    far = math.hypot(s.w, s.h) / 2
    pale = colour.mix(s.light.haze, (255, 255, 255), 0.75)
    for k in range(84):
        angle = math.tau * (k + chance.random()) / 84
        near = far * chance.uniform(0.62, 0.86)
        c, d = math.cos(angle), math.sin(angle)
        middle = (s.w / 2, s.h * 0.46)
        spine = outline.curve([(middle[0] + c * far * 1.1, middle[1] + d * far * 1.1),
                               (middle[0] + c * near, middle[1] + d * near)],
                                   closed=False)  # fmt: skip
        p.line(
            spine,
            chance.uniform(5, 17),
            paint=pale if k % 3 else colour.INK,
            taper=(0, 1.0),
            alpha=0.8,
        )
    return p.sheet()


def _merged(sheets: list[stage.Sheet]) -> list[stage.Sheet]:
    """Lay sheets of about one depth together: fewer layers, faster clips."""
    found: list[stage.Sheet] = []
    for sheet in sheets:
        if found and sheet.depth - found[-1].depth <= _MERGE:
            found[-1] = stage.Sheet(pen.over(found[-1].image, sheet.image), found[-1].depth)
        else:
            found.append(sheet)
    return found


def anchor(request: protocol.AnchorRequest) -> protocol.AnchorProduct:
    """A character sheet: the whole figure, a bust, and the features both were drawn from."""
    look = wardrobe.features(request.sheet)
    p = pen.Pen(request.width, request.height, request.height / 1200, over=2)
    w = request.width / (request.height / 1200)
    p.fill(outline.box(-5, -5, w + 10, 1210), _PAPER)
    p.fill(outline.box(w * 0.52, -5, w * 0.5, 1210), (210, 196, 164))
    tall = figure.height(look)
    with p.moved(w * 0.26, 1130, scale=min(1.0, 1060 / tall) * min(1.0, w / 820)):
        p.fill(outline.ellipse(0, 0, 150, 20), (120, 104, 86), alpha=0.4)
        figure.draw(p, look, figure.Act())
    for k, (emotion, turn) in enumerate((("calm", 0.45), ("happy", -0.4))):
        window = outline.box(w * 0.53, 30 + 590 * k, w * 0.44, 550)
        with p.clipped(window), p.moved(w * 0.75,
            30 + 590 * k + 310 - figure.head_centre(look) * w / 620,
                                        scale=w / 620):  # fmt: skip
            figure.draw(p, look, figure.Act(emotion=emotion, turn=turn))
        p.ink(window, 5)
    sheet = p.sheet(wobble=request.height / 1200, seed=request.sheet.seed % 97)
    paper = np.full((request.height, request.width, 3), _PAPER, np.uint8)
    return protocol.AnchorProduct(reference=pen.over(paper, sheet), features=look)
