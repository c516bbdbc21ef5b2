"""repaint, outpaint, upscale: what models do to a panel, each after the one before."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from mangen import errors
from mangen.comic import masks, requests
from mangen.comic.stages import chain, engined, inputs, kit, likenesses, stage
from mangen.engines import protocol
from mangen.ledger import jobs
from mangen.pooling import work

if TYPE_CHECKING:
    Make: TypeAlias = Callable[
        [jobs.Job, protocol.Panel, requests.Likenesses, kit.Kit], protocol.Request
    ]


class Link:
    """A stage that takes the panel before it and answers another."""

    def __init__(self, name: str, make: Make) -> None:
        self.name, self._make = name, make

    def open(self, bucket: str, rt: work.Runtime, tools: kit.Kit) -> stage.Members:
        engine = tools.image_engine_of(bucket)

        def request_of(job: jobs.Job) -> protocol.Request:
            needs = inputs.of(tools.ledger, job.id)
            known = likenesses.of(needs, job, engine, tools)
            return self._make(job, chain.panel(needs, job, tools), known, tools)

        def made_of(job: jobs.Job, product: protocol.Panel) -> stage.Made:
            return chain.made(product, job, tools, {})

        return engined.Engined(engine.open(bucket, rt), request_of, made_of)


def _repaint(
    job: jobs.Job, panel: protocol.Panel, known: requests.Likenesses, tools: kit.Kit
) -> protocol.Request:
    path = tools.store.locate(job.params["mask"])
    if not path.exists():
        raise errors.StorageError(
            f"the mask of {job.subject} has no file: ask for the repaint again "
            f"(`manage.py retake {job.project}/{job.subject} --repaint MASK --prompt ...`)"
        )
    return requests.repaint_request(job.params, panel, _mask(path, panel), known)


def _mask(path: pathlib.Path, panel: protocol.Panel) -> protocol.Mask:
    """Lay a mask over a whole panel, whatever their sizes; a speck of it stays one."""
    import cv2  # noqa: PLC0415 - heavy, and only children draw
    import numpy as np  # noqa: PLC0415 - as above

    data = np.frombuffer(path.read_bytes(), np.uint8)
    mask = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
    if mask is None:
        raise errors.StorageError(f"{path.name} in the artifact store is no whole picture")
    height, width = panel.image.shape[:2]
    laid = cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
    # what is so small that a pixel of the panel is more than it, is that pixel
    least = min(masks.PAINTED, float(laid.max()) / 2)
    return np.where(np.asarray(laid) > least, 255, 0).astype(np.uint8)


def _outpaint(
    job: jobs.Job, panel: protocol.Panel, known: requests.Likenesses, tools: kit.Kit
) -> protocol.Request:
    del tools
    return requests.outpaint_request(job.params, panel, known)


def _upscale(
    job: jobs.Job, panel: protocol.Panel, known: requests.Likenesses, tools: kit.Kit
) -> protocol.Request:
    del tools
    return requests.upscale_request(job.params, panel, known)


ALL = (Link("repaint", _repaint), Link("outpaint", _outpaint), Link("upscale", _upscale))
