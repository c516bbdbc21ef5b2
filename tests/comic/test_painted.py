"""What is wanted of shots that models draw: the chain of a panel, anchors, keys. Pure."""

from __future__ import annotations

import dataclasses

import pytest

from mangen import errors
from mangen.comic import graph, look, model, panels
from mangen.engines import protocol
from tests.comic import drawers

TEXT = "叶辰走进院子，看了看灰白的天色。\n“你来了。”林若雪说。\n叶辰没有回答，只是看着林若雪。"
SKETCH, PAINTER = drawers.Sketch(), drawers.Painter()
FINAL = look.Look(sketch=SKETCH, painter=PAINTER, quality="final", width=360, height=640)
DRAFT = dataclasses.replace(FINAL, quality="animatic")
MASK = model.Repaint(mask="1/mask-0.png", prompt="a lantern")


@pytest.fixture(scope="module")
def board(boards):
    return boards.of(TEXT)[1]


def jobs_of(board, chosen):
    return {(job.stage, job.subject): job for job in graph.wanted(board, episodes=[1], look=chosen)}


def shot_of(board, **changes):
    """The board with its first drawn shot (e1/s2) changed."""
    episode = board.episodes[0]
    assert episode.shots[1].kind == "shot"
    shots = (episode.shots[0], dataclasses.replace(episode.shots[1], **changes), *episode.shots[2:])
    return dataclasses.replace(board, episodes=(dataclasses.replace(episode, shots=shots),))


def needs(job):
    return {(one.stage, one.kind) for one in job.needs if one.stage != "voice"}


def changed(old, new):
    return {name for name in {*old, *new} if name not in old or name not in new
            or old[name].key != new[name].key}  # fmt: skip


def test_a_panel_goes_through_its_chain_before_the_clip(board):
    chosen = dataclasses.replace(FINAL, upscale=True, outpaint=True)
    found = jobs_of(shot_of(board, repaint=MASK), chosen)
    hard = ("illustrate", "hard")
    assert needs(found["repaint", "e1/s2"]) == {hard, ("anchor", "soft")}
    assert needs(found["outpaint", "e1/s2"]) == {hard, ("repaint", "soft")}
    assert needs(found["upscale", "e1/s2"]) == {hard, ("repaint", "soft"), ("outpaint", "soft")}
    soft = {(link, "soft") for link in panels.LINKS}
    assert needs(found["encode", "e1/s2"]) == {hard, *soft}
    assert needs(found["animate", "e1/s2"]) == {hard, *soft, ("encode", "hard")}
    assembled = {(one.stage, one.subject) for one in found["assemble", "e1"].needs}
    assert {(link, "e1/s2") for link in panels.LINKS} <= assembled
    queues = {stage: job.queue for (stage, _), job in found.items()}
    assert queues == {
        "anchor": "gpu.high", "illustrate": "gpu.mid", "repaint": "gpu.mid", "outpaint": "gpu.low",
        "upscale": "gpu.low", "encode": "gpu.low", "voice": "cpu", "assemble": "cpu",
        "animate": "cpu",  # the last card's
    }  # fmt: skip
    assert found["animate", "e1/s2"].queue == "gpu.mid"


def test_a_job_of_models_has_a_peak_for_each_size_of_batch_and_its_mark(board):
    found = jobs_of(board, FINAL)
    panel = found["illustrate", "e1/s2"]
    assert (panel.cap, len(panel.peaks), panel.params["quality"]) == (4, 4, "final")
    assert panel.bucket == "diffusion/picture/final/360x640"
    assert panel.model == "illustrate-v1"
    clip = found["animate", "e1/s2"].params
    assert (clip["quality"], clip["scene"]["place"]) == ("final", "courtyard")
    assert [one["sheet"]["name"] for one in clip["figures"]] == ["叶辰"]


def test_an_anchor_has_the_size_of_panels_where_a_model_draws_it(board):
    sizes = [
        {(job.params["width"], job.params["height"]) for (stage, _), job in found.items()
         if stage == "anchor"}
        for found in (jobs_of(board, FINAL), jobs_of(board, DRAFT))
    ]  # fmt: skip
    assert sizes == [{(360, 640)}, {panels.ANCHOR_SIZE}]


