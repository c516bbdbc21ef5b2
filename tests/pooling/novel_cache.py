"""How often the feature cache has what a novel's episodes ask for.

The product's own planner makes the storyboard of a long, seeded text. What a diffusion engine would
look up for each shot is derived from it, and asked of a Cache with the product's own kinds: host
memory so small that much is evicted, and a disk tier that outlives it. No model runs: a product is
noise of its full-size shape in fp16, and counts for the seconds that it would have taken to make.

What the pattern assumes:

- A picture's prompt is made of the shot's labels (scene, framing, who is seen in which mood), never
  of the novel's own sentences: the encoders know no Chinese prose. A clip's prompt says only what
  moves (camera, weather, moods), since its picture says the rest. Each model has one negative.
- The style base is one for each place, time, weather and era.
- Episodes are made one after the other, each stage for the whole episode, in sessions of four.
- A character's features are looked up for each figure in a shot; the first one encodes the anchor.
- Each member looks up for itself, its negatives too, and what it does not find it makes and keeps.
  Were a prompt and its negative one product, a shot had two sure hits less: about 0.67 in all.
- `encode` makes a panel's image embedding and first latent, `animate` takes them: all four are
  lookups, so that every new panel misses twice.
- Of the shots, 2 % get another clip and 2 % another panel, while the next episode is made.
- Voices and films are never asked for.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from mangen import app, settings
from mangen.comic import model, plan, text
from mangen.pooling import cache
from mangen.pooling.devices import profile

HOST_BYTES = 64 * 2**20
DISK_BYTES = 2 * 2**30
MEMBERS = 4  #: of a session
RETAKEN = 0.02  #: of the shots get another clip, as many another panel
MADE_WITH = "novel/watercolour/1"  #: project, style, version of the models: in each signature

#: values in fp16: SDXL at 512x768 with IP-Adapter Plus, I2VGen-XL at 512x768
PICTURE_TEXT = 77 * 2048 + 1280
CLIP_TEXT = 77 * 1024
CHARACTER = 2 * 257 * 1280
BASE = LATENT = 4 * 64 * 96
IMAGE = 1024


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """Shares of lookups, from 0 to 1.

    `hit_rate`: hits, those on disk too, of all lookups from the 20th episode on. `disk_hit_rate`:
    that of the last episode in a new process over the same folder, by that of the same episode in
    the process which made the others. The rest is for people: `by_kind` is `hit_rate` by kind,
    `made_again` are products that were made before, and lost.
    """

    hit_rate: float
    disk_hit_rate: float
    by_kind: Mapping[str, float]
    shots: int
    lookups: int
    made_again: int
    evictions: int
    disk_bytes: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """One lookup: kind and signature of a product, how many values it has, its seconds."""

    kind: str
    signature: str
    values: int
    seconds: float

    def make(self) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(self.signature.encode()).digest()[:8], "little")
        ones = 0x3C00  # as bits of fp16: below it lie the numbers from 0 to 1
        return (
            np.random.default_rng(seed)
            .integers(ones, size=self.values, dtype=np.uint16)
            .view(np.float16)
        )


def measure(folder: pathlib.Path, episodes: int = 50, *, since: int = 20) -> Rates:
    """Play so many episodes of a novel; rates count from episode `since` on.

    `folder` holds the disk tiers meanwhile, some 400 MB.
    """
    board = plan.plan(text.decode(novel(episodes).encode(), "novel"), title="novel")
    asked = [list(_asked(board, number)) for number in range(len(board.episodes))][:episodes]
    if len(asked) < episodes:
        raise ValueError(f"the text makes {len(asked)} episodes, not {episodes}")
    first, second = folder / "first", folder / "second"
    unbroken = _open(first)
    counted = [_play(unbroken, members) for members in asked[:-1]]
    second.mkdir()
    for path in first.glob("*.safetensors"):
        os.link(path, second / path.name)  # files are replaced, never changed: a link is a copy
    counted.append(_play(unbroken, asked[-1]))
    restarted = _play(_open(second), asked[-1])
    late = counted[since - 1 :]
    made = Rates(
        hit_rate=_rate(late, "total"),
        disk_hit_rate=_rate([restarted], "total") / _rate(counted[-1:], "total"),
        by_kind={kind: round(_rate(late, kind), 3) for kind in KINDS},
        shots=sum(len(episode.shots) for episode in board.episodes[:episodes]),
        lookups=sum(_lookups(one, "total") for one in counted),
        made_again=_misses(counted) - len(_distinct(asked)),
        evictions=int(unbroken.counters()["total"]["evictions"]),
        disk_bytes=sum(path.stat().st_size for path in first.glob("*.safetensors")),
    )
    for place in (first, second):
        shutil.rmtree(place, ignore_errors=True)
    return made


# -- what a shot asks for


def _asked(board: model.Storyboard, number: int) -> Iterator[Sequence[Wanted]]:
    """Yield what each member of an episode's work asks for, in order."""
    shots = board.episodes[number].shots
    yield from map(_illustrate, shots)
    for shot in shots:
        yield _encode(shot)
    yield from map(_animate, shots)
    if number == 0:
        return
    before = board.episodes[number - 1].shots
    dice = random.Random(number)
    again = [dataclasses.replace(one, take=2) for one in before if dice.random() < RETAKEN]
    yield from map(_illustrate, again)
    yield from map(_encode, again)
    yield from map(_animate, [*again, *(one for one in before if dice.random() < RETAKEN)])


