"""The animatic engine: anchors, panels and clips on a CPU, without weights.

This module is light; the rooms that draw load OpenCV, Pillow and PyAV when the model is loaded.
"""

from __future__ import annotations

import pathlib
import uuid
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from mangen import errors
from mangen.engines import protocol
from mangen.pooling import models, work
from mangen.pooling.devices import device

if TYPE_CHECKING:
    from mangen.engines.animatic import studio

_ROLES = ("anchor", "illustrate", "animate")
_MOTIONS = ("push", "pull", "pan_left", "pan_right", "pan_up", "pan_down", "hold", "shake")
_LEAST, _MOST = 64, 4096


def _load() -> studio.Studio:
    from mangen.engines.animatic import studio  # noqa: PLC0415 - loads OpenCV and Pillow

    return studio.load()


def _warm(resident: studio.Studio) -> None:
    from mangen.engines.animatic import studio  # noqa: PLC0415 - loaded by now

    studio.warm(resident)


_MODEL = models.ModelSpec(
    key="animatic", weight_bytes=80 << 20, load=_load, warm=_warm, cold_factor=1.2
)


class Animatic:
    """Draws by rule. `scratch` is the folder clips are made in; it is created at need.

    The deployment's `home`, where other engines find their models, tells it nothing.
    """

    name = "animatic"
    version = "4"
    references = False

    def __init__(self, scratch: pathlib.Path, home: pathlib.Path) -> None:
        del home
        self._scratch = scratch

    def models(self) -> Mapping[str, models.ModelSpec]:
        return dict.fromkeys(_ROLES, _MODEL)

    def signature(self, stage: str, quality: protocol.Quality = "final") -> str:
        """One for all stages and qualities: the rules are."""
        del stage, quality
        return self.version

    def bucket(self, request: protocol.Request) -> str:
        return f"animatic/{_role(request)}/{request.width}x{request.height}"

    def peak(self, request: protocol.Request, members: int) -> int:
        """Bytes by theory: members run one after another, but each clip's panel is held."""
        pixels = request.width * request.height
        if isinstance(request, protocol.ClipRequest):
            panel = request.panel.image.nbytes + sum(x.image.nbytes for x in request.panel.layers)
            # layers premultiplied, a dozen frames at hand, the encoder's references
            return members * (2 * panel + 12 * 3 * pixels + (48 << 20))
        if isinstance(request, protocol.AnchorRequest):
            return 60 * pixels + (members - 1) * 3 * pixels + (8 << 20)
        # 1.25 x larger each way; a sheet twice as fine (16 bytes), noise and float canvases
        return round(1.5625 * pixels * 150) + (members - 1) * 40 * pixels + (16 << 20)

    def cap(self, request: protocol.Request) -> int:
        """One: a batch draws its members one after another, and gains nothing."""
        del request
        return 1

    def open(self, bucket: str, rt: work.Runtime) -> protocol.Run:
        return Run(self._scratch, bucket, rt)


