"""From labels and the story's words to what a model is told."""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import typing

import pytest

from mangen import errors
from mangen.comic import lexicon
from mangen.engines import protocol
from mangen.engines.diffusion import prompts, registry, wordbook

RUNTU = protocol.CharacterSheet(
    name="闰土", sex="male", age="child", words=("毡帽", "银圈", "紫色的圆脸"), era="republic"
)
ALICE = protocol.CharacterSheet(
    name="Alice", sex="female", age="youth", words=("blue dress", "blonde hair"), era="victorian"
)
SHOT = protocol.PanelRequest(
    kind="shot", width=720, height=1280, seed=1,
    prompt="深蓝的天空中挂着一轮金黄的圆月，闰土项带银圈，手捏一柄钢叉，向一匹猹尽力的刺去。",
    scene=protocol.SceneLabels(place="sea", time="night", mood="tense", framing="action",
                               objects=("moon", "melons")),
    figures=(protocol.Figure(sheet=RUNTU, emotion="happy", gesture="strike", held="fork"),),
)  # fmt: skip
ENGLISH = protocol.PanelRequest(
    kind="shot", width=720, height=1280, seed=1, prompt="Alice looks into the looking-glass.",
    figures=(protocol.Figure(sheet=ALICE, emotion="surprised", held="red umbrella"),),
)  # fmt: skip


def in_order(text, *words):
    places = [text.index(word) for word in words]
    assert places == sorted(places)


def test_people_come_first_then_the_story_the_scene_the_camera_and_the_style_last():
    said = prompts.shot(SHOT, both=False).text
    in_order(
        said, "a boy", "felt hat", "silver necklet", "purple round face", "happy smile",
        "striking out", "holding pitchfork", "deep blue sky", "golden full moon", "by the sea",
        "at night", "tense", "watermelons", "1920s", "speed lines", "manhua",
    )  # fmt: skip


def test_models_that_know_english_alone_get_no_other_letter():
    for request in (SHOT, ENGLISH, protocol.AnchorRequest(sheet=RUNTU)):
        said = (
            prompts.anchor(request, both=False)
            if isinstance(request, protocol.AnchorRequest)
            else prompts.shot(request, both=False)
        )
        assert (said.text + said.negative).isascii()


def test_models_that_know_both_get_the_language_of_the_text():
    said = prompts.shot(SHOT, both=True)
    in_order(said.text, "闰土", "小男孩", "毡帽", "手拿钢叉", "一轮金黄的圆月", "海边", "国漫")
    assert "水印" in said.negative
    assert said.notes == {}
    english = prompts.shot(ENGLISH, both=True).text
    in_order(english, "Alice", "a young woman", "blue dress", "holding red umbrella", "looks into")
    assert english.isascii()


def test_unknown_words_are_told_and_never_sent():
    sheet = dataclasses.replace(RUNTU, words=("毡帽", "魑魅魍魉"))
    request = dataclasses.replace(SHOT, figures=(protocol.Figure(sheet=sheet),))
    said = prompts.shot(request, both=False)
    assert said.text.isascii()
    assert "魑魅魍魉" in said.notes["untranslated"]
    assert json.loads(json.dumps(said.notes)) == said.notes
    many = "".join(f"{chr(0x9000 + n)}好毡帽" for n in range(60))
    told = prompts.shot(dataclasses.replace(SHOT, prompt=many), both=False).notes
    assert len(told["untranslated"]) == 20
    assert told["untranslated_words"] >= 60


def test_a_name_is_not_read_as_words():
    snow = dataclasses.replace(RUNTU, name="林雪", words=())
    request = dataclasses.replace(
        SHOT, prompt="林雪站在桥上", figures=(protocol.Figure(sheet=snow),),
        scene=protocol.SceneLabels(),
    )  # fmt: skip
    said = prompts.shot(request, both=False).text
    assert "snow" not in said
    in_order(said, "standing", "bridge")


def test_a_negation_of_dots_and_mixed_letters_survive():
    request = dataclasses.replace(ENGLISH, prompt="A neon sign: “OPEN 24h”, 霓虹灯")
    said = prompts.shot(request, both=False).text
    assert "A neon sign" in said
    assert "OPEN 24h" in said
    assert "neon lights" in said


def test_who_wears_nothing_that_is_told_wears_the_clothes_of_the_era():
    bare = dataclasses.replace(RUNTU, words=("银圈",))
    assert (
        "1920s Chinese clothes"
        in prompts.anchor(protocol.AnchorRequest(sheet=bare), both=False).text
    )
    dressed = dataclasses.replace(RUNTU, words=("青布长衫",))
    said = prompts.anchor(protocol.AnchorRequest(sheet=dressed), both=False).text
    assert "long gown" in said
    assert "1920s Chinese clothes" not in said
    said = prompts.anchor(protocol.AnchorRequest(sheet=dressed), both=True).text
    assert "青布长衫" in said
    assert "民国服饰" not in said
    assert "Victorian clothes" not in prompts.shot(ENGLISH, both=False).text


