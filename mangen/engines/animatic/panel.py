"""Panels: a scene, the people in it and what lies over both, as layers by depth."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import (
    accent,
    card,
    cast,
    colour,
    composition,
    figure,
    letters,
    nature,
    objects,
    outline,
    pen,
    setting,
    speed,
    stage,
    wardrobe,
)

_PAPER = (226, 214, 186)
_MERGE = 0.11  #: sheets whose depths differ by no more become one layer
_SOFT = {"close": 3.2, "reaction": 5.0, "over_shoulder": 3.6, "split": 2.6, "insert": 2.0}


def draw(request: protocol.PanelRequest) -> protocol.Panel:
    """Draw one panel, 1.25 times the frame, as 2 to 5 layers."""
    s = stage.of(request)
    if request.kind != "shot":
        scene = [  # nothing of it lies over the words
            stage.Sheet(sheet.image, min(sheet.depth, card.VEIL_DEPTH))
            for sheet in setting.sheets(s, request.scene)
        ]
        return _panel([*_merged(scene, 3), *card.sheets(s, request)], (), ())
    plan = composition.of(s, request, foot(s))
    hue = accent.of(plan.people, [one.sheet.name for one in request.figures])
    plan = dataclasses.replace(plan, people=tuple(accent.dressed(plan.people, hue)))
    inserted = objects.portrait(s, request.scene.focus) if plan.framing == "insert" else []
    if inserted:
        return _panel(_merged(inserted), (), letters.of(s, request, ()))
    behind = [
        stage.Sheet(accent.muted(sheet.image, hue), sheet.depth)
        for sheet in _behind(s, request, plan)
    ]
    if not plan.people:
        return _panel(_merged(behind), (), letters.of(s, request, ()))
    if plan.framing == "insert":
        strip = stage.Sheet(cast.eyes(s, plan.people[-1]), cast.DEPTH)
        return _panel([*_merged(behind), strip], (), letters.of(s, request, ()))
    return _peopled(s, request, plan, behind)


def _peopled(
    s: stage.Stage,
    request: protocol.PanelRequest,
    plan: composition.Composition,
    behind: Sequence[stage.Sheet],
) -> protocol.Panel:
    drawing = cast.Drawing(s, [one for one in plan.people if not one.back], plan.tilt)
    far = [sheet for sheet in behind if sheet.depth < cast.DEPTH]
    near = [sheet for sheet in behind if sheet.depth >= cast.DEPTH]
    near += [stage.Sheet(cast.back(s, one), cast.BACK_DEPTH) for one in plan.people if one.back]
    below = _merged(far, 3)
    image = drawing.image
    if plan.halves:
        image = _split(s, plan.halves, _flat(below), image)
        near = []
    # nothing is merged onto the people: their faces change
    layers = [*below, stage.Sheet(image, cast.DEPTH), *_merged(near, 1)]
    faces = drawing.faces(len(below))
    return _panel(layers, faces, letters.of(s, request, faces))


def _panel(
    sheets: Sequence[stage.Sheet],
    faces: tuple[protocol.Face, ...],
    letters: tuple[protocol.Letter, ...],
) -> protocol.Panel:
    return protocol.Panel(
        image=_flat(sheets),
        layers=tuple(protocol.Layer(image=pen.straight(x.image), depth=x.depth) for x in sheets),
        faces=faces,
        letters=letters,
    )


def _flat(sheets: Sequence[stage.Sheet]) -> protocol.Image:
    image = sheets[0].image[..., :3]
    for sheet in sheets[1:]:
        image = pen.over(image, sheet.image)
    return image


def _behind(
    s: stage.Stage, request: protocol.PanelRequest, plan: composition.Composition
) -> list[stage.Sheet]:
    """What lies behind (and before) the people: the place, or a plain ground, or speed."""
    if plan.framing == "reaction":
        one = plan.people[0]
        seat = figure.seat(one.look, one.act)
        at = (one.x + seat.x * one.size, one.y + seat.y * one.size)
        return [stage.Sheet(speed.ground(s, one.act.emotion, at), 0.2)]
    sheets = list(setting.sheets(s, request.scene))
    if plan.framing in _SOFT:
        sheets = [_blurred(s, sheet, _SOFT[plan.framing]) for sheet in sheets]
    if plan.tilt:
        sheets = [_leaning(s, sheet, plan.tilt) for sheet in sheets]
    if plan.framing == "action":
        middle = plan.people[-1].x if plan.people else s.w / 2
        sheets.append(stage.Sheet(speed.lines(s, (middle, s.h * 0.5)), cast.DEPTH - 0.01))
    return sorted(
        (stage.Sheet(sheet.image, min(1.0, sheet.depth)) for sheet in sheets),
        key=lambda sheet: sheet.depth,
    )


def foot(s: stage.Stage) -> float:
    """The y at which people stand when they are seen whole."""
    start = setting.ground(s)
    return start + (s.h * 0.045 if s.place in nature.SHORES else (s.h - start) * 0.42)


def _blurred(s: stage.Stage, sheet: stage.Sheet, units: float) -> stage.Sheet:
    """A background out of focus, so that a face stands alone."""
    soft = cv2.GaussianBlur(sheet.image, (0, 0), units * s.unit)
    return stage.Sheet(np.asarray(soft, np.uint8), sheet.depth)


def _leaning(s: stage.Stage, sheet: stage.Sheet, degrees: float) -> stage.Sheet:
    """A background turned with the camera, enlarged so that it still fills the panel."""
    a = math.radians(abs(degrees))
    long = max(s.width / s.height, s.height / s.width)
    grown = math.cos(a) + long * math.sin(a)
    matrix = cv2.getRotationMatrix2D((s.width / 2, s.height / 2), -degrees, grown)
    turned = cv2.warpAffine(
        sheet.image, matrix, (s.width, s.height), borderMode=cv2.BORDER_REFLECT_101
    )
    return stage.Sheet(np.asarray(turned, np.uint8), sheet.depth)


def _split(
    s: stage.Stage,
    halves: tuple[outline.Points, outline.Points],
    ground: protocol.Image,
    people: protocol.Image,
) -> protocol.Image:
    """The second half with a ground of its own, everybody, and the paper gutter between."""
    k = 1.35
    matrix = np.array([[-k, 0, s.width * (1 + k) / 2], [0, k, s.height * (0.62 - 0.6 * k)]])
    other = cv2.warpAffine(ground, matrix, (s.width, s.height), borderMode=cv2.BORDER_REFLECT_101)
    p = s.pen()
    p.fill(halves[1], (219, 224, 245))  # a cooler light
    mask = p.sheet()
    below = cv2.multiply(cv2.cvtColor(other, cv2.COLOR_RGB2RGBA), mask, scale=1 / 255)
    image = pen.over(np.asarray(below, np.uint8), people)
    frame = s.pen()
    edges = _facing(s, halves)
    frame.fill(np.concatenate([edges[0], edges[1][::-1]]), colour.PAPER)
    for edge in edges:
        frame.line(edge, 6, taper=(0, 0))
    return pen.over(image, frame.sheet(wobble=0.9 * s.unit, seed=s.seed % 79))


def _facing(
    s: stage.Stage, halves: tuple[outline.Points, outline.Points]
) -> tuple[outline.Points, outline.Points]:
    """The edges on both sides of the gutter, in one direction."""
    first, second = halves
    if s.h >= s.w:
        return first[[3, 2]], second[[0, 1]]
    return first[[1, 2]], second[[0, 3]]


def _merged(sheets: Sequence[stage.Sheet], most: int = 5) -> list[stage.Sheet]:
    """Lay sheets of about one depth together: fewer layers, faster clips."""
    found = sorted(sheets, key=lambda sheet: sheet.depth)
    while len(found) > 1:
        gaps = [b.depth - a.depth for a, b in itertools.pairwise(found)]
        k = gaps.index(min(gaps))
        if gaps[k] > _MERGE and len(found) <= most:
            break
        image = pen.over(found[k].image, found[k + 1].image)
        found[k : k + 2] = [stage.Sheet(image, found[k].depth)]
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
