"""Erased: examples that go, with all that hangs on them."""

from collections.abc import Sequence

from ragstone.database.database import Sql

from .kept import keep, remembered
from .rows import in_pages, marks
from .scored import WRITTEN_BACK, last_score

HANGS_ON_AN_EXAMPLE = (
    *("facets", "to_do", "assessed", "draws", "scores", "judged", "anchors", "anchor_scores"),
    "examples",
)
ERASURES = "erasures"


def erase_examples(run: Sql, examples: Sequence[str]) -> None:
    """Remove examples from every table."""
    for page in in_pages(examples):
        for table in HANGS_ON_AN_EXAMPLE:
            run(f"DELETE FROM {table} WHERE example IN ({marks(page)})", *page)
    if examples:
        last = last_score(run)
        # SQLite gives the numbers of last rows again: who read them must not pass over new ones.
        run("UPDATE detectors SET through = ? WHERE through > ?", last, last)
        if int(remembered(run, WRITTEN_BACK, 0)) > last:
            keep(run, WRITTEN_BACK, last)


def erasures(run: Sql) -> int:
    """How often something was erased: who read texts before must not write them after."""
    return int(remembered(run, ERASURES, 0))


def erased(run: Sql) -> None:
    """Say that something was erased."""
    keep(run, ERASURES, erasures(run) + 1)
