"""Vocabulary: what the text's own words say about looks, and which piece a colour belongs to."""

from __future__ import annotations

import re
from typing import Any

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
    "black": "#34323c", "white": "#e6e2d8", "gold": "#c9a04a", "silver": "#b9bec8",
    "teal": "#4a7480", "cream": "#d9c7a3", "crimson": "#a52a34",
}  # fmt: skip

#: any of these words -> features; later rows win
WORDS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    # hair
    (("短发", "短头发", "short hair"), {"hair_style": "short"}),
    (("齐耳", "bob"), {"hair_style": "bob"}),
    (("长发", "long hair", "披肩"), {"hair_style": "long"}),
    (("卷发", "烫发", "curly"), {"hair_style": "waves"}),
    (("马尾", "ponytail"), {"hair_style": "ponytail"}),
    (("双马尾", "pigtails"), {"hair_style": "twin_tails"}),
    (("齐刘海", "姬发"), {"hair_style": "hime"}),
    (("辫", "braid", "plait"), {"hair_style": "braids"}),
    (("发髻", "盘发", "挽髻", "chignon"), {"hair_style": "bun"}),
    (("云髻", "高髻", "云鬓"), {"hair_style": "updo"}),
    (("双丫髻", "双髻", "丫髻"), {"hair_style": "double_bun"}),
    (("半披", "披发", "披散"), {"hair_style": "half_up"}),
    (("中分", "curtain"), {"hair_style": "curtain"}),
    (("乱发", "蓬乱", "tousled", "dishevelled"), {"hair_style": "tousled"}),
    (("束发", "玉冠", "发冠"), {"hair_style": "topknot"}),
    (("平头", "寸头", "板寸"), {"hair_style": "cropped"}),
    (("光头", "秃", "和尚", "僧", "bald"), {"hair_style": "bald"}),
    (
        ("白发", "银发", "鹤发", "白须", "白髯", "白胡子", "银须", "white hair", "white-haired"),
        {"hair": "#dcd8d2"},
    ),
    (("花白", "灰白", "斑白", "grey hair", "gray hair"), {"hair": "#9a9694"}),
    (("金发", "blond"), {"hair": "#c79a4b"}),
    (("红发", "red hair"), {"hair": "#8a3b25"}),
    # face
    (("圆脸", "圆圆的脸", "胖脸", "round face", "round-faced"), {"shape": "round", "jaw": 0.8}),
    (("瓜子脸", "尖脸", "尖下巴", "heart-shaped"), {"shape": "heart", "jaw": 0.2}),
    (("鹅蛋脸", "oval face"), {"shape": "oval", "jaw": 0.4}),
    (("长脸", "马脸", "long face"), {"shape": "long"}),
    (("方脸", "国字脸", "square jaw", "square face"), {"shape": "square", "jaw": 0.9}),
    (("颧骨", "瘦脸", "cheekbone", "gaunt"), {"shape": "diamond"}),
    (("胖", "肥", "富态", "魁梧", "stout", "fat", "burly", "plump"), {"stout": 1.24}),
    (("瘦", "纤细", "单薄", "slim", "thin", "slender", "lean"), {"stout": 0.86}),
    (("高大", "高个", "身材高", "挺拔", "tall"), {"tall": 1.08}),
    (("矮", "娇小", "short man", "petite"), {"tall": 0.91}),
    (("紫色的圆脸", "紫铜色", "黝黑", "晒得", "古铜", "tanned"), {"skin": "#cf9468"}),
    (("苍白", "惨白", "pale"), {"skin": "#f3e2d2"}),
    (("灰黄", "蜡黄", "sallow"), {"skin_old": "#c9a982"}),
    (("大眼", "杏眼", "圆眼", "big eyes", "wide eyes"), {"eye": "round", "eyes": 1.14}),
    (("小眼", "眯眼", "small eyes"), {"eye": "sharp", "eyes": 0.88}),
    (("丹凤", "凤眼", "桃花眼"), {"eye": "phoenix"}),
    (("浓眉", "粗眉", "bushy"), {"brow": 10.5, "brow_form": "bushy"}),
    (("剑眉",), {"brow": 10.0, "brow_form": "slant"}),
    (("柳眉", "柳叶眉", "弯眉", "细眉", "蛾眉"), {"brow": 6.5, "brow_form": "arch"}),
    (("高鼻", "鹰钩", "hooked nose", "hook nose", "pointed nose"), {"nose_form": "hook"}),
    (("塌鼻", "蒜头鼻", "flat nose"), {"nose_form": "broad"}),
    (("皱纹", "wrinkle"), {"lines": True}),
    (("胡须", "长须", "银须", "白须", "白髯", "胡子", "beard"), {"beard": "long"}),
    (("胡茬", "胡渣", "stubble"), {"beard": "stubble"}),
    (("山羊胡", "goatee"), {"beard": "goatee"}),
    (("八字胡", "小胡子", "moustache", "mustache"), {"beard": "moustache"}),
    (("眼镜", "墨镜", "glasses", "sunglasses", "spectacles"), {"glasses": True}),
    (("刀疤", "伤疤", "scar"), {"scar": True}),
    (("雀斑", "freckle"), {"freckles": True}),
    (("美人痣", "黑痣", "泪痣", "mole"), {"mole": True}),
    (("泪痣", "眼角有痣"), {"mole": True, "mole_at": "eye"}),
    (("断眉",), {"nick": True}),
    # head
    (("毡帽", "felt hat"), {"hat": "felt"}),
    (("斗笠", "草帽", "笠", "straw hat"), {"hat": "straw"}),
    (("hat",), {"hat": "bowler"}),
    (("鸭舌帽", "帽檐", "棒球帽", "baseball cap", "cap"), {"hat": "cap"}),
    (("礼帽", "top hat", "bowler"), {"hat": "bowler"}),
    (("头巾", "包头", "headscarf", "hood", "bonnet", "kerchief"), {"hat": "scarf"}),
    (("官帽", "乌纱"), {"hat": "official"}),
    (("贝雷帽", "beret"), {"hat": "beret"}),
    (("凤冠", "王冠", "crown", "皇帝", "皇上", "king", "queen"), {"hat": "crown"}),
    # clothes
    (("袍", "汉服", "道袍", "长衣", "robe"), {"garment": "robe"}),
    (("龙袍", "蟒袍", "官服", "朝服", "凤袍"), {"garment": "court"}),
    (("褙子", "外衫", "大氅", "鹤氅"), {"garment": "beizi"}),
    (("襦裙", "罗裙", "齐胸"), {"garment": "ruqun"}),
    (("长衫", "马褂", "long gown"), {"garment": "gown"}),
    (("旗袍", "qipao", "cheongsam"), {"garment": "qipao"}),
    (("袄裙", "女学生"), {"garment": "aoqun"}),
    (("中山装", "tunic"), {"garment": "zhongshan"}),
    (("棉袄", "短袄", "夹袄", "棉衣", "布衣", "袄", "padded"), {"garment": "jacket"}),
    (("背心", "坎肩", "马甲", "vest", "waistcoat"), {"garment": "vest"}),
    (("西装", "西服", "suit", "总裁", "律师", "lawyer"), {"garment": "suit"}),
    (("衬衫", "衬衣", "shirt"), {"garment": "shirt"}),
    (("t恤", "短袖", "t-shirt"), {"garment": "tshirt"}),
    (
        ("毛衣", "开衫", "针织", "sweater", "cardigan", "jumper", "jersey", "pullover"),
        {"garment": "cardigan"},
    ),
    (("卫衣", "hoodie", "帽衫"), {"garment": "hoodie"}),
    (("制服", "uniform"), {"garment": "uniform"}),
    (("校服", "运动服", "tracksuit"), {"garment": "tracksuit"}),
    (("连衣裙", "裙", "dress", "gown", "ball gown", "apron", "skirt"), {"garment": "dress"}),
    (
        ("风衣", "大衣", "外套", "coat", "cloak", "cape", "raincoat", "overcoat", "oilskin"),
        {"garment": "coat"},
    ),
    (("overalls",), {"garment": "shirt"}),
    (("spacesuit", "space suit"), {"garment": "tracksuit"}),
    (("医生", "大夫", "doctor", "白大褂"), {"garment": "labcoat", "main": "#e9e8e2"}),
    (("盔甲", "铠甲", "将军", "甲胄", "armour", "armor"), {"garment": "armour"}),
    # what one carries on oneself
    (("银圈", "银项圈", "项圈", "项链", "necklace"), {"ring": True}),
    (("围巾", "红领巾", "scarf", "muffler", "shawl"), {"scarf": "#b0352f"}),
    (("耳环", "耳坠", "earring"), {"earrings": True}),
    (("簪", "钗", "步摇", "hairpin"), {"hairpin": True}),
    (("补丁", "破旧", "打补", "patched"), {"patch": True}),
    (("赤脚", "光脚", "赤足", "barefoot", "bare feet"), {"barefoot": True}),
)


