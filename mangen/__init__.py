"""mangen turns novels and promo texts into finished comic videos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mangen import control
    from mangen.api import create_project, project_status, submit_novel
    from mangen.clips import clip_status, request_clip, wait_clip
    from mangen.insight import backlog, trace
    from mangen.troubles import failed, rescue

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "backlog",
    "clip_status",
    "control",
    "create_project",
    "failed",
    "project_status",
    "request_clip",
    "rescue",
    "submit_novel",
    "trace",
    "wait_clip",
]
_HOMES = {
    "backlog": "insight",
    "clip_status": "clips",
    "create_project": "api",
    "failed": "troubles",
    "project_status": "api",
    "request_clip": "clips",
    "rescue": "troubles",
    "submit_novel": "api",
    "trace": "insight",
    "wait_clip": "clips",
}


def __getattr__(name: str) -> Any:
    """Load the API at its first use: `import mangen` stays light."""
    import importlib  # noqa: PLC0415 - as lazy as what it loads

    if name == "control":
        return importlib.import_module("mangen.control")
    if name in _HOMES:
        return getattr(importlib.import_module(f"mangen.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mangen' has no attribute {name!r}")
