"""Client processes: each with the ledger a worker's child has, started once and used for all."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mangen.ledger import jobs, ledger

#: what a client runs: (the database's URL, its number, its share of the work) -> how much it did
Work = Callable[[str, int, Any], int]


class Clients:
    """So many processes that begin together; a rate is all they did over the slowest one's time."""

    def __init__(self, count: int) -> None:
        self.count = count
        context = multiprocessing.get_context("spawn")
        self._pipes = []
        self._processes = []
        for number in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, number), daemon=True)
            process.start()
            self._pipes.append(ours)
            self._processes.append(process)

    def rate(self, work: Work, url: str, shares: Sequence[Any]) -> float:
        """Give each client its share; answers what they did a second, together."""
        for pipe, share in zip(self._pipes, shares, strict=True):
            pipe.send((work, url, share))
        for pipe in self._pipes:
            pipe.recv()  # connected and warm
        for pipe in self._pipes:
            pipe.send("go")
        done = [pipe.recv() for pipe in self._pipes]
        broken = [one for one in done if isinstance(one, BaseException)]
        if broken:
            raise broken[0]
        return float(sum(count for count, _ in done) / max(seconds for _, seconds in done))

    def end(self) -> None:
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.send(None)
        for process in self._processes:
            process.join(10)


@contextlib.contextmanager
def clients(count: int) -> Iterator[Clients]:
    found = Clients(count)
    try:
        yield found
    finally:
        found.end()


def dealt(ids: Sequence[int], count: int) -> list[Sequence[int]]:
    """Equal shares in a row: as pgbench's clients take theirs."""
    each = len(ids) // count
    return [ids[n * each : (n + 1) * each] for n in range(count)]


def claim_finish(url: str, number: int, share: Sequence[int]) -> Iterator[int]:
    """Claim and finish one job after the other, as a child does."""
    book = ledger.Ledger(url, application="mangen-child", pool_size=1)
    owner = jobs.Owner(worker="load", slot=number, generation=time.time_ns(), queues=("cpu",))
    book.register(owner)
    yield 0
    for job in share:
        with book.finishing(book.claim([job], owner).granted[job]):
            pass
    yield len(share)
    book.close()


def _serve(pipe: Any, number: int) -> None:
    while (asked := pipe.recv()) is not None:
        work, url, share = asked
        try:
            running = work(url, number, share)
            next(running)
            pipe.send("ready")
            pipe.recv()
            began = time.perf_counter()
            count = next(running)
            pipe.send((count, time.perf_counter() - began))
            for _ in running:
                pass
        except Exception as error:  # noqa: BLE001 - told to whoever measures
            pipe.send(error)
