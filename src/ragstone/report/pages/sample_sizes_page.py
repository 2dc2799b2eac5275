"""Sample size pages: how much to run, compare or label, as ``ragstone plan`` prints it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from shlex import quote

from ragstone.analysis.sample_sizes.label_sizes import LabelSize
from ragstone.analysis.sample_sizes.question_sizes import FEW, MeanSize, PairedSize, RateSize
from ragstone.report.number_format import counted, interval_cell, number, percent
from ragstone.report.page import (
    Bar,
    BarPart,
    Cell,
    Count,
    Facts,
    Heading,
    IntervalCell,
    Note,
    Number,
    Page,
    Paragraphs,
    Phrase,
    Record,
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
from ragstone.stats import wilson

METHODS = {
    "ppi_plus_plus": "by PPI++",
    "poststratified": "post-stratified",
    "labels_only": "from the labels alone",
}

DONE, LEFT = 0, 5
"""The levels of bar parts: what there is, and what is lacking."""

NOTHING = "No metric of this run has a value."


def rate_page(found: RateSize) -> Page:
    """The rows needed, and what fewer or more rows would give."""
    answer: Words = (
        strong(f"{found.rows:,} rows"),
        f" hold a rate of {number(found.rate)} to within ±{found.half_width:g}, "
        f"at {percent(found.level)}.",
    )
    note = quiet(
        "By the Wilson interval, one row per question. Rows that share a question tell less: "
        "ragstone plan mean RUN takes that from a run."
    )
    rows = []
    for count, half in found.steps:
        chosen = count == found.rows
        interval = wilson(found.rate * count, count, level=found.level)
        drawn = interval_cell(found.rate, interval, Scale(0, 1), stands_out=chosen)
        rows.append(
            Row((Count(count, strong=chosen), Number(half, sign="±", strong=chosen), drawn))
        )
    columns = (Heading("rows"), Heading("half-width"), Heading("rate", level=found.level))
    blocks = (Paragraphs((answer,)), table(columns, rows), Paragraphs((note,)))
    return Page("plan", "rate", (section(*blocks),), record=found.to_dict)


def mean_page(run: str, found: Sequence[MeanSize], *, cluster: str = "question_id") -> Page:
    """The rows each mean has and needs; ``cluster`` is the field that defines clusters."""
    record = {"plan": "mean", "run": run, "cluster": cluster, "sizes": list(map(asdict, found))}
    if not found:
        return _page(run, [section(Paragraphs((NOTHING,)))], record)
    first = found[0]
    wanted = f"a mean to within ±{first.half_width:g}, at {percent(first.level)}"
    shared = "questions" if cluster == "question_id" else f"values of {cluster}"
    notes = [
        f"needed: {shared} like these, with as many rows each. The number is only as certain as "
        "the variance measured in this run.",
        *_few(one.questions_now for one in found),
    ]
    sections = [_wanted(wanted, run), section(_means(found, cluster)), _quiet(notes)]
    return _page(run, sections, record)


def paired_page(run: str, found: Sequence[PairedSize]) -> Page:
    """The difference each comparison can detect with the data at hand, and the rows it needs."""
    record = {"plan": "paired", "run": run, "sizes": list(map(asdict, found))}
    if not found:
        return _page(run, [section(Paragraphs((NOTHING,)))], record)
    first = found[0]
    often = f"{percent(first.power)} of the time, two-sided at {1 - first.level:.2g}"
    if first.difference is None:
        wanted = f"what difference can be found {often}"
    else:
        wanted = f"to find a difference of {abs(first.difference):g} {often}"
    notes = []
    if left := max(one.left_out for one in found):
        notes.append(f"Up to {left:,} questions have no score for one of the two and are left out.")
    if few := {one.reason: None for one in found if one.detectable is None and one.pairs}:
        notes.append(f"Not detectable yet: {'; '.join(words(why or '–') for why in few)}.")
    notes.append(_tests(found))
    notes += _few(one.pairs_now for one in found)
    sections = [_wanted(wanted, run), section(_pairs(found)), _quiet(notes)]
    if any(one.margin is not None for one in found):
        least = "the smallest within which two equal systems would be shown to be equivalent"
        sections.append(small_print([Note("margin", least, needs="margin")]))
    return _page(run, sections, record)


def labels_page(found: LabelSize) -> Page:
    """Return the page: how many labels are needed, with the judge's help and without."""
    known = found.known
    what = [found.metric or ("the mean" if known.rate is None else "the rate")]
    what += [found.system] if found.system else []
    often = "" if found.assurance is None else f", in {percent(found.assurance)} of samples"
    wanted = f"{', '.join(what)} to within ±{found.half_width:g}, at {percent(found.level)}{often}"
    facts = [
        Note("wanted", strong(wanted)),
        Note("judged", f"{counted(known.judged, 'row')}{_clusters(found)}"),
        Note("judge", _judge(found)),
    ]
    if known.rate is not None:
        facts.append(Note("true rate", f"about {number(known.rate)}"))
    elif known.deviation is not None:
        facts.append(Note("deviation", f"{number(known.deviation)}, of human scores"))
    sections = [section(Facts(tuple(facts))), section(_labels(found)), _quiet(_advice(found))]
    return Page("plan", found.metric or "labels", tuple(sections), record=found.to_dict)


