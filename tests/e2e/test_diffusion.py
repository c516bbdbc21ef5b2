"""Projects drawn by models, end to end: tiny ones, which draw noise and are loaded for real."""

from __future__ import annotations

import json
import pathlib

import av
import numpy as np
import pytest
from PIL import Image

pytest.importorskip("torch", reason="the gpu extra is not installed")
pytest.importorskip("diffusers", reason="the gpu extra is not installed")

from mangen import api, control, errors, insight
from mangen.cli import main

DRAFT = "夜里下着雨，陈默站在街口等人。\n“你来晚了。”陈默说。"
FINAL = "夜里下着雨，陈默站在街口等人。"
SIZE = {"width": 64, "height": 96}
WAIT_S = 300.0  #: torch is loaded in a process of its own, on machines that do much else

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def painted(deploy, tmp_path_factory):
    """Yield a deployment with one worker and a model for pictures; no invariant is broken after."""
    folder = tmp_path_factory.mktemp("tiny")
    with pytest.MonkeyPatch.context() as patch, deploy(devices="cpu") as one:
        patch.setenv("OMP_NUM_THREADS", "1")
        manage("models", "tiny", folder)
        one.models = folder
        one.start_worker(image_engine="hasty_engine:Hasty")  # anchors of small seeds: so many steps
        yield one
        assert one.violations() == []


def manage(*words):
    """Run a command in this process, where torch is loaded once."""
    assert main.main([str(word) for word in words]) == 0


def add(name, folder, *roles, **numbers):
    options = [word for role in roles for word in ("--role", role)]
    for key, value in {"steps": 2, "max-pixels": 6144, **numbers}.items():
        options += [f"--{key}", value]
    manage("models", "add", name, folder, *options)


def made(painted, number, words, **drawn):
    """A project of these words, not submitted yet."""
    path = painted.home / f"{number}.txt"
    path.write_text(words, "utf-8")
    return api.create_project(path, title="雨夜", **SIZE, **drawn)


def rows(painted, number):
    return painted.query(
        """select j.id, j.stage, j.subject, j.bucket, j.state, q.params ->> 'quality' as quality,
             a.path, a.meta
           from jobs j join job_params q on q.job = j.id
           left join artifacts a on a.job = j.id and a.attempt = j.attempt
             and a.kind in ('panel', 'clip', 'reference', 'encoded')
           where j.project = :p and not j.superseded order by j.id""",
        p=number,
    )


def finished(painted, number):
    status = painted.wait(number, WAIT_S)
    assert status["state"] == "done", (status, painted.tail())
    (episode,) = status["episodes"]
    return episode


def frames_of(path):
    with av.open(str(path)) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def picture(path):
    with Image.open(path) as opened:
        return np.asarray(opened).astype(int)


@pytest.fixture(scope="module")
def upgraded(painted):
    """An animatic of which one shot was upgraded, by a model for pictures alone."""
    number = made(painted, 1, DRAFT)
    api.submit_novel(number)
    before = finished(painted, number)
    old = {row.id for row in rows(painted, number)}
    with pytest.raises(errors.UsageError, match=r"e1/s3: .*models add NAME FOLDER --role image"):
        control.upgrade(f"{number}/e1/s3")
    with pytest.raises(errors.UsageError, match=r"models add NAME FOLDER --role image"):
        made(painted, 9, FINAL, engine="diffusion")
    add("sdxl", painted.models / "sdxl", "image", "anchor", "inpaint", "upscale")
    (done,) = control.upgrade(f"{number}/e1/s3")
    (again,) = control.upgrade(f"{number}/e1/s3")
    assert (done["changed"], again["changed"]) == (True, False)
    after = finished(painted, number)
    assert before["video"] != after["video"]
    return number, old, after


def test_an_upgrade_draws_only_its_shot(painted, upgraded):
    number, old, _ = upgraded
    new = {(row.stage, row.subject) for row in rows(painted, number) if row.id not in old}
    assert new == {
        ("anchor", "c/陈默@diffusion"), ("illustrate", "e1/s3"), ("animate", "e1/s3"),
        ("assemble", "e1"),
    }  # fmt: skip


def test_a_camera_moves_over_the_panel_of_a_model(painted, upgraded):
    number, _, episode = upgraded
    found = {(row.stage, row.subject): row for row in rows(painted, number)}
    panel, clip = found["illustrate", "e1/s3"], found["animate", "e1/s3"]
    assert (panel.quality, panel.meta["quality"], panel.meta["unlike"]) == ("final", "final", [])
    assert panel.meta["notes"]["steps"] == 2
    assert clip.bucket == "animatic/animate/64x96"
    clips = [row for row in found.values() if row.stage == "animate"]
    assert len(frames_of(episode["video"])) == sum(row.meta["frames"] for row in clips)


def test_a_trace_tells_how_well_it_was_drawn(painted, upgraded, capsys):
    number, _, _ = upgraded
    manage("trace", f"{number}/e1/s3")
    told = capsys.readouterr().out
    assert "quality final; 2 steps" in told
    assert "model sdxl:" in told
    assert "upgrade e1/s3" in told
    jobs = insight.trace(f"{number}/e1/s3")["jobs"]
    (panel,) = [job for job in jobs if job["stage"] == "illustrate"]
    assert panel["attempts"][0]["made"]["quality"] == "final"


