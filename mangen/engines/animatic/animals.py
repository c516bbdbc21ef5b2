"""Animals, seen from the side and looking right, their feet around the origin."""

from __future__ import annotations

from collections.abc import Callable

from mangen.engines.animatic import colour, light, outline, pen

_INK = 7


def badger(p: pen.Pen, lit: light.Light) -> None:
    """A low, furry robber of melon fields with a striped face, about 560 units long."""
    fur, mask = lit.hexed("#7d6b58"), lit.hexed("#e3d6bc")
    dim = colour.dark(fur, 0.34)
    with p.moved(0, -108, scale=2.05):
        for x in (-66, 34):
            p.shape(outline.curve([(x - 16, 10), (x - 22, 52, 1), (x + 8, 52, 1), (x + 16, 10)]),
                dim,
                    width=4)  # fmt: skip
        body = outline.curve([(-150, -14, 1), (-110, -12), (-70, -44), (0, -58), (48, -50),
                              (92, -44), (120, -16), (132, -4), (120, 8), (80, 14), (40, 26),
                              (-40, 28), (-92, 16), (-120, 4)])  # fmt: skip
        p.shape(body, fur, shade=dim, shift=(4, -14), width=4.4)
        p.fill(
            outline.curve([(64, -42), (92, -38), (120, -14), (112, 2), (88, -4), (70, -16)]), mask
        )
        p.line(outline.curve([(66, -34), (92, -28), (118, -8)], closed=False), 11, taper=(0.2, 0.2))
        p.fill(outline.ellipse(93, -24, 4.4, 4.4), (255, 233, 168))
        p.fill(outline.ellipse(128, -5, 6, 5), colour.INK)
        p.shape(outline.curve([(46, -48), (48, -70), (64, -66), (64, -48)]), dim, width=4)
        for x in (-84, 14):
            p.shape(outline.curve([(x - 12, 14), (x - 28, 54, 1), (x + 2, 56, 1), (x + 18, 18)]),
                fur,
                    width=4)  # fmt: skip
        for x in (-60, -30, 0, 30):
            p.line(outline.curve([(x - 14, -34), (x, -40), (x + 12, -36)], closed=False), 5,
                   paint=colour.pale(fur, 0.24))  # fmt: skip


def dog(p: pen.Pen, lit: light.Light) -> None:
    """A yellow dog with a curled tail, about 480 units long."""
    fur = lit.hexed("#c99a5c")
    dim = colour.dark(fur, 0.28)
    tail = outline.curve([(-180, -240), (-250, -300), (-220, -380), (-160, -350)], closed=False)
    p.line(tail, 58, taper=(0.2, 0.5))
    p.line(tail, 42, paint=fur, taper=(0.2, 0.5))
    for x in (-130, 90):
        p.shape(outline.box(x, -170, 44, 170), dim, width=_INK)
    p.shape(outline.curve([(-190, -250), (-170, -300), (0, -300), (110, -320), (170, -260),
                           (140, -150), (0, -140), (-120, -130), (-180, -160)]), fur, shade=dim,
            shift=(6, -26), width=_INK)  # fmt: skip
    for x in (-170, 60):
        p.shape(outline.curve([(x, -180, 1), (x + 6, -10), (x - 4, 0, 1), (x + 52, 0, 1),
                               (x + 50, -180, 1)]), fur, width=_INK)  # fmt: skip
    p.shape(outline.curve([(90, -290), (110, -400), (190, -430), (250, -380), (330, -350),
                           (330, -310), (250, -290), (180, -250)]), fur, shade=dim, shift=(4, -20),
            width=_INK)  # fmt: skip
    p.shape(outline.curve([(120, -400), (90, -330), (110, -280), (160, -380)]), dim, width=_INK)
    p.fill(outline.ellipse(332, -346, 17, 14), colour.INK)
    p.fill(outline.ellipse(232, -372, 11, 12), colour.INK)
    p.fill(outline.ellipse(236, -376, 4, 4), (255, 255, 255))
    p.line(outline.curve([(324, -316), (290, -306), (262, -318)], closed=False), 6)


def cat(p: pen.Pen, lit: light.Light) -> None:
    """A cat that sits, its tail around its feet, about 420 units tall."""
    fur, white = lit.hexed("#5d5a60"), lit.hexed("#efe8da")
    dim = colour.dark(fur, 0.3)
    tail = outline.curve([(110, -60), (230, -50), (250, -150), (210, -200)], closed=False)
    p.line(tail, 60, taper=(0.1, 0.5))
    p.line(tail, 44, paint=fur, taper=(0.1, 0.5))
    p.shape(outline.curve([(-60, -260), (-120, -120), (-130, 0, 1), (150, 0, 1), (160, -110),
                           (90, -240)]), fur, shade=dim, shift=(-20, -10), width=_INK)  # fmt: skip
    p.fill(outline.curve([(-56, -240), (-70, -120), (0, -60), (50, -130), (30, -240)]), white)
    p.shape(outline.curve([(-140, -300), (-150, -440, 1), (-80, -390), (40, -390), (110, -440, 1),
                           (100, -300), (50, -220), (-90, -220)]), fur, shade=dim, shift=(-10, -12),
            width=_INK)  # fmt: skip
    for x in (-76, 36):
        p.shape(outline.ellipse(x, -312, 24, 26), (214, 206, 92), width=5)
        p.fill(outline.ellipse(x, -312, 7, 22), colour.INK)
        p.line(outline.straight([(x, -262), (x + (-130 if x < 0 else 130), -276)]), 4)
        p.line(outline.straight([(x, -252), (x + (-120 if x < 0 else 120), -244)]), 4)
    p.fill(outline.ellipse(-20, -272, 13, 9), (206, 120, 116))
    p.line(outline.curve([(-44, -248), (-20, -258), (4, -248)], closed=False), 6)
    for x in (-60, 10):
        p.shape(outline.ellipse(x, -12, 40, 24), white, width=_INK)


