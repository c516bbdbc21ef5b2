from mangen.comic import timing
from mangen.engines import length


def line(text, *, spoken=True):
    return {"text": text, "spoken": spoken}


def test_lines_follow_each_other_and_the_shot_breathes():
    times, frames = timing.shot_timing([line("你好。"), line("再见。")], [48_000, 4_001])
    assert [(t.start_frame, t.frames) for t in times] == [(0, 24), (24, 3)]
    assert frames == 27 + timing.BREATH_FRAMES


def test_a_line_without_sound_lasts_as_estimated():
    times, _ = timing.shot_timing([line("他站在门口没有说话。")], [None])
    assert times[0].frames == length.estimated_frames("他站在门口没有说话。")


def test_a_line_that_is_only_shown_can_be_seen():
    times, frames = timing.shot_timing([line("……", spoken=False)], [None])
    assert times[0].frames == timing.SHOWN_FRAMES
    assert frames == timing.SHOWN_FRAMES + timing.BREATH_FRAMES


def test_a_card_stands_as_long_as_it_says():
    assert timing.shot_timing([], [], card_seconds=2.0) == ((), 48)


def test_nothing_lasts_no_frame():
    assert timing.shot_timing([line("好")], [0])[0][0].frames == 1
