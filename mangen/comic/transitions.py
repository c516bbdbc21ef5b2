"""Where one picture melts into the next: into a memory and out of it; all else is cut."""

from __future__ import annotations

from collections.abc import Sequence

from mangen.comic import model, scenes

DISSOLVE = 10  #: frames


def of(shots: Sequence[model.Shot]) -> tuple[int, ...]:
    """How many frames each shot of an episode melts in from the one before it; 0 is a cut."""
    found = [0] * len(shots)
    left: tuple[str, str] | None = None  #: where the memory was left from
    for n in range(1, len(shots)):
        one, before = shots[n], shots[n - 1]
        if one.kind != "shot" or before.kind != "shot" or _at(one) == _at(before):
            continue
        words = _narration(one)
        if left is None and scenes.FLASHBACK.search(_narration(before) + words):
            left = _at(before)
        elif left is not None and (_at(one) == left or scenes.RETURN.search(words)):
            left = None
        else:
            continue
        found[n] = DISSOLVE
    return tuple(found)


def _at(shot: model.Shot) -> tuple[str, str]:
    return shot.scene.place, shot.scene.time


def _narration(shot: model.Shot) -> str:
    return " ".join(line.text for line in shot.lines if not line.quoted)
