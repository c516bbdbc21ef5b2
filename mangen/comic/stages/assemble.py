"""assemble: an episode's clips and voices into one finished video, or as near as they allow."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from mangen import errors
from mangen.comic import assemble, content, panels, requests, subtitles, timing
from mangen.comic.stages import chain, inputs, kit, pictures, sounds, stage
from mangen.engines import length
from mangen.ledger import jobs
from mangen.pooling import work

if TYPE_CHECKING:
    import numpy as np

#: with more of an episode's shots and lines replaced than this it fails rather than degrades
MOST_REPLACED = 0.3

_OF = " of "
#: what is told, and is no lost piece: the shot is there all the same
_LIKENESS = f"likeness{_OF}"
_MINOR = (_LIKENESS, *(f"{link}{_OF}" for link in panels.LINKS))
_Needs = Mapping[tuple[str, str], inputs.Input]


class Assemble:
    name = "assemble"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        del bucket
        return stage.Stepped(lambda job: _steps(job, tools), rt)


@dataclasses.dataclass(frozen=True, slots=True)
class _Gathered:
    parts: list[assemble.Part]
    lines: list[subtitles.TimedLine]
    replaced: list[dict[str, str]]
    wanted: int

    @property
    def missing(self) -> int:
        """Shots and lines that something else stands for."""
        return sum(1 for one in self.replaced if not one["what"].startswith(_MINOR))


def _steps(job: jobs.Job, tools: kit.Kit) -> stage.Steps:
    params = job.params
    got = _gather(params, inputs.of(tools.ledger, job.id), tools)
    _refuse(got, params)
    folder = tools.scratch / f"{job.id}-{job.attempt}"
    folder.mkdir(parents=True, exist_ok=True)
    total = sum(part.frames for part in got.parts)
    steps = assemble.assemble(
        got.parts,
        folder,
        width=params["width"],
        height=params["height"],
        fps=params["fps"],
        cues=subtitles.cues(got.lines, width=params["width"], height=params["height"]),
        title=params["title"],
        seed=_tune(params["project_title"]),
        music=params.get("music", 1.0),
    )
    while True:
        try:
            yield next(steps), total
        except StopIteration as end:
            made = end.value
            break
    known = {one["what"] for one in got.replaced}
    for one in made.replaced:  # clips that turned out to be broken
        what = f"shot {params['shots'][one.part]['subject']}"
        if what not in known:
            got.replaced.append({"what": what, "by": one.by, "why": one.why})
    _refuse(got, params)  # again: files may be broken that were made
    board = folder / "storyboard.json"
    board.write_text(
        json.dumps(
            {"project": job.project, "episode": dict(params), "replaced": got.replaced},
            ensure_ascii=False,
            indent=1,
        ),
        "utf-8",
    )
    return _made(job, made, board, got, total / params["fps"])


def _refuse(got: _Gathered, params: Mapping[str, Any]) -> None:
    """Fail an episode of which too much is replaced."""
    if got.missing > MOST_REPLACED * got.wanted:
        first = next(one for one in got.replaced if not one["what"].startswith(_MINOR))
        raise errors.EngineError(
            f"episode {params['episode']}: {got.missing} of {got.wanted} pieces failed, more "
            f"than {MOST_REPLACED:.0%} (first: {first['what']}: {first['why']}); mend their cause "
            f"(`manage.py failures` lists them) and retry the episode"
        )


def _tune(title: str) -> int:
    """The seed of a project's music: its episodes share one."""
    return zlib.crc32(title.encode("utf-8", "surrogatepass"))


def _made(
    job: jobs.Job, made: assemble.Made, board: pathlib.Path, got: _Gathered, seconds: float
) -> stage.Made:
    def write(conn: sa.Connection, stored: Sequence[jobs.Artifact]) -> None:
        video = next(one.path for one in stored if one.kind == "video")
        content.finish_episode(
            conn,
            job.project,
            job.params["episode"],
            video=video,
            seconds=seconds,
            replaced=got.replaced,
        )

    return stage.Made(
        files=[
            stage.File(kind="video", path=made.video, meta={"seconds": seconds}),
            stage.File(kind="srt", path=made.srt),
            stage.File(kind="ass", path=made.ass),
            stage.File(kind="cover", path=made.cover),
            stage.File(kind="storyboard", path=board),
        ],
        write=write,
        value={"seconds": seconds, "replaced": len(got.replaced)},
    )


