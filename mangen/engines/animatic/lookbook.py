"""The lookbook: what each era wears, and what features there are."""

from __future__ import annotations

from typing import Any

from mangen.engines.animatic import hairdo

SKINS = ("#f4d3b3", "#f7dcc4", "#efc8a2", "#e9bd95", "#ecc39c", "#e0b084")
TANNED = ("#efc8a2", "#e2b183", "#d9a273", "#cf9468")
FAIR = ("#f8dfc9", "#f4d3b3", "#f0cba8", "#e6b78e")
#: hair where it is dyed, and where it is as it grew
HAIRS = ("#221d22", "#2c2226", "#3b2a28", "#1d2230", "#4a3128", "#2a1f2e")
BLACKS = ("#221d22", "#2c2226", "#1d2230", "#2a1f2e", "#261f28")
WESTERN = ("#3b2a28", "#5a3a28", "#7a4a2c", "#2c2226", "#b98a48", "#8a4428", "#6a4630")
#: era -> hair as it grows or is dyed, where it is not black
GROWN = {
    "modern": HAIRS, "campus": HAIRS, "victorian": WESTERN, "medieval": WESTERN,
    "future": (*HAIRS, *WESTERN[2:]),
}  # fmt: skip
GREY_HAIRS = ("#8d8a8c", "#b5b1ad", "#6f6b6e", "#d8d4cf")
IRISES = ("#2a1a18", "#38241c", "#1f2330", "#40301c")

