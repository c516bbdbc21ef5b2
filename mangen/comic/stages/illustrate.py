"""illustrate: one panel of a shot, drawn from its characters' anchors."""

from __future__ import annotations

from collections.abc import Sequence

from mangen.comic import requests
from mangen.comic.stages import chain, engined, inputs, kit, likenesses, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import work


class Illustrate:
    name = "illustrate"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        engine = tools.image_engine_of(bucket)
        way = self.way(engine, tools)
        return engined.Engined(engine.open(bucket, rt), way.request_of, way.made_of)

    def way(self, engine: protocol.Engine, tools: kit.Kit) -> engined.Way:
        """Answer how a panel is drawn, and what is kept of it."""
        unlike: dict[int, Sequence[str]] = {}

        def request_of(job: jobs.Job) -> protocol.PanelRequest:
            needs = inputs.of(tools.ledger, job.id)
            unlike[job.id] = likenesses.missing(needs, job, engine)
            return requests.panel_request(job.params, likenesses.of(needs, job, engine, tools))

        def made_of(job: jobs.Job, product: protocol.Panel) -> stage.Made:
            meta = {"unlike": list(unlike.pop(job.id))}  # drawn from words: their anchors failed
            return chain.made(product, job, tools, meta)

        return engined.Way(request_of, made_of)
