"""A person's storyboard, read strictly: each error names the place, what stands there and the mend.

The words are the engines' (see `engines.protocol`). What the file leaves out has its default;
a shot's number is its name, not its place in the list: where a shot is known by its identity it
keeps the number it had, so that what is put before it makes nothing anew.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from mangen import errors
from mangen.comic import boards, edit, model
from mangen.comic.places import Place
from mangen.engines import protocol

EMOTIONS = ("calm", "happy", "sad", "angry", "surprised", "afraid", "shy", "tired")
GESTURES = ("", "point", "wave", "bow", "hug", "run", "strike", "sit", "kneel")
AGES = ("child", "youth", "adult", "elder")
SEXES = ("female", "male", "unknown")
ERAS = (
    *("ancient", "xianxia", "republic", "modern", "campus", "countryside"),
    *("victorian", "medieval", "future"),
)
LANGUAGES = ("zh", "en")
KINDS = ("shot", "title", "end")
MOTIONS = ("push", "pull", "pan_left", "pan_right", "pan_up", "pan_down", "hold", "shake")
SCENE: Mapping[str, Sequence[str]] = {
    "place": (
        "room", "hall", "shop", "classroom", "office", "hospital", "street", "market", "courtyard",
        "river", "sea", "mountain", "forest", "field", "palace", "ruin", "train",
        "harbour", "deck", "spaceship", "garden",
    ),
    "time": ("dawn", "day", "dusk", "night"),
    "weather": ("clear", "rain", "snow", "fog", "wind", "thunder"),
    "mood": ("calm", "warm", "sad", "tense", "dark", "bright"),
    "framing": (
        "establish", "medium", "close", "over_shoulder", "split", "action", "insert", "reaction",
    ),
    "era": ("", *ERAS),
}  # fmt: skip

MOST_EPISODES, MOST_SHOTS, MOST_LINES, MOST_CHARACTERS = 10_000, 1_000, 50, 1_000
MOST_IN_SHOT, MOST_THINGS, MOST_LEFT_OUT = 20, 50, 100_000
_NAME, _TITLE, _TEXT, _PROMPT = 100, 500, 2_000, 4_000
_SEEDS = 2**31 - 1


def read(
    data: Any, *, before: model.Storyboard | None, size: int, name: str = "storyboard"
) -> model.Storyboard:
    """The storyboard that JSON data say; raises UsageError at the first thing that is wrong.

    `before` is the one it replaces: its numbers are kept, and its minor speakers are known.
    `size` is the length of the source text, which spans lie in.
    """
    root = Place(name, "", data)
    root.fields(
        required=("title", "language", "episodes"),
        allowed=("title", "language", "characters", "episodes", "left_out"),
    )
    characters = tuple(_character(one) for one in root.items("characters", MOST_CHARACTERS))
    _refuse_twice(root, "characters", [one.name for one in characters])
    for n, one in enumerate(characters):
        if "@" in one.name:  # it tells whose anchor an anchor is
            root.refuse(f"characters[{n}].name", one.name, "holds an @, which no name may")
    known = {one.name for one in characters}
    speakers = known | _speakers(before)
    old = {episode.no: episode for episode in before.episodes} if before is not None else {}
    there = _There(
        names=frozenset(known), speakers=frozenset(speakers), masks=_masks(before), size=size
    )
    episodes = tuple(
        _episode(one, old, there) for one in root.items("episodes", MOST_EPISODES, least=1)
    )
    _refuse_twice(root, "episodes", [str(one.no) for one in episodes])
    return model.Storyboard(
        title=root.text("title", _TITLE, empty=False),
        language=root.choice("language", LANGUAGES),
        characters=characters,
        episodes=tuple(sorted(episodes, key=lambda one: one.no)),
        left_out=tuple(_left_out(one, size) for one in root.items("left_out", MOST_LEFT_OUT)),
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _There:
    """What shots may name."""

    names: frozenset[str]
    speakers: frozenset[str]
    masks: frozenset[str]
    size: int  #: of the source text


def _masks(before: model.Storyboard | None) -> frozenset[str]:
    """The masks of a storyboard: a file of it can't bring others, which would have no picture."""
    return frozenset(
        shot.repaint.mask
        for episode in (before.episodes if before is not None else ())
        for shot in episode.shots
        if shot.repaint is not None
    )