#: era -> garments of women, of men, of girls, of boys, of old women, of old men
GARMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ancient": (("ruqun", "robe", "beizi"), ("robe", "beizi", "robe", "gown"),
                ("ruqun", "robe"), ("robe", "jacket"), ("robe", "beizi"), ("robe", "beizi")),
    "xianxia": (("robe", "ruqun", "beizi"), ("robe", "beizi"), ("ruqun", "robe"), ("robe",),
                ("robe", "beizi"), ("robe", "beizi")),
    "republic": (("qipao", "aoqun", "jacket"), ("gown", "zhongshan", "gown", "suit"),
                 ("aoqun", "jacket"), ("jacket", "vest"), ("jacket",), ("gown", "jacket")),
    "modern": (("dress", "shirt", "coat", "cardigan", "suit"),
               ("suit", "shirt", "coat", "hoodie", "cardigan"), ("dress", "tshirt", "hoodie"),
               ("tshirt", "hoodie", "shirt"), ("cardigan", "jacket"), ("cardigan", "shirt")),
    "campus": (("uniform", "tracksuit", "cardigan"), ("uniform", "tracksuit", "hoodie"),
               ("uniform", "tracksuit", "dress"), ("tracksuit", "tshirt"), ("cardigan", "coat"),
               ("suit", "cardigan")),
    "countryside": (("jacket", "shirt", "tshirt"), ("jacket", "vest", "shirt"),
                    ("jacket", "vest"), ("vest", "jacket"), ("jacket",), ("jacket",)),
    "victorian": (("dress",), ("coat", "suit"), ("dress",), ("shirt",), ("dress",),
                  ("coat", "suit")),
    "medieval": (("dress",), ("coat", "shirt"), ("dress",), ("shirt",), ("dress",), ("coat",)),
    "future": (("uniform", "tracksuit"), ("uniform", "tracksuit"), ("tracksuit", "tshirt"),
               ("tracksuit", "tshirt"), ("uniform", "labcoat"), ("uniform", "labcoat")),
}  # fmt: skip
#: era -> hair in the same order
HAIR: dict[str, tuple[tuple[str, ...], ...]] = {
    "ancient": (("updo", "bun", "half_up", "low_bun", "double_bun"),
                ("topknot", "long_topknot", "half_up"), ("double_bun", "braids", "tufts"),
                ("tufts", "topknot", "cropped"), ("bun", "low_bun"), ("topknot", "long_topknot")),
    "xianxia": (("half_up", "long", "updo", "hime", "double_bun"),
                ("long_topknot", "half_up", "topknot"),
                ("double_bun", "twin_tails", "tufts"), ("tufts", "topknot", "long_topknot"),
                ("bun", "updo"), ("long_topknot", "topknot", "half_up")),
    "republic": (("bob", "braids", "low_bun", "waves", "bun"),
                 ("brush", "side", "curtain", "short", "cropped"), ("braids", "bob", "tufts"),
                 ("cropped", "brush", "short", "side", "curtain"), ("bun", "low_bun"),
                 ("balding", "queue", "cropped", "side")),
    "modern": (("long", "bob", "ponytail", "waves", "pixie", "hime", "low_bun"),
               ("short", "side", "tousled", "curtain", "spiky", "curls", "cropped"),
               ("ponytail", "bob", "twin_tails", "long"),
               ("short", "tousled", "cropped", "curls", "side", "spiky", "curtain"),
               ("curls", "pixie", "bun", "low_bun"), ("balding", "side", "cropped", "bald")),
    "campus": (("ponytail", "bob", "long", "hime", "twin_tails", "pixie", "braids"),
               ("short", "tousled", "curtain", "spiky", "cropped", "curls"),
               ("ponytail", "twin_tails", "braids", "bob"),
               ("short", "tousled", "cropped", "curls", "spiky", "curtain"),
               ("curls", "bun"), ("side", "balding")),
    "victorian": (("low_bun", "waves", "bun", "long"), ("side", "curtain", "short", "tousled"),
                  ("braids", "long", "twin_tails"), ("tousled", "short"), ("bun", "low_bun"),
                  ("balding", "side")),
    "medieval": (("long", "braids", "waves", "low_bun"), ("tousled", "curtain", "short"),
                 ("braids", "long"), ("tousled", "short"), ("bun", "low_bun"),
                 ("balding", "tousled")),
    "future": (("pixie", "bob", "ponytail", "low_bun"), ("cropped", "short", "side"),
               ("ponytail", "bob"), ("short", "cropped"), ("pixie", "bun"), ("side", "bald")),
    "countryside": (("braids", "bun", "bob", "low_bun", "ponytail"),
                    ("cropped", "short", "brush", "tousled", "side"),
                    ("braids", "twin_tails", "ponytail", "bob"),
                    ("cropped", "short", "brush", "tousled", "side"),
                    ("bun", "low_bun"), ("balding", "cropped", "bald")),
}  # fmt: skip
#: era -> hats of women, of men; most heads are bare
HATS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ancient": (("none",), ("none",) * 6 + ("scarf",)), "xianxia": (("none",), ("none",)),
    "republic": (("none",), ("none",) * 9 + ("bowler",)),
    "modern": (("none",) * 12 + ("beret",), ("none",) * 9 + ("cap",)),
    "campus": (("none",) * 14 + ("beret",), ("none",) * 8 + ("cap",)),
    "victorian": (("none",), ("none",) * 6 + ("bowler",)),
    "medieval": (("none",) * 6 + ("scarf",), ("none",)), "future": (("none",), ("none",)),
    "countryside": (("none",) * 4 + ("scarf",), ("none",) * 4 + ("straw", "cap", "felt")),
}  # fmt: skip
#: era -> shoes
SHOES: dict[str, tuple[str, ...]] = {
    "ancient": ("#3a3440", "#5a4438"), "xianxia": ("#e6e0d2", "#3a3440", "#5a6478"),
    "republic": ("#2f2a30", "#4a3a34"), "modern": ("#3a3236", "#6a4636", "#d8d4cc", "#2c3446"),
    "victorian": ("#2f2a30", "#4a3a34"), "medieval": ("#5a4438", "#3f3630"),
    "future": ("#e6e2da", "#3a3d49"),
    "campus": ("#e6e2da", "#c8454a", "#34506e"), "countryside": ("#3f4a3c", "#4a3a34", "#2f2a30"),
}  # fmt: skip

