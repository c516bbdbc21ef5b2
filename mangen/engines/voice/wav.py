"""Speech as a file: 16-bit mono WAV with the checksum of its samples in a chunk of its own.

Any player reads it; `read` notices a byte that changed.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import struct
import uuid

import numpy as np

from mangen import errors
from mangen.engines import protocol
from mangen.engines.voice import waveform

_CHECKSUM = b"sha2"


def write(path: pathlib.Path, audio: protocol.Audio) -> int:
    """Write whole or not at all; answers with the bytes written. Raises OSError."""
    data = waveform.to_pcm(audio.samples).tobytes()
    form = struct.pack("<HHIIHH", 1, 1, audio.rate, audio.rate * 2, 2, 16)
    chunks = _chunk(b"fmt ", form) + _chunk(b"data", data)
    chunks += _chunk(_CHECKSUM, hashlib.sha256(form + data).digest())
    whole = b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks
    temporary = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with temporary.open("wb") as file:
            file.write(whole)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return len(whole)


def read(path: pathlib.Path) -> protocol.Audio:
    """The speech `write` wrote; StorageError where it is cut, changed or not ours."""
    data = path.read_bytes()
    found: dict[bytes, bytes] = {}
    position = 12
    while position + 8 <= len(data) and data[:4] == b"RIFF":
        name, size = struct.unpack_from("<4sI", data, position)
        found[name] = data[position + 8 : position + 8 + size]
        position += 8 + size
    if not {b"fmt ", b"data", _CHECKSUM} <= found.keys():
        raise errors.StorageError(f"{path} is no speech that mangen wrote; remove it")
    if hashlib.sha256(found[b"fmt "] + found[b"data"]).digest() != found[_CHECKSUM]:
        raise errors.StorageError(f"{path} is damaged: its checksum differs; remove it")
    rate = struct.unpack_from("<I", found[b"fmt "], 4)[0]
    samples = waveform.from_pcm(np.frombuffer(found[b"data"], "<i2"))
    return protocol.Audio(samples=samples, rate=rate)


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data