def _gather(params: Mapping[str, Any], needs: _Needs, tools: kit.Kit) -> _Gathered:
    """Lay out the parts in order, note what is replaced, and place the lines in frames."""
    got = _Gathered([], [], [], sum(1 + len(s["lines"]) for s in params["shots"]))
    at = 0
    for shot in params["shots"]:
        voices = [needs.get(("voice", line["subject"])) for line in shot["lines"]]
        samples = [sounds.samples_of(voice) for voice in voices]
        times, frames = timing.shot_timing(
            shot["lines"], samples, card_seconds=shot["card_seconds"]
        )
        heard = [sounds.read(voice, tools) for voice in voices]
        clip, panel = _picture(got, shot, needs, tools)
        drawn = pictures.lettered(chain.last(needs, shot["subject"]))
        for i, (line, time) in enumerate(zip(shot["lines"], times, strict=True)):
            got.lines.append(
                subtitles.TimedLine(
                    start_frame=at + time.start_frame,
                    frames=time.frames,
                    text=line["text"],
                    lettered=line.get("lettered", False) and line["no"] in drawn,
                )
            )
            if line["spoken"]:
                _note_voice(got, line, voices[i], lost=heard[i] is None)
        got.parts.append(
            assemble.Part(
                clip=clip,
                panel=panel,
                frames=frames,
                audio=_sound(heard, times, frames),
                dissolve=shot.get("dissolve", 0),
                scene=requests.scene(shot["scene"]) if "scene" in shot else None,
            )
        )
        at += frames
    return got


def _note_voice(
    got: _Gathered, line: Mapping[str, Any], voice: inputs.Input | None, *, lost: bool
) -> None:
    found = voice.find("voice") if voice is not None else None
    if found is None:
        why = voice.error if voice is not None else "it was never made"
    elif found.meta.get("estimated"):
        why = str(found.meta.get("why", ""))
    elif lost:
        why = f"its file {found.path} is missing or damaged"
    else:
        return
    got.replaced.append({"what": f"voice {line['subject']}", "by": "silence", "why": why})


def _picture(
    got: _Gathered, shot: Mapping[str, Any], needs: _Needs, tools: kit.Kit
) -> tuple[pathlib.Path | None, pathlib.Path | None]:
    """Answer the clip and the panel that stands in for it, as far as they were made."""
    animated = needs.get(("animate", shot["subject"]))
    drawn = needs.get(("illustrate", shot["subject"]))
    last = chain.last(needs, shot["subject"])
    _note_likeness(got, drawn)
    _note_links(got, needs, shot["subject"])
    clip = animated.find("clip") if animated is not None else None
    panel = last.find("panel") if last is not None else None
    if clip is None:
        failed = animated if panel is not None else drawn
        got.replaced.append(
            {
                "what": f"shot {shot['subject']}",
                "by": "a camera move on its panel" if panel is not None else "a neighbour's panel",
                "why": failed.error if failed is not None else "it was never made",
            }
        )
    return (
        tools.file_of(clip) if clip is not None else None,
        tools.file_of(panel) if panel is not None else None,
    )


def _note_links(got: _Gathered, needs: _Needs, subject: str) -> None:
    """Note what was to be done to a panel and was not; where there is none, that is told."""
    if chain.last(needs, subject) is None:
        return
    for one in chain.lost(needs, subject):
        got.replaced.append(
            {
                "what": f"{one.stage}{_OF}{subject}",
                "by": "the panel without it",
                "why": one.error or "it was not made",
            }
        )


def _note_likeness(got: _Gathered, drawn: inputs.Input | None) -> None:
    """Note, once a character, who was drawn without an anchor."""
    panel = drawn.find("panel") if drawn is not None else None
    for name in panel.meta.get("unlike", ()) if panel is not None else ():
        what = f"{_LIKENESS}{name}"
        if all(one["what"] != what for one in got.replaced):
            got.replaced.append(
                {"what": what, "by": "its description in words", "why": "its anchor failed"}
            )


def _sound(
    heard: Sequence[Any], times: Sequence[timing.LineTime], frames: int
) -> np.ndarray[Any, Any] | None:
    """Lay a shot's voices at their frames; None where nobody speaks."""
    import numpy as np  # noqa: PLC0415 - heavy, and only children mix

    if all(data is None for data in heard):
        return None
    track = np.zeros(frames * length.SAMPLES_PER_FRAME, np.float32)
    for time, data in zip(times, heard, strict=True):
        if data is not None:
            start = time.start_frame * length.SAMPLES_PER_FRAME
            track[start : start + len(data)] = data[: len(track) - start]
    return track
