"""Who speaks how: one voice a character for a whole project, bent by age, temper and mood. Pure.

A voice hangs on the character's name, and on the larger characters of the same sex before it,
never on lines or shots: an edit elsewhere leaves it. The first few of each sex share no voice;
the rest get variants of the same voices, which differ in pitch.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping, Sequence

from mangen.comic import model
from mangen.engines import protocol

LEADS = 4  #: of each sex: no two of them sound alike
SPEEDS = (0.75, 1.3)  #: what still sounds like a person
PITCHES = (0.8, 1.4)
_APART = 0.06  #: of pitch, between the narrator and a character with the same voice

#: name, pitch, speed
Slot = tuple[str, float, float]

#: by language, sex and age: four to share out. The voices' own pitch is very unlike: zf_xiaoyi
#: and zm_yunxia lie at 310 Hz as children do, am_michael at 113, bm_george at 145.
_SLOTS: Mapping[tuple[str, str, str], Sequence[Slot]] = {
    ("zh", "male", "child"): [
        ("zm_yunxia", 1.0, 1.0), ("zm_yunxi", 1.3, 1.03),
        ("zm_yunxia", 0.92, 1.0), ("zm_yunxi", 1.24, 1.0),
    ],
    ("zh", "male", "youth"): [
        ("zm_yunjian", 1.16, 1.03), ("zm_yunxi", 1.04, 1.02),
        ("zm_yunjian", 1.22, 1.04), ("zm_yunxi", 1.12, 1.04),
    ],
    ("zh", "male", "adult"): [
        ("zm_yunjian", 1.0, 1.0), ("zm_yunxi", 0.98, 1.0),
        ("zm_yunjian", 1.08, 1.02), ("zm_yunxi", 0.91, 0.98),
    ],
    ("zh", "male", "elder"): [
        ("zm_yunjian", 0.95, 0.9), ("zm_yunxi", 0.83, 0.88),
        ("zm_yunjian", 0.89, 0.88), ("zm_yunxi", 0.87, 0.9),
    ],
    ("zh", "female", "child"): [
        ("zf_xiaoxiao", 1.22, 1.02), ("zf_xiaoni", 1.3, 1.02),
        ("zf_xiaobei", 1.2, 1.0), ("zf_xiaoyi", 1.04, 1.0),
    ],
    ("zh", "female", "youth"): [
        ("zf_xiaoxiao", 1.06, 1.02), ("zf_xiaoni", 1.12, 1.02),
        ("zf_xiaobei", 1.05, 1.0), ("zf_xiaoyi", 0.93, 1.02),
    ],
    ("zh", "female", "adult"): [
        ("zf_xiaoxiao", 1.0, 1.0), ("zf_xiaoni", 1.0, 1.0),
        ("zf_xiaobei", 0.97, 1.0), ("zf_xiaoyi", 0.85, 0.98),
    ],
    ("zh", "female", "elder"): [
        ("zf_xiaoxiao", 0.88, 0.9), ("zf_xiaoni", 0.9, 0.9),
        ("zf_xiaobei", 0.85, 0.88), ("zf_xiaoni", 0.85, 0.87),
    ],
    ("en", "male", "child"): [
        ("af_heart", 1.28, 1.03), ("bf_emma", 1.3, 1.03),
        ("af_heart", 1.34, 1.04), ("bf_emma", 1.36, 1.0),
    ],
    ("en", "male", "youth"): [
        ("am_michael", 1.2, 1.03), ("bm_george", 1.16, 1.04),
        ("am_michael", 1.27, 1.04), ("bm_george", 1.22, 1.05),
    ],
    ("en", "male", "adult"): [
        ("am_michael", 1.04, 1.0), ("bm_george", 1.09, 1.03),
        ("am_michael", 1.12, 1.0), ("bm_george", 0.93, 0.97),
    ],
    ("en", "male", "elder"): [
        ("am_michael", 0.96, 0.9), ("bm_george", 0.89, 0.9),
        ("am_michael", 0.91, 0.88), ("bm_george", 0.85, 0.88),
    ],
    ("en", "female", "child"): [
        ("af_heart", 1.3, 1.03), ("bf_emma", 1.32, 1.03),
        ("af_heart", 1.24, 1.0), ("bf_emma", 1.26, 1.0),
    ],
    ("en", "female", "youth"): [
        ("af_heart", 1.09, 1.02), ("bf_emma", 1.11, 1.02),
        ("af_heart", 1.15, 1.03), ("bf_emma", 1.17, 1.03),
    ],
    ("en", "female", "adult"): [
        ("af_heart", 1.0, 1.0), ("bf_emma", 1.0, 1.0),
        ("af_heart", 1.05, 0.98), ("bf_emma", 0.94, 0.98),
    ],
    ("en", "female", "elder"): [
        ("af_heart", 0.9, 0.9), ("bf_emma", 0.9, 0.9),
        ("af_heart", 0.86, 0.88), ("bf_emma", 0.86, 0.88),
    ],
}  # fmt: skip
#: the numbers that suit an age best, where not all do
_BEST: Mapping[tuple[str, str, str], Sequence[int]] = {
    ("zh", "male", "child"): (0, 2),
    ("zh", "male", "youth"): (1, 3),
    ("zh", "male", "elder"): (0, 2),
    ("zh", "female", "child"): (3,),
    ("zh", "female", "adult"): (0, 1, 2),
    ("zh", "female", "elder"): (0, 1, 2),
    ("en", "male", "youth"): (0, 2),  # bm_george tells the story
    ("en", "male", "adult"): (0, 2),
    ("en", "male", "elder"): (0, 2),
}

#: emotion of who speaks: pitch, speed
_EMOTIONS = {
    "happy": (1.03, 1.05),
    "sad": (0.97, 0.9),
    "angry": (1.02, 1.1),
    "surprised": (1.05, 1.06),
    "afraid": (1.04, 1.08),
    "shy": (1.02, 0.94),
    "tired": (0.97, 0.88),
}
#: mood of a scene: the narrator's speed
_MOODS = {"warm": 0.98, "sad": 0.94, "tense": 1.05, "dark": 0.97, "bright": 1.03}
#: words of a sheet about temper: pitch, speed
_TEMPERS: Sequence[tuple[re.Pattern[str], float, float]] = [
    (re.compile(words, re.IGNORECASE), pitch, speed)
    for words, pitch, speed in (
        ("温柔|温和|温婉|柔|慈|gentle|tender|soft|kind", 1.01, 0.95),
        ("暴躁|急躁|火爆|粗|凶|rough|fierce|hot-?temper|impatient", 0.98, 1.06),
        ("冷|淡漠|阴|孤傲|沉稳|稳重|cold|stern|grave|aloof|calm", 0.98, 0.96),
        ("活泼|开朗|俏皮|爽朗|机灵|lively|cheerful|merry|bright", 1.02, 1.05),
        ("瘦小|娇|清脆|slim|slender|small", 1.02, 1.0),
        ("魁梧|高大|壮|胖|低沉|stout|burly|tall|deep|fat", 0.97, 0.98),
    )
]


@dataclasses.dataclass(frozen=True, slots=True)
class Cast:
    """The voices of a project: `numbers` holds each character's place in the lists above."""

    language: str
    narrator: protocol.Voice
    characters: Mapping[str, model.Character]
    numbers: Mapping[str, int]

    def voice(self, shot: model.Shot, line: model.Line) -> protocol.Voice:
        """How a line is said in its shot: by its speaker, else by the narrator."""
        character = self.characters.get(line.speaker or "") if line.quoted else None
        if character is None:
            pace = _MOODS.get(shot.scene.mood, 1.0)
            return _bent(self.narrator, 1.0, pace)
        ages = dict(zip(shot.characters, shot.ages, strict=False))
        emotions = dict(zip(shot.characters, shot.emotions, strict=False))
        voice = self.of(character, ages.get(character.name, ""))
        pace = self.narrator.speed  # a project that speaks slower does so in every voice
        pitch, speed = _EMOTIONS.get(emotions.get(character.name, ""), _marked(line.text))
        return _bent(voice, pitch, speed * pace)

    def of(self, character: model.Character, age: str = "") -> protocol.Voice:
        """A character's calm voice, at another age where one is told."""
        age = age or character.age
        sex = _sex(character)
        slots = _SLOTS.get((self.language, sex, age)) or _SLOTS[self.language, sex, "adult"]
        number = self.numbers[character.name]
        name, pitch, speed = slots[number % LEADS]
        if number >= LEADS:  # one of the many: a lead's voice, but never just the same
            pitch *= 1.03 if number % 2 else 0.97
        said = " ".join(character.words)
        for words, higher, faster in _TEMPERS:
            if words.search(said):
                pitch, speed = pitch * higher, speed * faster
        if name == self.narrator.name and abs(pitch - 1) < _APART:
            pitch += _APART if pitch > 1 else -_APART
        return _bent(protocol.Voice(name=name), pitch, speed)


