"""Figures: one person from features, emotion and pose, standing with the feet at the origin."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from mangen.engines.animatic import arm, body, build, colour, face, hair, held, pen, pose

POSES = pose.BY_EMOTION
Box = tuple[float, float, float, float]  #: left, top, right, bottom


@dataclasses.dataclass(frozen=True, slots=True)
class Act:
    """What a person does in a shot. `turn` -1..1 turns the head, `lean` degrees the whole body.

    `mouth` opens the mouth by 0 (closed) to 3 (wide), whatever the emotion does with it; None
    leaves it to the emotion. `gesture` and `held` are a figure's of the same names: they win
    over `pose`. Whoever turns left does everything to the left.
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
    tint: str = ""  #: the colour of what is held, `#rrggbb`; empty: its own
    away: bool = False  #: held by the hand on the side one turns from
    low: float | None = None  #: the y above which a thing in hands has to be, to be seen


@dataclasses.dataclass(frozen=True, slots=True)
class Seat:
    """Where the head sits: its centre between the eyes, its size and its tilt in degrees."""

    x: float
    y: float
    scale: float
    tilt: float

    def at(self, x: float, y: float) -> build.Spot:
        """A point of the head, in the figure's units."""
        dx, dy = _turned(x * self.scale, y * self.scale, self.tilt)
        return self.x + dx, self.y + dy


def height(look: Mapping[str, Any]) -> float:
    """From sole to crown, hair included, in units."""
    return build.crown(look)


def head_centre(look: Mapping[str, Any]) -> float:
    """The y of the eyes of one who stands."""
    return build.of(look).head


def pose_of(emotion: str, seed: int) -> str:
    """A pose that suits the emotion, chosen by the seed."""
    choices = POSES.get(emotion, POSES["calm"])
    return choices[seed % len(choices)]


def seat(look: Mapping[str, Any], act: Act) -> Seat:
    """Where `draw` puts the head."""
    b, doing = build.of(look), _pose(look, act)
    x, y = _turned(doing.aside, b.head + doing.nod - b.hip, doing.bend)
    x, y = _turned(x, y + b.hip + doing.drop, act.lean)
    return Seat(x, y, b.head_size, doing.tilt + doing.bend + act.lean)


def face_box(look: Mapping[str, Any], act: Act) -> Box:
    """Left, top, right and bottom of the face without hair and ears, in units."""
    return _around(seat(look, act), face.box(look))


def mouth_box(look: Mapping[str, Any], act: Act) -> Box:
    """Left, top, right and bottom of what changes while the mouth moves."""
    return _around(seat(look, act), face.mouth_box(look, act.turn))


def eyes_box(look: Mapping[str, Any], act: Act) -> Box:
    """Left, top, right and bottom of what changes in a blink."""
    return _around(seat(look, act), face.eyes_box(look, act.turn))


def mouth_at(look: Mapping[str, Any], act: Act) -> build.Spot:
    """The middle of the mouth, in units."""
    return seat(look, act).at(*face.mouth_at(look, act.turn))


def box(look: Mapping[str, Any], act: Act) -> Box:
    """What the whole person may touch, with hat, arms and what they hold."""
    tall = height(look)
    wide = tall * (0.8 if act.held or act.gesture or act.pose == "dash" else 0.55)
    wide += abs(math.sin(math.radians(act.lean))) * tall
    return -wide, -tall * (1.2 if act.held else 1.12), wide, tall * 0.06


def _turned(x: float, y: float, degrees: float) -> build.Spot:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return c * x - s * y, s * x + c * y


def _around(where: Seat, inner: Box) -> Box:
    left, top, right, bottom = inner
    spots = [where.at(x, y) for x in (left, right) for y in (top, bottom)]
    xs, ys = [x for x, _ in spots], [y for _, y in spots]
    return min(xs), min(ys), max(xs), max(ys)


def _pose(look: Mapping[str, Any], act: Act) -> pose.Pose:
    hold = pose.Hold(act.held, act.away, act.low)
    found = pose.of(look, act.pose, act.emotion, act.gesture, hold)
    return found if act.turn >= 0 else found.mirrored()


def arms(b: build.Build, doing: pose.Pose) -> tuple[arm.Joints, arm.Joints]:
    """Both arms of a pose, the picture's left one first."""
    x, y = b.shoulder - 24 * b.thick, b.top + 42 * (-b.top / 722) - doing.shrug
    left = arm.reach((-x, y), doing.left, b.arm, -1, wide="l" in doing.wide)
    right = arm.reach((x, y), doing.right, b.arm, 1, wide="r" in doing.wide)
    return left, right


