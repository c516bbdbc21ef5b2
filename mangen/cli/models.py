"""models: which model folders are known, what they take, and whether they run."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from rich import markup, table

from mangen import errors, settings
from mangen.cli import output

if TYPE_CHECKING:
    from mangen.engines.diffusion import estimate as estimates
    from mangen.engines.diffusion import registry

_GIB = 1 << 30
_ROLES = ("image", "anchor", "inpaint", "upscale", "video")
_PARTS = (*_ROLES, *(f"{role}:preview" for role in _ROLES))


class Size(click.ParamType[tuple[int, int]]):
    """Pixels, written as 768x1344."""

    name = "WxH"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"\s*(\d{1,5})\s*[x×*]\s*(\d{1,5})\s*", str(value))
        if found is None or not int(found[1]) or not int(found[2]):
            self.fail(f"{value!r} is no size: write width and height, as 768x1344", param, ctx)
        return int(found[1]), int(found[2])


@click.group()
def models() -> None:
    """Register model folders, and see what they take."""


@models.command()
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=pathlib.Path))
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(_PARTS),
    metavar="ROLE[:preview]",
    help="A role it takes over (image, anchor, inpaint, upscale, video), or that role's previews "
    "(image:preview); may be repeated. By default those of its own that nobody plays.",
)
@click.option(
    "--dtype", default="", help="float16, bfloat16 or float32; by default as it is stored."
)
@click.option(
    "--quantise",
    type=click.Choice(["float8"]),
    help="Keep what runs at every step in 8-bit floats: half the bytes, for previews.",
)
@click.option("--variant", help="Of the files, as fp16; by default what is whole and fits --dtype.")
@click.option(
    "--ip-adapter",
    type=click.Path(dir_okay=False, path_type=pathlib.Path),
    help="Safetensors file of an IP-Adapter; by default the one in the folder's ip_adapter/.",
)
@click.option("--scheduler", default="", help="Other than the folder's own, as lcm or lightning.")
@click.option("--steps", type=click.IntRange(min=1), help="Denoising steps of a picture.")
@click.option("--guidance", type=click.FloatRange(min=0), help="How much words count; 0: as is.")
@click.option("--max-pixels", type=click.IntRange(min=0), default=0, help="Of a picture.")
@click.option("--max-frames", type=click.IntRange(min=0), default=0, help="Of a clip.")
@click.option("--max-batch", type=click.IntRange(min=0), default=0, help="Members of a batch.")
@click.option(
    "--vram",
    type=click.FloatRange(min=0),
    default=0.0,
    help="GiB of the smallest card that runs it, 22 where it isn't told: what has no room there is "
    "decoded in tiles.",
)
@click.option(
    "--reproducible",
    is_flag=True,
    help="The same seed gives the same bits, whoever is drawn beside it: passes have always "
    "--max-batch members, one where that isn't given.",
)
@click.option(
    "--scene-base",
    "scene",
    type=click.FloatRange(min=0, max=1),
    default=0.0,
    help="Begin the panels of a scene with one picture of it, and leave it so far (0.8, say).",
)
@output.as_json
def add(
    *,
    name: str,
    folder: pathlib.Path,
    roles: Sequence[str],
    max_pixels: int,
    max_frames: int,
    max_batch: int,
    vram: float,
    quantise: str | None,
    json_: bool,
    **choices: Any,
) -> None:
    """Check a diffusers folder and register it; nothing is copied, and no network is used.

    Reads every byte once, for the digest that marks what the model made.
    """
    from mangen.engines.diffusion import enrolment, licence, registry  # noqa: PLC0415 - lazy, as all here

    limits = registry.Limits(
        pixels=max_pixels, frames=max_frames, batch=max_batch, card=int(vram * _GIB)
    )
    model = enrolment.enrol(
        name, folder, limits=limits, roles=roles, quantise=quantise or "",
        before_reading=_tell_reading, **choices,
    )  # fmt: skip
    book = _registry()
    before = book.read().models.get(name)
    lost = book.add(model, tuple(roles) or None)
    now = book.read()
    played = now.plays(name)
    notes = [f"{role} was played by {other}" for role, other in lost.items()]
    if before is not None and before.folder != model.folder:
        notes.append(f"{name} was {before.folder} before")
    if model.roles and not played:
        held = [role for role in model.roles if role in now.roles]
        holders = ", ".join(f"{now.roles[role]} plays {role}" for role in held)
        notes.append(f"{holders}: `--role {model.roles[0]}` takes it over")
    if not model.roles:
        notes.append(f"{model.pipeline} draws nothing that a stage wants: it can play no role")
    if not model.licence:
        notes.append("the folder names no licence: know yours before you use its pictures")
    elif licence.limits_use(model.licence):
        notes.append(f"its licence ({model.licence}) may not allow every use")
    if json_:
        output.emit({**_told(model), "plays": played, "notes": notes})
        return
    click.echo(
        f"{name}: {model.pipeline}, {model.precision}, plays {', '.join(played) or 'no role'}"
    )
    for note in notes:
        click.echo(note, err=True)


@models.command(name="list")
@output.as_json
@click.pass_context
def list_(ctx: click.Context, *, json_: bool) -> None:
    """Show the models, their roles, and whether their folders are whole; exit code 1 if not."""
    book = _registry().read()
    found = []
    for name, model in sorted(book.models.items()):
        found.append({**_told(model), "plays": book.plays(name), **_state(model)})
    if json_:
        output.emit(found)
    elif found:
        output.people().print(_table(found))
    else:
        click.echo("no model yet: `manage.py models add NAME FOLDER` adds one")
    if any(one["fault"] for one in found):
        ctx.exit(1)


@models.command()
@click.argument("name")
@output.as_json
def remove(*, name: str, json_: bool) -> None:
    """Forget a model; its folder stays."""
    freed = _registry().remove(name)
    if json_:
        output.emit({"removed": name, "freed": freed})
    else:
        click.echo(f"{name} is forgotten" + (f"; nobody plays {', '.join(freed)}" if freed else ""))


@models.command()
@click.argument("name")
@click.option(
    "--size", type=Size(), help="Of a picture; by default what it is asked for in new projects."
)
@click.option("--frames", type=click.IntRange(min=1), help="Of a clip; by default about 16.")
@click.option("--batch", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--references",
    type=click.IntRange(min=0, max=16),
    default=0,
    help="Pictures of people that a panel is drawn from, where the model looks at them.",
)
@click.option(
    "--vram",
    type=click.FloatRange(min=0, min_open=True),
    help="GiB of the card, by default what it was added for, or 22; one sold with 24 GB has 22 to "
    "23.6.",
)
@output.as_json
@click.pass_context
def estimate(
    ctx: click.Context,
    *,
    name: str,
    size: tuple[int, int] | None,
    frames: int | None,
    batch: int,
    references: int,
    vram: float | None,
    json_: bool,
) -> None:
    """Tell the bytes of a model's work, part by part, and the largest batch a card holds.

    Theory: a worker measures, and comes to its own. Exit code 1 where the batch does not fit.
    """
    from mangen.engines.diffusion import estimate as estimates  # noqa: PLC0415 - lazy, as all here
    from mangen.engines.diffusion import shapes  # noqa: PLC0415 - as well

    chosen = settings.load()
    model = _registry(chosen).get(name)
    roles = estimates.roles(model)
    sizes = [size or shapes.usual(model, role, chosen.width, chosen.height) for role in roles]
    card = int(vram * _GIB) if vram else model.limits.card or estimates.CARD
    found = [
        estimates.of(
            model, role, width=width, height=height, frames=frames, batch=batch,
            references=references, card=card,
        )
        for role, (width, height) in zip(roles, sizes, strict=True)
    ]  # fmt: skip
    if json_:
        output.emit([{**dataclasses.asdict(one), "fits": one.fits} for one in found])
    else:
        output.people().print(_sheet(found))
        for one in found:
            if not one.fits:
                click.echo(_misfit(one, card / _GIB), err=True)
    if not all(one.fits for one in found):
        ctx.exit(1)


@models.command()
@click.argument("name")
@click.option("--device", help="cpu or cuda:0; by default the first of MANGEN_DEVICES.")
@output.as_json
def warm(*, name: str, device: str | None, json_: bool) -> None:
    """Load a model on a device of this machine and run it once, to see that it does."""
    from mangen import app  # noqa: PLC0415 - lazy, as all here
    from mangen.engines.diffusion import estimate as estimates  # noqa: PLC0415 - as above
    from mangen.engines.diffusion import trial  # noqa: PLC0415 - as above
    from mangen.pooling import config  # noqa: PLC0415 - as above

    chosen = settings.load()
    model = _registry(chosen).get(name)
    pool = config.Config.of(app.pool_configuration(chosen))
    found = trial.run(model, device or pool.devices[0], pool.options)
    if json_:
        output.emit(dataclasses.asdict(found))
        return
    click.echo(
        f"{name} on {found.device} ({found.kind}): loaded in {found.load_s:.1f} s, first pass "
        f"{found.warm_s:.1f} s; {estimates.gib(found.weights)} of weights, "
        f"{estimates.gib(found.peak)} at most"
    )


@models.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=pathlib.Path))
@click.option("--seed", type=int, default=0, show_default=True, help="The same makes the same.")
@output.as_json
def tiny(*, folder: pathlib.Path, seed: int, json_: bool) -> None:
    """Make tiny models with random weights in FOLDER: they draw noise, to try everything else."""
    from mangen.engines.diffusion import tiny as maker  # noqa: PLC0415 - lazy, as all here

    taken = [name for name in maker.MAKERS if (folder / name).exists()]
    if taken:
        raise errors.ModelError(
            f"{folder / taken[0]} is there already: remove it, or name another folder"
        )
    made = {name: str(maker.make(name, folder / name, seed)) for name in maker.MAKERS}
    if json_:
        output.emit(made)
    else:
        for name, path in made.items():
            click.echo(f"{name}\t{path}")
        click.echo(
            "for small and quick pictures and clips: `manage.py models add NAME FOLDER --steps 2 "
            "--max-pixels 15360`",
            err=True,
        )


def _registry(chosen: settings.Settings | None = None) -> registry.Registry:
    from mangen.engines.diffusion import registry  # noqa: PLC0415 - lazy, as all here

    return registry.Registry((chosen or settings.load()).root)


def _tell_reading(count: int) -> None:
    if count > _GIB:
        click.echo(f"reading all of it once, {count / _GIB:.1f} GiB ...", err=True)


def _told(model: registry.Model) -> dict[str, Any]:
    return {
        **dataclasses.asdict(model),
        "folder": str(model.folder),
        "precision": model.precision,
    }


def _state(model: registry.Model) -> dict[str, Any]:
    """How a registered folder stands today."""
    from mangen.engines.diffusion import registry  # noqa: PLC0415 - lazy, as all here

    try:
        return {"bytes": registry.verify(model).nbytes(model.precision), "fault": ""}
    except errors.ModelError as error:
        return {"bytes": None, "fault": str(error)}


def _table(found: Sequence[Mapping[str, Any]]) -> table.Table:
    from mangen.engines.diffusion import estimate as estimates  # noqa: PLC0415 - lazy, as all here

    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in (
        "name",
        "family",
        "precision",
        "weights",
        "plays",
        "can play",
        "licence",
        "folder",
    ):
        rows.add_column(name, overflow="fold")
    for one in found:
        rows.add_row(
            one["name"],
            one["family"],
            one["precision"],
            "" if one["bytes"] is None else estimates.gib(one["bytes"]),
            ", ".join(one["plays"]),
            ", ".join(role for role in one["roles"] if role not in one["plays"]),
            markup.escape(one["licence"] or "not told"),
            markup.escape(one["folder"])
            + (f"\n[red]{markup.escape(one['fault'])}[/]" if one["fault"] else ""),
        )
    return rows


def _sheet(found: Sequence[estimates.Estimate]) -> table.Table:
    from mangen.engines.diffusion import estimate as estimates  # noqa: PLC0415 - lazy, as all here

    rows = table.Table(box=None, pad_edge=False, header_style="bold")
    for name in ("stage", "size", "batch", "weights", "work", "until measured", "largest batch"):
        rows.add_column(name)
    for one in found:
        rows.add_row(
            one.stage,
            f"{one.width}x{one.height}" + (f" x {one.frames}" if one.frames > 1 else ""),
            str(one.batch),
            estimates.gib(one.weights),
            estimates.gib(one.peak),
            estimates.gib(one.reserved),
            f"{one.largest}"
            + (f" ({one.first} until measured)" if one.first < one.largest else ""),
        )
        for part in one.parts:
            own = estimates.gib(part.weights) + " of its own" if part.weights else ""
            most = " (the largest)" if part.peak == one.peak else ""
            rows.add_row(
                f"  {part.name}", "", "", own, estimates.gib(part.peak) + most, style="dim"
            )
    return rows


def _misfit(one: estimates.Estimate, vram: float) -> str:
    if one.largest == one.cap:
        return f"{one.stage}: {one.batch} at once are too many: this model runs {one.cap} at most"
    if one.largest:
        return f"{one.stage}: {one.batch} at once don't fit on {vram:g} GiB: {one.largest} do"
    return f"{one.stage} does not fit on {vram:g} GiB; what would: {'; '.join(one.instead)}"
