"""Composition: who is in a shot, where they stand, how large, and which way they look.

Places are shares of the panel; the camera sees its middle four fifths. Eyes lie on the upper
third, the wider space is where a face looks to, and a speaker with a balloon makes room for it.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from typing import Any

from mangen.engines import protocol
from mangen.engines.animatic import dye, figure, outline, pose, stage, wardrobe

MOST = 4  #: more people than these would only hide each other
#: no chin lies below this share of the panel's height: there the subtitles stand
CHIN_MAX = 0.69
_SEEN = 0.65  #: the share of the height above which hands hold up what is to be seen

_ROWS: dict[int, tuple[float, ...]] = {
    1: (0.5,), 2: (0.29, 0.71), 3: (0.24, 0.5, 0.76), 4: (0.2, 0.4, 0.6, 0.8),
}  # fmt: skip
_CROWD = {1: 1.0, 2: 0.84, 3: 0.72, 4: 0.6}
#: framing -> size in a tall frame, in a wide one, where the eyes lie
_SIZES: dict[str, tuple[float, float, float]] = {
    "establish": (0.52, 0.44, 0.0),
    "medium": (1.3, 0.9, 0.37),
    "close": (2.05, 1.34, 0.42),
    "over_shoulder": (1.42, 0.98, 0.39),
    "action": (1.1, 0.78, 0.45),
    "reaction": (2.55, 1.5, 0.43),
    "split": (1.66, 1.24, 0.305),
}
_ALONE = frozenset({"close", "reaction", "insert"})  #: framings of one face
_EXACT = frozenset({"close", "reaction", "split", "over_shoulder"})
_CLOSER = {"close": 0.17, "action": -0.12}  #: how much nearer to the middle people stand
_REACHING = frozenset({"point", "hug", "strike", "wave"})
_TENSE = frozenset({"tense", "dark"})
GUTTER = 26.0  #: units
_ASIDE = frozenset({"bag", "sword", "fork", "staff"})  #: what is held beside the body


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One person placed: feet at (x, y) units, `size` units a body unit."""

    name: str
    look: Mapping[str, Any]
    act: figure.Act
    x: float
    y: float
    size: float
    speaking: bool = False
    back: bool = False  #: seen from behind, near and out of focus
    region: outline.Points | None = None  #: nothing of this person lies outside


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """A shot laid out. `framing` may differ from the one asked for: it depends on who is there."""

    framing: str
    people: tuple[Standing, ...] = ()
    tilt: float = 0.0  #: degrees the whole picture leans
    halves: tuple[outline.Points, outline.Points] | None = None  #: of a split


def of(
    s: stage.Stage, request: protocol.PanelRequest, foot: float, *, tilted: bool = True
) -> Composition:
    """Lay out a request; `foot` is the y where one can stand when seen whole."""
    framing = _possible(request.scene.framing, len(request.figures))
    if framing in _ALONE and any(dye.parted(x.held)[0] in _ASIDE for x in request.figures):
        framing = "medium" if framing != "insert" else framing  # or nobody would see it
    if framing == "reaction" and _shown(request.figures, framing)[0].held:
        framing = "close"  # a face that fills the frame leaves no room for hands
    figures = _shown(request.figures, framing)
    chance = random.Random(s.seed * 7919 + 17)
    side = 1 if chance.random() < 0.5 else -1
    if framing in ("establish", "medium", "action") and chance.random() < 0.8:
        side = 1 if s.orb[0] > s.w / 2 else -1  # not before sun or moon
    tilt = _tilt(framing, request.scene.mood, chance) if tilted else 0.0
    lettered = frozenset(one.by for one in request.lettering if one.kind == "balloon")
    plan = _Plan(s, framing, side, chance, lettered, foot)
    if framing == "split":
        return plan.split(figures)
    if framing == "over_shoulder":
        people = plan.over_shoulder(figures)
    elif framing == "establish":
        people = plan.establish(figures)
    elif not figures:
        people = []
    elif len(figures) == 1:
        people = [plan.alone(figures[0])]
    else:
        people = plan.row(figures)
    return Composition(framing=framing, people=tuple(people), tilt=tilt)


def _possible(framing: str, people: int) -> str:
    if framing in ("split", "over_shoulder") and people < 2:
        return "close"
    if framing == "reaction" and not people:
        return "medium"
    return framing if framing in _SIZES or framing == "insert" else "medium"


def _shown(figures: Sequence[protocol.Figure], framing: str) -> list[protocol.Figure]:
    """Who is seen, at most as many as fit; whoever speaks always is."""
    first = next((k for k, one in enumerate(figures) if one.speaking), 0)
    if framing in _ALONE and figures:
        if framing == "close" and len(figures) == 2 and not figures[first].speaking:
            return list(figures)
        return [figures[first]]
    most = 2 if framing in ("split", "over_shoulder") else MOST
    shown = list(figures[:most])
    if figures and figures[first] not in shown:
        shown[-1] = figures[first]
    return shown


