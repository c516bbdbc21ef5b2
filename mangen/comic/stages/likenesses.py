"""What is known of the characters in a shot from the anchors that its job needed."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from typing import Any

from mangen import errors
from mangen.comic import requests
from mangen.comic.stages import inputs, kit, pictures
from mangen.engines import protocol
from mangen.ledger import jobs


def of(
    needs: inputs.Needs, job: jobs.Job, engine: protocol.Engine, tools: kit.Kit
) -> requests.Likenesses:
    """Answer who of a job's figures has a likeness: features, and a picture if the engine asks."""
    found = {}
    for name in _names(job):
        made = _anchor(needs, name, engine)
        features = made.find("features") if made is not None else None
        if made is None or features is None:
            continue
        reference = made.find("reference") if engine.references else None
        found[name] = requests.Likeness(
            features=_features(name, tools.file_of(features)),
            reference=None if reference is None else pictures.read(tools.file_of(reference)),
        )
    return found


def _features(name: str, path: pathlib.Path) -> Any:
    """Read what an anchor was encoded to; raises StorageError where that is not whole."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise errors.StorageError(
            f"the anchor of {name} has no file of features that is whole ({path.name}: {error})"
        ) from error


def missing(needs: inputs.Needs, job: jobs.Job, engine: protocol.Engine) -> Sequence[str]:
    """Answer whose anchor was wanted and failed: they are drawn from words alone."""
    anchors = [(name, _anchor(needs, name, engine)) for name in _names(job)]
    return [name for name, made in anchors if made is not None and made.find("features") is None]


def _names(job: jobs.Job) -> list[str]:
    return [figure["sheet"]["name"] for figure in job.params.get("figures", ())]


def _anchor(needs: inputs.Needs, name: str, engine: protocol.Engine) -> inputs.Input | None:
    """The anchor of the engine that draws, whether it is the project's own or not."""
    return needs.get(("anchor", f"c/{name}")) or needs.get(("anchor", f"c/{name}@{engine.name}"))