def _page(run: str, sections: Sequence[Section], record: Record) -> Page:
    return Page("plan", run, tuple(sections), record=lambda: record)


def _wanted(wanted: str, run: str) -> Section:
    return section(Facts((Note("wanted", strong(wanted)), Note("based on", run))))


def _quiet(notes: Iterable[str]) -> Section:
    return section(Paragraphs(tuple(map(quiet, notes))))


def _means(found: Sequence[MeanSize], cluster: str) -> Table:
    clustered = any(one.rows_now != one.questions_now for one in found)
    columns = [
        Heading("metric", key=True),
        Heading("system", several=True),
        Heading("value", level=found[0].level),
        Heading("questions" if cluster == "question_id" else f"by {cluster}"),
        *([Heading("design effect", drop=1)] if clustered else []),
        Heading("needed"),
        Heading("rows" if clustered else "more"),
        Heading(),
    ]
    return table(columns, [Row(tuple(_mean(one, clustered=clustered))) for one in found])


def _mean(one: MeanSize, *, clustered: bool) -> Iterator[Cell]:
    yield RowName(one.metric)
    yield RowName(one.system)
    yield IntervalCell(one.value, one.low, one.high)
    yield Count(one.questions_now)
    if clustered:
        yield Number(one.design_effect, 2)
    if one.questions is None or one.rows is None:
        yield from (Why("unknown", words(one.reason or "–")), None, None)
        return
    yield Count(one.questions, strong=True)
    lacking = one.questions - one.questions_now
    more = f"+{lacking:,}" if lacking > 0 else "enough"
    yield Count(one.rows) if clustered else more
    yield _bar(min(one.questions_now, one.questions), one.questions)


def _pairs(found: Sequence[PairedSize]) -> Table:
    asked = found[0].difference is not None
    with_n = {one.at for one in found if one.at is not None} - {one.pairs_now for one in found}
    columns = [
        Heading("metric", key=True),
        Heading("a - b"),
        Heading("difference\nnow"),
        Heading("st. dev.", drop=1),
        Heading("questions"),
        Heading(f"detectable\nwith {min(with_n):,}" if with_n else "detectable"),
        Heading("margin", drop=2),
        *([Heading("needed"), Heading("power now", drop=3)] if asked else []),
    ]
    return table(columns, [Row(tuple(_pair(one, asked=asked))) for one in found])


