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
        def made_of(job: jobs.Job, product: protocol.AnchorProduct) -> stage.Made:
            stem = f"{job.id}-{job.attempt}"
            features = tools.scratch / f"{stem}.json"
            features.write_text(json.dumps(product.features, ensure_ascii=False), "utf-8")
            picture = pictures.write(product.reference, tools.scratch / f"{stem}.png")

            def write(conn: sa.Connection, stored: Sequence[jobs.Artifact]) -> None:
                content.set_features(
                    conn,
                    job.project,
                    job.subject.removeprefix("c/"),
                    features=product.features,
                    reference=stored[0].path,
                )

            return stage.Made(
                files=[
                    stage.File(kind="reference", path=picture),
                    stage.File(kind="features", path=features),
                ],
                write=write,
            )

        return engined.Engined(
            tools.image_engine_of(bucket).open(bucket, rt),
            lambda job: requests.anchor_request(job.params),
            made_of,
        )
