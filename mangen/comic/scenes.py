"""The scene of every piece of a chapter: where, when, what is there, and what is only remembered.

Labels hold until the narration names others. A memory has a scene of its own; what leads in to it
still plays where the one who remembers is.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence

from mangen.comic import lettering, objects, people, scenery, sentences
from mangen.engines import protocol

#: a picture of the past or of the mind, and the way back from it
FLASHBACK = re.compile(
    r"脑里|脑海|回忆|想起|记得|记忆|当年|那年|梦见|梦里|仿佛看见|恍惚间|浮现"
    r"|\b(?:remember(?:ed)?|recall(?:ed)?|memory|memories)\b"
)
RETURN = re.compile(
    r"这时|此时|此刻|现在|如今|回过神|眼前|醒来|\b(?:now|today|at present)\b", re.IGNORECASE
)
#: a paragraph that begins long before the one that it follows
_AGO = re.compile(
    r"(?:[一二两三四五六七八九十百几数\d]+多?余?个?年(?:之?前|以前)|多年以?前|那一?年|当年|小时候|儿时)(?!后)"
    r"|(?:\w+ ){1,3}years? (?:ago|before|earlier)\b",
    re.IGNORECASE,
)
_REMEMBERS = re.compile(
    r"\s(?:still |could )?(?:remember|recall)|(?:又|还|忽然|不禁|总)?(?:想起|记得|回忆)"
)
_HOME = {
    "xianxia": "mountain",
    "ancient": "hall",
    "republic": "courtyard",
    "campus": "classroom",
    "countryside": "courtyard",
    "modern": "room",
    "victorian": "room",
    "medieval": "field",
    "future": "spaceship",
}
_OUTDOOR_THINGS = frozenset({"boat", "melons", "moon", "train", "horse", "car", "tree"})
#: where a story goes is not where it begins
_ARRIVES = re.compile(
    r"\b(?:drove|ran|went|walked|came|hurried|rode|travell?ed|sailed|flew|followed|returned|got)\b"
)
_WINDY = frozenset({"rain", "snow", "thunder"})  #: there is wind in them too
#: a mood of events, which is over when they are
_PASSING = "tense"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Where a piece plays."""

    labels: protocol.SceneLabels
    opens: bool = False  #: the scene begins here
    memory: bool = False  #: it is past
    leads_back: bool = False  #: somebody begins to remember


@dataclasses.dataclass(slots=True)
class _State:
    """The scene that the story is in."""

    labels: protocol.SceneLabels
    lasting: list[str] = dataclasses.field(default_factory=list)  #: things that stay
    timed: bool = False  #: the hour was told

    def moved(self, seen: scenery.Seen, *, first: bool) -> None:
        before = self.labels
        place = seen.place if seen.place and (seen.place_is_sure or first) else before.place
        self.labels = dataclasses.replace(
            before,
            place=place,
            time=(seen.time if seen.time_is_sure or not self.timed else None) or before.time,
            weather=before.weather
            if seen.weather == "wind" and before.weather in _WINDY
            else seen.weather or before.weather,
        )
        self.timed = self.timed or (seen.time is not None and seen.time_is_sure)
        if place != before.place:
            self.lasting = []


def of(
    rows: Sequence[Sequence[sentences.Piece]],
    narration: Sequence[str],
    names: Sequence[str],
    *,
    language: people.Language,
    era: str,
) -> list[list[Setting]]:
    """The setting of each piece of each paragraph; `narration` is that of each paragraph."""
    if language == "zh":
        return _of(rows, narration, names, language=language, era=era)
    runs = [run for row in rows for run in _runs(row, names)]
    words = [
        "".join("“”" if piece.quoted else f"{piece.text} " for piece in run).strip() for run in runs
    ]
    told = iter(_of(runs, words, names, language=language, era=era))
    found: list[list[Setting]] = []
    for row in rows:
        found.append([])
        while len(found[-1]) < len(row):
            found[-1] += next(told)
    return found


def _runs(row: Sequence[sentences.Piece], names: Sequence[str]) -> list[Sequence[sentences.Piece]]:
    """A paragraph in parts, each from where it names a new place: until then it plays before."""
    cuts: list[int] = []
    last: str | None = None
    for n, piece in enumerate(row):
        place = None if piece.quoted else scenery.look(piece.text, names, "en").place
        if place and place != last:
            goes_on = n > 0 and row[n - 1].text.endswith((",", ":") if last is None else ":")
            if n and not goes_on:
                cuts.append(n)
            last = place
    bounds = [0, *cuts, len(row)]
    return [row[a:b] for a, b in itertools.pairwise(bounds) if a < b]


