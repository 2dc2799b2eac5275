"""Plan page: how much to run, compare or label, as ``ragstone plan`` prints it."""

from collections.abc import Iterator, Sequence
from shlex import quote

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.decisions.planning.label_sizes import LabelSize
from ragstone.decisions.planning.sizes import FEW, MeanSize, PairedSize, RateSize
from ragstone.stats import wilson

from .facts import DIM, HEAD, Facts, Paragraph
from .figures import coloured, counted, drawn, ends, number, percent, signed
from .render.grid import Grid, GridCell, GridColumn, Roomiest, Row, cell, folded

STRIPS = (41, 31, 21)
"""Widths of the strips; the first with which a table fits is used."""

BAR = 24
MEAN_LAYOUTS = ((BAR, False), (16, False), (10, False), (16, True), (10, True), (0, True))
"""Width of the bars, and whether metrics stand on lines of their own."""

PAIR_LAYOUTS = ((False, True), (True, True), (True, False))
"""Whether metrics stand on lines of their own, and whether the deviation is shown."""

NAME_WIDTH, SYSTEM_WIDTH = 28, 20
METHODS = {
    "ppi_plus_plus": "by PPI++",
    "poststratified": "post-stratified",
    "labels_only": "of the labels alone",
}

FULL, EMPTY = "█", "░"
WARN = "yellow"


def rate_page(found: RateSize) -> RenderableType:
    """The rows needed, and what fewer and more would give."""
    answer = Text.assemble(
        (f"{found.rows:,} rows", HEAD),
        f" hold a rate of {number(found.rate)} to within ±{found.half_width:g}, "
        f"at {percent(found.level)}.",
    )
    note = (
        "By Wilson's interval, one row a question. Rows that share a question tell less: "
        "ragstone plan mean RUN goes by how they do in a run."
    )
    steps = Roomiest([_steps(found, strip) for strip in STRIPS])
    return Group(Paragraph(answer), Text(), steps, Text(), Paragraph(Text(note, DIM)))


def mean_page(
    run: str, found: Sequence[MeanSize], *, cluster: str = "question_id"
) -> RenderableType:
    """What each mean has now and what it needs; ``cluster`` is what rows share."""
    if not found:
        return Text("No metric of this run has a value.")
    first = found[0]
    wanted = f"a mean to within ±{first.half_width:g}, at {percent(first.level)}"
    facts = [("wanted", Text(wanted, HEAD)), ("going by", Text(run))]
    means = Roomiest(
        [_means(found, cluster, bar, stacked=stacked) for bar, stacked in MEAN_LAYOUTS]
    )
    parts: list[RenderableType] = [Facts(facts), Text(), means, Text()]
    notes = [
        f"Needed are {'questions' if cluster == 'question_id' else f'values of {cluster}'} like "
        "these, with as many rows each; that is as uncertain as the variance of this run."
    ]
    notes += _few(one.questions_now for one in found)
    return Group(*parts, *(Paragraph(Text(note, DIM)) for note in notes))


def paired_page(run: str, found: Sequence[PairedSize]) -> RenderableType:
    """What each comparison finds with what there is, and what it needs."""
    if not found:
        return Text("No metric of this run has a value.")
    first = found[0]
    often = f"{percent(first.power)} of the time, two-sided at {1 - first.level:.2g}"
    if first.difference is None:
        wanted = f"what difference can be found {often}"
    else:
        wanted = f"to find a difference of {abs(first.difference):g} {often}"
    facts = [("wanted", Text(wanted, HEAD)), ("going by", Text(run))]
    notes = []
    left = max(one.left_out for one in found)
    if left:
        notes.append(f"Up to {left:,} questions lack a score of one of the two and are left out.")
    notes.append(_tests(found))
    if any(one.margin is not None for one in found):
        notes.append(
            "margin: the least in which they show that two are equivalent which are alike."
        )
    notes += _few(one.pairs_now for one in found)
    return Group(
        Facts(facts), Text(), Roomiest([_pairs(found, *layout) for layout in PAIR_LAYOUTS]), Text(),
        *(Paragraph(Text(note, DIM)) for note in notes),
    )  # fmt: skip


def _tests(found: Sequence[PairedSize]) -> str:
    """The tests that were planned for, in a sentence."""
    tests = {one.test for one in found}
    exact, flips = "McNemar's exact test for rates", "a permutation test of the differences"
    words = [word for test, word in (("mcnemar_exact", exact), ("sign_flip", flips))
             if test in tests]  # fmt: skip
    test = f"As ragstone compare tests: {', '.join(words)}, of questions that differ as here"
    family = found[0].family
    if family == 1:
        return f"{test}. One test alone."
    return f"{test}; one of its {family:,} tests, so at {1 - found[0].level:.2g} / {family:,}."


