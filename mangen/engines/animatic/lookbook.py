"""The lookbook: what each era wears, and what the text's own words say about looks."""

from __future__ import annotations

from typing import Any

SKINS = ("#f4d3b3", "#efc8a2", "#e9bd95", "#ecc39c", "#f7dcc4", "#e9c09a")
HAIRS = ("#221d22", "#2a2126", "#33262a", "#1d2029", "#3d2b26")
GREY_HAIRS = ("#8d8a8c", "#b5b1ad", "#6f6b6e", "#d8d4cf")
IRISES = ("#2a1a18", "#38241c", "#1f2330", "#40301c")

#: era -> (garments of women, of men), (hair of women, of men)
ERAS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "ancient": (("robe",), ("robe",), ("bun", "long", "braids"), ("topknot",)),
    "xianxia": (("robe",), ("robe",), ("long", "bun"), ("long_topknot", "topknot")),
    "republic": (("qipao", "jacket"), ("gown", "jacket"), ("bob", "braids", "bun"),
                 ("brush", "side", "short")),
    "modern": (("dress", "shirt", "coat"), ("suit", "shirt", "coat"),
               ("long", "bob", "ponytail", "waves"), ("short", "side", "tousled")),
    "campus": (("uniform",), ("uniform",), ("ponytail", "bob", "long"), ("short", "tousled")),
    "countryside": (("jacket", "shirt"), ("jacket", "vest"), ("braids", "bun", "bob"),
                    ("cropped", "short", "brush")),
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
LEGS = ("#37507a", "#4a4a50", "#3f4a44", "#57483f", "#2f3647", "#6a5f52")

#: words for colours; compounds first, so that 藏青 is not read as 青
COLOURS: tuple[tuple[str, str], ...] = (
    ("藏青", "#2f3f5c"), ("深蓝", "#2c4470"), ("月白", "#c9d8de"), ("粉红", "#d98a96"),
    ("大红", "#b8332f"), ("墨绿", "#2f4f43"), ("米色", "#d9c7a3"), ("咖啡", "#6b4a38"),
    ("红", "#b5392f"), ("朱", "#b5392f"), ("绯", "#c24d4a"), ("橙", "#cf7a35"), ("黄", "#cfa043"),
    ("绿", "#4f7d5a"), ("翠", "#3f8470"), ("青", "#4a7480"), ("蓝", "#3c5f92"), ("紫", "#6d4c86"),
    ("粉", "#d795a0"), ("褐", "#7a5a42"), ("棕", "#7a5a42"), ("灰", "#7d8087"), ("黑", "#34323c"),
    ("白", "#e6e2d8"), ("素", "#dcd8cc"), ("金", "#c9a04a"),
)  # fmt: skip
EN_COLOURS: dict[str, str] = {
    "red": "#b5392f", "scarlet": "#b8332f", "orange": "#cf7a35", "yellow": "#cfa043",
    "green": "#4f7d5a", "blue": "#3c5f92", "navy": "#2f3f5c", "purple": "#6d4c86",
    "pink": "#d795a0", "brown": "#7a5a42", "grey": "#7d8087", "gray": "#7d8087",
    "black": "#34323c", "white": "#e6e2d8", "gold": "#c9a04a",
}  # fmt: skip

