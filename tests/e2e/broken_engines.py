"""Engines for tests, by dotted path: the animatic with one thing broken."""

from __future__ import annotations

from mangen import errors
from mangen.engines.animatic import engine


class NoAnchors(engine.Animatic):
    """Every anchor fails for good."""

    def open(self, bucket, rt):
        run = super().open(bucket, rt)
        if "anchor" not in bucket:
            return run
        step = run.step

        def failing():
            return {key: errors.EngineError("no likeness today") for key in step()}

        run.step = failing
        return run
