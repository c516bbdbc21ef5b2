from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from mangen.comic.stages import scratch


def test_a_dead_childs_folder_is_swept_and_a_living_ones_kept(tmp_path):
    code = (
        "import pathlib, sys; from mangen.comic.stages import scratch; "
        f"lock, folder = scratch.make(pathlib.Path({str(tmp_path)!r})); "
        "(folder / 'half.mp4').write_bytes(b'x'); print(folder, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        theirs = pathlib.Path(child.stdout.readline().strip())
        lock, ours = scratch.make(tmp_path)
        assert theirs.exists()
        child.kill()
    os.close(scratch.make(tmp_path)[0])
    assert not theirs.exists()
    assert ours.exists()
    os.close(lock)


def test_only_the_attempts_own_files_are_cleared(tmp_path):
    for name in ("7-1.png", "7-1-layer0.png", "7-12.png", "17-1.png"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "7-1").mkdir()
    scratch.clear(tmp_path, "7-1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["17-1.png", "7-12.png"]