def _tilt(framing: str, mood: str, chance: random.Random) -> float:
    lean = chance.choice((-1.0, 1.0)) * chance.uniform(0.8, 1.0)
    if framing == "action":
        return 3.6 * lean
    return 2.4 * lean if mood in _TENSE and framing in ("medium", "close", "reaction") else 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """The rules of each framing, on one stage."""

    s: stage.Stage
    framing: str
    side: int
    chance: random.Random
    lettered: frozenset[str]  #: names of those who have a balloon
    foot: float

    @property
    def tall(self) -> float:
        """0 for a wide frame, 1 for an upright one."""
        return min(1.0, max(0.0, (self.s.h / self.s.w - 0.5625) / (1.7778 - 0.5625)))

    def size(self, framing: str = "") -> float:
        tall, wide, _ = _SIZES.get(framing or self.framing, _SIZES["medium"])
        return (wide + (tall - wide) * self.tall) * self.chance.uniform(0.97, 1.03)

    def alone(self, one: protocol.Figure) -> Standing:
        size = self.size()
        eyes = _SIZES.get(self.framing, _SIZES["medium"])[2]
        off = {"close": 0.05, "reaction": 0.03, "action": 0.1}.get(self.framing, 0.14)
        off *= self.chance.uniform(0.65, 1.0)
        if one.sheet.name in self.lettered:
            off = 0.13 + 0.06 * (1 - self.tall)
            size *= 0.9 if self.framing in _ALONE else 0.95
            eyes += 0.055 * self.tall
        look = _look(one)
        if look["age"] == "child" and self.framing == "medium":
            size *= 1.12
        turn = self.side * self.chance.uniform(0.18, 0.45)
        return self._standing(one, look, 0.5 - self.side * off, eyes, size=size, turn=turn)

    def row(self, figures: Sequence[protocol.Figure]) -> list[Standing]:
        """People beside each other, feet on one line, the one who speaks a little nearer."""
        size = self.size() * _CROWD[len(figures)]
        if self.framing == "close":
            size *= 0.9
        eyes = _SIZES.get(self.framing, _SIZES["medium"])[2]
        if self.lettered:
            eyes += 0.07 * self.tall
        found = []
        leads = next((one for one in figures if _attacks(one)), figures[0])
        for k, one in enumerate(figures):
            x = _ROWS[len(figures)][k]
            x += (0.5 - x) * _CLOSER.get(self.framing, 0.0)
            x += self.chance.uniform(-0.012, 0.012)
            turn = (0.5 - x) * 2.1
            turn = turn if abs(turn) > 0.1 else 0.1 * self.side
            if one.speaking or self.framing != "action":
                turn = max(-0.55, min(0.55, turn))
            near = size * (1.05 if one.speaking else 1.0)
            yields = one is not leads and not _attacks(one)
            found.append(
                self._standing(one, _look(one), x, eyes, size=near, turn=turn, line=size,
                               yields=yields)
            )  # fmt: skip
        # whoever reaches out lies over whom he reaches for
        return sorted(found, key=lambda p: (p.act.gesture in _REACHING, p.speaking, p.size))

    def establish(self, figures: Sequence[protocol.Figure]) -> list[Standing]:
        """Small people on one third of a large place."""
        size = self.size() * _CROWD.get(len(figures), 1.0) ** 0.4
        middle = 0.5 - self.side * (0.16 if len(figures) < 3 else 0.06)
        found = []
        for k, one in enumerate(figures):
            x = middle + (k - (len(figures) - 1) / 2) * 0.19
            look = _look(one)
            act = self._act(one, self.side * 0.35 if len(figures) == 1 else (0.5 - x) * 1.6)
            act = _beside(act) if len(figures) > 1 else act
            y = self.foot + (k % 2) * 14 * size
            y -= self._under(y, look, act, size)
            found.append(_stood(one, look, act, (x * self.s.w, y), size))
        return sorted(found, key=lambda p: p.y)

    def over_shoulder(self, figures: Sequence[protocol.Figure]) -> list[Standing]:
        """The speaker beyond, and before him the back of who listens."""
        speaker = next((one for one in figures if one.speaking), figures[0])
        other = next(one for one in figures if one is not speaker)
        eyes = _SIZES["over_shoulder"][2]
        if speaker.sheet.name in self.lettered:
            eyes += 0.05 * self.tall
        beyond = self._standing(
            speaker, _look(speaker), 0.5 + self.side * 0.125, eyes,
            size=self.size(), turn=-self.side * 0.4,
        )  # fmt: skip
        look, size = _look(other), self.size() * 1.46
        x = 0.5 - self.side * (0.345 + 0.03 * (1 - self.tall))
        y = self.s.h * (eyes + 0.13) - figure.head_centre(look) * size
        # only a back is seen: whatever else he does would bring his head before the speaker's
        act = figure.Act(emotion=other.emotion, turn=self.side * 0.6)
        near = _stood(other, look, act, (x * self.s.w, y), size)
        return [beyond, dataclasses.replace(near, back=True, speaking=False)]

    def split(self, figures: Sequence[protocol.Figure]) -> Composition:
        """Two slanted panels, one face each; who speaks has the first."""
        s, upright = self.s, self.s.h >= self.s.w
        order = sorted(figures, key=lambda one: not one.speaking)
        slant = self.side * 0.045
        halves = _halves(s, slant, upright=upright)
        size = self.size()
        spots = (
            ((0.5 - self.side * 0.13, 0.31), (0.5 + self.side * 0.08, 0.6)) if upright
            else ((0.3, 0.4), (0.7, 0.4))
        )  # fmt: skip
        people = []
        for k, (one, (x, eyes)) in enumerate(zip(order, spots, strict=True)):
            if not upright and one.sheet.name in self.lettered:
                eyes += 0.06
            turn = (self.side if k == 0 else -self.side) * 0.35 if upright else (0.5 - x) * 1.8
            stood = self._standing(
                one, _look(one), x, eyes, size=size * (1 if k == 0 else 0.86), turn=turn
            )
            people.append(dataclasses.replace(stood, region=halves[k]))
        return Composition(framing="split", people=tuple(people), halves=halves)

    def _standing(
        self, one: protocol.Figure, look: Mapping[str, Any], x: float, eyes: float,
        *, size: float, turn: float, line: float = 0.0, yields: bool = False,
    ) -> Standing:  # fmt: skip
        """Somebody whose eyes lie at `eyes`; with `line`, an adult's of that size would.

        In an action, one who `yields` draws back before who attacks.
        """
        act = self._act(one, turn)
        if line:
            act = _beside(act)
        if self.framing == "action":
            lean = (-5.0 if yields else 8.0) * (1 if turn >= 0 else -1)
            act = dataclasses.replace(act, pose="shrink" if yields else "dash", lean=lean)
        seat = figure.seat(look, act)
        y = self.s.h * eyes + (850 * line if line else -seat.y * size)
        y -= self._under(y, look, act, size)
        # one who bows or lunges reaches to both sides; a face that is all there is lies exactly
        aside = 1.0 if self.framing in _EXACT or (line and self.framing == "action") else 0.55
        if act.held:
            act = dataclasses.replace(act, low=(self.s.h * _SEEN - y) / size)
        return _stood(one, look, act, (x * self.s.w - seat.x * size * aside, y), size)

    def _act(self, one: protocol.Figure, turn: float) -> figure.Act:
        thing, tint = dye.parted(one.held)
        if thing == "umbrella" and self.s.place in stage.ROOFED:
            thing = ""  # nobody holds one up under a roof
        doing = figure.pose_of(one.emotion, self.s.seed)
        return figure.Act(
            emotion=one.emotion,
            pose="easy" if thing and pose.holds_left(doing) else doing,
            turn=max(-0.8, min(0.8, turn)),
            gesture=one.gesture,
            held=thing,
            tint=tint if thing else "",
        )

    def _under(self, y: float, look: Mapping[str, Any], act: figure.Act, size: float) -> float:
        """How far the face of who stands at `y` reaches into the subtitles."""
        chin = y + figure.face_box(look, act)[3] * size
        return max(0.0, chin - self.s.h * CHIN_MAX)


