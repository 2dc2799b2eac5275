"""Conversations page: whole sessions beside their turns; ``ragstone show --conversations``."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.core.messages import argument
from ragstone.report import number_format as fmt
from ragstone.report import page as ui
from ragstone.report.reason_words import words

if TYPE_CHECKING:
    from ragstone.analysis.summaries.session_figures import (
        ConversationCounts,
        ConversationFigure,
        ConversationFigures,
        Conversations,
    )


# The worst conversations of a metric.
SHOWN = 5

WHOLE = ui.Scale(0, 1)
ROWS = {"wilson": "a share of conversations"}
READING = (
    ("worst turn", "the worst score among the turns of a conversation, averaged over these"),
    ("mean of turns", "the mean score of its turns; each conversation counts once"),
    ("resolved", "the last turn is answered: it neither abstains nor refuses nor asks back"),
    ("undef.", "sessions without the figure by definition, those of a single turn among them"),
    ("missing", "conversations that turns without a known score leave open"),
)


def conversations_page(conversations: "Conversations", *, limit: int | None = None) -> ui.Page:
    """Return the page: how many there are and were resolved, each metric, the worst ``limit``."""
    if conversations:
        figures = conversations.figures
        notes = [*(ui.Note(name, text) for name, text in READING),
                 *fmt.method_notes((figure.method for figure in figures), ROWS)]  # fmt: skip
        sections = [
            ui.section(sentence(conversations)),
            *conversation_sections(conversations),
            *_worst(conversations, SHOWN if limit is None else limit),
            ui.small_print(notes),
        ]
    elif conversations.counts:
        single = fmt.counted(sum(count.single for count in conversations.counts), "session")
        sections = [ui.section(f"There is no conversation: {single} of a single turn.")]
    else:
        why = (
            "No example names its session. It is read from a field such as session_id or "
            f"conversation_id; {argument('columns', 'session=COLUMN')} names another."
        )
        sections = [ui.section(why)]
    return ui.Page(
        "conversations", str(conversations.run), tuple(sections),
        record=lambda: {"run": str(conversations.run), **conversations.to_dict()},
    )  # fmt: skip


def sentence(conversations: "ConversationFigures") -> str:
    """Return how many conversations there are, and what share of them was resolved."""
    total = sum(count.n for count in conversations.counts)
    counts = [count for count in conversations.counts if count.n]
    least, most = min(item.shortest for item in counts), max(item.longest for item in counts)
    turns = f"{least}" if least == most else f"{least} to {most}"
    text = f"{fmt.counted(total, 'conversation')} of {turns} turns."
    shares = [
        figure.value for figure in conversations.figures
        if figure.figure == "resolved" and figure.metric is None and figure.value is not None
    ]  # fmt: skip
    if not shares:
        return text
    ends = list(dict.fromkeys(f"{share:.0%}" for share in (min(shares), max(shares))))
    return f"{text} Resolved: {' to '.join(ends)}{' of those of a system' * (len(ends) > 1)}."


def conversation_sections(conversations: "ConversationFigures") -> list[ui.Section]:
    """The table of the systems' conversations, and that of the metrics."""
    blocks: list[ui.Block] = []
    if any(figure.figure == "resolved" for figure in conversations.figures):
        blocks.append(_resolved(conversations.counts, conversations.figures))
    elif conversations.unresolved:
        blocks.append(ui.Paragraphs((f"Resolved: {words(conversations.unresolved)}.",)))
    if any(figure.metric and figure.figure != "resolved" for figure in conversations.figures):
        blocks.append(_metrics(conversations.figures))
    return [ui.Section(tuple(blocks), "Conversations")]


def _resolved(
    counts: "Sequence[ConversationCounts]", figures: "Sequence[ConversationFigure]"
) -> ui.Block:
    shares = [figure for figure in figures if figure.figure == "resolved"]
    better = {figure.metric: figure.better for figure in figures if figure.figure != "resolved"}
    columns = (
        ui.Heading("system", key=True), "conversations", ui.Heading("turns", drop=1), "resolved if",
        ui.Heading("resolved", level=shares[0].level), "n", "undef.", "missing",
    )  # fmt: skip
    rows = []
    for count in counts:
        turns = f"{count.shortest}–{count.longest}"
        turns = str(count.shortest) if count.shortest == count.longest else turns
        for share in (share for share in shares if share.system == count.system):
            condition = "answered"
            if share.metric is not None:
                side = "at most" if better[share.metric] == "-" else "at least"
                condition += f", {fmt.short_name(share.metric)} {side} {share.bar:g}"
            rows.append(ui.Row((
                ui.RowName(count.system), ui.Count(count.n), turns, condition, _value(share, WHOLE),
                *fmt.count_cells(share),
            ), fmt.worst_to_best(share)))  # fmt: skip
    return ui.table(columns, rows)


def _metrics(figures: "Sequence[ConversationFigure]") -> ui.Block:
    level = figures[0].level
    columns = (
        ui.Heading("metric", key=True), ui.Heading("system", several=True),
        ui.Heading("worst turn", level=level), ui.Heading("mean of turns", level=level),
        "n", "undef.", "missing",
    )  # fmt: skip
    rows = []
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    means = [figure for figure in figures if figure.figure == "mean_of_turns"]
    worst_of = {(item.metric, item.system): item for item in figures if item.figure == "worst_turn"}
    for mean in sorted(means, key=lambda figure: metrics.index(figure.metric)):
        worst, metric = worst_of.get((mean.metric, mean.system)), mean.metric or ""
        scale = fmt.scale_for(metric)
        rows.append(ui.Row((
            ui.RowName(fmt.short_name(metric), mean.better), ui.RowName(mean.system),
            ui.Number(None) if worst is None else _value(worst, scale), _value(mean, scale),
            *fmt.count_cells(worst or mean),
        ), fmt.worst_to_best(worst or mean)))  # fmt: skip
    return ui.table(columns, rows)


def _value(figure: "ConversationFigure", scale: ui.Scale | None) -> ui.Cell:
    if figure.value is None:
        return ui.Why("missing" if figure.n_missing else "undefined")
    return ui.IntervalCell(figure.value, figure.low, figure.high, scale)


def _worst(conversations: "Conversations", limit: int) -> Iterator[ui.Section]:
    names = {figure.metric for figure in conversations.figures if figure.figure == "worst_turn"}
    metric = next(iter(names), None)
    if not limit or len(names) != 1 or not metric:
        return
    rows = [
        (
            ui.RowName(row["session"]), ui.RowName(row["system"]), ui.Count(row["turns"]),
            ui.Number(row[f"worst {metric}"]), ui.Phrase(row[f"at {metric}"], "name"),
            ui.Number(row[f"mean {metric}"]), {None: "", 0.0: "no"}.get(row.get("resolved"), "yes"),
        )
        for row in conversations.worst(metric).head(limit).iter_rows(named=True)
    ]  # fmt: skip
    if rows:
        columns = ("session", ui.Heading("system", several=True), "turns", "worst turn", "example",
                   "mean of turns", "resolved")  # fmt: skip
        yield ui.section(ui.table(columns, rows), title=f"Worst by {fmt.short_name(metric)}")
