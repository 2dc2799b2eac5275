"""Drawn charts: the failure waterfall, and a forest of differences between two systems."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

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
from ragstone.report import charts
from ragstone.report.number_format import (
    SYSTEM,
    VERDICTS,
    counted,
    difference_cell,
    difference_scale,
    needed_notes,
    needed_pairs,
    p_word,
    percent,
    reach_of,
    row_name,
)
from ragstone.report.page import Tone
from ragstone.report.pages.comparison_page import ADJUSTED, corrected_lines
from ragstone.report.reason_words import words
from ragstone.report.sentences.analysis_words import whose_numbers
from ragstone.report.sentences.run_words import (
    BECAUSE,
    COUNTED,
    LOOKS_BAD,
    NAMES,
    judged_by,
    look_bad,
)
from ragstone.web.templating import View, drawn

OTHERWISE = {
    PARTIAL: "does not look bad, but says only part of the reference",
    NO_FAULT: "does not look bad",
}


def shown_faults(found: FailureGroups, system: str, path: Callable[[str], str]) -> View:
    """Return the waterfall of a system, or of all answers together."""
    group = found.of(**{SYSTEM: system}) if system else found.of()
    unknown = tuple((NAMES[one.stage], words(one.why)) for one in group.stages if one.first is None)
    return {
        "name": system,
        "judged": group.judged,
        "bad": look_bad(group),
        "rows": list(_rows(group, path)),
        "unknown": unknown,
        "rules": (judged_by(found), LOOKS_BAD, COUNTED),
        "level": found.level,
    }


def systems_of(found: FailureGroups) -> list[str]:
    """Return the systems that have a waterfall of their own, those that are the references last."""
    ones = [one for one in found.groups if set(one.group) == {SYSTEM} and one.judged]
    names = [one.group[SYSTEM] for one in ones]
    return sorted(names, key=lambda name: name in found.themselves)


def _rows(group: GroupFailures, path: Callable[[str], str]) -> Iterator[View]:
    left = group.judged
    for one in group.stages:
        if one.first is not None:
            left -= one.first.n
            yield _row(
                one.stage, one.first, left, group.judged, "bad", path, "; ".join(_beside(one))
            )
    beside = f"{group.survived:,} survived a fault of retrieval" if group.survived else ""
    if group.partial.n:
        yield _row(PARTIAL, group.partial, group.fine.n, group.judged, "quiet", path, "")
    yield _row(NO_FAULT, group.fine, 0, group.judged, "good", path, beside)


def _row(
    stage: str,
    rate: Rate,
    start: int,
    whole: int,
    tone: Tone,
    path: Callable[[str], str],
    beside: str,
) -> View:
    return {
        "code": stage,
        "name": NAMES[stage],
        "why": BECAUSE.get(stage) or OTHERWISE[stage],
        "path": path(stage) if rate.n else "",
        "n": rate.n,
        "share": _whole(rate.share),
        "interval": f"{_whole(rate.low)} – {_whole(rate.high)}" if rate.low is not None else "",
        "bar": drawn(charts.stage(start, rate.n, whole, tone)),
        "beside": beside,
    }


def _beside(one: StageFailures) -> Iterator[str]:
    if one.later:
        yield f"{one.later:,} more failed here, having failed earlier"
    if one.stage in RETRIEVAL and one.survived:
        yield f"{one.survived:,} that failed here do not look bad"
    if one.untold:
        yield f"not known of {one.untold:,}"


def _whole(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f}"


HEIGHT = 20
SHARED = 4
"""So many first letters in common are left out."""


def forest_of(
    ones: Sequence[Comparison],
    found: Comparisons,
    *,
    named: Callable[[Comparison], str] = lambda one: row_name(one.metric, one.relevance_by),
    path: Callable[[Comparison], str] = lambda _: "",
    first: str = "metric",
    all_of: bool = False,
) -> View:
    """Return the forest of some comparisons of two systems.

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
    rows = tuple(_forest_row(one, reach, named(one), path(one)) for one in shown)
    same = tuple(row_name(one.metric, one.relevance_by) for one in ones if one.verdict == "same")
    counts = Counter[str](one.verdict for one in ones)
    small = tuple(_small(ones, found)) if ones else ()
    a, b = ones[0].a, ones[0].b
    return {
        "a": a,
        "b": b,
        "heads": heads_of(b, a),
        "first": first,
        "rows": rows,
        "same": same,
        "axis": drawn(axis),
        "counts": counts,
        "small": small,
    }


def heads_of(first: str, second: str) -> tuple[str, str]:
    """Return two names for narrow columns: without what both begin with.

    >>> heads_of("gpt-4o", "llama"), heads_of("runs/seed=1", "runs/seed=22")
    (('gpt-4o', 'llama'), ('…1', '…22'))
    """
    pairs = enumerate(zip(first, second, strict=False))
    least = min(len(first), len(second))
    shared = next((at for at, (one, other) in pairs if one != other), least)
    if shared < SHARED or shared == least:
        return first, second
    return f"…{first[shared:]}", f"…{second[shared:]}"


def _forest_row(one: Comparison, reach: float, name: str, path: str) -> View:
    cell = difference_cell(one, reach)
    said = [words(reason) for reason in (*one.reasons, *([one.caution] if one.caution else []))]
    beside = f"{counted(one.n_pairs, 'pair')} only" if one.caution else needed_pairs(one)
    if one.verdict == "cannot_tell" and one.n_needed_reason and one.margin is not None:
        said.append(words(one.n_needed_reason))
    wins = charts.wins(one.wins, one.ties, one.losses) if one.n_pairs and one.better != "0" else ""
    strip, p = drawn(charts.strip(cell, HEIGHT)), p_word(one.p_adjusted)
    return {
        "one": one,
        "name": name,
        "path": path,
        "strip": strip,
        "wins": drawn(wins),
        "p": p,
        "beside": beside,
        "why": "; ".join(said),
    }


def _small(ones: Sequence[Comparison], found: Comparisons) -> Iterator[str]:
    one = ones[0]
    yield f"Numbers: {whose_numbers(found.checked)}."
    yield from (f"{line}." for line in corrected_lines(ones, found))
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
    yield from (f"{line[0].upper()}{line[1:]}." for line in needed_notes(ones))


def verdict_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the four verdicts on what was tested, each with how often it was given."""
    return [(code, counts.get(code, 0)) for code in VERDICTS if code != "same"]
