"""The house's rules, read off the sources: layers, sizes, names."""

from __future__ import annotations

import ast
import pathlib
import statistics
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mangen"

#: leftmost first; rooms on one floor are strangers
FLOORS = [
    {"errors"},
    {"settings"},
    {"services"},
    {"pooling", "ledger", "storage", "app"},
    {"dispatch", "engines"},
    {"comic"},
    {"worker", "stack", "gateway"},
    {"api"},
    {"control", "troubles", "clips", "insight", "histories"},
    {"cli"},
]
#: dispatch sees ledger and app; engines see pooling's seams and storage
SEEN = {
    "dispatch": {"errors", "settings", "services", "ledger", "app"},
    "engines": {"errors", "settings", "pooling", "storage"},
}
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(path):
    """Yield the mangen modules that a file imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("mangen."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "mangen":
                yield from (f"mangen.{name.name}" for name in node.names)
            elif (node.module or "").startswith("mangen."):
                yield node.module


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_each_module_imports_only_leftward(path):
    relative = path.relative_to(PACKAGE)
    room = relative.parts[0].removesuffix(".py")
    if room in {"__init__", "__main__"}:
        return
    for module in imports_of(path):
        other = room_of(module)
        if other == room:
            continue
        assert FLOOR_OF[other] < FLOOR_OF[room], f"{relative} imports {module}"
        assert room != "pooling", f"{relative} imports {module}"
        if room in SEEN:
            assert other in SEEN[room], f"{relative} imports {module}"


def test_dispatch_knows_no_comics():
    words = ("illustrate", "animate", "storyboard", "assemble")
    for path in (PACKAGE / "dispatch").glob("*.py"):
        assert not any(word in path.read_text("utf-8") for word in words), path


def test_modules_stay_small():
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert not {str(path): n for path, n in sizes.items() if n > 400}
    assert statistics.median(sizes.values()) < 140


def test_nothing_is_called_utils():
    names = {"utils", "util", "common", "helpers", "helper", "misc"}
    assert not [path for path in SOURCES if path.stem in names or path.parent.name in names]


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("mangen", ("torch", "celery", "sqlalchemy", "numpy")),
        ("mangen.pooling", ("torch", "celery", "sqlalchemy")),
        ("mangen.pooling.celery_pool", ("torch", "sqlalchemy")),
        ("mangen.worker", ("torch", "cv2", "onnxruntime", "av")),
        ("mangen.engines.diffusion.trial", ("torch", "diffusers", "transformers", "numpy")),
    ],
)
def test_importing_stays_light(module, absent, tmp_path):
    code = f"import sys, {module}; print(*[m for m in {absent!r} if m in sys.modules])"
    urls = {
        "MANGEN_DATABASE_URL": "postgresql+psycopg://nobody@/none?host=/nowhere",
        "MANGEN_BROKER_URL": "redis+socket:///nowhere.sock",
        "PATH": "/usr/bin:/bin",
    }
    seen = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=urls, check=True
    )
    assert seen.stdout.split() == []
