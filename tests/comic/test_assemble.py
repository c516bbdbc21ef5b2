"""Real encodes at small sizes, decoded back."""

from __future__ import annotations

import dataclasses
import fractions
import hashlib
import itertools
import resource

import av
import cv2
import numpy as np
import pytest

from mangen import errors
from mangen.comic import assemble, soundtrack, subtitles

WIDTH, HEIGHT = 96, 160
SIZE = {"width": WIDTH, "height": HEIGHT}


def write_clip(path, lumas, size=(WIDTH, HEIGHT), fmt="yuv420p"):
    """Write a clip whose frame i is a texture around luma `lumas[i]`."""
    width, height = size
    texture = np.random.default_rng(7).integers(-9, 10, (height // 16, width // 16))
    texture = cv2.resize(texture.astype(np.int16), size, interpolation=cv2.INTER_NEAREST)
    with av.open(f"file:{path}", "w", format="mp4") as box:
        stream = box.add_stream("libx264", rate=24, options={"crf": "8", "preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = width, height, fmt
        for i, luma in enumerate(lumas):
            grey = np.repeat((texture + luma).astype(np.uint8)[..., None], 3, axis=2)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
            frame.pts, frame.time_base = i, fractions.Fraction(1, 24)
            box.mux(stream.encode(frame))
        box.mux(stream.encode(None))
    return path


def panel(seed=3, width=120, height=200):
    small = np.random.default_rng(seed).integers(40, 220, (height // 20, width // 20, 3))
    grown = cv2.resize(small.astype(np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    return np.ascontiguousarray(grown)


def tone(frames, amplitude=0.2):
    wave = amplitude * np.sin(np.arange(frames * 2000) * (2 * np.pi * 440 / 48_000))
    return wave.astype(np.float32)


def made_of(parts, folder, cues=(), title="故乡", **wishes):
    steps = assemble.assemble(parts, folder, **{**SIZE, **wishes}, cues=cues, title=title)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def frames_of(path):
    with av.open(f"file:{path}") as box:
        return [frame.to_ndarray() for frame in box.decode(video=0)]


def lumas_of(path):
    return [float(frame[:HEIGHT].mean()) for frame in frames_of(path)]


def sound_of(path):
    with av.open(f"file:{path}") as box:
        return np.concatenate([frame.to_ndarray()[0] for frame in box.decode(audio=0)])


@pytest.fixture
def parts(tmp_path):
    """Three parts of uneven length: a clip, a short clip, a long one."""
    return [
        assemble.Part(
            clip=write_clip(tmp_path / f"{i}.mp4", [60 + 40 * i] * given),
            frames=frames,
            audio=tone(frames) if i else None,
        )
        for i, (given, frames) in enumerate([(31, 31), (10, 17), (50, 23)])
    ]


def test_picture_and_sound_have_exactly_their_length(parts, tmp_path):
    made = made_of(parts, tmp_path / "out")
    assert made.frames == len(frames_of(made.video)) == 71
    samples = len(sound_of(made.video))
    assert 71 * 2000 <= samples < 71 * 2000 + 1024  # AAC comes in packets of 1,024
    with av.open(str(made.video)) as box:
        durations = [stream.duration * stream.time_base for stream in box.streams]
        starts = [stream.start_time for stream in box.streams]
        assert box.metadata["title"] == "故乡"
        stream = box.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (WIDTH, HEIGHT, 24)
        assert stream.codec_context.pix_fmt == "yuv420p"
        times = [frame.pts * stream.time_base * 24 for frame in box.decode(stream)]
    assert durations == [fractions.Fraction(71, 24)] * 2
    assert starts == [0, 0]
    assert times == list(range(71))


def test_sound_starts_with_its_picture(parts, tmp_path):
    sound = sound_of(made_of(parts, tmp_path / "out").video)
    heard = np.flatnonzero(np.abs(sound) > 0.05)
    assert abs(heard[0] - 31 * 2000) < 500
    assert abs(heard[-1] - 71 * 2000) < 1100


def test_a_short_clip_is_held_and_a_long_one_cut(parts, tmp_path):
    made = made_of(parts, tmp_path / "out")
    lumas = lumas_of(made.video)
    levels = [np.mean(lumas[:31]), np.mean(lumas[31:48]), np.mean(lumas[48:])]
    assert levels[0] + 20 < levels[1] < levels[2] - 20
    for k, luma in enumerate(lumas):
        assert abs(luma - levels[0 if k < 31 else 1 if k < 48 else 2]) < 3
    assert made.replaced == ()


def test_the_same_parts_make_the_same_bytes(parts, tmp_path):
    cues = subtitles.cues([subtitles.TimedLine(start_frame=5, frames=50, text="他推开门。")])
    runs = [made_of(parts, tmp_path / name, cues) for name in ("a", "b")]
    hashes = [
        [hashlib.sha256(frame.tobytes()).hexdigest() for frame in frames_of(run.video)]
        for run in runs
    ]
    assert hashes[0] == hashes[1]
    for kind in ("video", "srt", "ass", "cover"):
        assert getattr(runs[0], kind).read_bytes() == getattr(runs[1], kind).read_bytes()


def test_a_player_can_start_before_the_file_is_whole(parts, tmp_path):
    data = made_of(parts, tmp_path / "out").video.read_bytes()
    assert 0 < data.find(b"moov") < data.find(b"mdat")


@pytest.mark.parametrize("name", ["it's 100% [a]", "故乡 😀", "a:b", "%d %s", "-x"])
def test_any_folder_name_works(parts, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    moved = write_clip(folder / "c l'i%p[1].mp4", [90] * 5)
    made = made_of(
        [assemble.Part(clip=moved, frames=9)], folder / "out", title="it's 100% a∕name — 《故乡》😀"
    )
    assert made.video.parent == folder / "out"
    assert len(frames_of(made.video)) == 9
    assert made.replaced == ()


def test_sixty_uneven_parts_end_together_and_a_silent_first_mutes_none(tmp_path):
    lengths = [1 + (i * 7) % 11 for i in range(60)]
    clip = write_clip(tmp_path / "c.mp4", [120] * 6)
    parts = [
        assemble.Part(clip=clip, frames=n, audio=None if i == 0 else tone(n)[: n * 2000 - i * 13])
        for i, n in enumerate(lengths)
    ]
    made = made_of(parts, tmp_path / "out")
    sound = sound_of(made.video)
    assert len(frames_of(made.video)) == sum(lengths)
    assert 0 <= len(sound) - sum(lengths) * 2000 < 1024
    at = 0
    for i, n in enumerate(lengths):
        piece = sound[at * 2000 : (at + n) * 2000]
        assert (np.abs(piece).max() > 0.05) == (i > 0)
        at += n


def test_loud_and_quiet_parts_come_out_near_the_target_and_never_clip(tmp_path):
    clip = write_clip(tmp_path / "c.mp4", [120] * 6)
    spiky = tone(48, 0.05)
    spiky[::5000] = 1.0
    parts = [
        assemble.Part(clip=clip, frames=48, audio=spiky),
        assemble.Part(clip=clip, frames=48, audio=tone(48, 1.0)),
    ]
    sound = sound_of(made_of(parts, tmp_path / "out").video)
    assert soundtrack.lufs(sound, 48_000) == pytest.approx(-16, abs=0.7)
    assert np.abs(sound).max() <= 10 ** (-1 / 20)


def test_a_part_without_a_clip_moves_gently_over_its_panel(parts, tmp_path):
    parts[1] = assemble.Part(clip=None, panel=panel(), frames=48, audio=tone(48))
    made = made_of(parts, tmp_path / "out")
    shown = [frame[:HEIGHT].astype(float) for frame in frames_of(made.video)[31:79]]
    steps = [np.abs(a - b).mean() for a, b in itertools.pairwise(shown)]
    assert np.abs(shown[0] - shown[-1]).mean() > 3 * np.mean(steps) > 0
    assert max(steps) < 6
    assert [(r.part, r.by) for r in made.replaced] == [(1, "a camera move on its panel")]


@pytest.mark.parametrize(
    "picture",
    [
        panel(width=641, height=481)[..., 0],
        np.dstack([panel(), np.full((200, 120), 255, np.uint8)]),
        panel(width=40, height=40),
        panel(width=2000, height=400),
        np.full((1, 1, 3), 200, np.uint8),
    ],
)
def test_any_panel_fills_the_frame(tmp_path, picture):
    made = made_of([assemble.Part(clip=None, panel=picture, frames=4)], tmp_path / "out")
    for frame in frames_of(made.video):
        assert frame[:HEIGHT].min() > 16 + 10  # no black bar


def test_panels_are_read_from_files_under_any_name(tmp_path):
    path = tmp_path / "画 100%'[1].png"
    path.write_bytes(cv2.imencode(".png", panel()[..., ::-1])[1])
    made = made_of([assemble.Part(clip=None, panel=path, frames=4)], tmp_path / "out")
    cover = cv2.imdecode(np.fromfile(made.cover, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    wanted = cv2.resize(panel(), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    assert np.abs(cover.astype(int) - wanted).mean() < 12


def test_a_part_with_neither_holds_its_neighbour(parts, tmp_path):
    parts[0] = assemble.Part(clip=None, frames=6)
    parts[2] = assemble.Part(clip=tmp_path / "missing.mp4", frames=6, audio=tone(6))
    made = made_of(parts, tmp_path / "out")
    lumas = lumas_of(made.video)
    assert len(lumas) == 29
    assert max(lumas) - min(lumas) < 4
    assert [(r.part, r.by) for r in made.replaced] == [
        (0, "a neighbour's picture"),
        (2, "the picture before it, held"),
    ]
    assert "missing.mp4" in made.replaced[1].why


@pytest.mark.parametrize("kept", [0, 40, 0.5])
def test_a_broken_clip_is_replaced_and_named(parts, tmp_path, kept):
    clip = parts[1].clip
    data = clip.read_bytes()
    clip.write_bytes(data[: kept if isinstance(kept, int) else int(len(data) * kept)])
    parts[1] = assemble.Part(clip=clip, panel=panel(), frames=17, audio=tone(17))
    made = made_of(parts, tmp_path / "out")
    assert len(frames_of(made.video)) == 71
    assert [r.part for r in made.replaced] == [1]


def test_a_clip_of_another_size_or_format_is_fitted(tmp_path):
    clip = write_clip(tmp_path / "c.mp4", [150] * 5, size=(320, 160), fmt="yuv444p")
    made = made_of([assemble.Part(clip=clip, frames=5)], tmp_path / "out")
    assert made.replaced == ()
    for frame in frames_of(made.video):
        assert frame[:HEIGHT].min() > 100


def test_a_balloon_stands_for_its_subtitle_where_its_clip_is_seen(tmp_path):
    clip = write_clip(tmp_path / "a.mp4", [100] * 24)
    parts = [
        assemble.Part(clip=clip, frames=24),
        assemble.Part(clip=None, panel=panel(), frames=24),
    ]
    said = [
        subtitles.TimedLine(start_frame=at, frames=24, text="谁？", lettered=True) for at in (0, 24)
    ]
    shown = [dataclasses.replace(line, lettered=False) for line in said]
    drawn = [
        made_of(parts, tmp_path / name, cues=subtitles.cues(lines))
        for name, lines in (("a", said), ("b", shown), ("c", []))
    ]
    lettered, burned, bare = (frames_of(one.video) for one in drawn)

    def differ(one, other):
        return np.abs(one.astype(int) - other.astype(int)).max() > 60

    assert differ(burned[12], bare[12])
    assert not differ(lettered[12], bare[12])
    assert differ(lettered[36], bare[36])
    assert drawn[0].srt.read_text("utf-8") == drawn[1].srt.read_text("utf-8") != ""
    assert drawn[0].ass.read_text("utf-8").count("谁？") == 2


def test_a_picture_melts_into_the_next_and_no_frame_is_lost(tmp_path):
    parts = [
        assemble.Part(clip=write_clip(tmp_path / "a.mp4", [60] * 24), frames=24),
        assemble.Part(clip=write_clip(tmp_path / "b.mp4", [180] * 24), frames=24, dissolve=10),
    ]
    made = made_of(parts, tmp_path / "out")
    lumas = lumas_of(made.video)
    assert len(lumas) == made.frames == 48
    steps = np.diff(lumas[23:35])
    assert (steps[:10] > 5).all()
    assert (steps < 20).all()
    assert abs(lumas[23] - lumas[5]) < 2
    assert abs(lumas[35] - lumas[45]) < 2


def test_subtitles_are_burned_in_their_frames_only(tmp_path):
    clip = write_clip(tmp_path / "c.mp4", [60] * 30)
    cues = [
        subtitles.Cue(start_frame=5, end_frame=12, rows=("他推开门，",)),
        subtitles.Cue(start_frame=12, end_frame=20, rows=("屋里空无一人。",)),
    ]
    made = made_of([assemble.Part(clip=clip, frames=30)], tmp_path / "out", cues)
    bright = [frame[120:140, :WIDTH].max() > 170 for frame in frames_of(made.video)]
    assert bright == [5 <= i < 20 for i in range(30)]
    assert made.srt.read_text("utf-8").startswith("1\n00:00:00,208 --> 00:00:00,500\n他推开门，\n")
    assert "屋里空无一人。" in made.ass.read_text("utf-8")


def test_colours_survive(tmp_path):
    rgb = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    rgb[:] = (200, 60, 40)
    made = made_of([assemble.Part(clip=None, panel=rgb, frames=3)], tmp_path / "out")
    with av.open(str(made.video)) as box:
        frame = next(box.decode(video=0))
        assert (int(frame.colorspace), int(frame.color_range)) == (6, 1)
        seen = frame.to_ndarray(format="rgb24")
    assert np.abs(seen.astype(int) - rgb).max() < 8


def test_the_cover_is_the_first_good_frame_not_the_title_card(tmp_path):
    title = write_clip(tmp_path / "t.mp4", [30] * 6)
    dark = np.full((200, 120, 3), 3, np.uint8)
    parts = [
        assemble.Part(clip=title, frames=6),
        assemble.Part(clip=None, panel=dark, frames=6, audio=tone(6)),
        assemble.Part(clip=write_clip(tmp_path / "a.mp4", [170] * 6), frames=6, audio=tone(6)),
        assemble.Part(clip=write_clip(tmp_path / "b.mp4", [110] * 6), frames=6, audio=tone(6)),
    ]
    made = made_of(parts, tmp_path / "out")
    cover = cv2.imdecode(np.fromfile(made.cover, np.uint8), cv2.IMREAD_COLOR)
    assert cover.shape == (HEIGHT, WIDTH, 3)
    assert abs(cover.mean() - 170) < 12
    (only,) = [made_of(parts[:1], tmp_path / "card").cover]
    assert cv2.imdecode(np.fromfile(only, np.uint8), cv2.IMREAD_COLOR).mean() < 60


def test_it_yields_and_tells_its_progress_between_chunks(tmp_path):
    told = []
    steps = assemble.assemble(
        [assemble.Part(clip=None, panel=panel(), frames=100)], tmp_path / "out", **SIZE, cues=(),
        title="", on_frame=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert list(steps) == [48, 96, 100]
    assert told == [(48, 100), (96, 100), (100, 100)]


def test_a_stopped_assembly_leaves_nothing_behind(tmp_path):
    steps = assemble.assemble(
        [assemble.Part(clip=None, panel=panel(), frames=200)], tmp_path / "out", **SIZE, cues=(),
        title="",
    )  # fmt: skip
    next(steps)
    assert len(list((tmp_path / "out").iterdir())) == 1
    steps.close()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path):
    noise = np.random.default_rng(1).integers(0, 255, (200, 120, 3)).astype(np.uint8)
    parts = [assemble.Part(clip=None, panel=noise, frames=96, audio=tone(96))]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, hard))
    try:
        with pytest.raises(errors.StorageFull, match="no room for the video"):
            made_of(parts, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("parts", "wishes", "says"),
    [
        ([], {}, "at least one part"),
        ([assemble.Part(clip=None, frames=5)], {}, "no part of the episode has a picture"),
        ([assemble.Part(clip=None, panel=panel(), frames=0)], {}, "part 0 has 0 frames"),
        ([assemble.Part(clip=None, panel=panel(), frames=5)], {"width": 95}, "95x160"),
        ([assemble.Part(clip=None, panel=panel(), frames=5)], {"fps": 23}, "23 frames/s"),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(tmp_path, parts, wishes, says):
    with pytest.raises(errors.EngineError, match=says):
        made_of(parts, tmp_path / "out", **wishes)
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []
