"""Grouped: the list of commands in ``ragstone --help``, grouped by purpose.

Typer renders its help with Rich, whose import takes longer than everything else that help needs.
"""

from typing import Any

from typer.core import TyperGroup

LONGEST = 300
"""Characters of a command's first sentence, which goes over several lines where it has to."""


class Grouped(TyperGroup):
    """Commands under the heading of their panel, in plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each panel, in the order of the commands."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                panels.setdefault(str(panel), []).append(
                    (name, command.get_short_help_str(LONGEST))
                )
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)
