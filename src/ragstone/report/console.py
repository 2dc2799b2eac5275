"""Console: where a report is printed, on a terminal or into a pipe."""

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ragstone.core.escape import seen

from .page import Page
from .render.terminal import Shown

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
            yield segment if segment.control else Segment(seen(segment.text), segment.style)


def terminal(stream: TextIO | None = None) -> Console:
    """A console on a stream, by default standard output.

    As wide as the terminal. In a pipe or a file it is 120 columns wide and
    without colours; ``COLUMNS``, ``NO_COLOR`` and ``FORCE_COLOR`` are obeyed.
    """
    stream = stream or sys.stdout
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        width: int | None = int(given)
    else:
        width = None if stream.isatty() else PIPE_WIDTH
    return Terminal(file=stream, width=width, highlight=False, emoji=False, markup=False)


def show(shown: RenderableType | Page, stream: TextIO | None = None) -> None:
    """Print it; lines wider than the console run over instead of being cut off."""
    terminal(stream).print(Shown(shown) if isinstance(shown, Page) else shown, crop=False)
