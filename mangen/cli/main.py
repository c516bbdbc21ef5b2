"""The root command, and how every error ends: one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

import mangen
from mangen import errors
from mangen.cli import (
    clip,
    dev,
    door,
    foretold,
    histories,
    interrupts,
    looks,
    models,
    project,
    run,
    show,
    steer,
    storyboard,
    traced,
    troubles,
)

PROGRAM = "manage.py"
_ENDED = """
Exit codes: 0 done; 1 failed; 2 wrong command, text or setting; 3 a service
can't be reached or the set-up failed; 4 already running here; 5 another leader
does the pass; 130 interrupted.
"""


@click.group(
    cls=door.Door,
    epilog=_ENDED,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(mangen.__version__, prog_name="mangen")
@click.option(
    "--debug", is_flag=True, envvar="MANGEN_DEBUG", help="Show the traceback of an error."
)
@click.pass_context
def root(ctx: click.Context, *, debug: bool) -> None:
    """Turn novels and promo texts into finished comic videos.

    Start with `manage.py demo`. Data lie under `var/` in the working folder, or where MANGEN_HOME
    says; settings are MANGEN_* variables or lines of mangen.toml. `manage.py --gpu COMMAND` also
    installs what drawing with models needs.
    """
    ctx.obj["debug"] = debug


for _command in (
    run.demo, run.up, project.new, project.submit, show.status, project.export, clip.clip,
    show.doctor, foretold.backlog, traced.trace, histories.history, troubles.dead, troubles.rescue,
    run.drain,
    steer.pause, steer.resume, steer.cancel, steer.retry, steer.priority, storyboard.retake,
    storyboard.upgrade, storyboard.storyboard, steer.purge, steer.acts,
    models.models, looks.wardrobe, dev.test, dev.bench, dev.chaos,
):  # fmt: skip
    root.add_command(_command)


def main(argv: Sequence[str]) -> int:
    """Run one command line; answers the exit code, and never raises."""
    asked = {"debug": False}
    try:
        with interrupts.raised():
            code = root.main(args=list(argv), prog_name=PROGRAM, standalone_mode=False, obj=asked)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        # the reader has gone (`| head`): what is still buffered has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except errors.MangenError as error:
        _tell(f"error: {error}", **asked)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort: a bug, told as one
        _tell(f"error: this is a fault of mangen's: {type(error).__name__}: {error}", **asked)
        click.echo("MANGEN_DEBUG=1 shows where; please report it", err=True)
        return 1
    return code if isinstance(code, int) else 0


def _tell(line: str, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    click.echo(line, err=True)
