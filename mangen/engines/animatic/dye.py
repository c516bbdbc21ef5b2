"""Dyes: the colour that words give to one thing, `black umbrella`, and what is drawn with it."""

from __future__ import annotations

from mangen.engines.animatic import colour, light, vocabulary

#: thing -> the colours it is drawn with that a word for its colour is about, the main one first
_CLOTHS: dict[str, tuple[str, ...]] = {
    "umbrella": ("#b8473a",), "book": ("#8a4a3e", "#4f6a82"), "books": ("#8a4a3e", "#4f6a82"),
    "letter": ("#e3d3ac", "#f6eed8"), "bag": ("#8a5c3c",), "cup": ("#dfe6e2",),
    "lantern": ("#f0a050", "#b53a30"), "flower": ("#d8616a", "#e8a0a0"),
    "flowers": ("#d8616a", "#e8a0a0"), "fan": ("#efe4c6",), "wine": ("#6f4a38",),
    "flag": ("#b5392f",), "ring": ("#7a2f3a",),
}  # fmt: skip


def parted(words: str) -> tuple[str, str]:
    """A thing as a request names it -> the thing, and its colour as a code or ""."""
    tone, _, thing = words.rpartition(" ")
    return thing, vocabulary.EN_COLOURS.get(tone, "")


def dyed(lit: light.Light, thing: str, code: str) -> light.Light:
    """The light in which a thing has that colour; the same light where there is none."""
    if not code:
        return lit
    tones = [colour.of(code), colour.mix(colour.of(code), (255, 250, 242), 0.3)]
    pairs = zip(_CLOTHS.get(thing, ()), map(colour.code, tones), strict=False)
    return light.under(lit, dict(pairs))
