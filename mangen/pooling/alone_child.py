"""The child of a pool without Celery: the outcome itself is the reply."""

from __future__ import annotations

from mangen.pooling import process, wire, work


def prepare(_hello: wire.Hello) -> None:
    """Nothing surrounds this child."""


def settle(load: wire.Load, outcome: work.Outcome | None, _seconds: float) -> work.Outcome:
    """Answer the outcome; a request without one is of no product."""
    return outcome or work.Outcome.failed(f"{load.item.name} is no work of this pool's product")


if __name__ == "__main__":
    process.run(prepare, settle)
