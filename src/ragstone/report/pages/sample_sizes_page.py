"""Sample size pages: how much to run, compare or label, as ``ragstone plan`` prints it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from shlex import quote

from ragstone.analysis.sample_sizes.label_sizes import LabelSize
from ragstone.analysis.sample_sizes.question_sizes import FEW, MeanSize, PairedSize, RateSize
from ragstone.report import page as ui
from ragstone.report.number_format import counted, interval_cell, number, percent
from ragstone.report.reason_words import words
from ragstone.stats import wilson

METHODS = {
    "ppi_plus_plus": "by PPI++",
    "poststratified": "post-stratified",
    "labels_only": "from the labels alone",
}

TESTS = {
    "mcnemar_exact": "McNemar's exact test for rates",
    "sign_flip": "a permutation test of the differences",
}

# The levels of bar parts: what there is, and what is lacking.
DONE, LEFT = 0, 5

NOTHING = "No metric of this run has a value."


def rate_page(size: RateSize) -> ui.Page:
    """The rows needed, and what fewer or more rows would give."""
    within = f"to within ±{size.half_width:g}, at {percent(size.level)}."
    answer: ui.Words = (
        ui.strong(f"{size.rows:,} rows"),
        f" hold a rate of {number(size.rate)} {within}",
    )
    note = ui.quiet(
        "By the Wilson interval, one row per question. Rows that share a question tell less: "
        "ragstone plan mean RUN takes that from a run."
    )
    rows = []
    for count, half in size.steps:
        chosen = count == size.rows
        interval = wilson(size.rate * count, count, level=size.level)
        drawn = interval_cell(size.rate, interval, ui.Scale(0, 1), stands_out=chosen)
        rows.append(
            (ui.Count(count, strong=chosen), ui.Number(half, sign="±", strong=chosen), drawn)
        )
    columns = ("rows", "half-width", ui.Heading("rate", level=size.level))
    section = ui.section(answer, ui.table(columns, rows), note)
    return ui.Page("plan", "rate", (section,), record=size.to_dict)


def mean_page(run: str, sizes: Sequence[MeanSize], *, cluster: str = "question_id") -> ui.Page:
    """The rows each mean has and needs; ``cluster`` is the field that defines clusters."""
    record = {"plan": "mean", "run": run, "cluster": cluster, "sizes": list(map(asdict, sizes))}
    if not sizes:
        return _page(run, [ui.section(NOTHING)], record)
    first = sizes[0]
    target = f"a mean to within ±{first.half_width:g}, at {percent(first.level)}"
    shared = "questions" if cluster == "question_id" else f"values of {cluster}"
    notes = [
        f"needed: {shared} like these, with as many rows each. The number is only as certain as "
        "the variance measured in this run.",
        *_few(size.questions_now for size in sizes),
    ]
    sections = [_wanted(target, run), ui.section(_means(sizes, cluster)), _quiet(notes)]
    return _page(run, sections, record)


def paired_page(run: str, sizes: Sequence[PairedSize]) -> ui.Page:
    """The difference each comparison can detect with the data at hand, and the rows it needs."""
    record = {"plan": "paired", "run": run, "sizes": list(map(asdict, sizes))}
    if not sizes:
        return _page(run, [ui.section(NOTHING)], record)
    first = sizes[0]
    often = f"{percent(first.power)} of the time, two-sided at {1 - first.level:.2g}"
    if first.difference is None:
        target = f"what difference can be found {often}"
    else:
        target = f"to find a difference of {abs(first.difference):g} {often}"
    notes = []
    if left := max(size.left_out for size in sizes):
        notes.append(f"Up to {left:,} questions have no score for one of the two and are left out.")
    if few := {size.reason: None for size in sizes if size.detectable is None and size.pairs}:
        notes.append(f"Not detectable yet: {'; '.join(words(why or '–') for why in few)}.")
    notes.append(_tests(sizes))
    notes += _few(size.pairs_now for size in sizes)
    sections = [_wanted(target, run), ui.section(_pairs(sizes)), _quiet(notes)]
    if any(size.margin is not None for size in sizes):
        least = "the smallest within which two equal systems would be shown to be equivalent"
        sections.append(ui.small_print([ui.Note("margin", least, needs="margin")]))
    return _page(run, sections, record)


def labels_page(size: LabelSize) -> ui.Page:
    """Return the page: how many labels are needed, with the judge's help and without."""
    known = size.known
    what = [size.metric or ("the mean" if known.rate is None else "the rate")]
    what += [size.system] if size.system else []
    often = "" if size.assurance is None else f", in {percent(size.assurance)} of samples"
    target = f"{', '.join(what)} to within ±{size.half_width:g}, at {percent(size.level)}{often}"
    clusters = "" if known.rows_per_question == 1 else (
        f", {known.rows_per_question:.3g} per question; design effect {known.design_effect:.2f}"
    )  # fmt: skip
    if known.rate is None:
        judge = f"correlation with people {known.correlation:.2f}"
    else:
        judge = f"sensitivity {known.sensitivity:.2f}, specificity {known.specificity:.2f}"
    rests = "" if known.labels is None else f", on {counted(known.labels, 'labelled row')}"
    facts = [
        ui.Note("wanted", ui.strong(target)),
        ui.Note("judged", f"{counted(known.judged, 'row')}{clusters}"),
        ui.Note("judge", f"{judge}{rests}"),
    ]
    if known.rate is not None:
        facts.append(ui.Note("true rate", f"about {number(known.rate)}"))
    elif known.deviation is not None:
        facts.append(ui.Note("deviation", f"{number(known.deviation)}, of human scores"))
    sections = (
        ui.section(ui.Facts(tuple(facts))),
        ui.section(_labels(size)),
        _quiet(_advice(size)),
    )
    return ui.Page("plan", size.metric or "labels", sections, record=size.to_dict)


