"""mangen's diffusion engine on one card: against hand-written loops, and how its pool behaves.

Full-size models with random weights: the same work and the same bytes as trained ones. Without a
card it runs on the processor with tiny models, to see that it works. It needs no Postgres and no
broker, and no packages but torch, transformers, accelerate, safetensors, diffusers and what they
need; docs/benchmarks.md says how to run it, and what each figure means.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
for _folder in (HERE, HERE.parents[1]):  # the children are given this path, too
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

PARTS = ("caps", "pace", "urgent", "joining", "loops")
_SPARE_S = 150.0  #: of the minutes, that the loops and the end are left at least
_ALL_MINUTES = 8.0


class Run:
    """One run: its time, its device, what it left out."""

    def __init__(self, asked: argparse.Namespace, folder: pathlib.Path) -> None:
        self.folder, self.parts = folder, asked.parts
        self.began = time.monotonic()
        self.until = self.began + 60 * asked.minutes
        self.full = has_card() and not asked.tiny
        self.left_out = [part for part in PARTS if part not in asked.parts]

    @property
    def left_s(self) -> float:
        return self.until - time.monotonic()

    def measure(self) -> dict[str, Any]:
        """Run all parts that there is time for; answers the figures by name."""
        import _gpu_figures  # noqa: PLC0415 - they need the packages that `main` brings

        made = self.program("_gpu_models.py", str(self.folder), *["--full"] * self.full)
        found = self.pool(made)
        loops = self.loops(found)
        figures = _gpu_figures.figures(found, loops)
        return {
            **figures, "same_picture": self.same("picture"), "same_clip": self.same("clip"),
            "device": made["device"], "total_gib": round(made["total"] / 2**30, 2),
            "torch": made["torch"], "make_s": made["make_s"], "full_size": self.full,
            "left_out": self.left_out, "wall_s": round(time.monotonic() - self.began, 1),
        }  # fmt: skip

    def pool(self, made: dict[str, Any]) -> Any:
        """Everything that the pool's one child does."""
        import _gpu_pool  # noqa: PLC0415 - see above
        import _gpu_work  # noqa: PLC0415 - see above

        bench = _gpu_work.Bench(folder=self.folder, full=self.full)
        bench.out.mkdir()
        device = "cuda:0" if made["total"] else "cpu"
        drive = _gpu_pool.Drive(bench, device, self.until - (_SPARE_S if self.full else 0))
        with drive.running():
            if "caps" in self.parts:
                drive.caps(list(bench.kinds), 45.0 if self.full else 1.0)
            if "pace" in self.parts:
                for name in ("picture", "clip"):
                    drive.pace(name)
                drive.alone("picture")
            if "urgent" in self.parts:
                drive.urgency("picture")
            if "joining" in self.parts:
                drive.joining("picture")
        self.left_out += drive.left_out
        return drive.found

    def loops(self, found: Any) -> dict[str, Any]:
        if "loops" not in self.parts or self.left_s <= 0:
            self.left_out += ["loops"] * ("loops" in self.parts)
            return {}
        caps = {name: found.caps.get(name, (1, False))[0] for name in ("picture", "clip")}
        job = {
            "folder": str(self.folder), "full": self.full, "tasks": 2 if self.full else 1,
            "batches": {name: [1, cap] for name, cap in caps.items()}, "seconds": self.left_s,
        }  # fmt: skip
        made = self.program("_gpu_loop.py", json.dumps(job))
        self.left_out += [f"loop of {name}" for name in caps if name not in made]
        return made

    def program(self, name: str, *arguments: str) -> dict[str, Any]:
        """Run one of the programs beside this, which have torch; answers its last line's JSON."""
        done = subprocess.run(
            [sys.executable, str(HERE / name), *arguments],
            stdout=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{name} failed with {done.returncode}; what it said is above")
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    def same(self, name: str) -> float | None:
        """The mean difference of one seed's bytes, mangen's and the loop's; None without both."""
        import numpy as np  # noqa: PLC0415 - see above

        places = [
            self.folder / "out" / f"{word}-{name}-0.npy" for word in ("keep", "loop")
        ]  # fmt: skip
        if not all(place.exists() for place in places):
            return None
        one, other = (np.load(place).astype(float) for place in places)
        return round(float(np.abs(one - other).mean()), 4)


def has_card() -> bool:
    """Whether torch finds a card; asked in a process of its own, as this one loads no torch."""
    asked = "import sys, torch; sys.exit(10 + torch.cuda.is_available())"
    code = subprocess.run([sys.executable, "-c", asked], check=False).returncode
    if code not in (10, 11):
        raise SystemExit(f"torch can't be asked for a card: {sys.executable} says why, above")
    return code == 11


def unpack(wheels: pathlib.Path, target: pathlib.Path) -> None:
    """Bring wheels within reach of this process and of those that it starts.

    They come last: what is installed here was built for this machine's torch.
    """
    found = sorted(wheels.glob("*.whl"))
    if not found:
        raise SystemExit(f"{wheels} holds no wheels: `pip download` brings them there")
    for wheel in found:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    sys.path.append(str(target))


def table(found: dict[str, Any]) -> None:
    import _gpu_figures  # noqa: PLC0415 - see above

    size = "full-size" if found["full_size"] else "tiny"
    print(f"{found['device']}, torch {found['torch']}, {size} models with random weights")
    for key, value in found.items():
        goal = _gpu_figures.GOALS.get(key)
        said = "-" if value is None else value
        if goal is not None:
            met = "" if value is None else ", met" if goal.met(value) else ", NOT met"
            said = f"{said}  (goal {goal}{met if found['full_size'] else ', of a card'})"
        print(f"{key:>24}  {said}")
    print("bound: batch_gain / (1 - load_share), both measured by the loops")


def main(argv: list[str]) -> int:
    """Print a table; with --json also one object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="tiny models, though there is a card")
    parser.add_argument("--minutes", type=float, default=_ALL_MINUTES, help="no part begins later")
    parser.add_argument("--wheels", type=pathlib.Path, help="a folder of wheels to run with")
    parser.add_argument(
        "--parts", type=lambda text: text.split(","), default=list(PARTS), help=",".join(PARTS)
    )
    asked = parser.parse_args(argv)
    unknown = sorted(set(asked.parts) - set(PARTS))
    if unknown or not (math.isfinite(asked.minutes) and asked.minutes > 0):
        parser.error(f"--parts are {', '.join(PARTS)}, and --minutes is above 0")
    with tempfile.TemporaryDirectory(
        prefix="bench-gpu-", dir=os.environ.get("MANGEN_HOME")
    ) as name:
        root = pathlib.Path(name)
        if asked.wheels is not None:
            unpack(asked.wheels, root / "wheels")
        run = Run(asked, root / "bench")
        run.folder.mkdir()
        found = run.measure()
    table(found)
    if asked.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
