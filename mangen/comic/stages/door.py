"""The product's Work: which session runs which bucket's stage, and how unclaimed work goes back."""

from __future__ import annotations

import logging

from mangen import errors
from mangen.comic.stages import (
    anchor,
    animate,
    assemble,
    encode,
    faults,
    illustrate,
    kit,
    links,
    picture,
    session,
    stage,
    storyboard,
    tracing,
    voice,
)
from mangen.ledger import jobs
from mangen.pooling import models, work

log = logging.getLogger(__name__)

STAGES: dict[str, stage.Stage] = {
    one.name: one
    for one in (
        storyboard.Storyboard(),
        anchor.Anchor(),
        voice.Voice(),
        illustrate.Illustrate(),
        *links.ALL,
        encode.Encode(),
        animate.Animate(),
        assemble.Assemble(),
    )
}
#: what runs the buckets of several stages, by the word that stands for them
SHARED: dict[str, stage.Stage] = {one.name: one for one in (picture.Picture(),)}


def stage_of(bucket: str) -> stage.Stage:
    """Answer the stage a bucket belongs to: one of the bucket's words names it."""
    known = STAGES | SHARED
    for word in bucket.split("/"):
        if word in known:
            return known[word]
    raise errors.UsageError(f"no stage is named in the bucket {bucket!r}")


class ComicWork:
    """Pool Work over the comic's stages; registers each owner before its first claim."""

    def __init__(self, tools: kit.Kit, queues: tuple[str, ...]) -> None:
        self._kit, self._queues = tools, queues
        self._registered: set[str] = set()
        self._device = "cpu"

    def open(self, bucket: str, rt: work.Runtime) -> work.Session:
        self._device = rt.kind
        owner = jobs.Owner.parse(rt.owner, device=rt.kind, queues=self._queues)
        if rt.owner not in self._registered:
            session.reach(self._kit, lambda: self._kit.ledger.register(owner))
            self._registered.add(rt.owner)
        members: stage.Members
        watched = tracing.Watched(rt)
        try:
            members = stage_of(bucket).open(bucket, watched, self._kit)
        except Exception as error:  # noqa: BLE001 - raised before a claim it would charge nobody
            members = stage.Broken(error)
        return session.StageSession(bucket, members, owner, self._kit, cache=watched.counts)

    def spec(self, model: str) -> models.ModelSpec | None:
        """Answer the model behind a job's model name, as far as this worker's engines know it."""
        return self._kit.spec(model)

    def give_back(self, item: work.Item, why: work.Why) -> work.Outcome:
        data = item.data or {}
        try:
            self._kit.ledger.hand_back(
                int(data["job"]), int(data["attempt"]), why.value, device=self._device
            )
        except Exception as error:  # noqa: BLE001 - the bell is found lost by the pass
            log.warning("job %s was not handed back: %s", data.get("job"), faults.sentence(error))
        return work.Outcome.aborted(why.value)
