"""How busy a card says that it is: NVML's own figure, looked at all the while."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any, Self

_EVERY_S = 0.1


class Meter:
    """Samples card 0 from `with` to its end; where NVML isn't, or not `on`, it knows nothing."""

    def __init__(self, *, on: bool) -> None:
        self._samples: list[tuple[float, float]] = []
        self._ended = threading.Event()
        self._nvml: Any = None
        if on:
            with contextlib.suppress(Exception):  # no card is read worse for want of a figure
                import pynvml  # noqa: PLC0415 - a package that a GPU machine may lack

                pynvml.nvmlInit()
                self._nvml = pynvml
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)

    def mean(self, began: float, ended: float) -> float | None:
        """The share of that time in which a kernel ran; None where nobody tells."""
        found = [share for at, share in list(self._samples) if began <= at <= ended]
        return sum(found) / len(found) if found else None

    def __enter__(self) -> Self:
        if self._nvml is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._nvml is not None:
            self._thread.join()

    def _sample(self) -> None:
        with contextlib.suppress(Exception):  # as above
            card = self._nvml.nvmlDeviceGetHandleByIndex(0)
            while not self._ended.wait(_EVERY_S):
                share = self._nvml.nvmlDeviceGetUtilizationRates(card).gpu / 100
                self._samples.append((time.monotonic(), share))
