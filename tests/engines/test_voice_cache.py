from __future__ import annotations

import os
import wave

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mangen import errors
from mangen.engines import length, protocol
from mangen.engines.voice import cache, tone, wav, waveform

LINE = protocol.Speech(text="他推开门，屋里空无一人。")
VOICE = protocol.Voice()


class Counted(tone.Tone):
    def __init__(self):
        self.calls = 0

    def speak(self, speech, voice):
        self.calls += 1
        return super().speak(speech, voice)


@pytest.fixture
def engine():
    return Counted()


def test_a_tone_lasts_as_estimated_and_is_the_same_each_time():
    first, second = (tone.Tone().speak(LINE, VOICE) for _ in range(2))
    assert len(first.samples) == length.estimated_frames(LINE.text) * 2000
    assert np.array_equal(first.samples, second.samples)
    assert 0.05 < np.abs(first.samples).max() <= 0.8


def test_a_tone_refuses_what_no_voice_could_say():
    with pytest.raises(errors.VoiceError, match="nothing to say") as caught:
        tone.Tone().speak(protocol.Speech(text="……"), VOICE)
    assert caught.value.permanent


def test_silence_is_marked_and_lasts_as_estimated():
    audio = tone.silence("……")
    assert audio.estimated
    assert len(audio.samples) == length.estimated_frames("……") * 2000 > 0
    assert not audio.samples.any()


def test_a_line_is_made_once_and_read_back_sample_for_sample(tmp_path, engine):
    cached = cache.Cached(engine, tmp_path / "voice")
    assert not cached.holds(LINE, VOICE)
    fresh = cached.speak(LINE, VOICE)
    assert cached.holds(LINE, VOICE)
    again = cache.Cached(engine, tmp_path / "voice").speak(LINE, VOICE)
    assert engine.calls == 1
    assert again.samples.dtype == np.float32
    assert np.array_equal(fresh.samples, again.samples)


def test_texts_that_sound_alike_share_an_entry_and_others_do_not(tmp_path, engine):
    cached = cache.Cached(engine, tmp_path)
    one = cached.key(protocol.Speech(text="“共9200。”"), VOICE)
    assert one == cached.key(protocol.Speech(text="共九千二百。"), VOICE)
    others = {
        cached.key(protocol.Speech(text="共9201。"), VOICE),
        cached.key(protocol.Speech(text="“共9200。”"), protocol.Voice(speed=1.1)),
        cached.key(protocol.Speech(text="“共9200。”"), protocol.Voice(pitch=1.1)),
        cached.key(protocol.Speech(text="“共9200。”"), protocol.Voice(name="zf_xiaobei")),
        cached.key(protocol.Speech(text="“共9200。”", language="en"), VOICE),
    }
    assert len(others | {one}) == 6
    engine.version = "another"
    assert cache.Cached(engine, tmp_path).key(protocol.Speech(text="“共9200。”"), VOICE) != one


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "foreign"])
def test_a_damaged_entry_is_made_anew(tmp_path, engine, harm):
    cached = cache.Cached(engine, tmp_path)
    fresh = cached.speak(LINE, VOICE)
    (entry,) = tmp_path.glob("*/*.wav")
    data = bytearray(entry.read_bytes())
    data[5000] ^= 1
    changed = {"flip": data, "cut": data[:4000], "empty": b"", "foreign": b"RIFF" + bytes(60)}
    entry.write_bytes(changed[harm])
    again = cached.speak(LINE, VOICE)
    assert (engine.calls, cached.damaged) == (2, 1)
    assert np.array_equal(fresh.samples, again.samples)
    assert np.array_equal(wav.read(entry).samples, fresh.samples)