#: what follows a colour -> the feature it colours instead of the clothes
_PIECES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("围巾", "领巾", "scarf", "muffler", "shawl"), "scarf"),
    (("毡帽", "帽", "斗笠", "hat", "cap", "beret", "hood", "bonnet"), "hat_colour"),
    (("裤", "trousers", "pants", "jeans"), "legs"),
    (("鞋", "靴", "shoe", "boot"), "shoes"),
    (("腰带", "衣带", "sash", "belt", "ribbon", "tie"), "trim"),
)
_BODY = re.compile("[发脸眼眉须胡肤牙唇手]")
_EN_BODY = (
    *("hair", "eye", "face", "skin", "beard", "lips", "moustache", "mustache", "whiskers", "braid"),
    *("curl", "plait", "ponytail", "glasses", "spectacles", "rimmed", "crown", "button", "nose"),
    *("earring", "necklace", "locket", "cheek"),
)
#: colours of hair and beards
_EN_HAIR = {
    "black": "#221d22", "dark": "#2c2226", "brown": "#5a3a28", "red": "#8a3b25",
    "auburn": "#7a3a24", "ginger": "#a8552c", "golden": "#c79a4b", "blond": "#c79a4b",
    "blonde": "#c79a4b", "fair": "#c79a4b", "yellow": "#c79a4b", "grey": "#9a9694",
    "gray": "#9a9694", "white": "#dcd8d2", "silver": "#c4c2c4", "pink": "#d98aa4",
    "blue": "#4f6f9a", "green": "#5a8a6a", "purple": "#7a5a92",
}  # fmt: skip
_HAIRY = re.compile(
    rf"\b({'|'.join(_EN_HAIR)})[ -](?:hair(?:ed)?|beard(?:ed)?|m(?:o)?ustaches?|whiskers|braids?"
    r"|plaits?|curls?|ponytail|bun|hood of hair)\b"
)
_CLOTHES = re.compile("[袍衣裙衫裤袄服装帽巾鞋靴带]")


