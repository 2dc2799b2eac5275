"""Plan page: how much to run, compare or label, as ``ragstone plan`` prints it."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.decisions.planning.label_sizes import LabelSize
from ragstone.decisions.planning.sizes import FEW, MeanSize, PairedSize, RateSize
from ragstone.stats import Interval, wilson

from .facts import DIM, HEAD, Facts, Paragraph
from .figures import ends, number
from .grid import Cell, Column, Grid, Row, cell, folded

STRIP, BAR = 41, 24
NAME_WIDTH, SYSTEM_WIDTH = 28, 20
FULL, EMPTY = "█", "░"
WARN = "yellow"


def rate_page(found: RateSize) -> RenderableType:
    """The rows needed, and what fewer and more would give."""
    head = [cell("rows", DIM), cell("half-width", DIM), cell("interval", DIM),
            cell("0" + "1".rjust(STRIP - 1), DIM)]  # fmt: skip
    rows: list[Row] = [head]
    for count, half in found.steps:
        style = HEAD if count == found.rows else ""
        interval = wilson(found.rate * count, count, level=found.level)
        rows.append([
            cell(f"{count:,}", style), cell(f"±{half:.3f}", style),
            cell(ends(interval.low, interval.high) if interval else "", style),
            Cell(_strip(found.rate, interval)),
        ])  # fmt: skip
    answer = Text.assemble(
        (f"{found.rows:,} rows", HEAD),
        f" hold a rate of {number(found.rate)} to within ±{found.half_width:g}, "
        f"at {_percent(found.level)}.",
    )
    note = (
        "By Wilson's interval, one row a question. Rows that share a question tell less: "
        "ragstone plan mean RUN goes by how they do in a run."
    )
    columns = [Column("right"), Column("right"), Column("right"), Column()]
    return Group(Paragraph(answer), Text(), Grid(columns, rows), Text(), Paragraph(Text(note, DIM)))


def mean_page(
    run: str, found: Sequence[MeanSize], *, cluster: str = "question_id"
) -> RenderableType:
    """What each mean has now and what it needs; ``cluster`` is what rows share."""
    if not found:
        return Text("No metric of this run has a value.")
    first = found[0]
    several = len({one.system for one in found}) > 1
    clustered = any(one.rows_now != one.questions_now for one in found)
    columns = [Column(), *([Column()] if several else []), *[Column("right")] * 2]
    columns += [Column("right"), *([Column("right")] if clustered else []), *[Column("right")] * 2]
    columns += [Column()]
    unit = "questions" if cluster == "question_id" else f"by {cluster}"
    words = ["value", "interval now", unit, *(["design effect"] if clustered else [])]
    words += ["needed", *(["rows"] if clustered else ["more"]), ""]
    rows: list[Row] = [
        [cell("metric", DIM), *([cell("system", DIM)] if several else []),
         *(cell(word, DIM) for word in words)]
    ]  # fmt: skip
    said = ""
    for one in found:
        name = "" if one.metric == said else folded(one.metric, NAME_WIDTH)
        said = one.metric
        rows.append(
            [cell(name), *([cell(folded(one.system, SYSTEM_WIDTH))] if several else []),
             *_mean_cells(one, clustered)]
        )  # fmt: skip
    wanted = f"a mean to within ±{first.half_width:g}, at {_percent(first.level)}"
    facts = [("wanted", Text(wanted, HEAD)), ("going by", Text(run))]
    parts: list[RenderableType] = [Facts(facts), Text(), Grid(columns, rows), Text()]
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
    asked = first.difference is not None
    columns = [Column(), Column(), *[Column("right")] * (6 if asked else 4)]
    with_n = {one.at for one in found if one.at is not None} - {one.pairs_now for one in found}
    shown = f"detectable\nwith {min(with_n):,}" if with_n else "detectable"
    words = ["difference now", "st. dev.", "questions", shown]
    words += ["needed", "power now"] if asked else []
    rows: list[Row] = [
        [cell("metric", DIM), cell("a − b", DIM), *(cell(word, DIM) for word in words)]
    ]
    said = ""
    for one in found:
        name = "" if one.metric == said else folded(one.metric, NAME_WIDTH)
        said = one.metric
        pair = f"{folded(one.a, SYSTEM_WIDTH)} −\n  {folded(one.b, SYSTEM_WIDTH)}"
        rows.append([cell(name), cell(pair), *_paired_cells(one, asked)])
    often = f"{_percent(first.power)} of the time, two-sided at {1 - first.level:.2g}"
    if first.difference is None:
        wanted = f"what difference can be found {often}"
    else:
        wanted = f"to find a difference of {abs(first.difference):g} {often}"
    facts = [("wanted", Text(wanted, HEAD)), ("going by", Text(run))]
    notes = []
    left = max(one.left_out for one in found)
    if left:
        notes.append(f"Up to {left:,} questions lack a score of one of the two and are left out.")
    notes.append("A paired t test on the differences, question by question, that vary as here.")
    notes += _few(one.pairs_now for one in found)
    return Group(
        Facts(facts), Text(), Grid(columns, rows), Text(),
        *(Paragraph(Text(note, DIM)) for note in notes),
    )  # fmt: skip


def labels_page(found: LabelSize) -> RenderableType:
    """How many labels, with the judge's help and without."""
    known = found.known
    what = [found.metric or "the rate" if known.rate is not None else found.metric or "the mean"]
    what += [found.system] if found.system else []
    facts = [
        ("wanted", Text(f"{', '.join(what)} to within ±{found.half_width:g}, "
                        f"at {_percent(found.level)}", HEAD)),
        ("judged", Text(f"{known.judged:,} rows{_clusters(found)}")),
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
                     Cell(_bar(found.labels, most, "green"))])  # fmt: skip
    else:
        words = f"all {known.judged:,} judged rows give ±{found.reached:.4g}: judge more"
        rows.append([cell("too few", WARN), cell(words, WARN)])
    alone = _answers(found.labels_only, found.questions_only)
    rows.append([cell("or", DIM), cell(f"{alone} without the judge", DIM),
                 Cell(_bar(found.labels_only, most, DIM))])  # fmt: skip
    parts: list[RenderableType] = [Facts(facts), Text(), Grid([Column(), Column(), Column()], rows)]
    notes = []
    if found.saved:
        notes.append(f"The judge saves {_percent(found.saved)} of the labels.")
    elif found.labels is not None:
        notes.append("A judge like this saves no labels.")
    if found.questions is None:
        notes.append("Drawn at random among the judged: ragstone sample RUN --n N.")
    else:
        notes.append("Drawn as whole questions: ragstone sample RUN --whole-questions --n N. "
                     "Drawn one by one, so many answers tell a little more.")  # fmt: skip
    notes.append("The estimate is then that of ragstone calibrate RUN --labels FILE.")
    return Group(*parts, Text(), *(Paragraph(Text(note, DIM)) for note in notes))


