"""failures and rescue, over a home without workers: the ledger is brought to it by hand."""

from __future__ import annotations

import pytest
from PIL import Image

from mangen import services, settings
from mangen.ledger import jobs, ledger

OWNER = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))


@pytest.fixture
def book(shell, home):
    one = ledger.Ledger(services.read(settings.load()).database_url)
    yield one
    one.close()


@pytest.fixture
def jobs_of(book, shell, home):
    """Make a project with such jobs, claimed; answers the fences."""

    def make(*wanted):
        with book.transaction() as conn:
            project = book.insert_project(conn, title="夜")
            ids = book.insert_jobs(
                conn,
                project,
                [
                    jobs.Wanted(
                        stage=stage, subject=subject, key="k", queue="cpu", klass=1, bucket="b",
                        model="",
                    )
                    for stage, subject in wanted
                ],
                by="test",
            )  # fmt: skip
            book.ready_jobs(conn, dict.fromkeys(ids, 0.0))
        book.register(OWNER)
        return project, [book.claim([job], OWNER).granted[job] for job in ids]

    return make


def test_failures_are_listed_with_their_cause_and_their_mend(shell, book, jobs_of):
    project, (panel, voice, film) = jobs_of(
        ("illustrate", "e3/s12"), ("voice", "e3/s12/l1"), ("assemble", "e3")
    )
    book.fail(panel, "permanent", "no such glyph\nsecond line")
    book.fail(voice, "permanent", "set MANGEN_VOICE_ENGINE alike")
    book.fail(film, "resource", "no room for 1/3-1.mp4")
    code, found = shell.json("failures", project)
    assert (code, [one["kind"] for one in found["failures"]]) == (0, ["permanent", "setting"])
    first = found["failures"][0]
    assert (first["what"], first["cause"]) == ("ep 3 shot 12, illustrate", "no such glyph")
    assert (first["owner"], first["device"], first["device_state"]) == ("w/0/1", "cpu", "living")
    assert [one["job"] for one in found["waiting"]] == [film.job]
    for scope, names in ((f"{project}/e3/s12", 2), (f"job/{voice.job}", 1), (f"{project}/e1", 0)):
        assert len(shell.json("failures", scope)[1]["failures"]) == names
    code, out, _ = shell("failures", project)
    assert code == 0
    assert f"project {project} (夜): ep 3 shot 12, illustrate" in out
    assert f"mend: the same input fails again: change it (`manage.py retake {project}/e3/s12" in out
    assert ("second line" in out, "second line" in shell("failures", "--long")[1]) == (False, True)
    assert "waits" in out
    assert "free some disk" in out
    assert f"`manage.py failures {project}`" in shell("status", project)[1]
    assert shell("failures", "9999")[0] == 2
    assert shell("failures", "nonsense")[0] == 2


def test_rescue_mends_at_once_and_says_what(shell, book, jobs_of, home):
    project, [fence] = jobs_of(("illustrate", "e1/s1"))
    with book.transaction() as conn:
        conn.exec_driver_sql("delete from owners")
    orphan = settings.load().artifact_root / str(project) / f"{fence.job}-1.png"
    orphan.parent.mkdir(parents=True)
    code, done = shell.json("rescue")
    assert code == 0
    mended = [one for one in done if one["what"] == "ownerless"]
    assert [(one["jobs"], one["mended"]) for one in mended] == [([fence.job], True)]
    assert book.jobs([fence.job])[0].state == "ready"
    assert "nothing was to be mended" in shell("rescue", "--deep")[1]


def test_a_clip_is_asked_for_and_expires(shell, home, book):
    picture = home / "picture.png"
    Image.new("RGB", (128, 96), "teal").save(picture)
    code, asked = shell.json("clip", picture, "--motion", "hold", "--seconds", "0.5")
    assert (code, asked["state"], asked["file"]) == (0, "blocked", None)
    again = shell("clip", picture, "--motion", "hold", "--seconds", "0.5", "--expires", "1h")[1]
    assert again == f"job/{asked['job']}\tblocked\n"
    with book.transaction() as conn:
        conn.exec_driver_sql("update jobs set expires_at = now() where stage = 'animate'")
    mended = [one for one in shell.json("rescue")[1] if one["what"] == "expired"]
    assert [one["jobs"] for one in mended] == [[asked["job"]]]
    state = shell.json("status", asked["project"])[1][0]["state"]
    assert (state, shell("submit", asked["project"])[0]) == ("done", 2)
    assert shell("export", asked["project"], "--out", home / "videos")[0] in (0, 1, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.png",), "there is no file nowhere.png"),
        (("picture.txt",), "can't be read as a picture"),
        (("picture.txt", "--motion", "spin"), "choose push"),
        (("picture.txt", "--expires", "soon"), "write 90s, 5m, 1h or 2d"),
        (("picture.txt", "--width", "100"), "together"),
    ],
)
def test_a_clip_that_cannot_be_made_says_why(shell, home, words, said):
    (home / "picture.txt").write_text("words")
    code, out, err = shell("clip", *words)
    assert (code, out) == (2, "")
    assert said in err
