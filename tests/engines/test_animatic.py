"""The animatic's own promises: people stay themselves, every scene draws, peaks are honest."""

from __future__ import annotations

import itertools
import subprocess
import sys

import cv2
import numpy as np
import pytest

from mangen import errors
from mangen.engines import protocol
from mangen.engines.animatic import (
    cast,
    colour,
    face,
    pen,
    wardrobe,
)
from mangen.engines.animatic.engine import Animatic

CHILD = protocol.CharacterSheet(
    name="闰土", sex="male", age="child", era="countryside", words=("毡帽", "银圈", "紫色的圆脸")
)
NARRATOR = protocol.CharacterSheet(name="我", sex="male", era="republic")
LADY = protocol.CharacterSheet(name="林若雪", sex="female", age="youth", era="ancient")
#: every place of protocol.SceneLabels
PLACES = [
    *("room", "hall", "shop", "classroom", "office", "hospital", "street", "market", "courtyard"),
    *("river", "sea", "mountain", "forest", "field", "palace", "ruin", "train"),
]
TIMES = ("dawn", "day", "dusk", "night")
WEATHERS = ("clear", "rain", "snow", "fog", "wind", "thunder")
MOODS = ("calm", "warm", "sad", "tense", "dark", "bright")
EMOTIONS = ("calm", "happy", "sad", "angry", "surprised", "afraid", "shy", "tired")
FRAMINGS = (
    *("establish", "medium", "close", "over_shoulder"),
    *("split", "action", "insert", "reaction"),
)


@pytest.fixture(scope="module")
def engine(scratch):
    return Animatic(scratch, scratch)


def shot(*sheets, scene=None, emotion="calm", seed=3, width=180, height=320, features=None):
    return protocol.PanelRequest(
        kind="shot",
        width=width,
        height=height,
        seed=seed,
        scene=scene or protocol.SceneLabels(),
        figures=tuple(
            protocol.Figure(
                sheet=sheet,
                features=wardrobe.features(sheet) if features is None else features,
                emotion=emotion,
            )
            for sheet in sheets
        ),
    )


def people_of(product):
    """Colours of whatever stands in the people's layer, as a histogram."""
    layer = next(one for one in product.layers if one.depth == cast.DEPTH)
    mask = (layer.image[..., 3] > 200).astype(np.uint8)
    histogram = cv2.calcHist([layer.image[..., :3]], [0, 1, 2], mask, [8] * 3, [0, 256] * 3)
    return histogram / histogram.sum()


def test_a_character_is_nearer_to_itself_than_to_another(engine, make):
    scenes = [
        protocol.SceneLabels(place="room", framing="medium"),
        protocol.SceneLabels(place="market", framing="establish"),
        protocol.SceneLabels(place="river", framing="medium"),
    ]
    seen = {
        sheet.name: [
            people_of(make(engine, shot(sheet, scene=scene, emotion=emotion, seed=n)))
            for n, (scene, emotion) in enumerate(zip(scenes, ("calm", "angry", "sad"), strict=True))
        ]
        for sheet in (CHILD, NARRATOR, LADY)
    }

    def far(one, other):
        return cv2.compareHist(one, other, cv2.HISTCMP_BHATTACHARYYA)

    same = [far(a, b) for views in seen.values() for a, b in itertools.combinations(views, 2)]
    other = [
        far(a, b)
        for one, two in itertools.combinations(seen.values(), 2)
        for a, b in itertools.product(one, two)
    ]
    assert max(same) < min(other)


def test_no_two_leads_look_alike():
    looks = [
        wardrobe.features(protocol.CharacterSheet(name=name, sex="male", seed=seed))
        for seed, name in enumerate("甲乙丙丁戊己庚辛")
    ]

    def far(one, other):
        colours = sum(
            np.abs(np.subtract(colour.of(one[part]), colour.of(other[part]))).sum()
            for part in ("main", "trim", "skin", "legs")
        )
        forms = sum(one[part] != other[part] for part in ("hair_style", "garment", "glasses"))
        return colours / 100 + forms

    assert min(far(a, b) for a, b in itertools.combinations(looks, 2)) > 0.5


@pytest.mark.parametrize(
    ("words", "feature", "value"),
    [
        (("毡帽",), "hat", "felt"),
        (("一顶破毡帽", "银圈"), "ring", True),
        (("长发",), "hair_style", "long"),
        (("黑色西装",), "garment", "suit"),
        (("黑色西装",), "main", "#34323c"),
        (("红裙",), "main", "#b5392f"),
        (("藏青长衫",), "main", "#2f3f5c"),
        (("花白胡须",), "beard", "long"),
        (("戴眼镜",), "glasses", True),
        (("白发", "黑袍"), "main", "#34323c"),
        (("白发",), "hair", "#dcd8d2"),
        (("a red dress", "grey eyes"), "main", "#b5392f"),
        (("破旧的棉袄",), "patch", True),
    ],
)
def test_the_words_of_a_sheet_decide(words, feature, value):
    sheet = protocol.CharacterSheet(name="某人", sex="male", words=words)
    assert wardrobe.features(sheet)[feature] == value


def test_english_words_are_read_whole():
    plain = protocol.CharacterSheet(name="Scrooge", sex="male")
    harmless = protocol.CharacterSheet(
        name="Scrooge", sex="male", words=("looking suitable", "a harvester", "scarce", "escapes")
    )
    assert wardrobe.features(harmless) == wardrobe.features(plain)
    crowned = protocol.CharacterSheet(name="Scrooge", sex="male", words=("an old king, bearded",))
    assert wardrobe.features(crowned)["hat"] == "crown"


