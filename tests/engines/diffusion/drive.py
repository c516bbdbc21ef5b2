"""Run tasks through a family's batch, and look at the latents they end with."""

from __future__ import annotations

import contextlib


def run(family, model, rt, tasks, *, joins=None, leaves=None):
    """Run to the end; `joins` are tasks and `leaves` keys by the step before which they do so."""
    joins, leaves = dict(joins or {}), dict(leaves or {})
    bucket = family.bucket(model, next(iter(tasks.values())))
    batch = family.open(model, bucket, rt)
    ended, latents = {}, {}
    with contextlib.closing(batch), rt.use(family.spec(model, "image")) as loaded:
        kept = _watch(loaded, latents)
        batch.add(tasks)
        tick, waiting = 0, len(tasks)
        while waiting or joins:
            new = joins.pop(tick, {})
            batch.add(new)
            for key in leaves.pop(tick, ()):
                batch.drop(key)
                waiting -= 1
            now = batch.step()
            ended.update(now)
            tick += 1
            waiting += len(new) - len(now)
        loaded.finish = kept
    for one in ended.values():
        if isinstance(one, Exception):
            raise one
    return ended, latents


def _watch(loaded, latents):
    kept = loaded.finish

    def finish(member):
        latents[member.key] = member.latents.clone()
        return kept(member)

    loaded.finish = finish
    return kept


def far(one, other):
    """The largest difference, relative to the largest value."""
    return float((one - other).abs().max() / other.abs().max())
