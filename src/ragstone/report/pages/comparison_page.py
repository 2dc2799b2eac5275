"""Comparison and weights: the pages of ``ragstone compare`` and ``ragstone weights``."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from ragstone.analysis.comparison.comparison_result import NARROW, Comparison, Comparisons, Ranked
from ragstone.analysis.composite_weights.fit_weights import EQUAL, Fit, FittedWeights
from ragstone.analysis.composite_weights.preferences import Sort
from ragstone.core.grouping import grouped
from ragstone.core.messages import argument, call
from ragstone.report import number_format as fmt
from ragstone.report import page as ui
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

# Descriptions of those interval methods that read differently for a difference.
OF_DIFFERENCES = {
    "t": "a mean difference, one pair per cluster",
    "cluster_t": "a mean difference, clustered",
    "bounded_wilson": "all pairs have the same difference: by the share of pairs that might differ "
    "from it, and the range of the metric",
}


# The width to which the heads of counts are wrapped.
NARROW_HEAD = 11


def comparison_page(comparisons: Comparisons) -> ui.Page:
    """The header, a table for each pair of systems, the ranking, and the small print."""
    sections = [ui.section(_comparison_header(comparisons))]
    for (a, b), pairs in comparisons.between().items():
        tested = [pair for pair in pairs if pair.verdict != "same"]
        lines = (_same(pairs), not_paired(pairs), *corrected_lines(pairs, comparisons))
        below = tuple(filter(None, lines))
        blocks: list[ui.Block] = [_pair_table(tested, comparisons)] if tested else []
        blocks += [ui.Paragraphs(below)] if below else []
        sections.append(ui.Section(tuple(blocks), _title(a, b, pairs)))
    by_name = grouped((rank.metric, rank) for rank in comparisons.ranking)
    ranked = [ranks for ranks in by_name.values() if any(rank.win_share != 0.5 for rank in ranks)]
    if ranked:
        about = "Bradley-Terry: probability of winning against a system of average strength"
        title = (ui.strong("Ranking"), ui.quiet(f"  {about}"))
        sections.append(ui.section(_ranking(ranked, comparisons), title=title))
    sections.append(ui.small_print(_comparison_small_print(comparisons)))
    return ui.Page(
        "compare", " against ".join(comparisons.runs), tuple(sections), notes=comparisons.notes,
        record=comparisons.to_dict,
    )  # fmt: skip


def _comparison_header(comparisons: Comparisons) -> ui.Facts:
    pairs = fmt.counted(len(comparisons.between()), "pair")
    metrics = fmt.counted(len({pair.metric for pair in comparisons.comparisons}), "metric")
    cluster = "" if comparisons.cluster == "question_id" else f"; clusters by {comparisons.cluster}"
    margin = (
        ui.quiet(f"none given, so nothing can be called equivalent: {argument('margin', 'X')}")
        if comparisons.margin is None
        else f"±{comparisons.margin:g}, in the unit of each metric"
    )
    what = (ui.strong(" against ".join(comparisons.runs)), f"  {pairs} of systems · {metrics}")
    return ui.Facts((
        ui.Note("compared", what),
        ui.Note("numbers", whose_numbers(comparisons.checked)),
        ui.Note("paired", f"question by question{cluster}"),
        ui.Note("margin", margin),
    ))  # fmt: skip


def corrected_lines(ones: Iterable[Comparison], comparisons: Comparisons) -> Iterator[str]:
    """The means of two systems that labels corrected, a line a metric."""
    for pair in ones:
        means = {system: comparisons.corrected(pair, system) for system in (pair.a, pair.b)}
        if listed := [f"{name} {with_interval(mean)}" for name, mean in means.items() if mean]:
            name = fmt.row_name(pair.metric, pair.relevance_by)
            yield f"{name} corrected by people, over all answers: {', '.join(listed)}"


def _title(a: str, b: str, ones: Sequence[Comparison]) -> list[str | ui.Phrase]:
    counts = Counter[str](pair.verdict for pair in ones)
    parts: list[str | ui.Phrase] = []
    for verdict, (word, tone) in fmt.VERDICTS.items():
        if counts[verdict]:
            parts += [
                ui.quiet(" · " if parts else "  "),
                ui.Phrase(f"{counts[verdict]} {word}", tone),
            ]
    return [ui.quiet("a "), ui.strong(a), ui.quiet("  against  b "), ui.strong(b), *parts]


def _same(ones: Sequence[Comparison]) -> str:
    names = [
        fmt.row_name(pair.metric, pair.relevance_by)
        + (f" ({', '.join(pair.slice.values())})" if pair.slice else "")
        for pair in ones
        if pair.verdict == "same"
    ]
    same = "Not tested because inputs, judge and prompts are the same on every pair"
    return f"{same}, {fmt.counted(len(names), 'row')}: {', '.join(names)}" if names else ""


def _pair_table(ones: Sequence[Comparison], comparisons: Comparisons) -> ui.Table:
    sliced = any(pair.slice for pair in ones)
    needed = fmt.needed_kinds(ones)
    columns: tuple[ui.Heading | str, ...] = (
        ui.Heading("metric", key=True), *(["slice"] if sliced else []), ui.Heading("a", drop=3),
        ui.Heading("b", drop=3), ui.Heading("a - b", level=comparisons.level),
        ui.Heading("rel.", drop=1), ui.Heading("win", drop=1), ui.Heading("d", drop=1),
        f"p {ADJUSTED[comparisons.adjust][0]}", ui.Heading("w/t/l", drop=2), "verdict",
        *(fill(fmt.NEEDED[kind][0], NARROW_HEAD) for kind in needed),
    )  # fmt: skip
    reach = fmt.reach_of(ones)
    by_metric = list(dict.fromkeys(pair.metric for pair in ones))
    ordered = sorted(ones, key=lambda pair: by_metric.index(pair.metric))
    return ui.table(columns, (_cells(item, reach, needed, sliced=sliced) for item in ordered))


def _cells(
    pair: Comparison, reach: float, needed: Sequence[str], *, sliced: bool
) -> Iterator[ui.Cell]:
    word, tone = fmt.VERDICTS[pair.verdict]
    yield ui.RowName(fmt.row_name(pair.metric, pair.relevance_by), pair.better)
    if sliced:
        values = None if pair.slice is None else ", ".join(pair.slice.values())
        yield ui.RowName("all", strong=True) if values is None else ui.RowName(values)
    yield ui.Number(pair.value_a)
    yield ui.Number(pair.value_b)
    yield fmt.difference_cell(pair, reach)
    yield ui.Number(pair.relative_change, 1, sign="+", unit=" %")
    yield ui.Number(None if pair.win_rate is None else pair.win_rate.value * 100, 0, unit=" %")
    yield ui.Number(pair.effect_size, 2, sign="+")
    yield ui.P(pair.p_adjusted)
    yield f"{pair.wins}/{pair.ties}/{pair.losses}"
    few = f"{fmt.counted(pair.n_pairs, 'pair')} only" if pair.caution else ""
    yield ui.Verdict(pair.verdict, word, tone, few)
    for kind in needed:
        yield (ui.Count(pair.n_needed) if pair.n_needed and pair.needed_for == kind else "")


def _ranking(ranked: Sequence[Sequence[Ranked]], comparisons: Comparisons) -> ui.Table:
    systems = list(dict.fromkeys(rank.system for ranks in ranked for rank in ranks))
    by = {pair.metric: pair.relevance_by for pair in comparisons.comparisons}
    rows = []
    for ranks in ranked:
        cells: dict[str, ui.Cell] = {
            rank.system: f"won {fmt.percent(rank.win_share, 0)}" if rank.win_probability is None
            else ui.IntervalCell(rank.win_probability, rank.win_low, rank.win_high, strong=False)
            for rank in ranks
        }  # fmt: skip
        name = ui.RowName(fmt.row_name(ranks[0].metric, by.get(ranks[0].metric, "")))
        rows.append((name, *(cells[system] for system in systems)))
    heads = (ui.Heading(name, level=comparisons.level, peer=True) for name in systems)
    return ui.table(("metric", *heads), rows)


def _comparison_small_print(comparisons: Comparisons) -> Iterator[ui.Note]:
    alpha = fmt.percent(1 - comparisons.level)
    yield from fmt.method_notes((pair.method for pair in comparisons.comparisons), OF_DIFFERENCES)
    for test in dict.fromkeys(pair.test for pair in comparisons.comparisons if pair.test):
        word, about = TESTS[test]
        text = about.format(flips=comparisons.resamples, seed=comparisons.seed)
        yield ui.Note("tests", (ui.strong(word), f"  {text}"))
    word, about = ADJUSTED[comparisons.adjust]
    text = f"  {about.format(alpha=alpha)}; over {fmt.counted(comparisons.family, 'comparison')}"
    yield ui.Note("adjusted", (ui.strong(word), text))
    yield from _reading(comparisons, alpha)
    for reason, metrics in _reasons(comparisons.comparisons).items():
        yield ui.Note("note", f"{reason}: {', '.join(metrics)}")


def _reading(comparisons: Comparisons, alpha: str) -> Iterator[ui.Note]:
    ones = comparisons.comparisons
    yield ui.Note("reading", "↑ more is better, ↓ less is better, · neither")
    yield ui.Note("reading", "a and b are means over their pairs", needs="a")
    wins = "w/t/l: pairs on which a wins, both tie, a loses"
    yield ui.Note("reading", wins, needs="w/t/l")
    sizes = (
        "rel.: a - b in percent of b; win: share of pairs on which a wins, ties counting half; "
        "d: the mean difference divided by the standard deviation of the differences (Cohen's d_z)"
    )
    yield ui.Note("reading", sizes, needs="rel.")
    if comparisons.margin is not None:
        yield ui.Note(
            "reading",
            f"equivalent: inside the margin by two one-sided tests, p ≤ {alpha} after the same "
            "adjustment, of differences and equivalence together",
        )
    if any(pair.caution for pair in ones):
        yield ui.Note("reading", "N pairs only: so few pairs make a rough verdict")
    yield from (ui.Note("reading", line) for line in fmt.needed_notes(ones))
    if any(pair.n_needed_reason == NARROW for pair in ones):
        yield ui.Note(
            "reading",
            "cannot tell without a number: half the interval is narrower than the margin already, "
            "but the difference is too close to 0 or to the margin",
        )


def _reasons(comparisons: Iterable[Comparison], listed: int = 6) -> dict[str, list[str]]:
    by_reason: dict[str, dict[str, None]] = {}
    for pair in comparisons:
        if pair.slice is None:
            for reason in pair.reasons if pair.verdict != "same" else ():
                by_reason.setdefault(words(reason), {})[pair.metric] = None
    metrics_of = {}
    for reason, metrics in by_reason.items():
        more = [f"{len(metrics) - listed} more"] if len(metrics) > listed else []
        metrics_of[reason] = [*list(metrics)[:listed], *more]
    return metrics_of


# The levels of bar parts: shared by all folds, the rest of the weight, beyond it in some fold.
SURE, UNSURE, BEYOND = 0, 1, 5

# The longest name of starting weights that can be the head of a column.
SHORT = 16


def weights_page(weights: FittedWeights) -> ui.Page:
    """Return the page: the weights, how well they predict people, and which to keep."""
    people = fmt.counted(weights.n_annotators, "annotator")
    ties = f"; {fmt.counted(weights.n_ties, 'tie')}" if weights.n_ties else ""
    on = f" on {fmt.counted(weights.n_questions, 'question')}, by {people}{ties}"
    header = (
        ui.Note("people", (ui.strong(fmt.counted(weights.n, _noun(weights))), on)),
        ui.Note("from", weights.source),
        ui.Note("scores", weights.run),
    )
    fitted = weights.kept == "fitted"
    keep = ui.strong("the fitted weights", "good") if fitted else (
        ui.strong("the starting weights", "caution")
    )  # fmt: skip
    options = (argument("run", weights.run), argument("metrics", weights.composite))
    settled = (ui.Note("keep", (keep, f": {words(weights.why)}.")),
               ui.Note("use", call("rescore", *options)))  # fmt: skip
    sections = (
        ui.section(ui.Facts(header)),
        ui.section(_weights(weights)),
        ui.section(_fits(weights)),
        ui.section(ui.Facts(settled)),
        ui.small_print(_weights_small_print(weights)),
    )
    return ui.Page("weights", weights.run, sections, record=weights.to_dict)


def _weights(weights: FittedWeights) -> ui.Table:
    fitted = weights.fitted.composite is not None
    start = weights.start_name if len(weights.start_name) < SHORT else "start"
    rows = []
    for item in weights.weights:
        tone: ui.Tone = "" if item.fitted > 0 else "quiet"
        weight = ui.Number(item.fitted if fitted else None, 2, tone=tone, strong=item.fitted > 0)
        folds = ui.quiet(f"{item.least:.2f} – {item.most:.2f}" if fitted else "–")
        sure, beyond = min(item.fitted, item.least), max(item.most - item.fitted, 0.0)
        parts = (
            ui.BarPart(sure, SURE),
            ui.BarPart(item.fitted - sure, UNSURE),
            ui.BarPart(beyond, BEYOND),
        )
        before = ui.Number(item.start, 2, tone="quiet")
        rows.append((ui.RowName(item.metric), before, weight, folds, ui.Bar(parts, 1.0)))
    return ui.table(("metric", start, "fitted", "across folds", ""), rows)


def _fits(weights: FittedWeights) -> ui.Table:
    ends = [end for fit in (weights.start, weights.fitted) for end in (fit.concordance, fit.low)]
    above = all(end >= 0.5 for end in ends if end is not None)
    scale = ui.Scale(0.5, 1) if above else ui.Scale(0, 1, (ui.Mark(0.5, "chance"),))
    start = "equal weights" if weights.start_name == EQUAL else "starting weights"
    gain = ui.IntervalCell(weights.gain, weights.gain_low, weights.gain_high)
    rows = (
        _fit(start, weights.start, scale),
        _fit("fitted weights", weights.fitted, scale),
        (ui.RowName("gain", strong=True), gain, ""),
    )
    loss = "log loss" if weights.sort == Sort.PREFERENCE else "squared error"
    heads = (ui.Heading(head, level=weights.level) for head in (loss, "concordance"))
    return ui.table(("on held-out\nquestions", *heads), rows)


def _fit(name: str, fit: Fit, scale: ui.Scale) -> tuple[ui.Cell, ...]:
    order = ui.IntervalCell(fit.concordance, fit.low, fit.high, scale, strong=False)
    return ui.RowName(name), ui.IntervalCell(fit.loss, None, None, strong=False), order


def _weights_small_print(weights: FittedWeights) -> Iterator[ui.Note]:
    if weights.n_left_out:
        lacking = ", ".join(f"{name} {count:,}" for name, count in weights.left_out.items())
        text = f"{fmt.counted(weights.n_left_out, _noun(weights))} without a score: {lacking}"
        yield ui.Note("left out", text)
    yield from (
        ui.Note("excluded", f"{name}: {words(reason)}") for name, reason in weights.excluded.items()
    )
    yield ui.Note("concordance", "share of pairs that the composite orders as people do")
    yield ui.Note("folds", f"{weights.folds} of whole questions, seed {weights.seed}")


def _noun(weights: FittedWeights) -> str:
    return "pair" if weights.sort == Sort.PREFERENCE else "rating"
