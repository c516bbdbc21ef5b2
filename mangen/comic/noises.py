"""The sounds of places: each a loop without a seam, made of filtered noise and small events.

Noise is shaped in the frequency domain, where a loop of it has no beginning and no end; what
swells does so in whole turns of the loop; events that run over the end go on at the beginning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mangen.comic import instruments, loudness

RATE = instruments.RATE
SECONDS = 12  #: of a loop
_COUNT = SECONDS * RATE
LUFS = -24.0  #: of every loop: how loud it is heard is the place's choice

Samples = instruments.Samples
Curve = np.ndarray[Any, np.dtype[np.float64]]


@functools.lru_cache(maxsize=12)
def loop(name: str) -> Samples:
    """A sound's loop by its name; the same array every time, nobody may change it."""
    made = _MAKERS[name]()
    sound = (made - made.mean()).astype(np.float32)
    sound *= np.float32(10 ** ((LUFS - loudness.lufs(sound, RATE)) / 20))
    sound = 0.4 * np.tanh(sound / 0.4)  # a drop may not stick out
    kept = np.asarray(sound, np.float32)
    kept.flags.writeable = False
    return kept


def _noise(seed: int, low: float, high: float, slope: float = 0.5) -> Curve:
    """Noise between two frequencies, soft at both edges; `slope` 1 is brown, 0 white."""
    rng = np.random.default_rng(seed)
    spectrum = np.fft.rfft(rng.standard_normal(_COUNT))
    hertz = np.maximum(np.fft.rfftfreq(_COUNT, 1 / RATE), 1.0)
    shape = hertz**-slope / (1 + (low / hertz) ** 4) / (1 + (hertz / high) ** 4)
    made = np.fft.irfft(spectrum * shape, _COUNT)
    return np.asarray(made / np.sqrt((made**2).mean()))


def _swell(turns: int, phase: float = 0.0, depth: float = 0.5, sharp: float = 1.0) -> Curve:
    """From 1 - depth to 1, so many times a loop."""
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (turns * np.arange(_COUNT) / _COUNT + phase))
    return np.asarray(1 - depth + depth * wave**sharp)


def _wander(seed: int, turns: int, depth: float) -> Curve:
    """As a swell, but never the same twice within a loop."""
    rng = np.random.default_rng(seed)
    wave = np.zeros(_COUNT)
    for turn in range(1, turns + 1):
        wave += _swell(turn, float(rng.random()), 1.0)
    wave = (wave - wave.min()) / (wave.max() - wave.min())
    return np.asarray(1 - depth + depth * wave)


def _events(seed: int, count: int, make: Callable[[np.random.Generator], Curve]) -> Curve:
    """Small sounds strewn over the loop."""
    rng = np.random.default_rng(seed)
    made = np.zeros(_COUNT)
    for _ in range(count):
        sound, at = make(rng), int(rng.integers(_COUNT))
        first = min(len(sound), _COUNT - at)
        made[at : at + first] += sound[:first]
        made[: len(sound) - first] += sound[first:]
    return made


def _time(seconds: float) -> Curve:
    return np.arange(round(seconds * RATE)) / RATE


def _bump(t: Curve, sharp: float = 1.0) -> Curve:
    return np.asarray(np.sin(np.pi * np.arange(len(t)) / len(t)) ** (2 * sharp))


def _sea() -> Curve:
    wave = _swell(2, 0.0, 0.85, 2.5)  # a wave every six seconds, its foam a little later
    foam = _swell(2, -0.12, 0.97, 4.0)
    return _noise(11, 60, 500, 0.8) * wave + 0.45 * _noise(12, 700, 3_500, 0.6) * foam


def _river() -> Curve:
    def bubble(rng: np.random.Generator) -> Curve:
        t = _time(0.06 + 0.06 * rng.random())
        tone = 380 + 700 * rng.random()
        return 0.5 * np.sin(2 * np.pi * tone * t * (1 + 1.6 * t)) * _bump(t) * rng.random()

    return (
        0.6 * _noise(21, 250, 1_800, 0.6) * _wander(22, 9, 0.4)
        + 0.25 * _noise(23, 1_500, 4_000, 0.5)
        + _events(24, 190, bubble)
    )


def _rain() -> Curve:
    def drop(rng: np.random.Generator) -> Curve:
        t = _time(0.025)
        return rng.random() ** 2 * np.sin(2 * np.pi * (900 + 2_400 * rng.random()) * t) * np.exp(
            -t * 260
        ) * np.minimum(1, t * 900)  # fmt: skip

    hiss = _noise(31, 500, 5_000, 0.35) * _wander(32, 5, 0.2)
    return hiss + 0.35 * _noise(33, 100, 500, 0.6) + 2.2 * _events(34, 420, drop)


def _roof() -> Curve:
    """Rain as it is heard indoors."""
    return _noise(36, 120, 900, 0.7) + 0.15 * _rain()


def _wind() -> Curve:
    gust = _wander(41, 4, 0.75)
    return _noise(42, 90, 380, 0.6) * gust + 0.4 * _noise(43, 380, 900, 0.5) * gust**2.2


def _leaves() -> Curve:
    return _noise(46, 900, 4_500, 0.4) * _wander(47, 6, 0.8) ** 1.6 + 0.5 * _wind()


