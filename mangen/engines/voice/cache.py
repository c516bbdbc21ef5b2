"""Speech that was made before, by content: a folder of WAV files, bounded, shared by processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
from typing import Protocol

from mangen import errors
from mangen.engines import protocol
from mangen.engines.voice import wav

_SWEEP_EVERY = 64  #: entries written between two looks at the whole folder


class Engine(protocol.VoiceEngine, Protocol):
    """A voice engine that says which of its texts and versions sound alike."""

    version: str

    def normal(self, speech: protocol.Speech) -> str: ...


class Cached:
    """A voice engine over another: what it said once is read back, sample for sample.

    A damaged entry is made anew; a cache that can't be written costs nothing but its use.
    """

    def __init__(self, engine: Engine, folder: pathlib.Path, *, limit: int = 4 << 30) -> None:
        self.engine, self.folder, self.limit = engine, folder, limit
        self.name, self.version = engine.name, engine.version
        self.hits = self.misses = self.damaged = 0
        self._written = 0

    def key(self, speech: protocol.Speech, voice: protocol.Voice) -> str:
        """sha256 of all that the sound depends on."""
        spoken = [voice.name, f"{voice.speed:.4f}", f"{voice.pitch:.4f}", speech.language]
        parts = [self.name, self.version, *spoken, self.normal(speech)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def normal(self, speech: protocol.Speech) -> str:
        return self.engine.normal(speech)

    def holds(self, speech: protocol.Speech, voice: protocol.Voice) -> bool:
        """Whether `speak` would answer without the model."""
        return self._path(speech, voice).is_file()

    def speak(self, speech: protocol.Speech, voice: protocol.Voice) -> protocol.Audio:
        """As the engine's own; errors are not remembered."""
        path = self._path(speech, voice)
        try:
            audio = wav.read(path)
            path.touch()  # the oldest go first
        except errors.StorageError:
            self.damaged += 1
        except OSError:
            pass  # not there, or just swept
        else:
            self.hits += 1
            return audio
        self.misses += 1
        audio = self.engine.speak(speech, voice)
        with contextlib.suppress(OSError):  # a full disk must not cost the line
            path.parent.mkdir(parents=True, exist_ok=True)
            wav.write(path, audio)
            if self._written % _SWEEP_EVERY == 0:
                self.sweep()
            self._written += 1
        return audio

    def sweep(self) -> None:
        """Remove the entries unused for longest until the rest fits the limit."""
        entries: list[tuple[float, int, pathlib.Path]] = []
        for file in self.folder.glob("*/*.wav"):
            with contextlib.suppress(OSError):  # another process may sweep too
                stat = file.stat()
                entries.append((stat.st_mtime, stat.st_size, file))
        total = sum(size for _, size, _ in entries)
        for _, size, file in sorted(entries):
            if total <= self.limit:
                break
            file.unlink(missing_ok=True)
            total -= size

    def _path(self, speech: protocol.Speech, voice: protocol.Voice) -> pathlib.Path:
        key = self.key(speech, voice)
        return self.folder / key[:2] / f"{key}.wav"
