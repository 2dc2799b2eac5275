"""Grouped: the list of commands in ``ragstone --help``, grouped by purpose.

Typer renders its help with Rich, whose import takes longer than everything else that help needs.
"""

import sys
from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup


class Grouped(TyperGroup):
    """Commands under the heading of their panel, in plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """A section for each panel, in the order of the commands; no sentence is cut."""
        panels: dict[str, list[tuple[str, str]]] = {}
        commands: Mapping[str, Any] = self.commands
        for name, command in commands.items():
            first_sentence = command.get_short_help_str(sys.maxsize)
            panel = command.rich_help_panel or "Commands"
            panels.setdefault(panel, []).append((name, first_sentence))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


class SourceFirst(Grouped):
    """Commands of which the first stands for a source: ``annotate RUN`` is ``annotate new RUN``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the name of the first command where none is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)
