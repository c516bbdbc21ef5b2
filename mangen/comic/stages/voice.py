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
from mangen.engines.voice import cache, silence
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
    engine = tools.voice_engine
    said = ""
    try:
        audio = _speak(engine, speech, voice, rt, tools)
    except errors.VoiceError as error:
        if not error.permanent:
            raise
        said = str(error)
        log.warning("job %d: %s; silence stands in", job.id, said)
        audio = silence.silence(speech.text)
    path = sounds.write(audio, tools.scratch / f"{job.id}-{job.attempt}.wav")
    meta = {"samples": len(audio.samples), "estimated": audio.estimated, "why": said}

    def write(conn: sa.Connection, stored: Sequence[jobs.Artifact]) -> None:
        del stored
        content.set_samples(conn, job.project, job.subject, len(audio.samples))

    files = [stage.File(kind="voice", path=path, meta=meta)]
    return stage.Made(files=files, write=write, value=meta)


def _speak(
    engine: protocol.VoiceEngine,
    speech: protocol.Speech,
    voice: protocol.Voice,
    rt: work.Runtime,
    tools: kit.Kit,
) -> protocol.Audio:
    known = cache.VoiceCache(tools.voices)
    audio = known.get(engine, speech, voice)
    if audio is None:
        spec = getattr(engine, "spec", None)
        with rt.use(spec) if spec is not None else contextlib.nullcontext():
            audio = engine.speak(speech, voice)
        known.put(engine, speech, voice, audio)
    return audio
