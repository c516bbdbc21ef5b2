"""What was collected of a child that passed its hard limit, as a file for people."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from mangen.pooling import child as children
from mangen.pooling import lives, work

_log = logging.getLogger(__name__)


def write(folder: str, child: lives.Child, keys: Sequence[work.Key], seconds: float) -> str:
    """Write the report; answers its path, empty when there is no folder for it or it failed.

    It holds the work, the device's and the gate's bytes at the last look, the processes on the
    device, where the memory's snapshot lies, and the stacks of the child's threads. It raises
    nothing: whoever buries a child has more to do than this.
    """
    if not folder:
        return ""
    try:
        path = children.report_path(folder, child.owner, ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{line}\n" for line in _lines(folder, child, keys, seconds))
        path.write_text(text, "utf-8", errors="backslashreplace")
    except Exception as error:  # noqa: BLE001 - a folder, a disk, a name, what a child said
        _log.warning("the report on %s can't be written: %r", child.owner, error)
        return ""
    return str(path)


def _lines(
    folder: str, child: lives.Child, keys: Sequence[work.Key], seconds: float
) -> Iterator[str]:
    snapshot = children.snapshot_path(folder, child.owner)
    report = child.report
    yield from (
        f"{child.owner} on {child.hello.device} ({child.kind}), process {child.pid}",
        f"killed after {seconds:.1f} s with {', '.join(keys)}",
        "",
        f"residents: {dict(report.residents)}",
        f"memory: {report.memory}",
        f"gate: known {report.known}, reserved {report.reserved}, usable {report.usable} bytes",
        f"beside: difference {report.difference}, foreign {report.foreign} bytes",
        f"processes on the device: {dict(child.processes) or 'not known'}",
        f"snapshot of the memory: {snapshot if snapshot.exists() else 'none'}",
        "",
        child.stacks() or "it wrote no stacks: it was stopped, or deep in a library",
    )
