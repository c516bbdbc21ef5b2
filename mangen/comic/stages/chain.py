"""A panel's way through its chain: the last panel that was made, whoever failed after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mangen import errors
from mangen.comic import panels
from mangen.comic.stages import engined, inputs, kit, pictures, stage
from mangen.engines import protocol
from mangen.ledger import jobs

#: from the last link back to the first
_BACK = (*reversed(panels.LINKS), "illustrate")


def last(needs: inputs.Needs, subject: str) -> inputs.Input | None:
    """Answer the last link of a shot that made a panel; None where none did."""
    for link in _BACK:
        found = needs.get((link, subject))
        if found is not None and found.find("panel") is not None:
            return found
    return None


def lost(needs: inputs.Needs, subject: str) -> list[inputs.Input]:
    """Answer the links of a shot that were wanted after its panel, and made none."""
    found = [needs.get((link, subject)) for link in panels.LINKS]
    return [one for one in found if one is not None and one.find("panel") is None]


def panel(needs: inputs.Needs, job: jobs.Job, tools: kit.Kit) -> protocol.Panel:
    """Read the last panel that was made of a job's shot; raises StorageError where none is."""
    link = last(needs, job.subject)
    found = pictures.read_panel(link, tools) if link is not None else None
    if found is None:
        raise errors.StorageError(f"the panel of {job.subject} (project {job.project}) has no file")
    return found


def made(
    product: protocol.Panel, job: jobs.Job, tools: kit.Kit, meta: Mapping[str, Any]
) -> stage.Made:
    """A panel as files, with what is known of how it was made."""
    marks = engined.marks(job, product.notes)
    return stage.Made(
        files=pictures.panel_files(product, tools.scratch, job, {**meta, **marks}),
        value=engined.quality(job),
    )
