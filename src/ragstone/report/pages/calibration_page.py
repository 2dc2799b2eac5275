"""Calibration page: the judge compared with people, and its corrected numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from ragstone.core.messages import argument, call
from ragstone.report.number_format import (
    counted,
    ends,
    interval_cell,
    method_notes,
    method_word,
    number,
    scale_for,
)
from ragstone.report.page import (
    Bin,
    Cell,
    Count,
    Facts,
    Heading,
    IntervalCell,
    Mark,
    Note,
    Number,
    Page,
    Paragraphs,
    Phrase,
    Reliability,
    Row,
    RowName,
    Scale,
    Section,
    Table,
    Why,
    Words,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.reason_words import words
from ragstone.stats import Interval as Ends
from ragstone.stats.judge_quality.confusion import Threshold

if TYPE_CHECKING:
    from ragstone.analysis import Calibration
    from ragstone.analysis.calibration.column_checks import JudgeCheck
    from ragstone.analysis.calibration.corrected_means import CorrectedEstimate
    from ragstone.analysis.calibration.judge_identity import FlipRate
    from ragstone.stats.correction.corrected import Corrected

SLACK = 0.05
"""A difference between numbers of labels up to this size is put down to rounding."""

BY_VERDICT = call("draw_sample", argument("by", "stratified"), argument("strata", "verdict"))
FLAGS = {
    "unlabelled_stratum": "one verdict of the judge has no labels, so its rate could be anything "
    f"from 0 to 1: label some ({BY_VERDICT})",
    "few_labels": "fewer than 20 labels, so the interval is rough",
    "few_clusters": "labels from fewer than 20 clusters, so the interval is rough",
}


class Found(Protocol):
    """A measure of agreement, with its interval."""

    @property
    def value(self) -> float | None: ...
    @property
    def interval(self) -> Ends | None: ...


FIGURES: Mapping[str, Callable[["JudgeCheck"], Found | None]] = {
    "agree": lambda check: None if check.words is None else check.words.accuracy,
    "sens.": lambda check: None if check.yes is None else check.yes.sensitivity,
    "spec.": lambda check: None if check.yes is None else check.yes.specificity,
    "κ": lambda check: check.kappa,
    "AUROC": lambda check: check.auroc,
    "ρ": lambda check: check.spearman,
    "ECE": lambda check: check.error,
}
"""The measures of a judge against people, in the order of the page."""


def calibration_page(calibration: "Calibration") -> Page:
    """Return the page: who is compared, three estimates of each metric, their agreement."""
    sections = [
        *_not_random(calibration),
        section(_header(calibration)),
        *([section(_estimates(calibration))] if calibration.estimates else []),
        *([section(_agreement(calibration))] if calibration.checks else []),
        *_reliability(calibration.checks),
        section(Paragraphs(tuple(line for check in calibration.checks for line in _biases(check)))),
        small_print(_small_print(calibration)),
    ]
    return Page("calibrate", calibration.run, tuple(sections), record=calibration.to_dict)


def interval_of(measure: Found | None) -> IntervalCell:
    """A measure with its interval, as numbers without a drawing."""
    if measure is None:
        return IntervalCell(None, None, None, strong=False)
    return interval_cell(measure.value, measure.interval, stands_out=False)


def _not_random(calibration: "Calibration") -> Iterator[Section]:
    if not calibration.not_random:
        return
    same: dict[str, dict[str, None]] = {}
    for item in calibration.not_random:
        where = f"{item.metric} ({', '.join(item.group.values()) or 'all'})"
        same.setdefault("; ".join(map(words, item.differences)), {})[where] = None
    text = "; ".join(f"{why}, p < .001: {', '.join(where)}" for why, where in same.items())
    follows = (
        f"Corrected anyway, because of {argument('assume_random', True)}."
        if calibration.assume_random
        else f"So these are not corrected. {call('draw_sample')} draws a random sample to label; "
        f"{argument('assume_random', True)} corrects anyway."
    )
    first = (strong("The labels are not a random sample: ", "bad"), text)
    yield section(Paragraphs((first, follows)))


def _header(calibration: "Calibration") -> Facts:
    passport = calibration.passport
    judges = ", ".join(passport.judge.judges) or "nobody"
    labelled = counted(passport.n_examples, "example")
    return Facts((
        Note("run", strong(calibration.run)),
        Note("judge", (strong(judges), quiet(f"  {passport.id}"))),
        Note("people", f"{labelled}, {counted(passport.annotators, 'annotator')}"),
    ))  # fmt: skip


def _estimates(calibration: "Calibration") -> Table:
    columns = (
        Heading("corrected by people", key=True),
        Heading(),
        Heading("value", level=calibration.level),
        Heading("labels"),
        Heading("worth"),
        Heading("method", drop=1),
    )
    return table(columns, [row for estimate in calibration.estimates for row in _ways(estimate)])


def _ways(estimate: "CorrectedEstimate") -> Iterator[Row]:
    name = RowName(", ".join([estimate.metric, *estimate.group.values()]), strong=True)
    scale = scale_for(estimate.metric)
    judge = interval_cell(
        estimate.judge.value, estimate.judge.interval, scale, tone="quiet", stands_out=False
    )
    known: Cell = Why("unknown", "no score") if estimate.judge.value is None else judge
    yield Row((name, RowName("judge"), known, "", "", ""))
    for word, part in (("labels", estimate.labels), ("corrected", estimate.corrected)):
        last = word == "corrected"
        why = (part.reason or "no score").replace("_", " ")
        drawn = interval_cell(
            part.value, part.interval, scale, tone="" if last else "quiet", stands_out=last
        )
        yield Row(
            (
                name,
                RowName(word, strong=last),
                Why("unknown", why) if part.value is None else drawn,
                Count(part.n_labels),
                _worth(part, strong=last),
                quiet(method_word(None if part.interval is None else part.interval.method)),
            ),
            (Phrase(why, "caution"),) if part.interval is None and part.value is not None else (),
        )


def _worth(part: "Corrected", *, strong: bool = False) -> Number:
    worth = part.effective_labels
    return Number(None if worth is None or not isfinite(worth) else worth, 0, strong=strong)


def _agreement(calibration: "Calibration") -> Table:
    listed = [word for word, of in FIGURES.items()
             if any((item := of(check)) is not None and item.value is not None
                    for check in calibration.checks)]  # fmt: skip
    heads = [Heading(word, level=calibration.level if word == "κ" else None) for word in listed]
    rows = []
    for check in calibration.checks:
        figures = [_figure(word, FIGURES[word](check)) for word in listed]
        below: list[Words] = []
        if check.threshold is not None:
            below.append(quiet(f"threshold {_threshold(check.threshold)}"))
        if check.kappa.reason:
            below.append(Phrase(check.kappa.reason.replace("_", " "), "caution"))
        label = RowName(f"{check.kind}.{check.column}")
        rows.append(Row((label, Count(check.n), *figures), tuple(below)))
    return table((Heading("judge against people", key=True), Heading("n"), *heads), rows)


def _figure(word: str, measure: Found | None) -> Cell:
    if word != "κ":
        return Number(None if measure is None else measure.value)
    value, interval = (None, None) if measure is None else (measure.value, measure.interval)
    scale = Scale(-1, 1, (Mark(0, "chance"),))
    return interval_cell(value, interval, scale, stands_out=False)


def _threshold(threshold: Threshold) -> str:
    reason = str(threshold.reason).replace("_", " ")
    if threshold.value is None:
        return reason
    worth = reason if threshold.cross_validated is None else number(threshold.cross_validated)
    return f"≥ {number(threshold.value)} ({threshold.criterion} {worth})"


def _reliability(checks: "Sequence[JudgeCheck]") -> Iterator[Section]:
    for check in checks:
        if drawn := reliability_of(check):
            title = f"Reliability of {check.kind}.{check.column}"
            yield Section((Reliability(drawn, title),), title)


def reliability_of(check: "JudgeCheck") -> tuple[Bin, ...]:
    """The bins of a reliability diagram; none if the judge gave no probabilities."""
    drawn = []
    for bin in () if check.error is None else check.error.bins:
        seen = bin.positives.value
        if seen is not None:
            interval = bin.positives.interval
            low, high = (seen, seen) if interval is None else (interval.low, interval.high)
            drawn.append(Bin(bin.mean_probability, seen, low, high, bin.positives.n))
    return tuple(drawn)


def _biases(check: "JudgeCheck") -> Iterator[Words]:
    for bias in check.bias:
        difference = bias.of
        if difference.interval is None or difference.interval.low <= 0 <= difference.interval.high:
            continue
        way = "more often than people" if difference.value > 0 else "less often than people"
        yield (
            strong(f"{check.kind}.{check.column}"),
            f" where {bias.by} is {_named(difference.group)}: the judge says so {way}, by ",
            Phrase(number(abs(difference.value)), "bad"),
            quiet(f" [{ends(*_size(difference.interval))}], n {difference.n:,}"),
        )


def _size(interval: Ends) -> tuple[float, float]:
    low, high = sorted((abs(interval.low), abs(interval.high)))
    return low, high


def _named(group: object) -> str:
    return f"{group[0]:g} to {group[1]:g}" if isinstance(group, tuple) else str(group)


def _small_print(calibration: "Calibration") -> Iterator[Note]:
    passport = calibration.passport
    for word, rates in (("repeats", passport.flips), ("injection", passport.injection)):
        text = "; ".join(f"{rate.what} {_known(rate)}" for rate in rates)
        yield Note(word, f"share of verdicts that changed: {text}" if rates else "not measured")
    order = passport.order
    text = "not measured" if order is None else f"decided {_known(order)} of the pairs"
    yield Note("order", text)
    parts = [
        part for estimate in calibration.estimates for part in (estimate.labels, estimate.corrected)
    ]
    yield from method_notes(part.interval.method for part in parts if part.interval)
    for flag, about in _flagged(calibration.estimates).items():
        warned = f"{FLAGS.get(flag, flag.replace('_', ' '))} ({about})"
        yield Note("caution", Phrase(warned, "caution"))
    worth = "worth: independent labels that would give as narrow an interval without a judge"
    yield Note("reading", worth)
    yield from (Note("reading", line) for line in _reading(calibration.checks))


def _reading(checks: "Sequence[JudgeCheck]") -> Iterator[str]:
    unequal = [check for check in checks if check.effective < check.n - SLACK]
    if unequal:
        worth = ", ".join(f"{check.n:,} count as {check.effective:,.0f}" for check in unequal)
        yield (
            f"labels drawn with unequal probabilities, weighted by the inverse: {worth} drawn at "
            "random"
        )
    errors = [
        check.error for check in checks if check.error is not None and check.error.value is not None
    ]
    chances = [error.by_chance for error in errors if error.by_chance is not None]
    if chances:
        yield (
            "ECE: mean gap between stated probability and share of yes; by chance alone a "
            f"perfectly calibrated judge would have about {', '.join(map(number, chances))} here"
        )
    if any(check.threshold is not None for check in checks):
        yield "threshold: in brackets its value on labels not used to choose it (cross-validated)"


def _flagged(estimates: "Sequence[CorrectedEstimate]") -> dict[str, str]:
    estimates = [estimate for estimate in estimates if estimate.corrected.interval is not None]
    by_flag: dict[str, dict[str, list[str]]] = {}
    for estimate in estimates:
        for flag in estimate.corrected.flags:
            group = ", ".join(estimate.group.values()) or "all"
            by_flag.setdefault(flag, {}).setdefault(estimate.metric, []).append(group)
    where = {}
    for flag, about in by_flag.items():
        each = [f"{metric}: {', '.join(groups)}" for metric, groups in about.items()]
        every = sum(map(len, about.values())) == len(estimates) > 1
        where[flag] = "all of them" if every else "; ".join(each)
    return where


def passport_page(calibration: "Calibration") -> Page:
    """The passport of a judge: what was measured about it, to keep with the numbers."""
    passport = calibration.passport
    judge = passport.judge
    void = (
        f"{passport.id}, checked on {passport.date}. Void once a model, a prompt or the plan "
        "changes: check with ragstone calibrate RUN --passport judge_passport.json."
    )
    people = (
        f"{counted(passport.n_examples, 'example')}, {counted(passport.annotators, 'annotator')}"
    )
    facts = [
        Note("data", f"{passport.source} {passport.data[:12]}"),
        Note("labels", f"{people}, {passport.labels[:12]}"),
        *(Note("model", f"{name}: {', '.join(ones)}") for name, ones in judge.models.items()),
        *(Note("prompt", f"{name} {version}") for name, version in judge.prompts.items()),
        *([Note("plan", judge.plan)] if judge.plan else []),
        *(Note("local", part) for part in judge.local),
    ]
    steady = (
        ("asked again", passport.flips),
        ("order of two answers", (passport.order,) if passport.order else ()),
        ("injected instructions", passport.injection),
    )
    changed = [Note(word, _rates(rates)) for word, rates in steady]
    whole = [estimate for estimate in calibration.estimates if not estimate.group]
    sections = [section(Paragraphs((void,)), Facts(tuple(facts)))]
    if whole:
        sections.append(Section((_three_ways(whole, calibration.level),), "Corrected by people"))
    if calibration.checks:
        sections.append(Section((_unit_by_unit(calibration),), "Against people, unit by unit"))
        worth = (
            "Worth: the equivalent number of labels drawn at random. Labels drawn with unequal "
            "probabilities are weighted by the inverse."
        )
        sections.append(section(Paragraphs((worth,))))
    words = "Stability: share of verdicts that changed"
    sections.append(Section((Facts(tuple(changed)),), words))
    name = ", ".join(judge.judges) or "(nobody)"
    return Page("passport", f"Passport of the judge {name}", tuple(sections),
                record=passport.to_dict)  # fmt: skip


def _three_ways(estimates: "Sequence[CorrectedEstimate]", level: float) -> Table:
    heads = [Heading(word, level=level) for word in ("judge", "labels alone", "corrected")]
    rows = [
        Row((
            RowName(estimate.metric),
            *(interval_of(way) for way in (estimate.judge, estimate.labels, estimate.corrected)),
            Count(estimate.corrected.n_labels),
            _worth(estimate.corrected),
        ))
        for estimate in estimates
    ]  # fmt: skip
    return table((Heading("metric"), *heads, Heading("labels"), Heading("worth")), rows)


def _unit_by_unit(calibration: "Calibration") -> Table:
    heads = [Heading(word, level=calibration.level) for word in FIGURES]
    rows = [
        Row((
            RowName(f"{check.kind}.{check.column}"),
            Count(check.n),
            Number(check.effective, 0),
            *(interval_of(of(check)) for of in FIGURES.values()),
        ))
        for check in calibration.checks
    ]  # fmt: skip
    return table((Heading("label"), Heading("n"), Heading("worth"), *heads), rows)


def _rates(rates: "Sequence[FlipRate]") -> str:
    parts = []
    for rate in rates:
        between = "" if rate.low is None or rate.high is None else f" ({ends(rate.low, rate.high)})"
        parts.append(f"{rate.what} {_known(rate)}{between}, n {rate.n:,}")
    return "; ".join(parts) or "not measured"


def _known(rate: "FlipRate") -> str:
    return "–" if rate.value is None else number(rate.value)
