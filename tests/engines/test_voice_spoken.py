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
    "3:30和10:05:30": "三点半和十点零五分三十秒",
    "9:00-17:30开门": "九点到十七点半开门",
    "2月29日-3月5日": "二月二十九日到三月五日",
    "2024.5.1-2024.5.7": "二零二四年五月一日到二零二四年五月七日",
    "2024/3/5 14:05": "二零二四年三月五日，十四点零五分",
    "鲁迅(1881-1936)": "鲁迅一八八一到一九三六",
    "1990年代，80年代": "一九九零年代，八十年代",
    "1990s，'90s": "一九九零年代，九零年代",
    "第3章 第12节": "第三章，第十二节",
    "Ⅳ级，第Ⅱ卷": "四级，第二卷",
    "1. 打开门": "一，打开门",
    "(1)苹果": "一，苹果",
    "高三(2)班": "高三二班",
    "No.1，№3，#5，No7": "第一，第三，第五，第七",
    "20—30岁": "二十到三十岁",
    "10-15分钟，3~5天": "十到十五分钟，三到五天",
    "每天3-5km": "每天三到五公里",
    "3½小时": "三又二分之一小时",
    "3·15晚会": "三一五晚会",
    "跑了1'30''": "跑了一分三十秒",
    "身高1.75米，桌长1.75米": "身高一米七五，桌长一点七五米",
    "302号房间，101房间，2间房": "三零二号房间，一零一房间，两间房",
    "打120，打110元，打100分": "打幺二零，打一百一十元，打一百分",
    "119报警": "幺幺九报警",
    "996工作制，666个": "九九六工作制，六百六十六个",
    "24/7，7×24小时": "全天候，七乘二十四小时",
    "≥18岁，±5": "大于等于十八岁，正负五",
    "10w粉丝，5k字，2w": "十万粉丝，五千字，两万",
    "$5m，$3.5B，¥5k": "五百万美元，三十五亿美元，五千元",
    "血压120mmHg，65dB，500mAh": "血压一百二十毫米汞柱，六十五分贝，五百毫安时",
    "60m²，5kg，200ml": "六十平方米，五公斤，二百毫升",
    "+86 138 0013 8000": "幺三八，零零幺三，八零零零",
    "电话138-0013-8000": "电话幺三八，零零幺三，八零零零",
    "400-800-1234": "四零零八零零幺二三四",
    "看www.example.com": "看example点com",
    "https://www.example.com/a/b?c=1。": "example点com。",
    "写信给li.si@example.com.cn吧": "写信给li点si艾特example点com点cn吧",
    "AI，CEO，WiFi，iPhone 15，4K": "AI，CEO，WiFi，iPhone 十五，四K",
    "B2B，O2O": "B to B，O to O",
    "C#和C++": "C sharp和C plus plus",
    "PM2.5，COVID-19，F-16": "PM二点五，COVID十九，F十六",
    "T恤，U盘，X光": "T恤，U盘，X光",
    "航班CA1234，G102次": "航班CA一二三四，G一零二次",
    "GDP增长5.2%": "GDP增长百分之五点二",
    # the lines of the bad-input case about two languages
    "“OK，deal！”Leo打了个响指，把合同推过来。": "OK，deal！Leo打了个响指，把合同推过来。",
    "苏禾看了一眼PDF的第3页：NDA、IPO、KPI，全是她不想看的字母。": (
        "苏禾看了一眼PDF的第三页：NDA，IPO，KPI，全是她不想看的字母。"
    ),
    "“Don’t sign it, 苏禾. 再想想。”电话那头的人说。": (
        "Don't sign it, 苏禾. 再想想。电话那头的人说。"
    ),
    "She hung up. 窗外的霓虹写着 SALE 50% OFF。": (
        "She hung up. 窗外的霓虹写着 SALE 百分之五十 OFF。"
    ),
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


ENGLISH = {
    "It was $12.50, 50% off — “really?”": (
        "It was 12 dollars and 50 cents, 50 percent off, really?"
    ),
    "He paid $5m, or £3.5 billion; $1.": (
        "He paid 5 million dollars, or 3.5 billion pounds; 1 dollar."
    ),
    "$0.99, £1.01, €20": "99 cents, 1 pound and 1 penny, 20 euros",
    "1,234,567 people, 3.5%": "1234567 people, 3.5 percent",
    "5-10% off, pages 3-5, 1914–1918": "5 to 10 percent off, pages 3 to 5, 1914 to 1918",
    "9:00-17:30": "9:00 to 17:30",
    "Chapter XIV. Part II, World War I": "Chapter 14. Part 2, World War 1",
    "Henry VIII and Louis XIV. I said": "Henry the 8th and Louis the 14th. I said",
    "No. 7, #12": "number 7, number 12",
    "e.g. this, i.e. that, A vs. B": "for example this, that is that, A versus B",
    "-5°C, 70°F": "minus 5 degrees Celsius, 70 degrees Fahrenheit",
    "350km/h, 5'10\"": "350 kilometers per hour, 5 foot 10",
    "Visit https://www.example.com/a?b=1.": "Visit example dot com.",
    "mail john.smith@example.com": "mail john dot smith at example dot com",
    "Call (555) 123-4567.": "Call 5 5 5, 1 2 3, 4 5 6 7.",
    "3½ hours, 1/2 cup": "3 and one half hours, one half cup",
    "COVID-19 at 3:30 pm on March 5, 2024": "COVID-19 at 3:30 pm on March 5, 2024",
    "Dr. Smith and Mr. O'Neil": "Dr. Smith and Mr. O'Neil",
}


@pytest.mark.parametrize(("written", "said"), ENGLISH.items())
def test_an_english_line_is_said_as_a_person_reads_it(written, said):
    assert spoken.spoken(written, "en") == said


def test_a_long_number_is_said_digit_by_digit():
    assert numerals.cardinal("1234567890123") == "一二三四五六七八九零一二三"


@settings(max_examples=400, deadline=None)
@given(
    st.text(
        alphabet="0123456789.,:-/%¥$年月日个第号打kmhAwbs中文，。！“”…— 😀～+*#x°C＄５½Ⅳ'·()",
        max_size=24,
    )
)
def test_no_digit_and_no_symbol_is_left_in_any_chinese_line(text):
    said = spoken.spoken(text)
    assert not any(ch.isdigit() for ch in said), said
    assert all(ch.isalpha() or ch in " '-,.!?;:，。！？；：" for ch in said), said
    assert said == "" or said[0].isalpha()
    assert spoken.spoken(said) == said  # what is said is said the same again


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.sampled_from(["zh", "en"]))
def test_any_text_at_all_is_said_or_nothing_is(text, language):
    said = spoken.spoken(text, language)
    assert said == "" or said[0].isalnum() or said[0] in "-'$€£%+=#"
    assert spoken.speakable(text, language) == any(ch.isalnum() for ch in said)
