"""Console: prints a report on a terminal or into a pipe, and writes commands to paste."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ragstone.core.escape import visible
from ragstone.core.user_code import GIVEN
from ragstone.judgements import KINDS
from ragstone.metrics import read_metric

from .page import Page
from .render.terminal import Shown


def command(*words: object, metric: str | None = None) -> str:
    """A ``ragstone`` command that also loads the user's own kinds.

    Args:
        words: The command's name and its arguments.
        metric: A metric that the command needs; its file is loaded, too, if it is the user's own.
    """
    return shlex.join(["ragstone", *map(str, words), *_own(metric)])


def _own(metric: str | None) -> Iterator[str]:
    options = {"--kinds": {kind.__module__ for kind in KINDS.values()}}
    if metric is not None:
        options["--metrics-from"] = {type(read_metric(metric)).__module__}
    for option, modules in options.items():
        for module, name in GIVEN.items():
            if module in modules:
                yield from (option, name)


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
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        width: int | None = int(given)
    else:
        width = None if stream.isatty() else PIPE_WIDTH
    return Terminal(file=stream, width=width, highlight=False, emoji=False, markup=False)


def show(shown: RenderableType | Page, stream: TextIO | None = None) -> None:
    """Print it; lines wider than the console run over instead of being cut off."""
    terminal(stream).print(Shown(shown) if isinstance(shown, Page) else shown, crop=False)
