"""Console: prints a page on a terminal, into a pipe or as SVG, and writes commands to paste."""

import os
import shlex
import sys
from collections.abc import Iterable
from io import StringIO
from itertools import chain
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.terminal_theme import TerminalTheme

from ragstone.core.escape import visible
from ragstone.core.user_code import GIVEN
from ragstone.judgements import KINDS
from ragstone.metrics import read_metric

from .page import Page
from .render.terminal import Shown, as_text


def command(*words: object, metric: str | None = None) -> str:
    """A ``ragstone`` command that also loads the user's own kinds."""
    modules = {"--kinds": {kind.__module__ for kind in KINDS.values()}}
    if metric is not None:
        modules["--metrics-from"] = {type(read_metric(metric)).__module__}
    options = [(option, file) for option, names in modules.items()
               for module, file in GIVEN.items() if module in names]  # fmt: skip
    return shlex.join(["ragstone", *map(str, words), *chain.from_iterable(options)])


PIPE_WIDTH = 120


class Terminal(Console):
    """A console that leaves the handling of a closed pipe to its caller."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The output without invisible characters, so that data cannot control the terminal."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def terminal(stream: TextIO | None = None) -> Console:
    """A console on a stream, by default standard output.

    As wide as the terminal. In a pipe or a file it is 120 columns wide and
    without colours; ``COLUMNS``, ``NO_COLOR`` and ``FORCE_COLOR`` are obeyed.
    """
    stream = stream or sys.stdout
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        width: int | None = int(columns)
    else:
        width = None if stream.isatty() else PIPE_WIDTH
    return Terminal(file=stream, width=width, highlight=False, emoji=False, markup=False)


def show(listed: RenderableType | Page, stream: TextIO | None = None) -> None:
    """Print it; lines wider than the console run over instead of being cut off."""
    terminal(stream).print(Shown(listed) if isinstance(listed, Page) else listed, crop=False)


THEME = TerminalTheme(
    (22, 27, 34),
    (214, 221, 229),
    [(22, 27, 34), (255, 123, 114), (126, 231, 135), (242, 204, 96),
     (121, 192, 255), (210, 168, 255), (86, 212, 221), (214, 221, 229)],
    [(125, 136, 147), (255, 161, 152), (165, 240, 172), (255, 223, 140),
     (165, 214, 255), (226, 197, 255), (140, 234, 240), (255, 255, 255)],
)  # fmt: skip

# The SVG template; it loads no external resources.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" xml:space="preserve">
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
    font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture(page: Page, *, width: int = 116, title: str = "ragstone evaluate") -> str:
    """A page as SVG, ``width`` characters wide, or wider if a line needs more."""
    # Rich's SVG export cuts off whatever is beyond the width of the console.
    needed = max(map(cell_len, as_text(page, width).splitlines()), default=0)
    console = Terminal(
        record=True, file=StringIO(), width=max(width, needed), highlight=False, emoji=False,
        markup=False, force_terminal=True, color_system="truecolor",
    )  # fmt: skip
    console.print(Shown(page))
    return console.export_svg(title=title, theme=THEME, code_format=SVG, unique_id="ragstone")
