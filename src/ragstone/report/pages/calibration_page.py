"""Calibration page: the judge compared with people, and its corrected numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from ragstone.core.messages import argument, call
from ragstone.report import number_format as fmt
from ragstone.report import page as ui
from ragstone.report.reason_words import words
from ragstone.stats.judge_quality.confusion import Threshold

if TYPE_CHECKING:
    from ragstone.analysis import Calibration
    from ragstone.analysis.calibration.column_checks import JudgeCheck
    from ragstone.analysis.calibration.corrected_means import CorrectedEstimate
    from ragstone.analysis.calibration.judge_identity import FlipRate
    from ragstone.stats.correction.corrected import Corrected

# A difference between numbers of labels up to this size is put down to rounding.
SLACK = 0.05

BY_VERDICT = call("draw_sample", argument("by", "stratified"), argument("strata", "verdict"))
FLAGS = {
    "unlabelled_stratum": "one verdict of the judge has no labels, so its rate could be anything "
    f"from 0 to 1: label some ({BY_VERDICT})",
    "few_labels": "fewer than 20 labels, so the interval is rough",
    "few_clusters": "labels from fewer than 20 clusters, so the interval is rough",
}


KAPPA = ui.Scale(-1, 1, (ui.Mark(0, "chance"),))

# The measures of a judge against people, in the order of the page; each has a value and interval.
FIGURES: Mapping[str, Callable[["JudgeCheck"], Any]] = {
    "agree": lambda check: None if check.words is None else check.words.accuracy,
    "sens.": lambda check: None if check.yes is None else check.yes.sensitivity,
    "spec.": lambda check: None if check.yes is None else check.yes.specificity,
    "κ": lambda check: check.kappa,
    "AUROC": lambda check: check.auroc,
    "ρ": lambda check: check.spearman,
    "ECE": lambda check: check.error,
}


def calibration_page(calibration: "Calibration") -> ui.Page:
    """Return the page: who is compared, three estimates of each metric, their agreement."""
    passport, checks, level = calibration.passport, calibration.checks, calibration.level
    judges = ", ".join(passport.judge.judges) or "nobody"
    header = (
        ui.Note("run", ui.strong(calibration.run)),
        ui.Note("judge", (ui.strong(judges), ui.quiet(f"  {passport.id}"))),
        ui.Note("people", _people(calibration)),
    )
    columns = (ui.Heading("corrected by people", key=True), "", ui.Heading("value", level=level),
               "labels", "worth", ui.Heading("method", drop=1))  # fmt: skip
    rows = [row for estimate in calibration.estimates for row in _ways(estimate)]
    sections = [
        *_not_random(calibration),
        ui.section(ui.Facts(header)),
        *([ui.section(ui.table(columns, rows))] if rows else []),
        *([ui.section(_agreement(calibration))] if checks else []),
        *_reliability(checks),
        ui.section(ui.Paragraphs(tuple(line for check in checks for line in _biases(check)))),
        ui.small_print(_small_print(calibration)),
    ]
    return ui.Page("calibrate", calibration.run, tuple(sections), record=calibration.to_dict)


def _people(calibration: "Calibration") -> str:
    passport = calibration.passport
    people = fmt.counted(passport.annotators, "annotator")
    return f"{fmt.counted(passport.n_examples, 'example')}, {people}"


def interval_of(measure: Any) -> ui.IntervalCell:
    """A measure with its interval, as numbers without a drawing."""
    if measure is None:
        return ui.IntervalCell(None, None, None, strong=False)
    return fmt.interval_cell(measure.value, measure.interval, stands_out=False)


def _not_random(calibration: "Calibration") -> Iterator[ui.Section]:
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
    first = (ui.strong("The labels are not a random sample: ", "bad"), text)
    yield ui.section(ui.Paragraphs((first, follows)))


def _ways(estimate: "CorrectedEstimate") -> Iterator[ui.Row]:
    name = ui.RowName(", ".join([estimate.metric, *estimate.group.values()]), strong=True)
    scale, mean = fmt.scale_for(estimate.metric), estimate.judge
    judge = fmt.interval_cell(mean.value, mean.interval, scale, tone="quiet", stands_out=False)
    known: ui.Cell = ui.Why("unknown", "no score") if mean.value is None else judge
    yield ui.Row((name, ui.RowName("judge"), known, "", "", ""))
    for word, part in (("labels", estimate.labels), ("corrected", estimate.corrected)):
        last = word == "corrected"
        why = (part.reason or "no score").replace("_", " ")
        tone: ui.Tone = "" if last else "quiet"
        drawn = fmt.interval_cell(part.value, part.interval, scale, tone=tone, stands_out=last)
        method = fmt.method_word(None if part.interval is None else part.interval.method)
        yield ui.Row(
            (
                name, ui.RowName(word, strong=last),
                ui.Why("unknown", why) if part.value is None else drawn,
                ui.Count(part.n_labels), _worth(part, strong=last), ui.quiet(method),
            ),
            (ui.Phrase(why, "caution"),)
            if part.interval is None and part.value is not None else (),
        )  # fmt: skip


def _worth(part: "Corrected", *, strong: bool = False) -> ui.Number:
    worth = part.effective_labels
    return ui.Number(None if worth is None or not isfinite(worth) else worth, 0, strong=strong)


def _agreement(calibration: "Calibration") -> ui.Table:
    measures = {word: [of(check) for check in calibration.checks] for word, of in FIGURES.items()}
    listed = {
        word: values for word, values in measures.items()
        if any(measure is not None and measure.value is not None for measure in values)
    }  # fmt: skip
    heads = (ui.Heading(word, level=calibration.level if word == "κ" else None) for word in listed)
    rows = []
    for at, check in enumerate(calibration.checks):
        figures: list[ui.Cell] = [
            fmt.interval_cell(check.kappa.value, check.kappa.interval, KAPPA, stands_out=False)
            if word == "κ"
            else ui.Number(getattr(values[at], "value", None))
            for word, values in listed.items()
        ]
        below: list[ui.Words] = []
        if check.threshold is not None:
            below.append(ui.quiet(f"threshold {_threshold(check.threshold)}"))
        if check.kappa.reason:
            below.append(ui.Phrase(check.kappa.reason.replace("_", " "), "caution"))
        label = ui.RowName(f"{check.kind}.{check.column}")
        rows.append(ui.Row((label, ui.Count(check.n), *figures), tuple(below)))
    return ui.table((ui.Heading("judge against people", key=True), "n", *heads), rows)


def _threshold(threshold: Threshold) -> str:
    reason = str(threshold.reason).replace("_", " ")
    if threshold.value is None:
        return reason
    worth = reason if threshold.cross_validated is None else fmt.number(threshold.cross_validated)
    return f"≥ {fmt.number(threshold.value)} ({threshold.criterion} {worth})"


def _reliability(checks: "Sequence[JudgeCheck]") -> Iterator[ui.Section]:
    for check in checks:
        if drawn := reliability_of(check):
            title = f"Reliability of {check.kind}.{check.column}"
            yield ui.Section((ui.Reliability(drawn, title),), title)


def reliability_of(check: "JudgeCheck") -> tuple[ui.Bin, ...]:
    """The bins of a reliability diagram; none if the judge gave no probabilities."""
    drawn = []
    for bin in () if check.error is None else check.error.bins:
        seen = bin.positives.value
        if seen is not None:
            interval = bin.positives.interval
            low, high = (seen, seen) if interval is None else (interval.low, interval.high)
            drawn.append(ui.Bin(bin.mean_probability, seen, low, high, bin.positives.n))
    return tuple(drawn)


def _biases(check: "JudgeCheck") -> Iterator[ui.Words]:
    from ragstone.analysis.calibration.column_checks import group_words

    for by, difference in check.bias:
        interval = difference.interval
        if interval is None or interval.low <= 0 <= interval.high:
            continue
        way = "more often than people" if difference.value > 0 else "less often than people"
        low, high = sorted((abs(interval.low), abs(interval.high)))
        yield (
            ui.strong(f"{check.kind}.{check.column}"),
            f" where {by} is {group_words(difference)}: the judge says so {way}, by ",
            ui.Phrase(fmt.number(abs(difference.value)), "bad"),
            ui.quiet(f" [{fmt.ends(low, high)}], n {difference.n:,}"),
        )


def _small_print(calibration: "Calibration") -> Iterator[ui.Note]:
    passport = calibration.passport
    for word, rates in (("repeats", passport.flips), ("injection", passport.injection)):
        text = "; ".join(f"{rate.what} {_known(rate)}" for rate in rates)
        yield ui.Note(word, f"share of verdicts that changed: {text}" if rates else "not measured")
    order = passport.order
    text = "not measured" if order is None else f"decided {_known(order)} of the pairs"
    yield ui.Note("order", text)
    parts = [part for item in calibration.estimates for part in (item.labels, item.corrected)]
    yield from fmt.method_notes(part.interval.method for part in parts if part.interval)
    for flag, about in _flagged(calibration.estimates).items():
        warned = f"{FLAGS.get(flag, flag.replace('_', ' '))} ({about})"
        yield ui.Note("caution", ui.Phrase(warned, "caution"))
    worth = "worth: independent labels that would give as narrow an interval without a judge"
    yield ui.Note("reading", worth)
    yield from (ui.Note("reading", line) for line in _reading(calibration.checks))


def _reading(checks: "Sequence[JudgeCheck]") -> Iterator[str]:
    unequal = [check for check in checks if check.effective < check.n - SLACK]
    if unequal:
        worth = ", ".join(f"{check.n:,} count as {check.effective:,.0f}" for check in unequal)
        yield (
            f"labels drawn with unequal probabilities, weighted by the inverse: {worth} drawn at "
            "random"
        )
    errors = (check.error for check in checks)
    chances = [error.by_chance for error in errors
               if error and error.value is not None and error.by_chance is not None]  # fmt: skip
    if chances:
        yield (
            "ECE: mean gap between stated probability and share of yes; by chance alone a "
            f"perfectly calibrated judge would have about "
            f"{', '.join(map(fmt.number, chances))} here"
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


def passport_page(calibration: "Calibration") -> ui.Page:
    """The passport of a judge: what was measured about it, to keep with the numbers."""
    passport, level, checks = calibration.passport, calibration.level, calibration.checks
    judge = passport.judge
    void = (
        f"{passport.id}, checked on {passport.date}. Void once a model, a prompt or the plan "
        "changes: check with ragstone calibrate RUN --passport judge_passport.json."
    )
    facts = (
        ui.Note("data", f"{passport.source} {passport.data[:12]}"),
        ui.Note("labels", f"{_people(calibration)}, {passport.labels[:12]}"),
        *(ui.Note("model", f"{name}: {', '.join(ones)}") for name, ones in judge.models.items()),
        *(ui.Note("prompt", f"{name} {version}") for name, version in judge.prompts.items()),
        *([ui.Note("plan", judge.plan)] if judge.plan else []),
        *(ui.Note("local", part) for part in judge.local),
    )
    sections = [ui.section(void, ui.Facts(facts))]
    if whole := [estimate for estimate in calibration.estimates if not estimate.group]:
        ways = (ui.Heading(word, level=level) for word in ("judge", "labels alone", "corrected"))
        rows = [
            (ui.RowName(item.metric), interval_of(item.judge), interval_of(item.labels),
             interval_of(item.corrected), ui.Count(item.corrected.n_labels), _worth(item.corrected))
            for item in whole
        ]  # fmt: skip
        corrected = ui.table(("metric", *ways, "labels", "worth"), rows)
        sections.append(ui.section(corrected, title="Corrected by people"))
    if checks:
        heads = (ui.Heading(word, level=level) for word in FIGURES)
        units: list[tuple[ui.Cell, ...]] = [
            (ui.RowName(f"{check.kind}.{check.column}"), ui.Count(check.n),
             ui.Number(check.effective, 0),
             *(interval_of(of(check)) for of in FIGURES.values()))
            for check in checks
        ]  # fmt: skip
        by_unit = ui.table(("label", "n", "worth", *heads), units)
        worth = (
            "Worth: the equivalent number of labels drawn at random. Labels drawn with unequal "
            "probabilities are weighted by the inverse."
        )
        sections.append(ui.section(by_unit, title="Against people, unit by unit"))
        sections.append(ui.section(worth))
    changed = (
        ui.Note("asked again", _rates(passport.flips)),
        ui.Note("order of two answers", _rates((passport.order,) if passport.order else ())),
        ui.Note("injected instructions", _rates(passport.injection)),
    )
    title = "Stability: share of verdicts that changed"
    sections.append(ui.section(ui.Facts(changed), title=title))
    name = ", ".join(judge.judges) or "(nobody)"
    return ui.Page("passport", f"Passport of the judge {name}", tuple(sections),
                   record=passport.to_dict)  # fmt: skip


def _rates(rates: "Sequence[FlipRate]") -> str:
    parts = []
    for rate in rates:
        between = (
            "" if rate.low is None or rate.high is None else f" ({fmt.ends(rate.low, rate.high)})"
        )
        parts.append(f"{rate.what} {_known(rate)}{between}, n {rate.n:,}")
    return "; ".join(parts) or "not measured"


def _known(rate: "FlipRate") -> str:
    return "–" if rate.value is None else fmt.number(rate.value)