def test_an_anchor_stands_alone_on_a_plain_background():
    said = prompts.anchor(protocol.AnchorRequest(sheet=RUNTU), both=False)
    in_order(said.text, "full body", "a boy", "felt hat", "calm face", "plain", "manhua")
    assert "several people" in said.negative


def test_several_people_stand_left_to_right():
    other = dataclasses.replace(RUNTU, name="迅哥", words=("西装",), age="adult")
    pair = (protocol.Figure(sheet=RUNTU), protocol.Figure(sheet=other))
    said = prompts.shot(dataclasses.replace(SHOT, figures=pair), both=False).text
    in_order(said, "two people", "on the left a boy", "felt hat", "on the right a man", "suit")
    trio = (*pair, protocol.Figure(sheet=ALICE))
    said = prompts.shot(dataclasses.replace(SHOT, figures=trio), both=False).text
    in_order(said, "three people", "on the left", "in the middle", "on the right", "blue dress")


def test_an_insert_shows_its_thing_and_nobody():
    scene = protocol.SceneLabels(framing="insert", focus="black umbrella")
    said = prompts.shot(dataclasses.replace(SHOT, scene=scene), both=False).text
    assert said.startswith("black umbrella")
    assert "a boy" not in said
    assert "nobody in view" in said


def test_a_memory_looks_as_one():
    assert "sepia" in prompts.shot(dataclasses.replace(SHOT, memory=True), both=False).text
    assert "sepia" not in prompts.shot(SHOT, both=False).text


def test_a_repaint_says_first_what_is_to_be_seen_there():
    request = protocol.RepaintRequest(
        panel=typing.cast("protocol.Panel", None), mask=typing.cast("protocol.Mask", None),
        width=720, height=1280, seed=1, prompt="a white horse", scene=SHOT.scene,
        figures=SHOT.figures,
    )  # fmt: skip
    assert prompts.shot(request, both=False).text.startswith("a white horse")


@pytest.mark.parametrize("length", [599, 601, 5000])
@pytest.mark.parametrize("words", ["the red fox runs over the hill. ", "一只红狐狸跑过山坡。"])
@pytest.mark.parametrize("both", [False, True])
def test_what_is_longer_than_a_prompt_should_be_follows_the_style(length, words, both):
    request = dataclasses.replace(SHOT, prompt=(words * length)[:length])
    said = prompts.shot(request, both=both)
    style = "国漫" if both else "manhua"
    assert said.text.index(style) < 1500
    if both or words.isascii():
        assert len(said.text) >= length - 5
    assert not said.text.startswith(words[:4])


def test_a_long_prompt_without_any_stop_is_parted_too():
    said = prompts.shot(dataclasses.replace(ENGLISH, prompt="x" * 2000), both=False).text
    assert said.count("x" * 600) >= 1
    assert "".join(said.split()).count("x") >= 2000


def test_nothing_to_say_is_refused():
    silent = protocol.PanelRequest(kind="shot", width=64, height=64, seed=0, prompt="  \n ")
    with pytest.raises(errors.EngineError, match="without a prompt"):
        prompts.shot(silent, both=False)
    with pytest.raises(errors.EngineError, match="is known in English"):
        prompts.shot(dataclasses.replace(silent, prompt="魑魅魍魉"), both=False)
    assert (
        "魑魅魍魉" in prompts.shot(dataclasses.replace(silent, prompt="魑魅魍魉"), both=True).text
    )
    prompts.shot(dataclasses.replace(silent, scene=protocol.SceneLabels(place="sea")), both=False)


def _labels(kind):
    """What the planner may answer, from its own tables."""
    return sorted({*lexicon.labels(kind).values()} - {"none"})


@pytest.mark.parametrize(
    ("section", "kind"),
    [("place", "place"), ("time", "time"), ("weather", "weather"), ("mood", "mood"),
     ("emotion", "emotion"), ("gesture", "gesture"), ("thing", "object"), ("era", "era"),
     ("clothes", "era")],
)  # fmt: skip
def test_every_label_of_the_planner_has_words_in_both_languages(section, kind):
    found = _labels(kind)
    assert found
    for label in found:
        if (section, label) == ("weather", "clear"):
            continue
        for tongue in ("en", "zh"):
            assert wordbook.label(section, label, tongue), f"{section} {label} {tongue}"


def test_every_word_of_looks_that_the_planner_keeps_is_known_in_english():
    unknown = [word for word in lexicon.words("look") if wordbook.english(word).left]
    assert unknown == []


