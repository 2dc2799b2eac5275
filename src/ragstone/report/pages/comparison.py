"""Comparison page: which system is better than which, as ``ragstone compare`` prints it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragstone.analysis.comparison.comparison_result import NARROW, Comparison, Comparisons, Ranked
from ragstone.core.messages import argument
from ragstone.report.differences import VERDICTS, difference_cell, reach_of
from ragstone.report.figures import counted, percent, short_name
from ragstone.report.intervals import method_notes
from ragstone.report.page import (
    Cell,
    Facts,
    Heading,
    IntervalCell,
    Note,
    Number,
    P,
    Page,
    Phrase,
    Row,
    RowName,
    Section,
    Table,
    Verdict,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.words import words

TESTS = {
    "mcnemar_exact": ("McNemar's exact test", "rates, one pair per cluster"),
    "sign_flip_exact": ("sign flips", "all of them, as there are few clusters"),
    "sign_flip": ("sign flips", "{flips:,} at random, seed {seed}"),
}

ADJUSTED = {
    "holm": ("Holm", "at most a {alpha} chance of any false finding"),
    "bh": ("BH", "Benjamini-Hochberg: at most {alpha} of the findings false, on average"),
}

OF_DIFFERENCES = {
    "t": "a mean difference, one pair per cluster",
    "cluster_t": "a mean difference, clustered",
    "bounded_wilson": "all pairs have the same difference: by the share of pairs that might differ "
    "from it, and the range of the metric",
}
"""Descriptions of those interval methods that read differently for a difference."""


def comparison_page(found: Comparisons) -> Page:
    """The header, a table for each pair of systems, the ranking, and the small print."""
    sections = [section(_header(found))]
    for (a, b), ones in found.between().items():
        sections.append(Section((_pair_table(ones, found),), _title(a, b, ones)))
    if ranked := _ranked(found):
        about = quiet(
            "  Bradley-Terry: probability of winning against a system of average strength"
        )
        sections.append(Section((_ranking(ranked, found),), (strong("Ranking"), about)))
    sections.append(small_print(_small_print(found)))
    title = " against ".join(found.runs)
    return Page("compare", title, tuple(sections), notes=found.notes, record=found.to_dict)


def _header(found: Comparisons) -> Facts:
    pairs = counted(len(found.between()), "pair")
    metrics = counted(len({one.metric for one in found.comparisons}), "metric")
    cluster = "" if found.cluster == "question_id" else f"; clusters by {found.cluster}"
    margin = (
        quiet(f"none given, so nothing can be called equivalent: {argument('margin', 'X')}")
        if found.margin is None
        else f"±{found.margin:g}, in the unit of each metric"
    )
    what = (strong(" against ".join(found.runs)), f"  {pairs} of systems · {metrics}")
    return Facts((
        Note("compared", what),
        Note("paired", f"question by question{cluster}"),
        Note("margin", margin),
    ))  # fmt: skip


def _title(a: str, b: str, ones: Sequence[Comparison]) -> list[str | Phrase]:
    counts = Counter[str](one.verdict for one in ones)
    parts: list[str | Phrase] = []
    for verdict, (word, tone) in VERDICTS.items():
        if counts[verdict]:
            parts += [quiet(" · " if parts else "  "), Phrase(f"{counts[verdict]} {word}", tone)]
    return [quiet("a "), strong(a), quiet("  against  b "), strong(b), *parts]


def _pair_table(ones: Sequence[Comparison], found: Comparisons) -> Table:
    """Two systems side by side on each metric, with the differences drawn."""
    sliced = any(one.slice for one in ones)
    columns = [
        Heading("metric", key=True),
        *([Heading("slice")] if sliced else []),
        Heading("a", drop=3),
        Heading("b", drop=3),
        Heading("a - b", level=found.level),
        Heading("rel.", drop=1),
        Heading("win", drop=1),
        Heading("d", drop=1),
        Heading(f"p {ADJUSTED[found.adjust][0]}"),
        Heading("w/t/l", drop=2),
        Heading("verdict"),
    ]
    reach = reach_of(ones)
    by_metric = list(dict.fromkeys(one.metric for one in ones))
    ordered = sorted(ones, key=lambda one: by_metric.index(one.metric))
    return table(columns, [Row(tuple(_cells(one, reach, sliced=sliced))) for one in ordered])


def _cells(one: Comparison, reach: float, *, sliced: bool) -> Iterator[Cell]:
    word, tone = VERDICTS[one.verdict]
    yield RowName(short_name(one.metric), one.better)
    if sliced:
        yield (
            RowName("all", strong=True)
            if one.slice is None
            else RowName(", ".join(one.slice.values()))
        )
    yield Number(one.value_a)
    yield Number(one.value_b)
    yield difference_cell(one, reach)
    yield Number(one.relative_change, 1, sign="+", unit=" %")
    yield Number(None if one.win_rate is None else one.win_rate.value * 100, 0, unit=" %")
    yield Number(one.effect_size, 2, sign="+")
    yield P(one.p_adjusted)
    yield f"{one.wins}/{one.ties}/{one.losses}"
    few = f"{counted(one.n_pairs, 'pair')} only" if one.caution else ""
    yield Verdict(one.verdict, word, tone, few if one.n_needed is None else f"~{one.n_needed:,}")


def _ranking(ranked: Sequence[Sequence[Ranked]], found: Comparisons) -> Table:
    """The systems side by side on each metric."""
    systems = list(dict.fromkeys(one.system for ones in ranked for one in ones))
    columns = [
        Heading("metric"),
        *(Heading(name, level=found.level, peer=True) for name in systems),
    ]
    rows = []
    for ones in ranked:
        of = {one.system: one for one in ones}
        rows.append(
            Row((RowName(short_name(ones[0].metric)), *(_chance(of[name]) for name in systems)))
        )
    return table(columns, rows)


def _chance(one: Ranked) -> Cell:
    if one.win_probability is None:
        return f"won {percent(one.win_share, 0)}"
    return IntervalCell(one.win_probability, one.win_low, one.win_high, strong=False)


def _ranked(found: Comparisons) -> list[list[Ranked]]:
    """The ranked systems for each metric on which some system is ahead."""
    by_name: dict[str, list[Ranked]] = {}
    for one in found.ranking:
        by_name.setdefault(one.metric, []).append(one)
    return [ones for ones in by_name.values() if any(one.win_share != 0.5 for one in ones)]


def _small_print(found: Comparisons) -> Iterator[Note]:
    alpha = percent(1 - found.level)
    yield from method_notes((one.method for one in found.comparisons), OF_DIFFERENCES)
    for test in dict.fromkeys(one.test for one in found.comparisons if one.test):
        word, about = TESTS[test]
        text = about.format(flips=found.resamples, seed=found.seed)
        yield Note("tests", (strong(word), f"  {text}"))
    word, about = ADJUSTED[found.adjust]
    text = f"  {about.format(alpha=alpha)}; over {counted(found.family, 'test')}"
    yield Note("adjusted", (strong(word), text))
    yield from _reading(found, alpha)
    for reason, metrics in _reasons(found.comparisons).items():
        yield Note("note", f"{reason}: {', '.join(metrics)}")


def _reading(found: Comparisons, alpha: str) -> Iterator[Note]:
    """What the columns and words mean."""
    ones = found.comparisons
    yield Note("reading", "↑ more is better, ↓ less is better, · neither")
    yield Note("reading", "a and b are means over their pairs", needs="a")
    wins = "w/t/l: pairs on which a wins, both tie, a loses"
    yield Note("reading", wins, needs="w/t/l")
    sizes = (
        "rel.: a - b in percent of b; win: share of pairs on which a wins, ties counting half; "
        "d: the mean difference divided by the standard deviation of the differences (Cohen's d_z)"
    )
    yield Note("reading", sizes, needs="rel.")
    if found.margin is not None:
        yield Note(
            "reading",
            f"equivalent: inside the margin by two one-sided tests, p ≤ {alpha} after Holm over "
            f"{counted(found.equivalence_family, 'test')}; otherwise better or worse at the same "
            "adjusted p",
        )
    if any(one.verdict == "same" for one in ones):
        same = "same: the same inputs, judge and prompts on every pair, so nothing is tested"
        yield Note("reading", same)
    if any(one.caution for one in ones):
        yield Note("reading", "N pairs only: so few pairs make a rough verdict")
    if any(one.n_needed is not None for one in ones):
        needed = "cannot tell ~N: with N pairs, half the interval would be as wide as the margin"
        yield Note("reading", needed)
    if any(one.n_needed_reason == NARROW for one in ones):
        yield Note(
            "reading",
            "cannot tell without ~N: half the interval is narrower than the margin already, but "
            "the difference is too close to 0 or to the margin",
        )


def _reasons(comparisons: Iterable[Comparison], shown: int = 6) -> dict[str, list[str]]:
    """Each reason why no decision was possible, with its metrics."""
    found: dict[str, dict[str, None]] = {}
    for one in comparisons:
        if one.slice is None:
            for reason in one.reasons:
                found.setdefault(words(reason), {})[one.metric] = None
    metrics_of = {}
    for reason, metrics in found.items():
        more = [f"{len(metrics) - shown} more"] if len(metrics) > shown else []
        metrics_of[reason] = [*list(metrics)[:shown], *more]
    return metrics_of
