"""What is wanted: from a storyboard and a look to the jobs that ought to exist. Pure.

Keys are hashes of content alone (own inputs, keys of what is needed, seed, take), never of numbers
or subjects, so that an edit elsewhere moves nothing and the same work is found again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mangen.comic import lettering, model, requests, timing, transitions, voicing
from mangen.engines import length, protocol
from mangen.ledger import jobs

TITLE_SECONDS = 2.0
END_SECONDS = 2.0
ANCHOR_SIZE = (512, 768)
VOICE_PEAK = 400 * 2**20  #: bytes a voice engine works in beside its weights, measured generously
MIX_PEAK = 240 * 2**20  #: bytes of an episode's sound, and of the notes and places under it
ASSEMBLE_FRAMES_HELD = 24  #: frames in flight between decoder, subtitles and encoder
SOUND = "1"  #: raised when the mix makes other music or places of the same episode
HIGH, MID = 0, 1
#: places where no weather falls between the camera and the people
INDOORS = frozenset(
    {"room", "hall", "shop", "classroom", "office", "hospital", "train", "spaceship"}
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Look:
    """How a project's videos are made: size, engines, voice. Part of every key."""

    engine: protocol.Engine
    width: int = 720
    height: int = 1280
    fps: int = length.FPS
    image_engine: str = "animatic"
    image_version: str = "1"
    camera_moves: bool = True  #: clips are camera moves over a panel: the cpu queue makes them
    voice_engine: str = "kokoro"
    voice_version: str = "1"
    voice: str = "zm_yunyang"  #: narrator of Chinese texts
    voice_en: str = "bm_george"  #: narrator of English texts
    speed: float = 1.0
    music: float = 1.0  #: volume of music and places, 0..1; 0: voices alone


