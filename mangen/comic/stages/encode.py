"""encode: what a video model wants of a panel before its steps, as a file of its own."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from mangen import errors
from mangen.comic import requests
from mangen.comic.stages import chain, engined, inputs, kit, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import cache_format, work

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND = "encoded"


class Encode:
    name = "encode"

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        def request_of(job: jobs.Job) -> protocol.EncodeRequest:
            needs = inputs.of(tools.ledger, job.id)
            return requests.encode_request(job.params, chain.panel(needs, job, tools))

        def made_of(job: jobs.Job, product: protocol.Encoded) -> stage.Made:
            path = tools.scratch / f"{job.id}-{job.attempt}.safetensors"
            path.write_bytes(cache_format.dump(KIND, job.subject, dict(product.arrays), 0.0))
            return stage.Made(
                files=[stage.File(kind=KIND, path=path, meta=engined.marks(job, {}))],
                value=engined.quality(job),
            )

        engine = tools.image_engine_of(bucket)
        return engined.Engined(engine.open(bucket, rt), request_of, made_of)


def read(path: pathlib.Path, subject: str) -> Mapping[str, protocol.Array]:
    """Read back what was encoded of a shot; raises StorageError where it is not whole."""
    try:
        arrays: Mapping[str, protocol.Array] = cache_format.load(
            KIND, subject, path.read_bytes()
        ).value
    except (OSError, cache_format.Broken) as error:
        raise errors.StorageError(
            f"what was encoded of {subject} has no file that is whole ({path.name}: {error})"
        ) from error
    return arrays