class Run:
    """A batch of one bucket. Each step moves every member on: a clip by a second, others whole."""

    joinable = False

    def __init__(self, scratch: pathlib.Path, bucket: str, rt: work.Runtime) -> None:
        self._scratch, self._bucket, self._rt = scratch, bucket, rt
        self._held = ExitStack()
        self._studio: studio.Studio = self._held.enter_context(rt.use(_MODEL))
        self._full: Exception | None = None
        self._members: dict[str, Generator[tuple[int, int], None, protocol.Product]] = {}
        self._paths: dict[str, pathlib.Path] = {}

    def add(self, requests: Mapping[str, protocol.Request]) -> None:
        for key, request in requests.items():
            if key in self._members:
                raise errors.EngineError(f"the batch {self._bucket} already holds {key}")
            self._paths[key] = self._scratch / f"{uuid.uuid4().hex}.mp4"
            self._members[key] = self._make(request, self._paths[key])

    def _make(
        self, request: protocol.Request, path: pathlib.Path
    ) -> Generator[tuple[int, int], None, protocol.Product]:
        check(request)
        if isinstance(request, protocol.ClipRequest):
            path.parent.mkdir(parents=True, exist_ok=True)
        return (yield from self._studio.make(_drawn(request), path))

    def step(self) -> Mapping[str, protocol.Product | Exception]:
        if self._full is not None:  # the pool tries again with fewer at once
            error, self._full = self._full, None
            raise error
        ended: dict[str, protocol.Product | Exception] = {}
        for key, member in list(self._members.items()):
            if key not in self._members:  # dropped while another reported its progress
                continue
            try:
                done, of = next(member)
            except StopIteration as end:
                ended[key] = end.value
                self._forget(key)
            except Exception as error:
                if device.out_of_memory(error):
                    if not ended:
                        raise
                    self._full = error  # those that ended are told first
                    break
                ended[key] = error
                self._discard(key)
            else:
                self._rt.progress(key, done, of)
        return ended

    def drop(self, key: str) -> None:
        """Stop a member; what it had written of its clip is removed."""
        if key in self._members:
            self._discard(key)

    def close(self) -> None:
        for key in list(self._members):
            self._discard(key)
        self._held.close()

    def _forget(self, key: str) -> None:
        del self._members[key], self._paths[key]

    def _discard(self, key: str) -> None:
        self._members[key].close()
        self._paths[key].unlink(missing_ok=True)
        self._forget(key)


def _role(request: protocol.Request) -> str:
    match _drawn(request):
        case protocol.AnchorRequest():
            return "anchor"
        case protocol.PanelRequest():
            return "illustrate"
    return "animate"


def _drawn(request: protocol.Request) -> studio.Drawn:
    """The same request, where it is one that is drawn; else raise a permanent EngineError."""
    if not isinstance(
        request, (protocol.AnchorRequest, protocol.PanelRequest, protocol.ClipRequest)
    ):
        raise errors.EngineError(f"the animatic engine makes nothing of {type(request).__name__}")
    return request


def check(request: protocol.Request) -> None:
    """Raise a permanent EngineError that names the field which can't be drawn."""
    request = _drawn(request)
    for field in ("width", "height"):
        value = getattr(request, field)
        even = not isinstance(request, protocol.ClipRequest) or value % 2 == 0
        if not _LEAST <= value <= _MOST or not even:
            raise errors.EngineError(
                f"{field} is {value}: {_LEAST} to {_MOST} pixels are drawn, even ones in clips"
            )
    if isinstance(request, protocol.ClipRequest):
        _check_clip(request)
    elif isinstance(request, protocol.PanelRequest):
        _one_of("kind", request.kind, ("shot", "title", "end"))
        for figure in request.figures:
            _check_sheet(figure.sheet)
    else:
        _check_sheet(request.sheet)


def _check_sheet(sheet: protocol.CharacterSheet) -> None:
    _one_of("sheet.sex", sheet.sex, ("female", "male", "unknown"))
    _one_of("sheet.age", sheet.age, ("child", "youth", "adult", "elder"))


def _check_clip(request: protocol.ClipRequest) -> None:
    _one_of("motion", request.motion, _MOTIONS)
    for field, least in (("frames", 1), ("fps", 1)):
        if getattr(request, field) < least:
            raise errors.EngineError(
                f"{field} is {getattr(request, field)}: at least {least} is needed"
            )
    images = [("panel.image", request.panel.image, 3)]
    images += [(f"panel.layers[{k}]", x.image, 4) for k, x in enumerate(request.panel.layers)]
    for name, image, channels in images:
        if (
            image.ndim != 3
            or image.shape[2] != channels
            or str(image.dtype) != "uint8"
            or not image.size
        ):
            raise errors.EngineError(
                f"{name} is {image.dtype} of shape {image.shape}: "
                f"uint8 with {channels} channels is needed"
            )


def _one_of(field: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise errors.EngineError(f"{field} is {value!r}: one of {', '.join(allowed)} is needed")
