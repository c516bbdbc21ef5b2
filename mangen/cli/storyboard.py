"""retake, upgrade, storyboard: what people change of the picture."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich import markup, table

from mangen import errors
from mangen.cli import door, numbers, output, steer


@click.command()
@steer.scoped
@click.option("--seed", type=int, help="The seed to draw with.")
@click.option("--new-seed", is_flag=True, help="Another seed, beside another prompt or emotion.")
@click.option(
    "--prompt",
    help="What the shot shows, in words; place, hour, weather and things are read from them.",
)
@click.option(
    "--emotion", "emotions", multiple=True, metavar="[NAME=]EMOTION",
    help="How people in the shot feel; without a name all of them.",
)  # fmt: skip
@click.option(
    "--repaint", type=click.Path(dir_okay=False, path_type=pathlib.Path), metavar="MASK",
    help="Paint only a part anew, by --prompt: a PNG, white (or opaque) where to paint.",
)  # fmt: skip
def retake(
    *,
    scopes: Sequence[str],
    seed: int | None,
    new_seed: bool,
    prompt: str | None,
    emotions: Sequence[str],
    repaint: pathlib.Path | None,
    by: str | None,
    json_: bool,
) -> None:
    """Make shots (12/e3/s7), or all shots of episodes, anew; by default with another seed.

    Only what depends on them is made again, and the old video stays until the new one is done.
    """
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    felt = {}
    for word in emotions:
        name, _, emotion = word.rpartition("=")
        felt[name] = emotion
    done = control.retake(
        *scopes, seed=seed, new_seed=new_seed, prompt=prompt, emotions=felt, repaint=repaint, by=by
    )
    if json_:
        output.emit(done)
        return
    for one in done:
        click.echo(f"{one['project']}: {_made_anew(one)}")


@click.command()
@steer.scoped
@click.option(
    "--quality",
    type=click.Choice(["animatic", "preview", "final"]),
    default="final",
    show_default=True,
    help="preview: by models in few steps; final: in all; animatic takes it back.",
)
def upgrade(*, scopes: Sequence[str], quality: str, by: str | None, json_: bool) -> None:
    """Draw shots (12/e3/s7), or all shots of episodes and projects, in another quality.

    They keep their seeds. Only these shots are made again, and the old video stays until the new
    one is done.
    """
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    done = control.upgrade(*scopes, quality=quality, by=by)
    if json_:
        output.emit(done)
        return
    for one in done:
        shots = len(one["detail"].get("shots", ()))
        said = f"{shots} shot{'s' * (shots != 1)} to {quality}, {steer.jobs(one['new_jobs'])}"
        click.echo(f"{one['project']}: {said if one['changed'] else 'it was so before'}")


def _made_anew(one: Mapping[str, Any]) -> str:
    if not one["changed"]:
        return "it was so before"
    takes = [f"{shot['shot']} take {shot['take']}" for shot in one["detail"].get("shots", ())]
    return ", ".join([*takes, steer.jobs(one["new_jobs"])])


@click.group(cls=door.Door)
def storyboard() -> None:
    """Show, export and import the plan of a project, before or after it is drawn.

    `submit ID --plan-only` plans without drawing. An edited storyboard counts from then on.
    """


@storyboard.command()
@click.argument("project", type=numbers.PROJECT)
@click.option("--episode", type=int, help="Only this one.")
@output.as_json
def show(*, project: int, episode: int | None, json_: bool) -> None:
    """Show the shots of a project: where, who, and what is said."""
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    found = control.export_storyboard(project)
    chosen = [one for one in found["episodes"] if episode in (None, one["no"])]
    if not chosen:
        raise errors.UsageError(
            f"project {project} has no episode {episode}: it has {len(found['episodes'])}"
        )
    if json_:
        output.emit({**found, "episodes": chosen})
        return
    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in ("shot", "take", "where", "who", "words"):
        rows.add_column(name, no_wrap=name in {"shot", "take"})
    for one in chosen:
        for shot in one["shots"]:
            rows.add_row(*map(markup.escape, _row(one["no"], shot)))
    output.people().print(rows)
    click.echo(f"revision {found['revision']}")


def _row(episode: int, shot: Mapping[str, Any]) -> list[str]:
    scene = shot["scene"]
    who = [
        f"{name} ({emotion})" if emotion not in {"", "calm"} else name
        for name, emotion in zip(
            shot["characters"], [*shot["emotions"], *[""] * len(shot["characters"])], strict=False
        )
    ]
    said = [f"{line['speaker'] or ''}: {line['text']}".lstrip(": ") for line in shot["lines"]]
    return [
        f"e{episode}/s{shot['no']}",
        str(shot["take"]),
        f"{scene['place']}, {scene['time']}, {scene['framing']}",
        ", ".join(who),
        " ".join(said) or shot["prompt"].replace("\n", " "),
    ]


@storyboard.command("export")
@click.argument("project", type=numbers.PROJECT)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="The file; by default standard output.",
)
def export_(*, project: int, out: pathlib.Path | None) -> None:
    """Write the storyboard as JSON, to be edited: `storyboard export 12 > board.json`."""
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    text = json.dumps(control.export_storyboard(project), ensure_ascii=False, indent=1)
    if out is None:
        click.echo(text)
        return
    try:
        out.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise errors.UsageError(f"can't write {out}: {error.strerror}") from error


@storyboard.command("import")
@click.argument("project", type=numbers.PROJECT)
@click.argument("file", type=click.Path(path_type=pathlib.Path))
@click.option("--by", help="Who asks, for the record; by default the user's name.")
@output.as_json
def import_(*, project: int, file: pathlib.Path, by: str | None, json_: bool) -> None:
    """Let an edited storyboard count; only the shots that it changes are made anew."""
    from mangen import control  # noqa: PLC0415 - lazy: --help must not load the ledger

    done = control.import_storyboard(project, file, by=by)
    if json_:
        output.emit(done)
    elif not done["changed"]:
        click.echo(f"{project}: nothing differs")
    else:
        changed = ", ".join(f"e{no}" for no in done["episodes"]) or "only words beside it"
        click.echo(
            f"{project}: {changed} changed, {steer.jobs(done['new_jobs'])}; now {done['revision']}"
        )
