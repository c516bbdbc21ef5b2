"""The seam between stages and models: requests in, products out.

Requests and products are frozen. Images are numpy arrays, RGB or RGBA, uint8, shape (height,
width, channels). numpy is imported for types alone: this module stays light.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from mangen.pooling import models, work

    Image: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
    Mask: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
    Array: TypeAlias = np.ndarray[Any, Any]

#: of one picture or clip: `preview` is few steps, or a smaller model; the seed stays
Quality: TypeAlias = Literal["preview", "final"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CharacterSheet:
    """A role as words: what an anchor is drawn from."""

    name: str
    sex: Literal["female", "male", "unknown"] = "unknown"
    age: Literal["child", "youth", "adult", "elder"] = "adult"
    words: tuple[str, ...] = ()  #: the text's own words about looks
    #: ancient xianxia republic modern campus countryside victorian medieval future
    era: str = "modern"
    seed: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A character in a shot. `features` come from its anchor; empty where the anchor failed."""

    sheet: CharacterSheet
    features: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: the anchor's picture, where the engine asks for it (Engine.references)
    reference: Image | None = None
    emotion: str = "calm"  #: calm happy sad angry surprised afraid shy tired
    speaking: bool = False
    age: str = ""  #: in this shot: child youth adult elder; empty: the sheet's
    gesture: str = ""  #: point wave bow hug run strike sit kneel; empty: as the emotion has it
    #: in the hands: fork sword umbrella book phone cup letter lantern bag fan staff flower, after
    #: its colour where the words tell one: `black umbrella`
    held: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SceneLabels:
    """Where and when a shot plays, in fixed words that engines understand."""

    place: str = "room"
    #: room hall shop classroom office hospital street market courtyard river sea mountain
    #: forest field palace ruin train harbour deck spaceship garden
    time: str = "day"  #: dawn day dusk night
    weather: str = "clear"  #: clear rain snow fog wind thunder
    mood: str = "calm"  #: calm warm sad tense dark bright
    #: establish medium close over_shoulder split action insert reaction
    framing: str = "medium"
    era: str = ""  #: as a sheet's; empty: as the people in the shot
    #: things that the words name and the place shows, as an engine knows them: melons boat moon ...
    objects: tuple[str, ...] = ()
    #: the one thing that an insert shows large: an object, after its colour where words tell one
    focus: str = ""
    crowd: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AnchorRequest:
    sheet: CharacterSheet
    width: int = 512
    height: int = 768
    quality: Quality = "final"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AnchorProduct:
    reference: Image  #: RGB picture of the character
    features: Mapping[str, Any]  #: JSON: what keeps the character the same in every shot
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: JSON: how it was made


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Lettering:
    """Words that belong into the picture instead of below it."""

    line: int  #: the number of the line in its shot
    text: str
    kind: Literal["balloon", "caption"] = "balloon"
    by: str = ""  #: the name of the figure whose mouth the tail points to


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PanelRequest:
    """One panel. width x height is the video's frame; the panel's own size is the engine's."""

    kind: Literal["shot", "title", "end"]
    width: int
    height: int
    seed: int
    scene: SceneLabels = SceneLabels()
    figures: tuple[Figure, ...] = ()
    prompt: str = ""
    title: str = ""  #: title and end cards
    subtitle: str = ""
    lettering: tuple[Lettering, ...] = ()
    memory: bool = False  #: it is remembered: drawn as the past is
    quality: Quality = "final"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A sheet of a panel; `depth` 0 is infinitely far, 1 moves with the camera."""

    image: Image  #: RGBA, same size as the panel
    depth: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """A small RGBA picture; x, y is its upper left corner."""

    image: Image
    x: int
    y: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Face:
    """A face in a panel, and what replaces parts of it while it speaks or blinks.

    Boxes and patches lie in the panel's pixels; patches are laid on `layer`. `mouths` go from
    closed to wide open.
    """

    name: str
    layer: int
    box: tuple[int, int, int, int]  #: left, top, right, bottom
    mouth: tuple[int, int]
    mouths: tuple[Patch, ...] = ()
    blink: Patch | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Letter:
    """Drawn words of one line, over everything; x, y in pixels of the *frame*."""

    line: int
    patch: Patch


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    image: Image  #: RGB, at least as large as the frame (the animatic draws 1.25 x)
    layers: tuple[Layer, ...] = ()  #: back to front; may be empty
    faces: tuple[Face, ...] = ()
    letters: tuple[Letter, ...] = ()
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: JSON: how it was made


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """A line in its clip: when it is heard, by whom it is said, and how loud each frame of it is.

    `levels` are 0..1, one a frame from `start` on; empty where there is no sound.
    """

    line: int
    start: int
    frames: int
    by: str = ""
    levels: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ClipRequest:
    """One shot's moving picture of exactly `frames` frames."""

    panel: Panel
    motion: str  #: push pull pan_left pan_right pan_up pan_down hold shake
    frames: int
    width: int
    height: int
    fps: int
    seed: int
    weather: str = "clear"
    lines: tuple[Heard, ...] = ()
    framing: str = "medium"  #: of the panel: it may move the camera otherwise
    #: what video models read; empty where a camera moves over a panel
    scene: SceneLabels = SceneLabels()
    figures: tuple[Figure, ...] = ()
    prompt: str = ""
    quality: Quality = "final"
    #: what the encode stage made of the panel; empty: the panel itself is encoded
    encoded: Mapping[str, Array] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EncodeRequest:
    """What a video model needs of a panel before its steps, made apart from them."""

    panel: Panel
    width: int
    height: int
    seed: int = 0
    quality: Quality = "final"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    arrays: Mapping[str, Array]  #: safetensors' dtypes; a file of its own


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RepaintRequest:
    """A part of a panel anew. `mask`: one byte a pixel of the panel's picture, 255: repaint."""

    panel: Panel
    mask: Mask
    width: int
    height: int
    seed: int
    prompt: str  #: what is to be seen there
    scene: SceneLabels = SceneLabels()
    figures: tuple[Figure, ...] = ()
    quality: Quality = "final"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class UpscaleRequest:
    """A panel in finer detail: its picture becomes at least width x height."""

    panel: Panel
    width: int
    height: int
    seed: int
    prompt: str = ""
    scene: SceneLabels = SceneLabels()
    figures: tuple[Figure, ...] = ()
    quality: Quality = "final"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutpaintRequest:
    """More of a panel's surroundings: `margin` of each side is added all around, 0..1."""

    panel: Panel
    margin: float
    width: int
    height: int
    seed: int
    prompt: str = ""
    scene: SceneLabels = SceneLabels()
    figures: tuple[Figure, ...] = ()
    quality: Quality = "final"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Clip:
    path: pathlib.Path  #: H.264 in MP4, yuv420p, near lossless, no sound; its reader removes it
    frames: int
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: JSON: how it was made


