"""The storyboard: one schema for rules, models and people's edits (`storyboard.json`).

Spans are (start, end) offsets in characters of the decoded source text. Every character that is
not white space lies in exactly one line's span or in one `left_out` span.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, Literal, TypeAlias

from mangen.engines import protocol

Span = tuple[int, int]

#: by whom a shot is drawn: as an animatic, or by models in few steps or in all of them
Quality: TypeAlias = Literal["animatic", "preview", "final"]
SKETCHED: Final = "animatic"
QUALITIES: tuple[Quality, ...] = (SKETCHED, "preview", "final")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Repaint:
    """A part of a panel that is painted anew: where its mask lies in the store, and what is there.

    The mask is a grey PNG of any size, laid over the whole panel; white is painted.
    """

    mask: str
    prompt: str
    seed: int | None = None  #: None: the shot's


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Character:
    """A role. `name` is unique within the project."""

    name: str
    sex: Literal["female", "male", "unknown"] = "unknown"
    age: Literal["child", "youth", "adult", "elder"] = "adult"
    words: tuple[str, ...] = ()
    era: str = "modern"
    seed: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """What is said or shown while its shot is seen. `speaker` None is the narrator."""

    no: int
    text: str
    span: Span
    speaker: str | None = None
    quoted: bool = False
    language: Literal["zh", "en"] = "zh"
    spoken: bool = True  #: False: shown only, nothing a voice could say
    lettered: bool = False  #: drawn into the picture (a balloon), not below it


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Shot:
    """One panel with its lines; `identity` names it by source text and occurrence."""

    no: int
    kind: Literal["shot", "title", "end"] = "shot"
    identity: str
    lines: tuple[Line, ...] = ()
    characters: tuple[str, ...] = ()
    emotions: tuple[str, ...] = ()  #: one a character
    ages: tuple[str, ...] = ()  #: one a character in this shot, "": its own
    gestures: tuple[str, ...] = ()  #: one a character, "": as its emotion has it
    held: tuple[str, ...] = ()  #: one a character: what is in its hands (`fork`, `black umbrella`)
    memory: bool = False  #: it is past: remembered, or seen in the mind
    scene: protocol.SceneLabels = protocol.SceneLabels()
    prompt: str = ""
    motion: str = "push"
    seed: int = 0
    take: int = 1
    quality: Quality | Literal[""] = ""  #: "": the project's
    repaint: Repaint | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One finished video; `no` starts at 1."""

    no: int
    title: str
    shots: tuple[Shot, ...]
    take: int = 1  #: raised when a finished video gets another chance for its missing pieces


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """A piece of the source that is neither spoken nor shown, and why."""

    span: Span
    text: str
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Storyboard:
    """The whole plan of a project."""

    title: str
    language: Literal["zh", "en"]
    characters: tuple[Character, ...]
    episodes: tuple[Episode, ...]
    left_out: tuple[LeftOut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, in field order."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Storyboard:
        """The storyboard `to_json` wrote."""
        return cls(
            title=data["title"],
            language=data["language"],
            characters=tuple(
                Character(**{**c, "words": tuple(c["words"])}) for c in data["characters"]
            ),
            episodes=tuple(
                Episode(
                    no=e["no"],
                    title=e["title"],
                    shots=tuple(_shot(s) for s in e["shots"]),
                    take=e.get("take", 1),
                )
                for e in data["episodes"]
            ),
            left_out=tuple(
                LeftOut(**{**piece, "span": tuple(piece["span"])}) for piece in data["left_out"]
            ),
        )


def _shot(data: dict[str, Any]) -> Shot:
    lines = tuple(Line(**{**line, "span": tuple(line["span"])}) for line in data["lines"])
    return Shot(
        **{
            **data,
            "lines": lines,
            "characters": tuple(data["characters"]),
            **{
                name: tuple(data.get(name, ())) for name in ("emotions", "ages", "gestures", "held")
            },
            "scene": protocol.SceneLabels(
                **{**data["scene"], "objects": tuple(data["scene"].get("objects", ()))}
            ),
            "repaint": Repaint(**data["repaint"]) if data.get("repaint") else None,
        }
    )
