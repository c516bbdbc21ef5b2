"""The wardrobe: a role's words -> features, the JSON that keeps it the same in every shot.

Words decide first; what they leave open is drawn from the role's own name and seed, so that no two
leads look alike. Nothing here depends on a process: the same sheet has the same features anywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour, garment, hairdo, lookbook, vocabulary

VERSION = 3
_CODE = re.compile("#[0-9a-fA-F]{6}")
_T = TypeVar("_T")

#: garments that nobody wore then
_SKIRTED = frozenset({"victorian", "medieval"})
_TROUSERED = frozenset({"coat", "jacket", "vest", "suit", "shirt"})  #: no woman wore those then
_WESTERN = _SKIRTED | {"future"}
_MODERN = frozenset({
    "dress", "coat", "shirt", "suit", "hoodie", "uniform", "tracksuit", "cardigan", "tshirt",
    "labcoat", "zhongshan",
})  # fmt: skip
#: age -> the clothes and hair of its part of life
_LIFE = {"child": "child", "youth": "adult", "adult": "adult", "elder": "elder"}
#: eras whose men wear a moustache only where words tell of one
_SHAVEN = frozenset({"modern", "campus", "future"})
#: who tells the story in the first person
_SELVES = frozenset({"我", "I"})
#: hat -> the clothes it is worn with; a hat that words tell of goes with all
_WORN_WITH = {
    "cap": frozenset({"hoodie", "tshirt", "tracksuit", "jacket", "vest"}),
    "beret": frozenset({"coat", "cardigan", "dress", "uniform"}),
    "bowler": frozenset({"gown", "suit"}),
}
_CARRIED = 90.0  #: what a colour of the child's differs at least from the clothes it is seen on
_GREYED = ("main", "trim", "legs", "hat_colour", "skin", "inner", "shoes")


class _Chance:
    """Draws that depend on a role and on what is drawn, never on what was drawn before."""

    def __init__(self, sheet: protocol.CharacterSheet) -> None:
        # age stays out: someone remembered as a child keeps face, skin and colours
        self._seed = f"{sheet.name}|{sheet.era}|{sheet.seed}"

    def share(self, part: str) -> float:
        """0 to 1."""
        digest = hashlib.sha256(f"{self._seed}|{part}".encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    def of(self, part: str, options: Sequence[_T]) -> _T:
        return options[int(self.share(part) * len(options))]

    def between(self, part: str, low: float, high: float) -> float:
        return round(low + (high - low) * self.share(part), 3)


def features(sheet: protocol.CharacterSheet) -> dict[str, Any]:
    """Features of a role: JSON data, complete, from its words, era, sex, age and seed.

    `ages` holds what changes as the role ages; the rest stays with it all its life.
    """
    chance = _Chance(sheet)
    told = vocabulary.office(sheet.name) | vocabulary.told(", ".join(sheet.words).lower())
    if sheet.era in ("ancient", "xianxia") and told.get("garment") in _MODERN:
        told["garment"] = "robe"
        told = {part: value for part, value in told.items() if (part, value) != ("hat", "cap")}
    female = sheet.sex == "female" or (sheet.sex != "male" and chance.share("sex") < 0.5)
    if female and sheet.era in _SKIRTED and told.get("garment") in _TROUSERED:
        told["garment"] = "dress"
    if sheet.era == "future" and told.get("garment") == "suit":
        told["garment"] = "tracksuit"
    age = sheet.age if sheet.age in lookbook.CHOICES["age"] else "adult"
    look = _lasting(sheet, chance, female=female)
    ages = {
        life: _passing(sheet, chance, life, female=female) for life in ("child", "adult", "elder")
    }
    if sheet.name in _SELVES:
        _designed(look, ages["adult"], sheet.era, female=female)
    _tell(look, ages, told, _LIFE[age])
    if "trim" not in told:
        _carry(ages)
    worn = ages[_LIFE[age]]["garment"]
    if "hat" not in told and worn not in _WORN_WITH.get(look["hat"], {worn}):
        look["hat"] = "none"
    return look | ages[_LIFE[age]] | {"age": age, "ages": ages}


def _tell(
    look: dict[str, Any], ages: dict[str, dict[str, Any]], told: Mapping[str, Any], now: str
) -> None:
    """Let words decide: clothes and wrinkles of the age they tell of, the rest of all ages."""
    for part, value in told.items():
        if part == "skin_old":
            continue
        lives = [life for life in ages if part in ages[life]]
        if part in ("garment", "main", "lines", "patch", "barefoot", "beard"):
            lives = [now]
        if part not in ages["adult"]:
            look[part] = value
        for life in lives:
            ages[life][part] = value
    for life in ("adult", "elder"):
        ages[life]["skin"] = told.get("skin_old", ages[life]["skin"])
    if told.get("hair_style") in ("balding", "bald"):
        ages["child"]["hair_style"] = "cropped"


def _designed(
    look: dict[str, Any], grown: dict[str, Any], era: str, *, female: bool
) -> None:  # fmt: skip
    """Whoever tells the story is seen most: a look of their own, not one that chance made."""
    women, men = lookbook.SELVES.get(era, lookbook.SELVES["modern"])
    for part, value in (women if female else men).items():
        (grown if part in grown else look)[part] = value


def _carry(ages: dict[str, dict[str, Any]]) -> None:
    """Let the grown wear on cuffs and hems what colour they wore as a child."""
    own = colour.grey(colour.of(ages["child"]["main"]), 0.3)
    for life in ("adult", "elder"):
        if _far(own, colour.of(ages[life]["main"])) >= _CARRIED:
            ages[life]["trim"] = colour.code(own)


def _far(one: colour.Colour, other: colour.Colour) -> float:
    return float(np.abs(np.subtract(one, other)).sum())


def unanchored(sheet: protocol.CharacterSheet) -> dict[str, Any]:
    """The likeness of a role whose anchor failed: its words, in the greys of a bystander."""
    look = features(sheet)
    for part in (look, *look["ages"].values()):
        for name in _GREYED:
            if name in part:
                part[name] = colour.code(colour.grey(colour.of(part[name]), 0.62))
    return look


def complete(given: Mapping[str, Any], sheet: protocol.CharacterSheet) -> dict[str, Any]:
    """Features as they came, with what they lack; unknown or foreign ones are passed over."""
    look = unanchored(sheet) if not given else features(sheet)
    for name, value in given.items():
        if name in look and _fits(name, value, look[name]):
            look[name] = value
    return look


def aged(look: Mapping[str, Any], age: str) -> dict[str, Any]:
    """The same person at another age; "" or a stranger: as is.

    Face, brows, hat and marks stay, and the colour of the child's clothes is the grown one's trim.
    """
    if age not in _LIFE or age == look["age"]:
        return dict(look)
    changed = look["ages"][_LIFE[age]] if _LIFE[age] != _LIFE[look["age"]] else {}
    return {**look, **changed, "age": age}


def apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """In how many big things two looks differ: hair, main colour, head, face, clothes, build."""

    def far(part: str) -> float:
        return _far(colour.of(one[part]), colour.of(other[part]))

    same = [
        hairdo.SILHOUETTES[one["hair_style"]] == hairdo.SILHOUETTES[other["hair_style"]]
        and one["hat"] == other["hat"],
        far("main") < 70,
        (one["hat"], one["glasses"], one["beard"]) == (
            other["hat"], other["glasses"], other["beard"]),
        one["shape"] == other["shape"],
        (one["eye"], one["brow_form"]) == (other["eye"], other["brow_form"]),
        one["garment"] == other["garment"],
        abs(one["stout"] - other["stout"]) + abs(one["tall"] - other["tall"]) < 0.12,
        far("skin") < 40 and far("hair") < 40,
    ]  # fmt: skip
    return same.count(False)


def _fits(name: str, value: Any, own: Any) -> bool:
    """Whether a given feature is of the kind and the range that can be drawn."""
    if name == "ages":
        return isinstance(value, Mapping) and all(
            isinstance(value.get(life), Mapping)
            and set(value[life]) == set(part)
            and all(_fits(inner, value[life][inner], part[inner]) for inner in part)
            for life, part in own.items()
        )
    if name in lookbook.CHOICES:
        return isinstance(value, str | int) and value in lookbook.CHOICES[name]
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


def _rosy(paint: colour.Colour) -> bool:
    """Whether a colour is a pink or a light purple, which these books give to women."""
    red, green, blue = paint
    return red > 1.15 * green and blue > 0.9 * green and red + green + blue > 300


def _hats(sheet: protocol.CharacterSheet, *, female: bool) -> tuple[str, ...]:
    women, men = lookbook.HATS.get(sheet.era, lookbook.HATS["modern"])
    return women if female else men


def _lasting(
    sheet: protocol.CharacterSheet, chance: _Chance, *, female: bool
) -> dict[str, Any]:  # fmt: skip
    """What stays with a role: its face, its build, its hat, its tastes."""
    brow = chance.of("brow_form", lookbook.BROWS)
    return {
        "version": VERSION,
        "female": female,
        "shape": chance.of("shape", lookbook.SHAPES),
        "face": chance.between("face", 0.95, 1.06),
        "jaw": chance.between("jaw", 0.15, 0.6) if female else chance.between("jaw", 0.35, 0.95),
        "eye": chance.of("eye", lookbook.EYES),
        "eyes": chance.between("eyes", 0.94, 1.1),
        "apart": chance.between("apart", 0.95, 1.07),
        "iris": chance.of("iris", lookbook.IRISES),
        "brow": chance.between("brow", 5.5, 8.0) if female else chance.between("brow", 7.0, 10.0),
        "brow_form": "arch" if brow == "bushy" and female else brow,
        "brow_turn": chance.between("brow_turn", -4, 5),
        "nose": chance.between("nose", 0.85, 1.25),
        "nose_form": chance.of("nose_form", ("small", "straight", "button") if female
                               else lookbook.NOSES[:4]),
        "mouth": chance.between("mouth", 0.85, 1.15),
        "smile_eyes": chance.share("smile_eyes") < 0.45,
        "mole": chance.share("mole") < 0.3,
        "mole_at": chance.of("mole_at", lookbook.MOLES),
        "nick": not female and chance.share("nick") < 0.2,
        "freckles": chance.share("freckles") < 0.03,
        "scar": False,
        "glasses": chance.share("glasses") < (
            0.22 if sheet.era in ("modern", "campus") else 0.12 if sheet.era == "republic" else 0),
        "hat": chance.of("hat", _hats(sheet, female=female)),
        "hat_colour": colour.code(colour.hsv(chance.share("hat_colour"), 0.34, 0.4)),
        "inner": chance.of("inner", ("#efe6d6", "#e8e2da", "#f3eee4", "#ded6c6")),
        "shoes": chance.of("shoes", lookbook.SHOES.get(sheet.era, lookbook.SHOES["modern"])),
        "ring": False,
        "scarf": "",
        "earrings": female and chance.share("earrings") < 0.5,
        "hairpin": female and sheet.era not in _WESTERN and chance.share("hairpin") < 0.8,
        "tall": chance.between("tall", 0.95, 1.05),
        "stout": chance.between("stout", 0.9, 1.04) if female
        else chance.between("stout", 0.88, 1.14),
    }  # fmt: skip


def _palette(
    sheet: protocol.CharacterSheet, chance: _Chance, kind: str, *, female: bool
) -> tuple[colour.Colour, colour.Colour]:
    """Main colour and trim as the role's own dyer makes them."""
    pairs = lookbook.PALETTES.get(sheet.era, lookbook.PALETTES["modern"])
    if kind == "suit":
        pairs = lookbook.SUITS
    elif kind == "child":
        pairs = lookbook.CHILDREN
    if not female and kind != "child":
        pairs = tuple(pair for pair in pairs if not _rosy(colour.of(pair[0]))) or pairs
    main, trim = (colour.of(code) for code in chance.of(f"palette {kind}", pairs))
    return _near(main, chance, "main"), _near(trim, chance, "trim")


