"""Where the project lies, for tests that read its documents, scripts, settings and source."""

import ast
from pathlib import Path

from ragstone.metrics.metric_names import one_at_a_time

ROOT = Path(__file__).parents[1]


def parsed(file: Path, *, mentions: str = "") -> ast.Module:
    """The syntax tree of a source file, an empty one where it does not mention what is looked for.

    Never while another thread parses, which Python 3.11 takes for an error of its own. Trees are
    not kept: the millions of their parts would be looked over at each collection of garbage.
    """
    text = file.read_text(encoding="utf-8")
    with one_at_a_time:
        return ast.parse(text if mentions in text else "")
