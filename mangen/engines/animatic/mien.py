"""Miens: the eight emotions, as numbers that a face is drawn from."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Mien:
    """One emotion: y shifts in units, openness and shares in 0..1."""

    brow_in: float = 0
    brow_out: float = 0
    pinch: float = 0  #: how far the brows draw together
    lid: float = 0.1  #: how far the upper lid hangs; below 0 the eyes are wide
    slant: float = 0  #: above 0 the lid falls towards the nose, below 0 away from it
    cheek: float = 0  #: how far the lower lid is pushed up
    mouth: str = "flat"
    blush: float = 0.0
    look: tuple[float, float] = (0, 0)
    tear: bool = False
    sweat: bool = False
    closed: bool = False
    gloom: bool = False
    vein: bool = False


MIENS: dict[str, Mien] = {
    "calm": Mien(),
    "happy": Mien(-5, -4, lid=0.14, cheek=0.34, mouth="grin", blush=0.3),
    "sad": Mien(-13, 8, 3, lid=0.36, slant=-5, mouth="frown", blush=0.06, look=(0, 4), tear=True),
    "angry": Mien(13, -10, 6, lid=0.26, slant=6, mouth="grit", blush=0.16, vein=True),
    "surprised": Mien(-16, -15, lid=-0.2, mouth="o", blush=0.08),
    "afraid": Mien(-15, 7, 4, lid=-0.12, slant=-3, mouth="wavy", sweat=True, gloom=True),
    "shy": Mien(-7, 3, lid=0.3, mouth="small", blush=0.62, look=(6, 6)),
    "tired": Mien(-3, 6, lid=0.6, slant=-3, mouth="slack", look=(0, 4), gloom=True),
}


def of(emotion: str) -> Mien:
    """The mien of an emotion; of one that nobody knows, the calm one."""
    return MIENS.get(emotion, MIENS["calm"])
