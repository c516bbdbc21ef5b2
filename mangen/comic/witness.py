"""Who is meant by the words of a narration: names, roles, strangers, pronouns, both of them."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mangen.comic import lexicon, people, phrases, sentences

#: paragraphs after which a stranger will be named, or never
INTRODUCED = {"zh": 7, "en": 4}
NEAR, TOGETHER = 2, 4  #: paragraphs back to which him or her reach, and they
REMEMBERED = 6  #: so many of those met last can be the old man, or the two of them

_BODY = re.compile(
    r"['’]s?\s(?:\w+\s)?(?:arms?|hands?|face|eyes|shoulders?|hair|head|lap|side|feet|back|lips|cheeks?)\b"
)
_OWN = re.compile(
    r"['’]s?(?!\w)|\s(?:was|were|had|is)\s(?:gone|vanished|disappeared|nowhere|not there)\b"
)
_WHOSE = re.compile(r"\b(?:[Hh]is|[Hh]er)(?=\s\w)")
_BOTH = re.compile(
    r"(?:^|(?<=[，。！？；：]))(?:[^，。！？；：]{0,2})"
    r"(他们|她们|我们|二人|两人|两个人|三人|三个人)(?=[^的])"
)
_CALLER = re.compile(r"\b[Ii]t was\s(?:his |her |my )?$")
_SAYS = re.compile(rf"['’]?s?\s(?:{lexicon.alternation(list(lexicon.words('english-say')))})\b")
_COMES = re.compile(
    r"\s(?:\w+ly\s)?(?:came|entered|arrived|appeared|walked in|stepped|burst|rushed|strode)\b"
)
#: no one who will come, nor stand up
_DEAD = re.compile(
    r"\b(?:dead|lifeless|corpse|murdered|strangled|drowned|his body|her body)\b"
    r"|\b(?:knife|bullet|dagger|hole) in (?:his|her) (?:chest|heart|back|head|neck|throat)\b"
    r"|死在|死去|已经死|尸体|遗体|没了呼吸|断了气|没了气息|倒在血泊"
)
_THE = re.compile(r"\b[Tt]he\s$")
_PICTURE = re.compile(r"\b(?:photograph|photo|picture|portrait|painting|dream)\b[^.!?]*$")
_YOUNG = frozenset({"child", "youth"})


class Mention(NamedTuple):
    """A word for somebody at a place in a stretch of narration."""

    at: int
    end: int
    name: str


class Witness:
    """Follows a chapter; its memory of who was mentioned last is what pronouns refer to."""

    def __init__(self, cast: people.Cast) -> None:
        self.cast = cast
        self.recent: collections.deque[str] = collections.deque(maxlen=4)
        self.last_by_sex: dict[people.Sex, str] = {}
        self.met: set[str] = set()
        self.ahead: Sequence[Sequence[sentences.Piece]] = ()
        self._order: list[str] = []  #: everybody met, the last first
        self._said_at: dict[str, int] = {}  #: the paragraph in which somebody was mentioned last
        self._now = 0
        self._apart: set[str] = set()  #: who is only heard: a caller

    def mentions(
        self, text: str, *, quoted: bool, rest: str = "", before: str = ""
    ) -> list[Mention]:
        """Whom a piece names; `before` is what stands before it there, `rest` what follows."""
        if quoted and self.cast.language == "en":
            return self._talked_of(text)
        found: list[Mention] = []
        seen: list[Mention] = []  #: who is there rather than in a picture
        for own in _WHOSE.finditer(text):  # her father: she is spoken of
            self._said_at[self._pronoun(own.group().lower())] = self._now
        for word in self.cast.words(text, joined=before.endswith(",")):
            if quoted and (word.word in people.PRONOUNS or word.word in people.SELVES):
                continue
            names, there = self._names(word, text, rest)
            pictured = _PICTURE.search(f"{before} {text[: word.start]}") and word.phrase
            for name in names:
                if not pictured:
                    self.remember(name, met=there)
                if there:
                    found.append(Mention(word.start, word.end, name))
                    seen += [] if pictured else found[-1:]
        if self.cast.language == "zh" and not quoted:
            found += self._chinese(text, found)
        elif not quoted:
            self._centre(text, seen)
        return sorted(found)

    def _names(self, word: people.Word, text: str, rest: str) -> tuple[list[str], bool]:
        """Whom a word means, and whether they are there."""
        if word.word in people.GROUPS:
            return self._both(word.word), True
        if word.word.lower() in {"one", "the other"}:
            return self._one_of_two(first=word.word == "One"), True
        if word.word.endswith((" of them", " of us")):
            return self._both(word.word.lower()), True
        if word.word in people.PRONOUNS or word.word in people.SELVES:
            name = self._pronoun(word.word)
            stale = self._said_at.get(name, self._now) <= self._now - NEAR
            return ([] if word.word in {"him", "her"} and stale else [name]), True
        name = self._who(word, text, rest)
        if word.word[0].isupper() and _THE.search(text, 0, word.start):
            return [], False  # the Sterling house
        there = True
        if self.cast.language == "en":
            there = not _is_away(text, word.end)
            if _CALLER.search(text, 0, word.start):
                self._apart.add(name)
                there = False
            elif not _SAYS.match(text, word.end):
                self._apart.discard(name)
        return ([name] if name else []), there

    def _centre(self, text: str, found: Sequence[Mention]) -> None:
        """Let the next pronoun mean the first of a sex in a sentence, not the last."""
        start = max(text.rstrip('.!?…"” ').rfind(mark) for mark in ".!?") + 1
        seen: set[people.Sex] = set()
        for mention in sorted(found):
            person = self.cast.people.get(mention.name)
            if self._is_of_several(mention.name) and len(found) > 1:
                continue
            if mention.at >= start and person and person.sex not in {"unknown", *seen}:
                seen.add(person.sex)
                self.last_by_sex[person.sex] = mention.name

    def next_paragraph(self, ahead: Sequence[Sequence[sentences.Piece]]) -> None:
        """Begin a paragraph; `ahead` are those after it."""
        self.ahead = ahead
        self._now += 1

    def _talked_of(self, text: str) -> list[Mention]:
        """Whom somebody speaks of: they are not there for that."""
        return [
            Mention(word.start, word.end, word.name)
            for word in self.cast.words(text)
            if word.name and word.word not in people.PRONOUNS
        ]

    def _chinese(self, text: str, found: Sequence[Mention]) -> Iterator[Mention]:
        stranger = people.STRANGER.search(text)
        if stranger and not any(stranger.start() <= m.at < stranger.end() for m in found):
            if _DEAD.search(text, stranger.start()):
                return
            sex = "female" if stranger["female"] else "male" if stranger["male"] else None
            newcomer = self._introduced(sex, "", text[stranger.end() :])
            if newcomer:
                self.remember(newcomer)
                yield Mention(stranger.start(), stranger.end(), newcomer)
        for both in _BOTH.finditer(text):
            for name in self._both(both.group(1)):
                yield Mention(both.start(1), both.end(1), name)

    def remember(self, name: str, *, met: bool = True) -> None:
        """Whom the next pronoun may mean."""
        if met:
            self.met.add(name)
            self._order = [name, *(one for one in self._order if one != name)]
        self._said_at[name] = self._now
        if name in self.recent:
            self.recent.remove(name)
        self.recent.appendleft(name)
        person = self.cast.people.get(name)
        sex = person.sex if person else people.PRONOUNS.get(name, "unknown")
        if sex != "unknown" and not (person and person.several and sex in self.last_by_sex):
            self.last_by_sex[sex] = name

    # ------------------------------------------------------------ whom a word means

    def _pronoun(self, word: str) -> str:
        if word in people.SELVES:
            return people.SELF_EN if word == "me" else word
        sex = people.PRONOUNS[word]
        known = self.last_by_sex.get(sex)
        if known:
            return known
        other = "female" if sex == "male" else "male"
        # the first of two who were named together is the likelier subject
        for name in reversed(self.recent):
            person = self.cast.people.get(name)
            if name not in people.SELVES and person and person.sex != other:
                self.last_by_sex[sex] = name
                return name
        if self.cast.language == "zh":
            return {"male": "他", "female": "她"}[sex]
        return {"male": "he", "female": "she"}[sex]

    def _one_of_two(self, *, first: bool) -> list[str]:
        """Who does something of two who are alike; the next pronoun means that one."""
        near = (name for name in self._order if self._said_at[name] >= self._now - TOGETHER)
        pair = sorted(name for name in near if self._is_of_several(name))[:2]
        for name in pair[: 1 if first else 2][-1:]:
            self.last_by_sex[self.cast.people[name].sex] = name
            return [name]
        return []

    def _is_of_several(self, name: str) -> bool:
        return name in self.cast.people and self.cast.people[name].several

    def _both(self, word: str) -> list[str]:
        """They are the last two, or three; we are I and the last other one."""
        three = word.startswith(("三", "all", "the three", "the four"))
        reach = TOGETHER * (3 if three else 1)
        self_ = {"zh": people.SELF_ZH, "en": people.SELF_EN}[self.cast.language]
        met = (
            name
            for name in self._order
            if name not in {self_, *self._apart} and self._said_at[name] >= self._now - reach
        )
        others = [
            name
            for name in itertools.islice(met, REMEMBERED)
            if name in self.cast.people and not (three and self.cast.people[name].several)
        ]
        if word in {"we", "We", "我们"}:
            return [self_, *others[:1]] if self.cast.first_person else []
        if word.endswith("of us"):
            return [*others[: 2 if three else 1][::-1], self_] if self.cast.first_person else []
        return others[: 3 if three else 2][::-1]

    def _who(self, word: people.Word, text: str, rest: str) -> str:
        one = word.phrase
        if one is None or not one.anyone:
            return word.name
        if one.definite:
            known = next((name for name in self._order[:REMEMBERED] if self._fits(name, one)), "")
            if known:
                return known
        if _DEAD.search(f"{text} {re.split('[.!?]', rest)[0]}", max(0, one.start - 12)):
            return ""  # whoever comes later is somebody else
        sex = None if one.sex == "unknown" else one.sex
        newcomer = self._introduced(sex, one.age, f"{text[one.end :]} {rest}")
        return newcomer or self.cast.roles.get(one.name, "")

    def _fits(self, name: str, one: phrases.Phrase) -> bool:
        person = self.cast.people.get(name)
        if person is None or one.sex not in {"unknown", person.sex}:
            return False
        if one.old == "elder":
            return person.age == "elder"
        if one.age in _YOUNG:
            return person.age in _YOUNG
        return person.age != "child"

    def _introduced(self, sex: str | None, age: str, rest: str) -> str | None:
        """Who somebody is that comes without a name: the next new one who is named."""
        near = self.ahead[: INTRODUCED[self.cast.language]]
        coming = (piece.text for piece in itertools.chain.from_iterable(near))
        for text in itertools.chain([rest], coming):
            for word in self.cast.words(text):
                person = self.cast.people.get(word.name)
                if person is None or person.name in self.met:
                    continue
                if person.several or (person.role and self.cast.language == "zh"):
                    continue
                if age in _YOUNG and person.age == "elder":
                    continue
                if _COMES.match(text, word.end):
                    continue  # another one, who comes later
                if age == "elder" and person.age in _YOUNG:
                    continue
                if person.sex in {sex, "unknown"} or sex is None:
                    return person.name
        return None


def _is_away(text: str, end: int) -> bool:
    """Say whether only something of theirs is there: Samuel's desk was empty."""
    return _OWN.match(text, end) is not None and _BODY.match(text, end) is None
