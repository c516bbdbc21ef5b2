"""wardrobe: what the animatic can draw, on one sheet."""

from __future__ import annotations

import pathlib

import click

from mangen.cli import output


@click.command()
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("wardrobe.png"),
    show_default=True,
    help="The picture to write.",
)
@output.as_json
def wardrobe(*, out: pathlib.Path, json_: bool) -> None:
    """Draw the contact sheet of every garment, face, scene and weather."""
    from PIL import Image  # noqa: PLC0415 - as above

    from mangen.engines.animatic import contact  # noqa: PLC0415 - loads OpenCV and Pillow

    out.parent.mkdir(parents=True, exist_ok=True)
    picture = contact.sheet()
    Image.fromarray(picture).save(out)
    height, width = picture.shape[:2]
    if json_:
        output.emit({"picture": str(out), "width": width, "height": height})
    else:
        click.echo(f"{out}: {width} x {height}")
