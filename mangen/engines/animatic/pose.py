"""Poses: where hands, feet and head are, for an emotion, a gesture or a thing that is held.

A pose is drawn as if the person faced right; `mirrored` faces it left. Hands lie in the torso's
own frame, which `bend` turns around the hip and `drop` lowers; feet stay on the ground.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from mangen.engines.animatic import build
from mangen.engines.animatic.build import Build, Spot

Hand = Literal["rest", "fist", "palm", "point"]

#: poses each emotion may take
BY_EMOTION: dict[str, tuple[str, ...]] = {
    "calm": ("stand", "clasp", "behind", "easy"),
    "happy": ("cheer", "hips", "open", "palms"),
    "sad": ("droop", "chest", "clasp"),
    "angry": ("fists", "point", "hips", "crossed"),
    "surprised": ("startled", "chest", "palms"),
    "afraid": ("shrink", "startled", "chest"),
    "shy": ("fidget", "behind", "clasp"),
    "tired": ("brow", "droop", "stand"),
}
GESTURES = frozenset({"point", "wave", "bow", "hug", "run", "strike", "sit", "kneel"})
TWO_HANDED = frozenset({"book", "letter"})
#: what is held up to be seen where a picture ends above the hand
RAISED = frozenset({"phone", "cup", "lantern", "fan", "flower", "umbrella"})
#: poses that need both arms, and so become plain ones with a thing in one hand
_TWO_ARMS = frozenset({
    "clasp", "fidget", "crossed", "open", "palms", "startled", "mouth", "brow", "behind", "shrink",
})  # fmt: skip
#: poses that reach far to a side -> what is done instead where a neighbour stands
NARROW = {
    "open": "chest",
    "palms": "clasp",
    "point": "fists",
    "cheer": "easy",
    "startled": "shrink",
    "brow": "droop",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Hold:
    """What is held, and how."""

    thing: str = ""
    away: bool = False  #: by the hand on the side that is turned away
    low: float | None = None  #: the largest y at which a thing held up is seen


@dataclasses.dataclass(frozen=True, slots=True)
class Pose:
    left: Spot  #: goal of the hand on the picture's left
    right: Spot
    front: str = ""  #: which arms lie over the torso and head: "", "l", "r" or "lr"
    wide: str = ""  #: which elbows point outwards
    hands: tuple[Hand, Hand] = ("rest", "rest")
    drop: float = 0.0
    bend: float = 0.0
    legs: str = "stand"  #: stand apart lunge run sit kneel
    nod: float = 0.0  #: the head's way down
    aside: float = 0.0  #: and to the side
    tilt: float = 0.0  #: of the head, degrees
    shrug: float = 0.0  #: how far the shoulders rise

    def mirrored(self) -> Pose:
        """The same pose facing left."""
        swap = str.maketrans("lr", "rl")
        return dataclasses.replace(
            self,
            left=(-self.right[0], self.right[1]),
            right=(-self.left[0], self.left[1]),
            front=self.front.translate(swap),
            wide=self.wide.translate(swap),
            hands=self.hands[::-1],
            bend=-self.bend,
            aside=-self.aside,
            tilt=-self.tilt,
        )


_HEADS = {"shy": (9.0, 6.0), "sad": (13.0, 5.0), "tired": (13.0, 6.0), "happy": (0.0, -4.0),
          "afraid": (6.0, -3.0), "angry": (3.0, 2.0), "surprised": (-4.0, -2.0)}  # fmt: skip
_SHRUGS = {"afraid": 10.0, "shy": 5.0, "angry": 5.0, "surprised": 6.0, "sad": -5.0, "tired": -6.0}


def of(look: Mapping[str, Any], name: str, emotion: str, gesture: str, hold: Hold) -> Pose:
    """The pose by name, or as gesture and thing demand, with the emotion's head."""
    b = build.of(look)
    doing = gesture if gesture in GESTURES else name
    pose = _named(b, doing)
    if hold.thing:
        pose = _holding(b, pose, doing, hold)
    nod, tilt = _HEADS.get(emotion, (0.0, 0.0))
    return dataclasses.replace(
        pose,
        nod=pose.nod + nod * b.head_size,
        tilt=pose.tilt + tilt,
        shrug=pose.shrug + _SHRUGS.get(emotion, 0.0),
    )