def _speakers(before: model.Storyboard | None) -> set[str]:
    """Who speaks in a storyboard, those without a sheet among them."""
    return {
        line.speaker
        for episode in (before.episodes if before is not None else ())
        for shot in episode.shots
        for line in shot.lines
        if line.speaker
    }


def _character(at: Place) -> model.Character:
    at.fields(required=("name",), allowed=_names(model.Character))
    return model.Character(
        name=at.text("name", _NAME, empty=False),
        sex=at.choice("sex", SEXES, default="unknown"),
        age=at.choice("age", AGES, default="adult"),
        words=at.texts("words", MOST_THINGS, _TITLE),
        era=at.choice("era", ERAS, default="modern"),
        seed=at.number("seed", 0, _SEEDS, default=0),
    )


def _episode(at: Place, old: Mapping[int, model.Episode], there: _There) -> model.Episode:
    at.fields(required=("no", "title", "shots"), allowed=_names(model.Episode))
    no = at.number("no", 1, 999_999)
    shots = [_shot(one, there) for one in at.items("shots", MOST_SHOTS, least=1)]
    before = old.get(no)
    return model.Episode(
        no=no,
        title=at.text("title", _TITLE),
        shots=_numbered(shots, before.shots if before is not None else ()),
        take=at.number("take", 1, 10**6, default=before.take if before is not None else 1),
    )


def _numbered(shots: Sequence[model.Shot], old: Iterable[model.Shot]) -> tuple[model.Shot, ...]:
    """Known shots under the numbers they had; the others under their own, or the next free."""
    before = {shot.identity: shot.no for shot in old}
    numbers: dict[int, int] = {}
    taken: set[int] = set()
    for at, shot in enumerate(shots):
        no = before.get(shot.identity)
        if no is not None and no not in taken:
            numbers[at] = no
            taken.add(no)
    known = {*before.values()}
    free = max(known, default=0) + 1
    for at, shot in enumerate(shots):
        if at in numbers:
            continue
        no = shot.no
        if no < 1 or no in taken or no in known:
            while free in taken:
                free += 1
            no = free
        numbers[at] = no
        taken.add(no)
    seen: set[str] = set()
    made = []
    for at, shot in enumerate(shots):
        identity = shot.identity
        if not identity or identity in seen:
            identity = f"{identity or 'own'}+{numbers[at]}"
        seen.add(identity)
        made.append(dataclasses.replace(shot, no=numbers[at], identity=identity))
    return tuple(made)


def _shot(at: Place, there: _There) -> model.Shot:
    at.fields(required=(), allowed=_names(model.Shot))
    names = at.texts("characters", MOST_IN_SHOT, _NAME)
    for n, name in enumerate(names):
        if name not in there.names:
            at.refuse(f"characters[{n}]", name, "is no character of the storyboard", there.names)
    lines = [_line(one, there.speakers, there.size) for one in at.items("lines", MOST_LINES)]
    return model.Shot(
        no=at.number("no", 0, 999_999, default=0),
        kind=at.choice("kind", KINDS, default="shot"),
        identity=at.text("identity", _NAME, default=""),
        lines=_lines(lines),
        characters=names,
        emotions=at.choices("emotions", EMOTIONS, len(names)),
        ages=at.choices("ages", ("", *AGES), len(names)),
        gestures=at.choices("gestures", GESTURES, len(names)),
        held=at.texts("held", MOST_IN_SHOT, _NAME, count=len(names)),
        memory=at.flag("memory", default=False),
        scene=_scene(at.inside("scene")),
        prompt=at.text("prompt", _PROMPT, default=""),
        motion=at.choice("motion", MOTIONS, default="push"),
        seed=at.number("seed", 0, _SEEDS, default=0),
        take=at.number("take", 1, 10**6, default=1),
        quality=at.choice("quality", ("", *model.QUALITIES), default=""),
        repaint=_repaint(at, there.masks),
    )


