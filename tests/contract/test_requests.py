"""One worker with one child: how requests come, wait, run and end."""

from __future__ import annotations

import threading
import time
import urllib.parse

import celery
import pytest
import redis
from celery import exceptions, states

from mangen.pooling import errors

WINDOW = 4


@pytest.fixture(scope="module", autouse=True)
def _worker(toy):
    toy.start(window=WINDOW)


@pytest.fixture(scope="module")
def store(toy):
    url = urllib.parse.urlsplit(toy.broker)
    number = int(urllib.parse.parse_qs(url.query)["virtual_host"][0])
    client = redis.Redis(unix_socket_path=url.path, db=number)
    yield client
    client.close()


def test_work_is_done_and_its_value_comes_back(toy):
    assert toy.send(name="first").get(timeout=10)["name"] == "first"


def test_failed_work_raises_its_one_sentence(toy):
    result = toy.send("fail")
    with pytest.raises(errors.WorkFailed, match="the toy is broken"):
        result.get(timeout=10)


def test_stale_work_is_consumed(toy):
    assert toy.send("stale").get(timeout=10) == {"stale": "someone else had it"}


def test_a_plain_task_runs_in_the_child_by_celerys_own_tracer(toy):
    result = toy.plain(41, link=celery.Signature("toy.plain", args=(), app=toy.client))
    assert result.get(timeout=10) == 42
    toy.wait("plain", value=42)  # its link was called with the result
    pid = toy.wait("plain", value=41)["pid"]
    assert pid in toy.stats()["processes"]


def test_a_chord_of_work_has_its_body_called_once(toy):
    header = {"job": 1, "bucket": "toy", "rank": 0, "class": 1, "cap": 3, "do": []}
    members = [
        celery.Signature("toy.work", args=(n,), app=toy.client).set(headers={"work": header})
        for n in range(3)
    ]
    body = celery.Signature("toy.count", args=(), app=toy.client)
    result = celery.chord(members, app=toy.client)(body)
    assert result.get(timeout=10) == 3


def test_the_window_is_unacked_and_what_runs_is_acked(toy, store):
    busy = toy.send("progress:1.5")
    toy.running(busy)
    toy.until(lambda: store.hlen("unacked") == 0, what="the early ack")
    rest = [toy.send() for _ in range(WINDOW + 2)]
    toy.until(lambda: store.hlen("unacked") == WINDOW, what="a full window")
    pool = toy.until(lambda: len((s := toy.stats())["window"]) == WINDOW and s)
    assert pool["room"] == 0
    assert pool["capacity"] == WINDOW
    assert [one["do"] for one in pool["running"]] == [["progress:1.5"]]
    assert not busy.ready()
    for result in rest:
        result.get(timeout=10)
    toy.until(lambda: store.hlen("unacked") == 0, what="an empty window")


def test_inspect_stats_tells_the_truth(toy):
    toy.send("model:toy-weights", model="toy-weights").get(timeout=10)
    pool = toy.until(lambda: (s := toy.stats())["devices"][0]["state"] == "idle" and s)
    (child,) = pool["devices"]
    assert pool["processes"] == [child["pid"]]
    assert toy.alive(child["pid"])
    assert child["residents"] == {"toy-weights": 2**20}
    assert 0 < child["bytes"]["used"] < 2**30
    assert child["bytes"]["reserved"] == 0
    assert child["owner"].startswith("toy@test/0/")
    assert pool["counters"]["Finished"] == len(toy.events("Finished"))
    assert toy.lines("listener")[0]["torch"] is False


def test_a_batch_forms_up_to_its_cap_and_each_member_ends_by_itself(toy):
    busy = toy.send("progress:0.5")
    toy.running(busy)
    short = toy.send(cap=3, bucket="batch", name="short")
    long = [toy.send("sleep:0.1", "sleep:0.1", cap=3, bucket="batch") for _ in range(2)]
    ended = [toy.wait("end", key=one.id)["at"] for one in (short, *long)]
    assert {toy.running(one)["mates"] for one in (short, *long)} == {3}
    assert ended[0] < ended[1]
    for result in (short, *long):
        result.get(timeout=10)
    toy.until(lambda: any(line["members"] == 3 for line in toy.events("Batched")))


def test_others_join_a_running_session_between_its_steps(toy):
    first = toy.send(*["sleep:0.1"] * 12, cap=2, bucket="joined")
    toy.running(first)
    second = toy.send(cap=2, bucket="joined")
    second.get(timeout=10)
    assert not first.ready()
    first.get(timeout=10)
    assert toy.wait("event", event="Batched", bucket="joined")["members"] == 2


def test_solo_work_goes_alone(toy):
    busy = toy.send("progress:0.4")
    toy.running(busy)
    rest = [toy.send(cap=3, bucket="b", solo=n == 1) for n in range(3)]
    for result in rest:
        result.get(timeout=10)
    assert [toy.running(one)["mates"] for one in rest] == [2, 1, 2]


def test_a_plain_task_goes_before_waiting_work(toy):
    busy = toy.send("progress:0.4")
    toy.running(busy)
    waiting = [toy.send("sleep:0.2", **{"class": 0}) for _ in range(2)]
    plain = toy.plain(7)
    toy.until(lambda: len(toy.stats()["window"]) == 2)
    plain.get(timeout=10)
    assert not any(one.ready() for one in waiting)
    for one in waiting:
        one.get(timeout=10)


def test_revoking_a_waiting_request_gives_it_back(toy):
    busy = toy.send("progress:0.8")
    toy.running(busy)
    waiting = toy.send()
    toy.until(lambda: len(toy.stats()["window"]) == 1)
    toy.client.control.revoke(waiting.id)
    with pytest.raises(exceptions.TaskRevokedError):
        waiting.get(timeout=5)
    busy.get(timeout=10)
    assert toy.wait("give_back", key=waiting.id)["why"] == "revoked"
    assert not toy.lines("claim", key=waiting.id)


