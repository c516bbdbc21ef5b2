import json
import threading

import pytest
import sqlalchemy as sa

from mangen import errors, services, settings
from mangen.cli import main
from mangen.dispatch import leader
from mangen.ledger import invariants

pytestmark = pytest.mark.slow

TEXT = "夜里下着雨，陈默站在街口。\n“你来晚了。”林晓说。\n"


@pytest.fixture
def novel(home):
    file = home / "雨夜.txt"
    file.write_text(TEXT, "utf-8")
    return file


def test_a_text_becomes_a_project_and_jobs_once(shell, novel):
    code, made = shell.json("new", novel, "--title", "雨")
    assert (code, made[0]["title"]) == (0, "雨")
    number = made[0]["project"]
    code, out, _ = shell("new", novel)
    assert (code, out) == (0, f"{number + 1}\t雨夜\n")
    code, done = shell.json("submit", number)
    assert (code, done[0]["project"], done[0]["new_jobs"]) == (0, number, 1)
    code, out, _ = shell("submit", number)
    assert out.startswith(f"project {number}: it was asked for before")
    code, found = shell.json("status", number)
    assert [one["id"] for one in found] == [number]
    assert (found[0]["state"], found[0]["quality"]) == ("planning", "animatic")
    code, out, _ = shell("status")
    assert code == 0
    assert "雨夜" in out
    assert "storyboard 0/1" in out


def test_a_folder_becomes_a_project_each(shell, home, novel):
    folder = home / "many"
    folder.mkdir()
    for name in ("b.md", "a.txt", "c.pdf"):
        (folder / name).write_text(TEXT, "utf-8")
    code, made = shell.json("new", folder)
    assert (code, [one["title"] for one in made]) == (0, ["a", "b"])
    code, _, err = shell("new", folder, "--title", "one")
    assert (code, err) == (
        2, "error: --title names one project, but these are 2 texts: leave it out\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "animatic", "--quality", "final"], "animatic makes no final"),
        (["--engine", "diffusion"], "`manage.py models add NAME FOLDER --role image`"),
        (["--quality", "preview"], "there is no model to draw the quality preview with"),
        (["--upscale"], "animatic can't upscale"),
        (["--engine", "difusion"], "there is no engine 'difusion'"),
    ],
)
def test_what_nobody_here_can_draw_is_refused_and_no_project_is_made(shell, novel, options, said):
    before = shell.json("status")[1]
    code, out, err = shell("new", novel, *options)
    assert (code, out) == (2, "")
    assert said in err
    assert shell.json("status")[1] == before