_TRADITIONAL = (
    ("#8c3b3f", "#d9b56a"), ("#2f4f6b", "#c9d3d6"), ("#56714f", "#e0c98a"), ("#6b4a6e", "#d8b7a0"),
    ("#b98a4e", "#5b3a2e"), ("#cfd6d2", "#6f93a0"), ("#3d3f55", "#a84a44"), ("#a65f49", "#efe0c0"),
    ("#4c7a7a", "#e7d6b0"), ("#d7a9a0", "#8c4a55"), ("#7d8a5a", "#f0e2bd"), ("#30353f", "#b9944f"),
)  # fmt: skip
_COUNTRY = (
    ("#4e5a6c", "#b48848"), ("#b5432f", "#f0c25a"), ("#5a6b3f", "#d8c08a"), ("#6b4f3f", "#c9a86a"),
    ("#3f5a7a", "#e0d2b0"), ("#8a6f9a", "#efdcc0"), ("#a0714a", "#3e4a5a"), ("#527a70", "#f0d9a0"),
    ("#7a3e3a", "#d8b26a"), ("#8f8a6a", "#5a4436"),
)  # fmt: skip
#: era -> (main, trim) of its clothes
PALETTES: dict[str, tuple[tuple[str, str], ...]] = {
    "ancient": _TRADITIONAL,
    "xianxia": _TRADITIONAL,
    "republic": (
        ("#33435c", "#c9b48a"), ("#7a3e3a", "#d8b26a"), ("#4e5a6c", "#b48848"),
        ("#5f6b4e", "#d9c79a"), ("#6d5a74", "#cfa9a0"), ("#8a6a48", "#e3cfa0"),
        ("#3f6266", "#d8cdb0"), ("#a9705a", "#3f3a44"), ("#4a4450", "#b5625a"),
        ("#c3a98a", "#6a3f3a"), ("#2f5a52", "#cfb06a"), ("#93a0a8", "#394654"),
    ),
    "countryside": _COUNTRY,
    "medieval": _COUNTRY,
    "victorian": (
        ("#4a3f52", "#cdbd98"), ("#3f4a44", "#d8c9a0"), ("#6a4038", "#d9c39a"),
        ("#34405a", "#cfc0a4"), ("#7a5a48", "#e3d6b8"), ("#5a4a66", "#d8c4ae"),
        ("#40555a", "#dccfa8"), ("#54463c", "#c9a46a"),
    ),
    "future": (
        ("#e2e4e6", "#c8643f"), ("#3d5a78", "#d8dde2"), ("#5c6672", "#e0a24e"),
        ("#8fa3b0", "#34405a"), ("#4a4f66", "#7fb6c0"), ("#c9ccd0", "#4f7f92"),
    ),
    "campus": (
        ("#2e4a78", "#c8454a"), ("#3e6b5c", "#e3c15c"), ("#7a2f3a", "#d9c48a"),
        ("#4a5568", "#c8454a"), ("#3b4f6e", "#8fb3c6"), ("#5a4a6e", "#e0b8a8"),
    ),
    "modern": (
        ("#2f4468", "#c8454a"), ("#c7664f", "#f0e0c8"), ("#5c7f74", "#e6c15c"),
        ("#8f4d63", "#efd3c6"), ("#3a3d49", "#9fb7c6"), ("#d0a24e", "#4a5570"),
        ("#7f97b5", "#f2ece0"), ("#6f5a8a", "#e5cf8e"), ("#a8473f", "#2f3440"),
        ("#4f6b46", "#efe6cc"), ("#b7b0a4", "#5a3f4a"), ("#d98f86", "#5b4a6b"),
    ),
}  # fmt: skip
SUITS = (
    ("#2c3446", "#a8433f"), ("#3d4149", "#4f7395"), ("#4a3f3c", "#b98a4a"), ("#5c6570", "#7c3b48"),
    ("#24323a", "#c9a24e"), ("#6a6258", "#3f5a6e"), ("#3a3248", "#9a5f6a"),
)  # fmt: skip
#: a child's clothes are brighter than anybody's
CHILDREN = (
    ("#c0392f", "#f0c25a"),
    ("#d9822f", "#3f5f7a"),
    ("#3f8062", "#f2dfae"),
    ("#2f6f9f", "#f0d060"),
    ("#b5433f", "#e8d8b0"),
    ("#8a5a9a", "#f2d0c0"),
    ("#d8a23c", "#7a3e3a"),
    ("#d86a78", "#fbe9d8"),
)
LEGS = ("#37507a", "#4a4a50", "#3f4a44", "#57483f", "#2f3647", "#6a5f52")

