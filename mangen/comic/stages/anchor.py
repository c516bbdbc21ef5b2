"""anchor: the reference picture of a character, and the features that keep it the same."""

from __future__ import annotations

import json
from collections.abc import Sequence

import sqlalchemy as sa

from mangen.comic import content, requests
from mangen.comic.stages import engined, kit, pictures, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import work


class Anchor:
    name = "anchor"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        engine = tools.image_engine_of(bucket)
        way = self.way(engine, tools)
        return engined.Engined(engine.open(bucket, rt), way.request_of, way.made_of)

    def way(self, _engine: protocol.Engine, tools: kit.Kit) -> engined.Way:
        """Answer how a character is drawn, and what is kept of it."""

        def made_of(job: jobs.Job, product: protocol.AnchorProduct) -> stage.Made:
            stem = f"{job.id}-{job.attempt}"
            features = tools.scratch / f"{stem}.json"
            features.write_text(json.dumps(product.features, ensure_ascii=False), "utf-8")
            picture = pictures.write(product.reference, tools.scratch / f"{stem}.png")

            name = job.params["sheet"]["name"]

            def write(conn: sa.Connection, stored: Sequence[jobs.Artifact]) -> None:
                if job.subject != f"c/{name}":  # of another engine than the project's own
                    return
                content.set_features(
                    conn,
                    job.project,
                    name,
                    features=product.features,
                    reference=stored[0].path,
                )

            return stage.Made(
                files=[
                    stage.File(
                        kind="reference", path=picture, meta=engined.marks(job, product.notes)
                    ),
                    stage.File(kind="features", path=features),
                ],
                write=write,
                value=engined.quality(job),
            )

        return engined.Way(lambda job: requests.anchor_request(job.params), made_of)
