"""Retakes: a shot again, with another seed, prompt or feeling. Pure."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from mangen import errors
from mangen.comic import edit, keys, model, prompted, schema
from mangen.comic import plan as plan_
from mangen.ledger import scope

_GOLDEN = 0x9E3779B1
_SEEDS = 0x7FFFFFFF


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What a retake changes. Without any wish it is another take with another seed.

    A wish says what shall be: asked twice it is fulfilled once. `emotions` by character; the
    name "" means everybody in the shot. With a `mask` (its place in the store) only that part of
    the panel is painted anew, by prompt and seed; any other new take leaves such a part behind.
    """

    seed: int | None = None
    new_seed: bool = False
    prompt: str | None = None
    emotions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    mask: str | None = None

    @property
    def another_seed(self) -> bool:
        """Whether a new seed is drawn: where it is asked for, or nothing else is."""
        return self.new_seed or (self.seed is None and self.prompt is None and not self.emotions)


def check(wishes: Wishes) -> None:
    """Raise UsageError for wishes that contradict each other."""
    if wishes.seed is not None and (wishes.new_seed or not 0 <= wishes.seed <= _SEEDS):
        raise errors.UsageError(
            f"the seed must be from 0 to {_SEEDS}, and not be asked to be new as well"
        )
    if wishes.mask is not None and (wishes.emotions or not (wishes.prompt or "").strip()):
        raise errors.UsageError(
            "a repaint needs a prompt that says what is to be seen there, and changes no emotion: "
            "add --prompt"
        )


def plan(scopes: Sequence[scope.Scope], wishes: Wishes) -> edit.Plan:
    """What makes these shots (or all shots of these episodes) anew in a storyboard."""
    check(wishes)

    def change(board: model.Storyboard | None) -> edit.Change:
        if board is None:
            raise errors.UsageError(
                f"project {scopes[0].project} has no storyboard yet: submit it first"
            )
        detail: list[Mapping[str, Any]] = []
        episodes = []
        for episode in board.episodes:
            shots = []
            for shot in episode.shots:
                named = any(_means(one, episode, shot) for one in scopes)
                name = f"e{episode.no}/s{shot.no}"
                again = _again(shot, wishes, name, board) if named else shot
                if again != shot:
                    detail.append(_detail(episode, shot, again))
                shots.append(again)
            episodes.append(dataclasses.replace(episode, shots=tuple(shots)))
        edited = dataclasses.replace(board, episodes=tuple(episodes))
        return edit.Change(board=edited, detail={"shots": detail})

    return change


def _means(asked: scope.Scope, episode: model.Episode, shot: model.Shot) -> bool:
    return asked.episode == episode.no and asked.shot in (None, shot.no)


def _again(shot: model.Shot, wishes: Wishes, name: str, board: model.Storyboard) -> model.Shot:
    if wishes.mask is not None:
        return _repainted(shot, wishes, wishes.mask)
    wished = shot
    if wishes.prompt is not None and shot.kind == "shot":
        wished = _prompted(wished, wishes.prompt, board)
    elif wishes.prompt is not None:
        raise errors.UsageError(
            f"{name} is a {shot.kind} card: its words are its title's; edit the storyboard"
        )
    if wishes.emotions:
        wished = dataclasses.replace(wished, emotions=_emotions(shot, wishes.emotions, name))
    seed = keys.render_seed(shot)
    if wishes.another_seed:
        seed = secrets.randbelow(_SEEDS)
    elif wishes.seed is not None:
        seed = wishes.seed
    if wished == shot and seed == keys.render_seed(shot):
        return shot
    take = shot.take + 1
    return dataclasses.replace(
        wished, take=take, seed=(seed - (take - 1) * _GOLDEN) & _SEEDS, repaint=None
    )


def _repainted(shot: model.Shot, wishes: Wishes, mask: str) -> model.Shot:
    """The same take with a part of it painted anew; who can't is told by `look.Look.check`."""
    seed = secrets.randbelow(_SEEDS) if wishes.new_seed else wishes.seed
    now = model.Repaint(mask=mask, prompt=wishes.prompt or "", seed=seed)
    return dataclasses.replace(shot, repaint=now)


def _prompted(shot: model.Shot, prompt: str, board: model.Storyboard) -> model.Shot:
    """Give a shot other words, and the scene that they name."""
    if prompt == shot.prompt:
        return shot
    names = [one.name for one in board.characters]
    asked = prompted.scene(shot.scene, prompt, names, plan_.language_of(prompt))
    return dataclasses.replace(shot, prompt=prompt, scene=asked)


def _emotions(shot: model.Shot, asked: Mapping[str, str], name: str) -> tuple[str, ...]:
    for who, emotion in asked.items():
        if emotion not in schema.EMOTIONS:
            raise errors.UsageError(
                f"{emotion!r} is no emotion: choose one of {', '.join(schema.EMOTIONS)}"
            )
        if not shot.characters or (who and who not in shot.characters):
            there = ", ".join(shot.characters) or "nobody"
            raise errors.UsageError(f"{name} shows {there}, not {who or 'anybody'}")
    now = dict(zip(shot.characters, shot.emotions, strict=False))
    return tuple(
        asked.get(who) or asked.get("") or now.get(who) or "calm" for who in shot.characters
    )


def _detail(episode: model.Episode, before: model.Shot, after: model.Shot) -> Mapping[str, Any]:
    """What changed of a shot, for the record: old and new."""
    found: dict[str, Any] = {"shot": f"e{episode.no}/s{after.no}", "take": after.take}
    if keys.render_seed(before) != keys.render_seed(after):
        found["seed"] = [keys.render_seed(before), keys.render_seed(after)]
    if before.prompt != after.prompt:
        found["prompt"] = [before.prompt, after.prompt]
    if before.scene != after.scene:
        pairs = zip(_labels(before), _labels(after), strict=True)
        told = [(old, new) for old, new in pairs if old != new]
        found["scene"] = [[old for old, _ in told], [new for _, new in told]]
    if before.repaint != after.repaint:
        found["repaint"] = [one.prompt if one else "" for one in (before.repaint, after.repaint)]
    if before.emotions != after.emotions:
        found["emotions"] = [list(before.emotions), list(after.emotions)]
    return found


def _labels(shot: model.Shot) -> list[str]:
    return [
        " ".join(value) if isinstance(value, tuple) else str(value)
        for value in dataclasses.asdict(shot.scene).values()
    ]
