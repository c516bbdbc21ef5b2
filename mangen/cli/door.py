"""A group of commands and how its help lists them."""

from __future__ import annotations

import click

_WHOLE = 1000  #: characters, more than any first sentence has


class Door(click.Group):
    """Commands in the order a newcomer needs them, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Answer their names, not sorted."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them; click itself would cut a sentence at one line."""
        rows = [
            (name, self.commands[name].get_short_help_str(_WHOLE))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
