import psutil
import pytest

from mangen import errors, settings
from mangen.cli import crew, run
from mangen.stack import locks, place

pytestmark = pytest.mark.slow


@pytest.fixture
def sleepers(shell, monkeypatch):
    """Workers that only sleep: what is tested is who brings them, not what they do."""
    monkeypatch.setattr(crew, "worker_command", lambda _chosen, _name: ["/bin/sleep", "600"])
    monkeypatch.setattr(run, "_WARM_S", 1.0)
    return lambda: [
        child for child in psutil.Process().children() if child.name() == "sleep"
    ]  # fmt: skip


def test_demo_brings_its_own_worker_and_takes_it_along(sleepers, until):
    with run._workers(settings.load()) as look:
        look()
        until(sleepers)
    assert not sleepers()


def test_demo_uses_a_living_up_and_stands_in_when_that_ends(sleepers, home, until):
    chosen = settings.load()
    fd = locks.take(run.up_lock(place.Place(chosen.root)))
    assert fd is not None
    with run._workers(chosen) as look:
        look()
        assert not sleepers()
        with open(fd, closefd=True):  # noqa: PTH123 - closing it is the end of that `up`
            pass
        look()
        until(sleepers)


def test_a_worker_that_keeps_dying_is_an_error_with_its_last_words(shell, monkeypatch, until):
    command = ["/bin/sh", "-c", "echo no such model; exit 3"]
    monkeypatch.setattr(crew, "worker_command", lambda _chosen, _name: command)
    monkeypatch.setattr(crew, "BROKEN_AFTER", 2)

    def work():
        with run._workers(settings.load()) as look:
            until(look)  # it answers nothing, and raises

    with pytest.raises(errors.MangenError, match="ended 2 times in a row") as caught:
        work()
    assert "no such model" in str(caught.value)


def test_an_interrupted_demo_does_not_wait_for_a_warm_end(shell, monkeypatch, home, until):
    script = "trap '' TERM; trap 'exit 0' QUIT; echo up > ready; while :; do sleep 0.1; done"
    command = ["/bin/sh", "-c", script]
    monkeypatch.setattr(crew, "worker_command", lambda _chosen, _name: command)

    def interrupted():
        with run._workers(settings.load()):
            until((home / "ready").exists)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_flower_has_a_password_that_stays(home):
    here = place.Place(home / "var")
    assert crew.flower_password(here) == crew.flower_password(here)
    assert crew.password_file(here).stat().st_mode & 0o777 == 0o600
    assert crew.flower_password(here) not in " ".join(crew.flower_command(settings.load({})))