Request: TypeAlias = (
    AnchorRequest
    | PanelRequest
    | ClipRequest
    | EncodeRequest
    | RepaintRequest
    | UpscaleRequest
    | OutpaintRequest
)
Product: TypeAlias = AnchorProduct | Panel | Clip | Encoded  # repaint, upscale, outpaint: Panel


class Run(Protocol):
    """A batch of one bucket. Products (or the error of that member) come when they are whole."""

    joinable: bool

    def add(self, requests: Mapping[str, Request]) -> None: ...
    def step(self) -> Mapping[str, Product | Exception]: ...
    def drop(self, key: str) -> None: ...
    def close(self) -> None: ...


class Engine(Protocol):
    """A family of image or video models. `version` changes with what it makes of a request."""

    name: str
    references: bool  #: whether figures come with the pictures of their anchors

    @property
    def version(self) -> str: ...

    def models(self) -> Mapping[str, models.ModelSpec]:
        """Answer a spec for each stage that it runs.

        Stages: anchor illustrate animate encode repaint upscale outpaint; `illustrate:preview`
        where another model makes previews.
        """
        ...

    def signature(self, stage: str, quality: Quality = "final") -> str:
        """Changes with what a stage makes of a request, and with nothing else: part of its key."""
        ...

    def bucket(self, request: Request) -> str:
        """What must be equal for two requests to run in one batch."""
        ...

    def peak(self, request: Request, members: int) -> int:
        """Bytes over the weights, by theory."""
        ...

    def cap(self, request: Request) -> int:
        """The largest batch worth trying; 1 where members would only wait for each other."""
        ...

    def open(self, bucket: str, rt: work.Runtime) -> Run: ...


def spec_of(
    specs: Mapping[str, models.ModelSpec], stage: str, quality: Quality = "final"
) -> models.ModelSpec | None:
    """The model behind a stage in that quality, of an engine's `models()`; None: nobody runs it.

    Clips that another model previews are encoded by that one, or not at all.
    """
    preview = specs.get(f"{stage}:preview")
    if quality == "preview" and (preview or (stage == "encode" and "animate:preview" in specs)):
        return preview
    return specs.get(stage)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Speech:
    text: str
    language: Literal["zh", "en"] = "zh"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Voice:
    name: str = "zm_yunyang"
    speed: float = 1.0
    pitch: float = 1.0  #: of the speaker's own; the length stays


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Audio:
    samples: np.ndarray[Any, np.dtype[np.float32]]  #: mono, shape (n,), -1..1
    rate: int = 48_000
    estimated: bool = False  #: silence of the estimated length: the line could not be spoken


class VoiceEngine(Protocol):
    name: str

    def speak(self, speech: Speech, voice: Voice) -> Audio:
        """Trimmed speech; raises VoiceError (permanent) or VoiceUnavailable (transient)."""
        ...
