"""Drawn charts: the failure waterfall, and a forest of differences between two systems."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup

from ragstone.analysis.comparison.compare import ANSWERS_ARE_REFERENCES
from ragstone.analysis.comparison.comparison_result import Comparison, Comparisons
from ragstone.analysis.summaries.failure_stages import (
    NO_FAULT,
    PARTIAL,
    RETRIEVAL,
    FailureGroups,
    GroupFailures,
    Rate,
    StageFailures,
)
from ragstone.core.messages import Reason
from ragstone.report import charts
from ragstone.report import number_format as fmt
from ragstone.report.page import Tone
from ragstone.report.pages.comparison_page import ADJUSTED, corrected_lines
from ragstone.report.reason_words import words
from ragstone.report.sentences import run_words
from ragstone.report.sentences.analysis_words import whose_numbers
from ragstone.web.example_rows import PREFERRED
from ragstone.web.templating import View, drawn

OTHERWISE = {
    PARTIAL: "does not look bad, but says only part of the reference",
    NO_FAULT: "does not look bad",
}


def shown_faults(failures: FailureGroups, system: str, path: Callable[[str], str]) -> View:
    """Return the waterfall of a system, or of all answers together."""
    group = failures.of(**{fmt.SYSTEM: system}) if system else failures.of()
    return {
        "name": system,
        "judged": group.judged,
        "bad": run_words.look_bad(group),
        "rows": list(_rows(group)),
        "path": path,
        "names": run_words.NAMES,
        "because": {**run_words.BECAUSE, **OTHERWISE},
        "unknown": [stage for stage in group.stages if stage.first is None],
        "rules": (run_words.judged_by(failures), run_words.LOOKS_BAD, run_words.COUNTED),
        "level": failures.level,
    }


def systems_of(failures: FailureGroups) -> list[str]:
    """Return the systems that have a waterfall of their own, those that are the references last."""
    ones = [group for group in failures.groups if set(group.group) == {fmt.SYSTEM} and group.judged]
    names = [group.group[fmt.SYSTEM] for group in ones]
    return sorted(names, key=lambda name: name in failures.themselves)


def _rows(group: GroupFailures) -> Iterator[tuple[str, Rate, Markup, str]]:
    """Yield each stage with how many failed there first, drawn, and what else is known of it."""
    left = group.judged

    def row(
        stage: str, rate: Rate, start: int, tone: Tone, beside: str = ""
    ) -> tuple[str, Rate, Markup, str]:
        return stage, rate, drawn(charts.stage(start, rate.n, group.judged, tone)), beside

    for stage in group.stages:
        if stage.first is not None:
            left -= stage.first.n
            yield row(stage.stage, stage.first, left, "bad", "; ".join(_beside(stage)))
    if group.partial.n:
        yield row(PARTIAL, group.partial, group.fine.n, "quiet")
    survived = f"{group.survived:,} survived a fault of retrieval" if group.survived else ""
    yield row(NO_FAULT, group.fine, 0, "good", survived)


def _beside(stage: StageFailures) -> Iterator[str]:
    if stage.later:
        yield f"{stage.later:,} more failed here, having failed earlier"
    if stage.stage in RETRIEVAL and stage.survived:
        yield f"{stage.survived:,} that failed here do not look bad"
    if stage.untold:
        yield f"not known of {stage.untold:,}"


HEIGHT = 20
# So many first letters in common are left out.
SHARED = 4


def forest_of(
    ones: Sequence[Comparison],
    comparisons: Comparisons,
    *,
    name_of: Callable[[Comparison], str] = lambda comparison: fmt.row_name(
        comparison.metric, comparison.relevance_by
    ),
    path: Callable[[Comparison], str] = lambda _: "",
    first: str = "metric",
    all_of: bool = False,
) -> View:
    """Return the forest of some comparisons of two systems.

    What was judged on identical inputs is named and not drawn, but for ``all_of``. ``name_of`` and
    ``path`` say what a row is called, and where it leads; ``first`` is the head of that column.
    """
    rows_of = [comparison for comparison in ones if all_of or comparison.verdict != "same"]
    reach = fmt.reach_of(rows_of)
    axis = (
        charts.axis(fmt.difference_scale(reach, None), signed=True, quarters=True) if reach else ""
    )
    a, b = ones[0].a, ones[0].b
    return {
        "a": a,
        "b": b,
        "heads": heads_of(b, a),
        "first": first,
        "rows": [_forest_row(each, reach, name_of(each), path(each)) for each in rows_of],
        "same": [fmt.row_name(each.metric, each.relevance_by)
                 for each in ones if each.verdict == "same"],
        "axis": drawn(axis),
        "small": list(_small(ones, comparisons)),
    }  # fmt: skip


def heads_of(first: str, second: str) -> tuple[str, str]:
    """Return two names for narrow columns: without what both begin with.

    >>> heads_of("gpt-4o", "llama"), heads_of("runs/seed=1", "runs/seed=22")
    (('gpt-4o', 'llama'), ('…1', '…22'))
    """
    pairs = enumerate(zip(first, second, strict=False))
    least = min(len(first), len(second))
    shared = next((at for at, (letter, other) in pairs if letter != other), least)
    if shared < SHARED or shared == least:
        return first, second
    return f"…{first[shared:]}", f"…{second[shared:]}"


def _forest_row(comparison: Comparison, reach: float, name: str, path: str) -> View:
    cell = fmt.difference_cell(comparison, reach)
    cautions = [comparison.caution] if comparison.caution else []
    sentences = [words(reason) for reason in (*comparison.reasons, *cautions)]
    beside = fmt.needed_pairs(comparison)
    if comparison.caution:
        beside = f"{fmt.counted(comparison.n_pairs, 'pair')} only"
    is_open = comparison.verdict == "cannot_tell" and comparison.margin is not None
    if is_open and comparison.n_needed_reason:
        sentences.append(words(comparison.n_needed_reason))
    wins = ""
    if comparison.n_pairs and comparison.better != "0":
        wins = charts.wins(comparison.wins, comparison.ties, comparison.losses)
    return {
        "one": comparison,
        "name": name,
        "path": path,
        "strip": drawn(charts.strip(cell, HEIGHT)),
        "wins": drawn(wins),
        "beside": beside,
        "why": "; ".join(sentences),
    }


def _small(ones: Sequence[Comparison], comparisons: Comparisons) -> Iterator[str]:
    a, b = ones[0].a, ones[0].b
    yield f"Numbers: {whose_numbers(comparisons.checked)}."
    yield from (f"{line}." for line in corrected_lines(ones, comparisons))
    yield (
        f"{a} minus {b} on the same questions, in the metric's own direction: the shape, the word "
        "and the colour of the verdict say whether that is better."
    )
    alpha = 1 - comparisons.level
    margin = "Without a margin nothing can be called equivalent."
    if comparisons.margin is not None:
        margin = f"Grey band: differences within ±{comparisons.margin:g} do not matter."
    yield (
        f"Thin line: {fmt.percent(comparisons.level)} interval, thick: the "
        f"{fmt.percent(1 - 2 * alpha)} one that equivalence is read from. {margin}"
    )
    yield f"p: {ADJUSTED[comparisons.adjust][0]} over {fmt.counted(comparisons.family, 'test')}."
    yield from (f"{fmt.capital(line)}." for line in fmt.needed_notes(ones))


def metrics_itself(comparisons: Comparisons) -> dict[str, set[str]]:
    """Return the systems that answer with the references, and the metrics that compare the two."""
    notes = map(Reason.read, comparisons.notes)
    return {
        note.facts["system"]: set(note.facts["metrics"].split())
        for note in notes
        if note.code == ANSWERS_ARE_REFERENCES
    }


def verdict_counts(comparisons: Sequence[Comparison]) -> list[tuple[str, int]]:
    """Return the four verdicts on what was tested, each with how often it was given."""
    counts = Counter[str](comparison.verdict for comparison in comparisons)
    return [(code, counts[code]) for code in fmt.VERDICTS if code != "same"]


def lead_of(comparisons: Sequence[Comparison]) -> str:
    """Return the metric that is told first."""
    tested = [each.metric for each in comparisons if each.verdict != "same" and each.n_pairs]
    metrics = tested or [each.metric for each in comparisons]
    return next((name for name in PREFERRED if name in metrics), metrics[0])