#: any of these words -> features; later rows win
WORDS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    # hair
    (("短发", "短头发", "short hair"), {"hair_style": "short"}),
    (("齐耳", "bob"), {"hair_style": "bob"}),
    (("长发", "long hair", "披肩"), {"hair_style": "long"}),
    (("卷发", "烫发", "curly"), {"hair_style": "waves"}),
    (("马尾", "ponytail"), {"hair_style": "ponytail"}),
    (("辫", "braid", "pigtail"), {"hair_style": "braids"}),
    (("发髻", "云髻", "高髻", "盘发"), {"hair_style": "bun"}),
    (("束发", "玉冠", "发冠"), {"hair_style": "topknot"}),
    (("平头", "寸头", "板寸"), {"hair_style": "cropped"}),
    (("光头", "秃", "和尚", "僧", "bald"), {"hair_style": "bald"}),
    (("白发", "银发", "鹤发", "white hair", "white-haired"), {"hair": "#dcd8d2"}),
    (("花白", "灰白", "斑白", "grey hair", "gray hair"), {"hair": "#9a9694"}),
    (("金发", "blond"), {"hair": "#c79a4b"}),
    (("红发", "red hair"), {"hair": "#8a3b25"}),
    # face
    (("圆脸", "圆圆的脸", "round face"), {"face": 1.12, "jaw": 0.8}),
    (("瓜子脸", "尖脸", "鹅蛋脸"), {"face": 0.95, "jaw": 0.2}),
    (("方脸", "国字脸", "square jaw"), {"face": 1.08, "jaw": 1.0}),
    (("紫色的圆脸", "紫铜色", "黝黑", "晒得", "古铜", "tanned"), {"skin": "#cf9468"}),
    (("苍白", "惨白", "pale"), {"skin": "#f3e2d2"}),
    (("灰黄",), {"skin": "#c9a982"}),
    (("大眼", "杏眼", "圆眼", "big eyes"), {"eyes": 1.2}),
    (("小眼", "眯眼", "丹凤", "凤眼"), {"eyes": 0.88}),
    (("浓眉", "剑眉"), {"brow": 11.0}),
    (("皱纹", "wrinkle"), {"lines": True}),
    (("胡须", "长须", "银须", "胡子", "beard"), {"beard": "long"}),
    (("胡茬", "络腮", "stubble"), {"beard": "stubble"}),
    (("八字胡", "小胡子", "moustache", "mustache"), {"beard": "moustache"}),
    (("眼镜", "glasses", "spectacles"), {"glasses": True}),
    (("刀疤", "伤疤", "scar"), {"scar": True}),
    (("雀斑", "freckle"), {"freckles": True}),
    # head
    (("毡帽", "felt hat"), {"hat": "felt"}),
    (("斗笠", "草帽", "笠", "straw hat"), {"hat": "straw"}),
    (("鸭舌帽", "帽檐", "棒球帽", "baseball cap"), {"hat": "cap"}),
    (("礼帽", "top hat", "bowler"), {"hat": "bowler"}),
    (("头巾", "包头", "headscarf"), {"hat": "scarf"}),
    (("官帽", "乌纱"), {"hat": "official"}),
    (("凤冠", "王冠", "crown", "皇帝", "皇上", "king", "queen"), {"hat": "crown"}),
    # clothes
    (("袍", "汉服", "罗裙", "道袍", "长衣", "robe"), {"garment": "robe"}),
    (("长衫", "马褂"), {"garment": "gown"}),
    (("旗袍",), {"garment": "qipao"}),
    (("棉袄", "短袄", "夹袄", "棉衣", "布衣", "袄", "padded"), {"garment": "jacket"}),
    (("背心", "坎肩", "马甲", "vest", "waistcoat"), {"garment": "vest"}),
    (("西装", "西服", "suit", "总裁", "律师", "lawyer"), {"garment": "suit"}),
    (("衬衫", "衬衣", "T恤", "shirt"), {"garment": "shirt"}),
    (("卫衣", "hoodie", "帽衫"), {"garment": "hoodie"}),
    (("校服", "制服", "uniform"), {"garment": "uniform"}),
    (("连衣裙", "裙", "dress", "gown"), {"garment": "dress"}),
    (("风衣", "大衣", "外套", "coat", "cloak"), {"garment": "coat"}),
    (("医生", "大夫", "doctor", "白大褂"), {"garment": "coat", "main": "#e9e8e2"}),
    (("盔甲", "铠甲", "将军", "甲胄", "armour", "armor"), {"garment": "armour"}),
    # what one carries on oneself
    (("银圈", "银项圈", "项圈", "项链", "necklace"), {"ring": True}),
    (("围巾", "scarf"), {"scarf": "#b0352f"}),
    (("耳环", "耳坠", "earring"), {"earrings": True}),
    (("簪", "钗", "步摇", "hairpin"), {"hairpin": True}),
    (("补丁", "破旧", "打补", "patched"), {"patch": True}),
    (("赤脚", "光脚", "barefoot"), {"barefoot": True}),
)

#: what a feature may be; others are colours or yes and no
CHOICES: dict[str, frozenset[Any]] = {
    "version": frozenset({1}),
    "age": frozenset({"child", "youth", "adult", "elder"}),
    "beard": frozenset({"none", "stubble", "moustache", "long"}),
    "hat": frozenset(
        {"none", "felt", "straw", "cap", "bowler", "scarf", "official", "crown"}
    ),
    "garment": frozenset({
        "robe", "gown", "qipao", "jacket", "vest", "suit", "coat", "shirt", "uniform", "hoodie",
        "dress", "armour",
    }),
    "hair_style": frozenset({
        "short", "tousled", "side", "brush", "cropped", "long", "waves", "bob", "ponytail",
        "braids", "bun", "topknot", "long_topknot", "tufts", "balding", "bald",
    }),
}  # fmt: skip
#: least and most of a feature that is a number
RANGES: dict[str, tuple[float, float]] = {
    "face": (0.8, 1.3), "jaw": (-0.2, 1.3), "eyes": (0.7, 1.4), "brow": (3, 14),
    "brow_turn": (-8, 8), "nose": (0.6, 1.6), "ruddy": (0, 0.7), "tall": (0.85, 1.15),
}  # fmt: skip