def cast(board: model.Storyboard, *, zh: str, en: str, speed: float = 1.0) -> Cast:
    """Choose the voices of a project; `zh` and `en` name the narrator's."""
    narrator = protocol.Voice(name=en if board.language == "en" else zh, speed=speed)
    numbers: dict[str, int] = {}
    taken: dict[str, list[int]] = {"female": [], "male": []}
    for character in board.characters:
        name, sex = character.name, _sex(character)
        leads, best = taken[sex], _BEST.get((board.language, sex, character.age), range(LEADS))
        if len(leads) < LEADS:
            number = min(
                (n for n in range(LEADS) if n not in leads),
                # another voice before another pitch of one, then what suits, then by the name
                key=lambda n: (
                    sum(m % 2 == n % 2 for m in leads),
                    n not in best,
                    _hash(f"{name}/{n}"),
                ),
            )
            leads.append(number)
        else:
            number = LEADS + _hash(name) % (2 * LEADS)
        numbers[name] = number
    known = {character.name: character for character in board.characters}
    return Cast(board.language, narrator, known, numbers)


def _marked(text: str) -> tuple[float, float]:
    """How a line without a feeling is said by its last mark: pitch and speed."""
    end = text.rstrip("”’」』\"' ")
    if end.endswith(("！", "!")):
        return 1.02, 1.04
    return (0.99, 0.95) if end.endswith(("…", "...")) else (1.0, 1.0)


def _bent(voice: protocol.Voice, pitch: float, speed: float) -> protocol.Voice:
    """Within what a person can do, in steps that a key may hold."""
    pitch = min(max(voice.pitch * pitch, PITCHES[0]), PITCHES[1])
    speed = min(max(voice.speed * speed, SPEEDS[0]), SPEEDS[1])
    return protocol.Voice(name=voice.name, speed=round(speed, 2), pitch=round(pitch, 2))


def _sex(character: model.Character) -> str:
    if character.sex in {"female", "male"}:
        return character.sex
    return ("female", "male")[_hash(character.name) % 2]


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8], 16)
