"""People of a Chinese text: a word is somebody when it does what only people do.

It says something, is called, is the subject of a human verb, is named along with somebody, or is
tagged as a name and begins with a surname. What stands in the dictionary as another word needs
more of that, so that 夜华 and 雨桐 are people and 冷风 is not.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence

from mangen.comic import lexicon, people, words

TAGGED_CHARACTERS = 100_000  #: about so much of a long text is tagged for names: tagging is slow
SELVES_PER_THOUSAND = 2.0  #: how often the narration of a first-person text says 我
ENOUGH = 3  #: points that make a word somebody
OFTEN = 2  #: so often a pair is followed by one character that is no usual name's
COMMON = 50  #: a word of the dictionary that is met now and then
WHOLE = 0.9  #: in so many of its places a cut name goes on alike

_HAN = r"[\u4e00-\u9fff]"
_DOUBLE = "|".join(lexicon.words("double-surname"))
_NAME = rf"(?:(?:{_DOUBLE}){_HAN}{{1,2}}?|{_HAN}{{2,3}}?|[A-Z][A-Za-z]{{1,14}})"
_EDGE = r"(?:^|(?<=[，。！？；：…—”」』\"'’\s、]))"
_END = r"(?=[，,。：:！!？?…“]|了|着|起|一|$)"
#: verbs that nothing but a person can be the subject of
_ONLY_HUMAN = "咳嗽|皱眉|点头|摇头|转身|回头|抬头|低头|伸手|冷笑|苦笑|微笑|叹了|笑了|哭了|愣|怔"
_SUFFIX = "哥哥|姐姐|哥|姐|嫂|叔|伯|爷|兄|姑娘|公子|小姐|先生|少爷|老爷|大人"
_LADIES = "仙子|姑娘|小姐|夫人|太太|女士|师姐|师妹|公主|贵妃|娘娘|妈|婶|嫂|姨"
_SHE_IS = "校花|女神|千金|学姐|女孩|女生|少女|女总裁|女主|公主|女儿|妹妹|姐姐|妻子|未婚妻|师妹|师姐"
_HE_IS = "校草|男神|学长|男孩|男生|少年|青年|总裁|少爷|公子|儿子|弟弟|哥哥|丈夫|未婚夫|师兄|师弟"
_LORDS = "公子|先生|少爷|师兄|师弟|将军|王爷|老爷|叔|伯|大哥"
_SUFFIX_MARKS = "的们"  #: whose something is, and a crowd
MANNER = (
    "低声|大声|轻声|高声|厉声|沉声|柔声|小声|齐声|应声|压低声音|冷冷地?|淡淡地?|轻轻地?|缓缓地?|连忙|急忙|忽然|突然|"
    "终于|黯然|怒|忙|又|便|因|亦|也|却|只|才|正|继续|接着|摇头|点头|看罢"
)


@functools.cache
def say() -> str:
    """Ways to say something, as an expression: not the 叫 of 呼叫, nor the 说 of 小说."""
    listed = lexicon.alternation(list(lexicon.words("say")))
    return rf"(?<![呼名小学传听据再难])(?:{listed})"


@functools.cache
def _verbs() -> str:
    return lexicon.alternation(list(lexicon.words("human-verb")))


@functools.cache
def _signs() -> tuple[tuple[re.Pattern[str], int], ...]:
    """What in the narration tells of a person, and for how many points."""
    return (
        (
            re.compile(rf"{_EDGE}(?:只见|却说|忽见)?({_NAME})(?:{MANNER}){{0,3}}{say()}[：:，]?“”"),
            3,
        ),
        (re.compile(rf"{_EDGE}({_NAME})(?:{_verbs()})[^。！？“]{{0,20}}[：:]“”"), 3),
        (re.compile(rf"“”({_NAME})(?:{MANNER}){{0,3}}{say()}{_END}"), 3),
        (re.compile(rf"{_EDGE}({_NAME})(?:{_verbs()})"), 1),
        (re.compile(rf"{_EDGE}({_NAME})(?:{_ONLY_HUMAN})"), 1),
        (re.compile(rf"(?:名叫|叫做|叫作|名唤|便是|就是|名为)({_HAN}{{2,3}})(?=[，。！；的])"), 2),
    )


_CALLED = re.compile(
    rf"^({_NAME})(?:{_SUFFIX})?[，,！!。？?…—](?!$)|^({_NAME})(?:{_SUFFIX})[，！。？…—]?$"
)
_I_AM = re.compile(rf"(?:^|[，。！？])我(?:叫|名叫|就是|是)({_NAME})(?=[，。！])")
_IS = re.compile(rf"[这那]({_HAN}{{2}})(?:便是|就是|正是)({_HAN}{{2,3}})(?=[，。！；])")


def find(narration: Sequence[str], speech: Sequence[str], text: str) -> people.Cast:
    """The people of a Chinese text."""
    evidence = _evidence(narration, speech)
    tagged = _tagged(text)
    named, aliases = _distinct(text, _whole(text, _scores(text, evidence, tagged)), tagged)
    for name in tuple(named):
        given = name[1:]
        if len(name) == 3 and given not in aliases and text.count(given) > text.count(name):
            aliases[given] = name
    for word, (sex, age) in people.roles("role").items():
        if word not in aliases and _acts(word, narration):
            aliases[word] = word
            named[word] = people.Person(
                name=word, sex=sex, age=age, count=text.count(word), role=True
            )
    _several(named, aliases, narration)
    _title(named, text)
    _identify(named, aliases, narration)
    for line in narration:
        for match in _I_AM.finditer(line):
            if named.pop(match.group(1), None):
                aliases[match.group(1)] = people.SELF_ZH
    told = sum(len(line) for line in narration)
    selves = sum(line.count("我") - line.count("我们") for line in narration)
    first_person = selves >= 2 and selves * 1000 >= SELVES_PER_THOUSAND * told
    if first_person:
        _myself(named, aliases, narration, speech)
    return people.Cast(
        people=people.by_count(named.values()),
        aliases=aliases,
        first_person=first_person,
        language="zh",
    )


def _several(
    named: dict[str, people.Person], aliases: dict[str, str], narration: Sequence[str]
) -> None:
    """Two of those who do something, where the text counts them: 两个警察."""
    known = people.roles("role")
    for line in narration:
        for match in _some().finditer(line):
            word = match["role"]
            sex, age = known[word]
            aliases[match.group()] = word + people.OTHERS_ZH[0]
            for mark in people.OTHERS_ZH:
                name = word + mark
                named[name] = people.Person(
                    name=name, sex=sex, age=age, role=True, several=True
                )  # fmt: skip


@functools.cache
def _some() -> re.Pattern[str]:
    roles = [word for word in people.roles("role") if word not in lexicon.words("group")]
    return re.compile(
        rf"[两二三四五六七八几数](?:十|百)?(?:个|名|位){_HAN}{{0,4}}?(?P<role>{lexicon.alternation(roles)})(?![{_SUFFIX_MARKS}])"
    )


def _myself(
    named: dict[str, people.Person],
    aliases: dict[str, str],
    narration: Sequence[str],
    speech: Sequence[str],
) -> None:
    """Whom others call and nobody tells of is who tells: 许念 is 我."""
    told = "".join(narration)
    called = collections.Counter(
        name
        for line in speech
        for name in named
        if not named[name].role and re.match(rf"{name}[，,！!。？?…]", line) and name not in told
    )
    if len(called) == 1:
        name = next(iter(called))
        del named[name]
        for word, who in tuple(aliases.items()):
            if who == name:
                aliases[word] = people.SELF_ZH


def _evidence(narration: Iterable[str], speech: Iterable[str]) -> collections.Counter[str]:
    points: collections.Counter[str] = collections.Counter()
    for line in narration:
        for pattern, worth in _signs():
            for match in pattern.finditer(line):
                points[match.group(1)] += worth
    heard = re.compile(rf"{_EDGE}({_NAME})(?:{_verbs()})")
    for line in speech:
        called = _CALLED.match(line)
        if called:
            points[called.group(1) or called.group(2)] += 2
        for match in heard.finditer(line):
            points[match.group(1)] += 1
    return points


def _title(named: dict[str, people.Person], text: str) -> None:
    """Tell the sex of the only one of a surname by a title that stands with it: 洛仙子."""
    titles: tuple[tuple[people.Sex, str], ...] = (("female", _LADIES), ("male", _LORDS))
    for name, person in tuple(named.items()):
        surname = name[:2] if name.startswith(tuple(lexicon.words("double-surname"))) else name[0]
        if person.role or sum(n.startswith(surname) for n in named) > 1:
            continue
        for sex, listed in titles:
            if re.search(f"{surname}(?:{listed})", text):
                named[name] = dataclasses.replace(person, sex=sex)
    for name, person in tuple(named.items()):
        for sex, listed in (("female", _SHE_IS), ("male", _HE_IS)):
            if not person.role and re.search(f"(?:{listed}){name}", text):
                named[name] = dataclasses.replace(person, sex=sex)


def _identify(
    named: dict[str, people.Person], aliases: dict[str, str], narration: Iterable[str]
) -> None:
    """Take a role and a name for the same one where the text says so: 这少年便是闰土."""
    known = people.roles("role")
    for line in narration:
        for match in _IS.finditer(line):
            word, name = match.groups()
            if name in named and word in known:
                named.pop(word, None)
                aliases[word] = name
                sex = named[name].sex if named[name].sex != "unknown" else known[word][0]
                named[name] = dataclasses.replace(named[name], sex=sex, age=known[word][1])


def _acts(word: str, narration: Iterable[str]) -> bool:
    return any(word in line and _role_sign(word).search(line) for line in narration)


@functools.cache
def _role_sign(word: str) -> re.Pattern[str]:
    if len(word) == 1:
        return re.compile(rf"{_EDGE}{word}(?:{MANNER})?(?:曰|道|说)[：:]?“”")
    said = rf"{word}(?:{MANNER}){{0,3}}{say()}"
    return re.compile(
        rf"(?:{_EDGE}{_HAN}{{0,3}}|的|个|位|名){word}(?:{_verbs()})|出(?:现)?了?一[个位名只]{word}|{said}[：:，]?“”|“”[^，。！？：“”]{{0,6}}{said}{_END}"
    )


def _tagged(text: str) -> collections.Counter[str]:
    """Words tagged as names, and pairs that the tagger cut apart (闰 + 土)."""
    found: collections.Counter[str] = collections.Counter()
    before: tuple[str, str] = ("", "")
    for word, flag in words.tagged(_sample(text)):
        if flag.startswith("nr") and 2 <= len(word) <= 4:
            found[_without_verb(word)] += 1
        elif before[1].startswith("nr") and len(before[0]) == 1 and "\u4e00" <= word[0] <= "\u9fff":
            found[before[0] + word[0]] += 1
        before = (word, flag)
    return found


def _sample(text: str) -> str:
    """Some sentences of a long text, chosen by their words alone: an edit moves no other."""
    share = TAGGED_CHARACTERS / max(1, len(text))
    if share >= 1:
        return text
    sentences = re.split("[。\n]", text)
    chosen = (one for one in sentences if zlib.crc32(one.encode()) < share * 2**32)
    return "。".join(chosen)[: 2 * TAGGED_CHARACTERS]


def _without_verb(word: str) -> str:
    """A name without the verb or adverb that the tagger took for its end (贾母笑, 黛玉亦)."""
    while len(word) > 2 and word[-1] in "笑道说问答叫喊亦也又便却忙因冷曰叹才都就":
        word = word[:-1]
    return word


def _scores(text: str, evidence: Mapping[str, int], tagged: Mapping[str, int]) -> dict[str, int]:
    scores = {
        word: _score(word, evidence.get(word, 0), tagged.get(word, 0))
        for word in sorted({*evidence, *tagged})
        if _may_be_name(word)
    }
    surnames = "".join(sorted(lexicon.characters("surname")))
    for match in re.finditer(rf"[老小阿][{surnames}](?=[说道问笑，的后把站坐走]|{_verbs()})", text):
        word = match.group()
        if _may_be_name(word) and words.frequency(word) < 100:
            scores[word] = max(scores.get(word, 0), ENOUGH)
    sure = [word for word, score in scores.items() if score >= ENOUGH]
    for word, score in scores.items():
        if tagged.get(word) and score < ENOUGH and _named_along(word, sure, text):
            scores[word] = ENOUGH
    return {word: score for word, score in scores.items() if score >= ENOUGH}


def _score(word: str, points: int, tags: int) -> int:
    known = words.frequency(word)
    score = points + min(tags, 3) + int(tags > 0) + int(_born(word))
    if word.isascii() or (0 < known <= 50 and len(word) == 3):
        score += 1  # a foreign or rare word that does human things
    elif points and not known and len(word) == 3 and _born(word):
        score += 1  # in no dictionary, with a surname
    if known > 50 and not tags:
        score -= 4
    elif known > 300:
        score -= 3
    if not points:
        score -= 2 if _born(word) and tags < 3 else 0 if _born(word) else 4
    return score


def _born(word: str) -> bool:
    doubles = tuple(lexicon.words("double-surname"))
    return word.startswith(doubles) or word[0] in lexicon.characters("surname") or word.isascii()


def _named_along(word: str, sure: Iterable[str], text: str) -> bool:
    joined = "和与跟、同"
    return any(
        f"{other}{j}{word}" in text or f"{word}{j}{other}" in text for other in sure for j in joined
    )


def _may_be_name(word: str) -> bool:
    if word.isascii():
        return word[:1].isupper() and not word.isupper()
    return (
        2 <= len(word) <= 4
        and not any(ch in lexicon.characters("never-in-names") for ch in word)
        and not any(word[:n] in _never() for n in range(2, len(word) + 1))
        and (_born(word) or word[1:] not in _never())
        and not word.endswith(tuple("们声边面心手眼树花叔伯哥姐嫂爷婆姨"))
    )


@functools.cache
def _never() -> frozenset[str]:
    listed = set(lexicon.words("not-names"))
    for kind in ("place", "time", "weather", "mood", "emotion", "era", "role"):
        listed.update(lexicon.labels(kind))
    for section in ("look", "insert", "action"):
        listed.update(lexicon.words(section))
    return frozenset(listed)


def _whole(text: str, scores: Mapping[str, int]) -> dict[str, int]:
    """The names with those made whole that were cut after two characters: 郭守(义)."""
    found = dict(scores)
    for word in sorted(scores):
        longer = _longer(text, word)
        if longer is not None:
            found[longer] = max(found.get(longer, 0), found.pop(word))
    return found


def _longer(text: str, word: str) -> str | None:
    """The name that a word is the beginning of wherever it stands."""
    full = 3 if word.startswith(tuple(lexicon.words("double-surname"))) else 2
    if len(word) != full or not _born(word) or word.isascii():
        return None
    places = [match.end() for match in re.finditer(word, text)]
    after = collections.Counter(text[at : at + 1] for at in places)
    last, count = max(after.items(), key=lambda item: (item[1], item[0]))
    given = last in lexicon.characters("male-given") | lexicon.characters("female-given")
    if count < WHOLE * len(places) or not (given or count >= OFTEN):
        return None
    if not re.match(_HAN, last) or not _may_be_name(word + last):
        return None
    verbs = _goes_on()
    acting = sum(
        verbs.match(text, at) is not None or words.frequency(text[at : at + 2]) > COMMON
        for at in places
    )
    return word + last if acting * 2 < len(places) else None


@functools.cache
def _goes_on() -> re.Pattern[str]:
    """What follows a whole name: how and what one does."""
    suffixes = f"{_SUFFIX}|先生|太太|夫人|女士|老师|医生|总|家|府"
    return re.compile(f"{MANNER}|{say()}|{_verbs()}|{suffixes}|[和与跟同向朝对往从于以为]")


def _distinct(
    text: str, scores: Mapping[str, int], tagged: Mapping[str, int]
) -> tuple[dict[str, people.Person], dict[str, str]]:
    """Of two words one of which is in the other, the one that is the name; with its aliases."""
    counts = {word: text.count(word) for word in scores}
    aliases = {word: word for word in scores}
    for word in sorted(scores, key=lambda w: (-len(w), w)):
        for part in [other for other in aliases if other in word and other != word]:
            if word.endswith(part) and _born(word) and len(part) > 1:
                aliases[part] = word  # 若雪 is 林若雪
            elif tagged.get(word, 0) and (
                not tagged.get(part, 0) or counts[word] >= 0.8 * counts[part]
            ):
                del aliases[part]
            else:
                del aliases[word]
                break
    aliases = {word: name for word, name in aliases.items() if name in aliases}
    named = {
        name: people.Person(name=name, sex=_sex_by_name(name), count=counts[name])
        for name in aliases.values()
    }
    return named, aliases


def _sex_by_name(name: str) -> people.Sex:
    female, male = lexicon.characters("female-given"), lexicon.characters("male-given")
    doubles = tuple(lexicon.words("double-surname"))
    given = name[2:] if name.startswith(doubles) else name[1:]
    if len(name) == 2 and name[0] not in lexicon.characters("surname"):
        given = name  # called by the given name alone
    score = sum((ch in female) - (ch in male) for ch in given)
    return "female" if score > 0 else "male" if score < 0 else "unknown"