def test_cards_and_camera_moves_are_drawn_by_rule(board):
    found = jobs_of(board, FINAL)
    card = found["illustrate", "e1/s1"]
    assert card.bucket.startswith("animatic/")
    assert "quality" not in card.params
    assert found["animate", "e1/s1"].bucket.startswith("animatic/")
    moved = jobs_of(board, dataclasses.replace(FINAL, painter=PAINTER.without("animate", "encode")))
    clip = moved["animate", "e1/s2"]
    assert (clip.queue, clip.bucket) == ("cpu", "animatic/animate/360x640")
    assert moved["illustrate", "e1/s2"].bucket.startswith("diffusion/")
    assert not [stage for stage, _ in moved if stage == "encode"]


def test_encoding_goes_to_the_queue_of_the_setting(board):
    found = jobs_of(board, dataclasses.replace(FINAL, encode_queue="cpu"))
    assert found["encode", "e1/s2"].queue == "cpu"


def test_another_model_makes_only_its_own_stage_and_what_follows_anew(board):
    old = jobs_of(board, FINAL)
    for stage, stages in (
        ("animate", {"animate", "assemble"}),
        ("encode", {"encode", "animate", "assemble"}),
        ("illustrate", {"illustrate", "encode", "animate", "assemble"}),
        ("anchor", {"anchor", "illustrate", "encode", "animate", "assemble"}),
        ("upscale", set()),
    ):
        other = dataclasses.replace(FINAL, painter=PAINTER.but(**{stage: "v2"}))
        new = jobs_of(board, other)
        assert {name[0] for name in changed(old, new)} == stages


def test_upscaling_is_a_link_more_and_leaves_the_panels(board):
    old, new = jobs_of(board, FINAL), jobs_of(board, dataclasses.replace(FINAL, upscale=True))
    stages = {name[0] for name in changed(old, new)}
    assert stages == {"upscale", "encode", "animate", "assemble"}
    assert new["upscale", "e1/s2"].params["width"] == 450


def test_a_shot_of_another_quality_changes_alone(board):
    old, new = jobs_of(board, DRAFT), jobs_of(shot_of(board, quality="final"), DRAFT)
    assert changed(old, new) == {
        ("anchor", "c/叶辰@diffusion"), ("illustrate", "e1/s2"), ("encode", "e1/s2"),
        ("animate", "e1/s2"), ("assemble", "e1"),
    }  # fmt: skip
    was, now = old["illustrate", "e1/s2"], new["illustrate", "e1/s2"]
    assert was.params["seed"] == now.params["seed"]
    assert [one.subject for one in now.needs] == ["c/叶辰@diffusion"]
    assert graph.anchored(shot_of(board, quality="final"), [1], DRAFT) == {
        "c/叶辰", "c/叶辰@diffusion", "c/林若雪",
    }  # fmt: skip


def test_who_is_only_in_shots_of_models_has_no_other_anchor(board):
    shots = tuple(
        dataclasses.replace(shot, quality="final") if shot.kind == "shot" else shot
        for shot in board.episodes[0].shots
    )
    episode = dataclasses.replace(board.episodes[0], shots=shots)
    found = jobs_of(dataclasses.replace(board, episodes=(episode,)), DRAFT)
    anchors = {subject for stage, subject in found if stage == "anchor"}
    assert anchors == {"c/叶辰@diffusion", "c/林若雪@diffusion"}


def test_previews_and_finals_share_their_anchors(board):
    preview = jobs_of(board, dataclasses.replace(FINAL, quality="preview"))
    final = jobs_of(board, FINAL)
    assert {name[0] for name in changed(preview, final)} == {
        "illustrate", "encode", "animate", "assemble",
    }  # fmt: skip
    assert (
        preview["illustrate", "e1/s2"].params["seed"] == final["illustrate", "e1/s2"].params["seed"]
    )
    own = dataclasses.replace(
        FINAL, quality="preview", painter=PAINTER.but(**{"illustrate:preview": "turbo"})
    )
    assert jobs_of(board, own)["illustrate", "e1/s2"].model == "illustrate:preview-turbo"


def test_an_engine_without_anchors_draws_from_words(board):
    found = jobs_of(board, dataclasses.replace(FINAL, painter=PAINTER.without("anchor")))
    assert not [stage for stage, _ in found if stage == "anchor"]
    assert not [n for n in found["illustrate", "e1/s2"].needs if n.stage == "anchor"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (dataclasses.replace(FINAL, painter=None), "models add NAME FOLDER --role image"),
        (dataclasses.replace(FINAL, painter=PAINTER.without("illustrate")), "--role image"),
        (dataclasses.replace(FINAL, upscale=True, painter=PAINTER.without("upscale")),
         "diffusion has no model to upscale .* --role upscale"),
        (dataclasses.replace(FINAL, outpaint=True, painter=PAINTER.without("outpaint")),
         "diffusion has no model to outpaint .* --role inpaint"),
        (dataclasses.replace(DRAFT, upscale=True), "animatic can't upscale"),
    ],
)  # fmt: skip
def test_a_project_that_no_model_can_draw_is_refused(board, chosen, said):
    with pytest.raises(errors.UsageError, match=said):
        chosen.check(board)


