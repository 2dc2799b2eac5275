"""Forest: the differences of two systems on each metric, or in each slice, one below the other."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragstone.analysis.comparison.compare import AFTER, STRICTER
from ragstone.analysis.comparison.comparison_result import Comparison, Comparisons
from ragstone.report import charts
from ragstone.report.number_format import (
    VERDICTS,
    counted,
    difference_cell,
    difference_scale,
    p_word,
    percent,
    reach_of,
    short_name,
)
from ragstone.report.pages.comparison_page import ADJUSTED
from ragstone.report.reason_words import words
from ragstone.web.drawing import drawn

HEIGHT = 20
SHARED = 4
"""So many first letters in common are left out."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A difference in the forest.

    Attributes:
        one: The comparison.
        name: What it is about: a metric, or the value of a field.
        path: Where the name leads; empty if nowhere.
        strip: The interval, drawn.
        wins: Of the questions, which got better and worse, drawn.
        p: In words.
        beside: What stands beside the verdict, such as ``needs 168``.
        why: The same in a sentence, with what else there is to say.
    """

    one: Comparison
    name: str
    path: str
    strip: Markup
    wins: Markup
    p: str
    beside: str
    why: str


@dataclass(frozen=True, slots=True)
class ForestPart:
    """Two systems side by side.

    Attributes:
        a, b: Their names.
        heads: The names of b and a as far as a narrow column has room, without what they share.
        first: What the rows are called.
        rows: Those that are drawn.
        same: The metrics that were judged on identical inputs, and so are not drawn.
        axis: The common scale, drawn.
        counts: How many there are of each verdict.
        small: How it is read.
    """

    a: str
    b: str
    heads: tuple[str, str]
    first: str
    rows: tuple[ForestRow, ...]
    same: tuple[str, ...]
    axis: Markup
    counts: Mapping[str, int]
    small: tuple[str, ...]


def forest_of(
    ones: Sequence[Comparison],
    found: Comparisons,
    *,
    named: Callable[[Comparison], str] = lambda one: short_name(one.metric),
    path: Callable[[Comparison], str] = lambda _: "",
    first: str = "metric",
    all_of: bool = False,
) -> ForestPart:
    """The forest of some comparisons of two systems.

    Args:
        ones: The comparisons; what was judged on identical inputs is named and not drawn.
        found: Where they come from.
        named: What a row is called.
        path: Where its name leads.
        first: What the rows are called.
        all_of: Draw those with identical inputs too.
    """
    shown = [one for one in ones if all_of or one.verdict != "same"]
    reach = reach_of(shown)
    axis = charts.axis(difference_scale(reach, None), signed=True, quarters=True) if reach else ""
    rows = tuple(_row(one, reach, named(one), path(one)) for one in shown)
    same = tuple(short_name(one.metric) for one in ones if one.verdict == "same")
    counts = Counter[str](one.verdict for one in ones)
    small = tuple(_small(ones, found)) if ones else ()
    a, b = ones[0].a, ones[0].b
    return ForestPart(a, b, heads_of(b, a), first, rows, same, drawn(axis), counts, small)


def heads_of(first: str, second: str) -> tuple[str, str]:
    """Two names for narrow columns: without what both begin with.

    >>> heads_of("gpt-4o", "llama"), heads_of("runs/seed=1", "runs/seed=22")
    (('gpt-4o', 'llama'), ('…1', '…22'))
    """
    pairs = enumerate(zip(first, second, strict=False))
    least = min(len(first), len(second))
    shared = next((at for at, (one, other) in pairs if one != other), least)
    if shared < SHARED or shared == least:
        return first, second
    return f"…{first[shared:]}", f"…{second[shared:]}"


def _row(one: Comparison, reach: float, name: str, path: str) -> ForestRow:
    cell = difference_cell(one, reach)
    said = [words(reason) for reason in (*one.reasons, *([one.caution] if one.caution else []))]
    beside = ""
    if AFTER in one.reasons:
        beside = "after correction"
    elif STRICTER in one.reasons:
        beside = "the test does not tell"
    elif one.n_needed is not None:
        beside = f"needs {one.n_needed:,}"
        said.append(f"{one.n_needed:,} questions in all would settle it")
    elif one.caution:
        beside = f"{counted(one.n_pairs, 'pair')} only"
    elif one.verdict == "cannot_tell" and one.n_needed_reason and one.margin is not None:
        said.append(words(one.n_needed_reason))
    wins = charts.wins(one.wins, one.ties, one.losses) if one.n_pairs and one.better != "0" else ""
    strip, p = drawn(charts.strip(cell, HEIGHT)), p_word(one.p_adjusted)
    return ForestRow(one, name, path, strip, drawn(wins), p, beside, "; ".join(said))


def _small(ones: Sequence[Comparison], found: Comparisons) -> Iterator[str]:
    one = ones[0]
    yield (
        f"{one.a} minus {one.b} on the same questions, in the metric's own direction: the shape, "
        "the word and the colour of the verdict say whether that is better."
    )
    alpha = 1 - found.level
    thick = f", thick: the {percent(1 - 2 * alpha)} one that equivalence is read from"
    yield (
        f"Thin line: {percent(found.level)} interval{thick}. Grey band: differences within "
        f"±{found.margin:g} do not matter."
        if found.margin is not None
        else f"Thin line: {percent(found.level)} interval{thick}. Without a margin nothing can be "
        "called equivalent."
    )
    yield f"p: {ADJUSTED[found.adjust][0]} over {counted(found.family, 'test')}."
    if any(one.n_needed is not None for one in ones):
        yield "needs: with so many questions half the interval would be as wide as the margin."


def verdict_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The four verdicts on what was tested, each with how often it was given."""
    return [(code, counts.get(code, 0)) for code in VERDICTS if code != "same"]
