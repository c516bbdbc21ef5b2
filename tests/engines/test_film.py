"""Films: faces that speak and blink, letters while they are heard, the same bytes each time."""

from __future__ import annotations

import dataclasses

import av
import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import film, lips, plane, wardrobe, writing
from mangen.engines.animatic.engine import Animatic

ME = protocol.CharacterSheet(name="我", sex="male", era="republic", seed=1)
LADY = protocol.CharacterSheet(name="林若雪", sex="female", age="youth", seed=2)
LEVELS = tuple(0.5 + 0.5 * np.sin(np.arange(24) * 0.9))


@pytest.fixture(scope="module")
def engine(scratch):
    return Animatic(scratch, scratch)


@pytest.fixture(scope="module")
def panel(engine, make):
    request = protocol.PanelRequest(
        kind="shot",
        width=360,
        height=640,
        seed=3,
        scene=protocol.SceneLabels(framing="medium", place="room"),
        figures=tuple(
            protocol.Figure(sheet=one, features=wardrobe.features(one), speaking=True)
            for one in (ME, LADY)
        ),
        lettering=(
            protocol.Lettering(line=0, text="你来了", by="我"),
            protocol.Lettering(line=7, text="深冬", kind="caption"),
        ),
    )
    return make(engine, request)


def clip(panel, *lines, frames=48, motion="hold", **more):
    return protocol.ClipRequest(
        panel=panel,
        motion=motion,
        frames=frames,
        width=360,
        height=640,
        fps=24,
        seed=1,
        lines=lines,
        **more,
    )


def heard(by, line=3, start=6):
    return protocol.Heard(line=line, start=start, frames=24, by=by, levels=LEVELS)


def shots(request):
    return [frame.astype(int) for frame in film.frames(request)]


def without_letters(panel):
    return dataclasses.replace(panel, letters=())


def mouth_of(panel, name):
    """A box around a mouth in the frame, with room for the camera."""
    face = next(face for face in panel.faces if face.name == name)
    x, y = face.mouth[0] - 45, face.mouth[1] - 80
    return np.s_[y - 26 : y + 26, x - 34 : x + 34]


def test_lips_move_only_while_that_character_speaks(panel):
    plain = without_letters(panel)
    quiet, talk = shots(clip(plain)), shots(clip(plain, heard("我")))
    own, other = mouth_of(plain, "我"), mouth_of(plain, "林若雪")
    moved = [np.abs(a - b) for a, b in zip(quiet, talk, strict=True)]
    assert any(m[own].max() > 60 for m in moved[6:30])
    for n, m in enumerate(moved):
        if not 6 <= n < 30:
            assert m.max() == 0
        assert m[other].max() == 0
        m[own] = 0
        assert m.max() == 0  # nothing but the mouth


def test_nobody_moves_lips_for_the_narrator(panel):
    plain = without_letters(panel)
    quiet, told = shots(clip(plain)), shots(clip(plain, heard("")))
    assert all((a == b).all() for a, b in zip(quiet, told, strict=True))


def test_eyes_blink(panel):
    plain = without_letters(panel)
    open_eyed = dataclasses.replace(
        plain, faces=tuple(dataclasses.replace(face, blink=None) for face in plain.faces)
    )
    changed = [
        bool((a != b).any())
        for a, b in zip(
            shots(clip(plain, frames=96)), shots(clip(open_eyed, frames=96)), strict=True
        )
    ]
    wanted = np.zeros(96, bool)
    for face in plain.faces:
        wanted |= np.array(lips.blinks(face.name, 96, 24, 1))
    assert changed == list(wanted)
    assert any(changed)


def test_letters_are_seen_exactly_while_their_line_is_heard(panel):
    balloon = next(letter for letter in panel.letters if letter.line == 0)
    only = dataclasses.replace(panel, letters=(balloon,))
    line = protocol.Heard(line=0, start=6, frames=24, by="我")
    bare = shots(clip(without_letters(panel), line))
    lettered = shots(clip(only, line))
    seen = [np.abs(a - b).max() > 0 for a, b in zip(bare, lettered, strict=True)]
    assert seen == [6 <= n < 30 for n in range(48)]
    patch = balloon.patch
    part = np.s_[patch.y : patch.y + patch.image.shape[0], patch.x : patch.x + patch.image.shape[1]]
    whole = patch.image[..., 3] == 255
    assert (lettered[8][part][whole] == lettered[29][part][whole]).all()  # no camera moves it
    assert (lettered[6][part][whole] != lettered[8][part][whole]).any()  # it fades in


def test_a_caption_that_nobody_says_stays_for_its_time(panel):
    request = clip(panel, frames=120)
    assert writing.span(request, 7) == (0, 60)
    spoken = clip(panel, heard("", line=7, start=10), frames=120)
    assert writing.span(spoken, 7) == (10, 70)


def test_no_pan_carries_a_face_away_from_its_balloon(panel):
    line = heard("我", line=0)
    assert writing.calmed(clip(panel, line, motion="pan_left")) == "push"
    assert writing.calmed(clip(panel, motion="pan_left")) == "pan_left"
    assert writing.calmed(clip(panel, line, motion="pull")) == "pull"


def test_the_same_request_gives_the_same_bytes(engine, make, panel):
    request = clip(panel, heard("我", line=0), frames=30, weather="snow")
    first = make(engine, request).path.read_bytes()
    assert first == make(engine, request).path.read_bytes()
    with av.open(str(make(engine, request).path)) as file:
        assert sum(1 for _ in file.decode(video=0)) == 30


@pytest.mark.parametrize("size", [(180, 320), (64, 64), (640, 360), (720, 1280)])
def test_faces_and_letters_of_another_size_do_no_harm(panel, size):
    request = dataclasses.replace(
        clip(panel, heard("我", line=0), frames=12), width=size[0], height=size[1]
    )
    assert len(shots(request)) == 12


def test_a_flat_picture_wears_its_faces_too(panel):
    flat = dataclasses.replace(without_letters(panel), layers=())
    moved = [
        np.abs(a - b).max() > 60
        for a, b in zip(shots(clip(flat)), shots(clip(flat, heard("我"))), strict=True)
    ]
    assert any(moved)
    assert not any(moved[:6])


def test_faces_come_off_as_they_were_put_on(panel):
    request = clip(panel)
    one = next(sheet for sheet in plane.of(request) if sheet._changes)
    before = one.image.copy()
    keys = list(one._changes)
    for worn in (keys, keys[:1], keys[::-1], []):
        one.wear(worn)
    assert (one.image == before).all()
    one.wear(keys[:1])
    assert (one.image != before).any()