def test_the_entries_unused_for_longest_go_first(tmp_path, engine):
    cached = cache.Cached(engine, tmp_path)
    lines = [protocol.Speech(text=f"第{n}句话。") for n in "一二三四"]
    for n, line in enumerate(lines):
        cached.speak(line, VOICE)
        entry = tmp_path / cached.key(line, VOICE)[:2] / f"{cached.key(line, VOICE)}.wav"
        os.utime(entry, (n, n))
    cached.speak(lines[0], VOICE)  # a hit makes it young
    cached.limit = 2 * entry.stat().st_size
    cached.sweep()
    assert [cached.holds(line, VOICE) for line in lines] == [True, False, False, True]


def test_a_cache_that_cannot_be_written_costs_no_line(tmp_path, engine):
    (tmp_path / "file").write_text("in the way")
    cached = cache.Cached(engine, tmp_path / "file")
    assert len(cached.speak(LINE, VOICE).samples)


def test_errors_are_not_remembered(tmp_path, engine):
    cached = cache.Cached(engine, tmp_path)
    for _ in range(2):
        with pytest.raises(errors.VoiceError):
            cached.speak(protocol.Speech(text="……"), VOICE)
    assert engine.calls == 2
    assert list(tmp_path.rglob("*.*")) == []


def test_any_player_reads_the_file(tmp_path):
    audio = tone.Tone().speak(LINE, VOICE)
    wav.write(tmp_path / "a.wav", audio)
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert file.getparams()[:4] == (1, 2, 48_000, len(audio.samples))
        assert file.readframes(3) == waveform.to_pcm(audio.samples[:3]).tobytes()
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_what_is_cut_or_foreign_is_named_not_read(tmp_path):
    (tmp_path / "x.wav").write_bytes(b"RIFF" + bytes(3))
    with pytest.raises(errors.StorageError, match=r"x\.wav is no speech"):
        wav.read(tmp_path / "x.wav")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 4000), st.integers(1, 9000))
def test_doubling_the_rate_doubles_the_length_exactly(count, hertz):
    source = (0.5 * np.sin(np.arange(count) * (2 * np.pi * hertz / 24_000))).astype(np.float32)
    made = waveform.doubled(source)
    assert len(made) == 2 * count
    assert np.array_equal(made[::2], source)
    inner = slice(200, max(200, 2 * count - 200))
    wanted = 0.5 * np.sin(np.arange(2 * count) * (2 * np.pi * hertz / 48_000))
    assert np.abs(made[inner] - wanted[inner]).max(initial=0) < 2e-3


@pytest.mark.parametrize("pitch", [0.85, 0.9, 0.95, 1.01, 1.06, 1.25])
@pytest.mark.parametrize("hertz", [120, 3000, 7000])
def test_another_pitch_is_the_same_wave_faster_or_slower(pitch, hertz):
    source = (0.5 * np.sin(np.arange(9000) * (2 * np.pi * hertz / 24_000))).astype(np.float32)
    made = waveform.pitched(source, pitch)
    assert abs(len(made) - 18_000 / pitch) <= 2 / pitch
    inner = slice(200, len(made) - 200)
    wanted = 0.5 * np.sin(np.arange(len(made)) * (2 * np.pi * hertz * pitch / 48_000))
    assert np.abs(made[inner] - wanted[inner]).max() < 2e-3


def test_speech_of_no_or_few_samples_has_a_pitch_too():
    for count in range(60):
        made = waveform.pitched(np.ones(count, np.float32), 1.1)
        assert (len(made) > 0) == (count > 0)
        assert np.isfinite(made).all()


def test_trimming_leaves_small_margins_and_loses_no_sound():
    rate = 24_000
    speech = 0.3 * np.sin(np.arange(rate) * 0.1).astype(np.float32)
    hiss = np.random.default_rng(1).normal(0, 1e-4, 3 * rate).astype(np.float32)
    hiss[rate : 2 * rate] += speech
    made = waveform.trimmed(hiss, rate)
    assert rate < len(made) <= rate * 1.16
    assert len(waveform.trimmed(np.zeros(rate, np.float32), rate)) == 0
    assert len(waveform.trimmed(np.zeros(5, np.float32), rate)) == 0
