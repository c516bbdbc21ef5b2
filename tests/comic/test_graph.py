import dataclasses
import json

import numpy as np
import pytest

from mangen.comic import graph, look, requests, timing
from mangen.engines import protocol
from tests.comic import drawers

TEXT = (
    "叶辰走进院子，看了看灰白的天色。\n“你来了。”林若雪说。\n他没有回答，只是把那把旧伞放在门边。\n"
    "“你到底想怎么样？”林若雪问。\n……\n夜色一点一点落下来，谁也没有再开口。"
)


LOOK = look.Look(sketch=drawers.Sketch(), width=360, height=640)


@pytest.fixture
def board(boards):
    return boards.of(TEXT)[1]


def by_subject(found):
    return {(job.stage, job.subject): job for job in found}


def keys(found, board):
    """Key of each job by stage and the identity of its shot, free of numbers."""
    names = {f"e{e.no}/s{s.no}": s.identity for e in board.episodes for s in e.shots}
    return {
        (job.stage, names.get("/".join(job.subject.split("/")[:2]), job.subject), job.subject[-3:])
        if job.stage == "voice"
        else (job.stage, names.get(job.subject, job.subject)): job.key
        for job in found
    }


def test_every_stage_is_wanted(board):
    found = graph.wanted(board, episodes=[1], look=LOOK)
    shots = board.episodes[0].shots
    spoken = [line for shot in shots for line in shot.lines if line.spoken]
    stages = [job.stage for job in found]
    assert stages.count("anchor") == len({n for s in shots for n in s.characters}) == 2
    assert stages.count("voice") == len(spoken)
    assert stages.count("illustrate") == stages.count("animate") == len(shots)
    assert stages.count("assemble") == 1
    assert len(by_subject(found)) == len(found)


def test_queues_and_classes(board):
    found = graph.wanted(board, episodes=[1], look=LOOK)
    assert {job.stage: (job.queue, job.klass) for job in found} == {
        "anchor": ("gpu.high", 0),
        "voice": ("cpu", 1),
        "illustrate": ("gpu.mid", 1),
        "animate": ("cpu", 1),
        "assemble": ("cpu", 0),
    }


def test_every_need_is_a_wanted_job_and_only_panels_are_hard(board):
    found = graph.wanted(board, episodes=[1], look=LOOK)
    known = by_subject(found)
    for job in found:
        for need in job.needs:
            assert (need.stage, need.subject) in known
            assert (need.kind == "hard") == (job.stage == "animate" and need.stage == "illustrate")
    assemble = known["assemble", "e1"]
    others = {(j.stage, j.subject) for j in found if j.stage in {"voice", "illustrate", "animate"}}
    assert {(n.stage, n.subject) for n in assemble.needs} == others
    panel = next(j for j in found if j.stage == "illustrate" and j.params["figures"])
    names = [f["sheet"]["name"] for f in panel.params["figures"]]
    assert [n.subject for n in panel.needs] == [f"c/{name}" for name in names]


def test_a_line_that_is_only_shown_asks_for_no_voice(board, boards):
    shown = [line for line in boards.lines(board) if not line.spoken]
    assert [line.text for line in shown] == ["……"]
    found = graph.wanted(board, episodes=[1], look=LOOK)
    assert "……" not in [job.params["text"] for job in found if job.stage == "voice"]
    clips = [li for job in found if job.stage == "animate" for li in job.params["lines"]]
    assert [li["spoken"] for li in clips if li["text"] == "……"] == [False]


def test_params_are_json_and_enough_to_build_the_requests(board, boards):
    said = {line.text for line in boards.lines(board) if line.quoted}
    for job in graph.wanted(board, episodes=[1], look=LOOK):
        params = json.loads(json.dumps(job.params))
        assert params == job.params
        if job.stage == "anchor":
            request = requests.anchor_request(params)
            assert f"c/{request.sheet.name}" == job.subject
        elif job.stage == "illustrate":
            request = requests.panel_request(
                params, {"叶辰": requests.Likeness(features={"hair": "long"})}
            )
            assert (request.width, request.height) == (360, 640)
            assert request.kind == "shot" or request.title
            for figure in request.figures:
                expected = {"hair": "long"} if figure.sheet.name == "叶辰" else {}
                assert figure.features == expected
        elif job.stage == "animate":
            lines = params["lines"]
            _, frames = timing.shot_timing(
                lines, [None] * len(lines), card_seconds=params["card_seconds"]
            )
            panel = protocol.Panel(image=np.zeros((8, 8, 3), np.uint8))
            assert requests.clip_request(params, panel, frames).frames == frames > 20
        elif job.stage == "voice":
            speech, voice = requests.speech(params)
            assert speech.text == params["text"]
            assert voice.speed == params["speed"]
            assert (voice.name == LOOK.voice) == (speech.text not in said)
        assert job.key == job.key.lower()
        assert len(job.key) == 32
        assert job.peaks[0] > 0
        assert job.seconds_est > 0


