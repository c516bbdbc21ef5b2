"""A cast as the planner makes it: nobody looks like another, whatever the text adds later."""

from __future__ import annotations

import itertools

from mangen.comic import plan, requests, text
from mangen.engines.animatic import troupe, wardrobe

BEGINS = (
    "林若雪撑着一把黑伞，站在楼下。顾言走了出来。“你怎么来了？”顾言问。"
    "“我来还你东西。”林若雪说。苏曼冲了过来，苏曼喊道：“顾言！”\n"
)
GOES_ON = "赵敏推开门，赵敏冷笑道：“都在啊。”林若雪没有说话。\n"


def looks(whole):
    source = text.decode(whole.encode(), "a.txt")
    board = plan.plan(source, title="雨")
    return {
        one.name: wardrobe.features(requests.sheet(requests.sheet_params(one)))
        for one in board.characters
    }


def test_the_cast_of_a_text_is_told_apart():
    cast = looks(BEGINS + GOES_ON)
    assert {"林若雪", "顾言", "苏曼", "赵敏"} <= set(cast)
    for one, other in itertools.combinations(cast.values(), 2):
        assert wardrobe.apart(one, other) >= troupe.APART


def test_what_a_text_adds_changes_nobodys_looks():
    before, after = looks(BEGINS), looks(BEGINS + GOES_ON)
    assert set(before) < set(after)
    assert all(after[name] == look for name, look in before.items())
