"""The wardrobe: a role's words -> features, the JSON that keeps it the same in every shot.

Words decide first; what they leave open is drawn from the role's own name and seed, so that no two
leads look alike. Nothing here depends on a process: the same sheet has the same features anywhere.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping
from typing import Any

from mangen.engines import protocol
from mangen.engines.animatic import colour, lookbook

VERSION = 1
_CODE = re.compile("#[0-9a-fA-F]{6}")

#: garments that nobody wore then
_MODERN = frozenset({"dress", "coat", "shirt", "suit", "hoodie", "uniform"})
_AGED_FACE = {
    "child": (1.1, 0.65),
    "youth": (1.0, 0.35),
    "adult": (1.0, 0.45),
    "elder": (1.03, 0.6),
}


def features(sheet: protocol.CharacterSheet) -> dict[str, Any]:
    """Features of a role: JSON data, complete, from its words, era, sex, age and seed."""
    chance = _chance(sheet)
    text = " ".join(sheet.words).lower()
    worded: dict[str, Any] = {}
    for words, change in lookbook.WORDS:
        if any(_says(text, word) for word in words):
            worded.update(change)
    if sheet.era in ("ancient", "xianxia") and worded.get("garment") in _MODERN:
        worded["garment"] = "robe"
    look = _drawn(sheet, chance, worded.get("garment", "")) | worded
    worn = _worn_colours(text)
    if worn:
        look["main"] = worn[0]
    if len(worn) > 1:
        look["trim"] = worn[1]
    return look


def unanchored(sheet: protocol.CharacterSheet) -> dict[str, Any]:
    """The likeness of a role whose anchor failed: its words, in the greys of a bystander."""
    look = features(sheet)
    for part in ("main", "trim", "legs", "hat_colour", "skin", "inner"):
        look[part] = colour.code(colour.grey(colour.of(look[part]), 0.62))
    return look


def complete(given: Mapping[str, Any], sheet: protocol.CharacterSheet) -> dict[str, Any]:
    """Features as they came, with what they lack; unknown or foreign ones are passed over."""
    look = unanchored(sheet) if not given else features(sheet)
    for name, value in given.items():
        if name in look and _fits(name, value, look[name]):
            look[name] = value
    return look


def aged(look: Mapping[str, Any], age: str) -> dict[str, Any]:
    """The same person at another age: face, brows, hat and marks stay; "" or a stranger: as is."""
    return {**look, "age": age} if age in lookbook.CHOICES["age"] else dict(look)


def _says(text: str, word: str) -> bool:
    """Whether a text holds a word; an English one whole, so that looking is no king."""
    if not word.isascii():
        return word in text
    return re.search(rf"\b{re.escape(word)}(?:s|es|d|ed)?\b", text) is not None


def _fits(name: str, value: Any, own: Any) -> bool:
    """Whether a given feature is of the kind and the range that can be drawn."""
    if name in lookbook.CHOICES:
        return value in lookbook.CHOICES[name]
    if name in lookbook.RANGES:
        low, high = lookbook.RANGES[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and low <= value <= high
    if isinstance(own, bool):
        return isinstance(value, bool)
    if isinstance(own, str):
        return isinstance(value, str) and (
            bool(_CODE.fullmatch(value)) or (value == "" and name == "scarf")
        )
    return False


def _chance(sheet: protocol.CharacterSheet) -> random.Random:
    # age stays out: someone remembered as a child keeps face, skin and colours
    seed = f"{sheet.name}|{sheet.era}|{sheet.seed}"
    return random.Random(hashlib.sha256(seed.encode()).hexdigest())


def _rosy(paint: colour.Colour) -> bool:
    """Whether a colour is a pink or a light purple, which these books give to women."""
    red, green, blue = paint
    return red > 1.15 * green and blue > 0.9 * green and red + green + blue > 300


def _drawn(sheet: protocol.CharacterSheet, chance: random.Random, garment: str) -> dict[str, Any]:
    female = sheet.sex == "female" or (sheet.sex == "unknown" and chance.random() < 0.5)
    elder, child = sheet.age == "elder", sheet.age == "child"
    women, men, women_hair, men_hair = lookbook.ERAS.get(sheet.era, lookbook.ERAS["modern"])
    face, jaw = _AGED_FACE[sheet.age]
    hue = chance.random()
    strong = sheet.era in ("ancient", "xianxia", "republic")
    hair = chance.choice(lookbook.GREY_HAIRS if elder else lookbook.HAIRS)
    style = chance.choice(women_hair if female else men_hair)
    if child:
        style = chance.choice(
            ("braids", "tufts", "bob") if female else ("cropped", "tufts", "short")
        )
        if sheet.era in ("modern", "campus"):
            style = chance.choice(("ponytail", "bob", "braids") if female else ("short", "tousled"))
    if elder and female:
        style = "bun"
    if elder and not female and sheet.era in ("modern", "countryside"):
        style = chance.choice(("cropped", "balding", "side"))
    beard = "none"
    if not female and not child and sheet.age != "youth":
        beard = chance.choice(
            ("long", "moustache", "none") if elder else ("none", "none", "none", "moustache")
        )
    own = chance.choice(women if female else men)
    if child and own in ("suit", "coat", "qipao", "gown"):
        own = "jacket" if strong else "shirt"
    garment = garment or own
    palettes = lookbook.PALETTES.get(sheet.era, lookbook.PALETTES["modern"])
    if not female and not child:
        palettes = tuple(pair for pair in palettes if not _rosy(colour.of(pair[0]))) or palettes
    main_code, trim_code = chance.choice(lookbook.SUITS if garment == "suit" else palettes)
    main = _near(colour.of(main_code), chance)
    trim = _near(colour.of(trim_code), chance)
    if elder:
        main = colour.dark(colour.grey(main, 0.4), 0.12)
    return {
        "version": VERSION,
        "female": female,
        "age": sheet.age,
        "face": round(face * chance.uniform(0.95, 1.06) * (0.97 if female else 1.0), 3),
        "jaw": round(min(1.0, jaw + chance.uniform(-0.2, 0.25) - (0.15 if female else 0)), 3),
        "skin": chance.choice(lookbook.SKINS),
        "hair": hair,
        "hair_style": style,
        "iris": chance.choice(lookbook.IRISES),
        "eyes": round(chance.uniform(0.94, 1.1) * (1.08 if female else 1.0), 3),
        "brow": round(chance.uniform(5.0, 6.5) if female else chance.uniform(7.0, 10.0), 2),
        "brow_turn": round(chance.uniform(-3.0, 3.0), 2),
        "nose": round(chance.uniform(0.85, 1.15), 3),
        "lines": elder,
        "beard": beard,
        "glasses": not strong and not child and chance.random() < 0.14,
        "scar": False,
        "freckles": child and chance.random() < 0.3,
        "mole": chance.random() < 0.12,
        "ruddy": round(0.16 if child else chance.uniform(0.0, 0.1), 3),
        "hat": "none",
        "hat_colour": colour.code(colour.hsv(hue + 0.45, 0.18, 0.3)),
        "garment": garment,
        "main": colour.code(main),
        "trim": colour.code(trim),
        "inner": chance.choice(("#efe6d6", "#e8e2da", "#f3eee4", "#ded6c6")),
        "legs": colour.code(colour.dark(main, 0.34))
        if garment == "suit"
        else chance.choice(lookbook.LEGS),
        "ring": False,
        "scarf": "",
        "earrings": female and not child and chance.random() < 0.5,
        "hairpin": female and strong and chance.random() < 0.7,
        "patch": False,
        "barefoot": False,
        "tall": round(chance.uniform(0.96, 1.05), 3),
    }


def _near(tone: colour.Colour, chance: random.Random) -> colour.Colour:
    """The same colour, as another dyer would make it."""
    return colour.shifted(
        tone, chance.uniform(-0.035, 0.035), chance.uniform(0.9, 1.12), chance.uniform(0.92, 1.08)
    )


#: what follows a colour that is no garment's: 紫色的圆脸, 白发
_BODY = re.compile("色?的?[^ 袍衣裙衫裤袄服装帽]{0,2}[发脸眼眉须胡肤牙唇手]")


def _worn_colours(text: str) -> list[str]:
    """Colour words in the order they stand, those of hair, face and skin left out."""
    found: dict[int, str] = {}
    taken: set[int] = set()
    for word, code in (*lookbook.COLOURS, *lookbook.EN_COLOURS.items()):
        at = text.find(word)
        while at >= 0:
            span = range(at, at + len(word))
            free = not taken.intersection(span) and not _BODY.match(text, at + len(word))
            if free and not _english_body(word, text, at):
                found[at] = code
            taken.update(span)
            at = text.find(word, at + 1)
    return [found[at] for at in sorted(found)]


def _english_body(word: str, text: str, at: int) -> bool:
    """Whether an English colour belongs to the body, or is only a piece of a longer word."""
    if not word.isascii():
        return False
    end = at + len(word)
    cut = (at > 0 and text[at - 1].isalpha()) or (end < len(text) and text[end].isalpha())
    following = text[end:].lstrip(" -").split(" ")[0]
    return cut or following.startswith(("hair", "eye", "face", "skin", "beard"))
