"""animate: one clip a shot, as long as its lines are."""

from __future__ import annotations

from collections.abc import Mapping

from mangen import errors
from mangen.comic import requests, timing
from mangen.comic.stages import chain, encode, engined, inputs, kit, pictures, sounds, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import work


class Animate:
    name = "animate"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        def request_of(job: jobs.Job) -> protocol.ClipRequest:
            if "picture" in job.params:
                return _over_picture(job, tools)
            needs = inputs.of(tools.ledger, job.id)
            panel = chain.panel(needs, job, tools)
            lines = job.params["lines"]
            samples = [sounds.samples_of(needs.get(("voice", line["subject"]))) for line in lines]
            times, frames = timing.shot_timing(
                lines, samples, card_seconds=job.params["card_seconds"]
            )
            heard = tuple(
                protocol.Heard(
                    line=line.get("no", n),
                    start=time.start_frame,
                    frames=time.frames,
                    by=line.get("by", ""),
                    levels=sounds.levels(
                        sounds.read(needs.get(("voice", line["subject"])), tools), time.frames
                    ),
                )
                for n, (line, time) in enumerate(zip(lines, times, strict=True), 1)
            )
            encoded = needs.get(("encode", job.subject))
            return requests.clip_request(
                job.params,
                panel,
                frames,
                heard,
                encoded=_encoded(encoded, tools) if encoded is not None else {},
            )

        def made_of(job: jobs.Job, product: protocol.Clip) -> stage.Made:
            meta = {"frames": product.frames, **engined.marks(job, product.notes)}
            clip = stage.File(kind="clip", path=product.path, meta=meta)
            value = {"frames": product.frames, **engined.quality(job)}
            return stage.Made(files=[clip], value=value)

        engine = tools.image_engine_of(bucket)
        return engined.Engined(engine.open(bucket, rt), request_of, made_of)


def _encoded(made: inputs.Input, tools: kit.Kit) -> Mapping[str, protocol.Array]:
    """What the encode stage made of the panel, which it had to be done for."""
    found = made.find(encode.KIND)
    if found is None:
        raise errors.StorageError(f"what was encoded of {made.subject} has no file")
    return encode.read(tools.file_of(found), made.subject)


def _over_picture(job: jobs.Job, tools: kit.Kit) -> protocol.ClipRequest:
    """An ad-hoc clip: a move over a picture that lies in the store."""
    path = tools.store.locate(job.params["picture"])
    if not path.exists():
        raise errors.StorageError(f"the picture of {job.subject} has no file: ask for it again")
    frames = timing.shot_timing((), (), card_seconds=job.params["card_seconds"])[1]
    return requests.clip_request(job.params, protocol.Panel(image=pictures.read(path)), frames)
