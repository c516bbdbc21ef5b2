"""Hands in pictures: what they hold is seen, in its colour, and nobody's arm lies in a face."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import (
    composition,
    dye,
    figure,
    held,
    light,
    objects,
    panel,
    pose,
    stage,
    vocabulary,
    wardrobe,
)

LADY = protocol.CharacterSheet(name="林若雪", sex="female", age="youth", seed=2)
MAN = protocol.CharacterSheet(name="顾言", sex="male", seed=7)
LOOKS = {one.name: wardrobe.features(one) for one in (LADY, MAN)}
EMOTIONS = ("calm", "happy", "sad", "angry", "surprised", "afraid", "shy", "tired")
TALL = {"fork", "staff", "sword", "bag"}


def request(*things, framing="medium", emotion="calm", seed=3, place="street", size=(90, 160)):
    return protocol.PanelRequest(
        kind="shot", width=size[0], height=size[1], seed=seed,
        scene=protocol.SceneLabels(framing=framing, place=place),
        figures=tuple(
            protocol.Figure(sheet=one, features=LOOKS[one.name], emotion=emotion, held=thing)
            for one, thing in zip((LADY, MAN), things, strict=False)
        ),
    )  # fmt: skip


def laid_out(asked):
    s = stage.of(asked)
    return s, composition.of(s, asked, panel.foot(s))


@pytest.mark.parametrize("framing", ["medium", "close", "reaction"])
@pytest.mark.parametrize("thing", sorted(held.KNOWN))
def test_what_is_held_is_seen(framing, thing):
    for emotion in ("calm", "happy"):
        asked = request(thing, framing=framing, emotion=emotion)
        bare = dataclasses.replace(asked, figures=(dataclasses.replace(asked.figures[0], held=""),))
        framed = dataclasses.replace(
            bare, scene=dataclasses.replace(asked.scene, framing=laid_out(asked)[1].framing)
        )
        with_thing, without = (panel.draw(one).image.astype(int) for one in (asked, framed))
        changed = np.abs(with_thing - without).max(2) > 40
        high, wide = changed.shape
        frame = changed[high // 10 : -high // 10, wide // 10 : -wide // 10]
        least = 0.004 if thing in TALL else 0.01
        assert frame.mean() > least
        # a hand's breadth of it lies over the subtitles
        assert changed[: round(0.72 * high), wide // 10 : -wide // 10].mean() > 0.002


@pytest.mark.parametrize("tone", ["black", "yellow"])
@pytest.mark.parametrize("thing", ["umbrella", "book", "lantern", "bag", "flower", "letter"])
def test_a_thing_has_the_colour_that_words_give_it(tone, thing):
    code = vocabulary.EN_COLOURS[tone]
    assert dye.parted(f"{tone} {thing}") == (thing, code)
    wanted = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)])
    counts = []
    for tint in (code, "#ff00ff"):
        p = stage.of(request("", size=(180, 320))).pen(over=1)
        with p.moved(450, 1400):
            figure.draw(p, wardrobe.features(LADY), figure.Act(held=thing, tint=tint))
        sheet = p.sheet().astype(int)
        near = (np.abs(sheet[..., :3] - wanted).sum(2) < 40) & (sheet[..., 3] > 200)
        counts.append(int(near.sum()))
    assert counts[0] > counts[1] + 30


def test_a_thing_shown_large_has_its_colour_too():
    s = stage.of(request(""))
    pictures = {
        name: objects.portrait(s, name)[-1].image.tobytes()
        for name in ("umbrella", "black umbrella", "red umbrella", "book", "blue book")
    }
    assert len(set(pictures.values())) == len(pictures)
    lit = light.of(protocol.SceneLabels())
    assert dye.dyed(lit, "umbrella", "") is lit
    assert dye.dyed(lit, "umbrella", "#34323c").hexed("#b8473a") == lit.hexed("#34323c")


def test_nobody_opens_an_umbrella_under_a_roof():
    for place, seen in (("street", "umbrella"), ("office", "")):
        _, plan = laid_out(request("black umbrella", place=place))
        assert plan.people[0].act.held == seen


@pytest.mark.parametrize("emotion", EMOTIONS)
@pytest.mark.parametrize("things", [("", ""), ("umbrella", "umbrella"), ("", "flower"),
                                    ("book", "lantern")])  # fmt: skip
@pytest.mark.parametrize("framing", ["medium", "close"])
def test_no_arm_lies_in_a_neighbour(emotion, things, framing):
    for seed in range(2):
        _, plan = laid_out(request(*things, framing=framing, emotion=emotion, seed=seed))
        for one, other in itertools.permutations(plan.people, 2):
            left, top, right, bottom = figure.face_box(other.look, other.act)
            box = (other.x + left * other.size, other.y + top * other.size,
                   other.x + right * other.size, other.y + bottom * other.size)  # fmt: skip
            b = figure.build.of(one.look)
            doing = figure._pose(one.look, one.act)
            for _, elbow, wrist in figure.arms(b, doing):
                for x, y in (elbow, wrist):
                    at = one.x + x * one.size, one.y + y * one.size
                    assert not (box[0] < at[0] < box[2] and box[1] < at[1] < box[3])
                reach = abs(wrist[0]) * one.size
                hangs = wrist[1] > b.top + 1.2 * b.arm
                inward = (wrist[0] > 0) == (other.x > one.x)
                assert hangs or not inward or reach < 0.8 * abs(one.x - other.x)


def test_a_thing_between_two_is_held_on_the_far_side():
    for seed in range(4):
        _, plan = laid_out(request("umbrella", "umbrella", seed=seed))
        left, right = sorted(plan.people, key=lambda one: one.x)
        for one, side in ((left, -1), (right, 1)):
            b = figure.build.of(one.look)
            grip = figure._grip(one.look, one.act, b, figure._pose(one.look, one.act),
                                figure.arms(b, figure._pose(one.look, one.act)))  # fmt: skip
            assert grip.side == side
            assert one.act.pose not in pose.NARROW
