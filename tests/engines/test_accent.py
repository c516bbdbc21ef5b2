"""The accent: whatever is worn and wherever it plays, one hue of a shot is saturated."""

from __future__ import annotations

import colorsys
import itertools

import cv2
import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import accent, composition, panel, stage, wardrobe

LOUD = 0.38  #: chroma that the eye goes to
WIDE = 60  #: degrees of hue that are one region

#: what words can't ask for, but people's own features can
VIVID = ("#c0392f", "#2f6fbf", "#d8b23c", "#b03a9a")
SHEETS = [
    protocol.CharacterSheet(name=f"人{k}", sex=("female", "male")[k % 2], seed=k)
    for k in range(len(VIVID))
]


def vivid(one):
    look = wardrobe.features(one)
    return {**look, "main": VIVID[SHEETS.index(one)]} if one in SHEETS else look


def request(people, held=(), **scene):
    return protocol.PanelRequest(
        kind="shot", width=120, height=214, seed=5, scene=protocol.SceneLabels(**scene),
        figures=tuple(
            protocol.Figure(sheet=one, features=vivid(one), held=dict(held).get(k, ""),
                            speaking=k == 0)
            for k, one in enumerate(people)
        ),
    )  # fmt: skip


def loud_hues(drawn):
    """The hues in degrees of what is loud in a picture, faces left out."""
    rgb = drawn.image.astype(np.float32) / 255
    loud = rgb.max(2) - rgb.min(2) > LOUD
    for face in drawn.faces:
        left, top, right, bottom = face.box
        loud[top:bottom, left:right] = False
    return cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)[..., 0][loud]


def largest_region(hues):
    bins = np.histogram(hues, 72, (0, 360))[0]
    wide = WIDE // 5
    return max(int(np.roll(bins, -k)[:wide].sum()) for k in range(72)) / max(1, hues.size)


@pytest.mark.parametrize("place", ["street", "market"])
@pytest.mark.parametrize("first", range(4))
def test_one_hue_of_a_shot_is_loud(place, first):
    people = [SHEETS[first], SHEETS[first - 1], SHEETS[first - 2]]
    drawn = panel.draw(request(people, place=place, framing="medium"))
    hues = loud_hues(drawn)
    assert hues.size > 40
    assert largest_region(hues) > 0.85


def test_what_is_held_is_the_accent():
    drawn = panel.draw(request(SHEETS[2:], {0: "red umbrella"}, place="street", weather="rain"))
    hues = loud_hues(drawn)
    assert (np.abs((hues + 180) % 360 - 180) < 30).mean() > 0.8


def test_who_wears_nothing_loud_has_a_small_thing_that_is():
    pale = protocol.CharacterSheet(name="顾言", sex="male", words=("黑色西装",), seed=7)
    s = stage.of(request([pale]))
    plan = composition.of(s, request([pale]), panel.foot(s))
    hue = accent.of(plan.people)
    (dressed,) = accent.dressed(plan.people, hue)
    assert chroma(dressed.look["trim"]) >= accent.STRONG
    assert dressed.look["skin"] == plan.people[0].look["skin"]


def chroma(code):
    channels = [int(code[k : k + 2], 16) for k in (1, 3, 5)]
    return (max(channels) - min(channels)) / 255


def hue_of(code):
    return colorsys.rgb_to_hsv(*(int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)))[0] * 360


def test_nobody_wears_a_second_accent():
    s = stage.of(request(SHEETS))
    people = composition.of(s, request(SHEETS), panel.foot(s)).people
    hue = accent.of(people)
    for one, part in itertools.product(accent.dressed(people, hue), ("main", "trim", "legs")):
        code = one.look[part]
        away = abs((hue_of(code) - hue + 180) % 360 - 180)
        assert chroma(code) < LOUD or away <= 44


def test_without_people_the_place_keeps_its_colours():
    assert accent.of(()) is None
    image = np.full((4, 4, 4), (250, 180, 20, 255), np.uint8)
    assert accent.muted(image, None) is image
    near, far = accent.muted(image, 42.0), accent.muted(image, 220.0)
    assert np.array_equal(near, image)
    assert np.ptp(far[0, 0, :3]) < 0.6 * np.ptp(image[0, 0, :3])
    assert far[..., 3].min() == 255
