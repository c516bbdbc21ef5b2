"""What the animatic draws still looks as it did when somebody last looked at it."""

from __future__ import annotations

import importlib.util
import pathlib

import click.testing
import cv2
import numpy as np
import pytest

from mangen.cli import looks
from mangen.engines.animatic import contact

_spec = importlib.util.spec_from_file_location(
    "contact_reference", pathlib.Path(__file__).with_name("contact_reference.py")
)
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)

#: mean distance in Lab at which a cell looks like another one; JPEG alone makes up to 2
UNLIKE = 6.0


@pytest.fixture(scope="module")
def drawn():
    return [(cell.label, cell.draw()) for cell in reference.cells()]


def distance(one, other):
    gap = np.linalg.norm(reference.small(one) - reference.small(other), axis=2)
    return float(gap.mean())


def test_every_cell_looks_as_it_was_kept(drawn):
    kept = reference.kept()
    assert len(drawn) <= len(kept)
    changed = {
        label: round(distance(picture, old), 1)
        for (label, picture), old in zip(drawn, kept, strict=False)
        if distance(picture, old) > UNLIKE
    }
    assert changed == {}, (
        "look at `manage.py wardrobe`, then run tests/engines/contact_reference.py"
    )


def test_the_distance_tells_cells_apart(drawn):
    pictures = dict(drawn)
    assert distance(pictures["sea day"], pictures["sea night"]) > UNLIKE
    assert distance(pictures["clear"], pictures["rain"]) > UNLIKE / 3
    assert distance(pictures["female calm"], pictures["male angry"]) > UNLIKE


def test_the_sheet_shows_every_part_with_its_labels(tmp_path, monkeypatch):
    parts = {"garments": contact.sections()["garments"][:13]}
    monkeypatch.setattr(contact, "sections", lambda: parts)
    out = tmp_path / "new" / "sheet.png"
    done = click.testing.CliRunner().invoke(looks.wardrobe, ["--out", str(out)])
    assert done.exit_code == 0, done.output
    assert str(out) in done.output
    picture = cv2.imread(str(out))
    assert picture.shape == (44 + 2 * (320 + 24 + 8), 8 + 12 * (180 + 8), 3)
    assert picture.std() > 20
