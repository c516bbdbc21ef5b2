"""Title and end cards, and the glyphs they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from mangen.engines import protocol
from mangen.engines.animatic import brush, lettering, stage
from mangen.engines.animatic.engine import Animatic


@pytest.fixture(scope="module")
def engine(scratch):
    return Animatic(scratch, scratch)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "故乡",
        "一匹猹",
        "😀🎉",
        "离婚后😀前夫跪求我复合",
        "重生之我在大明当皇帝的那些年里遇到的所有人和事以及他们最后都去了哪里这一切究竟是为什么呢谁也不知道只有天知道罢了啊",
        "A Christmas Carol, in Prose: Being a Ghost Story of Christmas",
        "Donaudampfschifffahrtsgesellschaftskapitänsmütze",
        "\x00\u200b\ufe0f\n\t",
        "𠮷野家",
        "ـمرحبا שלום",
    ],
)
@pytest.mark.parametrize("kind", ["title", "end"])
def test_any_title_draws(engine, make, kind, title):
    request = protocol.PanelRequest(
        kind=kind, width=180, height=320, seed=1, title=title, subtitle=title[:12]
    )
    product = make(engine, request)
    type_ = product.layers[-1].image[..., 3] > 200  # the veil around it is thinner
    assert type_.any()
    if lettering.clean(title):
        assert type_.sum() > 150
    across, down = np.flatnonzero(type_.any(0)), np.flatnonzero(type_.any(1))
    height, width = type_.shape
    assert width * 0.1 < across[0] <= across[-1] < width * 0.9  # nothing leaves the frame
    assert height * 0.1 < down[0] <= down[-1] < height * 0.9


def test_glyphs_the_font_lacks_are_left_out():
    assert lettering.clean("猹😀A\u200b猹\n猹") == "猹A猹 猹"
    assert lettering.drawable("猹")
    assert not lettering.drawable("😀")


def test_a_title_is_written_with_the_brush_as_far_as_it_goes():
    for character in "故乡猹":
        face = brush.face(character, 40)
        assert bytes(face.getmask(character)) != bytes(face.getmask("\U0010fffe"))
        assert brush.has(character) <= brush.FONT.exists()


def test_type_without_a_brush_font_looks_painted():
    s = stage.of(protocol.PanelRequest(kind="title", width=360, height=640, seed=3))
    flat = lettering.draw(s.width, s.height, [("漫", 200, 300)], size=120)
    rough = brush.dried(s, flat)
    assert (rough[..., 3] < flat[..., 3]).sum() > 200
    assert (rough[..., :3] <= rough[..., 3:].astype(int) + 1).all()  # still premultiplied
