"""Weather in motion: rain, snow, fog, wind and lightning over the frames of a clip.

Where the sky is clear, fireflies by night and dust in the light by day, if the panel is given.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import noise, specks

_COUNTS = {"rain": 170, "thunder": 210, "snow": 170, "wind": 34, "fireflies": 16, "dust": 30}
_LEAVES = ((186, 120, 52), (160, 84, 44), (120, 128, 60), (206, 160, 74))
_STORM_S = 3.1  #: from one flash of lightning to the next


def ambience(picture: protocol.Image) -> str:
    """What floats through a clear scene, told by its picture: `fireflies`, `dust` or nothing."""
    small = cv2.resize(picture[..., :3], (16, 16), interpolation=cv2.INTER_AREA)
    red, green, blue = (float(v) for v in np.median(small.reshape(-1, 3), axis=0))
    if blue > red * 1.2 and red + green + blue < 300:
        return "fireflies"
    return "dust" if red > blue * 1.12 else ""


class Weather:
    """One clip's weather at one frame size; seeded, so that a clip always looks the same."""

    def __init__(
        self,
        kind: str,
        width: int,
        height: int,
        seed: int,
        *,
        picture: protocol.Image | None = None,
    ) -> None:
        if kind not in ("rain", "snow", "fog", "wind", "thunder"):
            kind = ambience(picture) if picture is not None else "clear"
        self._kind, self._w, self._h = kind, width, height
        self._unit = min(width, height) / 720
        self._seeds = np.random.default_rng([seed, 7]).random((_COUNTS.get(kind, 0), 6))
        self._flash = 0.6 + (seed % 97) / 97 * 1.2
        self._bolt = noise.line(40, seed, waves=9, octaves=3)
        self._side = 0.25 + 0.5 * (seed % 53) / 53
        if kind == "fog":
            # twice as wide as the frame, and small: fog has no edges
            self._fog = noise.field(
                max(2, height // 8), max(2, width // 4), seed, cell=28 * self._unit + 2, octaves=4
            )
        self._mask: protocol.Image = np.zeros((height, width), np.uint8)

    def draw(self, frame: protocol.Image, second: float) -> None:
        """Draw into an RGB frame."""
        if self._kind in ("rain", "thunder"):
            self._rain(frame, second)
        elif self._kind == "snow":
            self._snow(frame, second)
        elif self._kind == "wind":
            self._wind(frame, second)
        elif self._kind == "fog":
            self._drift(frame, second)
        elif self._kind == "fireflies":
            self._fireflies(frame, second)
        elif self._kind == "dust":
            self._dust(frame, second)
        if self._kind == "thunder":
            self._lightning(frame, second)

    def _rain(self, frame: protocol.Image, second: float) -> None:
        """Streaks in depths, and rings where drops meet the ground."""
        self._mask[:] = 0
        for a, b, c, d, e, _ in self._seeds:
            near = 0.4 + c
            length = (22 + 56 * near) * self._unit
            fall = b * 1.3 * self._h + second * 1350 * near * self._unit
            y = fall % (self._h * 1.3) - self._h * 0.15
            x = (a * 1.2 * self._w - y * 0.12) % (self._w * 1.2) - self._w * 0.1
            thick = 2 if near > 1.1 and self._unit > 0.6 else 1
            self._line(x, y, x - length * 0.12, y + length,
                strength=int(40 + 70 * c * (0.5 + d / 2)),
                       thick=thick)  # fmt: skip
            if e < 0.3:
                self._ring(a, e / 0.3, (second * (1.1 + d) + b) % 1.0)
        specks.lighten(frame, self._mask, (214, 224, 238))

    def _ring(self, across: float, down: float, t: float) -> None:
        y = self._h * (0.74 + 0.24 * down)
        r = (5 + 26 * t) * (0.6 + down) * self._unit
        axes = (max(1, int(r * 16)), max(1, int(r * 5)))
        cv2.ellipse(
            self._mask, (int(across * self._w * 16), int(y * 16)), axes, 0, 0, 360,
            (int(110 * (1 - t)),), 1, cv2.LINE_AA, 4,
        )  # fmt: skip

    def _snow(self, frame: protocol.Image, second: float) -> None:
        """Flakes in depths: fine far ones, round near ones, a few soft ones before the lens."""
        self._mask[:] = 0
        for a, b, c, d, e, f in self._seeds:
            close = f > 0.95
            near = 1.9 if close else 0.3 + 1.1 * c * c
            sway = 20 * math.sin(second * (0.6 + d) + e * 9)
            x = (a * 1.2 * self._w + (second * 24 * near + sway) * self._unit) % (
                self._w * 1.2
            ) - self._w * 0.1
            y = (b * 1.1 * self._h + second * (64 + 56 * d) * near * self._unit) % (
                self._h * 1.1
            ) - self._h * 0.05
            if close:
                specks.spot(
                    frame, x, y, r=(9 + 7 * e) * self._unit, tone=(236, 240, 248), force=0.5
                )
                continue
            radius = (1.1 + 2.7 * near * (0.5 + 0.5 * e)) * self._unit
            cv2.circle(self._mask, (int(x * 16), int(y * 16)), int(radius * 16),
                       (int(90 + 130 * e),), -1, cv2.LINE_AA, 4)  # fmt: skip
        specks.lighten(frame, self._mask, (240, 243, 250))

    def _wind(self, frame: protocol.Image, second: float) -> None:
        """Leaves that tumble past, and streaks of air."""
        self._mask[:] = 0
        for k, (a, b, c, d, e, f) in enumerate(self._seeds):
            speed = (260 + 320 * d) * self._unit
            x = (a * 1.5 * self._w + second * speed) % (self._w * 1.5) - self._w * 0.25
            y = (b + 0.05 * math.sin(second * (1.3 + c) + e * 9)) * self._h
            if k % 3 == 0:
                length = (90 + 180 * c) * self._unit
                self._line(x, y, x + length, y - length * 0.05, strength=int(20 + 34 * d), thick=1)
                continue
            turn = second * (2 + 4 * f) + e * 7
            size = (6 + 9 * c) * self._unit
            specks.leaf(frame, (x, y), size, turn, _LEAVES[k % len(_LEAVES)])
        specks.lighten(frame, self._mask, (240, 242, 248))

    def _drift(self, frame: protocol.Image, second: float) -> None:
        """Two veils that pass at two speeds, thicker below."""
        rows, columns = self._fog.shape
        wide = columns / 2
        found = np.zeros((rows, columns // 2), np.float32)
        for speed, force in ((0.035, 0.6), (0.08, 0.4)):
            x = wide * (0.5 + 0.5 * math.sin(second * speed * 2 + self._flash))
            move = np.array([[1, 0, -x], [0, 1, 0]], np.float32)
            found += force * cv2.warpAffine(
                self._fog, move, (columns // 2, rows), borderMode=cv2.BORDER_REFLECT
            )
        low = 0.75 + 0.6 * np.linspace(0, 1, rows, dtype=np.float32)[:, None]
        veil = np.clip((found - 0.32) * 1.15 * low, 0, 0.46) * 255
        cv2.resize(veil.astype(np.uint8), (self._w, self._h), dst=self._mask)
        specks.blend(frame, self._mask, (222, 225, 222))

    def _fireflies(self, frame: protocol.Image, second: float) -> None:
        for a, b, c, d, e, f in self._seeds:
            x = (a + 0.05 * math.sin(second * (0.5 + c) + e * 9)) * self._w
            y = (0.46 + 0.46 * b + 0.03 * math.sin(second * (0.7 + d) + f * 9)) * self._h
            glow = 0.5 + 0.5 * math.sin(second * (1.4 + 1.6 * c) + e * 12)
            specks.spot(frame, x, y, r=(9 + 8 * d) * self._unit, tone=(255, 236, 140),
                        force=0.15 + 0.7 * glow)  # fmt: skip

    def _dust(self, frame: protocol.Image, second: float) -> None:
        for a, b, c, d, e, f in self._seeds:
            x = ((a + 0.012 * second * (0.5 + d)) % 1.0 + 0.02 * math.sin(second + e * 9)) * self._w
            y = ((b - 0.01 * second * (0.4 + f)) % 1.0) * self._h
            glow = 0.5 + 0.5 * math.sin(second * (0.6 + c) + e * 12)
            specks.spot(frame, x, y, r=(2.5 + 4 * c) * self._unit, tone=(255, 244, 214),
                        force=0.12 + 0.3 * glow)  # fmt: skip

    def _lightning(self, frame: protocol.Image, second: float) -> None:
        """A flash now and then, and the bolt it comes from."""
        late = (second % _STORM_S) - self._flash
        if late < 0:
            return
        light = max(0.0, 1 - late / 0.24) * (0.55 + 0.45 * math.cos(late * 46))
        if light > 0.02:
            cv2.convertScaleAbs(frame, frame, 1 + 0.5 * light, 44 * light)
        if late < 0.13:
            at = np.linspace(0, 1, len(self._bolt))
            x = (self._side + 0.1 * self._bolt * np.sqrt(at) + 0.08 * at) * self._w
            path = np.round(np.stack([x, at * 0.5 * self._h], 1) * 16).astype(np.int32)
            for thick, tone in ((7, (150, 170, 236)), (3, (250, 250, 255))):
                cv2.polylines(frame, [path], isClosed=False, color=tone,
                              thickness=max(1, round(thick * self._unit)), lineType=cv2.LINE_AA,
                              shift=4)  # fmt: skip

    def _line(
        self, x0: float, y0: float, x1: float, y1: float, *, strength: int, thick: int
    ) -> None:
        ends = (int(x0 * 16), int(y0 * 16)), (int(x1 * 16), int(y1 * 16))
        cv2.line(self._mask, *ends, (strength,), thick, cv2.LINE_AA, 4)
