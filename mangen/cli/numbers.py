"""Projects named on a command line: a type for click."""

from __future__ import annotations

import click


class Number(click.ParamType[int]):
    """The number of a project; its error says what to write instead."""

    name = "integer"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Read one number."""
        if isinstance(value, int):
            return value
        if value.isascii() and value.isdigit() and int(value) < 2**63:
            return int(value)
        return self.fail(
            f"{value!r} names no project: write its number, as 12, several as 12 13 14; "
            "`manage.py status` lists them",
            param,
            ctx,
        )


PROJECT = Number()
