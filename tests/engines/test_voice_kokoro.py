"""Real speech: the model itself, on short lines."""

from __future__ import annotations

import dataclasses
import functools
import gc
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mangen
from mangen import errors
from mangen.engines import length, protocol
from mangen.engines.voice import kokoro, phonemes

LINES = {
    "zh": protocol.Speech(text="屋里空无一人。"),
    "mixed": protocol.Speech(text="“OK，deal！”Leo笑了。"),
    "en": protocol.Speech(text="She hung up.", language="en"),
}


@pytest.fixture(scope="module")
def engine():
    return kokoro.Kokoro()


@pytest.fixture(scope="module")
def heard(engine):
    """Speak a line, once however often it is asked for."""
    return functools.cache(engine.speak)


@pytest.fixture(scope="module")
def reader():
    return phonemes.Phonemes()


def loudness(samples):
    """Root mean square of windows of 20 ms."""
    whole = samples[: len(samples) // 960 * 960].reshape(-1, 960)
    return np.sqrt((whole**2).mean(axis=1))


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_spoken_trimmed_and_the_same_twice(engine, heard, name):
    line = LINES[name]
    voice = protocol.Voice(name=kokoro.NARRATORS[line.language])
    audio, again = heard(line, voice), engine.speak(line, voice)
    assert np.array_equal(audio.samples, again.samples)
    assert (audio.rate, audio.samples.dtype, audio.samples.ndim) == (48_000, np.float32, 1)
    estimate = length.estimated_frames(line.text) / 24
    assert 0.4 * estimate < len(audio.samples) / audio.rate < 1.8 * estimate
    assert 0.1 < np.abs(audio.samples).max() <= 0.8
    windows = loudness(audio.samples)
    assert windows[:6].max() > 0.02 * windows.max(), "more than 0.12 s of silence before"
    assert windows[-9:].max() > 0.02 * windows.max(), "more than 0.18 s of silence after"
    assert (windows > 0.1 * windows.max()).mean() > 0.3


def test_speed_and_voice_change_the_sound(engine, heard):
    line = LINES["zh"]
    slow = heard(line, protocol.Voice(name=kokoro.NARRATORS["zh"]))
    fast = engine.speak(line, protocol.Voice(speed=1.5))
    other = engine.speak(line, protocol.Voice(name="zf_xiaoxiao"))
    assert len(fast.samples) < 0.85 * len(slow.samples)
    assert not np.array_equal(slow.samples, other.samples)


def fundamental(samples):
    """The pitch of most of a line's voiced windows in Hz, by autocorrelation."""
    found = []
    for start in range(0, len(samples) - 4096, 2048):
        window = samples[start : start + 4096] * np.hanning(4096)
        if np.sqrt((window**2).mean()) < 0.03:
            continue
        power = np.abs(np.fft.rfft(window, 8192)) ** 2
        like = np.fft.irfft(power)[: 48_000 // 60]
        lag = 48_000 // 450 + int(np.argmax(like[48_000 // 450 :]))
        if like[lag] > 0.4 * like[0]:
            found.append(48_000 / lag)
    return float(np.median(found))


def test_pitch_moves_the_voice_and_not_the_length(engine, heard):
    line = LINES["zh"]
    voice = protocol.Voice(name=kokoro.NARRATORS["zh"])
    plain = heard(line, voice).samples
    low, high = (
        engine.speak(line, dataclasses.replace(voice, pitch=pitch)).samples for pitch in (0.9, 1.15)
    )
    assert fundamental(low) < 0.95 * fundamental(plain) < 0.95 * 0.95 * fundamental(high)
    for other in (low, high):
        assert len(other) == pytest.approx(len(plain), rel=0.08)
    again = engine.speak(line, dataclasses.replace(voice, pitch=0.9)).samples
    assert np.array_equal(low, again)


def test_a_text_longer_than_the_model_takes_is_spoken_whole(engine, monkeypatch):
    monkeypatch.setattr(phonemes.pieces, "__defaults__", (80,))
    text = "苏禾看了一眼第3页，全是字母。"
    one = len(engine.speak(protocol.Speech(text=text), protocol.Voice(speed=2.0)).samples)
    long = protocol.Speech(text=text * 3)
    many = len(engine.speak(long, protocol.Voice(speed=2.0)).samples)
    assert 2.5 * one < many < 4.5 * one


@pytest.mark.parametrize(
    ("text", "voice", "says"),
    [
        ("……", protocol.Voice(), "nothing to say"),
        ("😱😱😱", protocol.Voice(), "nothing to say"),
        ("あいう", protocol.Voice(), "nothing to say"),
        ("你好", protocol.Voice(name="nobody"), "unknown voice 'nobody'; known are af_heart"),
        ("你好", protocol.Voice(name="../x"), "unknown voice"),
        ("你好", protocol.Voice(speed=0), "speed 0 is outside"),
        ("你好", protocol.Voice(pitch=2), "pitch 2 is outside"),
        ("你好", protocol.Voice(pitch=float("nan")), "pitch nan is outside"),
    ],
)
def test_what_cannot_be_spoken_is_refused_for_good(engine, text, voice, says):
    with pytest.raises(errors.VoiceError, match=says) as caught:
        engine.speak(protocol.Speech(text=text), voice)
    assert caught.value.permanent


def test_both_languages_of_a_mixed_line_have_phonemes(reader):
    said = reader.of("“OK，deal！”Leo打了个响指，把合同推过来。")
    assert said.startswith("ˌOkˈA, dˈil! lˈiO ")
    assert said.count("→") + said.count("↓") + said.count("↘") + said.count("↗") >= 10
    assert "pˌidˌiˈɛf" in reader.of("苏禾看了一眼PDF的第3页：NDA、IPO、KPI。")
    assert reader.of("A股").startswith("ˈA ")


def test_a_character_without_a_reading_is_passed_over(reader):
    assert reader.of("猹") != ""
    assert reader.of("你𠮷好").replace(" ", "") == "ni↓xau↓"


def test_long_phonemes_are_cut_at_sentences_then_commas_then_words():
    assert phonemes.pieces("ab. cd. ef.", 7) == ["ab. cd.", "ef."]
    assert phonemes.pieces("ab, cd, ef.", 7) == ["ab, cd,", "ef."]
    assert phonemes.pieces("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert phonemes.pieces("", 4) == []


def test_the_alphabet_covers_what_the_readers_say(engine, reader):
    known = engine._model().alphabet
    said = reader.of(
        "女儿与鱼，绿云，二十日，嗯，哼，儿子，全军，雄，王，翁，四十，吃，Thing, measure."
    )
    assert {ch for ch in said if ch not in known} == set()


def test_a_model_the_pool_drops_is_freed_and_one_it_holds_is_used():
    engine = kokoro.Kokoro()
    model = engine.spec.load()
    assert engine._model() is model
    assert engine.spec.load() is model
    del model
    gc.collect()
    assert engine._own is None
    assert engine._lent() is None


def test_damaged_weights_are_named(monkeypatch):
    monkeypatch.setattr(kokoro, "_PARTS", 3)
    with pytest.raises(errors.VoiceError, match="damaged; reinstall"):
        kokoro.Kokoro().spec.load()


def test_speaking_prints_nothing_and_writes_nothing(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    script = (
        "from mangen.engines import protocol\n"
        "from mangen.engines.voice import kokoro\n"
        "audio = kokoro.Kokoro().speak(protocol.Speech(text='你好，OK。'), protocol.Voice())\n"
        "assert len(audio.samples) > 10000\n"
    )
    environment = {
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(pathlib.Path(mangen.__file__).parent.parent),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True,
        cwd=tmp_path, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in tmp_path.rglob("*")] == ["home"]