@pytest.mark.parametrize("words", [("紫色的圆脸",), ("乌黑的头发",), ("red hair",), ("bored",)])
def test_colours_of_the_body_are_no_clothes(words):
    plain = protocol.CharacterSheet(name="某人", sex="male")
    worded = protocol.CharacterSheet(name="某人", sex="male", words=words)
    assert wardrobe.features(worded)["main"] == wardrobe.features(plain)["main"]


def test_one_who_ages_keeps_hat_and_skin():
    old = protocol.CharacterSheet(
        name="闰土", sex="male", age="elder", era="countryside", words=("毡帽",)
    )
    young = protocol.CharacterSheet(
        name="闰土", sex="male", age="child", era="countryside", words=("毡帽",)
    )
    first, later = wardrobe.features(young), wardrobe.features(old)
    assert first["hat_colour"] == later["hat_colour"]
    assert first["hat"] == later["hat"] == "felt"
    assert later["lines"]
    assert not first["lines"]


def test_without_an_anchor_the_likeness_is_grey_but_recognisable(engine, make):
    bare = make(engine, shot(LADY, features={}, width=360, height=640))
    full = make(engine, shot(LADY, width=360, height=640))

    def saturation(product):
        layer = next(one for one in product.layers if one.depth == cast.DEPTH).image
        inside = layer[layer[..., 3] > 200][:, :3].astype(int)
        return (inside.max(1) - inside.min(1)).mean()

    assert saturation(bare) < saturation(full)
    assert wardrobe.unanchored(LADY)["hair_style"] == wardrobe.features(LADY)["hair_style"]


@pytest.mark.parametrize(
    "foreign",
    [
        {"embedding": [0.1, 0.2]},
        {"skin": None},
        {"skin": "grün", "main": "#12"},
        {"garment": "spacesuit", "hair_style": "x", "hat": "?"},
        {"face": 1000.0, "eyes": -3.0, "tall": 0.0, "age": "ghost"},
    ],
)
def test_features_of_another_engine_do_no_harm(engine, make, foreign):
    product = make(engine, shot(NARRATOR, features=foreign))
    assert people_of(product).any()


@pytest.mark.parametrize("place", PLACES)
def test_every_place_draws_in_every_framing(engine, make, place):
    seen = set()
    for n, framing in enumerate(FRAMINGS):
        scene = protocol.SceneLabels(place=place, framing=framing, time=TIMES[n % 4])
        product = make(engine, shot(NARRATOR, LADY, scene=scene, width=90, height=160, seed=n))
        assert product.image.std() > 12
        assert 2 <= len(product.layers) <= 5
        seen.add(product.image.tobytes())
    assert len(seen) == len(FRAMINGS)


@pytest.mark.parametrize("place", ["room", "river", "street"])
def test_hours_weathers_and_moods_all_differ(engine, make, place):
    scenes = [
        protocol.SceneLabels(place=place, time=time, weather=weather)
        for time in TIMES
        for weather in WEATHERS
    ]
    scenes += [protocol.SceneLabels(place=place, mood=mood) for mood in MOODS[1:]]
    drawn = {
        make(engine, shot(scene=scene, width=64, height=114)).image.tobytes() for scene in scenes
    }
    assert len(drawn) == len(scenes)


def test_night_is_darker_than_day(engine, make):
    bright = {
        time: make(
            engine, shot(scene=protocol.SceneLabels(place="field", time=time), width=90, height=160)
        ).image.mean()
        for time in TIMES
    }
    assert bright["night"] < bright["dusk"] < bright["day"]


def test_words_no_one_knows_still_draw(engine, make):
    scene = protocol.SceneLabels(
        place="moonbase", time="noon", weather="hail", mood="?", framing="x", era="future"
    )
    assert make(engine, shot(NARRATOR, scene=scene, emotion="bored")).image.std() > 12


def test_the_emotions_are_eight_different_faces():
    look = wardrobe.features(NARRATOR)
    faces = []
    for emotion in EMOTIONS:
        assert emotion in face.MIENS
        p = pen.Pen(200, 240, 1.0)
        with p.moved(100, 120):
            face.draw(p, look, emotion, turn=0.0, speaking=False)
        faces.append(p.sheet()[..., :3].astype(int))
    for one, other in itertools.combinations(faces, 2):
        assert (np.abs(one - other).max(2) > 60).sum() > 120


def test_a_sheet_that_cannot_be_drawn_names_its_field(engine, make):
    sheet = protocol.CharacterSheet(name="x", age="ageless")
    with pytest.raises(errors.EngineError, match=r"sheet\.age"):
        make(engine, protocol.AnchorRequest(sheet=sheet))
    with pytest.raises(errors.EngineError, match=r"sheet\.age"):
        make(engine, shot(sheet, features={}))


@pytest.mark.skipif(sys.platform != "linux", reason="reads the high-water mark of /proc")
@pytest.mark.parametrize("place", ["river", "room"])
def test_the_peak_is_honest(place):
    """Theory covers what a panel at full size takes, and not much more."""
    code = f"""
import contextlib, pathlib, re
from mangen.engines import protocol
from mangen.engines.animatic.engine import Animatic
def largest():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024
engine = Animatic(pathlib.Path("unused"), pathlib.Path("unused"))
model = engine.models()["illustrate"].load()
engine.models()["illustrate"].warm(model)
class Runtime:
    @contextlib.contextmanager
    def use(self, spec): yield model
before = largest()
sheet = protocol.CharacterSheet(name="x")
request = protocol.PanelRequest(kind="shot", width=720, height=1280, seed=3,
    scene=protocol.SceneLabels(place={place!r}), figures=(protocol.Figure(sheet=sheet),))
run = engine.open(engine.bucket(request), Runtime())
run.add({{"one": request}})
assert run.step()["one"].image.any()
print((largest() - before) / engine.peak(request, 1))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.4 < float(done.stdout) < 1.1
