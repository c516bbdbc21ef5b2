"""When it will be ready: arithmetic, and a simulated backlog that is worked off to its end."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest

from mangen.dispatch import forecast, pace
from mangen.ledger import durations, foreseeing, hours, jobs
from tests.dispatch import backlog_simulation

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
CPU = pace.Device(queues=frozenset({"cpu"}))


def work(project, seconds, **more):
    one = foreseeing.Work(
        project=project, klass=1, weight=1.0, queue="cpu", lane=1, state="ready", stage="s",
        bucket="b", model="m", held=False, jobs=10, seconds=seconds, squares=0.0, longest=0.0,
    )  # fmt: skip
    return dataclasses.replace(one, **more)


@pytest.fixture
def learned():
    """What takes exactly as long as it was planned."""
    return durations.Learned(
        [
            durations.Duration(
                stage=stage, bucket="b", model="m", device="cpu", samples=64, low=1, typical=1,
                high=1, mean=1, factor_low=1, factor=1, factor_high=1, fresh=64,
            )
            for stage in ("s", "plan")
        ]
    )  # fmt: skip


def foretell(rows, learned, crew=(CPU,), **more):
    told = forecast.foresee(rows, learned, crew, now=NOW, quantum=1e-9, **more)
    return {one.project: one for one in told}


def middle(rows, learned, crew=(CPU,), **more):
    """Project -> seconds until it will be ready, in the middle."""
    told = foretell(rows, learned, crew, **more)
    return {p: round((one.eta - NOW).total_seconds()) for p, one in told.items() if one.eta}


def test_one_project_has_all_devices(learned):
    assert middle([work(1, 600)], learned, [CPU]) == {1: 600}
    assert middle([work(1, 600)], learned, [CPU] * 4) == {1: 150}
    half = dataclasses.replace(CPU, share=0.5)
    assert middle([work(1, 600)], learned, [half]) == {1: 1200}


def test_projects_share_devices_by_weight(learned):
    giant, promo = work(1, 6000), work(2, 60)
    assert middle([giant, promo], learned) == {1: 6060, 2: 120}
    heavy = dataclasses.replace(giant, weight=3.0)
    assert middle([heavy, promo], learned) == {1: 6060, 2: 240}


def test_an_urgent_project_goes_before_the_others(learned):
    urgent = work(2, 600, klass=0, lane=0)
    assert middle([work(1, 600), urgent, work(3, 60)], learned) == {1: 1260, 2: 600, 3: 720}


def test_the_end_of_an_episode_waits_for_no_turn(learned):
    rows = [work(1, 60), work(1, 30, lane=0, state="blocked"), work(2, 600)]
    assert middle(rows, learned) == {1: 150, 2: 690}


def test_few_long_jobs_can_not_run_beside_each_other(learned):
    rows = [work(1, 80, longest=40.0), work(1, 40, stage="plan", longest=40.0)]
    (told,) = foretell(rows, learned, [CPU] * 8).values()
    assert (told.eta - NOW).total_seconds() >= 80
    assert told.low < told.eta < told.high


def test_what_is_paused_takes_nobody_s_time_and_has_no_end(learned):
    told = foretell([work(1, 600, held=True), work(2, 60)], learned)
    assert told[1].why == "paused"
    assert told[2].eta - NOW == dt.timedelta(seconds=60)


@pytest.mark.parametrize(
    ("row", "crew", "why"),
    [
        (work(1, 60), [], "no worker runs"),
        (work(1, 60, queue="gpu.mid"), [CPU], "no worker serves gpu.mid"),
        (work(1, 60, stage="plan"), [CPU], "being planned"),
        (work(1, 60, model="new"), [CPU], "nothing like it was made yet"),
    ],
)
def test_where_nobody_can_tell_it_says_why(learned, row, crew, why):
    (told,) = foretell([row], learned, crew, planning="plan").values()
    assert (told.eta, told.why) == (None, why)
    assert told.jobs == 10


def test_queues_of_other_devices_do_not_share_theirs(learned):
    card = pace.Device(queues=frozenset({"gpu.mid"}))
    rows = [work(1, 600), work(1, 60, queue="gpu.mid"), work(2, 60, queue="gpu.mid")]
    assert middle(rows, learned, [CPU, card]) == {1: 600, 2: 120}
    both = pace.Device(queues=frozenset({"gpu.mid", "cpu"}))
    assert middle([rows[0]], learned, [CPU, card, both]) == {1: 200}


def test_quiet_hours_are_waited_for_but_not_by_the_urgent(learned):
    quiet = hours.Hours.parse("12:30-18:00", "UTC")
    rows = [work(1, 3600), work(2, 600, klass=0, lane=0)]
    assert middle(rows, learned, quiet=quiet) == {1: 4200 + 5.5 * 3600, 2: 600}
    always = hours.Hours.parse("00:00-24:00", "UTC")
    assert foretell([rows[0]], learned, quiet=always)[1].why == "quiet hours leave no time for it"
    at = dt.datetime(2026, 3, 1, 23, 30, tzinfo=dt.UTC)
    night = hours.Hours.parse("22:00-06:00,06:10-06:20", "Asia/Shanghai")  # 14:00-22:00 UTC
    assert night.after(at, 86_400) == at + dt.timedelta(days=1, hours=8, minutes=10)


def test_devices_are_owners_that_beat_and_count_as_busy_as_they_were():
    child = {"owner": "w/0/1", "tasks": 50, "busy": 0.8}
    owner = jobs.Owner(worker="w", slot=0, generation=1, queues=("cpu",))
    one = jobs.Living(owner=owner, beat=1, report={"children": [child]}, silent_s=1.0)
    assert pace.devices([one], lease_s=30) == [dataclasses.replace(CPU, share=0.8)]
    new = dataclasses.replace(one, report={"children": [{**child, "tasks": 1}]})
    assert pace.devices([new], lease_s=30) == [CPU]
    assert pace.devices([dataclasses.replace(one, silent_s=99.0)], lease_s=30) == []


def test_backlogs_count_what_can_be_done(learned):
    rows = [work(1, 60), work(2, 30), work(2, 5, held=True), work(2, 7, state="blocked")]
    found = [(one.state, one.jobs, one.seconds) for one in forecast.backlogs(rows, learned)]
    assert found == [("blocked", 10, 7.0), ("ready", 20, 90.0)]


@pytest.mark.parametrize(
    ("shape", "least", "most"),
    [
        ({"projects": 16, "shots": (3, 24), "devices": 2, "before": 30}, 0.95, 0.2),
        (
            {"projects": 12, "shots": (3, 24), "devices": 6, "weights": (1, 2), "before": 30},
            0.95,
            0.2,
        ),
        ({"projects": 1, "shots": (60, 60), "devices": 4, "before": 30}, 0.95, 0.2),
        ({"projects": 16, "shots": (3, 24), "devices": 4}, 0.75, 0.4),
    ],
    ids=["two devices", "six, by weight", "one project", "nothing known at first"],
)
def test_the_range_holds_the_true_end_of_a_simulated_backlog(shape, least, most):
    backlog = backlog_simulation.Backlog(7, **shape)
    held, error, width = backlog_simulation.score(backlog, backlog.run())
    assert held >= least
    assert error < most
    assert width < 1.6