def test_a_bad_text_is_named_and_the_good_ones_go_on(shell, home, novel):
    empty, binary = home / "empty.txt", home / "film.txt"
    empty.write_bytes(b"")
    binary.write_bytes(bytes(range(256)) * 8)
    code, out, err = shell("new", empty, novel, binary)
    assert code == 2
    assert out.endswith("\t雨夜\n")
    assert len(out.splitlines()) == 1
    first, second = err.splitlines()
    assert empty.name in first
    assert binary.name in second


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["new", "nowhere.txt"], "there is no file nowhere.txt"),
        (["new", "."], "holds no text"),
        (["status", "4711"], "there is no project 4711"),
        (["submit", "4711"], "there is no project 4711"),
        (["export", "4711"], "there is no project 4711"),
        (["demo", "--text", "nowhere.txt"], "there is no file nowhere.txt"),
        (["bench", "nothing-such"], "benchmark"),
    ],
)
def test_a_wrong_command_gets_one_line_and_exit_code_2(shell, argv, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = shell(*argv)
    assert code == 2
    assert err.startswith("error: ")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("argv", [["status", "abc"], ["up", "--workers", "0"], ["sbumit"], ["new"]])
def test_a_mistyped_command_is_explained(shell, argv):
    code, _, err = shell(*argv)
    assert code == 2
    assert "Usage: manage.py" in err


@pytest.mark.parametrize("command", ["status", "submit", "export", "acts", "storyboard show"])
def test_what_names_no_project_is_told_with_what_does(shell, command):
    for word in ("12/e3", "2-4", "故乡", "9" * 30):
        code, _, err = shell(*command.split(), word)
        assert code == 2
        assert f"{word!r} names no project: write its number, as 12" in err


@pytest.mark.parametrize("group", [[], ["history"], ["storyboard"]])
def test_help_cuts_no_sentence(shell, group, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = shell(*group, "--help")
    assert "..." not in out.replace("ARGS]...", "")
    assert max(map(len, out.splitlines())) <= 80


def test_export_says_when_nothing_is_finished(shell, novel):
    _, made = shell.json("new", novel)
    code, out, err = shell("export", made[0]["project"], "--out", "there")
    assert (code, out) == (2, "")
    assert "has no finished video yet" in err


def test_the_backlog_is_shown_in_seconds(shell, novel):
    _, made = shell.json("new", novel)
    shell("submit", made[0]["project"])
    code, found = shell.json("backlog")
    assert (code, found["devices"]) == (0, 0)
    assert found["queues"]["cpu"]["jobs"]["blocked"] >= 1
    assert found["blocked_seconds"] > 0
    code, out, _ = shell("backlog")
    assert (code, len(out.splitlines())) == (0, 5)
    assert "gpu.high" in out


def test_drain_does_the_pass(shell):
    code, done = shell.json("drain", "--once")
    assert (code, done["leader"]) == (0, True)
    assert {"ready", "published", "released", "unpublished", "skipped"} <= done.keys()


def test_drain_leaves_the_pass_to_a_living_leader(shell):
    url = services.read(settings.load()).database_url
    ended, leads = threading.Event(), threading.Event()

    def lead():
        other = leader.Leader(url, lease_s=60, application="other")
        while not ended.wait(0.05):
            if other.take():
                leads.set()
        other.close()

    thread = threading.Thread(target=lead)
    thread.start()
    try:
        assert leads.wait(30)
        code, out, _ = shell("drain", "--once")
    finally:
        ended.set()
        thread.join()
    assert (code, out) == (5, "another leader is doing the pass\n")


def test_drain_deposes_a_leader_that_shows_no_life(shell, monkeypatch):
    monkeypatch.setenv("MANGEN_LEASE_S", "1")
    other = leader.Leader(services.read(settings.load()).database_url, lease_s=1, application="it")
    try:
        assert other.take()
        code, done = shell.json("drain", "--once")
    finally:
        other.close()
    assert (code, done["leader"]) == (0, True)


def test_a_database_that_cannot_be_reached_is_exit_code_3(shell, monkeypatch, tmp_path):
    monkeypatch.setenv(
        "MANGEN_DATABASE_URL", f"postgresql+psycopg://postgres@/x?host={tmp_path / 'none'}"
    )
    for command in (["drain", "--once"], ["status"]):
        code, _, err = shell(*command)
        assert code == 3
        assert err.startswith("error: ")
        assert "Traceback" not in err


def test_a_wrong_setting_names_itself(shell, monkeypatch):
    monkeypatch.setenv("MANGEN_WIDTH", "wide")
    code, _, err = shell("status")
    assert (code, err) == (
        2, "error: the environment variable MANGEN_WIDTH: 'wide' is no int for width\n",
    )  # fmt: skip


def test_doctor_finds_this_machine_whole(shell):
    code, found = shell.json("doctor")
    names = [check["name"] for check in found]
    assert code == 0, [check for check in found if not check["ok"]]
    for name in ("python", "packages", "fonts", "voices", "gpu", "keeper", "postgres", "schema"):
        assert name in names
    assert all(check["mend"] == "" for check in found)


def test_doctor_may_take_the_time_that_a_large_ledger_takes(shell, monkeypatch):
    limits = []

    def check(conn, _paths, lease_s):
        assert lease_s > 0
        limits.extend(
            conn.scalar(sa.text(f"show {name}"))
            for name in ("statement_timeout", "transaction_timeout")
        )
        return []

    monkeypatch.setattr(invariants, "check", check)
    shell("doctor")
    assert limits == ["0", "0"]


def test_doctor_says_what_is_missing_and_how_to_mend_it(shell, monkeypatch):
    monkeypatch.setenv("MANGEN_BROKER_URL", "redis://127.0.0.1:1/0")
    code, found = shell.json("doctor")
    broken = [check for check in found if not check["ok"]]
    assert (code, [check["name"] for check in broken]) == (1, ["broker"])
    assert "MANGEN_BROKER_URL" in broken[0]["mend"]
    code, out, _ = shell("doctor")
    assert "mend:" in out


def test_a_watch_ends_when_nothing_is_left_to_happen(shell, novel):
    _, made = shell.json("new", novel)
    code, found = shell.json("status", made[0]["project"], "--watch")
    assert (code, found[0]["state"]) == (0, "new")


def test_an_error_shows_where_only_when_asked(shell, monkeypatch):
    _, _, err = shell("status", "4711")
    assert "Traceback" not in err
    _, _, err = shell("--debug", "status", "4711")
    assert "Traceback" in err
    monkeypatch.setenv("MANGEN_DEBUG", "1")
    _, _, err = shell("status", "4711")
    assert "Traceback" in err


def test_every_error_keeps_its_exit_code(shell, monkeypatch):
    from mangen import api  # noqa: PLC0415 - as the commands load it

    for kind in (errors.UnknownProject, errors.ServiceError, errors.AlreadyRunning, ValueError):

        def fail(*_args, kind=kind, **_more):
            raise kind("so it is")

        monkeypatch.setattr(api, "all_status", fail)
        code, _, err = shell("status")
        assert code == getattr(kind, "exit_code", 1)
        assert "so it is" in err
        assert "Traceback" not in err


def test_every_command_that_shows_something_speaks_json():
    # the first two hand their arguments on; the last writes nothing but JSON
    silent = {"test", "bench", "storyboard export"}
    commands = dict(main.root.commands)
    for name, group in main.root.commands.items():
        below = getattr(group, "commands", {})
        if below:
            del commands[name]
        commands |= {f"{name} {word}": command for word, command in below.items()}
    for name, command in commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert name in silent or "--json" in options, name


def test_help_is_there_for_all_without_loading_the_ledger(shell):
    code, out, _ = shell("--help")
    assert code == 0
    for name in ("demo", "test", "up", "new", "submit", "status", "drain", "export", "doctor", "wardrobe", "bench", "chaos"):  # fmt: skip  # noqa: E501 - the whole list of issue and README
        assert f"\n  {name} " in out
        assert main.root.commands[name].help


def test_json_is_one_line_and_readable_chinese(shell, novel):
    _, out, _ = shell("new", novel, "--json")
    assert "雨夜" in out
    assert len(out.splitlines()) == 1
    json.loads(out)


def test_status_says_when_nobody_works(shell, novel):
    _, made = shell.json("new", novel)
    shell("submit", made[0]["project"])
    _, _, err = shell("status", made[0]["project"])
    assert "no worker runs" in err


def test_status_and_doctor_say_what_withholds_work(shell, novel, monkeypatch):
    _, made = shell.json("new", novel)
    number = made[0]["project"]
    shell("submit", number)
    assert shell.json("status", number)[1][0]["withheld"] is None
    monkeypatch.setenv("MANGEN_QUIET_HOURS", "00:00-12:00,12:00-24:00")
    monkeypatch.setenv("MANGEN_TIME_ZONE", "Asia/Shanghai")
    assert f"{number}: withheld: quiet hours all day" in shell("status", number)[1]
    _, checks = shell.json("doctor")
    [quiet] = [check for check in checks if check["name"] == "quiet hours"]
    assert quiet["ok"]
    assert "only urgent projects begin anything" in quiet["detail"]
    shell("priority", number, "high", "--budget", "0")
    said = shell("status", number)[1]
    assert "its gpu budget is spent until midnight (Asia/Shanghai): 0 of 0 s" in said
    monkeypatch.setenv("MANGEN_TIME_ZONE", "Asia/Peking")
    code, _, err = shell("status")
    assert (code, "Asia/Peking" in err) == (2, True)
