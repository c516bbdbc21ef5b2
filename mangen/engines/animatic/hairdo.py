"""Hairdos: the outlines of every style, as shares of half the face and units of y."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Do:
    """One style. `fringe` runs from the left temple to the right; empty: no cap of hair.

    `top` are knots on the crown (share, units over it, whether a corner); `sides` is the y at
    which the cap ends before the ears, `out` how far it stands off, `fall` the y at which hair
    behind the shoulders ends, `locks` the end of strands before the ears.
    """

    fringe: tuple[tuple[float, float], ...]
    crown: float = -126.0
    sides: float = -2.0
    out: float = 5.0
    top: tuple[tuple[float, float, bool], ...] = ((0.0, 0.0, False),)
    fall: float = 0.0
    wave: float = 0.0
    locks: float = 0.0
    curly: bool = False


_BRISTLES = tuple((x, -4.0 + (7 if k % 2 else 0), True) for k, x in enumerate(
    (-0.72, -0.5, -0.3, -0.08, 0.14, 0.34, 0.54, 0.74)))  # fmt: skip
_TOUSLE = ((-0.4, 2.0, True), (-0.25, 8.0, False), (0.02, -8.0, True), (0.2, 6.0, False),
           (0.5, 4.0, True))  # fmt: skip
_SPIKES = ((-0.75, -2.0, True), (-0.62, 14.0, True), (-0.42, -22.0, True), (-0.2, 6.0, True),
           (0.04, -30.0, True), (0.24, 4.0, True), (0.5, -20.0, True), (0.6, 12.0, True),
           (0.8, -4.0, True))  # fmt: skip

STYLES: dict[str, Do] = {
    "short": Do(((-0.82, -48), (-0.5, -42), (0.05, -72), (0.28, -54), (0.82, -52)), -128),
    "tousled": Do(((-0.84, -40), (-0.55, -26), (-0.36, -52), (-0.1, -26), (0.16, -54),
                   (0.45, -30), (0.84, -44)), -136, top=_TOUSLE),
    "side": Do(((-0.82, -46), (-0.42, -80), (0.2, -66), (0.84, -34)), -132),
    "brush": Do(((-0.8, -56), (-0.4, -70), (0.0, -73), (0.4, -70), (0.8, -56)), -142,
                top=_BRISTLES),
    "cropped": Do(((-0.8, -56), (-0.4, -70), (0.0, -74), (0.4, -70), (0.8, -56)), -114, -10),
    "curtain": Do(((-0.86, -22), (-0.6, -44), (-0.2, -80), (0.0, -96), (0.2, -80), (0.6, -44),
                   (0.86, -22)), -134, -6, 5),
    "spiky": Do(((-0.84, -34), (-0.6, -20), (-0.4, -50), (-0.14, -18), (0.1, -52), (0.34, -22),
                 (0.56, -48), (0.84, -30)), -138, 18, 10, _SPIKES),
    "curls": Do(((-0.84, -44), (-0.5, -34), (-0.2, -50), (0.1, -38), (0.45, -52), (0.84, -44)),
                -124, 6, 9, curly=True),
    "queue": Do(((-0.74, -74), (-0.4, -94), (0.0, -100), (0.4, -94), (0.74, -74)), -118, -14),
    "long": Do(((-0.86, -36), (-0.5, -38), (-0.08, -62), (0.14, -84), (0.4, -60), (0.86, -38)),
               -126, 40, 14, fall=270),
    "hime": Do(((-0.9, -30), (-0.5, -24), (0.0, -22), (0.5, -24), (0.9, -30)), -128, 20, 14,
               fall=300, locks=104),
    "waves": Do(((-0.86, -30), (-0.5, -44), (-0.3, -82), (0.3, -50), (0.86, -30)), -130, 46, 15,
                fall=250, wave=18),
    "bob": Do(((-0.86, -34), (-0.45, -27), (0.0, -30), (0.45, -27), (0.86, -34)), -130, 76, 14),
    "pixie": Do(((-0.84, -32), (-0.5, -30), (-0.1, -48), (0.2, -78), (0.84, -56)), -130, 22, 6,
                ((-0.2, -4.0, False), (0.2, 2.0, True))),
    "ponytail": Do(((-0.82, -42), (-0.4, -40), (0.1, -72), (0.4, -48), (0.84, -48)), -126, 6),
    "twin_tails": Do(((-0.84, -40), (-0.45, -30), (0.0, -36), (0.45, -30), (0.84, -40)), -126, 2,
                     locks=46),
    "braids": Do(((-0.82, -50), (-0.4, -58), (0.0, -82), (0.4, -58), (0.82, -50)), -124, 2),
    "bun": Do(((-0.8, -54), (-0.45, -68), (0.0, -90), (0.45, -68), (0.8, -54)), -122),
    "low_bun": Do(((-0.82, -36), (-0.4, -62), (0.0, -94), (0.4, -62), (0.82, -36)), -124, 16, 6),
    "double_bun": Do(((-0.82, -46), (-0.42, -36), (0.0, -40), (0.42, -36), (0.82, -46)), -122, 0,
                     locks=70),
    "updo": Do(((-0.8, -50), (-0.4, -72), (0.0, -86), (0.4, -72), (0.8, -50)), -132, 6, 9,
               fall=150, locks=50),
    "half_up": Do(((-0.84, -44), (-0.45, -66), (0.04, -88), (0.4, -62), (0.84, -44)), -126, 34,
                  10, fall=290, locks=92),
    "topknot": Do(((-0.78, -60), (-0.4, -80), (0.0, -88), (0.4, -80), (0.78, -60)), -120),
    "long_topknot": Do(((-0.84, -48), (-0.45, -70), (0.04, -90), (0.4, -66), (0.84, -48)), -124,
                       10, 8, fall=280),
    "tufts": Do(((-0.8, -52), (-0.4, -42), (0.0, -40), (0.4, -42), (0.8, -52)), -122, -4),
    "balding": Do(()),
    "bald": Do(()),
}  # fmt: skip

#: what a style becomes under a hat
FLATTENED = {
    "tufts": "cropped", "topknot": "cropped", "long_topknot": "cropped", "bun": "low_bun",
    "brush": "cropped", "updo": "low_bun", "double_bun": "bob", "half_up": "low_bun",
    "spiky": "short", "curls": "short", "tousled": "short", "twin_tails": "braids",
    "curtain": "short", "queue": "cropped",
}  # fmt: skip
#: styles that a hairpin holds
PINNED = frozenset({"bun", "updo", "double_bun", "half_up"})
#: style -> the silhouette it belongs to
SILHOUETTES = {
    **dict.fromkeys(("short", "side", "pixie", "cropped", "queue"), "short"),
    **dict.fromkeys(("tousled", "spiky", "curls"), "wild"), "brush": "brush",
    "curtain": "curtain", "bob": "bob",
    **dict.fromkeys(("long", "waves", "hime"), "long"),
    **dict.fromkeys(("long_topknot", "half_up"), "half"), "topknot": "knot", "bun": "bun",
    "low_bun": "low", **dict.fromkeys(("updo", "double_bun", "tufts"), "high"),
    **dict.fromkeys(("ponytail", "twin_tails"), "tail"), "braids": "braids",
    **dict.fromkeys(("balding", "bald"), "bald"),
}  # fmt: skip