@contextlib.contextmanager
def _torso(p: pen.Pen, b: build.Build, doing: pose.Pose) -> Iterator[None]:
    """Draw in the frame of the torso: lowered, and bent around the hip."""
    with p.moved(0, b.hip + doing.drop, turn=doing.bend), p.moved(0, -b.hip):
        yield


def draw(p: pen.Pen, look: Mapping[str, Any], act: Act) -> None:
    """Draw a whole person."""
    b, doing = build.of(look), _pose(look, act)
    facing = 1 if act.turn >= 0 else -1
    both = arms(b, doing)
    thing = _grip(look, act, b, doing, both)
    shape = dataclasses.replace(b, top=b.top - doing.shrug)

    def limbs(*, front: bool, seams: bool = False) -> None:
        for k, name in enumerate("lr"):
            if (name in doing.front) is not front:
                continue
            if front or not seams:
                arm.draw(p, look, b, both[k], form=doing.hands[k], side=(-1, 1)[k])
            if seams:
                arm.seam(p, look, b, both[k], side=(-1, 1)[k], front=front)

    with p.moved(0, 0, turn=act.lean):
        with _torso(p, b, doing):
            if thing:
                held.behind(p, act.held, thing)
            with _head(p, b, doing):
                hair.behind(p, look, act.turn)
        body.legs(p, look, b, kind=doing.legs, drop=doing.drop, facing=facing)
        bent = abs(doing.bend) > 4
        if bent:
            with p.moved(0, doing.drop):
                body.skirt(p, look, b, doing.drop, wide=doing.legs in ("lunge", "run"))
        with _torso(p, b, doing):
            in_front = thing is not None and (thing.both or _holder(act, facing) in doing.front)
            if thing and not in_front:
                held.draw(p, act.held, thing)
            limbs(front=False)
            body.torso(p, look, shape, doing.drop, bent=bent)
            limbs(front=False, seams=True)
            with _head(p, b, doing):
                face.draw(
                    p, look, act.emotion, turn=act.turn, speaking=act.speaking, mouth=act.mouth,
                    blink=act.blink,
                )  # fmt: skip
                hair.front(p, look, act.turn)
            if thing and in_front:
                held.draw(p, act.held, thing)
            limbs(front=True, seams=True)


@contextlib.contextmanager
def _head(p: pen.Pen, b: build.Build, doing: pose.Pose) -> Iterator[None]:
    with p.moved(doing.aside, b.head + doing.nod, scale=b.head_size, turn=doing.tilt):
        yield


def _holder(act: Act, facing: int) -> str:
    """The arm that holds a thing: l or r."""
    doing = act.gesture if act.gesture in pose.GESTURES else act.pose
    attack = act.held in ("fork", "staff", "sword") and doing in ("strike", "dash")
    away = (act.away and not attack) or pose.holds_left(doing)
    left = away == (facing > 0)
    return "l" if left else "r"


def _grip(
    look: Mapping[str, Any], act: Act, b: build.Build, doing: pose.Pose,
    both: tuple[arm.Joints, arm.Joints],
) -> held.Grip | None:  # fmt: skip
    if act.held not in held.KNOWN:
        return None
    facing = 1 if act.turn >= 0 else -1
    attack = act.gesture == "strike" or (act.pose == "dash" and not act.gesture)
    hand = 0 if _holder(act, facing) == "l" else 1
    palms = [_palm(joints, b.thick) for joints in both]
    x, y = palms[hand]
    above = -(_turned(x, y - b.hip, doing.bend)[1] + b.hip + doing.drop)
    return held.Grip(
        at=(x, y),
        other=palms[1 - hand],
        side=-1 if hand == 0 else 1,
        both=act.held in pose.TWO_HANDED or (attack and act.held in ("fork", "staff")),
        attack=attack,
        bend=doing.bend,
        head=b.head,
        ground=y + above,
        size=0.8 if look["age"] == "child" else 1.0,
        accent=colour.of(look["trim"]),
        tint=colour.of(act.tint) if act.tint else None,
    )


def _palm(joints: arm.Joints, thick: float) -> build.Spot:
    _, elbow, wrist = joints
    angle = math.atan2(wrist[1] - elbow[1], wrist[0] - elbow[0])
    return wrist[0] + math.cos(angle) * 22 * thick, wrist[1] + math.sin(angle) * 22 * thick