def _page(run: str, sections: Sequence[ui.Section], record: ui.Record) -> ui.Page:
    return ui.Page("plan", run, tuple(sections), record=lambda: record)


def _wanted(target: str, run: str) -> ui.Section:
    return ui.section(ui.Facts((ui.Note("wanted", ui.strong(target)), ui.Note("based on", run))))


def _quiet(notes: Iterable[str]) -> ui.Section:
    return ui.section(ui.Paragraphs(tuple(map(ui.quiet, notes))))


def _means(sizes: Sequence[MeanSize], cluster: str) -> ui.Table:
    clustered = any(size.rows_now != size.questions_now for size in sizes)
    columns = (
        ui.Heading("metric", key=True), ui.Heading("system", several=True),
        ui.Heading("value", level=sizes[0].level),
        "questions" if cluster == "question_id" else f"by {cluster}",
        *([ui.Heading("design effect", drop=1)] if clustered else []), ui.Heading("needed"),
        "rows" if clustered else "more", "",
    )  # fmt: skip
    rows = []
    for size in sizes:
        cells: list[ui.Cell] = [ui.RowName(size.metric), ui.RowName(size.system),
                                ui.IntervalCell(size.value, size.low, size.high),
                                ui.Count(size.questions_now)]  # fmt: skip
        cells += [ui.Number(size.design_effect, 2)] if clustered else []
        if size.questions is None or size.rows is None:
            cells += [ui.Why("unknown", words(size.reason or "–")), None, None]
        else:
            lacking = size.questions - size.questions_now
            more = f"+{lacking:,}" if lacking > 0 else "enough"
            bar = _bar(min(size.questions_now, size.questions), size.questions)
            last = ui.Count(size.rows) if clustered else more
            cells += [ui.Count(size.questions, strong=True), last, bar]
        rows.append(cells)
    return ui.table(columns, rows)


def _pairs(sizes: Sequence[PairedSize]) -> ui.Table:
    with_power = sizes[0].difference is not None
    with_n = {size.at for size in sizes if size.at is not None} - {size.pairs_now for size in sizes}
    columns = [
        ui.Heading("metric", key=True), ui.Heading("a - b"), ui.Heading("difference\nnow"),
        ui.Heading("st. dev.", drop=1), ui.Heading("questions"),
        ui.Heading(f"detectable\nwith {min(with_n):,}" if with_n else "detectable"),
        ui.Heading("margin", drop=2),
    ]  # fmt: skip
    columns += [ui.Heading("needed"), ui.Heading("power now", drop=3)] if with_power else []
    return ui.table(columns, (_pair(size, labels=with_power) for size in sizes))


