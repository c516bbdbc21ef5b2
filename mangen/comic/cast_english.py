"""People of an English text: capitalised names and roles that say something."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator, Sequence

from mangen.comic import people

SAY = (
    "said|cried|replied|asked|returned|exclaimed|observed|muttered|thought|shouted|whispered|"
    "answered|continued|added|called"
)
SELVES_PER_WORD = 1 / 250

_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Uncle|Aunt)\.?"
_NAME = re.compile(
    rf"(?<![.!?“\"”:]\s)(?<![“\"])(?<!^)\b((?:{_TITLE}\s)?[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)\b"
)
_SAID = re.compile(
    rf"\b(?:{SAY})\s((?:{_TITLE}\s)?[A-Z][a-z]+)"
    rf"|\b((?:{_TITLE}\s)?[A-Z][a-z]+)\s(?:\w+ly\s)?(?:{SAY})\b"
)
_NO_NAMES = (
    "The A An He She It They We You But And Then There This That What When Where Who How Why In",
    "On At Of To For With No Yes Oh My His Her If So As Not Never Once Chapter Said Now After",
    "Before Up Down Well Christmas God Merry Every Some All Is Was Do Did Will London England",
    "French English Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February",
    "March April May June July August September October November December Eve I Park Street",
    "Mr Mrs Miss Sir",
)
_NO_NAME = frozenset(" ".join(_NO_NAMES).split())


def find(narration: Sequence[str], text: str) -> people.Cast:
    """The people of an English text."""
    whole = "\n".join(narration)
    found = {person.name: person for person in (*_named(narration, text), *_roles(whole, text))}
    selves = len(re.findall(r"\bI\b", whole))
    return people.Cast(
        people=people.by_count(found.values()),
        aliases={name: name for name in found},
        first_person=selves >= 2 and selves >= SELVES_PER_WORD * len(whole.split()),
        language="en",
    )


def _named(narration: Sequence[str], text: str) -> Iterator[people.Person]:
    scores: collections.Counter[str] = collections.Counter()
    for line in narration:
        scores.update(match.group(1) for match in _NAME.finditer(line))
        for match in _SAID.finditer(line):
            scores[match.group(1) or match.group(2)] += 3
    kept: list[str] = []
    for name, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        bare = re.sub(rf"^{_TITLE}\s", "", name)
        if score < 2 or bare.split()[0] in _NO_NAME or name in _NO_NAME:
            continue
        if any(bare == other or bare in other.split() for other in kept):
            continue
        kept.append(name)
        yield people.Person(name=name, sex=_sex(name, bare), count=text.count(name))


def _sex(name: str, bare: str) -> people.Sex:
    if re.match(r"(?:Mrs|Ms|Miss|Lady|Aunt)", name):
        return "female"
    return "male" if bare != name and not name.startswith("Dr") else "unknown"


def _roles(whole: str, text: str) -> Iterator[people.Person]:
    for word, (sex, age) in people.roles("english-role").items():
        said = rf"\b(?:{SAY})\s(?:(?:the|his|her|a|an|my)\s|\w+['’]s\s)(?:\w+\s)?{word}\b"
        if word in whole and re.search(said, whole):
            count = len(re.findall(rf"\b{word}\b", text))
            yield people.Person(name=word, sex=sex, age=age, count=count, role=True)
