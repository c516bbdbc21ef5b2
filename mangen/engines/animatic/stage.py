"""The stage: the sizes of a panel, and the sheets that scenes and people are laid on.

A panel is 1.25 times its frame, so that a camera has room. A unit is 1/720 of the frame's shorter
side: at 720x1280 the world is 900 units wide and 1600 high.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random

from mangen.engines import protocol
from mangen.engines.animatic import dye, light, noise, pen

ROOM = 1.25
ROOFED = frozenset(
    {"room", "hall", "shop", "classroom", "office", "hospital", "train", "spaceship"}
)
#: eras of places that show nobody
_ERAS = {"palace": "ancient", "office": "modern", "hospital": "modern", "classroom": "modern",
         "spaceship": "future", "deck": "victorian", "garden": "modern"}  # fmt: skip
OVER = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Sheet:
    """One premultiplied RGBA layer and its depth: 0 infinitely far, 1 moves with the camera."""

    image: protocol.Image
    depth: float


@dataclasses.dataclass(frozen=True, slots=True)
class Stage:
    """Where one panel is drawn: pixels, units, light and chance."""

    width: int  #: pixels of the panel
    height: int
    unit: float  #: pixels a unit
    seed: int
    light: light.Light
    era: str
    framing: str
    place: str = "room"
    home: int = 0  #: the seed of the place itself: equal in all of its shots, at any hour
    #: what the place is to show; what somebody holds is not among it
    objects: frozenset[str] = frozenset()
    mood: str = "calm"
    memory: bool = False

    @property
    def w(self) -> float:
        """Width in units."""
        return self.width / self.unit

    @property
    def h(self) -> float:
        """Height in units."""
        return self.height / self.unit

    @property
    def horizon(self) -> float:
        """The y where ground meets sky, in units."""
        return self.h * {"establish": 0.56, "close": 0.66}.get(self.framing, 0.6)

    @property
    def old(self) -> bool:
        """Whether houses have tiled roofs here."""
        return self.era in ("ancient", "xianxia", "republic", "countryside")

    @property
    def western(self) -> bool:
        """Whether houses are of brick or timber, lit by gas or candles."""
        return self.era in ("victorian", "medieval")

    def pen(self, *, over: int = OVER) -> pen.Pen:
        return pen.Pen(self.width, self.height, self.unit, over=over)

    @property
    def side(self) -> int:
        """The side, -1 or 1, on which the place has its large things."""
        return 1 if self.home & 16 else -1

    @property
    def orb(self) -> tuple[float, float, float]:
        """Where sun or moon stand, and the moon's radius."""
        x = self.w * (0.62 + 0.04 * (self.home % 7) / 6)  # the upper left is for captions
        large = 0.6 if self.place == "street" and not self.old else 1.0
        return x, self.h * 0.265, min(150.0, self.h * 0.13) * large

    def chance(self, salt: int = 0) -> random.Random:
        """What differs from shot to shot."""
        return random.Random(self.seed * 1009 + salt)

    def fixed(self, salt: int = 0) -> random.Random:
        """What stays the same in all shots of the place."""
        return random.Random(self.home * 1013 + salt)

    def noise(self, salt: int, cell: float, octaves: int = 4) -> noise.Floats:
        """The place's own noise over the whole panel; `cell` in units."""
        return noise.field(
            self.height, self.width, self.home * 31 + salt, cell=cell * self.unit, octaves=octaves
        )


def of(request: protocol.PanelRequest) -> Stage:
    """The stage a panel request asks for."""
    eras = [figure.sheet.era for figure in request.figures]
    era = request.scene.era or (eras[0] if eras else _ERAS.get(request.scene.place, "countryside"))
    return Stage(
        width=2 * round(request.width * ROOM / 2),
        height=2 * round(request.height * ROOM / 2),
        unit=min(request.width, request.height) / 720,
        seed=request.seed & 0x7FFFFFFF,
        light=light.of(request.scene, roofed=request.scene.place in ROOFED),
        era=era,
        framing=request.scene.framing,
        place=request.scene.place,
        home=int(hashlib.sha256(f"{request.scene.place} {era}".encode()).hexdigest()[:7], 16),
        objects=frozenset(request.scene.objects)
        - {dye.parted(one.held)[0] for one in request.figures},
        mood=request.scene.mood,
        memory=request.memory,
    )
