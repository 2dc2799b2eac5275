"""Facts: text wrapped to the console, with a word before it or standing in."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

DIM, HEAD = "bright_black", "bold"


@dataclass(frozen=True)
class Facts:
    """Name and text, the names in a column of their own; an equal name is said once."""

    rows: Sequence[tuple[str, Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = max((len(name) for name, _ in self.rows), default=0) + 2
        width = max(options.max_width - indent, 20)
        said = ""
        for name, text in self.rows:
            lead = "" if name == said else name
            said = name
            for line in text.wrap(console, width):
                line.rstrip()
                yield plain_line(Text.assemble((lead.ljust(indent), DIM), line))
                lead = ""


@dataclass(frozen=True)
class Paragraph:
    """Text that stands in by ``indent``; its later lines by ``hang`` more."""

    text: Text
    indent: int = 0
    hang: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width - self.indent - self.hang, 20)
        lead = " " * self.indent
        for line in self.text.wrap(console, width):
            line.rstrip()
            yield plain_line(Text.assemble(lead, line))
            lead = " " * (self.indent + self.hang)


def plain_line(line: Text) -> Text:
    """A line that is printed as it is, however long."""
    line.no_wrap, line.overflow = True, "ignore"
    return line
