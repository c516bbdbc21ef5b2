"""From a text to a finished video, undisturbed: what comes out, and in which order."""

from __future__ import annotations

import itertools
import json
import pathlib

import av
from PIL import Image

import mangen
from mangen import api
from mangen.comic import model


def video_of(deployment):
    (episode,) = deployment.status["episodes"]
    return pathlib.Path(episode["video"])


def test_a_text_becomes_one_whole_video(undisturbed):
    assert undisturbed.status["state"] == "done"
    assert undisturbed.status["failures"] == []
    with av.open(str(video_of(undisturbed))) as file:
        video, audio = file.streams.video[0], file.streams.audio[0]
        assert (video.width, video.height) == (180, 320)
        assert video.average_rate == 24
        assert audio.rate == 48_000
        frames = sum(1 for _ in file.decode(video=0))
    with av.open(str(video_of(undisturbed))) as file:
        samples = sum(frame.samples for frame in file.decode(audio=0))
    assert abs(samples - frames * 2_000) <= 2_000


def test_every_character_of_the_source_is_spoken_shown_or_listed(undisturbed):
    (row,) = undisturbed.query("select text from sources where project = :p", p=undisturbed.number)
    board = json.loads(undisturbed.storyboard(undisturbed.number))
    board = model.Storyboard.from_json(board)
    spans = sorted(
        [line.span for e in board.episodes for s in e.shots for line in s.lines]
        + [piece.span for piece in board.left_out]
    )
    covered = "".join(row.text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(row.text.split())
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_no_shot_is_claimed_before_its_anchors_are_settled(undisturbed):
    early = undisturbed.query(
        """select s.id from jobs s
           join job_dependencies d on d.job = s.id join jobs a on a.id = d.needs
           where s.stage = 'illustrate' and a.stage = 'anchor' and s.running_at < a.settled_at"""
    )
    shots = undisturbed.query("select id from jobs where stage = 'illustrate' and state = 'done'")
    anchors = undisturbed.query("select id from jobs where stage = 'anchor' and state = 'done'")
    assert early == []
    assert shots
    assert anchors


def test_the_invariants_hold(undisturbed):
    assert undisturbed.violations() == []


def test_submitting_again_makes_no_second_set_of_jobs(undisturbed):
    before = undisturbed.query("select count(*) from jobs")
    again = api.submit_novel(undisturbed.number)
    assert (again["new_jobs"], again["retried"], again["already"]) == (0, 0, True)
    assert undisturbed.query("select count(*) from jobs") == before


def test_the_export_carries_the_title_and_all_files(undisturbed, tmp_path):
    (made,) = api.export_project(undisturbed.number, tmp_path / "out 视频")
    names = sorted(pathlib.Path(name).name for name in made["files"])
    assert names == ["雨夜.ass", "雨夜.cover.png", "雨夜.mp4", "雨夜.srt", "雨夜.storyboard.json"]
    assert (
        api.export_project(undisturbed.number, tmp_path / "out 视频")[0]["files"] == made["files"]
    )


def test_the_moov_atom_comes_first(undisturbed):
    head = video_of(undisturbed).read_bytes()
    assert 0 < head.index(b"moov") < head.index(b"mdat")


def test_a_clip_of_a_picture_is_made_by_a_worker(undisturbed):
    picture, out = undisturbed.home / "picture.png", undisturbed.home / "clips" / "a.mp4"
    Image.new("RGB", (128, 96), "teal").save(picture)
    job = mangen.request_clip(picture, motion="pan_left", seconds=0.5)
    undisturbed.start_worker()
    assert mangen.wait_clip(job, out, timeout_s=60) == out
    with av.open(str(out)) as file:
        assert sum(1 for _ in file.decode(video=0)) == 12
    assert mangen.request_clip(picture, motion="pan_left", seconds=0.5) == job