def _mean_cells(one: MeanSize, clustered: bool) -> list[Cell]:
    value = "–" if one.value is None else number(one.value)
    effect = [] if not clustered else [
        cell("–" if one.design_effect is None else f"{one.design_effect:.2f}")
    ]  # fmt: skip
    now = [cell(value), cell(ends(one.low, one.high)), cell(f"{one.questions_now:,}")]
    if one.questions is None or one.rows is None:
        return [*now, *effect, cell("–", WARN), cell(""), cell(one.reason or "", WARN)]
    enough = one.questions <= one.questions_now
    more = f"+{one.questions - one.questions_now:,}" if not enough else "enough"
    last = f"{one.rows:,}" if clustered else more
    drawn = _bar(min(one.questions_now, one.questions), one.questions, "cyan")
    return [*now, *effect, cell(f"{one.questions:,}", HEAD), cell(last), Cell(drawn)]


def _paired_cells(one: PairedSize, asked: bool) -> list[Cell]:
    now = "–" if one.difference_now is None else f"{one.difference_now:+.3f}"
    spread = "–" if one.deviation is None else number(one.deviation)
    cells = [cell(now), cell(spread), cell(f"{one.pairs_now:,}")]
    if one.detectable is None:
        return [*cells, cell("–", WARN), cell(one.reason or "", WARN)]
    cells.append(cell(f"±{number(one.detectable)}", "" if asked else HEAD))
    if asked and one.pairs is not None and one.power_now is not None:
        cells += [cell(f"{one.pairs:,}", HEAD), cell(_percent(one.power_now))]
    return cells


def _strip(value: float, interval: Interval | None) -> Text:
    def place(where: float) -> int:
        return round(where * (STRIP - 1))

    drawn = Text("·" * STRIP, style=DIM)
    if interval is None:
        return drawn
    letters = list("·" * STRIP)
    low, high, at = place(interval.low), place(interval.high), place(value)
    letters[low : high + 1] = "─" * (high - low + 1)
    letters[low], letters[high] = "├", "┤"
    letters[at] = "●"
    drawn = Text("".join(letters), style="cyan")
    drawn.stylize(DIM, 0, low)
    drawn.stylize(DIM, high + 1, STRIP)
    drawn.stylize("bold bright_cyan", at, at + 1)
    return drawn


def _bar(part: int, whole: int, style: str) -> Text:
    filled = round(BAR * part / whole) if whole else 0
    filled = max(1, filled) if part else 0
    return Text.assemble((FULL * filled, style), (EMPTY * (BAR - filled), DIM))


def _answers(labels: int, questions: int | None) -> str:
    words = f"{labels:,} answers" if labels != 1 else "1 answer"
    if questions is None:
        return words
    return f"{words} ({questions:,} whole questions)"


def _clusters(found: LabelSize) -> str:
    known = found.known
    if known.rows_per_question == 1:
        return ""
    return f", {known.rows_per_question:.3g} a question; design effect {known.design_effect:.2f}"


def _judge(found: LabelSize) -> str:
    known = found.known
    rests = "" if known.labels is None else f", on {known.labels:,} labelled rows"
    if known.rate is not None:
        told = f"sensitivity {known.sensitivity:.2f}, specificity {known.specificity:.2f}"
    else:
        told = f"correlation with people {known.correlation:.2f}"
    return told + rests


def _few(questions: Iterator[int]) -> list[str]:
    least = min(questions)
    if least >= FEW:
        return []
    return [f"A pilot of {least:,} is a guess: run {FEW} at least and plan again."]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
