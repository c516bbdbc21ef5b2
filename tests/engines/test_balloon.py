"""Balloons and captions: readable, in their places, and never over a face."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import (
    balloon,
    caption,
    lettering,
    letters,
    pen,
    stage,
    typeset,
    wardrobe,
)
from mangen.engines.animatic.engine import Animatic

ME = protocol.CharacterSheet(name="我", sex="male", era="republic", seed=1)
LADY = protocol.CharacterSheet(name="林若雪", sex="female", age="youth", seed=2)
TEXTS = ["阿！闰土哥，——你来了？……", "老爷！", "Good morning, my dear Mr. Scrooge!", "走"]
FRAMINGS = ("medium", "close", "over_shoulder", "split", "establish", "reaction", "action")
SIZES = [(360, 640), (640, 360), (400, 400)]


@pytest.fixture(scope="module")
def engine(scratch):
    return Animatic(scratch, scratch)


def shot(framing, *words, width=360, height=640, seed=3, sheets=(ME, LADY), emotion="calm"):
    return protocol.PanelRequest(
        kind="shot",
        width=width,
        height=height,
        seed=seed,
        scene=protocol.SceneLabels(framing=framing, place="courtyard"),
        figures=tuple(
            protocol.Figure(
                sheet=sheet,
                features=wardrobe.features(sheet),
                speaking=sheet is ME,
                emotion=emotion,
            )
            for sheet in sheets
        ),
        lettering=words,
    )


def said(text, by="我", line=0):
    return protocol.Lettering(line=line, text=text, by=by)


def captioned(text, line=1):
    return protocol.Lettering(line=line, text=text, kind="caption")


def bodies(request, product):
    """The boxes of all words, without tails, and the room they were placed in."""
    s = stage.of(request)
    room = letters.room_of(s, request, product.faces)
    found = []
    for one in request.lettering:
        if one.kind == "caption":
            found.append(caption.placed(room, one.text).box)
        else:
            mouth = letters.mouth_of(s, request, product.faces, one.by)
            found.append(balloon.placed(room, one.text, mouth).box)
    return room, found


@pytest.fixture(scope="module")
def drawn(engine, make):
    """Panels by framing and size, drawn once."""
    return functools.cache(
        lambda framing, size: make(engine, shot(framing, said("走"), width=size[0], height=size[1]))
    )


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", TEXTS)
def test_no_words_meet_a_face_and_all_keep_the_safe_area(drawn, text, framing, size):
    request = shot(framing, said(text), captioned("深冬 归途"), width=size[0], height=size[1])
    room, boxes = bodies(request, drawn(framing, size))
    assert room.faces
    for box in boxes:
        assert not any(balloon.shared(box, face) for face in room.faces)
        left, top, right, low = room.safe
        assert left - 1 <= box[0] < box[2] <= right + 1
        assert top - 1 <= box[1] < box[3] <= low + 1


@pytest.mark.parametrize("seed", range(6))
def test_whole_balloons_leave_the_eyes_of_all_faces_free(engine, make, seed):
    request = shot("medium", said("你给我出去！"), seed=seed, emotion="angry")
    product = make(engine, request)
    s = stage.of(request)
    patch = product.letters[0].patch
    for face in product.faces:
        x0, x1 = (int(v - (s.width - 360) / 2) for v in (face.box[0], face.box[2]))
        y0, y1 = (int(v - (s.height - 640) / 2) for v in (face.box[1], face.box[3]))
        seen = np.zeros((640, 360), np.uint8)
        tall, wide = patch.image.shape[:2]
        seen[patch.y : patch.y + tall, patch.x : patch.x + wide] = patch.image[..., 3]
        eyes = seen[y0 : (y0 + y1) // 2, x0:x1]
        assert not (eyes > 200).any()


def test_the_tail_points_from_the_body_to_the_mouth(engine, make):
    request = shot("close", said("我这就来，您先坐。"), sheets=(ME,))
    product = make(engine, request)
    s = stage.of(request)
    mouth = letters.mouth_of(s, request, product.faces, "我")
    room = letters.room_of(s, request, product.faces)
    one = balloon.placed(room, "我这就来，您先坐。", mouth)
    patch = product.letters[0].patch
    ys, xs = np.nonzero(patch.image[..., 3] > 200)
    out = [
        (x + patch.x, y + patch.y)
        for x, y in zip(xs, ys, strict=True)
        if not (abs(x + patch.x - one.x) < one.a * 1.06 and abs(y + patch.y - one.y) < one.b * 1.06)
    ]
    assert out
    tip = max(out, key=lambda p: np.hypot(p[0] - one.x, p[1] - one.y))
    reach = np.hypot(tip[0] - mouth[0], tip[1] - mouth[1])
    assert reach < np.hypot(one.x - mouth[0], one.y - mouth[1]) * 0.75


def test_a_voice_that_is_not_seen_still_has_its_balloon(engine, make):
    request = shot("medium", said("谁在那里？", by="门外的人"))
    product = make(engine, request)
    assert product.letters[0].patch.image[..., 3].any()


def test_feelings_give_balloons_their_shapes(engine, make):
    drawn = {
        emotion: make(engine, shot("medium", said("你来了"), emotion=emotion)).letters[0].patch
        for emotion in ("calm", "angry", "shy")
    }
    assert len({patch.image.tobytes() for patch in drawn.values()}) == 3


def test_the_same_request_gives_the_same_letters(engine, make):
    request = shot("split", said(TEXTS[0]), captioned("二十年前 海边"))
    one, two = make(engine, request), make(engine, request)
    assert [x.patch.image.tobytes() for x in one.letters] == [
        x.patch.image.tobytes() for x in two.letters
    ]
    assert [x.line for x in one.letters] == [1, 0]


@pytest.mark.parametrize("text", ["", "😀", "\u200b\n", "😀你好"])
def test_characters_without_a_glyph_are_not_set(engine, make, text):
    product = make(engine, shot("medium", said(text)))
    assert len(product.letters) == bool(lettering.clean(text))


@pytest.mark.parametrize(
    "text", [*TEXTS, "他说：“走！”（轻声）", "第12章 AI时代2024年", "一二三四五六七八九十一二三四"]
)
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_every_character_is_set_once(text, columns):
    cells = typeset._cells(text, 40)
    parts = typeset._broken(cells, typeset._breaks(text, cells), columns)
    assert "".join(c.text for part in parts for c in part) == text.replace(" ", "")
    assert len(parts) <= columns or len(parts) == 1


def test_no_column_begins_with_a_closing_mark():
    text = "阿！闰土哥，——你来了？……"
    cells = typeset._cells(text, 40)
    for columns in (1, 2, 3, 4):
        parts = typeset._broken(cells, typeset._breaks(text, cells), columns)
        assert not any(part[0].text in "！，—？…" for part in parts)


def test_commas_stand_in_the_upper_right_of_their_cell():
    mask = typeset.upright("好，", 60, 1)
    below = mask[66:]
    ys, xs = np.nonzero(below > 128)
    assert xs.mean() > mask.shape[1] * 0.6
    assert ys.mean() < 60 * 0.5


def test_dashes_run_down_the_column():
    mask = typeset.upright("——", 60, 1)
    ys, xs = np.nonzero(mask > 128)
    assert np.ptp(ys) > 4 * np.ptp(xs)


def test_type_is_as_large_as_the_room_allows():
    free = balloon.Room(width=720, height=1280)
    tight = balloon.Room(width=720, height=1280, faces=[(120, 0, 720, 1280)])
    text = "你来了，坐吧，喝茶"
    assert balloon.placed(free, text, None).mask.size > balloon.placed(tight, text, None).mask.size


def test_a_caption_lies_in_a_corner(engine, make):
    request = shot("establish", captioned("二十年前 海边"))
    patch = make(engine, request).letters[0].patch
    assert patch.x < 360 * 0.1
    assert patch.y < 640 * 0.1
    paper = pen.premultiplied(patch.image)
    assert (paper[..., 3] == 255).mean() > 0.6