def _pair(one: PairedSize, *, asked: bool) -> Iterator[Cell]:
    yield RowName(one.metric)
    yield RowName(f"{one.a} - {one.b}")
    yield Number(one.difference_now, sign="+")
    yield Number(one.deviation)
    yield Count(one.pairs_now)
    if one.detectable is None and one.pairs is None:
        yield Why("unknown", words(one.reason or "–"))
        yield from [None] * (3 if asked else 1)
        return
    yield Number(one.detectable, sign="±", strong=not asked)
    yield Number(None if one.detectable is None else one.margin, sign="±")
    if asked:
        yield Count(one.pairs, strong=True)
        power = None if one.power_now is None else one.power_now * 100
        yield Number(power, 1, unit=" %")


def _tests(found: Sequence[PairedSize]) -> str:
    tests = {one.test for one in found}
    exact, flips = "McNemar's exact test for rates", "a permutation test of the differences"
    words = [word for test, word in (("mcnemar_exact", exact), ("sign_flip", flips))
             if test in tests]  # fmt: skip
    test = f"Tested as by ragstone compare: {', '.join(words)}, for questions that vary as here"
    family = found[0].family
    if family == 1:
        return f"{test}. A single test."
    return f"{test}; one of {family:,} tests, so each at {1 - found[0].level:.2g} / {family:,}."


def _labels(found: LabelSize) -> Table:
    most = max(found.labels or 0, found.labels_only)
    if found.labels is None:
        why = Why("unknown", words(found.reason or "–"))
        rows = [Row((Phrase("too few", "caution"), why, None))]
    else:
        answers = strong(_answers(found.labels, found.questions))
        rows = [Row((strong("label"), answers, _bar(found.labels, most)))]
    alone = quiet(f"{_answers(found.labels_only, found.questions_only)} without the judge")
    rows.append(Row((quiet("or"), alone, _bar(found.labels_only, most))))
    return table((Heading(), Heading(), Heading()), rows)


def _advice(found: LabelSize) -> Iterator[str]:
    if found.saved:
        yield f"The judge saves {percent(found.saved, 1)} of the labels."
    elif found.labels is not None:
        yield "A judge like this saves no labels."
    yield from _on_average(found)
    sample = f"ragstone sample RUN --metric {quote(found.metric) if found.metric else '…'}"
    if found.questions is None:
        yield f"Draw at random among the judged: {sample} --n N"
    else:
        yield (
            f"Draw whole questions: {sample} --whole-questions --n N. "
            "The same number of answers drawn one by one tells a little more."
        )
    by = "" if found.labels is None else f", {METHODS[found.method]}"
    yield f"Then estimate with ragstone calibrate RUN --labels FILE{by}."


def _bar(part: int, whole: int) -> Bar:
    return Bar((BarPart(part, DONE), BarPart(whole - part, LEFT)), whole)


def _answers(labels: int, questions: int | None) -> str:
    words = counted(labels, "answer")
    return words if questions is None else f"{words} ({counted(questions, 'whole question')})"


def _on_average(found: LabelSize) -> Iterator[str]:
    if found.assurance is None:
        if found.labels is not None:
            yield (
                "That is the average width: about half of all samples come out wider. With "
                "--assurance 0.9 only one in ten does."
            )
        return
    alone = f"{_answers(found.only_on_average or 0, None)} without the judge"
    average = "" if found.on_average is None else f"{_answers(found.on_average, None)}, or "
    yield f"For this width on average, exceeded by about half of all samples: {average}{alone}."


def _clusters(found: LabelSize) -> str:
    known = found.known
    if known.rows_per_question == 1:
        return ""
    return f", {known.rows_per_question:.3g} per question; design effect {known.design_effect:.2f}"


def _judge(found: LabelSize) -> str:
    known = found.known
    rests = "" if known.labels is None else f", on {counted(known.labels, 'labelled row')}"
    if known.rate is not None:
        text = f"sensitivity {known.sensitivity:.2f}, specificity {known.specificity:.2f}"
    else:
        text = f"correlation with people {known.correlation:.2f}"
    return text + rests


def _few(questions: Iterable[int]) -> Iterator[str]:
    least = min((count for count in questions if count > 1), default=FEW)
    if least < FEW:
        yield f"A pilot of {least:,} gives only a guess: run at least {FEW} and plan again."