def labels_page(found: LabelSize) -> RenderableType:
    """How many labels, with the judge's help and without."""
    known = found.known
    what = [found.metric or "the rate" if known.rate is not None else found.metric or "the mean"]
    what += [found.system] if found.system else []
    often = "" if found.assurance is None else f", in {percent(found.assurance)} of draws"
    facts = [
        ("wanted", Text(f"{', '.join(what)} to within ±{found.half_width:g}, "
                        f"at {percent(found.level)}{often}", HEAD)),
        ("judged", Text(f"{counted(known.judged, 'row')}{_clusters(found)}")),
        ("judge", Text(_judge(found))),
    ]  # fmt: skip
    if known.rate is not None:
        facts.append(("true rate", Text(f"about {number(known.rate)}")))
    elif known.deviation is not None:
        facts.append(("deviation", Text(f"{number(known.deviation)} of people's scores")))
    most = max(found.labels or 0, found.labels_only)
    rows: list[Row] = []
    if found.labels is not None:
        rows.append([cell("label", HEAD), cell(_answers(found.labels, found.questions), HEAD),
                     GridCell(_bar(found.labels, most, "green"))])  # fmt: skip
    else:
        rows.append([cell("too few", WARN), cell(found.reason or "–", WARN)])
    alone = _answers(found.labels_only, found.questions_only)
    rows.append([cell("or", DIM), cell(f"{alone} without the judge", DIM),
                 GridCell(_bar(found.labels_only, most, DIM))])  # fmt: skip
    parts: list[RenderableType] = [
        Facts(facts),
        Text(),
        Grid([GridColumn(), GridColumn(), GridColumn()], rows),
    ]
    notes = []
    if found.saved:
        notes.append(f"The judge saves {percent(found.saved, 1)} of the labels.")
    elif found.labels is not None:
        notes.append("A judge like this saves no labels.")
    notes += _on_average(found)
    sample = f"ragstone sample RUN --metric {quote(found.metric) if found.metric else '…'}"
    if found.questions is None:
        notes.append(f"Drawn at random among the judged: {sample} --n N")
    else:
        notes.append(f"Drawn as whole questions: {sample} --whole-questions --n N. "
                     "Drawn one by one, so many answers tell a little more.")  # fmt: skip
    by = "" if found.labels is None else f", {METHODS[found.method]}"
    notes.append(f"The estimate is then that of ragstone calibrate RUN --labels FILE{by}.")
    return Group(*parts, Text(), *(Paragraph(Text(note, DIM)) for note in notes))


def _steps(found: RateSize, strip: int) -> Grid:
    rows: list[Row] = [
        [cell("rows", DIM), cell("half-width", DIM), cell("interval", DIM),
         cell("0" + "1".rjust(strip - 1), DIM)]
    ]  # fmt: skip
    for count, half in found.steps:
        style = HEAD if count == found.rows else ""
        interval = wilson(found.rate * count, count, level=found.level)
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        rows.append([
            cell(f"{count:,}", style), cell(f"±{half:.3f}", style), cell(ends(low, high), style),
            GridCell(coloured(drawn(found.rate, low, high, start=0, end=1, width=strip))),
        ])  # fmt: skip
    return Grid([GridColumn("right"), GridColumn("right"), GridColumn("right"), GridColumn()], rows)


def _means(found: Sequence[MeanSize], cluster: str, bar: int, *, stacked: bool) -> Grid:
    several = len({one.system for one in found}) > 1
    stacked = stacked and several
    clustered = any(one.rows_now != one.questions_now for one in found)
    unit = "questions" if cluster == "question_id" else f"by {cluster}"
    words = ["value", "interval now", unit, *(["design effect"] if clustered else [])]
    words += ["needed", "rows" if clustered else "more"]
    named = ["metric", "system"] if several and not stacked else ["metric"]
    columns = [*(GridColumn() for _ in named), *(GridColumn("right") for _ in words), GridColumn()]
    rows: list[Row] = [[cell(word, DIM) for word in [*named, *words]]]
    said = ""
    for one in found:
        name = "" if one.metric == said else one.metric
        said = one.metric
        if stacked and name:
            rows.append([cell(name, span=len(columns))])
        shown = [] if stacked else [cell(folded(name, NAME_WIDTH))]
        if several:
            shown.append(cell(("  " if stacked else "") + folded(one.system, SYSTEM_WIDTH)))
        rows.append([*shown, *_mean_cells(one, bar, clustered=clustered)])
        if one.questions is None and not bar:
            reason = cell(f"↳ {one.reason}", WARN, span=len(columns) - 1)
            rows.append([cell(), reason])
    return Grid(columns, rows)


