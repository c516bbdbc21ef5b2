"""Figures: one person from features, emotion and pose, standing with the feet at the origin."""

from __future__ import annotations

import dataclasses
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
    """What a person does in a shot. `turn` -1..1 turns the head, `lean` degrees the whole body."""

    emotion: str = "calm"
    pose: str = "stand"
    turn: float = 0.0
    speaking: bool = False
    lean: float = 0.0


def height(look: Mapping[str, Any]) -> float:
    """From sole to crown, hair included, in units."""
    b = body.build(look)
    return -b.head + 150 * b.head_size


def head_centre(look: Mapping[str, Any]) -> float:
    """The y of the eyes."""
    return body.build(look).head


def pose_of(emotion: str, seed: int) -> str:
    """A pose that suits the emotion, chosen by the seed."""
    choices = POSES.get(emotion, POSES["calm"])
    return choices[seed % len(choices)]


def draw(p: pen.Pen, look: Mapping[str, Any], act: Act) -> None:
    """Draw a whole person."""
    b = body.build(look)
    left, right = arms(b, act.pose)
    bow = 12.0 if act.emotion in _BOWED else 0.0
    tilt = _TILTS.get(act.emotion, 0.0)
    dash = act.pose == "dash"
    with p.moved(0, 0, turn=act.lean):
        with p.moved(0, b.head + bow, scale=b.head_size, turn=tilt):
            hair.behind(p, look, act.turn)
        body.legs(p, look, b, stride=1.0 if dash else 0.0)
        if act.pose not in _IN_FRONT:
            body.arm(p, look, left)
            if not dash:
                body.arm(p, look, right)
        body.torso(p, look, b)
        with p.moved(0, b.head + bow, scale=b.head_size, turn=tilt):
            face.draw(p, look, act.emotion, turn=act.turn, speaking=act.speaking)
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