def _near(tone: colour.Colour, chance: _Chance, part: str) -> colour.Colour:
    """The same colour, as another dyer would make it."""
    return colour.shifted(
        tone,
        chance.between(f"{part} hue", -0.035, 0.035),
        chance.between(f"{part} depth", 0.92, 1.14),
        chance.between(f"{part} light", 0.92, 1.08),
    )


def _passing(
    sheet: protocol.CharacterSheet, chance: _Chance, life: str, *, female: bool
) -> dict[str, Any]:
    """What a role has at one part of its life: hair, clothes, skin and its lines."""
    row = {"child": 2, "adult": 0, "elder": 4}[life] + (0 if female else 1)
    worn = chance.of(f"garment {life}", _row(lookbook.GARMENTS, sheet.era, row))
    main, trim = _palette(
        sheet, chance, "child" if life == "child" else "suit" if worn == "suit" else "",
        female=female,
    )  # fmt: skip
    country = sheet.era == "countryside"
    skins = lookbook.TANNED if country else lookbook.FAIR if female else lookbook.SKINS
    skin = colour.of(chance.of("skin", skins))
    beard = "none"
    if not female and life != "child":
        beard = chance.of(
            f"beard {life}",
            ("long", "goatee", "moustache", "none", "stubble") if life == "elder"
            else ("none",) * 14 + ("stubble",) if sheet.era in _SHAVEN
            else ("none",) * 9 + ("moustache", "stubble"),
        )  # fmt: skip
    if life == "elder":
        main = colour.dark(colour.grey(main, 0.4), 0.14)
        skin = colour.dark(colour.grey(skin, 0.12), 0.06)
    legs = chance.of("legs", lookbook.LEGS)
    if worn in ("suit", "tracksuit", "zhongshan"):
        legs = colour.code(colour.dark(main, 0.24))
    elif worn == "aoqun":
        legs = "#33303c"
    return {
        "hair_style": _hair(sheet, chance, life, row),
        "hair": chance.of(f"hair colour {life == 'elder'}", lookbook.GREY_HAIRS
                          if life == "elder"
                          else lookbook.GROWN.get(sheet.era, lookbook.BLACKS)),
        "garment": worn,
        "main": colour.code(main),
        "trim": colour.code(trim),
        "legs": legs,
        "skin": colour.code(skin),
        "beard": beard,
        "lines": life == "elder",
        "ruddy": chance.between("ruddy", 0.08, 0.2) if life == "child"
        else chance.between("ruddy", 0.0, 0.1),
        "patch": country and life != "child" and chance.share("patch") < 0.5,
        "barefoot": country and life == "child" and not female and chance.share("barefoot") < 0.6
        and worn not in garment.LONG,
    }  # fmt: skip


def _hair(sheet: protocol.CharacterSheet, chance: _Chance, life: str, row: int) -> str:
    """A hairdo of its age; a child who can wear the grown one's does, and so is known again."""
    known = _row(lookbook.HAIR, sheet.era, row)
    if life != "child":
        return chance.of(f"hair {life}", known)
    grown = chance.of("hair adult", _row(lookbook.HAIR, sheet.era, row - 2))
    return grown if grown in known else chance.of("hair child", known)


def _row(book: Mapping[str, tuple[tuple[str, ...], ...]], era: str, row: int) -> tuple[str, ...]:
    return book.get(era, book["modern"])[row]
