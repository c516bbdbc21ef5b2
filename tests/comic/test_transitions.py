"""Dissolves lead into a memory and out of it."""

import dataclasses

from mangen.comic import transitions

MEMORY = (
    "林晚站在咖啡馆里。“走吧。”林晚说。\n她没有回头，外面的雨下得很大。\n"
    "她想起那年的夏天，他们坐在操场边，谁也没有说话。\n操场边的树上有许多蝉，一声一声地叫着。\n"
    "现在，她站在咖啡馆里，手里什么也没有。\n林晚走到街上，雨已经停了。\n"
)


def melting(boards, words):
    _, board = boards.of(words)
    shots = board.episodes[0].shots
    frames = transitions.of(shots)
    assert len(frames) == len(shots)
    return {shot.lines[0].text[:4] for shot, one in zip(shots, frames, strict=True) if one}


def test_a_memory_melts_in_and_out_and_all_else_is_cut(boards):
    assert melting(boards, MEMORY) == {"她想起那", "现在，她"}


def test_what_leads_in_to_a_memory_is_not_yet_in_it(boards):
    words = (
        "这时候，我的脑里忽然闪出一幅图画来：深蓝的天空中挂着一轮圆月，下面是海边的沙地。\n"
        "我这时很兴奋，但不知道怎么说才好。我站住了。"
    )
    assert melting(boards, words) == {"深蓝的天", "我这时很"}


def test_a_story_without_memories_is_cut(boards):
    assert melting(boards, "他走进院子，看了看天。\n他走到街上。\n他走进破庙。") == set()


def test_whoever_edits_a_shot_says_what_is_memory(boards):
    _, board = boards.of("他走进院子，看了看天。\n他走到街上。\n他走进破庙。")
    title, first, second, third, end = board.episodes[0].shots
    second = dataclasses.replace(second, memory=True)
    melting_in = transitions.of([title, first, second, third, end])
    assert melting_in == (0, 0, transitions.DISSOLVE, transitions.DISSOLVE, 0)


def test_cards_never_melt(boards):
    _, board = boards.of(MEMORY)
    first, *_, last = transitions.of(board.episodes[0].shots)
    assert (first, last) == (0, 0)
