"""Title and end cards: their words, and how long a shot without lines stands."""

from __future__ import annotations

from mangen.comic import model

SECONDS = 2.0  #: of a card
_SILENT = 1.5  #: of a drawn shot in which nobody says anything


def seconds(shot: model.Shot) -> float:
    """How long a shot without lines stands; a drawn shot lasts as long as its lines."""
    if shot.kind != "shot":
        return SECONDS
    return 0.0 if shot.lines else _SILENT


def words(shot: model.Shot) -> tuple[str, str]:
    """Title and subtitle of a card: the first line of its prompt, and the rest."""
    if shot.kind == "shot":
        return "", ""
    title, _, subtitle = shot.prompt.partition("\n")
    return title, subtitle.replace("\n", " ")