def horse(p: pen.Pen, lit: light.Light) -> None:
    """A saddled horse, about 680 units long and as tall."""
    coat, mane = lit.hexed("#8a5a3c"), lit.hexed("#33262a")
    dim = colour.dark(coat, 0.32)
    tail = outline.curve([(-260, -420), (-340, -380), (-350, -240), (-320, -160)], closed=False)
    p.line(tail, 64, paint=mane, taper=(0.3, 0.6))
    for x in (-170, 140):
        p.shape(outline.curve([(x, -300, 1), (x + 24, -150), (x + 10, 0, 1), (x + 56, 0, 1),
                               (x + 64, -160), (x + 84, -300, 1)]), dim, width=_INK)  # fmt: skip
    p.shape(outline.curve([(-270, -430), (-150, -470), (60, -440), (190, -470), (260, -400),
                           (200, -270), (20, -250), (-150, -240), (-260, -280)]), coat, shade=dim,
            shift=(4, -40), width=_INK)  # fmt: skip
    for x in (-240, 110):
        p.shape(outline.curve([(x - 10, -320, 1), (x + 10, -160), (x - 4, 0, 1), (x + 44, 0, 1),
                               (x + 54, -170), (x + 96, -310, 1)]), coat, width=_INK)  # fmt: skip
        p.fill(outline.box(x - 2, -26, 46, 26), mane)
    p.shape(outline.curve([(130, -400), (170, -560), (230, -680), (290, -700), (330, -640),
                           (410, -540), (396, -500), (340, -500), (290, -560), (262, -400)]), coat,
            shade=dim, shift=(8, -20), width=_INK)  # fmt: skip
    p.shape(outline.curve([(110, -460), (140, -580), (210, -690), (270, -730, 1), (262, -640),
                           (220, -560), (180, -440)]), mane, width=5)  # fmt: skip
    p.shape(outline.curve([(264, -690), (270, -760, 1), (304, -690)]), coat, width=_INK)
    p.fill(outline.ellipse(316, -620, 12, 13), colour.INK)
    p.fill(outline.ellipse(394, -528, 8, 7), colour.INK)
    p.line(
        outline.straight([(282, -560), (372, -570)]), 8, paint=lit.hexed("#b8392f"), taper=(0, 0)
    )
    rein = outline.curve([(366, -556), (280, -470), (80, -470)], closed=False)
    p.line(rein, 8, paint=lit.hexed("#b8392f"), taper=(0, 0))
    saddle = lit.hexed("#a8433a")
    p.shape(outline.curve([(-110, -470, 1), (-60, -510), (20, -470), (70, -500, 1), (80, -400),
                           (40, -330, 1), (-70, -330, 1), (-120, -400)]), saddle,
            shade=colour.dark(saddle, 0.3), width=_INK)  # fmt: skip


def bird(p: pen.Pen, lit: light.Light) -> None:
    """A bird in flight, about 520 units from wing to wing."""
    back, belly = lit.hexed("#4a5568"), lit.hexed("#e9e2d2")
    with p.moved(0, -280, turn=-10):
        p.shape(outline.curve([(-30, 0), (-170, -180), (-250, -220, 1), (-150, -60), (-60, 30)]),
                colour.dark(back, 0.25), width=_INK)  # fmt: skip
        p.shape(outline.curve([(-180, 60, 1), (-90, 20), (40, -40), (130, -60), (176, -30, 1),
                               (130, -6), (60, 50), (-60, 60), (-190, 96, 1)]), belly,
                               width=_INK)  # fmt: skip
        p.fill(outline.curve([(-150, 50), (20, -34), (130, -54), (140, -30), (40, 0)]), back)
        p.shape(outline.curve([(50, -20), (20, -200), (-60, -290, 1), (-90, -150), (-50, 0)]), back,
                shade=colour.dark(back, 0.3), width=_INK)  # fmt: skip
        for k in range(4):
            p.line(outline.straight([(-10 - 12 * k, -20), (-20 - 16 * k, -200 + 26 * k)]), 5,
                   paint=colour.dark(back, 0.45))  # fmt: skip
        p.shape(
            outline.straight([(168, -44), (220, -24), (168, -18)]), lit.hexed("#d9a23c"), width=5
        )
        p.fill(outline.ellipse(128, -38, 9, 9), colour.INK)


ANIMALS: dict[str, Callable[[pen.Pen, light.Light], None]] = {
    "animal": badger, "dog": dog, "cat": cat, "horse": horse, "bird": bird,
}  # fmt: skip
