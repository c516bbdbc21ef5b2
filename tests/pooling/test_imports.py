from __future__ import annotations

import pathlib
import subprocess
import sys

import mangen.pooling

MODULES = sorted(
    f"mangen.pooling.{path.stem}"
    for path in pathlib.Path(mangen.pooling.__file__).parent.glob("*.py")
    if not path.stem.startswith(("celery_", "__"))
)


def test_nothing_but_the_celery_modules_loads_celery_torch_or_sqlalchemy():
    code = (
        f"import sys, {', '.join(MODULES)}\n"
        "print(sorted({'torch', 'celery', 'kombu', 'billiard', 'sqlalchemy'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"


def test_the_pool_class_stays_small():
    path = pathlib.Path(mangen.pooling.__file__).with_name("celery_pool.py")
    assert len(path.read_text("utf-8").splitlines()) < 120
