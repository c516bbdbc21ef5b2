"""clip: a picture in, a short video out."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping
from typing import Any

import click

from mangen.cli import output

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Duration(click.ParamType[float]):
    """Seconds, written as 90, 90s, 5m, 1h or 2d."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", str(value))
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is no duration: write 90s, 5m, 1h or 2d", param, ctx)
        return float(found[1]) * _UNITS[found[2] or "s"]


@click.command()
@click.argument("picture", type=click.Path(dir_okay=False, path_type=pathlib.Path))
@click.option(
    "--motion",
    default="push",
    show_default=True,
    help="push, pull, pan_left, pan_right, pan_up, pan_down, hold or shake.",
)
@click.option("--seconds", type=float, default=3.0, show_default=True, help="How long it is.")
@click.option("--width", type=int, help="Width in pixels, even; by default the picture's shape.")
@click.option("--height", type=int, help="Height in pixels, even; given with the width.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="Wait, and write the video here; without it the request is made and its job printed.",
)
@click.option("--engine", help="diffusion: a video model makes it; by default a camera moves.")
@click.option("--prompt", default="", help="What a video model is told.")
@click.option(
    "--expires", type=Duration(), help="Give up when nobody began it by then, as 30m or 1h."
)
@output.as_json
def clip(
    *,
    picture: pathlib.Path,
    motion: str,
    seconds: float,
    width: int | None,
    height: int | None,
    engine: str | None,
    prompt: str,
    out: pathlib.Path | None,
    expires: float | None,
    json_: bool,
) -> None:
    """Move the camera over a picture (PNG, JPEG, WebP): one short video, no project needed.

    With --engine diffusion the registered video model makes it move.

    Workers make it (`up`). The same request again is the same job; what nobody begins in time
    expires, after MANGEN_CLIP_EXPIRY_S unless --expires says otherwise.
    """
    from mangen import api, clips, settings, stack  # noqa: PLC0415 - lazy: --help stays light

    with stack.join(settings.load()):
        job = clips.request_clip(
            picture,
            motion=motion,
            seconds=seconds,
            width=width,
            height=height,
            engine=engine,
            prompt=prompt,
            expires_s=expires,
        )
        if out is None:
            found = clips.clip_status(job)
            if json_:
                output.emit(found)
            else:
                click.echo(f"job/{job}\t{found['file'] or found['state']}")
            return
        if not api.workers():
            click.echo("no worker runs: `python3 manage.py up` does the work", err=True)
        clips.wait_clip(job, out, on_change=None if json_ else _tell)
        found = clips.clip_status(job)
    if json_:
        output.emit({**found, "out": str(out)})
    else:
        click.echo(str(out))


def _tell(now: Mapping[str, Any]) -> None:
    click.echo(f"job/{now['job']}: {now['state']}", err=True)
