"""Engines that know sizes and draw nothing: all that the graph asks of one."""

from __future__ import annotations

import dataclasses

from mangen.engines import protocol
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
        return f"{self.name}/{stage}/{request.quality}/{request.width}x{request.height}"

    def cap(self, request):  # noqa: ARG002 - of every request
        return 4

    def without(self, *stages):
        """The same with fewer models."""
        return Painter({name: one for name, one in self.played.items() if name not in stages})

    def but(self, **versions):
        """The same with other models."""
        return Painter({**self.played, **versions})
