from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mangen.engines.voice import numerals, spoken

READINGS = {
    # the lines of the bad-input case about numbers
    "黄金涨到了1476.94美元，他却只剩3.5%的本金。": (
        "黄金涨到了一千四百七十六点九四美元，他却只剩百分之三点五的本金。"
    ),
    "2026年11月29日，早上8:05，列车以350km/h的速度离站。": (
        "二零二六年十一月二十九日，早上八点零五分，列车以三百五十公里每小时的速度离站。"
    ),
    "“房租2,300元，押一付三，一共9200。”房东说。": (
        "房租两千三百元，押一付三，一共九千二百。房东说。"
    ),
    "他数了数，口袋里有¥12.50，和一张第100号的借条。": (
        "他数了数，口袋里有十二元五角，和一张第一百号的借条。"
    ),
    # and what else stands in novels and promos
    "2026-11-29": "二零二六年十一月二十九日",
    "２３：５９": "二十三点五十九分",
    "8:00 AM": "上午八点",
    "2个人，第2集，2月2号，2公里": "两个人，第二集，二月二号，两公里",
    "3:2": "三比二",
    "1/3的人": "三分之一的人",
    "3-5个": "三到五个",
    "-3℃到5°C": "负三摄氏度到五摄氏度",
    "3%-5%，100%": "百分之三到百分之五，百分之百",
    "$3.50和€1,200.00": "三点五美元和一千二百欧元",
    "￥3.5万": "三点五万元",
    "¥0.05，¥12.05": "五分，十二元零五分",
    "电话13812345678": "电话幺三八幺二三四五六七八",
    "010-12345678": "零幺零幺二三四五六七八",
    "007": "零零七",
    "302室": "三零二室",
    "2000-2005年": "二零零零到二零零五年",
    "22000人，12万": "两万两千人，十二万",
    "1.2.3版": "一点二点三版",
    "3×5=15": "三乘五等于十五",
    "A4纸，5G": "A四纸，五G",
    "①②": "一，二",
    "他～～真的吗？！！！": "他真的吗？",
    "——你来了？": "你来了？",
    "《故乡》（鲁迅）": "故乡鲁迅",
    "一座〇号楼": "一座零号楼",
    "😀你好😀": "你好",
}


@pytest.mark.parametrize(("written", "said"), READINGS.items())
def test_a_line_is_said_as_a_person_reads_it(written, said):
    assert spoken.spoken(written) == said


@pytest.mark.parametrize(
    "line", ["---", "……", '"......"', "***", "😱😱😱", "_ _ _", "！！！", "", "  "]
)
def test_symbols_alone_are_not_speakable(line):
    assert not spoken.speakable(line)
    assert spoken.spoken(line) == ""


@pytest.mark.parametrize("line", ["他推开门。", "OK", "100", "¥5", "……嗯"])
def test_words_and_numbers_are_speakable(line):
    assert spoken.speakable(line)


def test_english_inside_chinese_stays_english():
    assert spoken.spoken("“Don’t sign it, 苏禾. 再想想。”") == "Don't sign it, 苏禾. 再想想。"
    assert spoken.spoken("NDA、IPO、KPI，全是") == "NDA，IPO，KPI，全是"
    assert spoken.spoken("SALE 50% OFF。") == "SALE 百分之五十 OFF。"


def test_english_numbers_are_left_to_english_phonemes():
    line = "It was $12.50, 50% off — “really?”"
    assert spoken.spoken(line, "en") == "It was $12.50, 50% off, really?"


def test_a_long_number_is_said_digit_by_digit():
    assert numerals.cardinal("1234567890123") == "一二三四五六七八九零一二三"


@settings(max_examples=300, deadline=None)
@given(
    st.text(alphabet="0123456789.,:-/%¥$年月日个第号kmhA中文，。！“”…— 😀～+*#x°C＄５", max_size=24)
)
def test_no_digit_and_no_symbol_is_left_in_any_chinese_line(text):
    said = spoken.spoken(text)
    assert not any(ch.isdigit() for ch in said), said
    assert all(ch.isalpha() or ch in " '-,.!?;:，。！？；：" for ch in said), said
    assert said == "" or said[0].isalpha()
    assert spoken.spoken(said) == said  # what is said is said the same again
