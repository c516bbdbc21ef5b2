"""Where one picture melts into the next: into a memory and out of it; all else is cut."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mangen.comic import model

DISSOLVE = 10  #: frames


def of(shots: Sequence[model.Shot]) -> tuple[int, ...]:
    """How many frames each shot of an episode melts in from the one before it; 0 is a cut."""
    melts = [
        before.kind == one.kind == "shot" and before.memory != one.memory
        for before, one in itertools.pairwise(shots)
    ]
    return tuple(DISSOLVE * melt for melt in (False, *melts))[: len(shots)]