def _mean_cells(one: MeanSize, bar: int, *, clustered: bool) -> list[GridCell]:
    value = "–" if one.value is None else number(one.value)
    effect = [] if not clustered else [
        cell("–" if one.design_effect is None else f"{one.design_effect:.2f}")
    ]  # fmt: skip
    now = [cell(value), cell(ends(one.low, one.high)), cell(f"{one.questions_now:,}")]
    if one.questions is None or one.rows is None:
        return [*now, *effect, cell(one.reason or "–", WARN, span=3) if bar else cell("–", WARN)]
    enough = one.questions <= one.questions_now
    more = f"+{one.questions - one.questions_now:,}" if not enough else "enough"
    last = f"{one.rows:,}" if clustered else more
    done = _bar(min(one.questions_now, one.questions), one.questions, "cyan", bar)
    return [*now, *effect, cell(f"{one.questions:,}", HEAD), cell(last), GridCell(done)]


def _pairs(found: Sequence[PairedSize], stacked: bool, deviation: bool) -> Grid:
    asked = found[0].difference is not None
    with_n = {one.at for one in found if one.at is not None} - {one.pairs_now for one in found}
    words = ["difference\nnow", *(["st. dev."] if deviation else []), "questions"]
    words.append(f"detectable\nwith {min(with_n):,}" if with_n else "detectable")
    words += ["margin", *(["needed", "power now"] if asked else [])]
    named = [] if stacked else [cell("metric", DIM)]
    columns = [GridColumn() for _ in (*named, "pair")] + [GridColumn("right") for _ in words]
    rows: list[Row] = [[*named, cell("a - b", DIM), *(cell(word, DIM) for word in words)]]
    said = ""
    for one in found:
        name = "" if one.metric == said else one.metric
        said = one.metric
        if stacked and name:
            rows.append([cell(name, span=len(columns))])
        lead = "  " if stacked else ""
        pair = f"{lead}{folded(one.a, SYSTEM_WIDTH)} -\n{lead}  {folded(one.b, SYSTEM_WIDTH)}"
        shown = [] if stacked else [cell(folded(name, NAME_WIDTH))]
        rows.append([*shown, cell(pair), *_paired_cells(one, asked, deviation)])
    return Grid(columns, rows)


def _paired_cells(one: PairedSize, asked: bool, deviation: bool) -> list[GridCell]:
    spread = "–" if one.deviation is None else number(one.deviation)
    cells = [cell(signed(one.difference_now)), *([cell(spread)] if deviation else [])]
    cells.append(cell(f"{one.pairs_now:,}"))
    if one.detectable is None:
        return [*cells, cell(one.reason or "–", WARN, span=4 if asked else 2)]
    cells.append(cell(f"±{number(one.detectable)}", "" if asked else HEAD))
    cells.append(cell("–" if one.margin is None else f"±{number(one.margin)}"))
    if asked and one.pairs is not None and one.power_now is not None:
        cells += [cell(f"{one.pairs:,}", HEAD), cell(percent(one.power_now, 1))]
    return cells


def _bar(part: int, whole: int, style: str, width: int = BAR) -> Text:
    filled = round(width * part / whole) if whole else 0
    filled = min(width, max(1, filled)) if part else 0
    return Text.assemble((FULL * filled, style), (EMPTY * (width - filled), DIM))


def _answers(labels: int, questions: int | None) -> str:
    words = counted(labels, "answer")
    return words if questions is None else f"{words} ({counted(questions, 'whole question')})"


def _on_average(found: LabelSize) -> list[str]:
    """What the width rests on: the average, or a share of draws and what that costs."""
    if found.assurance is None:
        if found.labels is None:
            return []
        return ["So wide on average: about half of all draws come out wider. With --assurance 0.9 "
                "only one in ten does."]  # fmt: skip
    alone = f"{_answers(found.only_on_average or 0, None)} without the judge"
    if found.on_average is None:
        return [f"So wide on average, in about half of all draws: {alone}."]
    return [f"So wide on average, in about half of all draws: {_answers(found.on_average, None)}, "
            f"or {alone}."]  # fmt: skip


def _clusters(found: LabelSize) -> str:
    known = found.known
    if known.rows_per_question == 1:
        return ""
    return f", {known.rows_per_question:.3g} a question; design effect {known.design_effect:.2f}"


def _judge(found: LabelSize) -> str:
    known = found.known
    rests = "" if known.labels is None else f", on {counted(known.labels, 'labelled row')}"
    if known.rate is not None:
        told = f"sensitivity {known.sensitivity:.2f}, specificity {known.specificity:.2f}"
    else:
        told = f"correlation with people {known.correlation:.2f}"
    return told + rests


def _few(questions: Iterator[int]) -> list[str]:
    least = min((count for count in questions if count > 1), default=FEW)
    if least >= FEW:
        return []
    return [f"A pilot of {least:,} is a guess: run {FEW} at least and plan again."]
