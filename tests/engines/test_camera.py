"""The camera of clips: it glides, stays inside the panel and parts near from far."""

from __future__ import annotations

import av
import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import camera, finish, stage
from mangen.engines.animatic.engine import Animatic


@pytest.fixture(scope="module")
def engine(scratch):
    return Animatic(scratch, scratch)


WAVE = 40.0  #: pixels; a plain wave's phase tells its place to hundredths of a pixel


def places(engine, make, motion, frames=48):
    """Where a waved picture lies in each frame of a clip: (x, y) pixels."""
    yy, xx = np.mgrid[:800, :450] - np.array([400, 225])[:, None, None] + 0.5
    wave = 128 + 50 * np.cos(2 * np.pi * xx / WAVE) + 50 * np.cos(2 * np.pi * yy / WAVE)
    image = np.repeat(wave[..., None].astype(np.uint8), 3, 2)
    request = protocol.ClipRequest(
        panel=protocol.Panel(image=image),
        motion=motion,
        frames=frames,
        width=360,
        height=640,
        fps=24,
        seed=1,
    )
    seen = np.s_[160:480, 60:300]
    light = finish.of(360, 640)[0].mean(2)[seen] / 255  # the grain stands still: take it off
    hann = np.hanning(320)[:, None] * np.hanning(240)[None]
    v, u = np.mgrid[-160:160, -120:120] + 0.5
    with av.open(str(make(engine, request).path)) as file:
        pictures = [frame.to_ndarray(format="gray")[seen] / light for frame in file.decode(video=0)]
    phases = []
    for n, picture in enumerate(pictures):
        k = 2 * np.pi / (WAVE * camera.view(motion, n, frames, 24, 1).zoom)
        flat = (picture - np.average(picture, weights=hann)) * hann
        phases.append([np.angle((flat * np.exp(-1j * k * axis)).sum()) / k for axis in (u, v)])
    return -np.unwrap(np.array(phases), period=WAVE * 1.03, axis=0)


@pytest.mark.parametrize("motion", ["pan_left", "pan_right", "pan_up", "pan_down"])
def test_a_pan_moves_by_fractions_of_a_pixel_without_jitter(engine, make, motion):
    found = places(engine, make, motion)
    steps = np.diff(found, axis=0)
    assert np.abs(np.diff(steps, axis=0)).max() < 0.5
    views = [camera.view(motion, n, 48, 24, 1) for n in range(48)]
    wanted = -np.array([(view.x, view.y) for view in views]) * 360 * 1.03
    assert np.abs((found - found[0]) - (wanted - wanted[0])).max() < 0.25


def test_the_camera_leaves_even_what_happens_fast():
    zooms = [camera.view("pull", n, 48, 24, 1, framing="action").zoom for n in (0, 24, 47)]
    assert zooms == sorted(zooms, reverse=True)


@pytest.mark.parametrize("motion", ["push", "pull", "hold"])
def test_a_zoom_glides_without_jitter(engine, make, motion):
    found = places(engine, make, motion)
    assert np.abs(np.diff(found, axis=0)).max() < 0.5
    assert np.abs(np.diff(found, 2, axis=0)).max() < 0.25


@pytest.mark.parametrize("motion", camera.MOTIONS)
@pytest.mark.parametrize("framing", ["medium", "establish", "close", "action", "insert", "?"])
def test_no_camera_leaves_the_panel_or_zooms_too_far(motion, framing):
    for frames in (1, 2, 30, 400):
        views = [
            camera.view(motion, n, frames, 24, seed, framing=framing)
            for n in range(frames)
            for seed in (0, 9)
        ]
        zooms = [view.zoom for view in views]
        assert max(zooms) / min(zooms) <= 1.10
        for view in views:
            assert view.zoom >= 1
            assert max(abs(view.x), abs(view.y)) <= (stage.ROOM - 1) / 2


def test_layers_drift_apart_by_their_depth(engine, make):
    far = np.full((800, 450, 4), 255, np.uint8)
    far[..., :3] = 40
    near = np.zeros((800, 450, 4), np.uint8)
    far[390:410, 215:235, :3] = (255, 0, 0)
    near[300:320, 215:235] = (0, 255, 0, 255)
    layers = (
        protocol.Layer(image=far, depth=0.2),
        protocol.Layer(image=near, depth=1.0),
    )
    request = protocol.ClipRequest(
        panel=protocol.Panel(image=far[..., :3].copy(), layers=layers),
        motion="pan_right",
        frames=24,
        width=360,
        height=640,
        fps=24,
        seed=1,
    )
    clip = make(engine, request)
    with av.open(str(clip.path)) as file:
        pictures = [frame.to_ndarray(format="rgb24").astype(int) for frame in file.decode(video=0)]

    def middle(picture, channel):
        bright = picture[..., channel] - picture[..., 1 - channel] > 60
        return np.nonzero(bright)[1].mean()

    moved = [middle(pictures[0], c) - middle(pictures[-1], c) for c in (0, 1)]
    assert moved[1] > 3 * moved[0] > 0


@pytest.mark.parametrize("weather", ["rain", "snow", "fog", "wind", "thunder"])
def test_weather_moves_over_a_still_picture(engine, make, weather):
    image = np.full((400, 225, 3), 90, np.uint8)
    request = protocol.ClipRequest(
        panel=protocol.Panel(image=image),
        motion="hold",
        frames=12,
        width=180,
        height=320,
        fps=24,
        seed=3,
        weather=weather,
    )
    with av.open(str(make(engine, request).path)) as file:
        pictures = [frame.to_ndarray(format="gray").astype(int) for frame in file.decode(video=0)]
    assert np.abs(pictures[0] - pictures[-1]).max() > 4


def test_the_framing_tempers_the_motion():
    def path(framing):
        return [camera.view("push", n, 48, 24, 1, framing=framing) for n in range(48)]

    assert path("establish")[0].x != path("establish")[-1].x
    assert path("medium")[0].x == path("medium")[-1].x
    assert path("close")[0].zoom > path("medium")[0].zoom
    shaken = path("action")
    assert max(abs(view.y) for view in shaken[:24]) > 0.008
    assert max(abs(view.y) for view in shaken[36:]) == 0


@pytest.mark.parametrize("framing", ["medium", "establish", "close", "insert"])
@pytest.mark.parametrize("motion", ["push", "pull", "hold", "pan_left", "pan_up"])
def test_cameras_start_softly_and_keep_their_speed(framing, motion):
    views = [camera.view(motion, n, 96, 24, 3, framing=framing) for n in range(96)]
    for axis in ("x", "y", "zoom"):
        steps = np.diff([getattr(view, axis) for view in views])
        fastest = np.abs(steps).max()
        assert np.abs(np.diff(steps)).max() <= fastest * 0.15 + 1e-9
        assert np.allclose(steps[20:-20], steps[48], atol=fastest * 0.02 + 1e-9)
