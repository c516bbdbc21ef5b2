"""Letters: what a request wants written into the picture, placed around the faces and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from mangen.engines import protocol
from mangen.engines.animatic import balloon, caption, lettering, stage

_ZOOM = 1.08  #: a camera comes so near to people
_SWAY = 9.0  #: units that it moves them aside
_HAIR = 0.62  #: of a face's height lies above it


def of(
    s: stage.Stage, request: protocol.PanelRequest, faces: Sequence[protocol.Face]
) -> tuple[protocol.Letter, ...]:
    """The letters of a panel; words without a glyph in the font have none."""
    room = room_of(s, request, faces)
    found: list[protocol.Letter] = []
    taken: list[balloon.Box] = []
    for one in sorted(request.lettering, key=lambda one: one.kind != "caption"):
        text = lettering.clean(one.text)
        if not text:
            continue
        if one.kind == "caption":
            spot = caption.placed(room, text)
            taken.append(spot.box)
            patch = caption.draw(room, spot)
            room = room_of(s, request, faces, taken)
        else:
            mouth = mouth_of(s, request, faces, one.by)
            spot = balloon.placed(room, text, mouth)
            patch = balloon.draw(
                room, spot, mouth, emotion=_emotion(request, one.by), seed=s.seed + one.line
            )
        found.append(protocol.Letter(line=one.line, patch=patch))
    return tuple(found)


def room_of(
    s: stage.Stage,
    request: protocol.PanelRequest,
    faces: Sequence[protocol.Face],
    taken: Sequence[balloon.Box] = (),
) -> balloon.Room:
    """The frame with its faces, as large and as far aside as a camera may show them."""
    boxes = [_framed(s, request, face.box) for face in faces]
    heads = [(x0, max(0.0, y0 - (y1 - y0) * _HAIR), x1, y1) for x0, y0, x1, y1 in boxes]
    return balloon.Room(
        width=request.width, height=request.height, faces=boxes, heads=heads, taken=taken
    )


def _framed(
    s: stage.Stage, request: protocol.PanelRequest, box: tuple[int, int, int, int]
) -> balloon.Box:
    cx, cy = request.width / 2, request.height / 2
    dx, dy = (s.width - request.width) / 2, (s.height - request.height) / 2
    x0, y0, x1, y1 = box[0] - dx, box[1] - dy, box[2] - dx, box[3] - dy
    sway = _SWAY * s.unit
    return (
        min(x0, cx + (x0 - cx) * _ZOOM) - sway,
        min(y0, cy + (y0 - cy) * _ZOOM) - sway,
        max(x1, cx + (x1 - cx) * _ZOOM) + sway,
        max(y1, cy + (y1 - cy) * _ZOOM) + sway,
    )


def mouth_of(
    s: stage.Stage, request: protocol.PanelRequest, faces: Sequence[protocol.Face], name: str
) -> tuple[float, float] | None:
    """Where a person's mouth is in the frame; None for who is not seen."""
    for face in faces:
        if face.name == name:
            return (
                face.mouth[0] - (s.width - request.width) / 2,
                face.mouth[1] - (s.height - request.height) / 2,
            )
    return None


def _emotion(request: protocol.PanelRequest, name: str) -> str:
    return next((one.emotion for one in request.figures if one.sheet.name == name), "calm")