@pytest.mark.parametrize(
    ("change", "chosen", "said"),
    [
        ({"quality": "final"}, dataclasses.replace(DRAFT, painter=None), "e1/s2: .*models add"),
        ({"prompt": " ", "characters": (), "scene": protocol.SceneLabels()}, FINAL,
         "e1/s2 has no prompt"),
        ({"repaint": MASK}, DRAFT, "e1/s2: animatic can't repaint.*upgrade"),
        ({"repaint": MASK}, dataclasses.replace(FINAL, painter=PAINTER.without("repaint")),
         "e1/s2: diffusion has no model to repaint"),
    ],
)  # fmt: skip
def test_a_shot_that_no_model_can_draw_is_named(board, change, chosen, said):
    chosen.check(board)
    with pytest.raises(errors.UsageError, match=said):
        chosen.check(shot_of(board, **change))


class Small(drawers.Painter):
    def bucket(self, request):
        if request.width > 300:
            raise errors.EngineError("the nearest size it can make is 300x600")
        return super().bucket(request)


def test_a_size_that_a_model_can_not_make_is_refused_before_anything_is_planned(board):
    small = dataclasses.replace(DRAFT, painter=Small())
    small.check(board)
    for chosen, asked in (
        (dataclasses.replace(small, quality="preview"), None),
        (small, shot_of(board, quality="final")),
    ):
        with pytest.raises(errors.UsageError, match=r"300x600; give .* another --width"):
            chosen.check(asked)


def test_a_card_has_no_quality(board):
    episode = board.episodes[0]
    shots = (dataclasses.replace(episode.shots[0], quality="final"), *episode.shots[1:])
    other = dataclasses.replace(board, episodes=(dataclasses.replace(episode, shots=shots),))
    with pytest.raises(errors.UsageError, match="e1/s1 is a title card"):
        FINAL.check(other)
    assert jobs_of(other, FINAL)["illustrate", "e1/s1"].bucket.startswith("animatic/")


def test_a_repaint_may_have_a_seed_of_its_own(board):
    one = jobs_of(shot_of(board, repaint=MASK), FINAL)["repaint", "e1/s2"]
    other = dataclasses.replace(MASK, seed=5)
    again = jobs_of(shot_of(board, repaint=other), FINAL)["repaint", "e1/s2"]
    assert one.params["seed"] == board.episodes[0].shots[1].seed
    assert again.params["seed"] == 5
    assert one.key != again.key


def test_what_an_animatic_is_made_of_keeps_its_keys(boards):
    """Of work that was done by earlier versions: a new one must not do it all again."""
    board = boards.of("叶辰走进院子，看了看灰白的天色。\n“你来了。”林若雪说。")[1]
    found = jobs_of(board, dataclasses.replace(DRAFT, width=360, height=640))
    assert {name: job.key for name, job in found.items()} == KEPT


KEPT = {
    ("anchor", "c/叶辰"): "d9f8c42b8ccaa7b61cc2a673e2a492af",
    ("anchor", "c/林若雪"): "c31e42631586479cbf6c92d0eb4203d3",
    ("illustrate", "e1/s1"): "9c42ba8e39ca17ab8ef7c8c5762b1055",
    ("animate", "e1/s1"): "b15b3858455406ebc0d7a88ffeea1711",
    ("voice", "e1/s2/l1"): "352625e70205de315b52ec17b517443f",
    ("illustrate", "e1/s2"): "882f34574e283391c8ee754861c0cf1d",
    ("animate", "e1/s2"): "b1b9f171684f79d6ce0cdb6765310b25",
    ("voice", "e1/s3/l1"): "1a21808de34793136768b223014e2efa",
    ("voice", "e1/s3/l2"): "34ec9c89c9e2cb5b067219f4ebd48e92",
    ("illustrate", "e1/s3"): "760622ea3a397ec31bea2043afc505ea",
    ("animate", "e1/s3"): "eda1f62ec4d77a919e16a80955d9b6bf",
    ("illustrate", "e1/s4"): "8da620c904556a6e2c50bb6ba1a28b06",
    ("animate", "e1/s4"): "045464b91c93236253d36b5ff7e6b9de",
    ("assemble", "e1"): "b5baf5fad3e59d8709e9e3e3ab62ae49",
}
