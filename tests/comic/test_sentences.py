import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mangen.comic import paragraphs, sentences, text


def pieces(words):
    found = []
    for start, end in paragraphs.paragraphs(words, 0, len(words)):
        found += sentences.pieces(words, start, end)
    return found


def rows(words):
    return [(piece.quoted, piece.text) for piece in pieces(words)]


def test_speech_is_found_by_any_quotation_marks(boards):
    assert rows(text.read(boards.path(3)).text) == [
        (True, "你听見了嗎？"), (False, "她問。"),
        (False, "他答："), (True, "听见了，像是有人在喊‘救命’。"),
        (True, "別出聲。"), (False, "她按住他的手，"), (True, "先看看再说。"),
        (True, "你怕了？"), (False, "他笑着问。"),
        (True, "不怕。"), (False, "她说，"), (True, "只是不想死在这里。"),
        (False, "夜里再没有人说话。"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("所谓“朋友”不过如此。", [(False, "所谓“朋友”不过如此。")]),
        ("他说“不”。", [(False, "他说"), (True, "不")]),
        ("“他说：‘走！’”", [(True, "他说：‘走！’")]),
        ("“你好。“她说。", [(True, "你好。"), (False, "她说。")]),
        ("“没有结尾", [(True, "没有结尾")]),
        ("他说”走吧。", [(False, "他说走吧。")]),
        ("“It’s fine,” said Tom’s wife.", [(True, "It’s fine,"), (False, "said Tom’s wife.")]),
    ],
)
def test_quotations(words, expected):
    assert rows(words)[: len(expected)] == expected


def test_numbers_dates_times_and_prices_stay_whole(boards):
    words = text.read(boards.path(5)).text
    joined = [piece.text for piece in pieces(words)]
    for whole in (
        "1476.94",
        "3.5%",
        "2026年11月29日",
        "8:05",
        "350km/h",
        "2,300",
        "¥12.50",
        "第100号",
    ):
        assert any(whole in one for one in joined)


@pytest.mark.parametrize(
    "words",
    [
        "他一共付了1,234,567.89元，另加3.5%的税，时间是早上8:05:30，比分3:2，版本v1.2.3，网址www.example.com，还有很多很多别的东西。",
        "Mr. Smith paid 1,234.50 dollars at 8:05 p.m. to Dr. Jones for version 1.2.3 of it.",
    ],
)
def test_nothing_is_cut_inside_a_number(words):
    for piece in pieces(words):
        at = piece.end
        if at < len(words):
            assert not (words[at - 1].isdigit() and words[at].isdigit())
            assert not (words[at - 2].isdigit() and words[at - 1] in ".,:" and words[at].isdigit())


def test_a_very_long_sentence_is_cut_at_its_enumerations(boards):
    found = pieces(text.read(boards.path(6)).text)
    assert len(found) > 20
    assert all(len(piece.text) <= 40 for piece in found)
    assert all(piece.text.endswith("、") for piece in found[:-1])


def test_a_long_clause_without_marks_is_cut_between_words():
    words = "他" + "一直走过那条很长很长的路然后转过街角继续往前走" * 6 + "。"
    found = pieces(words)
    assert all(sentences.weight(piece.text) <= 40 for piece in found)
    assert "".join(piece.text for piece in found) == words


def test_an_endless_word_is_cut_all_the_same():
    assert max(len(piece.text) for piece in pieces("a" * 5_000 + "。")) <= 320


def test_spaces_are_no_part_of_what_is_said():
    found = pieces("　　很久以前，海 是红色的。　\n\t“那是血吗？”孩子问。")
    assert [piece.text for piece in found] == ["很久以前，海是红色的。", "那是血吗？", "孩子问。"]


def test_lines_wrapped_by_hand_are_read_as_paragraphs():
    block = (
        "It was the best of times, it was the worst of times, it was the\n"
        "age of wisdom, it was the age of foolishness, it was the epoch\n"
        "of belief, it was the epoch of incredulity, it was the season of\n"
        "Light, it was the season of Darkness.\n\n"
    )
    words = block * 5
    assert paragraphs.is_wrapped(words)
    assert len(list(paragraphs.paragraphs(words, 0, len(words), wrapped=True))) == 5
    assert not paragraphs.is_wrapped("他来了。\n\n她走了。\n" * 20)


@pytest.mark.timeout(60)  # a quadratic way takes many minutes here
@pytest.mark.parametrize(
    "words", ["“『「你好", "“你好。”", "“", "”", "他说，", "走", "a", "1,", "！"]
)
def test_no_run_of_anything_takes_for_ever(words):
    text_of = words * 30_000
    found = pieces(text_of)
    assert sum(piece.end - piece.start for piece in found) == len(text_of)


characters = st.sampled_from(
    list("他她说道笑走好的人。，、！？…；：“”「」『』‘’\"'　 ab1.,:—-（）")
)


@settings(max_examples=300, deadline=None)
@given(st.text(characters, max_size=120))
def test_every_character_lies_in_exactly_one_piece(words):
    covered = [0] * len(words)
    last = 0
    for piece in pieces(words):
        assert piece.start >= last
        last = piece.end
        for at in range(piece.start, piece.end):
            covered[at] += 1
    assert all(covered[at] == 1 for at, ch in enumerate(words) if not ch.isspace())


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_no_text_breaks_it(words):
    for piece in pieces(words):
        assert words[piece.start : piece.end].strip()
