"""Weights page: fitted and starting weights, as ``ragstone weights`` prints them."""

from collections.abc import Iterator

from ragstone.analysis.composite_weights.fit_weights import EQUAL, Fit, FittedWeights, Weight
from ragstone.analysis.composite_weights.preferences import Sort
from ragstone.core.messages import argument, call
from ragstone.report.figures import counted
from ragstone.report.page import (
    Bar,
    BarPart,
    Facts,
    Heading,
    IntervalCell,
    Mark,
    Note,
    Number,
    Page,
    Row,
    RowName,
    Scale,
    Table,
    Tone,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.words import words

SURE, UNSURE, BEYOND = 0, 1, 5
"""The levels of bar parts: shared by all folds, the rest of the weight, beyond it in some fold."""

SHORT = 16
"""The longest name of starting weights that can be the head of a column."""


def weights_page(found: FittedWeights) -> Page:
    """Who judged what, the weights, how well they predict people, and which to keep."""
    sections = (
        section(Facts(tuple(_header(found)))),
        section(_weights(found)),
        section(_fits(found)),
        section(Facts(tuple(_settled(found)))),
        small_print(_small_print(found)),
    )
    return Page("weights", found.run, sections, record=found.to_dict)


def _header(found: FittedWeights) -> Iterator[Note]:
    questions, people = found.n_questions, counted(found.n_annotators, "annotator")
    ties = f"; {counted(found.n_ties, 'tie')}" if found.n_ties else ""
    on = f" on {counted(questions, 'question')}, by {people}{ties}"
    yield Note("people", (strong(counted(found.n, _noun(found))), on))
    yield Note("from", found.source)
    yield Note("scores", found.run)


def _weights(found: FittedWeights) -> Table:
    """The weight of each metric, and its range over the folds."""
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
    """A bar of the lowest weight over the folds, the fitted weight, and the highest."""
    sure = min(one.fitted, one.least)
    beyond = max(one.most - one.fitted, 0.0)
    parts = (BarPart(sure, SURE), BarPart(one.fitted - sure, UNSURE), BarPart(beyond, BEYOND))
    return Bar(parts, 1.0)


def _fits(found: FittedWeights) -> Table:
    """How well both sets of weights predict people, with the level of chance marked."""
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


def _small_print(found: FittedWeights) -> Iterator[Note]:
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
