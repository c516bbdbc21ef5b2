"""illustrate: one panel of a shot, drawn from its characters' anchors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mangen.comic import requests
from mangen.comic.stages import engined, inputs, kit, pictures, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import work


class Illustrate:
    name = "illustrate"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        unlike: dict[int, list[str]] = {}

        def request_of(job: jobs.Job) -> protocol.PanelRequest:
            request = requests.panel_request(job.params, _features(job, tools))
            unlike[job.id] = [one.sheet.name for one in request.figures if not one.features]
            return request

        def made_of(job: jobs.Job, product: protocol.Panel) -> stage.Made:
            meta = {"unlike": unlike.pop(job.id)}  # drawn from words alone: their anchors failed
            return stage.Made(files=pictures.panel_files(product, tools.scratch, job, meta))

        engine = tools.image_engine_of(bucket)
        return engined.Engined(engine.open(bucket, rt), request_of, made_of)


def _features(job: jobs.Job, tools: kit.Kit) -> Mapping[str, Mapping[str, Any]]:
    """Answer the features of the characters whose anchors were made, by name."""
    found = {}
    for (need, subject), made in inputs.of(tools.ledger, job.id).items():
        features = made.find("features") if need == "anchor" else None
        if features is not None:
            found[subject.removeprefix("c/")] = json.loads(
                tools.file_of(features).read_text("utf-8")
            )
    return found
