"""picture: anchors and panels that one model draws. They share its batches.

An anchor holds up every shot of its character: it joins the panels of others between two steps.
"""

from __future__ import annotations

from typing import Any

from mangen.comic.stages import anchor, engined, illustrate, kit, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import work


class Picture:
    """Several stages, of which each makes the requests and the files of its own jobs."""

    name = "picture"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        engine = tools.image_engine_of(bucket)
        stages = anchor.Anchor(), illustrate.Illustrate()
        ways = {one.name: one.way(engine, tools) for one in stages}

        def request_of(job: jobs.Job) -> protocol.Request:
            return ways[job.stage].request_of(job)

        def made_of(job: jobs.Job, product: Any) -> stage.Made:
            return ways[job.stage].made_of(job, product)

        return engined.Engined(engine.open(bucket, rt), request_of, made_of)
