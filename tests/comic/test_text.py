import itertools
import os
import pathlib

import pytest

from mangen import errors
from mangen.comic import text


def titles(source):
    return [chapter.title for chapter in text.chapters(source.text)]


def test_gb18030_is_told_from_utf8(boards):
    source = text.read(boards.path(1))
    assert source.encoding == "gb18030"
    assert source.text.startswith("雨下了三天，青石镇")
    assert "\r" not in source.text


def test_a_prologue_and_four_chapters_are_found(boards):
    assert titles(text.read(boards.path(1))) == [
        "",
        "第1章 渡口",
        "第２章 茶棚",
        "【第三章】伞",
        "番外 老陈",
    ]


def test_body_lines_like_headings_stay_body(boards):
    source = text.read(boards.path(2))
    assert titles(source) == ["第一章 集结", "第二章 出发"]


@pytest.mark.parametrize(
    "line",
    [
        "第1章", "第１２章　夜雨", "第一百二十回 贾宝玉初试云雨情", "【第三章】伞", "番外一：旧事",
        "楔子", "序章", "尾声", "第三章你是谁",
        "正文 第五章 归来", "第二卷 江湖", "Chapter 1", "CHAPTER IV.",
        "Chapter Two: Storm",
        "Chapter 3 The House", "Prologue", "STAVE ONE", "  第七章  ",
    ],
)  # fmt: skip
def test_headings(line):
    assert text.heading(line)


@pytest.mark.parametrize(
    "line",
    [
        "第九部队的人最先到，站得笔直。", "第二个到的是炊事班", "1. 清点人数", "第三节课开始了",
        "第一章写完了，他合上了本子。", "序幕拉开，众人屏息。", "番外的故事还很长。", "第二天",
        "Chapter one of my life was over, he thought.", "Part of it was true.",
        "尾声渐渐低了下去。", "",
    ],
)  # fmt: skip
def test_lines_of_prose_are_no_headings(line):
    assert text.heading(line) is None


def test_chapters_tile_the_text(boards):
    source = text.read(boards.path(1))
    found = text.chapters(source.text)
    assert found[0].start == 0
    assert found[-1].end == len(source.text)
    assert all(a.end == b.start for a, b in itertools.pairwise(found))
    assert all(c.start <= c.body <= c.end for c in found)


def test_utf16_without_bom_is_decoded(boards):
    source = text.read(boards.path(11))
    assert source.encoding == "utf-16-le"
    assert "周屿按下了紧急呼叫" in source.text


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be"]
)
@pytest.mark.parametrize(
    "words",
    [
        "电梯停在了楼层，门却没有开。",
        "第一章 电梯\n他说：“你好 13 楼”。\n" * 30,
        "那晚，陳先生說：「這是甚麼？」\n" * 20,
    ],
)
def test_every_encoding_gives_the_same_text(encoding, words):
    source = text.decode(words.encode(encoding), "x")
    assert source.text == words
    assert source.encoding == encoding.removesuffix("-sig") or encoding == "utf-16"


def test_english_in_utf16_is_decoded():
    assert text.decode("Hello there, he said.".encode("utf-16-le"), "x").text.startswith("Hello")


def test_bom_newlines_and_controls_are_normalised():
    source = text.decode(
        "\ufeff　　楔子\r\n　　海\x00是红\u200b色的。\r第二行。\u2028三".encode(), "x"
    )
    assert source.text == "　　楔子\n　　海是红色的。\n第二行。\n三"


def test_no_sentence_is_refused(boards):
    with pytest.raises(errors.TextError, match=r"10_no_sentence.txt has nothing to say"):
        text.read(boards.path(10))


def test_undecodable_bytes_are_named(boards):
    with pytest.raises(
        errors.TextError,
        match=r"12_undecodable.txt can't be decoded.*utf-8 fails at byte 22.*gb18030",
    ):
        text.read(boards.path(12))


def test_a_cut_character_is_an_error_and_no_mojibake():
    data = ("他说这很好，我们走吧。" * 20).encode()[:-1]
    with pytest.raises(errors.TextError, match=f"utf-8 fails at byte {len(data) - 2}"):
        text.decode(data, "x")


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "is empty"),
        (b"%PDF-1.7 abc", "is a PDF"),
        (b"PK\x03\x04rest", "DOCX or EPUB"),
        (b"\x89PNG\r\n\x1a\n\x00", "PNG"),
        (b"\x00" * 100, "binary"),
        (b"abc\x01\x02\x03\x04\x05 def", "binary"),
    ],
)
def test_what_is_no_text_is_refused(data, match):
    with pytest.raises(errors.TextError, match=match):
        text.decode(data, "x")


def test_random_bytes_are_refused():
    with pytest.raises(errors.TextError, match="can't be decoded"):
        text.decode(os.urandom(4000), "x")


def test_missing_folder_and_large_are_refused(tmp_path):
    with pytest.raises(errors.TextError, match=r"nowhere.txt does not exist"):
        text.read(tmp_path / "nowhere.txt")
    with pytest.raises(errors.TextError, match="is a folder"):
        text.read(tmp_path)
    large = tmp_path / "large.txt"
    large.write_text("他说。" * 100)
    with pytest.raises(errors.TextError, match="too large"):
        text.read(large, max_bytes=100)


@pytest.mark.timeout(60)  # a quadratic way takes many minutes here
def test_many_megabytes_are_read():
    words = "他站在门口，没有说话。\n" * 500_000
    source = text.decode(words.encode("gb18030"), "x")
    assert source.text == words
    assert len(text.chapters(words)) == 1


def test_what_has_no_end_is_no_text():
    with pytest.raises(errors.TextError, match="no plain file"):
        text.read(pathlib.Path("/dev/zero"))
