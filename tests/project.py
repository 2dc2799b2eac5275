"""Where the project lies, for tests that read its documents, scripts, settings and source."""

import ast
from functools import cache
from pathlib import Path

from ragstone.metrics.metric_names import one_at_a_time

ROOT = Path(__file__).parents[1]


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a source file, which no test changes; never while another thread parses,
    which Python 3.11 takes for an error of its own."""
    with one_at_a_time:
        return ast.parse(file.read_text(encoding="utf-8"))
