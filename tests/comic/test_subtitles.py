from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mangen.comic import subtitles

LETTERS = (
    "我冒了严寒回到相隔二千余里别的故乡去OKdealLeoPDF0123456789，。！？：、…”’》）“‘《（ .,-'%¥"
)


def cues_of(*texts, frames=96):
    return subtitles.cues(
        subtitles.TimedLine(start_frame=i * frames, frames=frames, text=text)
        for i, text in enumerate(texts)
    )


def rows_of(text, frames=96):
    return [cue.rows for cue in cues_of(text, frames=frames)]


def squeezed(text):
    return re.sub(r"\s", "", text)


def test_a_short_line_is_one_cue_of_one_row_for_all_its_frames():
    assert cues_of("他推开门。") == [
        subtitles.Cue(start_frame=0, end_frame=96, rows=("他推开门。",))
    ]


def test_a_long_line_is_cut_where_one_breathes():
    assert rows_of("我冒了严寒，回到相隔二千余里，别了二十余年的故乡去。") == [
        ("我冒了严寒，",),
        ("回到相隔二千余里，", "别了二十余年的故乡去。"),
    ]


def test_cues_share_a_line_by_what_is_spoken():
    first, second = cues_of("我冒了严寒，回到相隔二千余里，别了二十余年的故乡去。")
    assert (first.start_frame, second.end_frame) == (0, 96)
    assert first.end_frame == second.start_frame == 1 + round(94 * 5 / 23)


def test_numbers_stay_whole():
    assert rows_of("黄金涨到了1476.94美元，他却只剩3.5%的本金。") == [
        ("黄金涨到了1476.94美元，", "他却只剩3.5%的本金。")
    ]
    assert rows_of("2026年11月29日，早上8:05，列车以350km/h的速度离站。") == [
        ("2026年11月29日，",),
        ("早上8:05，列车以", "350km/h的速度离站。"),
    ]
    rows = [
        row for cue in rows_of("他数了数，口袋里有¥12.50，和一张第100号的借条。") for row in cue
    ]
    assert any("¥12.50，" in row for row in rows)


def test_two_languages_share_a_cue():
    assert rows_of("She hung up. 窗外的霓虹写着 SALE 50% OFF。") == [
        ("She hung up. 窗外的", "霓虹写着 SALE 50% OFF。")
    ]
    assert rows_of("It was the best of times, it was the worst of times.") == [
        ("It was the best of times,", "it was the worst of times.")
    ]


@pytest.mark.parametrize("line", ["---", "……", '"......"', "***", "😱😱😱", "_ _ _", "！！！"])
def test_a_line_of_symbols_is_shown_for_its_time(line):
    (cue,) = cues_of(line, frames=8)
    assert (cue.start_frame, cue.end_frame, "".join(cue.rows)) == (0, 8, line)


def test_nothing_to_see_or_no_time_makes_no_cue():
    assert cues_of("", "  ", "\ufeff\u200b", "\n") == []
    assert cues_of("他推开门。", frames=0) == []


def test_no_mark_and_no_indent_of_the_file_is_in_a_cue():
    assert rows_of("\ufeff\u3000\u3000楔子\r\n\u3000夜里") == [("楔子 夜里",)]


def test_few_frames_join_cues_rather_than_lose_words():
    text = "我冒了严寒，回到相隔二千余里，别了二十余年的故乡去。"
    (cue,) = cues_of(text, frames=1)
    assert (cue.start_frame, cue.end_frame, "".join(cue.rows)) == (0, 1, text)


def test_a_lying_frame_has_longer_rows():
    line = subtitles.TimedLine(start_frame=0, frames=48, text="我冒了严寒，回到相隔二千余里，")
    assert len(subtitles.cues([line], width=1920, height=1080)[0].rows) == 1
    assert len(subtitles.cues([line], width=1080, height=1920)[0].rows) == 2


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=LETTERS, max_size=120))
def test_rows_are_short_whole_and_in_order_whatever_the_text(text):
    assume(not re.search(r"[^\w\s]{5}|\S[-.,'\w]{20}", text))  # what may be cut after all
    made = cues_of(text, frames=400)
    assert squeezed("".join(row for cue in made for row in cue.rows)) == squeezed(text)
    edge = 0
    for cue in made:
        assert cue.start_frame == edge < cue.end_frame
        edge = cue.end_frame
        assert 1 <= len(cue.rows) <= 2
        for row in cue.rows:
            assert row == row.strip() != ""
            assert subtitles.width_of(row) <= 12 or not re.search(r"\w.+[一-鿿]", row), row
    assert edge == (400 if made else 0)
    rows = [row for cue in made for row in cue.rows]
    assert not any(row[0] in "，。！？：、…”’》）" for row in rows[1:])
    assert not any(row[-1] in "“‘《（" for row in rows[:-1])
    for word in re.findall(r"[A-Za-z]+|\d+(?:\.\d+)?", text):
        assert any(word in row for row in rows), word


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(alphabet=LETTERS, max_size=60), st.integers(0, 12)), max_size=6))
def test_no_cue_is_empty_or_overlaps_however_little_time_there_is(lines):
    timed, at = [], 0
    for text, frames in lines:
        timed.append(subtitles.TimedLine(start_frame=at, frames=frames, text=text))
        at += frames
    edge = 0
    for cue in subtitles.cues(timed):
        assert edge <= cue.start_frame < cue.end_frame <= at
        edge = cue.end_frame


def test_an_address_or_a_hundred_marks_are_cut_after_all():
    for text in ("！" * 100, "A" * 100, "https://example.org/" + "a/" * 60):
        rows = [row for cue in rows_of(text, frames=400) for row in cue]
        assert all(subtitles.width_of(row) <= 24 for row in rows)
        assert "".join(rows) == text


def test_a_very_long_sentence_is_read_through():
    text = (
        "她沿着石板路、旧巷子、"
        + "长满青苔的台阶、挂着红灯笼的屋檐、卖糖人的小摊、" * 40
        + "走去。"
    )
    made = cues_of(text, frames=4000)
    assert "".join(row for cue in made for row in cue.rows) == text
    assert all(len(row) <= 12 for cue in made for row in cue.rows)


def test_srt_has_times_in_milliseconds_and_no_arrow_in_its_text():
    made = [subtitles.Cue(start_frame=25, end_frame=86_401, rows=("a --> b", "好"))]
    assert subtitles.to_srt(made, 24) == ("1\n00:00:01,041 --> 01:00:00,041\na -> b\n好\n")


def test_ass_says_what_it_was_given_and_no_command():
    made = [subtitles.Cue(start_frame=0, end_frame=24, rows=("{\\b1}好\\N", "坏"))]
    text = subtitles.to_ass(made, 24, 720, 1280)
    event = text.splitlines()[-1]
    assert event.startswith("Dialogue: 0,0:00:00.00,0:00:01.00,Line,,0,0,0,,{\\pos(360,1046)}")
    assert event.endswith("｛＼b1｝好＼N\\N坏")
    assert "PlayResX: 720\nPlayResY: 1280" in text
    assert text.count("{") == 1
