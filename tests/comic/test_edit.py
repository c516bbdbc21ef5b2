"""Edits and retakes on a real ledger: just what they touch is made anew."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading

import pytest

from mangen import errors
from mangen.comic import boards, content, control, edit, model, retake, schema
from mangen.ledger import jobs


def again(studio, *paths, **wishes):
    scopes = [studio.scope(path) for path in paths]
    return studio.editor.edit(
        studio.project, retake.plan(scopes, retake.Wishes(**wishes)), verb="retake", by="li"
    )


def put(studio, change):
    """Import the storyboard after `change` on its data."""
    board = boards.current(studio.book, studio.store, studio.project).board
    data = json.loads(json.dumps({"revision": boards.revision(board), **board.to_json()}))
    change(data)
    return studio.editor.edit(
        studio.project,
        schema.plan(studio.project, data, name="board.json", size=1000),
        verb="edit",
        by="li",
    )


def drawn(subject, episode="e1"):
    return {("illustrate", subject), ("animate", subject), ("assemble", episode)}


def test_a_retake_makes_one_panel_one_clip_and_the_video_anew(studio):
    studio.planned()
    studio.work()
    before, video = studio.ids(), episode(studio)
    done = again(studio, "e1/s3")
    assert (done.changed, done.new_jobs, done.episodes) == (True, 3, [1])
    assert studio.changed_since(before) == drawn("e1/s3")
    old = studio.row(before["illustrate", "e1/s3"])
    assert (old.state, old.superseded) == ("done", True)
    assert episode(studio) == video, "the old video stays until the new one is done"
    studio.work()
    assert episode(studio).video != video.video
    [shot] = studio.sql("select take, seed from shots where episode = 1 and no = 3")
    assert shot.take == 2
    assert studio.acts() == ["submit", "retake"]


def episode(studio, no=1):
    [row] = studio.sql(
        "select video, state from episodes where project = :p and no = :no", p=studio.project, no=no
    )
    return row


def test_what_a_retake_wishes_is_fulfilled_once(studio):
    studio.planned()
    studio.work()
    assert again(studio, "e1/s3", seed=77, prompt="雨").new_jobs == 3
    params = studio.sql(
        "select params from job_params where job = :job", job=studio.ids()["illustrate", "e1/s3"]
    )[0].params
    assert (params["seed"], params["prompt"]) == (77, "雨")
    assert not again(studio, "e1/s3", seed=77, prompt="雨").changed
    kept = again(studio, "e1/s3", prompt="雪")
    assert "seed" not in kept.detail["shots"][0], "another prompt keeps the seed"
    assert "seed" in again(studio, "e1/s3", prompt="雾", new_seed=True).detail["shots"][0]
    assert studio.acts().count("retake") == 3


def test_a_feeling_is_drawn_and_spoken(studio):
    board = studio.planned()
    shot = next(s for s in board.episodes[0].shots if "林若雪" in s.characters and s.lines)
    studio.work()
    before = studio.ids()
    again(studio, f"e1/s{shot.no}", emotions={"林若雪": "angry"})
    changed = studio.changed_since(before)
    assert changed >= drawn(f"e1/s{shot.no}")
    assert {stage for stage, _ in changed} <= {"illustrate", "animate", "assemble", "voice"}
    with pytest.raises(errors.UsageError, match=r"shows .*, not 王二"):
        again(studio, f"e1/s{shot.no}", emotions={"王二": "angry"})
    with pytest.raises(errors.UsageError, match="'cross' is no emotion"):
        again(studio, f"e1/s{shot.no}", emotions={"": "cross"})


def test_a_retake_while_it_is_drawn_stops_the_old_take(studio):
    studio.planned()
    studio.advance()
    while not (fences := [f for f in studio.claim() if studio.row(f.job).subject == "e1/s3"]):
        for fence in running(studio):
            studio.finish(fence, studio.row(fence.job))
    again(studio, "e1/s3")
    assert all(studio.row(fence.job).stop for fence in fences if is_picture(studio, fence))
    for fence in running(studio):
        with contextlib.suppress(errors.Stopped):
            studio.finish(fence, studio.row(fence.job))
    studio.work()
    assert set(studio.states().values()) == {"done"}


def is_picture(studio, fence):
    return studio.row(fence.job).stage in {"illustrate", "animate"}


def running(studio):
    rows = studio.sql("select id, attempt, owner from jobs where state = 'running' order by id")
    return [jobs.Fence(job=row.id, attempt=row.attempt, owner=row.owner) for row in rows]


def test_a_storyboard_is_edited_before_anything_is_drawn(studio):
    board = studio.planned(episodes=[])
    assert set(studio.states().values()) == {"done"}, "the plan alone"

    def change(data):
        data["episodes"][0]["shots"][2]["scene"]["place"] = "street"

    done = put(studio, change)
    assert (done.changed, done.new_jobs) == (True, 0)
    studio.submit()
    panel = studio.sql(
        "select params from job_params where job = :job", job=studio.ids()["illustrate", "e1/s3"]
    )
    assert panel[0].params["scene"]["place"] == "street"
    assert board.episodes[0].shots[2].scene.place != "street"
    studio.work()
    assert studio.submit().already, "the edited storyboard counts, and is not planned anew"
    assert ("storyboard", "project") in studio.ids()


def test_only_touched_shots_are_made_anew_wherever_they_stand(studio):
    studio.planned()
    studio.work()
    before = studio.ids()

    def change(data):
        shots = data["episodes"][0]["shots"]
        shots.insert(2, {"prompt": "门", "scene": {"place": "street"}})  # a new shot, third
        shots[4]["lines"][0]["text"] = "新的话。"
        for no, shot in enumerate(shots, 1):  # as a person would number them
            shot["no"] = no

    done = put(studio, change)
    touched = "e1/s4"  # it stands fifth now, under the number it had
    number = max(int(where[1].split("/s")[1]) for where in studio.ids() if where[0] == "animate")
    new = f"e1/s{number}"
    assert studio.changed_since(before) - {("voice", f"{touched}/l1")} == {
        ("illustrate", new), ("animate", new), ("animate", touched), ("assemble", "e1"),
    } | ({("illustrate", touched)} & studio.changed_since(before))  # fmt: skip
    assert ("voice", f"{touched}/l1") in studio.changed_since(before)
    assert done.new_jobs == len(studio.changed_since(before))
    shots = boards.current(studio.book, studio.store, studio.project).board.episodes[0].shots
    assert [shot.no for shot in shots][:5] == [1, 2, number, 3, 4]
    studio.work()
    assert set(studio.states().values()) == {"done"}


def test_what_is_taken_out_is_no_longer_wanted(studio):
    studio.planned()
    before = studio.ids()
    put(studio, lambda data: data["episodes"][0]["shots"].pop(2))
    gone = {where for where in before if where[1].startswith("e1/s3")}
    assert before.keys() - studio.ids().keys() == gone
    assert not studio.sql("select 1 from shots where no = 3")
    studio.work()
    assert set(studio.states().values()) == {"done"}


def test_an_import_may_stand_for_the_plan(studio):
    board = studio.planned(episodes=[])
    data = board.to_json()
    studio.make()
    studio.submit(episodes=[])
    [fence] = studio.claim("storyboard", "project")
    with pytest.raises(errors.UsageError, match="is being planned"):
        put_new(studio, data)
    studio.book.fail(fence, "permanent", "no")
    assert put_new(studio, data).changed
    studio.submit()
    assert "storyboard" not in {stage for stage, _ in studio.ids()}
    studio.work()
    assert set(studio.states().values()) == {"done"}


def put_new(studio, data):
    plan = schema.plan(studio.project, dict(data), name="board.json", size=10_000)
    return studio.editor.edit(studio.project, plan, verb="edit", by="li")


def test_an_edit_of_an_old_revision_is_refused(studio):
    studio.planned()
    old = boards.current(studio.book, studio.store, studio.project).board
    again(studio, "e1/s3", seed=5)
    data = {"revision": boards.revision(old), **old.to_json()}
    with pytest.raises(errors.UsageError, match=r"based on revision .* export it again"):
        put_new(studio, data)
    del data["revision"]
    assert put_new(studio, data).changed
    assert not put_new(studio, data).changed
    with pytest.raises(errors.UsageError, match="of project 99, not"):
        put_new(studio, {**data, "project": 99})


def test_two_edits_at_once_both_land(studio):
    studio.planned()
    both, seen = threading.Barrier(2), set()

    def edit_shot(number):
        def change(board):
            if number not in seen:  # both read the same storyboard; one has to read it again
                seen.add(number)
                both.wait(30)
            return retake.plan([studio.scope(f"e1/s{number}")], retake.Wishes(seed=number))(board)

        studio.editor.edit(studio.project, change, verb="retake", by=str(number))

    threads = [threading.Thread(target=edit_shot, args=(n,)) for n in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shots = boards.current(studio.book, studio.store, studio.project).board.episodes[0].shots
    assert [shot.take for shot in shots[:4]] == [1, 2, 2, 1]


def test_what_was_cancelled_stays_so_when_its_episode_is_edited(studio):
    studio.planned()
    studio.do(control.cancel, "e1")
    before = studio.ids()
    again(studio, "e1/s3")
    assert studio.changed_since(before) == drawn("e1/s3")
    assert {studio.states()[where] for where in drawn("e1/s3")} == {"cancelled"}
    studio.do(control.retry, "e1")
    studio.work()
    assert set(studio.states().values()) == {"done"}


def test_a_character_that_changes_is_drawn_anew_wherever_it_is(studio):
    board = studio.planned()
    studio.work()
    before = studio.ids()
    name = board.characters[0].name

    def change(data):
        data["characters"][0]["words"] = ["短发"]

    put(studio, change)
    shown = {f"e1/s{shot.no}" for shot in board.episodes[0].shots if name in shot.characters}
    changed = studio.changed_since(before)
    assert {where for where in changed if where[0] == "illustrate"} == {
        ("illustrate", subject) for subject in shown
    }
    assert ("anchor", f"c/{name}") in changed


def test_edits_are_told_from_each_other(studio):
    board = studio.planned()
    other = dataclasses.replace(board, title="别的")
    assert boards.touched(board, other) == {1}
    assert boards.touched(board, board) == set()
    assert boards.revision(board) != boards.revision(other)
    assert model.Storyboard.from_json(board.to_json()) == board
    assert edit.Edited(project=1, changed=False).episodes == ()
    with studio.book.transaction() as conn:
        content.remove(conn, studio.project)
