"""The steering commands: what they print, what they refuse, and that twice is once."""

import json

import pytest

from mangen.comic import plan, text

pytestmark = pytest.mark.slow

TEXT = "夜里下着雨，陈默站在街口。\n“你来晚了。”林晓说。\n"


@pytest.fixture
def number(shell, home):
    file = home / "雨夜.txt"
    file.write_text(TEXT, "utf-8")
    _, made = shell.json("new", file)
    shell("submit", made[0]["project"])
    return made[0]["project"]


@pytest.fixture
def board(home):
    """The file of a storyboard, as people hand it in."""
    found = plan.plan(text.decode(TEXT.encode(), "a"), title="雨").to_json()
    file = home / "board.json"
    file.write_text(json.dumps(found, ensure_ascii=False), "utf-8")
    return file


def test_a_pause_is_told_and_lifted(shell, number):
    assert shell("pause", number) == (0, f"{number}: paused\n", "")
    assert shell("pause", number)[1] == f"{number}: it was paused before\n"
    assert shell.json("status", number)[1][0]["state"] == "paused"
    code, answers = shell.json("pause", "all", "--by", "wang")
    assert (code, number in answers[0]["projects"]) == (0, True)
    code, out, _ = shell("resume", number)
    assert out == f"{number}: goes on; still paused: all\n"
    shell("resume", "all")
    assert shell.json("status", number)[1][0]["state"] == "planning"
    code, acts = shell.json("acts", number)
    assert [act["verb"] for act in acts] == ["resume", "resume", "pause", "pause", "submit"]
    assert acts[2]["by"] == "wang"
    assert "submit" in shell("acts", number)[1]


def test_what_is_cancelled_can_be_tried_again(shell, number):
    assert shell("cancel", number)[1] == f"{number}: 1 job cancelled\n"
    assert shell("cancel", number)[1] == f"{number}: nothing was open\n"
    assert shell.json("status", number)[1][0]["state"] == "cancelled"
    assert shell("retry", number)[1] == f"{number}: 1 job tried again\n"
    assert shell("retry", number)[1] == f"{number}: nothing had failed\n"


def test_priority_takes_its_words_in_any_order(shell, number):
    assert shell("priority", "high", number, "--weight", "2")[1] == (
        f"{number}: class high, weight 2\n"
    )
    assert shell("priority", number, "high")[1] == f"{number}: it was so before\n"
    assert shell("priority", number, "--budget", "60")[1] == f"{number}: budget 60\n"
    assert shell("priority", number, "--budget", "-1")[1] == f"{number}: budget none\n"


def test_a_storyboard_comes_in_and_goes_out(shell, number, board, home):
    code, _, err = shell("storyboard", "import", number, board)
    assert (code, "is being planned" in err) == (2, True)
    assert "has no storyboard yet" in shell("storyboard", "show", number)[2]
    shell("cancel", number)
    code, done = shell.json("storyboard", "import", number, board)
    assert (code, done["changed"], done["new_jobs"]) == (0, True, 0)
    assert shell("storyboard", "import", number, board)[1] == f"{number}: nothing differs\n"
    assert "e1/s2" in shell("storyboard", "show", number, "--episode", 1)[1]
    assert "no episode 7" in shell("storyboard", "show", number, "--episode", 7)[2]
    out = home / "out.json"
    assert shell("storyboard", "export", number, "--out", out)[0] == 0
    exported = json.loads(out.read_text("utf-8"))
    assert json.loads(shell("storyboard", "export", number)[1]) == exported
    exported["episodes"][0]["shots"][1]["scene"]["place"] = "moon"
    out.write_text(json.dumps(exported), "utf-8")
    code, _, err = shell("storyboard", "import", number, out)
    assert (code, "episodes[0].shots[1].scene.place: 'moon' is none of" in err) == (2, True)
    assert shell.json("status", number)[1][0]["state"] == "planned"
    assert shell.json("submit", number)[1][0]["new_jobs"] > 4
    assert shell("retake", f"{number}/e1/s2", "--emotion", "sad")[1].startswith(
        f"{number}: e1/s2 take 2, "
    )
    assert shell("retake", f"{number}/e1/s2", "--emotion", "sad")[1] == (
        f"{number}: it was so before\n"
    )
    told = " ".join(shell("acts", number)[1].split())
    assert "→ sad" in told
    assert "episodes all, new jobs 1" in told or "new jobs 1, episodes all" in told
    assert not {"[", "{"} & set(told)


def test_a_purged_project_is_gone_and_stays_in_the_record(shell, number):
    code, _, err = shell("purge", number)
    assert code != 0
    assert "for good?" in err
    assert shell("purge", number, "--yes")[1] == f"{number}: removed\n"
    assert shell("purge", number, "--yes")[1] == f"{number}: it was removed\n"
    assert f"there is no project {number}" in shell("status", number)[2]
    assert shell.json("acts", number)[1][0]["verb"] == "purge"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["pause", "x"], "'x' names nothing: write a project as 12"),
        (["pause", "4711"], "there is no project 4711"),
        (["cancel", "all"], "cancel takes no `all`"),
        (["retry", "job/4711"], "there is no job 4711"),
        (["retake", "12"], "retake makes shots anew"),
        (["retake", "1/e1", "--repaint", "nowhere.png", "--prompt", "x"], "no file nowhere.png"),
        (["upgrade", "all"], "upgrade draws shots: name 12"),
        (["upgrade", "1"], "is being planned: edit its storyboard when"),
        (["priority", "high", "low", "1"], "one of high, mid and low"),
        (["priority", "1", "hihg"], "'hihg' is neither a class nor a scope"),
        (["priority", "1"], "say what to change"),
        (["priority", "high"], "name what is meant"),
        (["purge", "1/e1", "--yes"], "purge removes whole projects"),
        (["storyboard", "import", "1", "nowhere.json"], "can't read nowhere.json"),
        (["submit", "1", "--plan-only", "--episodes", "1"], "a plan is of all episodes"),
    ],
)
def test_a_wrong_command_is_explained_in_one_line(shell, number, argv, said):
    words = [str(number) if word in {"1", "12"} else word for word in argv]
    words = [word.replace("1/e1", f"{number}/e1") for word in words]
    code, _, err = shell(*words)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
