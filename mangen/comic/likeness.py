"""Which people of a text get an anchor, and the words that it is drawn from."""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from mangen.comic import ages, attire, lexicon, model, people, requests, scenes
from mangen.engines.animatic import troupe

WORDS = 6  #: words about looks on a sheet
TEMPERS = 2  #: words about how somebody is, for the voice
MOST_TOLD = 400  #: places in which a name is looked at
REACH = 24  #: characters around a name in which they are looked for

_TALKED_OF = {
    "female": re.compile("[^，。！？]{0,3}她(?!们)"),
    "male": re.compile("[^，。！？]{0,3}他(?!们)"),
}
_ENDS = re.compile(r"[。！？!?]|(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)\.")
_COLOURS = (
    "(?:[深浅淡大火雪墨藏宝米天暗]?(?:红|白|黑|青|蓝|紫|绿|黄|灰|粉|棕|褐)|金|银|酒红|米|咖啡)"
)
_COLOURS_EN = (
    "(?:(?:dark|light|pale|deep) )?(?:red|white|black|green|blue|purple|yellow|gr[ea]y|pink|brown"
    "|golden|silver|scarlet|crimson|dark)"
)


class Told(Protocol):
    """A piece of narration."""

    text: str
    people: tuple[str, ...]
    mentions: tuple[tuple[int, str], ...]
    joined: bool
    setting: scenes.Setting


def characters(
    cast: people.Cast,
    seen: Iterable[str | None],
    speech: Iterable[tuple[str | None, str]],
    told: Iterable[Told],
    *,
    era: str,
    most: int,
) -> list[model.Character]:
    """The `most` people who are seen or heard oftenest, in that order.

    `speech` are speakers and what they say: how others call 我 tells who that is; `told` is the
    narration.
    """
    counts = collections.Counter(name for name in seen if name)
    drawn = [
        name
        for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if name in cast.people
        or name in people.PRONOUNS
        or name in {people.SELF_ZH, people.SELF_EN}
    ]
    drawn = [name for name in drawn if name not in lexicon.words("group")]
    # those who are only talked of come last: they are drawn where somebody sees them later
    drawn += [name for name, one in cast.people.items() if name not in drawn and not one.role]
    del drawn[most:]
    beats = [*told]
    about = _about(drawn, beats)
    made = [_character(name, cast, about[name], era) for name in drawn]
    if cast.language == "en":
        described = _described(cast, beats)
        made = [_as_told(one, cast, described.get(one.name, [])) for one in made]
    made = [
        dataclasses.replace(one, sex=_sex_of_self(speech, one.name, cast.language))
        if one.name in people.SELVES and one.sex == "unknown"
        else one
        for one in made
    ]
    return [dataclasses.replace(one, sex=_decided(one, cast)) for one in made]


def unlike(characters: Sequence[model.Character], whole: str) -> list[model.Character]:
    """The same characters, seeds raised where two would look alike.

    Whoever the text names first chooses first: what it adds at its end changes nobody's looks.
    """
    named = [whole.find(one.name) % (len(whole) + 1) for one in characters]
    order = sorted(range(len(characters)), key=lambda k: (named[k], characters[k].name))
    sheets = [requests.sheet(requests.sheet_params(characters[k])) for k in order]
    seeds = {sheet.name: sheet.seed for sheet in troupe.unlike(sheets)}
    return [dataclasses.replace(one, seed=seeds[one.name]) for one in characters]


def _decided(one: model.Character, cast: people.Cast) -> people.Sex:
    """A sex for all who draw and speak: where the text tells none, roles take turns by name."""
    if one.sex != "unknown":
        return one.sex
    person = cast.people.get(one.name)
    return "female" if person is not None and person.role and one.seed % 2 else "male"


def _described(
    cast: people.Cast, beats: Sequence[Told]
) -> dict[str, list[tuple[attire.Told, bool]]]:
    """What the sentences of an English text say of each one, and whether it is past."""
    found: dict[str, list[tuple[attire.Told, bool]]] = {}
    sexes = {name: person.sex for name, person in cast.people.items()}
    for beat in beats:
        for told in attire.told(beat.text, beat.mentions, beat.people, sexes, joined=beat.joined):
            found.setdefault(told.name, []).append((told, beat.setting.memory))
    return found


def _as_told(
    one: model.Character, cast: people.Cast, said: Sequence[tuple[attire.Told, bool]]
) -> model.Character:
    """Somebody as an English text describes them, what is present before what is past."""
    found = [told for told, past in said if not past]
    looks = [[look for told, then in said if then is past for look in told.looks]
             for past in (False, True)]  # fmt: skip
    age = next((told.age for told in found if told.age not in {None, "adult"}), None)
    sex = next((told.sex for told in found if told.sex != "unknown"), one.sex)
    tempers = [word for word in one.words if word in lexicon.words("english-temper")]
    named = one.name in cast.people and not cast.people[one.name].role
    return dataclasses.replace(
        one,
        words=(*_fullest(looks[0] or looks[1])[:WORDS], *tempers[:TEMPERS]),
        age=age if age and (one.age == "adult" or named) else one.age,
        sex=sex if one.sex == "unknown" else one.sex,
    )