_PROFILE = profile.find("card_24g", "")
#: the profile states its sources; one prompt of the two that it counts takes half of the time
_PICTURE_TEXT_S = _PROFILE.stage("sdxl.encode").seconds(1) / 2
_PANEL_S = _PROFILE.stage("i2vgenxl.encode/512x768").seconds(1)
_BASE_S = _PROFILE.stage("sdxl.denoise/512x768").seconds(1, 30)
#: a third of encoding a panel, as text, picture and latent each are one pass
_PASS_S = _PANEL_S / 3


def _illustrate(shot: model.Shot) -> list[Wanted]:
    scene = shot.scene
    moods = tuple(zip(shot.characters, shot.emotions, strict=True))
    where = (scene.place, scene.time, scene.weather, scene.era)
    return [
        _wanted("text", PICTURE_TEXT, _PICTURE_TEXT_S, "negative"),
        _wanted("text", PICTURE_TEXT, _PICTURE_TEXT_S, shot.kind, scene, moods),
        *(_wanted("character", CHARACTER, _PASS_S, name) for name in shot.characters),
        _wanted("style", BASE, _BASE_S, where),
    ]


def _encode(shot: model.Shot) -> list[Wanted]:
    panel = (shot.identity, shot.take)
    return [
        _wanted("image", IMAGE, _PASS_S, panel),
        _wanted("latent", LATENT, _PASS_S, panel),
    ]


def _animate(shot: model.Shot) -> list[Wanted]:
    moves = (shot.motion, shot.scene.framing, shot.scene.weather, shot.emotions)
    return [
        _wanted("text", CLIP_TEXT, _PASS_S, "clip", "negative"),
        _wanted("text", CLIP_TEXT, _PASS_S, "clip", moves),
        *_encode(shot),
    ]


def _wanted(kind: str, values: int, seconds: float, *of: Any) -> Wanted:
    return Wanted(kind=kind, signature=f"{MADE_WITH} {kind} {of!r}", values=values, seconds=seconds)


# -- the cache under it

_Counts: TypeAlias = Mapping[str, Mapping[str, float]]

#: the product's own, but for those that no diffusion engine's shot asks for
KINDS = {
    kind: cache.Policy.of(kind, given)
    for kind, given in app.pool_configuration(settings.Settings())["cache_kinds"].items()
    if kind != "panel"
}


def _open(folder: pathlib.Path) -> cache.Cache:
    """As in a child beside a card: what is on the host is not what its gate counts."""
    return cache.Cache(
        cache.Options(
            kinds=KINDS, folder=str(folder), disk_bytes=DISK_BYTES, host_bytes=HOST_BYTES,
            host_is_device=False,
        )
    )  # fmt: skip


def _play(kept: cache.Cache, asked: Sequence[Sequence[Wanted]]) -> _Counts:
    """Do an episode's work, as sessions do; answers what was counted meanwhile."""
    before = kept.counters()
    for start in range(0, len(asked), MEMBERS):
        members = dict(enumerate(asked[start : start + MEMBERS]))
        for key, wanted in members.items():
            for one in wanted:
                if kept.get(one.kind, one.signature) is None:
                    kept.put(one.kind, one.signature, one.make(), seconds=one.seconds, by=str(key))
        for key in members:
            kept.settle(str(key), done=True)
        kept.close_session()
    after = kept.counters()
    return {
        kind: {name: after[kind][name] - before[kind][name] for name in after[kind]}
        for kind in after
    }


def _rate(counted: Sequence[_Counts], kind: str) -> float:
    hits = sum(one[kind]["hit"] + one[kind]["disk_hit"] for one in counted)
    return hits / max(1, sum(_lookups(one, kind) for one in counted))