def key_of(*inputs: Any) -> str:
    """The content key of a job: sha256 over canonical JSON, 32 hex characters."""
    text = json.dumps(inputs, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def render_seed(shot: model.Shot) -> int:
    """The seed of this take: the first take has the shot's own."""
    return (shot.seed + (shot.take - 1) * 0x9E3779B1) & 0x7FFFFFFF


def wanted(
    board: model.Storyboard, *, episodes: Collection[int], look: Look
) -> Sequence[jobs.Wanted]:
    """All jobs of the given episodes: anchors first, then each episode in the order of its shots.

    An episode number that the storyboard lacks asks for nothing.
    """
    return _Graph(board, frozenset(episodes), look).all_jobs()


def anchored(board: model.Storyboard, episodes: Collection[int]) -> set[str]:
    """Names of the characters whom these episodes show and who have a sheet, so an anchor."""
    cast = {character.name for character in board.characters}
    return {
        name
        for episode in board.episodes
        if episode.no in episodes
        for shot in episode.shots
        for name in shot.characters
        if name in cast
    }


class _Graph:
    """One call of `wanted`: the pieces that all its jobs share."""

    def __init__(self, board: model.Storyboard, episodes: Collection[int], look: Look) -> None:
        self.board, self.look = board, look
        self.episodes = [e for e in board.episodes if e.no in episodes]
        self.size = {"width": look.width, "height": look.height}
        self.cast = {c.name: c for c in board.characters}
        self.models = look.engine.models()
        self.voices = voicing.cast(board, zh=look.voice, en=look.voice_en, speed=look.speed)
        # the clip's bucket and peak depend on sizes alone; these bytes are never touched
        self.panel = protocol.Panel(
            image=np.empty((look.height * 5 // 4, look.width * 5 // 4, 3), np.uint8)
        )
        self.anchors: dict[str, jobs.Wanted] = {}

    def all_jobs(self) -> list[jobs.Wanted]:
        for episode in self.episodes:
            for shot in episode.shots:
                for name in self._names(shot):
                    if name not in self.anchors:
                        self.anchors[name] = self._anchor(self.cast[name])
        made = list(self.anchors.values())
        for episode in self.episodes:
            made.extend(self._episode(episode))
        return made

    def _names(self, shot: model.Shot) -> list[str]:
        return [name for name in shot.characters if name in self.cast]

    def _image_job(
        self, role: str, request: protocol.Request, key: str, **fields: Any
    ) -> jobs.Wanted:
        spec, engine = self.models[role], self.look.engine
        return jobs.Wanted(
            stage=role,
            key=key,
            bucket=engine.bucket(request),
            model=spec.key,
            peaks=(engine.peak(request, 1),),
            **fields,
        )

    def _image_inputs(self, role: str) -> list[Any]:
        return [role, self.look.image_engine, self.look.image_version]

    def _anchor(self, character: model.Character) -> jobs.Wanted:
        width, height = ANCHOR_SIZE
        params = {"sheet": requests.sheet_params(character), "width": width, "height": height}
        return self._image_job(
            "anchor",
            requests.anchor_request(params),
            key_of(*self._image_inputs("anchor"), params),
            subject=f"c/{character.name}",
            queue="gpu.high",
            klass=HIGH,
            params=params,
            seconds_est=1.0,
        )

    def _episode(self, episode: model.Episode) -> Iterator[jobs.Wanted]:
        needs: list[jobs.Need] = []
        upstream: list[str] = []
        shots: list[dict[str, Any]] = []
        seconds = 0.0
        melting = transitions.of(episode.shots)
        for shot, dissolve in zip(episode.shots, melting, strict=True):
            for job in self._shot(episode, shot):
                needs.append(jobs.Need(stage=job.stage, subject=job.subject))
                upstream.append(job.key)
                yield job
            lines = self._lines(episode, shot)
            seconds += self._frames(shot, lines) / length.FPS
            shots.append(
                {
                    "subject": _subject(episode, shot),
                    "kind": shot.kind,
                    "lines": lines,
                    "card_seconds": card_seconds(shot),
                    "dissolve": dissolve,
                    "scene": requests.scene_params(shot.scene),
                }
            )
        params = {
            "episode": episode.no,
            "title": episode.title,
            "project_title": self.board.title,
            "shots": shots,
            "music": self.look.music,
            "fps": self.look.fps,
            **self.size,
        }
        sound = [SOUND, self.look.music]
        own = [episode.title, self.board.title, self.look.fps, self.size, sound, _shown(shots)]
        own += [episode.take] if episode.take > 1 else []
        yield jobs.Wanted(
            stage="assemble",
            subject=f"e{episode.no}",
            key=key_of("assemble", own, upstream),
            queue="cpu",
            klass=HIGH,  # all its parts are there: nothing is nearer to a finished video
            bucket=f"assemble/{self.look.width}x{self.look.height}",
            model="",
            episode=episode.no,
            params=params,
            needs=tuple(needs),
            seconds_est=1.0 + seconds * length.FPS / 50,
            peaks=(self.look.width * self.look.height * 3 * ASSEMBLE_FRAMES_HELD + MIX_PEAK,),
        )

    def _shot(self, episode: model.Episode, shot: model.Shot) -> Iterator[jobs.Wanted]:
        voices = [self._voice(episode, shot, line) for line in shot.lines if line.spoken]
        panel = self._illustrate(episode, shot)
        yield from voices
        yield panel
        yield self._animate(episode, shot, panel, voices)

    def _voice(self, episode: model.Episode, shot: model.Shot, line: model.Line) -> jobs.Wanted:
        look, voice = self.look, self.voices.voice(shot, line)
        params = {
            "text": line.text,
            "language": line.language,
            "voice": voice.name,
            "speed": voice.speed,
            "pitch": voice.pitch,
        }
        return jobs.Wanted(
            stage="voice",
            subject=f"{_subject(episode, shot)}/l{line.no}",
            key=key_of("voice", look.voice_engine, look.voice_version, params),
            queue="cpu",
            klass=MID,
            bucket=f"{look.voice_engine}/voice",
            model=look.voice_engine,
            episode=episode.no,
            params=params,
            seconds_est=0.3 + 0.6 * length.estimated_frames(line.text) / length.FPS,
            peaks=(VOICE_PEAK,),
        )

    def _illustrate(self, episode: model.Episode, shot: model.Shot) -> jobs.Wanted:
        names = self._names(shot)
        emotions = dict(zip(shot.characters, shot.emotions, strict=False))
        ages = dict(zip(shot.characters, shot.ages, strict=False))
        gestures = dict(zip(shot.characters, shot.gestures, strict=False))
        held = dict(zip(shot.characters, shot.held, strict=False))
        speakers = {line.speaker for line in shot.lines if line.quoted}
        title, subtitle = card_words(shot)
        params: dict[str, Any] = {
            "kind": shot.kind,
            "scene": requests.scene_params(shot.scene),
            "memory": shot.memory,
            "prompt": shot.prompt if shot.kind == "shot" else "",
            "title": title,
            "subtitle": subtitle,
            "figures": [
                {
                    "sheet": requests.sheet_params(self.cast[name]),
                    "emotion": emotions.get(name, "calm"),
                    "speaking": name in speakers,
                    "age": ages.get(name, ""),
                    "gesture": gestures.get(name, ""),
                    "held": held.get(name, ""),
                }
                for name in names
            ],
            "lettering": [dataclasses.asdict(one) for one in lettering.of(shot)],
            "seed": render_seed(shot),
            **self.size,
        }
        anchors = [self.anchors[name] for name in names]
        return self._image_job(
            "illustrate",
            requests.panel_request(params),
            key_of(*self._image_inputs("illustrate"), params, shot.take, [a.key for a in anchors]),
            subject=_subject(episode, shot),
            queue="gpu.mid",
            klass=MID,
            episode=episode.no,
            params=params,
            needs=tuple(jobs.Need(stage="anchor", subject=a.subject) for a in anchors),
            seconds_est=1.5 * self.look.width * self.look.height / (720 * 1280),
        )

    def _animate(
        self,
        episode: model.Episode,
        shot: model.Shot,
        panel: jobs.Wanted,
        voices: Sequence[jobs.Wanted],
    ) -> jobs.Wanted:
        lines = self._lines(episode, shot)
        params = {
            "motion": shot.motion,
            "fps": self.look.fps,
            "seed": render_seed(shot),
            "weather": "clear" if shot.scene.place in INDOORS else shot.scene.weather,
            "framing": shot.scene.framing,
            "lines": [
                {k: line[k] for k in ("no", "subject", "text", "spoken")}
                | {"by": line["speaker"] or "" if line["quoted"] else ""}
                for line in lines
            ],
            "card_seconds": card_seconds(shot),
            **self.size,
        }
        own = {k: v for k, v in params.items() if k != "lines"}
        said = [[line["text"], line["spoken"], line["speaker"], line["quoted"]] for line in lines]
        frames = self._frames(shot, lines)
        return self._image_job(
            "animate",
            requests.clip_request(params, self.panel, frames),
            key_of(
                *self._image_inputs("animate"),
                own,
                said,
                shot.take,
                panel.key,
                [voice.key for voice in voices],
            ),
            subject=panel.subject,
            queue="cpu" if self.look.camera_moves else "gpu.mid",
            klass=MID,
            episode=episode.no,
            params=params,
            needs=(
                jobs.Need(stage="illustrate", subject=panel.subject, kind="hard"),
                *(jobs.Need(stage="voice", subject=voice.subject) for voice in voices),
            ),
            seconds_est=0.5 + frames / 20 * self.look.width * self.look.height / (720 * 1280),
        )

    def _lines(self, episode: model.Episode, shot: model.Shot) -> list[dict[str, Any]]:
        return [
            {
                "no": line.no,
                "text": line.text,
                "speaker": line.speaker,
                "quoted": line.quoted,
                "spoken": line.spoken,
                "lettered": line.lettered,
                "subject": f"{_subject(episode, shot)}/l{line.no}",
            }
            for line in shot.lines
        ]

    @staticmethod
    def _frames(shot: model.Shot, lines: Sequence[Mapping[str, Any]]) -> int:
        none: list[int | None] = [None] * len(lines)
        return timing.shot_timing(lines, none, card_seconds=card_seconds(shot))[1]


def card_seconds(shot: model.Shot) -> float:
    """How long a shot without lines stands; a drawn shot lasts as long as its lines."""
    if shot.kind == "title":
        return TITLE_SECONDS
    if shot.kind == "end":
        return END_SECONDS
    return 0.0 if shot.lines else 1.5


def card_words(shot: model.Shot) -> tuple[str, str]:
    """Title and subtitle of a card: the first line of its prompt, and the rest."""
    if shot.kind == "shot":
        return "", ""
    title, _, subtitle = shot.prompt.partition("\n")
    return title, subtitle.replace("\n", " ")


def _subject(episode: model.Episode, shot: model.Shot) -> str:
    return f"e{episode.no}/s{shot.no}"


def _shown(shots: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What of the shots is the assembler's own input: kinds, cards and subtitles, no numbers."""
    return [
        [
            s["kind"],
            s["card_seconds"],
            s["dissolve"],
            [[li["text"], li["spoken"], li["speaker"], li["lettered"]] for li in s["lines"]],
        ]
        for s in shots
    ]


def shot_seconds(shot: model.Shot) -> float:
    """How long a shot will last when each line lasts as estimated."""
    lines = [{"text": line.text, "spoken": line.spoken} for line in shot.lines]
    none: list[int | None] = [None] * len(lines)
    frames = timing.shot_timing(lines, none, card_seconds=card_seconds(shot))[1]
    return frames / length.FPS
