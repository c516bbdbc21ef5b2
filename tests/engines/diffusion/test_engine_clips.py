"""Clips of video models by the engine: as long as the shot, as large as the frame."""

from __future__ import annotations

import contextlib
import dataclasses

import av
import numpy as np
import pytest

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import engine as engines
from mangen.engines.diffusion import enrolment, registry
from mangen.pooling import errors as pooling
from tests.engines.diffusion import engined

PICTURE = np.random.default_rng(6).integers(0, 256, (200, 112, 3), np.uint8)
CLIP = protocol.ClipRequest(
    panel=protocol.Panel(image=PICTURE), motion="push", frames=30, width=90, height=160, fps=24,
    seed=7, prompt="the boat drifts", scene=protocol.SceneLabels(place="river"),
)  # fmt: skip
ENCODE = protocol.EncodeRequest(panel=CLIP.panel, width=90, height=160)


@pytest.fixture(scope="module")
def film_home(tiny, tmp_path_factory):
    """A home whose clips the tiny I2VGen-XL makes."""
    root = tmp_path_factory.mktemp("films")
    model = enrolment.enrol(
        "clips", tiny("i2vgen_xl"), dtype="float32", steps=4,
        limits=registry.Limits(pixels=64 * 112, frames=4),
    )  # fmt: skip
    registry.Registry(root).add(model)
    return root


@pytest.fixture
def films(film_home, tmp_path):
    return engines.Diffusion(tmp_path / "scratch", film_home)


def decoded(clip):
    with av.open(str(clip.path)) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def test_a_staged_model_has_a_stage_for_its_first_frames(films):
    assert {"animate", "encode"} == films.models().keys()
    assert films.models()["encode"].key != films.models()["animate"].key


@pytest.mark.parametrize("frames", [1, 2, 25, 61])
def test_a_clip_has_exactly_the_shots_frames(films, rt, frames):
    made = engined.make(films, rt, dataclasses.replace(CLIP, frames=frames))
    assert made.frames == frames
    with av.open(str(made.path)) as file:
        (stream,) = file.streams
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (90, 160, 24)
        times = [float(frame.pts * stream.time_base) for frame in file.decode(video=0)]
    assert times == pytest.approx([n / 24 for n in range(frames)], abs=1e-6)


def test_the_same_request_gives_the_same_bytes(films, rt):
    one, other = (engined.make(films, rt, CLIP) for _ in range(2))
    assert one.path.read_bytes() == other.path.read_bytes()
    assert one.notes["frames"] == 4
    assert "slow camera push in" in one.notes["prompt"]


def test_what_was_encoded_apart_gives_the_same_clip(films, rt):
    encoded = engined.make(films, rt, ENCODE)
    assert encoded.arrays
    apart = dataclasses.replace(CLIP, encoded=encoded.arrays)
    made, whole = engined.make(films, rt, apart), engined.make(films, rt, CLIP)
    assert made.path.read_bytes() == whole.path.read_bytes()


def test_a_batch_is_of_its_buckets_length_whatever_the_voices_made_of_the_shots(films, rt):
    shots = {f"s{frames}": dataclasses.replace(CLIP, frames=frames) for frames in (9, 30, 70)}
    ended = engined.run(films, rt, shots)
    assert {key: one.frames for key, one in ended.items()} == {"s9": 9, "s30": 30, "s70": 70}


def test_progress_counts_steps_and_frames_and_never_falls(films, rt):
    rt.told.clear()
    engined.make(films, rt, dataclasses.replace(CLIP, frames=100))
    told = [(done, of) for key, done, of in rt.told if key == "one"]
    assert {of for _, of in told} == {4 + 100}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] >= 4 + 72


def test_a_clip_that_is_dropped_while_it_is_written_leaves_no_file(films, rt, tmp_path):
    long = dataclasses.replace(CLIP, frames=200)
    batch = films.open(films.bucket(long), rt)
    with contextlib.closing(batch):
        batch.add({"dropped": long, "kept": dataclasses.replace(CLIP, frames=40)})
        while not list(tmp_path.glob("scratch/*")):
            assert batch.step() == {}
        batch.drop("dropped")
        batch.drop("never there")
        ended = {}
        while not ended:
            ended = batch.step()
    assert set(ended) == {"kept"}
    assert list(tmp_path.glob("scratch/*")) == [ended["kept"].path]


def test_an_abort_while_one_is_written_costs_the_others_nothing(films, rt, tmp_path):
    """A result that came in the step which an abort left is told in the next."""
    requests = {key: dataclasses.replace(CLIP, frames=60) for key in ("first", "other")}
    requests["short"] = dataclasses.replace(CLIP, frames=5)
    batch = films.open(films.bucket(CLIP), rt)
    ended = {}
    with contextlib.closing(batch):
        batch.add(requests)
        while not list(tmp_path.glob("scratch/*")):
            ended.update(batch.step())
        rt.stop("first")
        left = {*requests} - ended.keys()
        with pytest.raises(pooling.Dropped, match="first"):
            batch.step()
        batch.drop("first")
        rt.stopped.clear()
        while left - ended.keys() - {"first"}:
            ended.update(batch.step())
    rt.stopped.clear()
    assert {"other", "short"} <= ended.keys()
    assert ended["short"].frames == 5
    assert ended["other"].frames == 60


def test_letters_of_a_drawn_panel_are_laid_over_the_clip_while_they_are_heard(films, rt):
    red = np.zeros((40, 60, 4), np.uint8)
    red[:] = (250, 10, 10, 255)
    letter = protocol.Letter(line=2, patch=protocol.Patch(image=red, x=-10, y=120))
    request = dataclasses.replace(
        CLIP,
        panel=protocol.Panel(image=PICTURE, letters=(letter,)),
        lines=(protocol.Heard(line=2, start=10, frames=8),),
    )
    frames = decoded(engined.make(films, rt, request))
    reds = [frame[130:155, 5:45].reshape(-1, 3).mean(axis=0)[0] > 220 for frame in frames]
    assert [n for n, is_red in enumerate(reds) if is_red] == list(range(10, 18))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"width": 91}, "width is 91"),
        ({"frames": 0}, "frames is 0"),
        ({"fps": 0}, "fps is 0"),
        ({"panel": protocol.Panel(image=PICTURE[:1, :1])}, "panel.image is 1x1"),
    ],
)
def test_a_clip_that_cannot_be_made_names_its_field(films, rt, change, why):
    batch = films.open(films.bucket(CLIP), rt)
    with contextlib.closing(batch):
        batch.add({"bad": dataclasses.replace(CLIP, **change)})
        (error,) = batch.step().values()
    assert isinstance(error, errors.EngineError)
    assert why in str(error)