def _misses(counted: Sequence[_Counts]) -> int:
    return int(sum(one["total"]["miss"] for one in counted))


def _distinct(asked: Sequence[Sequence[Sequence[Wanted]]]) -> set[tuple[str, str]]:
    return {(one.kind, one.signature) for episode in asked for member in episode for one in member}


def _lookups(counted: _Counts, kind: str) -> int:
    return int(sum(counted[kind][name] for name in ("hit", "disk_hit", "miss")))


# -- the novel

LEADS = ("沈若兰", "陆子轩", "苏婉清", "萧景天")
OTHERS = (
    "赵铁山", "柳如烟", "王德福", "林小荷", "顾长风", "秦玉娘", "周大勇", "白素心", "韩飞虎",
    "杜月娥", "马三才", "崔文秀", "郭守义", "梅映雪", "董成武", "叶知秋", "宋连城", "唐晚晴",
    "魏无双", "江若水",
)  # fmt: skip
PLACES = (
    "走进客栈", "来到河边", "走进大殿", "走到院子里", "走进竹林", "爬到山顶", "走到街上",
    "回到房间", "走进集市", "走进破庙", "走到城门", "走进书房", "来到渡口", "走进御花园",
)  # fmt: skip
TIMES = ("清晨", "正午", "下午", "黄昏", "夜里", "深夜")
WEATHERS = ("下着雨", "大雪纷飞", "浓雾不散", "起风了", "雷声隆隆", "天气晴朗")
TURNS = ("一把长剑落在地上", "灯笼照着两个人", "远处传来大笑", "眼泪落下来", "阴影慢慢靠近")
MANNERS = ("说道", "笑道", "怒道", "叹道", "问道", "冷笑道", "颤抖着说", "哽咽着说", "惊道")
#: how often each is used: most of what is said is said plainly
PLAIN = (12, 3, 2, 2, 5, 1, 1, 1, 1)
DEEDS = (
    "站在门口", "转身离去", "点了点头", "推开了门", "放下茶杯", "看着远方", "握着那封信",
    "停下脚步",
)  # fmt: skip
SAYINGS = (
    "你来晚了", "这件事与你无关", "天亮之前必须走", "我等了你十年", "这里说话不方便", "原来是你",
    "信在谁手里", "明天一早就动身", "没有人会相信的", "他不会回来了",
)  # fmt: skip


def novel(episodes: int) -> str:
    """Write a seeded novel that is long enough for so many episodes.

    Four leads go through it; every five chapters are an arc with three of twenty others and four of
    fourteen places. A chapter has one to three scenes, each of one place, time and weather, with
    two or three people in it, who mostly speak.
    """
    dice = random.Random(7)
    chapters: list[str] = []
    while len(chapters) < 0.85 * episodes + 3:
        others, places = dice.sample(OTHERS, 3), dice.sample(PLACES, 4)
        chapters.extend(_chapter(dice, len(chapters) + n + 1, others, places) for n in range(5))
    return "\n".join(chapters)


def _chapter(dice: random.Random, number: int, others: Sequence[str], places: Sequence[str]) -> str:
    lines = [f"第{number}章"]
    for _ in range(dice.choice((1, 2, 2, 3))):
        people = [*dice.sample(LEADS, dice.choice((1, 2))), dice.choice(others)]
        weather = f"，{dice.choice(WEATHERS)}" if dice.random() < 0.4 else ""
        lines.append(f"{dice.choice(TIMES)}{weather}。{people[0]}{dice.choice(places)}。")
        for n in range(dice.randint(8, 16)):
            who, other = people[n % len(people)], people[(n + 1) % len(people)]
            chance, said = dice.random(), f"{dice.choice(SAYINGS)}，{dice.choice(SAYINGS)}"
            manner = dice.choices(MANNERS, PLAIN)[0]
            if chance < 0.45:
                lines.append(f"{who}{manner}：“{said}。”")
            elif chance < 0.6:
                lines.append(f"{who}对{other}{manner}：“{said}。”")
            elif chance < 0.8:
                lines.append(f"{who}{dice.choice(DEEDS)}，{dice.choice(DEEDS)}，没有再说一句话。")
            elif chance < 0.95:
                lines.append(f"{who}{dice.choice(DEEDS)}，{other}{dice.choice(DEEDS)}。")
            else:
                lines.append(f"{dice.choice(TURNS)}。")
    return "\n".join(lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, value in dataclasses.asdict(measure(pathlib.Path(folder))).items():
            print(f"{name:14} {value}")


if __name__ == "__main__":
    main()
