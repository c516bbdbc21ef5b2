"""Figures: one person from features, emotion and pose, standing with the feet at the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mangen.engines.animatic import body, face, hair, pen

#: poses each emotion may take, the first where nothing else decides
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


def height(look: Mapping[str, Any]) -> float:
    """From sole to crown, hair included, in units."""
    b = body.build(look)
    return -b.head + 138 * b.head_size


def head_centre(look: Mapping[str, Any]) -> float:
    """The y of the eyes."""
    return body.build(look).head


def pose_of(emotion: str, seed: int) -> str:
    choices = POSES.get(emotion, POSES["calm"])
    return choices[seed % len(choices)]


def draw(
    p: pen.Pen,
    look: Mapping[str, Any],
    *,
    emotion: str = "calm",
    pose: str = "stand",
    turn: float = 0.0,
    speaking: bool = False,
    lean: float = 0.0,
) -> None:
    """Draw a whole person; `lean` in degrees, for an action."""
    b = body.build(look)
    with p.moved(0, 0, turn=lean):
        _draw(p, look, b, emotion, pose, turn, speaking=speaking, stride=1.0 if pose == "dash" else 0.0)


def _draw(
    p: pen.Pen,
    look: Mapping[str, Any],
    b: body.Build,
    emotion: str,
    pose: str,
    turn: float,
    *,
    speaking: bool,
    stride: float,
) -> None:
    tilt = {"shy": 5.0, "sad": 4.0, "tired": 5.0, "happy": -3.0}.get(emotion, 0.0)
    bow = 12.0 if emotion in ("shy", "sad", "tired") else 0.0
    left, right = _arms(b, pose)
    in_front = pose in ("clasp", "chest", "mouth", "point", "open", "dash")
    with p.moved(0, b.head + bow, scale=b.head_size, turn=tilt):
        hair.behind(p, look, turn)
    body.legs(p, look, b, stride=stride)
    if not in_front or pose == "dash":
        body.arm(p, look, left)
        if pose != "dash":
            body.arm(p, look, right)
    body.torso(p, look, b)
    with p.moved(0, b.head + bow, scale=b.head_size, turn=tilt):
        face.draw(p, look, emotion, turn=turn, speaking=speaking)
        hair.front(p, look, turn)
    if in_front:
        if pose != "dash":
            body.arm(p, look, left)
        body.arm(p, look, right)


def _arms(
    b: body.Build, pose: str
) -> tuple[tuple[body.Spot, body.Spot, body.Spot], tuple[body.Spot, body.Spot, body.Spot]]:
    s, top, hip = b.shoulder, b.top + 40, b.hip
    start_l, start_r = (-s + 22, top), (s - 22, top)
    low = hip + 16
    goals = {
        "stand": ((-s - 14, low), (s + 14, low)),
        "behind": ((-s + 24, low - 60), (s - 24, low - 60)),
        "hips": ((-b.waist - 6, hip - 50), (b.waist + 6, hip - 50)),
        "clasp": ((-16, hip - 66), (18, hip - 62)),
        "chest": ((-s - 12, low), (14, top + 70)),
        "mouth": ((-s - 10, low), (34, b.neck - 12)),
        "point": ((-s - 12, low), (s + 170, top + 10)),
        "open": ((-s - 110, hip - 120), (s + 110, hip - 120)),
        "dash": ((-s - 120, hip - 60), (s + 130, top - 30)),
    }
    left, right = goals.get(pose, goals["stand"])
    bend_l = 1 if pose not in ("open", "dash") else -1
    bend_r = -1 if pose not in ("open", "dash", "point") else 1
    if pose == "mouth":
        bend_r = -1
    elbow_l, hand_l = body.reach(start_l, left, b.arm, bend_l)
    elbow_r, hand_r = body.reach(start_r, right, b.arm, bend_r)
    return (start_l, elbow_l, hand_l), (start_r, elbow_r, hand_r)
