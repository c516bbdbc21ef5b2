"""The same project with something killed in its middle: the same video, nothing twice."""

from __future__ import annotations

import os
import resource
import signal
import time

import psutil

from mangen import api, services, stack


def middle(deployment, number):
    return deployment.until(lambda: deployment.running(number), what="the middle of the run")


def assert_same(deployment, number, undisturbed):
    """The storyboard and every decoded frame are those of the undisturbed run, made once."""
    status = deployment.wait(number)
    assert status["state"] == "done", (status, deployment.tail())
    assert (deployment.storyboard(number), deployment.frames(number)) == undisturbed.reference
    twice = deployment.query(
        """select job from events where "to" = 'done' group by job having count(*) > 1"""
    )
    assert twice == []
    assert deployment.violations() == []


def test_a_child_killed_in_the_middle(undisturbed, deployment):
    worker = deployment.start_worker()
    number = deployment.project()
    running = middle(deployment, number)
    slot = int(running[0].owner.rsplit("/", 2)[1])
    (owner,) = deployment.query(
        "select report from owners where name = :name", name=running[0].owner
    )
    pid = next(child["pid"] for child in owner.report["children"] if child["slot"] == slot)
    os.kill(pid, signal.SIGKILL)
    assert_same(deployment, number, undisturbed)
    assert worker.poll() is None


def test_a_worker_killed_while_another_lives(undisturbed, deployment):
    deployment.start_worker("one")
    deployment.start_worker("two")
    number = deployment.project()
    running = middle(deployment, number)
    name = running[0].owner.split("@")[0]
    victim = next(
        w for w in deployment.workers if any(arg.startswith(f"{name}@") for arg in command(w))
    )
    os.kill(victim.pid, signal.SIGKILL)
    assert_same(deployment, number, undisturbed)


def command(worker):
    return psutil.Process(worker.pid).cmdline()


def test_the_broker_killed_and_wiped(undisturbed, deployment):
    deployment.start_worker()
    number = deployment.project()
    middle(deployment, number)
    server = server_of(deployment, "valkey")
    for file in (deployment.home / "valkey").rglob("*"):
        if file.is_file():
            file.unlink()
    server.kill()
    assert_same(deployment, number, undisturbed)


def test_postgres_killed(undisturbed, deployment):
    deployment.start_worker()
    number = deployment.project()
    middle(deployment, number)
    server_of(deployment, "postgres").kill()
    assert_same(deployment, number, undisturbed)


def server_of(deployment, name):
    """Answer the server process whose command line names this home or its sockets."""
    urls = services.read(deployment.settings)
    socket = urls.broker_url.split("://")[1].rsplit("/", 1)[0]
    for process in psutil.process_iter(["cmdline", "name"]):
        line = " ".join(process.info["cmdline"] or ())
        ours = socket in line or str(deployment.home) in line
        if ours and name in (process.info["name"] or "") and "-D" in line + " -D":
            parent = process.parent()
            if parent is None or name not in parent.name():
                return process
    raise AssertionError(f"no {name} of {deployment.home} runs")


def test_everything_killed_and_started_again(undisturbed, deployment):
    worker = deployment.start_worker()
    number = deployment.project()
    middle(deployment, number)
    keeper = next(
        one
        for one in psutil.process_iter(["cmdline"])
        if "mangen.stack.keeper" in (one.info["cmdline"] or ())
        and str(deployment.home) in one.info["cmdline"]
    )
    doomed = [
        keeper.pid,
        worker.pid,
        *(c.pid for c in psutil.Process(worker.pid).children(recursive=True)),
    ]
    doomed += [server_of(deployment, name).pid for name in ("postgres", "valkey")]
    for pid in doomed:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)
    worker.wait()
    deployment.workers.clear()
    with stack.join(deployment.settings):
        deployment.start_worker()
        assert_same(deployment, number, undisturbed)


def test_a_worker_frozen_past_its_lease_and_woken(undisturbed, deployment):
    frozen = deployment.start_worker("frozen")
    number = deployment.project()
    middle(deployment, number)
    whole = [psutil.Process(frozen.pid), *psutil.Process(frozen.pid).children(recursive=True)]
    for process in whole:
        process.suspend()
    deployment.start_worker("awake")
    deployment.until(
        lambda: deployment.query("select 1 from owners where release_reason = 'lease'"),
        seconds=10 * deployment.lease_s,
        what="the release of the frozen worker",
    )
    for process in whole:
        process.resume()
    assert_same(deployment, number, undisturbed)
    # the woken worker is of use again: its children have new generations
    deployment.until(
        lambda: deployment.query(
            "select 1 from owners where worker like '%frozen%' and released_at is null"
        ),
        what="the frozen worker's next generation",
    )


def test_work_goes_on_within_two_leases_of_a_lost_worker(undisturbed, deployment):
    first = deployment.start_worker("one")
    number = deployment.project()
    middle(deployment, number)
    deployment.start_worker("two")
    deployment.until(
        lambda: deployment.query("select 1 from owners where worker like '%two%'"),
        what="the second worker",
    )
    os.kill(first.pid, signal.SIGKILL)
    killed = time.monotonic()
    deployment.until(
        # the owner, not its jobs: a quick machine may have finished them before the kill
        lambda: deployment.query("select 1 from owners where release_reason = 'lease'"),
        seconds=30,
        what="the release",
    )
    print(f"released {time.monotonic() - killed:.1f} s after, lease {deployment.lease_s} s")
    assert_same(deployment, number, undisturbed)


def test_a_full_store_waits_with_its_reason_and_goes_on(deployment):
    text = deployment.home / "x.txt"
    text.write_text("雨停了。他推开门，走进院子。", "utf-8")
    worker = deployment.start_worker()
    deployment.until(lambda: deployment.children(worker), what="the worker's children")

    for pid in deployment.children(worker):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    number = api.create_project(text)
    api.submit_novel(number)
    waiting = deployment.until(
        lambda: api.project_status(number)["waiting"], what="a waiting job", seconds=60
    )
    assert "no room" in waiting[0]["error"] or "too large" in waiting[0]["error"].lower()
    for pid in deployment.children(worker):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert deployment.wait(number)["state"] == "done"


def test_children_replaced_after_a_few_tasks_lose_and_repeat_nothing(undisturbed, deployment):
    deployment.start_worker(restart_after="3")
    number = deployment.project()
    assert_same(deployment, number, undisturbed)
    deployment.until(
        lambda: deployment.log().count(" follows one@") >= 2, what="both children's followers"
    )  # they come soft: the project may be done before a busy machine has started them
    assert_same(deployment, deployment.project(), undisturbed)
    again = deployment.query(
        "select 1 from events where query in ('fail_job', 'release_owner') and \"to\" <> 'ready'"
    )
    repeated = deployment.query("select job from attempts group by job having count(*) > 1")
    assert (again, repeated) == ([], [])
