"""People: every one draws, stays themselves at any age, and is like nobody else."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import colour, figure, held, lookbook, pen, pose, wardrobe

ERAS = ("ancient", "xianxia", "republic", "modern", "campus", "countryside")
AGES = ("child", "youth", "adult", "elder")
EMOTIONS = ("calm", "happy", "sad", "angry", "surprised", "afraid", "shy", "tired")
GESTURES = ("", "point", "wave", "bow", "hug", "run", "strike", "sit", "kneel")
HELD = ("", *sorted(held.KNOWN))
SCALE, FINE = 0.1, 0.22
SURNAMES, GIVEN = "赵钱孙李周吴郑王", ("明", "若雪", "天宇", "小红", "建国", "婉儿", "一", "志远")
RUNTU = protocol.CharacterSheet(
    name="闰土", sex="male", age="child", era="countryside",
    words=("紫色的圆脸", "头戴一顶小毡帽", "项带银圈", "红背心", "赤脚"),
)  # fmt: skip
NARRATOR = protocol.CharacterSheet(
    name="我", sex="male", era="republic", words=("蓝布长衫", "红围巾")
)
LADY = protocol.CharacterSheet(name="林若雪", sex="female", age="youth", era="xianxia")


def sheet(name="某人", sex="male", age="adult", *, era="modern", words=(), seed=0):
    return protocol.CharacterSheet(name=name, sex=sex, age=age, era=era, words=words, seed=seed)


def drawn(look, act, scale=SCALE, over=1):
    """A picture around the figure, and where its feet are in it."""
    size = round(2600 * scale)
    p = pen.Pen(size, size, scale, over=over)
    with p.moved(1300, 2000):
        figure.draw(p, look, act)
    return p.sheet()


def pixels(box, scale=SCALE):
    left, top, right, bottom = box
    return tuple(round(v * scale) for v in (left + 1300, top + 2000, right + 1300, bottom + 2000))


def bounds(mask):
    ys, xs = np.nonzero(mask)
    return xs.min(), ys.min(), xs.max() + 1, ys.max() + 1


def inside(inner, outer, slack=1):
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("sex", ["female", "male"])
def test_everybody_draws_inside_their_box(era, sex):
    for n, (age, emotion) in enumerate(itertools.product(AGES, EMOTIONS)):
        look = wardrobe.features(sheet(f"{era}{n}", sex, age, era=era, seed=n))
        act = figure.Act(
            emotion=emotion, pose=figure.pose_of(emotion, n), turn=(0.0, 0.8, -0.8)[n % 3]
        )
        image = drawn(look, act)
        assert inside(bounds(image[..., 3]), pixels(figure.box(look, act)))


@pytest.mark.parametrize("gesture", GESTURES)
@pytest.mark.parametrize("who", [RUNTU, LADY], ids=lambda one: one.name)
def test_hands_hold_anything_in_any_gesture(gesture, who):
    look = wardrobe.features(who)
    seen = set()
    for n, thing in enumerate(HELD):
        act = figure.Act(gesture=gesture, held=thing, turn=(-1) ** n * 0.4, lean=n % 5 - 2)
        image = drawn(look, act)
        assert inside(bounds(image[..., 3]), pixels(figure.box(look, act)))
        seen.add(drawn(look, figure.Act(gesture=gesture, held=thing)).tobytes())
    assert len(seen) == len(HELD)


def test_every_garment_hairdo_and_hat_draws():
    look = wardrobe.features(NARRATOR)
    kinds = [
        (part, value)
        for part in ("garment", "hair_style", "hat", "shape", "eye", "brow_form", "nose_form",
                     "beard")
        for value in sorted(lookbook.CHOICES[part])
    ]  # fmt: skip
    for part in {part for part, _ in kinds}:
        pictures = {
            drawn({**look, "hat": "none", part: value}, figure.Act(turn=0.3), FINE).tobytes()
            for own, value in kinds
            if own == part
        }
        assert len(pictures) == len(lookbook.CHOICES[part])


def test_what_nobody_knows_changes_nothing():
    look = wardrobe.features(LADY)
    plain = drawn(look, figure.Act())
    odd = figure.Act(emotion="?", pose="?", gesture="teleport", held="anvil")
    assert np.array_equal(drawn(look, odd), plain)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("sex", ["female", "male"])
def test_no_two_names_look_alike(era, sex):
    looks = [
        wardrobe.features(sheet(first + given, sex, era=era))
        for first in SURNAMES
        for given in GIVEN
    ]
    apart = np.array([wardrobe.apart(a, b) for a, b in itertools.combinations(looks, 2)])
    assert (apart >= 3).mean() > 0.96
    assert apart.min() >= 1
    assert np.median(apart) >= 5


def test_one_is_not_apart_from_oneself():
    look = wardrobe.features(LADY)
    assert wardrobe.apart(look, look) == 0


@pytest.mark.parametrize("who", [RUNTU, NARRATOR, LADY], ids=lambda one: one.name)
def test_ages_keep_the_face_and_the_hat(who):
    look = wardrobe.features(who)
    kept = ("shape", "eye", "brow_form", "brow", "nose_form", "hat", "hat_colour", "mole",
            "mole_at", "nick", "glasses", "iris", "scarf")  # fmt: skip
    pictures = set()
    for age in AGES:
        later = wardrobe.aged(look, age)
        assert later["age"] == age
        assert [later[part] for part in kept] == [look[part] for part in kept]
        assert wardrobe.aged(later, who.age) == look
        pictures.add(drawn(later, figure.Act()).tobytes())
    assert len(pictures) == len(AGES)


@pytest.mark.parametrize("age", ["", "ghost", "adult"])
def test_no_age_is_the_age_of_the_sheet(age):
    look = wardrobe.features(NARRATOR)
    assert wardrobe.aged(look, age) == look


def test_elders_are_grey_and_lined_and_children_neither():
    look = wardrobe.features(NARRATOR)
    old, young = wardrobe.aged(look, "elder"), wardrobe.aged(look, "child")
    assert old["lines"]
    assert not young["lines"]
    assert sum(colour.of(old["hair"])) > 2 * sum(colour.of(young["hair"]))
    assert figure.height(young) < 0.8 * figure.height(look)


ACTS = [
    figure.Act(),
    figure.Act(emotion="happy", turn=0.9, lean=7),
    figure.Act(emotion="sad", turn=-0.7, lean=-9),
    figure.Act(emotion="angry", gesture="strike", held="fork", turn=0.5),
    figure.Act(emotion="shy", gesture="bow", turn=-0.5, lean=4),
    figure.Act(emotion="afraid", gesture="sit", held="book", turn=0.2),
    figure.Act(emotion="surprised", gesture="kneel"),
    figure.Act(emotion="tired", pose="brow", turn=0.6),
]


@pytest.mark.parametrize("act", ACTS, ids=lambda act: f"{act.emotion}-{act.gesture}")
@pytest.mark.parametrize("age", ["child", "elder"])
@pytest.mark.parametrize("who", [RUNTU, LADY], ids=lambda one: one.name)
def test_only_the_mouth_moves_while_one_speaks(who, age, act):
    look = wardrobe.aged(wardrobe.features(who), age)
    frames = [drawn(look, replaced(act, mouth=n), FINE) for n in range(4)]
    box = pixels(figure.mouth_box(look, act), FINE)
    for one, other in itertools.combinations(frames, 2):
        changed = np.abs(one.astype(int) - other).max(2) > 0
        assert changed.any()
        assert inside(bounds(changed), box, 2)
    x, y = figure.mouth_at(look, act)
    left, top, right, bottom = figure.mouth_box(look, act)
    assert left < x < right
    assert top < y < bottom
    changed = np.abs(frames[0].astype(int) - frames[3]).max(2) > 40
    ys, xs = np.nonzero(changed)
    assert abs(xs.mean() / FINE - 1300 - x) < 14
    assert abs(ys.mean() / FINE - 2000 - y) < 22


@pytest.mark.parametrize("act", ACTS, ids=lambda act: f"{act.emotion}-{act.gesture}")
@pytest.mark.parametrize("who", [RUNTU, LADY], ids=lambda one: one.name)
def test_only_the_eyes_move_in_a_blink(who, act):
    look = {**wardrobe.features(who), "smile_eyes": False}
    changed = np.abs(
        drawn(look, act, FINE).astype(int) - drawn(look, replaced(act, blink=True), FINE)
    ).max(2)
    assert inside(bounds(changed > 0), pixels(figure.eyes_box(look, act), FINE), 2)
    assert (changed > 60).sum() > 20
    assert inside(
        bounds(changed > 0), pixels(figure.face_box(look, replaced(act, blink=True)), FINE), 2
    )


def replaced(act, **changes):
    return figure.Act(**{name: getattr(act, name) for name in act.__slots__} | changes)


@pytest.mark.parametrize("act", ACTS, ids=lambda act: f"{act.emotion}-{act.gesture}")
def test_the_face_lies_in_its_box(act):
    strange = {**wardrobe.features(LADY), "hat": "none", "hair_style": "bald", "ruddy": 0}
    one = drawn({**strange, "shape": "round"}, act, FINE).astype(int)
    other = drawn({**strange, "shape": "round", "nose_form": "broad", "nose": 1.3}, act, FINE)
    box = pixels(figure.face_box({**strange, "shape": "round"}, act), FINE)
    assert inside(bounds(np.abs(one - other).max(2) > 0), box)
    face = figure.face_box(strange, act)
    assert 150 < face[2] - face[0] < 330
    assert 150 < face[3] - face[1] < 330


def moved_by_the_mouth(look, act):
    shut, wide = (drawn(look, replaced(act, mouth=n), FINE) for n in (0, 3))
    return (np.abs(shut.astype(int) - wide).max(2) > 40).sum()


@pytest.mark.parametrize("emotion", EMOTIONS)
@pytest.mark.parametrize("who", [RUNTU, LADY], ids=lambda one: one.name)
def test_no_arm_hides_the_mouth_of_an_emotion(emotion, who):
    look = wardrobe.features(who)
    free = moved_by_the_mouth(look, figure.Act(emotion=emotion, turn=0.4))
    for name in figure.POSES[emotion]:
        act = figure.Act(emotion=emotion, pose=name, turn=0.4)
        assert moved_by_the_mouth(look, act) > 0.75 * free


def test_whoever_turns_left_points_left():
    look = wardrobe.features(LADY)
    for turn, side in ((0.5, 1), (-0.5, -1)):
        with_hand = bounds(drawn(look, figure.Act(gesture="point", turn=turn))[..., 3])
        middle = 1300 * SCALE
        reach = {1: with_hand[2] - middle, -1: middle - with_hand[0]}
        assert reach[side] > 1.3 * reach[-side]


def test_an_emotion_is_seen_in_the_whole_body():
    look = {**wardrobe.features(NARRATOR), "garment": "suit"}
    bodies = {
        emotion: drawn(look, figure.Act(emotion=emotion, pose=figure.POSES[emotion][0]), FINE)[
            ..., 3
        ]
        for emotion in EMOTIONS
    }
    for one, other in itertools.combinations(bodies.values(), 2):
        assert (np.abs(one.astype(int) - other) > 60).sum() > 20


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"version": 1, "hair_style": ["x"], "ages": 7},
        {"ages": {"child": {}, "adult": None, "elder": {"skin": "#123456"}}},
        {"age": "elder"},
        {"skin": "#ffffff", "garment": {}, "hat": None, "female": "yes", "tall": "9"},
        {"embedding": [0.5] * 8, "scarf": "red"},
    ],
)
def test_any_features_draw_at_any_age(given):
    look = wardrobe.complete(given, NARRATOR)
    for age in AGES:
        assert drawn(wardrobe.aged(look, age), figure.Act())[..., 3].any()


def test_features_survive_json():
    look = wardrobe.features(RUNTU)
    assert wardrobe.complete(json.loads(json.dumps(look)), RUNTU) == look


def test_runtu_is_told_by_his_words():
    look = wardrobe.features(RUNTU)
    assert (look["hat"], look["ring"], look["garment"]) == ("felt", True, "vest")
    assert (look["shape"], look["barefoot"]) == ("round", True)
    red, green, blue = colour.of(look["main"])
    assert red > 2 * green > blue


def test_the_narrator_is_told_by_his_words():
    look = wardrobe.features(NARRATOR)
    assert look["garment"] == "gown"
    assert colour.of(look["main"])[2] > colour.of(look["main"])[0]
    assert colour.of(look["scarf"])[0] > 2 * colour.of(look["scarf"])[2]


@pytest.mark.parametrize(
    ("words", "part", "value"),
    [
        (("黑布鞋", "白裙"), "shoes", "#34323c"),
        (("黑色的毡帽", "蓝衣"), "hat_colour", "#34323c"),
        (("白衬衫", "蓝裤子"), "legs", "#3c5f92"),
        (("白衬衫", "蓝裤子"), "main", "#e6e2d8"),
        (("a red scarf", "a blue coat"), "scarf", "#b5392f"),
        (("a red scarf", "a blue coat"), "main", "#3c5f92"),
        (("龙袍",), "garment", "court"),
        (("校服",), "garment", "tracksuit"),
        (("剑眉星目",), "brow_form", "slant"),
        (("身材高大",), "tall", 1.08),
        (("胖胖的",), "stout", 1.24),
    ],
)
def test_a_colour_goes_to_the_piece_it_is_said_of(words, part, value):
    assert wardrobe.features(sheet(words=words))[part] == value


def test_same_act_same_bits():
    look, act = wardrobe.features(LADY), figure.Act(emotion="shy", held="fan", turn=0.3)
    assert drawn(look, act).tobytes() == drawn(look, act).tobytes()


def test_every_gesture_of_the_protocol_is_a_pose():
    assert set(GESTURES) - {""} == pose.GESTURES


@pytest.mark.parametrize(
    ("name", "era", "worn"),
    [
        ("警察甲", "modern", ("zhongshan", "cap")),
        ("second constable", "victorian", ("zhongshan", "cap")),
        ("guard", "ancient", ("robe", "none")),
        ("医生", "modern", ("labcoat", "none")),
    ],
)
def test_an_office_is_worn_where_words_tell_of_nothing_else(name, era, worn):
    look = wardrobe.features(sheet(name, era=era, seed=5))
    assert (look["garment"], look["hat"]) == worn
    told = wardrobe.features(
        sheet(name, era=era, words=("灰色卫衣" if era == "modern" else "灰袍",))
    )
    assert told["garment"] == ("hoodie" if era == "modern" else "robe")


def test_clothes_are_those_told_of_first():
    look = wardrobe.features(
        sheet("苏晚", "female", words=("马尾", "黄色的针织衫", "酒红色的长裙"))
    )
    assert (look["garment"], look["main"]) == ("cardigan", "#cfa043")
