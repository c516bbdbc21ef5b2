"""A voice for tests: a soft tone of exactly the estimated length, at once."""

from __future__ import annotations

import hashlib

import numpy as np

from mangen import errors
from mangen.engines import length, protocol
from mangen.engines.voice import spoken, waveform


class Tone:
    """Implements VoiceEngine; the pitch (180 to 420 Hz) comes from text and voice."""

    name = "tone"
    version = "2"

    def normal(self, speech: protocol.Speech) -> str:
        """What is said of the text."""
        return spoken.spoken(speech.text, speech.language)

    def speak(self, speech: protocol.Speech, voice: protocol.Voice) -> protocol.Audio:
        """`estimated_frames(text) * 2000` samples; VoiceError where there is nothing to say."""
        if not spoken.speakable(speech.text, speech.language):
            raise errors.VoiceError(f"nothing to say in {speech.text!r}: no word, no number")
        said = f"{speech.text}|{voice.name}|{voice.speed}"
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()
        hertz = (180 + 240 * digest[0] / 255) * voice.pitch
        count = length.estimated_frames(speech.text) * length.SAMPLES_PER_FRAME
        wave = np.sin(np.arange(count) * (2 * np.pi * hertz / length.RATE)).astype(np.float32)
        return protocol.Audio(samples=waveform.levelled(wave, length.RATE), rate=length.RATE)


def silence(text: str) -> protocol.Audio:
    """What stands for a line that could not be spoken: silence of the estimated length."""
    count = length.estimated_frames(text) * length.SAMPLES_PER_FRAME
    return protocol.Audio(samples=np.zeros(count, np.float32), rate=length.RATE, estimated=True)
