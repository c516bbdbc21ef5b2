"""Engines that know sizes and draw nothing: all that the graph asks of one."""

from __future__ import annotations

import dataclasses

import numpy as np

from mangen import errors
from mangen.engines import mp4, protocol
from mangen.pooling import models

STAGES = {
    protocol.AnchorRequest: "anchor",
    protocol.PanelRequest: "illustrate",
    protocol.RepaintRequest: "repaint",
    protocol.OutpaintRequest: "outpaint",
    protocol.UpscaleRequest: "upscale",
    protocol.EncodeRequest: "encode",
    protocol.ClipRequest: "animate",
}


class Sketch:
    """Draws by rule, as the animatic does."""

    name = "animatic"
    version = "1"
    references = False

    def models(self):
        spec = models.ModelSpec(key="animatic", weight_bytes=1, load=object)
        return dict.fromkeys(("anchor", "illustrate", "animate"), spec)

    def signature(self, stage, quality="final"):  # noqa: ARG002 - of all of them
        return self.version

    def bucket(self, request):
        return f"{self.name}/{STAGES[type(request)]}/{request.width}x{request.height}"

    def peak(self, request, members):
        frames = getattr(request, "frames", 1)
        return members * (request.width * request.height * 3 + frames)

    def cap(self, request):  # noqa: ARG002 - of every request
        return 1

    def open(self, bucket, rt):
        raise NotImplementedError


@dataclasses.dataclass
class Painter(Sketch):
    """Draws with models: `played` are the versions of its stages', of `x:preview` too."""

    name = "diffusion"
    references = True

    played: dict[str, str] = dataclasses.field(
        default_factory=lambda: dict.fromkeys(STAGES.values(), "v1")
    )

    def models(self):
        return {
            stage: models.ModelSpec(key=f"{stage}-{version}", weight_bytes=1, load=object)
            for stage, version in self.played.items()
        }

    def signature(self, stage, quality="final"):
        return self.played.get(f"{stage}:{quality}") or self.played[stage]

    def bucket(self, request):
        stage = STAGES[type(request)]
        word = "picture" if stage in ("anchor", "illustrate") else stage
        return f"{self.name}/{word}/{request.quality}/{request.width}x{request.height}"

    def cap(self, request):  # noqa: ARG002 - of every request
        return 4

    def without(self, *stages):
        """The same with fewer models."""
        return Painter({name: one for name, one in self.played.items() if name not in stages})

    def but(self, **versions):
        """The same with other models."""
        return Painter({**self.played, **versions})


class Tints(Painter):
    """A painter that paints: every panel in one colour, and clips that stand still.

    `seen` are all requests; whose stage is in `failing` fails.
    """

    def __init__(self, folder, played=None):
        super().__init__(**({"played": played} if played else {}))
        self.folder, self.seen, self.failing = folder, [], set()

    def cap(self, request):  # noqa: ARG002 - of every request
        return 2

    def open(self, bucket, rt):  # noqa: ARG002 - it needs no device
        return _Run(self)

    def make(self, request):
        """Answer the product of a request at once."""
        stage = STAGES[type(request)]
        self.seen.append(request)
        if stage in self.failing:
            return errors.EngineError(f"no {stage} today")
        match request:
            case protocol.AnchorRequest():
                size = (request.height, request.width, 3)
                return protocol.AnchorProduct(
                    reference=np.full(size, 90, np.uint8), features={"by": "tints"}
                )
            case protocol.PanelRequest():
                return _panel(np.full((request.height, request.width, 3), 120, np.uint8))
            case protocol.RepaintRequest():
                image = request.panel.image.copy()
                image[request.mask > 0] = 250
                return _panel(image)
            case protocol.OutpaintRequest():
                around = round(request.margin * request.width)
                sides = ((around, around), (around, around), (0, 0))
                return _panel(np.pad(request.panel.image, sides, constant_values=200))
            case protocol.UpscaleRequest():
                return _panel(np.repeat(np.repeat(request.panel.image, 2, 0), 2, 1))
            case protocol.EncodeRequest():
                return protocol.Encoded(arrays={"latent": request.panel.image[:4, :4].copy()})
        return self._clip(request)

    def _clip(self, request):
        path = self.folder / f"{len(self.seen)}.mp4"
        frame = np.full((request.height, request.width, 3), 60, np.uint8)
        size = {"width": request.width, "height": request.height, "fps": request.fps}
        for _ in mp4.write([frame] * request.frames, path, count=request.frames, **size):
            pass
        return protocol.Clip(path=path, frames=request.frames, notes={"steps": 2})


def _panel(image):
    return protocol.Panel(image=image, notes={"steps": 2})


class _Run:
    joinable = True

    def __init__(self, painter):
        self.painter, self.here = painter, {}

    def add(self, requests):
        self.here |= requests

    def step(self):
        ended = {key: self.painter.make(request) for key, request in self.here.items()}
        self.here.clear()
        return ended

    def drop(self, key):
        self.here.pop(key, None)

    def close(self):
        self.here.clear()
