from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mangen.comic import export


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("故乡", "故乡"),
        ("it's 100% a∕name — 《故乡》😀", "it's 100% a_name — 《故乡》😀"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ('a<b>c:d"e|f?g*h\\i/j', "a_b_c_d_e_f_g_h_i_j"),
        ("...", "video"),
        ("con", "video_con"),
        ("a\u200bb\x00c", "ab_c"),
    ],
)
def test_a_title_becomes_a_safe_file_name(title, name):
    assert export.safe_name(title) == name


@given(st.text(max_size=400))
def test_any_title_gives_a_name_every_file_system_takes(title):
    name = export.safe_name(title)
    assert name
    assert len(name.encode()) <= 130
    assert "/" not in name
    assert "\x00" not in name
    assert name not in {".", ".."}
    assert not name.startswith(".")