@pytest.fixture(scope="module")
def filmed(painted, upgraded):
    """A project of models alone, its panels enlarged, its clips by a staged video model."""
    assert upgraded
    add("i2v", painted.models / "i2vgen_xl", "video", **{"max-frames": 4})
    number = made(painted, 2, FINAL, engine="diffusion", upscale=True, outpaint=True)
    api.submit_novel(number)
    return number, finished(painted, number)


def test_a_project_of_models_ends_whole(painted, filmed):
    number, episode = filmed
    found = {(row.stage, row.subject): row for row in rows(painted, number)}
    chain = ("illustrate", "outpaint", "upscale", "encode", "animate")
    assert {found[stage, "e1/s2"].quality for stage in chain} == {"final"}
    words = [found[stage, "e1/s2"].bucket.split("/")[:3] for stage in chain]
    assert words == [["diffusion", word, "final"] for word in ("picture", *chain[1:])]
    assert {found[stage, "e1/s1"].bucket.split("/")[0] for stage in ("illustrate", "animate")} == {
        "animatic"
    }
    clips = [row for row in found.values() if row.stage == "animate"]
    store = painted.settings.artifact_root
    for row in clips:
        assert len(frames_of(store / row.path)) == row.meta["frames"]
    frames = frames_of(episode["video"])
    assert len(frames) == sum(row.meta["frames"] for row in clips)
    assert frames[0].shape == (96, 64, 3)
    assert found["animate", "e1/s2"].meta["notes"]["model"] == "i2v"
    drawn, wider, finer = (picture(store / found[stage, "e1/s2"].path) for stage in chain[:3])
    assert wider.shape[1] > drawn.shape[1]
    assert finer.shape >= (120, 80, 3)


def test_only_the_child_holds_torch(painted, filmed):
    assert filmed
    (worker,) = painted.workers
    held = {pid: "libtorch" in pathlib.Path(f"/proc/{pid}/maps").read_text("utf-8")
            for pid in (worker.pid, *painted.children(worker))}  # fmt: skip
    assert list(held.values()) == [False, True]


def test_a_repaint_changes_what_its_mask_shows(painted, filmed):
    number, _ = filmed
    before = {(row.stage, row.subject): row.id for row in rows(painted, number)}
    upper = np.zeros((30, 20), np.uint8)
    upper[:10] = 255
    mask = painted.home / "mask.png"
    Image.fromarray(upper).save(mask)
    control.retake(f"{number}/e1/s2", repaint=mask, prompt="a red lantern")
    finished(painted, number)
    found = {(row.stage, row.subject): row for row in rows(painted, number)}
    assert found["illustrate", "e1/s2"].id == before["illustrate", "e1/s2"]
    store = painted.settings.artifact_root
    one, other = (
        picture(store / found[stage, "e1/s2"].path) for stage in ("illustrate", "repaint")
    )
    third = len(one) // 3
    assert np.abs(one - other)[: third // 2].mean() > 1
    assert np.abs(one - other)[2 * third :].max() == 0
    board = json.loads(json.dumps(control.export_storyboard(number)))
    assert not control.import_storyboard(number, board)["changed"]
    assert pathlib.Path(store / board["episodes"][0]["shots"][1]["repaint"]["mask"]).exists()


def planned(painted, number, *, person, shot=None):
    """A project of models, not asked for yet, whose only character and shot have these seeds."""
    project = made(painted, number, FINAL, engine="diffusion")
    api.submit_novel(project, plan_only=True)
    painted.wait(project, WAIT_S)
    board = control.export_storyboard(project)
    (character,), drawn = board["characters"], board["episodes"][0]["shots"][1]
    character["seed"], drawn["seed"] = person, shot or drawn["seed"]
    control.import_storyboard(project, board)
    return project


@pytest.mark.parametrize(
    ("stage", "seeds"),
    [("anchor", {"person": 900}), ("illustrate", {"person": 2, "shot": 900})],
)
def test_an_anchor_joins_running_pictures_and_ends_before_them(painted, filmed, stage, seeds):
    """One device, and pictures were measured before: a batch of two is tried next."""
    assert filmed
    slow, fast = planned(painted, f"{stage}3", **seeds), planned(painted, f"{stage}4", person=2)

    def job(project, stage):
        (row,) = painted.query(
            """select j.id, j.state, a.session from jobs j left join attempts a on a.job = j.id
               where j.project = :p and j.stage = :stage and j.bucket like 'diffusion/%'
                 and not j.superseded""",
            p=project, stage=stage,
        )  # fmt: skip
        return row

    api.submit_novel(slow)
    painted.until(
        lambda: job(slow, stage).state == "running", what=f"a running {stage}", seconds=WAIT_S
    )
    api.submit_novel(fast)
    painted.until(
        lambda: job(fast, "anchor").state == "done", what="the anchor that joined", seconds=WAIT_S
    )
    one, other = job(slow, stage), job(fast, "anchor")
    assert one.state == "running"
    assert one.session == other.session
    control.cancel(slow)
    painted.until(
        lambda: job(slow, stage).state == "cancelled", what="the end of the other", seconds=WAIT_S
    )
    finished(painted, fast)
