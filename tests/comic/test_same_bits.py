"""The same frames give the same bits, whatever lies in memory that nobody wrote."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ENCODE = """
import hashlib, pathlib, sys
import numpy as np
from mangen.comic import film
width, height, path = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
texture = np.random.default_rng(1).integers(16, 235, (height * 3 // 2 + 60, width), np.uint8)
texture = (texture // 3 + np.arange(width, dtype=np.uint8) // 4).astype(np.uint8)
with film.Film(path, width, height, 24, "t") as made:
    for number in range(72):
        shift = number // 3
        made.picture(np.ascontiguousarray(texture[shift : shift + height * 3 // 2]), number)
    made.sound(np.zeros(72 * 2000, np.float32), 72 * 2000, last=True)
print(hashlib.sha256(path.read_bytes()).hexdigest())
"""


@pytest.mark.parametrize(("width", "height"), [(360, 640), (180, 320), (368, 640)])
def test_a_film_does_not_depend_on_what_memory_holds(width, height, tmp_path):
    made = set()
    for perturbed in ("0", "1", "255"):
        done = subprocess.run(
            [sys.executable, "-c", ENCODE, str(width), str(height), tmp_path / "film.mp4"],
            env={**os.environ, "MALLOC_PERTURB_": perturbed},
            capture_output=True,
            text=True,
            check=True,
        )
        made.add(done.stdout)
    assert len(made) == 1
