"""The work of the pool's benchmark: what a novel asks of one card, in waves. Seeded.

A wave comes in clumps, as a ledger publishes them: the panels of an episode one after another,
then its clips. Rank falls from the first job to the last.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import sim_product

from mangen.pooling import work

SMALL, LARGE = "sdxl/512x768/30", "sdxl/1024x1024/30"
CLIP, PREVIEW = "i2vgenxl/512x512x16/50", "i2vgenxl/704x1280x16/4"

#: a hundred jobs of the main run, and of the one with restarts, which are to be cheap to simulate
MIXED = {SMALL: 61, LARGE: 28, CLIP: 8, PREVIEW: 3}
BRIEF = {SMALL: 64, LARGE: 31, CLIP: 4, PREVIEW: 1}
_CLUMP = {SMALL: 24, LARGE: 20, CLIP: 4, PREVIEW: 3}
_STAGES = {"sdxl": "illustrate", "i2vgenxl": "animate"}


def waves(
    jobs: int, share: Mapping[str, int], *, size: int, folder: str, seed: int = 1
) -> list[list[work.Item]]:
    """Answer so many jobs in waves of `size`, whose buckets have the given shares in percent."""
    dice = random.Random(seed)
    found: list[list[work.Item]] = []
    made = 0
    while made < jobs:
        count = min(size, jobs - made)
        buckets = _arrange(_counts(count, share), dice)
        found.append(
            [
                sim_product.item(
                    f"{made + n:04d}",
                    bucket,
                    folder=folder,
                    rank=1 - (made + n) / jobs,
                )
                for n, bucket in enumerate(buckets)
            ]
        )
        made += count
    return found


def _counts(count: int, share: Mapping[str, int]) -> dict[str, int]:
    """Split so many jobs; what rounding leaves goes to the first bucket."""
    counts = {bucket: count * percent // 100 for bucket, percent in share.items()}
    counts[next(iter(counts))] += count - sum(counts.values())
    return counts


def _arrange(counts: Mapping[str, int], dice: random.Random) -> Sequence[str]:
    clumps = [
        [bucket] * min(_CLUMP[bucket], count - begun)
        for bucket, count in counts.items()
        for begun in range(0, count, _CLUMP[bucket])
    ]
    dice.shuffle(clumps)
    return [bucket for clump in clumps for bucket in clump]
