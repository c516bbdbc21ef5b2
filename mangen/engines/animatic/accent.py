"""The accent: the one saturated colour of a shot; all others keep back before it.

What is held comes first, if words gave it a colour, then what the one who matters wears, then the
place. Chroma is what counts, the span between a colour's channels: a dark blue suit is no accent.
"""

from __future__ import annotations

import colorsys
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import colour
from mangen.engines.animatic.composition import Standing

_FAINT = 0.2  #: chroma from which a small thing is raised to it, where nothing is strong
STRONG = 0.42  #: chroma from which a colour may be the accent
_KNEE = 0.27  #: chroma up to which any colour is let be
_KEPT = 0.3  #: how much of what is above is kept of a colour that isn't the accent
_NEAR, _FAR = 24.0, 44.0  #: degrees of hue up to which it is the accent, and from which it is not
_WORN = ("scarf", "main", "trim", "hat_colour", "legs")


def of(people: Sequence[Standing], names: Sequence[str] = ()) -> float | None:
    """The hue of the accent in degrees; None where nobody brings one.

    Whoever speaks is asked first, then in the order of `names`.
    """
    order = {name: k for k, name in enumerate(names)}
    ranked = sorted(
        people, key=lambda one: (one.back, not one.speaking, order.get(one.name, 0), -one.size)
    )
    for one in ranked:
        small = [one.look[part] for part in ("scarf", "trim") if one.look[part]]
        codes = [one.act.tint, *small, one.look["main"]]
        strong = [code for code in codes if code and _chroma(code) >= STRONG]
        if strong:
            return _hue(strong[0])
        if max(map(_chroma, small)) >= _FAINT:
            return _hue(max(small, key=_chroma))
    return None


def dressed(people: Sequence[Standing], hue: float | None) -> list[Standing]:
    """The same people, all but the accent's colour of their clothes and things muted."""
    return [
        dataclasses.replace(
            one,
            look=_muted_look(one.look, hue),
            act=dataclasses.replace(one.act, tint=_muted_code(one.act.tint, hue)),
        )
        for one in people
    ]


def muted(image: protocol.Image, hue: float | None) -> protocol.Image:
    """A sheet of the place in which nothing is as strong as the accent."""
    if hue is None:
        return image
    red, green, blue = cv2.split(image)[:3]
    span = cv2.subtract(
        cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue)
    )  # fmt: skip
    loud = np.nonzero(span > round(_KNEE * 255))
    if not loud[0].size:
        return image
    some = image[loud][:, :3].astype(np.float32)
    hues = cv2.cvtColor(some[None] / 255, cv2.COLOR_RGB2HSV)[0, :, 0]
    chroma = span[loud].astype(np.float32) / 255
    away = np.abs((hues - np.float32(hue) + 180) % 360 - 180)
    weight = np.clip((away - _NEAR) / (_FAR - _NEAR), 0, 1)
    target = _KNEE + (chroma - _KNEE) * _KEPT
    share = 1 + (target / np.maximum(chroma, 1e-3) - 1) * weight
    grey = some @ np.array([0.299, 0.587, 0.114], np.float32)
    out = image.copy()
    calm = grey[:, None] + (some - grey[:, None]) * share[:, None]
    out[..., :3][loud] = np.clip(calm + 0.5, 0, 255).astype(np.uint8)
    return out


def _muted_look(look: Mapping[str, Any], hue: float | None) -> dict[str, Any]:
    parts = {part: _muted_code(look[part], hue) for part in _WORN if look[part]}
    for part in ("scarf", "trim"):
        code = parts.get(part, "")
        if hue is not None and code and _FAINT <= _chroma(code) < STRONG:
            parts[part] = _raised(code, hue)
    return {**look, **parts}


def _raised(code: str, hue: float) -> str:
    """A small thing of the accent's hue, as strong as an accent has to be."""
    if abs((_hue(code) - hue + 180) % 360 - 180) > _NEAR:
        return code
    return colour.code(colour.shifted(colour.of(code), 0.0, 1.15 * STRONG / _chroma(code), 1.0))


def _muted_code(code: str, hue: float | None) -> str:
    if hue is None or not code or _chroma(code) <= _KNEE:
        return code
    away = abs((_hue(code) - hue + 180) % 360 - 180)
    if away <= _NEAR:
        return code
    weight = min(1.0, (away - _NEAR) / (_FAR - _NEAR))
    target = _KNEE + (_chroma(code) - _KNEE) * _KEPT
    share = 1 + (target / _chroma(code) - 1) * weight
    return colour.code(colour.grey(colour.of(code), 1 - share))


def _chroma(code: str) -> float:
    tone = colour.of(code)
    return (max(tone) - min(tone)) / 255


def _hue(code: str) -> float:
    return colorsys.rgb_to_hsv(*(part / 255 for part in colour.of(code)))[0] * 360