def test_cards_have_words_and_two_seconds(board):
    found = by_subject(graph.wanted(board, episodes=[1], look=LOOK))
    title = found["illustrate", "e1/s1"].params
    assert (title["kind"], title["title"]) == ("title", "题目")
    assert found["animate", "e1/s1"].params["card_seconds"] == 2.0
    end = found["illustrate", f"e1/s{len(board.episodes[0].shots)}"].params
    assert (end["kind"], end["title"], end["subtitle"]) == ("end", "完", "题目")


def test_the_assembler_gets_the_whole_episode(board):
    params = by_subject(graph.wanted(board, episodes=[1], look=LOOK))["assemble", "e1"].params
    assert params["episode"] == 1
    assert [s["kind"] for s in params["shots"]] == [s.kind for s in board.episodes[0].shots]
    lines = [li for s in params["shots"] for li in s["lines"]]
    assert {"no", "text", "speaker", "quoted", "spoken", "lettered", "subject"} == set(lines[0])
    assert [li["text"] for li in lines] == [
        li.text for s in board.episodes[0].shots for li in s.lines
    ]


def test_wanted_is_a_pure_function(board):
    one = graph.wanted(board, episodes=[1], look=LOOK)
    assert one == graph.wanted(board, episodes={1}, look=LOOK)
    assert graph.wanted(board, episodes=[], look=LOOK) == []
    assert graph.wanted(board, episodes=[99], look=LOOK) == []


def test_an_inserted_paragraph_keeps_the_keys_of_all_other_work(boards):
    rows = TEXT.split("\n")
    new = "挂钟在墙上走着，一声一声，像是有人在很远的地方敲门。"
    before = boards.of(TEXT)[1]
    after = boards.of("\n".join([*rows[:3], new, *rows[3:]]))[1]
    old = keys(graph.wanted(before, episodes=[1], look=LOOK), before)
    now = keys(graph.wanted(after, episodes=[1], look=LOOK), after)
    changed = {name for name, key in old.items() if now.get(name) != key}
    assert {name[0] for name in changed} == {"assemble"}


def test_a_retake_changes_its_own_keys_and_the_episode(board):
    shots = list(board.episodes[0].shots)
    shots[2] = dataclasses.replace(shots[2], take=2)
    episode = dataclasses.replace(board.episodes[0], shots=tuple(shots))
    again = dataclasses.replace(board, episodes=(episode,))
    old = by_subject(graph.wanted(board, episodes=[1], look=LOOK))
    new = by_subject(graph.wanted(again, episodes=[1], look=LOOK))
    changed = {name for name in old if old[name].key != new[name].key}
    assert changed == {("illustrate", "e1/s3"), ("animate", "e1/s3"), ("assemble", "e1")}
    panel = new["illustrate", "e1/s3"].params
    assert panel["seed"] != old["illustrate", "e1/s3"].params["seed"]


def test_what_is_upstream_changes_what_follows(board):
    old = by_subject(graph.wanted(board, episodes=[1], look=LOOK))
    slow = dataclasses.replace(LOOK, speed=0.9)
    new = by_subject(graph.wanted(board, episodes=[1], look=slow))
    changed = {name[0] for name in old if old[name].key != new[name].key}
    assert changed == {"voice", "animate", "assemble"}
    unchanged_cards = {("animate", "e1/s1"), ("illustrate", "e1/s1")}
    assert all(old[name].key == new[name].key for name in unchanged_cards)
    people = tuple(dataclasses.replace(c, age="elder") for c in board.characters)
    aged = by_subject(
        graph.wanted(dataclasses.replace(board, characters=people), episodes=[1], look=LOOK)
    )
    assert all(aged[n].key != old[n].key for n in old if n[0] == "anchor")
    for name, job in old.items():
        if name[0] == "illustrate":
            assert (aged[name].key != job.key) == bool(job.params["figures"])


def test_the_same_words_in_two_shots_share_a_key_only_for_their_voice(boards):
    _, board = boards.of("他站在门口，一句话也没有说，只是望着远处。\n" * 2)
    found = graph.wanted(board, episodes=[1], look=LOOK)
    voices = [job for job in found if job.stage == "voice"]
    panels = [job for job in found if job.stage == "illustrate"]
    assert len({job.key for job in voices}) == 1
    assert len({job.key for job in panels}) == len(panels)