def _fullest(looks: Sequence[str]) -> list[str]:
    """Each look once, in its fullest words: a dark green cloak, not the cloak of it."""
    once = list(dict.fromkeys(looks))
    return [
        look
        for look in once
        if not any(look != other and look.split()[-1:] == other.split()[-1:]
                   and set(look.split()) < set(other.split()) for other in once)
    ]  # fmt: skip


def _sex_of_self(
    speech: Iterable[tuple[str | None, str]], self_: str, language: people.Language
) -> people.Sex:
    """Who is I: by what the others call me."""
    votes = 0
    lines = [*speech]
    for n, (speaker, words) in enumerate(lines):
        near = {who for who, _ in lines[max(0, n - 1) : n + 2]}
        if speaker != self_ and (self_ in near or language == "zh"):
            votes += bool(_called("female", language).search(words))
            votes -= bool(_called("male", language).search(words))
            # 她肯定是抄的: who is talked of and not named, where somebody tells in the first person
            votes += language == "zh" and _TALKED_OF["female"].match(words) is not None
            votes -= language == "zh" and _TALKED_OF["male"].match(words) is not None
    return "female" if votes > 0 else "male" if votes < 0 else "unknown"


@functools.cache
def _called(sex: str, language: people.Language) -> re.Pattern[str]:
    if language == "en":
        listed = {
            "female": "miss|ma['’]am|madam|girl|my lady|madame",
            "male": "sir|boy|lad|mister|son",
        }
        return re.compile(rf"(?:^|,\s)(?:my |young )?(?:{listed[sex]})(?:[,.!?]|$)", re.IGNORECASE)
    listed_zh = lexicon.alternation(list(lexicon.words(f"{sex}-title")))
    return re.compile(rf"^[^，。！？,!?]{{0,2}}(?:{listed_zh})好?(?:[，,。！!？?…]|$)")


def _about(names: Sequence[str], told: Iterable[Told]) -> dict[str, tuple[list[str], list[str]]]:
    """What the present and the past tell near each name, up to the next name."""
    found: dict[str, tuple[list[str], list[str]]] = {name: ([], []) for name in names}
    for one in told:
        mentions = [*one.mentions] or [(0, name) for name in one.people[:1]]
        for n, (at, name) in enumerate(mentions):
            if name not in found:
                continue
            kept = found[name][one.setting.memory]
            if len(kept) >= MOST_TOLD:
                continue
            reach = REACH * (3 if one.text.isascii() else 1)
            end = mentions[n + 1][0] if n + 1 < len(mentions) else len(one.text)
            start = mentions[n - 1][0] + 1 if n else 0
            before = _before(one.text[max(start, at - reach) : at], first=n == 0)
            after = _ENDS.split(one.text[at : min(end, at + 2 * reach)])[0]
            kept.append(before + _own(after))
    return found


def _before(text: str, *, first: bool) -> str:
    """What stands before a name and is about it: 穿红裙的(林若雪), not what another one did."""
    sentence = _ENDS.split(text)[-1]
    if first:
        return sentence
    clause = re.split("[，、,]", sentence)[-1]
    return clause if clause.endswith("的") else ""


def _own(after: str) -> str:
    """What follows a name without what already tells of the next one: 看见一个穿白裙的(女孩)."""
    newcomer = 2 if re.match("一[个名位道]", after) else 0  # who comes is told of by these words
    rest = re.sub(r"[个位名][^，。]{0,10}$|[^个位名着见，]*的$", "", after[newcomer:])
    return after[:newcomer] + rest


def _character(
    name: str, cast: people.Cast, about: tuple[Sequence[str], Sequence[str]], era: str
) -> model.Character:
    person = cast.people.get(name)
    present, past = (" ".join(texts) for texts in about)
    text = f"{present} {past}"
    sex = person.sex if person else people.PRONOUNS.get(name, "unknown")
    age = person.age if person else "adult"
    if cast.language == "zh" and age in {"adult", "youth"} and not (person and person.role):
        age = ages.of(present, name) or ages.of(text, name) or age
    if era == "campus" and age == "adult" and not (person and person.role):
        age = "youth"  # who goes to school, where nothing else is told
    looks = _worded(present, "look", cast.language) or _worded(past, "look", cast.language)
    tempers = _worded(text, "temper", cast.language)
    return model.Character(
        name=name,
        sex=sex,
        age=age,
        words=(*looks[:WORDS], *tempers[:TEMPERS]),
        era=era,
        seed=int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF,
    )


def _worded(text: str, kind: str, language: people.Language) -> list[str]:
    """The words of a kind, with the colour before them."""
    found = [match.group() for match in _words(kind, language).finditer(text)]
    return list(dict.fromkeys(found))


@functools.cache
def _words(kind: str, language: people.Language) -> re.Pattern[str]:
    if language == "en":
        listed = lexicon.alternation(list(lexicon.words(f"english-{kind}")))
        return re.compile(rf"\b(?:{_COLOURS_EN} )?(?:{listed})\b", re.IGNORECASE)
    listed = lexicon.alternation(list(lexicon.words(kind)))
    return re.compile(f"(?:{_COLOURS}色?的?(?:[小大破旧新长短厚]?))?(?:{listed})")
