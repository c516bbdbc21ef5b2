"""Upgrades: shots drawn in another quality, with the seeds they have. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from mangen import errors
from mangen.comic import edit, model
from mangen.ledger import scope


def plan(scopes: Sequence[scope.Scope], quality: str, own: model.Quality) -> edit.Plan:
    """What brings shots (of projects and episodes: all) to a quality; `own` is the project's.

    Cards have none, and are left out but where one is named itself.
    """
    if quality not in model.QUALITIES:
        raise errors.UsageError(
            f"there is no quality {quality!r}: choose {', '.join(model.QUALITIES)}"
        )
    asked: model.Quality = quality

    def change(board: model.Storyboard | None) -> edit.Change:
        if board is None:
            raise errors.UsageError(
                f"project {scopes[0].project} has no storyboard yet: submit it first"
            )
        told = []
        episodes = []
        for episode in board.episodes:
            shots = []
            for shot in episode.shots:
                name = f"e{episode.no}/s{shot.no}"
                wanted = asked if any(_means(one, name, shot) for one in scopes) else None
                before = shot.quality or own
                after = shot
                if wanted is not None and wanted != before:
                    after = dataclasses.replace(shot, quality="" if wanted == own else wanted)
                    told.append({"shot": name, "quality": [before, wanted]})
                shots.append(after)
            episodes.append(dataclasses.replace(episode, shots=tuple(shots)))
        edited = dataclasses.replace(board, episodes=tuple(episodes))
        return edit.Change(board=edited, detail={"quality": quality, "shots": told})

    return change


def _means(asked: scope.Scope, name: str, shot: model.Shot) -> bool:
    if asked.path == name and shot.kind != "shot":
        raise errors.UsageError(
            f"{asked} is a {shot.kind} card: those are drawn by rule, in every quality"
        )
    within = asked.path in {"", name} or name.startswith(f"{asked.path}/")
    return within and shot.kind == "shot"
