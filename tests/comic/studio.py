"""A project on a real ledger whose work is done by hand: no worker, no pictures."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import sqlalchemy as sa

from mangen import settings, storage
from mangen.comic import content, control, edit, graph, look, makers, plan, submit, text
from mangen.comic.stages import door, kit, storyboard
from mangen.engines import protocol
from mangen.ledger import invariants, jobs, ledger, scope
from mangen.pooling import testing, work

WORDS = (
    "叶辰走进院子，看了看灰白的天色。\n“你来了。”林若雪说。\n他没有回答，只是把那把旧伞放在门边。\n"
    "“你到底想怎么样？”林若雪问。\n夜色一点一点落下来，谁也没有再开口。"
)


@dataclasses.dataclass
class Studio:
    """One project, and short ways to bring it where a test wants it."""

    book: ledger.Ledger
    folder: pathlib.Path
    project: int = 0
    painter: protocol.Engine | None = None  #: instead of the deployment's own

    def __post_init__(self):
        self.chosen = settings.Settings(
            home=self.folder, voice_engine="mangen.engines.voice.tone:Tone", width=64, height=128
        )
        self.store = storage.Store(self.chosen.artifact_root)
        self.owner = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))
        self.book.register(self.owner)
        self.editor = edit.Editor(book=self.book, store=self.store, look_of=self.look_of)

    def look_of(self, project):
        found = look.of(
            project.settings,
            makers.Makers(self.chosen, self.folder),
            makers.engine_class(self.chosen.voice_engine)(),
        )
        return dataclasses.replace(found, painter=self.painter) if self.painter else found

    def make(self, words=WORDS, **drawn):
        source = text.decode(words.encode(), "a.txt")
        wishes = look.Wishes(**drawn)
        self.project = submit.create(
            self.book, source, title="雪", chosen=self.chosen, wishes=wishes
        )
        return self

    def submit(self, episodes=None):
        return submit.submit(
            self.book, self.project, episodes=episodes, store=self.store, look_of=self.look_of
        )

    def plan(self, **wishes):
        """Do the storyboard job as its stage does."""
        [fence] = self.claim("storyboard", "project")
        with self.book.transaction() as conn:
            source = content.source(conn, self.project)
            project = self.book.project(self.project, conn)
        board = plan.plan(source, title=project.title, **wishes)
        file = self.folder / "board.json"
        file.write_text(json.dumps(board.to_json(), ensure_ascii=False), "utf-8")
        stored = self.store.put(
            file, project=self.project, name=f"{fence.job}-{fence.attempt}.json"
        )
        asked = storyboard.choose(board, project.episodes_wanted)
        wanted = graph.wanted(board, episodes=asked, look=self.look_of(project))
        with self.book.finishing(fence) as conn:
            self.book.add_artifacts(
                conn,
                fence,
                [jobs.Artifact(kind="storyboard", path=stored.path, sha256=stored.sha256)],
            )
            content.write_board(conn, self.project, board)
            self.book.insert_jobs(conn, self.project, wanted, by="storyboard")
        return board

    def planned(self, words=WORDS, episodes=None, drawn=None, **wishes):
        """A project with its storyboard and jobs; `drawn` are wishes about who draws it."""
        self.make(words, **(drawn or {})).submit(episodes)
        return self.plan(**wishes)

    def advance(self):
        with self.book.transaction() as conn:
            self.book.lock_project(conn, self.project)
            self.book.clear_dirty(conn, self.project)
            self.book.skip_jobs(conn, self.project)
            found = self.book.find_ready(conn, self.project)
            return self.book.ready_jobs(conn, {one.id: 1.0 for one in found})

    def claim(self, *where):
        """Claim the current job (stage, subject), or all that are ready; answers the fences."""
        self.advance()
        rows = [row for row in self.rows() if row.state == "ready"]
        if where:
            rows = [row for row in rows if (row.stage, row.subject) == where]
        claims = self.book.claim([row.id for row in rows], self.owner)
        return [claims.granted[job] for job in sorted(claims.granted)]

    def work(self, *, failing=()):
        """Do all there is to do; what is named fails for good."""
        while fences := self.claim():
            for fence in fences:
                row = self.row(fence.job)
                if (row.stage, row.subject) in failing:
                    self.book.fail(fence, "permanent", "broken")
                    continue
                self.finish(fence, row)

    def finish(self, fence, row):
        with self.book.finishing(fence) as conn:
            if row.stage == "assemble":
                path = f"{self.project}/{fence.job}-{fence.attempt}.mp4"
                file = self.folder / "x"
                file.write_bytes(b"video")
                stored = self.store.put(file, project=self.project, name=path.split("/")[1])
                self.book.add_artifacts(
                    conn, fence, [jobs.Artifact(kind="video", path=path, sha256=stored.sha256)]
                )
                content.finish_episode(
                    conn, self.project, row.episode, video=path, seconds=1.0, replaced=[]
                )

    def rows(self):
        """The current jobs."""
        return self.sql(
            "select * from jobs where project = :project and not superseded order by id",
            project=self.project,
        )

    def row(self, job):
        [row] = self.sql("select * from jobs where id = :job", job=job)
        return row

    def job(self, stage, subject):
        [row] = [row for row in self.rows() if (row.stage, row.subject) == (stage, subject)]
        return row

    def states(self):
        return {(row.stage, row.subject): row.state for row in self.rows()}

    def ids(self):
        return {(row.stage, row.subject): row.id for row in self.rows()}

    def changed_since(self, ids):
        """What of the current jobs is another row than before."""
        return {where for where, job in self.ids().items() if ids.get(where) != job}

    def sql(self, words, **values):
        with self.book.transaction() as conn:
            found = conn.execute(sa.text(words), values)
            return found.all() if found.returns_rows else []

    def scope(self, path=""):
        return scope.parse(path if path.startswith("job/") else f"{self.project}/{path}".strip("/"))

    def do(self, act, path="", **more):
        first = self.editor if act is control.retry else self.book
        return act(first, self.scope(path), by="li", **more)

    def acts(self):
        return [one.verb for one in reversed(self.book.acts([self.project]))]

    def broken(self):
        with self.book.transaction() as conn:
            return invariants.check(conn, self.store.paths(), 30.0)


class Line:
    """Does all of a project's ready work through its stages, as children do."""

    def __init__(self, studio):
        self.studio = studio
        self.tools = kit.Kit(studio.chosen, studio.book)
        if studio.painter is not None:
            self.tools.makers._made[makers.ENGINES[makers.MODELS]] = studio.painter
        self.comic = door.ComicWork(self.tools, ("cpu",))

    def run(self, failing=()):
        """Do it until nothing is ready; what `failing` names fails for good."""
        while self.studio.advance():
            for row in [row for row in self.studio.rows() if row.state == "ready"]:
                if (row.stage, row.subject) in failing:
                    fence = self.studio.book.claim([row.id], self.studio.owner).granted[row.id]
                    self.studio.book.fail(fence, "permanent", "broken")
                else:
                    self.make(row)

    def make(self, *rows):
        """Do jobs of one bucket together."""
        session = self.comic.open(rows[0].bucket, testing.Here())
        items = [
            work.Item(
                key=str(row.id), name=f"mangen.{row.stage}", bucket=row.bucket,
                data={"job": row.id, "attempt": row.attempt},
            )
            for row in rows
        ]  # fmt: skip
        ended = dict(session.add(items))
        while len(ended) < len(rows):
            ended |= session.step()
        session.close()

    def shots(self):
        return [row.subject for row in self.studio.rows() if row.stage == "illustrate"]

    def episode(self):
        [row] = self.studio.sql("select state, replaced, video from episodes")
        return row
