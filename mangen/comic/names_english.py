"""Names of English people: every way in which a text calls one, and who is the same."""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mangen.comic import lexicon, phrases

NEAR = 60  #: characters before and after a name that tell of it
ENOUGH = 2  #: points that make a word with a capital somebody

_CAP = r"(?:[A-Z]['’])?[A-Z][a-z]+(?:[A-Z][a-z]+)?(?:-[A-Z][a-z]+)?"
_STARTS = re.compile(r"(?:^|[.!?:;“”\"…—]\s?|[.!?]['’]\s)$")
_SOMEWHERE = re.compile(r"\b(?:in|at|from|near|through|across|into|towards?|on)\s$")
_CLAUSE = re.compile(r"(?:^|[.!?:;“”\"…—,]\s?|\b(?:and|but|when|as|that|while)\s)$")


@dataclasses.dataclass(slots=True)
class Name:
    """Somebody with a name: its parts, and how often each way to say it stands in the text."""

    title: str
    given: str
    family: str
    ways: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    points: int = 0
    aged: phrases.Age | None = None  #: what the word before it tells: old Mr. Pell

    @property
    def shown(self) -> str:
        """The commonest way to say it, of equals the longest."""
        return max(self.ways, key=lambda way: (self.ways[way], len(way), way))

    @property
    def sex(self) -> phrases.Sex:
        """What title or given name tell."""
        for word in (self.title, self.given):
            if word in lexicon.words("english-female-name") or _titled(word)[0] == "female":
                return "female"
            if word in lexicon.words("english-male-name") or _titled(word)[0] == "male":
                return "male"
        return "unknown"

    @property
    def age(self) -> phrases.Age:
        """What the title tells, or a word before it."""
        return self.aged or _titled(self.title)[1]


def _aged(before: str) -> phrases.Age | None:
    """How old somebody is whom a word before the name calls so."""
    words = re.sub(r"\b(?:Mrs?|Ms|Miss|Dr)\.?\s$", "", before).split()[-1:]
    old = lexicon.labels("english-old")
    return old.get(words[0].lower()) if words else None  # type: ignore[return-value] # its labels


def _titled(word: str) -> tuple[phrases.Sex, phrases.Age]:
    found = lexicon.people("english-title").get(word)
    return found or ("unknown", "adult")  # type: ignore[return-value] # words of lexicon.txt alone


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    title: str
    caps: tuple[str, ...]
    way: str
    start: int
    end: int
    own: bool


def find(narration: Sequence[str], text: str) -> list[Name]:
    """Everybody whom a text names, the most mentioned first."""
    common = frozenset(re.findall(r"\b[a-z]+\b", text))
    ways: collections.Counter[tuple[str, tuple[str, ...], str]] = collections.Counter()
    for one in _seen(text, common):
        ways[one.title, one.caps, one.way] += 1
    found: list[Name] = []
    for (title, caps, way), count in sorted(ways.items(), key=_rank):
        name = _known(found, title, caps)
        if name is None:
            name = _new(title, caps)
            found.append(name)
        name.title = name.title or title
        name.ways[way] += count
    for line in narration:
        for one in _seen(line, common):
            known = _known(found, one.title, one.caps)
            if known is not None:
                known.points += _points(line, one)
                known.aged = known.aged or _aged(line[: one.start])
    for way, points in _said_of_themselves(text).items():
        for name in found:
            name.points += points * (way in name.ways)
    kept = [name for name in found if name.points >= ENOUGH]
    return sorted(kept, key=lambda name: (-name.ways.total(), name.shown))


def _said_of_themselves(text: str) -> collections.Counter[str]:
    """Names that somebody is given in speech: My name is Vivian Sterling."""
    pattern = re.compile(rf"\b[Nn]ame(?:\sis|['’]s)\s(?P<caps>{_CAP}(?:\s{_CAP})?)")
    return collections.Counter({match["caps"]: ENOUGH for match in pattern.finditer(text)})