def _repaint(at: Place, masks: Collection[str]) -> model.Repaint | None:
    if at.value.get("repaint") is None:
        return None
    inner = at.inside("repaint")
    inner.fields(required=("mask", "prompt"), allowed=_names(model.Repaint))
    mask = inner.text("mask", _NAME, empty=False)
    if mask not in masks:
        inner.refuse(
            "mask", mask, "is no mask of this project: `manage.py retake SHOT --repaint MASK` adds "
            "one", masks,
        )  # fmt: skip
    seed = inner.number("seed", 0, _SEEDS) if inner.value.get("seed") is not None else None
    return model.Repaint(mask=mask, prompt=inner.text("prompt", _PROMPT, empty=False), seed=seed)


def _lines(lines: Sequence[model.Line]) -> tuple[model.Line, ...]:
    """Each line under its own number, or the next that is free."""
    given = [line.no for line in lines]
    if len(set(given)) == len(given) and all(no > 0 for no in given):
        return tuple(lines)
    return tuple(dataclasses.replace(line, no=n) for n, line in enumerate(lines, 1))


def _line(at: Place, speakers: Collection[str], size: int) -> model.Line:
    at.fields(required=("text",), allowed=_names(model.Line))
    speaker = at.text("speaker", _NAME, default="") or None
    if speaker is not None and speaker not in speakers:
        at.refuse("speaker", speaker, "is no character of the storyboard", speakers)
    return model.Line(
        no=at.number("no", 0, 9_999, default=0),
        text=at.text("text", _TEXT, empty=False),
        span=at.span("span", size),
        speaker=speaker,
        quoted=at.flag("quoted", default=speaker is not None),
        language=at.choice("language", LANGUAGES, default="zh"),
        spoken=at.flag("spoken", default=True),
        lettered=at.flag("lettered", default=False),
    )


def _scene(at: Place) -> protocol.SceneLabels:
    at.fields(required=(), allowed=_names(protocol.SceneLabels))
    plain = protocol.SceneLabels()
    return protocol.SceneLabels(
        **{
            name: at.choice(name, words, default=getattr(plain, name))
            for name, words in SCENE.items()
        },
        objects=at.texts("objects", MOST_THINGS, _NAME),
        focus=at.text("focus", _NAME, default=""),
        crowd=at.flag("crowd", default=False),
    )


def _left_out(at: Place, size: int) -> model.LeftOut:
    at.fields(required=("span", "text", "why"), allowed=_names(model.LeftOut))
    return model.LeftOut(
        span=at.span("span", size), text=at.text("text", 10**6), why=at.text("why", _TITLE)
    )


@functools.cache
def _names(of: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(of))


def _refuse_twice(at: Place, field: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for n, name in enumerate(names):
        if name in seen:
            raise errors.UsageError(f"{at.name}: {field}[{n}]: {name!r} is there twice")
        seen.add(name)


def plan(number: int, data: Any, *, name: str, size: int) -> edit.Plan:
    """What makes a person's data a project's storyboard; an old revision's are refused."""
    if not isinstance(data, dict):
        raise errors.UsageError(f"{name}: must be an object, as `storyboard export` writes it")
    if data.get("project", number) != number:
        raise errors.UsageError(
            f"{name} is the storyboard of project {data['project']}, not {number}: "
            "take `project` and `revision` out of it to use it here"
        )
    based_on = data.get("revision")
    if based_on is not None and not isinstance(based_on, str):
        raise errors.UsageError(
            f"{name}: revision: must be a string, as `storyboard export` writes it, or left out"
        )
    rest = {key: value for key, value in data.items() if key not in {"project", "revision"}}

    def change(board: model.Storyboard | None) -> edit.Change:
        made = read(rest, before=board, size=size, name=name)
        now = boards.revision(board) if board is not None else None
        if made != board and based_on not in {None, now}:
            raise errors.UsageError(
                f"{name} is based on revision {based_on}, but the storyboard of project {number} "
                f"is {now or 'not planned'} now: export it again, or take `revision` out of the "
                "file to replace whatever is there"
            )
        detail = {"file": name, "before": now, "after": boards.revision(made)}
        return edit.Change(board=made, detail=detail)

    return change