def says(text: str, word: str) -> bool:
    """Whether a text holds a word; an English one whole, so that looking is no king."""
    if not word.isascii():
        return word in text
    return re.search(rf"\b{re.escape(word)}(?:s|es|d|ed)?\b", text) is not None


def told(text: str) -> dict[str, Any]:
    """The features that a text in small letters tells."""
    found: dict[str, Any] = {}
    first = len(text)  #: of several clothes those that are told of first
    for words, change in WORDS:
        at = _told_at(text, words)
        if at is None:
            continue
        found.update({part: value for part, value in change.items()
                      if part != "garment" or at <= first})  # fmt: skip
        first = min(first, at) if "garment" in change else first
    hair = _HAIRY.search(text)
    if hair:
        found["hair"] = _EN_HAIR[hair.group(1)]
    worn: list[str] = []
    for piece, code in _coloured(text):
        if piece == "clothes":
            worn.append(code)
        elif piece:
            found[piece] = code
    if worn:
        found["main"] = worn[0]
    if len(worn) > 1:
        found.setdefault("trim", worn[1])
    return found


#: what some wear for what they are, where words tell of nothing else
_OFFICES: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("警察", "民警", "巡警", "警官", "保安", "constable", "policeman", "police officer",
      "policewoman", "officer", "sheriff", "patrolman"),
     {"garment": "zhongshan", "main": "#2c3a5c", "trim": "#c9a24e", "hat": "cap",
      "hat_colour": "#2c3a5c"}),
    (("士兵", "卫兵", "副官", "soldier", "guard", "sergeant"),
     {"garment": "zhongshan", "main": "#56613f", "hat": "cap", "hat_colour": "#56613f"}),
    (("侍卫", "knight"), {"garment": "armour"}),
    (("医生", "大夫", "doctor", "surgeon"), {"garment": "labcoat", "main": "#e9e8e2"}),
    (("护士", "nurse"), {"garment": "dress", "main": "#e6ecec"}),
    (("和尚", "monk"), {"garment": "robe", "hair_style": "bald"}),
    (("butler", "footman"), {"garment": "suit", "main": "#2f2f38"}),
)  # fmt: skip


def office(name: str) -> dict[str, Any]:
    """The features of somebody who is called by an office: 警察, first constable."""
    lower = name.lower()
    return next((dict(worn) for words, worn in _OFFICES if any(says(lower, w) for w in words)), {})


def _told_at(text: str, words: tuple[str, ...]) -> int | None:
    """In which of the phrases of a sheet one of the words stands first."""
    if not any(word in text for word in words):
        return None
    phrases = enumerate(text.split(","))
    return next((k for k, phrase in phrases if any(says(phrase, word) for word in words)), None)


def _coloured(text: str) -> list[tuple[str, str]]:
    """Every colour word in order, with the piece it belongs to; "" for hair, face and skin."""
    found: dict[int, tuple[str, str]] = {}
    taken: set[int] = set()
    for word, code in (*COLOURS, *EN_COLOURS.items()):
        at = text.find(word)
        while at >= 0:
            span = range(at, at + len(word))
            if not taken.intersection(span):
                found[at] = (_piece(text, at, at + len(word), word.isascii()), code)
            taken.update(span)
            at = text.find(word, at + 1)
    return [found[at] for at in sorted(found)]


def _piece(text: str, start: int, end: int, english: bool) -> str:  # noqa: FBT001 - private
    """What the colour from `start` to `end` is on: a feature's name, `clothes`, or nothing."""
    if english:
        if (start > 0 and text[start - 1].isalpha()) or text[end : end + 1].isalpha():
            return ""
        after = re.split("[,.;!?]", text[end:])[0].split()[:3]
        heads = [word.strip("-") for word in after]
        if heads and heads[0].startswith(_EN_BODY):
            return ""
        for words, piece in _PIECES:
            if any(head.startswith(words) for head in heads[:2]):
                return piece
        return "clothes"
    after_ = re.split("[ ，。、；,;！？]", text[end : end + 6])[0].removeprefix("色")
    near = after_.removeprefix("的")[:3]
    for words, piece in _PIECES:
        at = min((near.find(word) for word in words if word in near), default=-1)
        if at >= 0 and not _CLOTHES.search(near[:at]):
            return piece
    body = _BODY.search(near)
    return "" if body and not _CLOTHES.search(near[: body.start()]) else "clothes"