def _named(b: Build, name: str) -> Pose:
    s, w, hip, top, a = b.shoulder, b.waist, b.hip, b.top, b.arm
    low = top + 40 + 1.95 * a  # where an arm hangs that is almost straight
    rest_l, rest_r = (-s - 14, low), (s + 14, low)
    chest = top + 1.0 * a
    poses = {
        "stand": Pose(rest_l, rest_r),
        "easy": Pose(rest_l, (w + 14, hip - 26), wide="r"),
        "behind": Pose((-w + 30, hip - 24), (w - 30, hip - 24), wide="lr"),
        "hips": Pose((-w - 10, hip - 34), (w + 10, hip - 34), wide="lr", hands=("fist", "fist")),
        "clasp": Pose((-13, hip - 0.36 * a), (15, hip - 0.32 * a), front="lr"),
        "fidget": Pose((-9, hip - 0.2 * a), (10, hip - 0.16 * a), front="lr", tilt=2),
        "chest": Pose(rest_l, (6, chest), front="r"),
        "mouth": Pose(rest_l, (58, b.head + 152 * b.head_size), front="r", hands=("rest", "fist")),
        "brow": Pose(rest_l, (122 * b.head_size, b.head - 18), front="r", wide="r", nod=6, tilt=7),
        "palms": Pose((-s - 0.8 * a, top + 0.7 * a), (s + 0.8 * a, top + 0.7 * a),
                      hands=("palm", "palm")),
        "open": Pose((-s - a, hip - 0.2 * a), (s + a, hip - 0.2 * a), wide="lr",
                     hands=("palm", "palm")),
        "cheer": Pose(rest_l, (s + 0.5 * a, top - 0.75 * a), wide="r", hands=("rest", "fist")),
        "droop": Pose((-s + 2, low + 8), (s - 2, low + 8), nod=5),
        "fists": Pose((-s - 40, low - 0.22 * a), (s + 40, low - 0.22 * a), wide="lr",
                      hands=("fist", "fist"), legs="apart"),
        "crossed": Pose((s * 0.5, chest + 22), (-s * 0.5, chest + 8), front="lr",
                        hands=("rest", "rest")),
        "startled": Pose((-s - 0.35 * a, top + 0.2 * a), (s + 0.35 * a, top + 0.2 * a),
                         wide="lr", hands=("palm", "palm"), bend=-4, legs="apart"),
        "shrink": Pose((-20, top + 0.42 * a), (24, top + 0.5 * a), front="lr",
                       hands=("fist", "fist"), nod=8, drop=14, bend=-3),
        "point": Pose(rest_l, (s + 1.5 * a, top + 0.1 * a), front="r", hands=("rest", "point")),
        "wave": Pose(rest_l, (s + 0.62 * a, top - 0.95 * a), wide="r", hands=("rest", "palm")),
        "bow": Pose((-14, chest + 30), (14, chest + 34), front="lr", hands=("fist", "rest"),
                    bend=21, nod=22, aside=8, tilt=6),
        "hug": Pose((s * 0.9, chest + 6), (s * 1.25, chest - 34), front="lr", bend=9, tilt=7,
                    aside=8),
        "run": Pose((-s - 0.3 * a, chest + 60), (s + 0.55 * a, top + 0.45 * a), front="r",
                    hands=("fist", "fist"), bend=13, legs="run", drop=10),
        "strike": Pose((-0.2 * s, top + 0.62 * a), (s + 1.45 * a, top + 0.28 * a), front="lr",
                       hands=("fist", "fist"), bend=9, legs="lunge", drop=0.17 * -hip),
        "dash": Pose((-s - 0.7 * a, hip - 0.45 * a), (s + 0.75 * a, top + 0.1 * a), front="r",
                     hands=("fist", "fist"), bend=12, legs="lunge", drop=0.13 * -hip),
        "sit": Pose((-w * 0.62, hip + 0.06 * a), (w * 0.62, hip + 0.06 * a), front="lr",
                    legs="sit", drop=0.36 * -hip),
        "kneel": Pose((-w * 0.6, hip - 0.1 * a), (w * 0.6, hip - 0.1 * a), front="lr", nod=8,
                      legs="kneel", drop=0.5 * -hip),
    }  # fmt: skip
    return poses.get(name, poses["stand"])


def _holding(b: Build, pose: Pose, doing: str, hold: Hold) -> Pose:
    """The pose with hands at the thing; a hand that gestures goes on gesturing."""
    s, hip, top, a, held = b.shoulder, b.hip, b.top, b.arm, hold.thing
    if held in ("fork", "staff", "sword") and doing in ("strike", "dash"):
        if held == "sword":
            return dataclasses.replace(
                pose, right=(s + 0.95 * a, top + 0.22 * a), hands=("fist", "fist"), front="r",
                left=(-s - 0.75 * a, top + 0.9 * a), bend=11,
            )  # fmt: skip
        return dataclasses.replace(
            pose, left=(-0.95 * s, top + 0.42 * a), right=(s * 0.66, top + 1.1 * a), front="lr",
            hands=("fist", "fist"), legs="lunge", drop=0.17 * -hip,
        )  # fmt: skip
    if held in TWO_HANDED:
        y = top + 0.98 * a
        if hold.low is not None:
            y = min(y, max(hold.low, top + 0.42 * a))
        return dataclasses.replace(
            pose, left=(-44, y), right=(44, y), front="lr", wide="", hands=("fist", "fist")
        )
    goals: dict[str, Spot] = {
        "fork": (s + 0.7 * a, hip - 0.85 * a), "staff": (s + 0.7 * a, hip - 0.85 * a),
        "sword": (s + 0.22 * a, hip - 0.1 * a), "umbrella": (s + 12, top + 0.82 * a),
        "phone": (s * 0.4, top + 1.02 * a), "cup": (s * 0.34, top + 1.05 * a),
        "lantern": (s + 0.72 * a, top + 0.55 * a), "bag": (s + 24, top + 40 + 1.9 * a),
        "fan": (s * 0.8, top + 1.2 * a), "flower": (s * 0.5, top + 1.2 * a),
    }  # fmt: skip
    if held not in goals:
        return pose
    at = goals[held]
    over = held in ("umbrella", "phone", "cup", "fan", "flower")
    if hold.low is not None and held in RAISED and at[1] > hold.low:
        # beside the face rather than before it
        at = (max(at[0], s + 14), max(hold.low, top - 0.1 * a))
    busy = holds_left(doing)
    if hold.away and not busy and doing in _TWO_ARMS:
        pose = _named(b, "stand")
    if busy or hold.away:
        front = ("l" if over else "") + ("r" if "r" in pose.front else "")
        return dataclasses.replace(
            pose, left=(-at[0], at[1]), front=front, hands=("fist", pose.hands[1])
        )
    if doing in _TWO_ARMS:
        pose = _named(b, "stand")
    front = ("l" if "l" in pose.front else "") + ("r" if over else "")
    return dataclasses.replace(
        pose, right=at, front=front, wide=pose.wide.replace("r", ""), hands=(pose.hands[0], "fist")
    )


def holds_left(doing: str) -> bool:
    """Whether a thing held in one hand is in the left one of a pose that faces right."""
    return doing in ("wave", "point", "cheer")
