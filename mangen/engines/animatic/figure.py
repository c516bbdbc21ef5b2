"""Figures: one person from features, emotion and pose, standing with the feet at the origin."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import body, face, hair, pen

#: poses each emotion may take
POSES: dict[str, tuple[str, ...]] = {
    "calm": ("stand", "clasp", "behind"),
    "happy": ("stand", "hips", "open"),
    "sad": ("clasp", "chest", "stand"),
    "angry": ("hips", "point", "stand"),
    "surprised": ("open", "chest"),
    "afraid": ("mouth", "chest"),
    "shy": ("clasp", "mouth"),
    "tired": ("stand", "clasp"),
}
_TILTS = {"shy": 5.0, "sad": 4.0, "tired": 5.0, "happy": -3.0}
_BOWED = frozenset({"shy", "sad", "tired"})
_IN_FRONT = frozenset(
    {"clasp", "chest", "mouth", "point", "open"}
)  #: poses whose arms lie on the body


@dataclasses.dataclass(frozen=True, slots=True)
class Act:
    """What a person does in a shot. `turn` -1..1 turns the head, `lean` degrees the whole body.

    `mouth` opens the mouth by 0 (closed) to 3 (wide), whatever the emotion does with it; None
    leaves it to the emotion. `gesture` and `held` are a figure's of the same names: they win
    over `pose`.
    """

    emotion: str = "calm"
    pose: str = "stand"
    turn: float = 0.0
    speaking: bool = False
    lean: float = 0.0
    mouth: int | None = None
    blink: bool = False
    gesture: str = ""
    held: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Seat:
    """Where the head sits: its centre between the eyes, its size and its tilt in degrees."""

    x: float
    y: float
    scale: float
    tilt: float

    def at(self, x: float, y: float) -> body.Spot:
        """A point of the head, in the figure's units."""
        c = math.cos(math.radians(self.tilt)) * self.scale
        s = math.sin(math.radians(self.tilt)) * self.scale
        return self.x + c * x - s * y, self.y + s * x + c * y


def height(look: Mapping[str, Any]) -> float:
    """From sole to crown, hair included, in units."""
    b = body.build(look)
    return -b.head + 150 * b.head_size


def head_centre(look: Mapping[str, Any]) -> float:
    """The y of the eyes."""
    return body.build(look).head


def _upright(look: Mapping[str, Any], act: Act) -> Seat:
    """The head's seat before the body leans."""
    b = body.build(look)
    bow = 12.0 if act.emotion in _BOWED else 0.0
    return Seat(0.0, b.head + bow, b.head_size, _TILTS.get(act.emotion, 0.0))


def seat(look: Mapping[str, Any], act: Act) -> Seat:
    """Where `draw` puts the head."""
    own = _upright(look, act)
    c, s = math.cos(math.radians(act.lean)), math.sin(math.radians(act.lean))
    return Seat(c * own.x - s * own.y, s * own.x + c * own.y, own.scale, own.tilt + act.lean)


def face_box(look: Mapping[str, Any], act: Act) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the face without hair and ears, in units."""
    return _around(seat(look, act), face.box(look))


def mouth_box(look: Mapping[str, Any], act: Act) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what changes while the mouth moves."""
    return _around(seat(look, act), face.mouth_box(look, act.turn))


def eyes_box(look: Mapping[str, Any], act: Act) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what changes in a blink."""
    return _around(seat(look, act), face.eyes_box(look, act.turn))


def mouth_at(look: Mapping[str, Any], act: Act) -> body.Spot:
    """The middle of the mouth, in units."""
    return seat(look, act).at(*face.mouth_at(look, act.turn))


def _around(
    where: Seat, box: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    spots = [where.at(x, y) for x in (left, right) for y in (top, bottom)]
    xs, ys = [x for x, _ in spots], [y for _, y in spots]
    return min(xs), min(ys), max(xs), max(ys)


def pose_of(emotion: str, seed: int) -> str:
    """A pose that suits the emotion, chosen by the seed."""
    choices = POSES.get(emotion, POSES["calm"])
    return choices[seed % len(choices)]


def draw(p: pen.Pen, look: Mapping[str, Any], act: Act) -> None:
    """Draw a whole person."""
    b = body.build(look)
    left, right = arms(b, act.pose)
    head = _upright(look, act)
    dash = act.pose == "dash"
    with p.moved(0, 0, turn=act.lean):
        with p.moved(head.x, head.y, scale=head.scale, turn=head.tilt):
            hair.behind(p, look, act.turn)
        body.legs(p, look, b, stride=1.0 if dash else 0.0)
        if act.pose not in _IN_FRONT:
            body.arm(p, look, left)
            if not dash:
                body.arm(p, look, right)
        body.torso(p, look, b)
        with p.moved(head.x, head.y, scale=head.scale, turn=head.tilt):
            face.draw(
                p,
                look,
                act.emotion,
                turn=act.turn,
                speaking=act.speaking,
                mouth=act.mouth,
                blink=act.blink,
            )
            hair.front(p, look, act.turn)
        if act.pose in _IN_FRONT:
            body.arm(p, look, left)
        if act.pose in _IN_FRONT or dash:
            body.arm(p, look, right)


def arms(b: body.Build, pose: str) -> tuple[body.Joints, body.Joints]:
    """Both arms of a pose."""
    s, hip = b.shoulder, b.hip
    start_l, start_r = (-s + 24, b.top + 40), (s - 24, b.top + 40)
    rest = hip + 44
    goals: dict[str, tuple[body.Spot, body.Spot]] = {
        "stand": ((-s - 8, rest), (s + 8, rest)),
        "behind": ((-s + 40, hip - 20), (s - 40, hip - 20)),
        "hips": ((-b.waist - 4, hip - 40), (b.waist + 4, hip - 40)),
        "clasp": ((-20, hip - 60), (20, hip - 56)),
        "chest": ((-s - 8, rest), (10, b.top + 104)),
        "mouth": ((-s - 8, rest), (12, b.top + 14)),
        "point": ((-s - 8, rest), (s + 190, b.top + 30)),
        "open": ((-s - 158, hip - 16), (s + 158, hip - 16)),
        "dash": ((-s - 110, hip - 70), (s + 120, b.top + 20)),
    }
    left, right = goals.get(pose, goals["stand"])
    wide = pose == "open"
    return (
        body.reach(start_l, left, b.arm, -1, wide=wide),
        body.reach(start_r, right, b.arm, 1, wide=wide),
    )
