from __future__ import annotations

import functools

import pytest
import sqlalchemy as sa

from mangen import errors, settings, storage
from mangen.comic import keys, look, makers, submit, text
from mangen.ledger import jobs, ledger, migrate


@pytest.fixture
def book(empty_database):
    migrate.upgrade(empty_database)
    one = ledger.Ledger(empty_database)
    yield one
    one.close()


@pytest.fixture
def ask(book, tmp_path):
    chosen = settings.Settings(home=tmp_path, voice_engine="mangen.engines.voice.tone:Tone")

    def look_of(project):
        return look.of(
            project.settings,
            makers.Makers(chosen, tmp_path),
            makers.engine_class(chosen.voice_engine)(),
        )

    store = storage.Store(tmp_path / "store")
    return functools.partial(submit.submit, book, store=store, look_of=look_of)


@pytest.fixture
def project(book):
    source = text.decode("他走了。她没有回头。".encode(), "a.txt")
    return submit.create(book, source, title="走", chosen=settings.Settings())


def test_submitting_makes_the_storyboard_job_once(book, ask, project):
    first = ask(project, episodes=None)
    again = ask(project, episodes=None)
    assert (first.new_jobs, first.already) == (1, False)
    assert (again.new_jobs, again.already) == (0, True)


def test_episodes_asked_for_one_after_the_other_add_up(book, ask, project):
    ask(project, episodes=[1])
    assert not ask(project, episodes=[3, 2]).already
    assert list(book.project(project).episodes_wanted) == [1, 2, 3]
    assert ask(project, episodes=[2]).already
    assert not ask(project, episodes=None).already
    assert book.project(project).episodes_wanted is None
    assert ask(project, episodes=[1]).already
    assert book.project(project).episodes_wanted is None


def test_submitting_again_gives_a_failed_plan_another_chance(book, ask, project):
    ask(project, episodes=None)
    owner = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))
    book.register(owner)
    with book.transaction() as conn:
        (plan,) = conn.scalars(sa.text("select id from jobs"))
        book.ready_jobs(conn, {plan: 0.0})
    fence = book.claim([plan], owner).granted[plan]
    book.fail(fence, "permanent", "no such engine")
    again = ask(project, episodes=None)
    assert (again.new_jobs, again.retried, again.already) == (0, 1, False)
    assert book.jobs([plan])[0].state == "blocked"


def test_an_unknown_project_is_refused(ask):
    with pytest.raises(errors.UnknownProject, match="999"):
        ask(999, episodes=None)


def test_the_snapshot_keeps_the_size_the_project_was_made_with(book):
    source = text.decode("他走了。".encode(), "a.txt")
    made = submit.create(
        book, source, title="走", chosen=settings.Settings(),
        wishes=look.Wishes(width=360, height=640),
    )  # fmt: skip
    kept = book.project(made).settings
    assert (kept["width"], kept["height"]) == (360, 640)


def test_an_odd_size_is_refused(book):
    source = text.decode("他走了。".encode(), "a.txt")
    wishes = look.Wishes(width=361)
    with pytest.raises(errors.SettingsError, match="even"):
        submit.create(book, source, title="走", chosen=settings.Settings(), wishes=wishes)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [("1-3", [1, 2, 3]), ("7, 1-2", [1, 2, 7]), (None, None), ("all", None), ("5", [5])],
)
def test_episode_numbers_are_read(words, numbers):
    assert submit.parse_episodes(words) == numbers


@pytest.mark.parametrize("words", ["", "0", "3-1", "a", "1..3", "-2", "1-"])
def test_wrong_episode_numbers_are_refused(words):
    with pytest.raises(errors.UsageError, match="--episodes"):
        submit.parse_episodes(words)


def test_the_key_depends_on_the_text_and_the_look():
    assert keys.key_of("a", {"b": 1}) != keys.key_of("a", {"b": 2})


def test_what_is_purged_meanwhile_gets_no_jobs(book, ask, project, monkeypatch):
    def purged(*_):
        with book.transaction() as conn:
            book.close_for_purge(conn, project)

    monkeypatch.setattr(submit.boards, "current", purged)
    with pytest.raises(errors.UsageError, match="is purging"):
        ask(project, episodes=None)
    with book.transaction() as conn:
        assert conn.scalar(sa.text("select count(*) from jobs")) == 0