def _of(
    rows: Sequence[Sequence[sentences.Piece]],
    narration: Sequence[str],
    names: Sequence[str],
    *,
    language: people.Language,
    era: str,
) -> list[list[Setting]]:
    seen = [scenery.look(words, names, language) for words in narration]
    home = _HOME.get(era, "room")
    early = [
        one
        for n, one in enumerate(seen[: 12 if language == "zh" else 3])
        if one.place and not (language == "en" and n and _ARRIVES.search(narration[n]))
    ]
    sure = next((one.place for one in early if one.place_is_sure), None)
    place = sure or next((one.place for one in early), None) or home
    now = _State(protocol.SceneLabels(place=place, era=era))
    kept: _State | None = None  #: the scene that a memory interrupts
    sobered = False  #: back from a memory: the present looks paler
    told: list[list[Setting]] = []
    for n, (row, words, first) in enumerate(zip(rows, narration, seen, strict=True)):
        here = now.labels.place
        one = scenery.look(words, names, language, here) if language == "en" else first
        before, lead, entered, returned = now.labels, 0, False, False
        jumps = lettering.jumps(words)
        ago = _AGO.match(words.lstrip()) if n else None
        remembers = ago or FLASHBACK.search(words)
        if kept is not None and not remembers and (
            jumps or _is_back(words, row, language) or _is_home(one, now, kept)
        ):  # fmt: skip
            now, kept, returned = kept, None, True
        elif (
            kept is None
            and remembers
            and (one.place_is_sure or (ago and (one.place or one.weather or one.time)))
            and _is_there(words[remembers.start() :], names, language)
        ):
            kept = _State(dataclasses.replace(before, place=home) if n == 0 else before)
            kept.lasting = now.lasting
            now = _State(dataclasses.replace(before, weather="clear", time="day"))
            lead, entered = (0 if ago else _lead(row, names, language)), True
        if jumps:
            now.lasting = [label for label in now.lasting if label != "moon"]
            now.labels = dataclasses.replace(now.labels, weather="clear", time="day")
        now.moved(one, first=n == 0 or jumps)
        moved = (now.labels.place, now.labels.time) != (before.place, before.time)
        fresh = n == 0 or moved or jumps
        sobered = returned or (sobered and not fresh)
        scenic = _things(row[lead:], names, language, now)
        told.append([])
        for at, piece in enumerate(row):
            leads = at < lead and kept is not None
            state = kept if leads and kept is not None else now
            mood = _mood(piece, one.mood, language) if not leads else None
            told[-1].append(
                Setting(
                    labels=dataclasses.replace(
                        state.labels,
                        mood=mood or ("sad" if sobered else "calm"),
                        objects=objects.shown(
                            kept.lasting if leads and kept is not None else scenic,
                            state.labels.time,
                        ),
                        crowd=not leads
                        and (
                            state.labels.place == "market"
                            or objects.is_crowded(scenery.mask(words, names), language)
                        ),
                    ),
                    opens=(at == 0 and (n == 0 or (fresh and not lead)))
                    or (at == lead > 0 and entered),
                    memory=kept is not None and not leads,
                    leads_back=leads,
                )
            )
    return told


def _is_back(words: str, row: Sequence[sentences.Piece], language: people.Language) -> bool:
    """Say whether a memory is over: the words say so, or somebody speaks."""
    talks = language == "en" and any(piece.quoted for piece in row)
    return talks or RETURN.search(words) is not None


def remembers(text: str, at: int) -> bool:
    """Say whether who is named before `at` only remembers: he is not in the picture of it."""
    return _REMEMBERS.match(text, at) is not None


def _is_home(seen: scenery.Seen, now: _State, kept: _State) -> bool:
    """Say whether a paragraph is surely where the one who remembers is, not where it was."""
    return seen.place_is_sure and seen.place == kept.labels.place != now.labels.place


def _is_there(words: str, names: Sequence[str], language: people.Language) -> bool:
    """Say whether what is remembered is a place: its own sentence names one."""
    if language == "zh":
        return True
    sentence = re.split("[.!?]", words)[0]
    return scenery.look(sentence, names, language).place_is_sure


def _lead(row: Sequence[sentences.Piece], names: Sequence[str], language: people.Language) -> int:
    """How many pieces of a paragraph lead in to the memory that it tells."""
    at = next((n for n, piece in enumerate(row) if FLASHBACK.search(piece.text)), None)
    if at is None or at + 1 >= len(row):
        return 0
    here = " ".join(piece.text for piece in row[: at + 1])
    return 0 if scenery.look(here, names, language).place else at + 1


def _things(
    row: Sequence[sentences.Piece],
    names: Sequence[str],
    language: people.Language,
    state: _State,
) -> list[str]:
    """What a paragraph's place shows; what lasts is kept for those that follow."""
    found = [
        thing.label
        for piece in row
        if not piece.quoted
        for thing in objects.named(scenery.mask(piece.text, names), language)
    ]
    if state.labels.place in scenery.INDOORS:
        found = [label for label in found if label not in _OUTDOOR_THINGS]
    found = objects.fitting(found, state.labels.place)
    for label in found:
        if label in objects.LASTING and label not in state.lasting:
            state.lasting.append(label)
    del state.lasting[: -objects.MOST]
    return [*state.lasting, *(label for label in found if label in objects.SCENIC)]


def _mood(piece: sentences.Piece, whole: str | None, language: people.Language) -> str | None:
    kind = "mood" if language == "zh" else "english-mood"
    own = scenery.most(piece.text, kind)
    if own is not None:
        return own
    return whole if whole != _PASSING else None