#: era -> the look of a woman and of a man who tells the story in the first person
SELVES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ancient": (
        {"shape": "oval", "hair_style": "updo", "garment": "beizi", "main": "#8c3b3f",
         "eye": "phoenix", "mole": True, "mole_at": "eye", "hairpin": True},
        {"shape": "long", "hair_style": "half_up", "garment": "robe", "main": "#4c7a7a",
         "eye": "phoenix", "brow_form": "slant", "beard": "none", "jaw": 0.45, "nick": True},
    ),
    "xianxia": (
        {"shape": "heart", "hair_style": "half_up", "garment": "robe", "main": "#d7a9a0",
         "eye": "almond", "mole": True, "mole_at": "eye"},
        {"shape": "oval", "hair_style": "long_topknot", "garment": "robe", "main": "#cfd6d2",
         "eye": "sharp", "brow_form": "slant", "beard": "none", "nick": True},
    ),
    "republic": (
        {"shape": "oval", "hair_style": "bob", "garment": "aoqun", "main": "#7f97b5",
         "eye": "round", "scarf": "#a8433f", "glasses": False},
        {"shape": "long", "hair_style": "side", "garment": "gown", "main": "#33435c",
         "eye": "almond", "brow_form": "straight", "nose_form": "straight", "scarf": "#a8433f",
         "beard": "none", "jaw": 0.45, "glasses": False, "hat": "none", "nick": False},
    ),
    "modern": (
        {"shape": "heart", "hair_style": "bob", "garment": "coat", "main": "#a8473f",
         "eye": "almond", "glasses": False, "mole": True, "mole_at": "lip", "hat": "none"},
        {"shape": "oval", "hair_style": "curtain", "garment": "coat", "main": "#7d6248",
         "eye": "almond", "brow_form": "straight", "scarf": "#3e5a78", "beard": "none",
         "glasses": False, "hat": "none"},
    ),
    "campus": (
        {"shape": "heart", "hair_style": "ponytail", "garment": "cardigan", "main": "#c98078",
         "eye": "round", "glasses": True, "hat": "none"},
        {"shape": "oval", "hair_style": "tousled", "garment": "hoodie", "main": "#3e6b5c",
         "eye": "almond", "glasses": False, "hat": "none", "nick": True},
    ),
    "countryside": (
        {"shape": "round", "hair_style": "braids", "garment": "jacket", "main": "#9a4a44",
         "eye": "round", "hat": "none", "freckles": True},
        {"shape": "oval", "hair_style": "short", "garment": "jacket", "main": "#3f5a7a",
         "eye": "almond", "scarf": "#b5432f", "beard": "none", "hat": "none"},
    ),
    "victorian": (
        {"shape": "oval", "hair_style": "low_bun", "garment": "dress", "main": "#40555a",
         "eye": "almond", "glasses": False, "mole": True, "mole_at": "lip", "hat": "none"},
        {"shape": "long", "hair_style": "side", "garment": "coat", "main": "#4a3f52",
         "eye": "almond", "brow_form": "straight", "scarf": "#a8433f", "beard": "none",
         "glasses": False, "hat": "none"},
    ),
    "medieval": (
        {"shape": "heart", "hair_style": "braids", "garment": "dress", "main": "#5a6b3f",
         "eye": "round", "glasses": False, "freckles": True, "hat": "none"},
        {"shape": "oval", "hair_style": "tousled", "garment": "coat", "main": "#6b4f3f",
         "eye": "almond", "scarf": "#b5432f", "beard": "none", "glasses": False, "hat": "none"},
    ),
    "future": (
        {"shape": "oval", "hair_style": "pixie", "garment": "uniform", "main": "#3d5a78",
         "eye": "almond", "glasses": False, "mole": True, "mole_at": "eye", "hat": "none"},
        {"shape": "oval", "hair_style": "cropped", "garment": "tracksuit", "main": "#e2e4e6",
         "eye": "sharp", "brow_form": "straight", "beard": "none", "glasses": False,
         "hat": "none", "nick": True},
    ),
}  # fmt: skip

SHAPES = ("oval", "round", "square", "long", "heart", "diamond")
EYES = ("almond", "round", "phoenix", "droopy", "sharp", "wide")
BROWS = ("straight", "arch", "slant", "soft", "bushy", "short")
MOLES = ("lip", "eye", "cheek", "chin")
NOSES = ("small", "straight", "broad", "hook", "button")
#: what a feature may be; others are colours or yes and no
CHOICES: dict[str, frozenset[Any]] = {
    "version": frozenset({3}),
    "mole_at": frozenset(MOLES),
    "age": frozenset({"child", "youth", "adult", "elder"}),
    "shape": frozenset(SHAPES),
    "eye": frozenset(EYES),
    "brow_form": frozenset(BROWS),
    "nose_form": frozenset(NOSES),
    "beard": frozenset({"none", "stubble", "moustache", "goatee", "long"}),
    "hat": frozenset(
        {"none", "felt", "straw", "cap", "bowler", "scarf", "official", "crown", "beret"}
    ),
    "garment": frozenset({
        "robe", "court", "ruqun", "beizi", "gown", "qipao", "aoqun", "zhongshan", "jacket",
        "vest", "suit",
        "coat", "labcoat", "shirt", "tshirt", "uniform", "tracksuit", "cardigan", "hoodie",
        "dress", "armour",
    }),
    "hair_style": frozenset(hairdo.STYLES),
}  # fmt: skip
#: least and most of a feature that is a number
RANGES: dict[str, tuple[float, float]] = {
    "face": (0.8, 1.3), "jaw": (-0.2, 1.3), "eyes": (0.7, 1.4), "brow": (3, 14),
    "brow_turn": (-8, 8), "nose": (0.6, 1.6), "mouth": (0.7, 1.3), "apart": (0.9, 1.12),
    "ruddy": (0, 0.7), "tall": (0.85, 1.15), "stout": (0.8, 1.35),
}  # fmt: skip
