"""ONNX Runtime, without its telemetry."""

from __future__ import annotations

import functools
import os
from typing import Any


@functools.cache
def onnx() -> Any:
    """The module `onnxruntime`, imported so that it neither writes to HOME nor calls home.

    Since 1.29 its Linux wheels report use to their maker, and keep a device id and a database in
    the user's cache folder, unless this variable is set before it is first imported.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # noqa: PLC0415 - the variable first; and 60 MB, for who speaks only

    return onnxruntime
