"""voice: one line as sound; a line that can't be spoken becomes silence of its expected length."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence

import sqlalchemy as sa

from mangen import errors
from mangen.comic import content, requests
from mangen.comic.stages import kit, sounds, stage
from mangen.engines import protocol
from mangen.engines.voice import tone
from mangen.ledger import jobs
from mangen.pooling import work

log = logging.getLogger(__name__)


class Voice:
    name = "voice"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        del bucket
        return stage.Stepped(lambda job: _steps(job, rt, tools), rt)


def _steps(job: jobs.Job, rt: work.Runtime, tools: kit.Kit) -> stage.Steps:
    yield 0, 1
    speech, voice = requests.speech(job.params)
    said = ""
    known = tools.voices.holds(speech, voice)
    try:
        audio = _speak(job, speech, voice, rt, tools)
    except errors.VoiceError as error:
        if not error.permanent:
            raise
        said = str(error)
        log.warning("job %d: %s; silence stands in", job.id, said)
        audio = tone.silence(speech.text)
    path = sounds.write(audio, tools.scratch / f"{job.id}-{job.attempt}.wav")
    meta = {"samples": len(audio.samples), "estimated": audio.estimated, "why": said}

    def write(conn: sa.Connection, stored: Sequence[jobs.Artifact]) -> None:
        del stored
        content.set_samples(conn, job.project, job.subject, len(audio.samples))

    files = [stage.File(kind="voice", path=path, meta=meta)]
    return stage.Made(files=files, write=write, value={**meta, "cached": known})


def _speak(
    job: jobs.Job, speech: protocol.Speech, voice: protocol.Voice, rt: work.Runtime, tools: kit.Kit
) -> protocol.Audio:
    """Speak, or read back what was spoken before; the model is pinned only where it is used."""
    known = tools.voices
    if known.holds(speech, voice):
        return known.speak(speech, voice)
    models = tools.voice_models()
    with rt.use(models[job.stage]) if job.stage in models else contextlib.nullcontext():
        return known.speak(speech, voice)