def test_every_thing_that_the_planner_reads_is_known_in_english():
    words = [word for label in _labels("object") for word in lexicon.words(f"object {label}")]
    known = [word for word in words if wordbook.english(word).words]
    assert known == words


def test_colours_go_before_their_things_and_nothing_is_said_twice():
    read = wordbook.english("深蓝的天空，红色的围巾，一望无际的碧绿的西瓜，天空")
    assert read.words == (
        "deep blue sky", "red scarf", "endless emerald green watermelons", "sky"
    )  # fmt: skip
    assert read.clothed
    assert wordbook.english("红的魑魅").words == ()


def test_a_part_of_another_word_is_not_read():
    assert wordbook.english("马上相信微信").words == ()
    assert wordbook.english("马上相信微信").left == ()


def test_the_tables_read_no_word_in_two_ways():
    text = (pathlib.Path(wordbook.__file__).parent / "prompt_words.txt").read_text("utf-8")
    words = text.partition("[words tone]")[2]
    listed = [
        word
        for line in words.splitlines()
        if line and line[0] not in "#["
        for word in line.partition(":")[2].split()
    ]
    assert len(listed) > 1500
    assert [word for word, count in collections.Counter(listed).items() if count > 1] == []


@pytest.mark.parametrize("both", [False, True])
def test_what_is_drawn_around_or_finer_is_the_place_and_nobody(both):
    parts = {
        "panel": typing.cast("protocol.Panel", None), "width": 720, "height": 1280, "seed": 1,
        "prompt": SHOT.prompt, "scene": SHOT.scene, "figures": SHOT.figures,
    }  # fmt: skip
    wider = prompts.around(protocol.OutpaintRequest(margin=0.2, **parts), both=both)
    finer = prompts.detail(protocol.UpscaleRequest(**parts), both=both)
    boy, sea = ("男孩", "海边") if both else ("a boy", "by the sea")
    for said in (wider, finer):
        assert sea in said.text
        assert boy not in said.text
        assert said.notes == {}


@pytest.mark.parametrize(
    ("kinds", "both"),
    [
        (("CLIPTextModel", "CLIPTextModelWithProjection"), False),
        (("CLIPTextModel", "T5EncoderModel"), False),
        (("UMT5EncoderModel",), True),
        (("Qwen3ForCausalLM",), True),
        (("Qwen2_5_VLForConditionalGeneration",), True),
        (("BertModel", "MT5EncoderModel"), True),
    ],
)
def test_a_models_text_encoders_tell_whether_it_reads_chinese(tmp_path, kinds, both):
    parts = {f"text_encoder{n or ''}": ["transformers", kind] for n, kind in enumerate(kinds)}
    index = {"_class_name": "Any", "unet": ["diffusers", "QwenLike"], **parts}
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    model = registry.Model(name="any", folder=tmp_path, family="generic")
    assert prompts.both(model) is both


def test_who_is_called_by_an_office_is_drawn_as_one():
    def said(name, *, both=False):
        sheet = dataclasses.replace(RUNTU, name=name, words=())
        return prompts.anchor(protocol.AnchorRequest(sheet=sheet), both=both).text

    assert "doctor, a boy" in said("医生")
    assert "first constable, a boy" in said("first constable")
    assert "snow" not in said("林雪")
    assert "full moon" not in said("明月")
    assert "医生，小男孩" in said("医生", both=True)
    assert "Harry" not in said("Harry")
    assert "Harry, a boy" in said("Harry", both=True)


def test_what_is_said_aloud_is_not_drawn_and_what_is_written_is():
    told = "他站在桥上说：“你来晚了。”门上写着“客栈”。"
    said = prompts.shot(dataclasses.replace(SHOT, prompt=told), both=True).text
    assert "来晚了" not in said
    assert "“客栈" in said
    english = dataclasses.replace(ENGLISH, prompt='"You are late," she said at the "Red Lion".')
    said = prompts.shot(english, both=False).text
    assert "late" not in said
    assert '"Red Lion' in said
    talk = dataclasses.replace(SHOT, prompt="“你来晚了。”")
    assert "来晚了" not in prompts.shot(talk, both=True).text
    alone = dataclasses.replace(talk, figures=(), scene=protocol.SceneLabels())
    assert "来晚了" in prompts.shot(alone, both=True).text


def test_nothing_is_said_twice_and_no_marks_stand_beside_commas():
    said = prompts.shot(SHOT, both=False).text.split(", ")
    assert len(said) == len(set(said))
    assert "full moon" not in said  # golden full moon
    text = prompts.shot(SHOT, both=True).text
    assert "，，" not in text
    assert "。，" not in text
