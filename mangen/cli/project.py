"""new, submit, export: texts in, videos out."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from mangen import errors
from mangen.cli import numbers, output

_T = TypeVar("_T")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=pathlib.Path))
@click.option("--title", help="Title of the videos; by default the file's name.")
@click.option("--width", type=int, help="Width in pixels, even; by default MANGEN_WIDTH.")
@click.option("--height", type=int, help="Height in pixels, even; by default MANGEN_HEIGHT.")
@click.option(
    "--engine", help="Who draws: animatic, or diffusion (models that `models add` registered)."
)
@click.option(
    "--quality",
    type=click.Choice(["animatic", "preview", "final"]),
    help="animatic: by rule; preview: by models in few steps; final: in all. By default the best "
    "that the engine makes.",
)
@click.option("--upscale", is_flag=True, help="Let a model refine each panel.")
@click.option("--outpaint", is_flag=True, help="Let a model add surroundings to each panel.")
@output.as_json
def new(
    *,
    paths: Sequence[pathlib.Path],
    title: str | None,
    json_: bool,
    **drawn: Any,
) -> None:
    """Make a project of each text: files, or folders of .txt and .md files. Prints the ids.

    `upgrade` draws shots of it in another quality later.
    """
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    texts = api.find_texts(paths)
    if title and len(texts) > 1:
        raise errors.UsageError(
            f"--title names one project, but these are {len(texts)} texts: leave it out"
        )
    made: list[dict[str, Any]] = []

    def create(path: pathlib.Path) -> None:
        number = api.create_project(path, title=title, **drawn)
        made.append({"project": number, "title": title or path.stem, "source": str(path)})
        if not json_:
            click.echo(f"{number}\t{title or path.stem}")

    try:
        _each(texts, create)
    finally:
        if json_:
            output.emit(made)


@click.command()
@click.argument("projects", nargs=-1, required=True, type=numbers.PROJECT)
@click.option("--episodes", help="Only some, as 1-3,7; by default all.")
@click.option("--plan-only", is_flag=True, help="Only the storyboard, to be edited first.")
@output.as_json
def submit(*, projects: Sequence[int], episodes: str | None, plan_only: bool, json_: bool) -> None:
    """Ask for the videos of projects; returns at once. Again: adds only what is missing."""
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    done: list[dict[str, Any]] = []

    def ask(number: int) -> None:
        answer = api.submit_novel(number, episodes=episodes, plan_only=plan_only)
        done.append(answer)
        if not json_:
            click.echo(f"project {number}: {_asked(answer)}")

    try:
        _each(projects, ask)
    finally:
        if json_:
            output.emit(done)


@click.command()
@click.argument("projects", nargs=-1, required=True, type=numbers.PROJECT)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    default=pathlib.Path("videos"),
    show_default=True,
    help="Folder for the files, made where needed.",
)
@output.as_json
def export(*, projects: Sequence[int], out: pathlib.Path, json_: bool) -> None:
    """Copy finished videos, subtitles and covers, named by their titles, into a folder."""
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    done: list[dict[str, Any]] = []

    def copy(number: int) -> None:
        episodes = api.export_project(number, out)
        done.extend({"project": number, **episode} for episode in episodes)
        if json_:
            return
        for episode in episodes:
            click.echo(episode["video"])

    try:
        _each(projects, copy)
    finally:
        if json_:
            output.emit(done)


def _each(things: Sequence[_T], act: Callable[[_T], None]) -> None:
    """Do it for each, and go on after a bad one; the last error is raised, the others told."""
    from mangen import api  # noqa: PLC0415 - lazy: --help must not load the ledger

    held: errors.MangenError | None = None
    with api.open_ledger() if len(things) > 1 else contextlib.nullcontext():
        for thing in things:
            try:
                act(thing)
            except errors.ServiceError:
                raise
            except errors.MangenError as error:
                if held is not None:
                    click.echo(f"error: {held}", err=True)
                held = error
    if held is not None:
        raise held


def _asked(answer: Mapping[str, Any]) -> str:
    """What a submit did, in words."""
    if answer["already"]:
        return "it was asked for before, nothing new"
    if answer["retried"]:
        return f"{answer['retried']} failed jobs get another chance; `up` does the work"
    return "asked for; `up` does the work"
