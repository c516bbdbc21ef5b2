"""Drive the diffusion engine as a child does: requests in, products out."""

from __future__ import annotations

import contextlib


def run(engine, rt, requests):
    """Run requests of one bucket together to their ends."""
    batch = engine.open(engine.bucket(next(iter(requests.values()))), rt)
    ended = {}
    with contextlib.closing(batch):
        batch.add(requests)
        while len(ended) < len(requests):
            ended.update(batch.step())
    return ended


def make(engine, rt, request):
    (made,) = run(engine, rt, {"one": request}).values()
    if isinstance(made, Exception):
        raise made
    return made
