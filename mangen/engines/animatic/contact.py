"""The contact sheet: every garment, face, scene and weather that the animatic draws, at a look."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw

from mangen.engines import protocol
from mangen.engines.animatic import figure, film, lettering, lookbook, panel, pen, wardrobe

_CELL = (180, 320)
_COLUMNS = 12
_GAP, _LABEL, _HEAD = 8, 24, 44
_PAPER, _INK, _TITLE = (38, 34, 40), (216, 208, 196), (255, 250, 240)
_EMOTIONS = ("calm", "happy", "sad", "angry", "surprised", "afraid", "shy", "tired")
_AGES = ("child", "youth", "adult", "elder")
_SEXES = ("female", "male")
_WEATHERS = ("clear", "rain", "snow", "fog", "wind", "thunder")
_TIMES = ("day", "night")
_PLACES = (
    "room", "hall", "shop", "classroom", "office", "hospital", "street", "market", "courtyard",
    "river", "sea", "mountain", "forest", "field", "palace", "ruin", "train", "harbour", "deck",
    "spaceship", "garden",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One picture of the sheet; drawn when it is asked for."""

    label: str
    draw: Callable[[], protocol.Image]


def sections() -> dict[str, list[Cell]]:
    """Every part of the sheet, by its heading."""
    return {
        "garments": _garments(),
        "ages": [
            _person(f"{sex} {age}", sex=sex, age=age) for sex in _SEXES for age in _AGES
        ],
        "faces": [
            _person(f"{sex} {emotion}", sex=sex, emotion=emotion, close=True)
            for sex in _SEXES
            for emotion in _EMOTIONS
        ],
        "scenes": [
            _place(f"{place} {time}", place=place, time=time)
            for place in _PLACES
            for time in _TIMES
        ],
        "weather": [_place(weather, place="street", weather=weather) for weather in _WEATHERS],
    }  # fmt: skip


def sheet(parts: dict[str, list[Cell]] | None = None) -> protocol.Image:
    """Draw the whole sheet, RGB."""
    chosen = sections() if parts is None else parts
    strips = [_strip(title, cells) for title, cells in chosen.items()]
    return np.concatenate(strips)


def _garments() -> list[Cell]:
    cells = []
    for era, (women, men, *_) in lookbook.GARMENTS.items():
        for sex, garments in (("female", women), ("male", men)):
            cells += [
                _person(f"{era} {garment}", sex=sex, era=era, garment=garment)
                for garment in dict.fromkeys(garments)
            ]
    return cells


def _person(label: str, *, close: bool = False, emotion: str = "calm", **words: Any) -> Cell:
    garment = words.pop("garment", None)
    sheet_of = protocol.CharacterSheet(name=label, seed=len(label) * 7 + 3, **words)

    def draw() -> protocol.Image:
        look = dict(wardrobe.features(sheet_of))
        if garment is not None:
            look["garment"] = garment
        width, height = _CELL
        p = pen.Pen(width, height, 1.0, over=2)
        act = figure.Act(emotion=emotion, pose=figure.pose_of(emotion, 1), turn=0.2)
        if close:
            size = width / 330
            at = (width / 2, height * 0.46 - figure.head_centre(look) * size)
        else:
            size = min(height * 0.92 / max(1.0, figure.height(look)), width / 430)
            at = (width / 2, height * 0.95)
        with p.moved(*at, scale=size):
            figure.draw(p, look, act)
        ground = np.full((height, width, 3), (214, 203, 180), np.uint8)
        return pen.over(ground, p.sheet(wobble=0.4, seed=3))

    return Cell(label, draw)


def _place(label: str, *, place: str, time: str = "day", weather: str = "clear") -> Cell:
    def draw() -> protocol.Image:
        scene = protocol.SceneLabels(place=place, time=time, weather=weather, framing="establish")
        width, height = _CELL
        request = protocol.PanelRequest(
            kind="shot", width=2 * width, height=2 * height, seed=7, scene=scene
        )
        clip = protocol.ClipRequest(
            panel=panel.draw(request), motion="hold", frames=25, width=2 * width,
            height=2 * height, fps=24, seed=7, weather=weather,
        )  # fmt: skip
        last = None
        for frame in film.frames(clip):
            last = frame
        assert last is not None
        return np.asarray(cv2.resize(last, _CELL, interpolation=cv2.INTER_AREA), np.uint8)

    return Cell(label, draw)


def _strip(title: str, cells: Sequence[Cell]) -> protocol.Image:
    width, height = _CELL
    rows = -(-len(cells) // _COLUMNS)
    size = (_GAP + _COLUMNS * (width + _GAP), _HEAD + rows * (height + _LABEL + _GAP))
    picture = Image.new("RGB", size, _PAPER)
    pencil = ImageDraw.Draw(picture)
    pencil.text((_GAP, 8), title, _TITLE, lettering.font(24))
    for n, cell in enumerate(cells):
        x = _GAP + n % _COLUMNS * (width + _GAP)
        y = _HEAD + n // _COLUMNS * (height + _LABEL + _GAP)
        picture.paste(Image.fromarray(cell.draw()), (x, y))
        pencil.text((x, y + height + 3), cell.label, _INK, lettering.font(14, 500))
    return np.asarray(picture)
