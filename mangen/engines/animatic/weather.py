"""Weather in motion: rain, snow, fog, wind and lightning over the frames of a clip."""

from __future__ import annotations

import math

import cv2
import numpy as np

from mangen.engines import protocol
from mangen.engines.animatic import noise


class Weather:
    """One clip's weather at one frame size; seeded, so that a clip always looks the same."""

    def __init__(self, kind: str, width: int, height: int, seed: int) -> None:
        self._kind, self._w, self._h = kind, width, height
        self._unit = min(width, height) / 720
        count = {"rain": 190, "thunder": 240, "snow": 150, "wind": 26}.get(kind, 0)
        self._seeds = np.random.default_rng([seed, 7]).random((count, 5))
        self._flash = 0.6 + (seed % 97) / 97 * 1.2
        self._fog = (
            noise.field(height // 4, width // 2, seed, cell=110 * self._unit, octaves=4)
            if kind == "fog"
            else None
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
        elif self._fog is not None:
            self._drift(frame, second)
        if self._kind == "thunder":
            late = (second % 3.1) - self._flash
            light = (
                max(0.0, 1 - late / 0.22) * (0.55 + 0.45 * math.cos(late * 46))
                if late >= 0
                else 0.0
            )
            if light > 0.02:
                cv2.convertScaleAbs(frame, frame, 1 + 0.5 * light, 46 * light)

    def _rain(self, frame: protocol.Image, second: float) -> None:
        self._mask[:] = 0
        for a, b, c, d, _ in self._seeds:
            near = 0.4 + c
            length = (22 + 52 * near) * self._unit
            y = (b * 1.3 * self._h + second * 1350 * near * self._unit) % (
                self._h * 1.3
            ) - self._h * 0.15
            x = (a * 1.2 * self._w - y * 0.12) % (self._w * 1.2) - self._w * 0.1
            self._line(x, y, x - length * 0.12, y + length,
                strength=int(60 + 90 * c * (0.5 + d / 2)),
                    thick=2 if near > 1.1 else 1)  # fmt: skip
        self._lighten(frame)

    def _snow(self, frame: protocol.Image, second: float) -> None:
        self._mask[:] = 0
        for a, b, c, d, e in self._seeds:
            near = 0.35 + 1.2 * c
            sway = 18 * math.sin(second * (0.6 + d) + e * 9)
            x = (a * 1.2 * self._w + (second * 24 * near + sway) * self._unit) % (
                self._w * 1.2
            ) - self._w * 0.1
            y = (b * 1.1 * self._h + second * (64 + 56 * d) * near * self._unit) % (
                self._h * 1.1
            ) - self._h * 0.05
            radius = (1.2 + 2.6 * near * (0.5 + 0.5 * e)) * self._unit
            cv2.circle(self._mask, (int(x * 16), int(y * 16)), int(radius * 16),
                (int(90 + 140 * e),), -1,
                       cv2.LINE_AA, 4)  # fmt: skip
        self._lighten(frame)

    def _wind(self, frame: protocol.Image, second: float) -> None:
        self._mask[:] = 0
        for a, b, c, d, _ in self._seeds:
            length = (120 + 220 * c) * self._unit
            x = (a * 1.6 * self._w + second * (500 + 420 * d) * self._unit) % (
                self._w * 1.6
            ) - self._w * 0.4
            y = b * self._h + 9 * math.sin(second * 2 + a * 9) * self._unit
            self._line(x, y, x + length, y - length * 0.04, strength=int(30 + 50 * d), thick=1)
        self._lighten(frame)

    def _drift(self, frame: protocol.Image, second: float) -> None:
        assert self._fog is not None
        shift = np.array(
            [[1, 0, -self._w * (0.25 + 0.2 * math.sin(second * 0.09))], [0, 1, 0]], np.float32
        )
        wide = cv2.resize(self._fog, (self._w * 2, self._h), interpolation=cv2.INTER_LINEAR)
        moved = cv2.warpAffine(wide, shift, (self._w, self._h), borderMode=cv2.BORDER_REFLECT)
        alpha = np.clip((moved - 0.34) * 1.1, 0, 0.4)
        np.multiply(alpha, 255, out=alpha)
        self._mask[:] = alpha
        self._lighten(frame, (226, 228, 224))

    def _line(
        self, x0: float, y0: float, x1: float, y1: float, *, strength: int, thick: int
    ) -> None:
        cv2.line(self._mask, (int(x0 * 16), int(y0 * 16)), (int(x1 * 16), int(y1 * 16)),
            (strength,), thick,
                 cv2.LINE_AA, 4)  # fmt: skip

    def _lighten(self, frame: protocol.Image, tone: tuple[int, int, int] = (240, 242, 248)) -> None:
        """Blend the frame towards the tone by the mask, in place."""
        mask = cv2.merge([self._mask] * 3)
        rest = cv2.bitwise_not(mask)
        cv2.multiply(frame, rest, frame, 1 / 255)
        for k, part in enumerate(tone):
            mask[..., k] = cv2.convertScaleAbs(self._mask, alpha=part / 255)
        cv2.add(frame, mask, frame)