def _thunder() -> Curve:
    t = _time(4.5)
    rng = np.random.default_rng(51)
    roll = np.exp(-t * 0.9) * (1 - np.exp(-t * 5))
    rough = np.repeat(rng.uniform(0.3, 1, len(t) // 2_400 + 1), 2_400)[: len(t)]
    smooth = np.convolve(rough, np.hanning(2_400) / np.hanning(2_400).sum(), "same")
    fall = np.minimum(1, (t[-1] - t) / 0.8)
    made = np.zeros(_COUNT)
    low = _noise(52, 35, 160, 0.9)
    made[2 * RATE : 2 * RATE + len(t)] = (low[: len(t)] * roll * smooth * fall) * 5
    return made + 0.9 * _rain()


def _insects() -> Curve:
    """Crickets: each a tone in short rows of pulses, with rests."""
    made = 0.05 * _noise(61, 2_000, 5_000, 0.2)
    t = np.arange(_COUNT) / _COUNT
    for n, (tone, pulses, rows) in enumerate(
        ((4_150, 26 * SECONDS, 10), (3_650, 21 * SECONDS, 7), (4_600, 33 * SECONDS, 4))
    ):
        pulse = np.clip(np.sin(2 * np.pi * (pulses * t + 0.3 * n)), 0, 1) ** 1.5
        row = np.clip(np.sin(2 * np.pi * (rows * t + 0.37 * n)) * 2.2, 0, 1) ** 2
        turns = tone * SECONDS
        made = made + (0.6, 0.4, 0.18)[n] * np.sin(2 * np.pi * turns * t) * pulse * row
    return made


def _birds() -> Curve:
    def chirp(rng: np.random.Generator) -> Curve:
        base, times = 2_600 + 1_500 * rng.random(), int(rng.integers(2, 6))
        t = _time(0.09)
        sweep = np.sin(2 * np.pi * (base * t + rng.uniform(-2_500, 2_500) * t * t)) * _bump(t)
        rest = np.zeros(round((0.05 + 0.05 * rng.random()) * RATE))
        return rng.uniform(0.3, 1) * np.concatenate([sweep, rest] * times)

    return 0.04 * _noise(66, 300, 2_500, 0.5) + _events(67, 11, chirp)


def _murmur(seed: int, people: int) -> Curve:
    """A crowd that says nothing: noise in the bands of vowels, in the rhythm of syllables."""
    made = np.zeros(_COUNT)
    for n in range(people):
        rng = np.random.default_rng(seed + n)
        low, high = float(rng.uniform(220, 500)), float(rng.uniform(900, 1_700))
        voice = _noise(seed + 50 + n, low * 0.75, low * 1.3, 0.3)
        voice += 0.4 * _noise(seed + 90 + n, high * 0.85, high * 1.2, 0.3)
        syllables = _swell(int(rng.integers(38, 62)), float(rng.random()), 0.85, 1.5)
        made += voice * syllables * _wander(seed + 130 + n, 7, 0.9)
    return made


def _crowd() -> Curve:
    return _murmur(100, 5) + 0.4 * _noise(99, 80, 400, 0.7)


def _market() -> Curve:
    def clink(rng: np.random.Generator) -> Curve:
        t = _time(0.3)
        tone = 1_800 + 1_600 * rng.random()
        body = np.sin(2 * np.pi * tone * t) + 0.5 * np.sin(2 * np.pi * 1.51 * tone * t)
        return 1.4 * rng.random() * body * np.exp(-t * 22) * np.minimum(1, t * 500)

    return _murmur(200, 5) + 0.5 * _noise(199, 80, 500, 0.7) + _events(198, 12, clink)


def _street() -> Curve:
    def car(rng: np.random.Generator) -> Curve:
        t = _time(4.0)
        at = int(rng.integers(_COUNT - len(t)))
        return 1.5 * rng.uniform(0.5, 1) * tyres[at : at + len(t)] * _bump(t, 1.4)

    tyres = _noise(72, 180, 1_100, 0.5)
    return _noise(71, 45, 260, 0.8) * _wander(73, 3, 0.3) + _events(74, 4, car)


def _room() -> Curve:
    return _noise(81, 60, 320, 0.9) + 0.05 * _noise(82, 800, 2_500, 0.4)


def _train() -> Curve:
    """Rumble, and the wheels over the joints of the rails: two bogies, twice a beat."""
    made = _noise(91, 45, 300, 0.8) + 0.2 * _noise(92, 400, 1_600, 0.5)
    t = _time(0.22)
    clack = np.exp(-t * 28) * np.minimum(1, t * 300)
    thud = _noise(93, 90, 700, 0.4)
    for beat in range(12):
        for off, loud in ((0.0, 1.0), (0.14, 0.75)):
            at = round((beat + off) * RATE)
            part = thud[at : at + len(t)]
            made[at : at + len(part)] += 2.6 * loud * part * clack[: len(part)]
    return made


_MAKERS: Mapping[str, Callable[[], Curve]] = {
    "sea": _sea,
    "river": _river,
    "rain": _rain,
    "roof": _roof,
    "wind": _wind,
    "leaves": _leaves,
    "thunder": _thunder,
    "insects": _insects,
    "birds": _birds,
    "crowd": _crowd,
    "market": _market,
    "street": _street,
    "room": _room,
    "train": _train,
}
NAMES = tuple(_MAKERS)
