"""Word bars: how often each word was given with the scores of a metric: outcomes, grades."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragstone.report import charts
from ragstone.report.page import Bar, Count, RowName
from ragstone.report.pages.full_run_page import distributions
from ragstone.run.estimates.estimate import Estimate
from ragstone.web.drawing import drawn


@dataclass(frozen=True, slots=True)
class WordBar:
    """The words of a system.

    Attributes:
        who: The system.
        bar: Drawn, a part a word.
        words: How often each was given, those that were not too.
        n: Answers with a word.
        undefined, missing: Those without.
    """

    who: str
    bar: Markup
    words: str
    n: int
    undefined: int
    missing: int


@dataclass(frozen=True, slots=True)
class WordBars:
    """The words of a metric: its title, the fill of each word, a bar a system."""

    title: str
    key: tuple[tuple[int, str], ...]
    rows: tuple[WordBar, ...]


def word_bars(estimates: Sequence[Estimate]) -> list[WordBars]:
    """One for each metric whose scores have words."""
    found = []
    for table in distributions(estimates):
        key = tuple((one.fill, one.head) for one in table.columns if one.fill is not None)
        rows = []
        for row in table.rows:
            bar = next(one for one in row.cells if isinstance(one, Bar))
            n, undefined, missing = (one.value or 0 for one in row.cells if isinstance(one, Count))
            said = ", ".join(f"{part.size:,g} {part.word}" for part in bar.parts)
            who = next(one.text for one in row.cells if isinstance(one, RowName))
            rows.append(WordBar(who, drawn(charts.bar(bar)), said, n, undefined, missing))
        found.append(WordBars(table.groups[0].title.replace("_", " "), key, tuple(rows)))
    return found