def _halves(
    s: stage.Stage, slant: float, *, upright: bool
) -> tuple[outline.Points, outline.Points]:
    """Both panels of a split with the gutter between, a little larger than the sheet outside."""
    out, half = 40.0, GUTTER / 2
    if upright:
        left, right = s.h * (0.442 + slant), s.h * (0.442 - slant)
        return (
            outline.straight([(-out, -out), (s.w + out, -out), (s.w + out, right - half),
                              (-out, left - half)]),
            outline.straight([(-out, left + half), (s.w + out, right + half),
                              (s.w + out, s.h + out), (-out, s.h + out)]),
        )  # fmt: skip
    top, low = s.w * (0.5 + slant), s.w * (0.5 - slant)
    return (
        outline.straight([(-out, -out), (top - half, -out), (low - half, s.h + out),
                          (-out, s.h + out)]),
        outline.straight([(top + half, -out), (s.w + out, -out), (s.w + out, s.h + out),
                          (low + half, s.h + out)]),
    )  # fmt: skip


def _stood(
    one: protocol.Figure, look: Mapping[str, Any], act: figure.Act,
    at: tuple[float, float], size: float,
) -> Standing:  # fmt: skip
    return Standing(
        name=one.sheet.name, look=look, act=act, x=at[0], y=at[1], size=size, speaking=one.speaking
    )


def _look(one: protocol.Figure) -> Mapping[str, Any]:
    return wardrobe.aged(wardrobe.complete(one.features, one.sheet), one.age)


def _attacks(one: protocol.Figure) -> bool:
    return one.gesture in ("strike", "run")


def _beside(act: figure.Act) -> figure.Act:
    """The act of one who has neighbours: things on the far side, no elbow in a face."""
    return dataclasses.replace(act, away=True, pose=pose.NARROW.get(act.pose, act.pose))
