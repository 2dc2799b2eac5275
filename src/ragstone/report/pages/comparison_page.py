"""Comparison and weights: the pages of ``ragstone compare`` and ``ragstone weights``."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from ragstone.analysis.comparison.comparison_result import NARROW, Comparison, Comparisons, Ranked
from ragstone.analysis.composite_weights.fit_weights import EQUAL, Fit, FittedWeights, Weight
from ragstone.analysis.composite_weights.preferences import Sort
from ragstone.core.messages import argument, call
from ragstone.report.number_format import (
    NEEDED,
    VERDICTS,
    counted,
    difference_cell,
    method_notes,
    needed_kinds,
    needed_notes,
    percent,
    reach_of,
    row_name,
)
from ragstone.report.page import (
    Bar,
    BarPart,
    Cell,
    Count,
    Facts,
    Heading,
    IntervalCell,
    Mark,
    Note,
    Number,
    P,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Table,
    Tone,
    Verdict,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.reason_words import words
from ragstone.report.sentences.analysis_words import whose_numbers, with_interval
from ragstone.report.sentences.judge_words import not_paired

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


NARROW_HEAD = 11
"""The width to which the heads of counts are wrapped."""


def comparison_page(found: Comparisons) -> Page:
    """The header, a table for each pair of systems, the ranking, and the small print."""
    sections = [section(_comparison_header(found))]
    for (a, b), ones in found.between().items():
        tested = [one for one in ones if one.verdict != "same"]
        tables = (_pair_table(tested, found),) if tested else ()
        below = tuple(filter(None, (_same(ones), not_paired(ones), *corrected_lines(ones, found))))
        paragraphs = (Paragraphs(below),) if below else ()
        sections.append(Section((*tables, *paragraphs), _title(a, b, ones)))
    if ranked := _ranked(found):
        about = quiet(
            "  Bradley-Terry: probability of winning against a system of average strength"
        )
        sections.append(Section((_ranking(ranked, found),), (strong("Ranking"), about)))
    sections.append(small_print(_comparison_small_print(found)))
    title = " against ".join(found.runs)
    return Page("compare", title, tuple(sections), notes=found.notes, record=found.to_dict)


def _comparison_header(found: Comparisons) -> Facts:
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
        Note("numbers", whose_numbers(found.checked)),
        Note("paired", f"question by question{cluster}"),
        Note("margin", margin),
    ))  # fmt: skip


def corrected_lines(ones: Iterable[Comparison], found: Comparisons) -> Iterator[str]:
    """The means of two systems that labels corrected, a line a metric."""
    for one in ones:
        means = {system: found.corrected(one, system) for system in (one.a, one.b)}
        if shown := [f"{name} {with_interval(mean)}" for name, mean in means.items() if mean]:
            name = row_name(one.metric, one.relevance_by)
            yield f"{name} corrected by people, over all answers: {', '.join(shown)}"


def _title(a: str, b: str, ones: Sequence[Comparison]) -> list[str | Phrase]:
    counts = Counter[str](one.verdict for one in ones)
    parts: list[str | Phrase] = []
    for verdict, (word, tone) in VERDICTS.items():
        if counts[verdict]:
            parts += [quiet(" · " if parts else "  "), Phrase(f"{counts[verdict]} {word}", tone)]
    return [quiet("a "), strong(a), quiet("  against  b "), strong(b), *parts]


def _same(ones: Sequence[Comparison]) -> str:
    names = [
        row_name(one.metric, one.relevance_by)
        + (f" ({', '.join(one.slice.values())})" if one.slice else "")
        for one in ones
        if one.verdict == "same"
    ]
    same = "Not tested because inputs, judge and prompts are the same on every pair"
    return f"{same}, {counted(len(names), 'row')}: {', '.join(names)}" if names else ""


def _pair_table(ones: Sequence[Comparison], found: Comparisons) -> Table:
    sliced = any(one.slice for one in ones)
    needed = needed_kinds(ones)
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
        *(Heading(fill(NEEDED[kind][0], NARROW_HEAD)) for kind in needed),
    ]
    reach = reach_of(ones)
    by_metric = list(dict.fromkeys(one.metric for one in ones))
    ordered = sorted(ones, key=lambda one: by_metric.index(one.metric))
    cells = (_cells(one, reach, needed, sliced=sliced) for one in ordered)
    return table(columns, [Row(tuple(row)) for row in cells])


def _cells(one: Comparison, reach: float, needed: Sequence[str], *, sliced: bool) -> Iterator[Cell]:
    word, tone = VERDICTS[one.verdict]
    yield RowName(row_name(one.metric, one.relevance_by), one.better)
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
    yield Verdict(one.verdict, word, tone, few)
    for kind in needed:
        yield Count(one.n_needed) if one.n_needed and one.needed_for == kind else ""


def _ranking(ranked: Sequence[Sequence[Ranked]], found: Comparisons) -> Table:
    systems = list(dict.fromkeys(one.system for ones in ranked for one in ones))
    by = {one.metric: one.relevance_by for one in found.comparisons}
    columns = [
        Heading("metric"),
        *(Heading(name, level=found.level, peer=True) for name in systems),
    ]
    rows = []
    for ones in ranked:
        of = {one.system: one for one in ones}
        rows.append(
            Row(
                (
                    RowName(row_name(ones[0].metric, by.get(ones[0].metric, ""))),
                    *(_chance(of[name]) for name in systems),
                )
            )
        )
    return table(columns, rows)


def _chance(one: Ranked) -> Cell:
    if one.win_probability is None:
        return f"won {percent(one.win_share, 0)}"
    return IntervalCell(one.win_probability, one.win_low, one.win_high, strong=False)


def _ranked(found: Comparisons) -> list[list[Ranked]]:
    by_name: dict[str, list[Ranked]] = {}
    for one in found.ranking:
        by_name.setdefault(one.metric, []).append(one)
    return [ones for ones in by_name.values() if any(one.win_share != 0.5 for one in ones)]


def _comparison_small_print(found: Comparisons) -> Iterator[Note]:
    alpha = percent(1 - found.level)
    yield from method_notes((one.method for one in found.comparisons), OF_DIFFERENCES)
    for test in dict.fromkeys(one.test for one in found.comparisons if one.test):
        word, about = TESTS[test]
        text = about.format(flips=found.resamples, seed=found.seed)
        yield Note("tests", (strong(word), f"  {text}"))
    word, about = ADJUSTED[found.adjust]
    text = f"  {about.format(alpha=alpha)}; over {counted(found.family, 'comparison')}"
    yield Note("adjusted", (strong(word), text))
    yield from _reading(found, alpha)
    for reason, metrics in _reasons(found.comparisons).items():
        yield Note("note", f"{reason}: {', '.join(metrics)}")


def _reading(found: Comparisons, alpha: str) -> Iterator[Note]:
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
            f"equivalent: inside the margin by two one-sided tests, p ≤ {alpha} after the same "
            "adjustment, of differences and equivalence together",
        )
    if any(one.caution for one in ones):
        yield Note("reading", "N pairs only: so few pairs make a rough verdict")
    yield from (Note("reading", line) for line in needed_notes(ones))
    if any(one.n_needed_reason == NARROW for one in ones):
        yield Note(
            "reading",
            "cannot tell without a number: half the interval is narrower than the margin already, "
            "but the difference is too close to 0 or to the margin",
        )


def _reasons(comparisons: Iterable[Comparison], shown: int = 6) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for one in comparisons:
        if one.slice is None:
            for reason in one.reasons if one.verdict != "same" else ():
                found.setdefault(words(reason), {})[one.metric] = None
    metrics_of = {}
    for reason, metrics in found.items():
        more = [f"{len(metrics) - shown} more"] if len(metrics) > shown else []
        metrics_of[reason] = [*list(metrics)[:shown], *more]
    return metrics_of


SURE, UNSURE, BEYOND = 0, 1, 5
"""The levels of bar parts: shared by all folds, the rest of the weight, beyond it in some fold."""

SHORT = 16
"""The longest name of starting weights that can be the head of a column."""


def weights_page(found: FittedWeights) -> Page:
    """Return the page: the weights, how well they predict people, and which to keep."""
    sections = (
        section(Facts(tuple(_weights_header(found)))),
        section(_weights(found)),
        section(_fits(found)),
        section(Facts(tuple(_settled(found)))),
        small_print(_weights_small_print(found)),
    )
    return Page("weights", found.run, sections, record=found.to_dict)


def _weights_header(found: FittedWeights) -> Iterator[Note]:
    questions, people = found.n_questions, counted(found.n_annotators, "annotator")
    ties = f"; {counted(found.n_ties, 'tie')}" if found.n_ties else ""
    on = f" on {counted(questions, 'question')}, by {people}{ties}"
    yield Note("people", (strong(counted(found.n, _noun(found))), on))
    yield Note("from", found.source)
    yield Note("scores", found.run)


def _weights(found: FittedWeights) -> Table:
    fitted = found.fitted.composite is not None
    start = found.start_name if len(found.start_name) < SHORT else "start"
    rows = []
    for one in found.weights:
        tone: Tone = "" if one.fitted > 0 else "quiet"
        weight = Number(one.fitted if fitted else None, 2, tone=tone, strong=one.fitted > 0)
        folds = quiet(f"{one.least:.2f} – {one.most:.2f}" if fitted else "–")
        before = Number(one.start, 2, tone="quiet")
        rows.append(Row((RowName(one.metric), before, weight, folds, _bar(one))))
    return table(("metric", start, "fitted", "across folds", ""), rows)


def _bar(one: Weight) -> Bar:
    sure = min(one.fitted, one.least)
    beyond = max(one.most - one.fitted, 0.0)
    parts = (BarPart(sure, SURE), BarPart(one.fitted - sure, UNSURE), BarPart(beyond, BEYOND))
    return Bar(parts, 1.0)


def _fits(found: FittedWeights) -> Table:
    ends = [end for fit in (found.start, found.fitted) for end in (fit.concordance, fit.low)]
    above = all(end >= 0.5 for end in ends if end is not None)
    scale = Scale(0.5, 1) if above else Scale(0, 1, (Mark(0.5, "chance"),))
    start = "equal weights" if found.start_name == EQUAL else "starting weights"
    rows = [_fit(start, found.start, scale), _fit("fitted weights", found.fitted, scale)]
    gain = IntervalCell(found.gain, found.gain_low, found.gain_high)
    rows.append(Row((RowName("gain", strong=True), gain, "")))
    loss = "log loss" if found.sort == Sort.PREFERENCE else "squared error"
    columns = (
        Heading("on held-out\nquestions"),
        Heading(loss, level=found.level),
        Heading("concordance", level=found.level),
    )
    return table(columns, rows)


def _fit(name: str, fit: Fit, scale: Scale) -> Row:
    order = IntervalCell(fit.concordance, fit.low, fit.high, scale, strong=False)
    return Row((RowName(name), IntervalCell(fit.loss, None, None, strong=False), order))


def _settled(found: FittedWeights) -> Iterator[Note]:
    kept = found.kept == "fitted"
    tone: Tone = "good" if kept else "caution"
    word = "the fitted weights" if kept else "the starting weights"
    yield Note("keep", (strong(word, tone), f": {words(found.why)}."))
    given = (argument("run", found.run), argument("metrics", found.composite))
    yield Note("use", call("rescore", *given))


def _weights_small_print(found: FittedWeights) -> Iterator[Note]:
    if found.n_left_out:
        lacking = ", ".join(f"{name} {count:,}" for name, count in found.left_out.items())
        said = f"{counted(found.n_left_out, _noun(found))} without a score: {lacking}"
        yield Note("left out", said)
    yield from (
        Note("excluded", f"{name}: {words(reason)}") for name, reason in found.excluded.items()
    )
    yield Note("concordance", "share of pairs that the composite orders as people do")
    yield Note("folds", f"{found.folds} of whole questions, seed {found.seed}")


def _noun(found: FittedWeights) -> str:
    return "pair" if found.sort == Sort.PREFERENCE else "rating"