def _rank(item: tuple[tuple[str, tuple[str, ...], str], int]) -> tuple[int, int, int, str]:
    """Whole names first: parts of one are then known."""
    (title, caps, way), count = item
    return -len(caps), -bool(title), -count, way


def _seen(line: str, common: frozenset[str]) -> Iterator[_Seen]:
    never = frozenset(lexicon.words("english-no-name"))
    for match in _pattern().finditer(line):
        caps, title = match["caps"].split(), match["title"] or ""
        start = match.start()
        if len(caps) > 1 and not title and (caps[0] in never or caps[0].lower() in common):
            start += len(caps.pop(0)) + 1  # Then Eliza
        after = line[match.end() :]
        if any(cap in never for cap in caps) or caps[-1] in lexicon.words("english-place-name"):
            continue
        if match["own"] and re.match(rf"\s{_CAP}", after):
            continue  # Baker's Row
        if len(caps) == 1 and not title:
            word = caps[0].lower()
            if word in phrases.nouns() or caps[0].endswith("ly") or word in common:
                continue
        way = line[start : match.end("caps")]
        yield _Seen(title, tuple(caps), way, start, match.end("caps"), bool(match["own"]))


@functools.cache
def _pattern() -> re.Pattern[str]:
    titles = lexicon.alternation(list(lexicon.people("english-title")))
    return re.compile(
        rf"\b(?:(?P<title>{titles})\.?\s)?(?P<caps>{_CAP}(?:\s{_CAP}){{0,2}})(?P<own>['’]s\b)?"
    )


@functools.cache
def _given() -> frozenset[str]:
    return frozenset(lexicon.words("english-female-name") + lexicon.words("english-male-name"))


@functools.cache
def _signs() -> Mapping[str, re.Pattern[str]]:
    say = lexicon.alternation(list(lexicon.words("english-say")))
    past = lexicon.alternation(list(lexicon.words("english-past")))
    return {
        "says": re.compile(rf"\b(?:{say})\s$"),
        "said": re.compile(rf"\s(?:\w+ly\s)?(?:{say})\b"),
        "does": re.compile(rf"\s(?:\w+ly\s)?(?:{past}|\w+ed)\b"),
        "role": re.compile(rf"\b(?:{phrases.alternation()}),?\s$"),
    }


def _points(line: str, one: _Seen) -> int:
    before, after = line[max(0, one.start - NEAR) : one.start], line[one.end : one.end + NEAR]
    signs = _signs()
    points = 2 * bool(one.title) + int(one.own) + (one.caps[0] in _given())
    if signs["says"].search(before) or signs["said"].match(after):
        points += 3
    if re.search(r"\b(?:named|called|name (?:was|is))\s$", before):
        points += 3
    if signs["role"].search(before):
        points += 2
    if re.match(r",\s(?:the|an?|his|her|my|their|our)\s", after):
        points += 1
    if signs["does"].match(after) and _CLAUSE.search(before):
        points += 1
    if re.search(r"\b[Tt]he\s$", before):
        return min(points, 0)  # the Sterling house, the Marigold
    if _SOMEWHERE.search(before):
        return points - 2
    return points + (not _STARTS.search(before))


def _known(found: Iterable[Name], title: str, caps: Sequence[str]) -> Name | None:
    return next((name for name in found if _same(name, title, caps)), None)


def _same(name: Name, title: str, caps: Sequence[str]) -> bool:
    sex = _titled(title)[0]
    if sex != "unknown" and name.sex not in {"unknown", sex}:
        return False
    if len(caps) > 1:
        return (name.given, name.family) == (caps[0], caps[-1])
    if not title:
        return caps[0] in {name.given, name.family}
    if title in lexicon.words("english-title-given"):
        return caps[0] == name.given
    return caps[0] == name.family or (not name.family and name.title == title == caps[0])


def _new(title: str, caps: Sequence[str]) -> Name:
    if len(caps) > 1:
        return Name(title, caps[0], caps[-1])
    if title and title not in lexicon.words("english-title-given"):
        return Name(title, "", caps[0])
    return Name(title, caps[0], "")