def _pair(size: PairedSize, *, labels: bool) -> Iterator[ui.Cell]:
    yield ui.RowName(size.metric)
    yield ui.RowName(f"{size.a} - {size.b}")
    yield ui.Number(size.difference_now, sign="+")
    yield ui.Number(size.deviation)
    yield ui.Count(size.pairs_now)
    if size.detectable is None and size.pairs is None:
        yield ui.Why("unknown", words(size.reason or "–"))
        yield from [None] * (3 if labels else 1)
        return
    yield ui.Number(size.detectable, sign="±", strong=not labels)
    yield ui.Number(None if size.detectable is None else size.margin, sign="±")
    if labels:
        yield ui.Count(size.pairs, strong=True)
        power = None if size.power_now is None else size.power_now * 100
        yield ui.Number(power, 1, unit=" %")


def _tests(sizes: Sequence[PairedSize]) -> str:
    tests = {size.test for size in sizes}
    names = ", ".join(name for test, name in TESTS.items() if test in tests)
    test = f"Tested as by ragstone compare: {names}, for questions that vary as here"
    family = sizes[0].family
    if family == 1:
        return f"{test}. A single test."
    return f"{test}; one of {family:,} tests, so each at {1 - sizes[0].level:.2g} / {family:,}."


def _labels(size: LabelSize) -> ui.Table:
    most = max(size.labels or 0, size.labels_only)
    rows: list[tuple[ui.Cell, ...]] = []
    if size.labels is None:
        why = ui.Why("unknown", words(size.reason or "–"))
        rows.append((ui.Phrase("too few", "caution"), why, None))
    else:
        answers = ui.strong(_answers(size.labels, size.questions))
        rows.append((ui.strong("label"), answers, _bar(size.labels, most)))
    alone = ui.quiet(f"{_answers(size.labels_only, size.questions_only)} without the judge")
    rows.append((ui.quiet("or"), alone, _bar(size.labels_only, most)))
    return ui.table(("", "", ""), rows)


def _advice(size: LabelSize) -> Iterator[str]:
    if size.saved:
        yield f"The judge saves {percent(size.saved, 1)} of the labels."
    elif size.labels is not None:
        yield "A judge like this saves no labels."
    if size.assurance is not None:
        alone = f"{_answers(size.only_on_average or 0, None)} without the judge"
        average = "" if size.on_average is None else f"{_answers(size.on_average, None)}, or "
        yield f"For this width on average, exceeded by about half of all samples: {average}{alone}."
    elif size.labels is not None:
        yield (
            "That is the average width: about half of all samples come out wider. With "
            "--assurance 0.9 only one in ten does."
        )
    sample = f"ragstone sample RUN --metric {quote(size.metric) if size.metric else '…'}"
    if size.questions is None:
        yield f"Draw at random among the judged: {sample} --n N"
    else:
        yield (
            f"Draw whole questions: {sample} --whole-questions --n N. "
            "The same number of answers drawn one by one tells a little more."
        )
    by = "" if size.labels is None else f", {METHODS[size.method]}"
    yield f"Then estimate with ragstone calibrate RUN --labels FILE{by}."


def _bar(part: int, whole: int) -> ui.Bar:
    return ui.Bar((ui.BarPart(part, DONE), ui.BarPart(whole - part, LEFT)), whole)


def _answers(labels: int, questions: int | None) -> str:
    words = counted(labels, "answer")
    return words if questions is None else f"{words} ({counted(questions, 'whole question')})"


def _few(questions: Iterable[int]) -> Iterator[str]:
    least = min((count for count in questions if count > 1), default=FEW)
    if least < FEW:
        yield f"A pilot of {least:,} gives only a guess: run at least {FEW} and plan again."
