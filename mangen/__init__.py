"""mangen turns novels and promo texts into finished comic videos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mangen.api import create_project, project_status, submit_novel

__version__ = "0.1.0"
__all__ = ["__version__", "create_project", "project_status", "submit_novel"]


def __getattr__(name: str) -> Any:
    """Load the API at its first use: `import mangen` stays light."""
    if name in __all__:
        from mangen import api  # noqa: PLC0415 - lazy on purpose: it loads sqlalchemy

        return getattr(api, name)
    raise AttributeError(f"module 'mangen' has no attribute {name!r}")
