"""demo, up, drain: what makes things happen."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click
from rich import console, live

from mangen import errors, settings, stack
from mangen.cli import crew, interrupts, output
from mangen.stack import locks, place

PASSAGE = pathlib.Path(__file__).parents[1] / "data" / "guxiang.txt"
PASSAGE_TITLE = "故乡"
FOLLOWER = 5  #: exit code of a pass that another leader is doing
_LOOK_S = 0.2
_WARM_S = 10.0


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("videos"),
    show_default=True,
    help="Folder for the video.",
)
@click.option(
    "--text", type=click.Path(path_type=pathlib.Path), help="A text of yours; by default 《故乡》."
)
@output.as_json
def demo(*, out: pathlib.Path, text: pathlib.Path | None, json_: bool) -> None:
    """Make a video now: of the bundled passage, or of a text. Always a new project.

    Uses a running `up`, else brings its own worker for the time.
    """
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    texts = api.find_texts([text]) if text else [PASSAGE]
    if len(texts) != 1:
        raise errors.UsageError(f"{text} holds {len(texts)} texts: name one, or use `new`")
    started = time.monotonic()
    chosen = settings.load()
    api.check(chosen)
    with stack.join(chosen), _workers(chosen) as look, _progress(json_=json_) as show:
        number = api.create_project(texts[0], title=None if text else PASSAGE_TITLE)
        api.submit_novel(number)

        def on_change(status: Mapping[str, Any]) -> None:
            look()
            show(status)

        try:
            status = api.wait(number, timeout_s=None, on_change=on_change)
        except KeyboardInterrupt:
            click.echo(
                f"project {number} is kept: `up` goes on with it, `purge {number}` removes it",
                err=True,
            )
            raise
        if status["state"] == "failed":
            raise errors.MangenError(_why(status, chosen))
        episodes = api.export_project(number, out)
    seconds = time.monotonic() - started
    if json_:
        output.emit(
            {"project": number, "state": status["state"], "seconds": round(seconds, 1),
             "episodes": episodes, "replaced": _replaced(status)}
        )  # fmt: skip
        return
    for episode in episodes:
        click.echo(f"{pathlib.Path(episode['video']).absolute()}")
    for what in _replaced(status):
        click.echo(f"replaced: {what}", err=True)
    click.echo(f"project {number}: {status['state']} after {seconds:.0f} s", err=True)


@click.command()
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Worker processes; each serves all devices of MANGEN_DEVICES.",
)
@output.as_json
def up(*, workers: int, json_: bool) -> None:
    """Run everything here: Postgres, broker, workers, Flower. Restarts what dies.

    Ctrl-C lets running jobs end; once more hands them back; a third time kills.
    """
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    chosen = settings.load()
    api.check(chosen)
    home = place.Place(chosen.root)
    home.make()
    lock = locks.take(up_lock(home))
    if lock is None:
        raise crew.already(up_lock(home))
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    say = _teller(json_=json_)
    with interrupts.counted() as asked, stack.join(chosen) as found:
        say("services", broker=found.broker_url.split("@")[-1], home=str(chosen.root))
        members = crew.Crew(chosen, say)
        for number in range(1, workers + 1):
            members.add_worker(f"w{number}")
        _add_flower(members, chosen, say)
        while not asked():
            members.tick()
            time.sleep(_LOOK_S)
        say("ending", hint="running jobs are finished first; Ctrl-C again hands them back")
        members.end(hurry=lambda: asked() - 1)
        say("ended")
    os.close(lock)


@click.command()
@click.option("--once", is_flag=True, help="One pass, then exit: for cron.")
@output.as_json
@click.pass_context
def drain(ctx: click.Context, *, once: bool, json_: bool) -> None:
    """Do one pass: release what dead workers held, ready and publish what is next.

    Safe anywhere, any number of times. Exit codes with --once: 0 the pass is done; 5 another
    leader is doing it; 3 Postgres or the broker can't be reached. Without --once it repeats until
    interrupted.
    """
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    chosen = settings.load()
    with stack.join(chosen):
        while True:
            done = api.drain_once()
            if json_:
                output.emit(done)
            elif done["leader"]:
                click.echo("  ".join(f"{k} {v}" for k, v in done.items() if k != "leader"))
            else:
                click.echo("another leader is doing the pass")
            if once:
                break
            time.sleep(chosen.pass_s)
    if not done["leader"]:
        ctx.exit(FOLLOWER)


def up_lock(home: place.Place) -> pathlib.Path:
    """Held by a living `up`; names its process."""
    return home.root / "up.lock"


def _add_flower(members: crew.Crew, chosen: settings.Settings, say: Callable[..., None]) -> None:
    port = chosen.flower_port
    if not port:
        return
    if crew.port_taken(port):
        say("no flower", why=f"port {port} is taken; set MANGEN_FLOWER_PORT")
        return
    members.add_flower()
    home = place.Place(chosen.root)
    secret = {"password_file": str(crew.password_file(home))}
    if sys.stdout.isatty():  # a person reads it; a journal would keep it
        secret = {"password": crew.flower_password(home)}
    say("flower", url=f"http://127.0.0.1:{port}", user=crew.FLOWER_USER, **secret)


@contextlib.contextmanager
def _workers(chosen: settings.Settings) -> Iterator[Callable[[], None]]:
    """Yield a look-after function: it brings a worker as soon as no `up` serves this home."""
    home = place.Place(chosen.root)
    own: list[crew.Crew] = []

    def look() -> None:
        if not own and not locks.held(up_lock(home)):
            own.append(crew.Crew(chosen, lambda *_args, **_more: None))
            own[0].add_worker(f"demo-{os.getpid()}")
        for members in own:
            members.tick()
            reason = members.broken()
            if reason:
                raise errors.MangenError(reason)

    look()
    hurried = True
    try:
        yield look
        hurried = False
    finally:
        asked = time.monotonic()
        for members in own:
            members.end(
                hurry=lambda: int(hurried) + int((time.monotonic() - asked) // _WARM_S)
            )  # fmt: skip


@contextlib.contextmanager
def _progress(*, json_: bool) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield what shows a status: a live table on a terminal, else a line a change, on stderr."""
    screen = console.Console(stderr=True, highlight=False)
    if screen.is_terminal and not json_:
        with live.Live(console=screen, refresh_per_second=4, transient=True) as picture:
            yield lambda status: picture.update(output.screen([status], screen.width))
        return
    last = ""

    def tell(status: Mapping[str, Any]) -> None:
        nonlocal last
        line = output.line(status)
        if line != last:
            click.echo(line, err=True)
        last = line

    yield tell


def _teller(*, json_: bool) -> Callable[..., None]:
    """What `up` says: one line an event."""

    def say(event: str, **more: Any) -> None:
        now = dt.datetime.now().astimezone().strftime("%H:%M:%S")
        text = f"{now} {event}" + "".join(f"  {k}: {v}" for k, v in more.items())
        if json_:
            text = json.dumps({"event": event, **more}, ensure_ascii=False)
        with contextlib.suppress(BrokenPipeError):  # who read it is gone, the work is not
            click.echo(text)

    return say


def _why(status: Mapping[str, Any], chosen: settings.Settings) -> str:
    reasons = [
        f"{failure['stage']} {failure['subject']}: {failure['error']}"
        for failure in status["failures"][:3]
    ]
    told = "; ".join(reasons) or "no reason was recorded"
    return f"the video of project {status['id']} failed: {told} (logs: {chosen.root / 'logs'})"


def _replaced(status: Mapping[str, Any]) -> list[str]:
    return [
        output.replaced(piece)
        for episode in status["episodes"]
        for piece in episode.get("replaced") or ()
    ]
