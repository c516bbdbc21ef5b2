"""The voice of the chaos runs: quick, and now and then it fails as a voice service would."""

from __future__ import annotations

import random

from mangen import errors
from mangen.engines.voice import tone

#: what a failed line says, so that the judge knows a fault that was meant
MEANT = "the voice was told to fail"
_FAILS = 0.04


class Restless(tone.Tone):
    """A tone, of which one line in twenty-five fails for this time."""

    def speak(self, speech, voice):
        if random.random() < _FAILS:
            raise errors.VoiceUnavailable(MEANT)
        return super().speak(speech, voice)
