"""How long a line lasts: the one place that knows, used by voice, animate and assemble."""

from __future__ import annotations

import math

FPS = 24
RATE = 48_000  #: Hz; 24 fps x 48 kHz is exactly 2,000 samples a frame
SAMPLES_PER_FRAME = RATE // FPS
CHARACTERS_PER_SECOND = 4.6  #: Chinese narration, drafts only; real voices are measured
PAUSE_S = 0.35
WORD_AS_CHARACTERS = 1.75  #: an English word lasts about as long as so many Chinese characters


def spoken_characters(text: str) -> float:
    """Characters that take time: ideographs one each, Latin words and numbers by word."""
    count, in_word = 0.0, False
    for ch in text:
        if ch.isascii() and ch.isalnum():
            if not in_word:
                count += WORD_AS_CHARACTERS
            in_word = True
            continue
        in_word = in_word and ch in "'’-.,"
        if ch.isalnum():
            count += 1
    return count


def estimated_frames(text: str) -> int:
    """Frames of a line without sound: round((characters / 4.6 + 0.35) x 24)."""
    return round((spoken_characters(text) / CHARACTERS_PER_SECOND + PAUSE_S) * FPS)


def frames_of(samples: int | None, text: str) -> int:
    """Frames of one line: by its samples at 48 kHz where it was spoken, else estimated."""
    if samples is None:
        return estimated_frames(text)
    return math.ceil(samples / SAMPLES_PER_FRAME)
