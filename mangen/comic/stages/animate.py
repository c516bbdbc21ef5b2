"""animate: one clip a shot, as long as its lines are."""

from __future__ import annotations

from mangen import errors
from mangen.comic import requests, timing
from mangen.comic.stages import engined, inputs, kit, pictures, sounds, stage
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
            panel = pictures.read_panel(needs["illustrate", job.subject], tools)
            if panel is None:
                raise errors.StorageError(
                    f"the panel of {job.subject} (project {job.project}) has no file"
                )
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
            return requests.clip_request(job.params, panel, frames, heard)

        def made_of(job: jobs.Job, product: protocol.Clip) -> stage.Made:
            del job
            clip = stage.File(kind="clip", path=product.path, meta={"frames": product.frames})
            return stage.Made(files=[clip], value={"frames": product.frames})

        engine = tools.image_engine_of(bucket)
        return engined.Engined(engine.open(bucket, rt), request_of, made_of)


def _over_picture(job: jobs.Job, tools: kit.Kit) -> protocol.ClipRequest:
    """An ad-hoc clip: a move over a picture that lies in the store."""
    path = tools.store.locate(job.params["picture"])
    if not path.exists():
        raise errors.StorageError(f"the picture of {job.subject} has no file: ask for it again")
    frames = timing.shot_timing((), (), card_seconds=job.params["card_seconds"])[1]
    return requests.clip_request(job.params, protocol.Panel(image=pictures.read(path)), frames)