def test_a_request_that_expires_while_it_waits_is_revoked(toy):
    busy = toy.send("progress:1.0")
    toy.running(busy)
    waiting = toy.send(options={"expires": 0.3})
    with pytest.raises(exceptions.TaskRevokedError):
        waiting.get(timeout=5)
    assert not busy.ready()
    busy.get(timeout=10)


def test_revoke_with_terminate_drops_one_member_and_spares_its_mates(toy):
    busy = toy.send("progress:0.3")
    toy.running(busy)
    members = [toy.send(*["sleep:0.1"] * 8, cap=3, bucket="revoked") for _ in range(3)]
    for member in members:
        toy.running(member)
    toy.client.control.revoke(members[1].id, terminate=True)
    assert toy.wait("drop", key=members[1].id)["why"] == "revoked"
    with pytest.raises(exceptions.TaskRevokedError):
        members[1].get(timeout=5)
    for member in (members[0], members[2]):
        member.get(timeout=10)
    assert not toy.events("ChildLost")


def test_revoke_with_terminate_reaches_into_a_long_step(toy):
    busy = toy.send("progress:20")
    toy.running(busy)
    toy.client.control.revoke(busy.id, terminate=True)
    with pytest.raises(exceptions.TaskRevokedError):
        busy.get(timeout=5)
    assert toy.send().get(timeout=5)


def test_a_listener_stops_work_by_what_it_is(toy):
    result = toy.send("progress:20", name="stop me")
    toy.until(lambda: result.state == states.REVOKED, 10)
    assert toy.wait("drop", key=result.id)["why"] == "abort"


def test_a_second_message_with_the_same_id_waits_for_the_first(toy):
    first = toy.send("progress:0.3", task_id="twice")
    toy.running(first)
    toy.send("stale", task_id="twice")
    toy.until(lambda: len(toy.events("Finished", key="twice")) == 2)
    ends = [line["status"] for line in toy.events("Finished", key="twice")]
    assert ends == ["done", "stale"]


def test_a_header_that_cant_be_read_fails_the_task_and_spares_the_worker(toy):
    result = toy.client.send_task(
        "toy.work", queue="cpu", headers={"work": {"bucket": "x", "class": "high"}}
    )
    with pytest.raises(errors.WorkFailed, match="header `work`"):
        result.get(timeout=10)
    assert "can't be read" in toy.output()


@pytest.mark.parametrize("word", ["exit", "oom", "raise"])
def test_what_a_plain_task_raises_never_reaches_the_workers_main_process(toy, word):
    result = toy.plain(1, 0.0, word)
    with pytest.raises(Exception, match=r"raised|error|too large"):
        result.get(timeout=10)
    assert result.state == states.FAILURE
    assert toy.plain(1).get(timeout=10) == 2
    assert not toy.events("ChildLost")


def test_work_out_of_memory_is_tried_once_more_alone_and_then_ends(toy):
    result = toy.send("oom")
    with pytest.raises(errors.WorkFailed, match="out of memory, alone"):
        result.get(timeout=10)
    drops = [line["why"] for line in toy.lines("drop", key=result.id)]
    assert drops == ["oom", "never_fits"]
    assert len(toy.lines("claim", key=result.id)) == 2  # parked in between, and claimed still


def test_what_ran_out_of_memory_alone_is_given_back_the_next_time(toy):
    probed = toy.send("oom", bucket="huge", peaks=[2**40])
    with pytest.raises(errors.WorkFailed, match="alone"):
        probed.get(timeout=10)
    result = toy.send(bucket="huge", peaks=[2**40])
    toy.until(lambda: result.state == states.REVOKED, 10)
    assert toy.wait("give_back", key=result.id)["why"] == "never_fits"
    assert toy.events("Refused")[-1]["never"] is True


def test_events_come_in_order_and_started_has_its_time(toy):
    seen, ready = {}, threading.Event()

    def listen():
        with toy.client.connection_for_read() as connection:
            receiver = toy.client.events.Receiver(
                connection, handlers={"task-started": note, "task-succeeded": note}
            )

            ready.receiver = receiver
            ready.set()
            receiver.capture(limit=None, timeout=20, wakeup=False)

    def note(event):
        seen.setdefault(event["uuid"], []).append(event["type"])
        ready.receiver.should_stop = event["uuid"] == "last" and event["type"] == "task-succeeded"

    thread = threading.Thread(target=listen)
    thread.start()
    ready.wait(10)
    toy.until(lambda: toy.send().get(timeout=10) and seen, what="the first event")
    results = [toy.send(cap=2) for _ in range(30)]
    for result in results:
        result.get(timeout=10)
    toy.send(task_id="last")
    thread.join(25)
    assert all(seen[one.id] == ["task-started", "task-succeeded"] for one in results)


def test_active_requests_show_their_child_and_start_time(toy):
    before = time.time()
    busy = toy.send("progress:0.8")
    toy.running(busy)

    def active():
        return [one for one in toy.inspect("active") if one["id"] == busy.id]

    (one,) = toy.until(active, 5)
    assert one["worker_pid"] == toy.running(busy)["pid"]
    assert before - 1 < one["time_start"] < time.time() + 1
    assert one["acknowledged"] is True
    busy.get(timeout=10)


def test_nothing_went_wrong_inside_the_pool(toy):
    assert "fault" not in toy.output()
    assert "callback" not in toy.output()
    assert "faults" not in toy.stats()["counters"]
