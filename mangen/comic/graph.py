"""What is wanted: from a storyboard and a look to the jobs that ought to exist. Pure.

Keys are hashes of content alone (own inputs, keys of what is needed, seed, take), never of numbers
or subjects, so that an edit elsewhere moves nothing and the same work is found again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mangen.comic import cards, keys, look, model, panels, requests, timing, transitions, voicing
from mangen.engines import length
from mangen.ledger import jobs

VOICE_PEAK = 400 * 2**20  #: bytes a voice engine works in beside its weights, measured generously
MIX_PEAK = 240 * 2**20  #: bytes of an episode's sound, and of the notes and places under it
ASSEMBLE_FRAMES_HELD = 24  #: frames in flight between decoder, subtitles and encoder
SOUND = "1"  #: raised when the mix makes other music or places of the same episode
HIGH, MID = panels.HIGH, panels.MID


def wanted(
    board: model.Storyboard, *, episodes: Collection[int], look: look.Look
) -> Sequence[jobs.Wanted]:
    """All jobs of the given episodes: anchors first, then each episode in the order of its shots.

    An episode number that the storyboard lacks asks for nothing.
    """
    return _Graph(board, frozenset(episodes), look).all_jobs()


def anchored(board: model.Storyboard, episodes: Collection[int], chosen: look.Look) -> set[str]:
    """Subjects of the anchors that these episodes want."""
    made = panels.Panels({one.name: one for one in board.characters}, chosen)
    return {
        subject
        for episode in board.episodes
        if episode.no in episodes
        for shot in episode.shots
        for subject in made.anchors_of(shot).values()
    }


class _Graph:
    """One call of `wanted`: the pieces that all its jobs share."""

    def __init__(
        self, board: model.Storyboard, episodes: Collection[int], chosen: look.Look
    ) -> None:
        self.board, self.look = board, chosen
        self.episodes = [e for e in board.episodes if e.no in episodes]
        self.size = {"width": chosen.width, "height": chosen.height}
        self.panels = panels.Panels({one.name: one for one in board.characters}, chosen)
        self.voices = voicing.cast(board, zh=chosen.voice, en=chosen.voice_en, speed=chosen.speed)
        self.anchors: dict[str, jobs.Wanted] = {}

    def all_jobs(self) -> list[jobs.Wanted]:
        for episode in self.episodes:
            for shot in episode.shots:
                for name, subject in self.panels.anchors_of(shot).items():
                    if subject not in self.anchors:
                        quality = self.look.quality_of(shot)
                        self.anchors[subject] = self.panels.anchor(name, subject, quality)
        made = list(self.anchors.values())
        for episode in self.episodes:
            made.extend(self._episode(episode))
        return made

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
                    "card_seconds": cards.seconds(shot),
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
            key=keys.key_of("assemble", own, upstream),
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
        yield from voices
        chain = [*self.panels.links(_subject(episode, shot), episode.no, shot, self.anchors)]
        yield from chain
        encoded = self.panels.encode(shot, chain)
        if encoded is not None:
            yield encoded
        lines = self._lines(episode, shot)
        frames = self._frames(shot, lines)
        yield self.panels.animate(shot, lines, chain, frames=frames, voices=voices, encoded=encoded)

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
            key=keys.key_of("voice", look.voice_engine, look.voice_version, params),
            queue="cpu",
            klass=MID,
            bucket=f"{look.voice_engine}/voice",
            model=look.voice_engine,
            episode=episode.no,
            params=params,
            seconds_est=0.3 + 0.6 * length.estimated_frames(line.text) / length.FPS,
            peaks=(VOICE_PEAK,),
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
        return timing.shot_timing(lines, none, card_seconds=cards.seconds(shot))[1]


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
    frames = timing.shot_timing(lines, none, card_seconds=cards.seconds(shot))[1]
    return frames / length.FPS
