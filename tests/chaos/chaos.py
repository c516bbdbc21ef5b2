"""Chaos: real workers, servers and projects, and everything that may die does, again and again.

`manage.py chaos --minutes 10 --seed 7 --json`. With --json the last line is one object: ok,
violations, finished, kills and more. A run that failed keeps its folder: acts.jsonl, the logs, and
the home with its database.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

_PLACES = ("街口", "河边", "车站", "山路")
_NAMES = (("陈默", "林晓"), ("周远", "沈青"), ("许星", "顾然"), ("苏白", "江夏"))
TEXT = """夜里下着雨，{a}站在{place}等人。
“你来晚了{n}次。”{a}说。
{b}收起伞，笑了笑：“路上堵车。”
"""
_LOOK_S = 0.5  #: between two looks at the projects
_GLANCE_S = 5.0  #: between two checks of the invariants
_LATE_S = 120.0  #: after the time was over, for acts that found nothing to do yet
_STUCK_S = 90.0  #: without a single job settled, once nothing is broken any more
_KEEPER_S = 30.0


class Run:
    """One run: projects in flight, acts among them, then peace and judgement."""

    def __init__(self, asked, ground, home):
        import _acts  # noqa: PLC0415 - only now the environment names the home

        self.asked, self.ground, self.home = asked, ground, home
        self.dice = random.Random(asked.seed)
        self.log = (home / "acts.jsonl").open("w", encoding="utf-8")
        self.acts = _acts.Acts(ground, self.dice, self._write)
        self.violations = []
        self.states = {}
        self.made = 0
        self.begun = False  # there is something to disturb

    def _write(self, line):
        self.log.write(line + "\n")
        self.log.flush()
        if not self.asked.json:
            print(line, file=sys.stderr)

    def storm(self):
        """Act until the time is over and each act was done, with so many projects in flight."""
        began = time.monotonic()
        until = began + self.asked.minutes * 60
        look = act = glance = began
        while time.monotonic() < until or (
            self.acts.missing() and time.monotonic() < until + _LATE_S
        ):
            self.ground.tick()
            self.acts.tick()
            now = time.monotonic()
            if now >= look:
                self.look(fill=True)
                look = time.monotonic() + _LOOK_S
            if now >= act and self.begun:
                self.acts.do(self.acts.choose())
                act = time.monotonic() + self.dice.uniform(*self.asked.pause)
            if now >= glance:
                self.glance()
                glance = time.monotonic() + _GLANCE_S
            time.sleep(0.05)

    def look(self, *, fill):
        """Ask where the projects stand, and bring new ones for those that ended."""
        import _acts  # noqa: PLC0415 - as above
        import _judge  # noqa: PLC0415 - as above

        from mangen.comic import progress  # noqa: PLC0415 - as above

        with contextlib.suppress(*_acts.AWAY):
            if self.acts.all:
                found = _judge.statuses(self.acts.all)
                self.states = {one["id"]: one["state"] for one in found}
                self.begun = self.begun or any(len(one["stages"]) > 1 for one in found)
            self.acts.open = [n for n, s in self.states.items() if s not in progress.SETTLED]
            while fill and len(self.acts.open) < self.asked.projects:
                self.bring()

    def bring(self):
        """Make and submit one more project."""
        from mangen import api  # noqa: PLC0415 - as above

        a, b = _NAMES[self.made % len(_NAMES)]
        path = self.home / f"text-{self.made}.txt"
        place = _PLACES[self.made % len(_PLACES)]
        path.write_text(TEXT.format(a=a, b=b, place=place, n=self.made + 2), "utf-8")
        number = api.create_project(path, title=f"雨夜{self.made}")
        self.made += 1
        self.acts.all.append(number)
        api.submit_novel(number)
        self.acts.open.append(number)
        self.states[number] = "planning"

    def glance(self):
        """Look for broken invariants while everything moves."""
        import _acts  # noqa: PLC0415 - as above
        import _judge  # noqa: PLC0415 - as above

        with contextlib.suppress(*_acts.AWAY):
            for one in _judge.glance(self.asked.lease):
                if one not in self.violations:
                    self.violations.append(one)
                    self.acts.note("violation", **one.told())

    def peace(self):
        """Break nothing any more; answers once all projects have settled, or nothing moves."""
        import _acts  # noqa: PLC0415 - as above
        import _judge  # noqa: PLC0415 - as above

        from mangen import api  # noqa: PLC0415 - as above
        from mangen.comic import progress  # noqa: PLC0415 - as above

        self.acts.note("peace")
        self.ground.thaw()
        asked_again = False
        moved, before = time.monotonic(), None
        while time.monotonic() - moved < _STUCK_S:
            self.ground.tick()
            asked_again = asked_again or self.acts.end()
            with contextlib.suppress(*_acts.AWAY):
                found = _judge.statuses(self.acts.all)
                self.states = {one["id"]: one["state"] for one in found}
                for number, state in self.states.items():
                    if state == "new":  # its submit met a dying server
                        api.submit_novel(number)
                now = [one["stages"] for one in found]
                if now != before:
                    moved, before = time.monotonic(), now
                if asked_again and all(s in progress.SETTLED for s in self.states.values()):
                    break
            time.sleep(_LOOK_S)

    def judge(self):
        """Gather what is broken."""
        import _judge  # noqa: PLC0415 - as above

        self.acts.note("judgement")
        found = list(_judge.verdict(self.acts.all, self.acts.retakes, self.asked.lease))
        stubborn = self.ground.end()
        found += [_judge.Violation(name="worker would not end", detail=name) for name in stubborn]
        found += _judge.owners()
        self.violations += [one for one in found if one not in self.violations]
        for one in found:
            self.acts.note("violation", **one.told())

    def report(self, began):
        """What the run was, as one object."""
        import _acts  # noqa: PLC0415 - as above

        counts = self.acts.counts
        states = list(self.states.values())
        return {
            "ok": not self.violations,
            "violations": [one.told() for one in self.violations],
            "finished": states.count("done") + states.count("degraded"),
            "kills": sum(counts[name] for name in _acts.KILLS),
            "projects": len(states),
            "degraded": states.count("degraded"),
            "failed": states.count("failed"),
            "acts": dict(sorted(counts.items())),
            "seed": self.asked.seed,
            "minutes": self.asked.minutes,
            "seconds": round(time.monotonic() - began, 1),
            **self.figures(),
        }

    def figures(self):
        """How much work it was, and how much of it was lost and done again."""
        import sqlalchemy as sa  # noqa: PLC0415 - as above

        from mangen import api  # noqa: PLC0415 - as above

        query = sa.text(
            "select count(distinct job) as jobs, count(*) as attempts,"
            " count(*) filter (where outcome = 'lost') as lost,"
            " count(*) filter (where outcome = 'transient') as faults from attempts"
        )
        with api.open_ledger() as (_, book), book.transaction() as conn:
            return dict(conn.execute(query).mappings().one())


def main(words):
    asked = _parse(words)
    began = time.monotonic()
    home = pathlib.Path(tempfile.mkdtemp(prefix="mangen-chaos-", dir=asked.folder))
    home.chmod(0o755)
    import _ground  # noqa: PLC0415 - after the arguments were read

    for name in [name for name in os.environ if name.startswith("MANGEN_")]:
        del os.environ[name]  # nobody's servers but its own are killed here
    ground = _ground.Ground(home, workers=asked.workers, lease_s=asked.lease)
    os.environ.update(ground.environment)
    logging.getLogger("mangen").setLevel(logging.ERROR)  # servers die all the time here
    from mangen import api  # noqa: PLC0415 - only now the environment names the home
    from mangen.stack import clients  # noqa: PLC0415 - as above

    with api.open_ledger() as (chosen, _):
        ground.start(chosen)
        run = Run(asked, ground, home)
        try:
            run.storm()
            run.peace()
            run.judge()
            found = run.report(began)
        finally:
            ground.end()
    deadline = time.monotonic() + _KEEPER_S
    while clients.keeper_lives(ground.place) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.log.close()
    if found["ok"] and not asked.keep:
        shutil.rmtree(home, ignore_errors=True)
    else:
        found["report"] = str(home)
        (home / "report.json").write_text(json.dumps(found, ensure_ascii=False, indent=1), "utf-8")
    _tell(found, json_=asked.json)
    return 0 if found["ok"] else 1


def _tell(found, *, json_):
    if json_:
        print(json.dumps(found, ensure_ascii=False))
        return
    for one in found.pop("violations"):
        print("violation:", "  ".join(f"{key} {value}" for key, value in one.items()))
    print("  ".join(f"{key}: {value}" for key, value in found.items()))


def _parse(words):
    parser = argparse.ArgumentParser(prog="manage.py chaos", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=2.0, help="of acts; then work drains")
    parser.add_argument("--seed", type=int, default=1, help="of the order and targets of acts")
    parser.add_argument("--projects", type=int, default=20, help="in flight at any time")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lease", type=float, default=3.0, help="seconds")
    parser.add_argument(
        "--pause", type=float, nargs=2, default=(0.3, 3.0), help="seconds between acts, from and to"
    )
    parser.add_argument("--folder", help="where the run's home is made; default: the system's own")
    parser.add_argument("--keep", action="store_true", help="keep the home though all went well")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
    sys.exit(main(sys.argv[1:]))
