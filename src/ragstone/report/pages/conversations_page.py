"""Conversations page: whole sessions beside their turns; ``ragstone show --conversations``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.core.messages import argument
from ragstone.report.number_format import counted, ends, method_notes, scale_for, short_name
from ragstone.report.page import (
    Block,
    Cell,
    Count,
    Heading,
    IntervalCell,
    Note,
    Number,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Why,
    Words,
    section,
    small_print,
    table,
)
from ragstone.report.reason_words import words

if TYPE_CHECKING:
    from ragstone.analysis.summaries.session_figures import (
        ConversationCounts,
        ConversationFigure,
        ConversationFigures,
        Conversations,
    )


SHOWN = 5
"""The worst conversations of a metric."""

WHOLE = Scale(0, 1)
ROWS = {"wilson": "a share of conversations"}
READING = (
    ("worst turn", "the worst score among the turns of a conversation, averaged over these"),
    ("mean of turns", "the mean score of its turns; each conversation counts once"),
    ("resolved", "the last turn is answered: it neither abstains nor refuses nor asks back"),
    ("undef.", "sessions without the figure by definition, those of a single turn among them"),
    ("missing", "conversations that turns without a known score leave open"),
)


def conversations_page(found: "Conversations", *, limit: int | None = None) -> Page:
    """Return the page: how many there are and were resolved, each metric, the worst ``limit``."""
    if not found:
        sections: list[Section] = [section(Paragraphs((none_sentence(found),)))]
    else:
        sections = [
            section(Paragraphs((sentence(found),))),
            *conversation_sections(found),
            *_worst(found, SHOWN if limit is None else limit),
            small_print(_small_print(found)),
        ]
    return Page(
        "conversations", str(found.run), tuple(sections),
        record=lambda: {"run": str(found.run), **found.to_dict()},
    )  # fmt: skip


def sentence(found: "ConversationFigures") -> str:
    """Return how many conversations there are, and what share of them was resolved."""
    total = sum(one.n for one in found.counts)
    there = [one for one in found.counts if one.n]
    least, most = min(one.shortest for one in there), max(one.longest for one in there)
    turns = f"{least}" if least == most else f"{least} to {most}"
    said = f"{counted(total, 'conversation')} of {turns} turns."
    shares = [
        one.value for one in found.figures
        if one.figure == "resolved" and one.metric is None and one.value is not None
    ]  # fmt: skip
    if not shares:
        return said
    ends = list(dict.fromkeys(f"{share:.0%}" for share in (min(shares), max(shares))))
    return f"{said} Resolved: {' to '.join(ends)}{' of those of a system' * (len(ends) > 1)}."


def none_sentence(found: "ConversationFigures") -> str:
    """Why there is no conversation."""
    if found.counts:
        single = sum(one.single for one in found.counts)
        return f"There is no conversation: {counted(single, 'session')} of a single turn."
    return (
        "No example names its session. It is read from a field such as session_id or "
        f"conversation_id; {argument('columns', 'session=COLUMN')} names another."
    )


def conversation_sections(found: "ConversationFigures") -> list[Section]:
    """The table of the systems' conversations, and that of the metrics."""
    blocks: list[Block] = []
    if any(one.figure == "resolved" for one in found.figures):
        blocks.append(_resolved(found.counts, found.figures))
    elif found.unresolved:
        blocks.append(Paragraphs((f"Resolved: {words(found.unresolved)}.",)))
    if any(one.metric and one.figure != "resolved" for one in found.figures):
        blocks.append(_metrics(found.figures))
    return [Section(tuple(blocks), "Conversations")]


def _resolved(
    counts: "Sequence[ConversationCounts]", figures: "Sequence[ConversationFigure]"
) -> Block:
    shares = [one for one in figures if one.figure == "resolved"]
    better = {one.metric: one.better for one in figures if one.figure != "resolved"}
    columns = (
        Heading("system", key=True), Heading("conversations"), Heading("turns", drop=1),
        Heading("resolved if"), Heading("resolved", level=shares[0].level), Heading("n"),
        Heading("undef."), Heading("missing"),
    )  # fmt: skip
    rows = []
    for one in counts:
        turns = str(one.shortest) if one.shortest == one.longest else (
            f"{one.shortest}–{one.longest}"
        )  # fmt: skip
        for share in (share for share in shares if share.system == one.system):
            cells: tuple[Cell, ...] = (
                RowName(one.system), Count(one.n), turns, _condition(share, better),
                _value(share, WHOLE), *_counts(share),
            )  # fmt: skip
            rows.append(Row(cells, tuple(_below(share))))
    return table(columns, rows)


def _condition(share: "ConversationFigure", better: Mapping[str | None, str]) -> str:
    if share.metric is None:
        return "answered"
    side = "at most" if better[share.metric] == "-" else "at least"
    return f"answered, {short_name(share.metric)} {side} {share.bar:g}"


def _metrics(figures: "Sequence[ConversationFigure]") -> Block:
    columns = (
        Heading("metric", key=True), Heading("system", several=True),
        Heading("worst turn", level=figures[0].level),
        Heading("mean of turns", level=figures[0].level),
        Heading("n"), Heading("undef."), Heading("missing"),
    )  # fmt: skip
    rows = []
    metrics = list(dict.fromkeys(one.metric for one in figures))
    means = [one for one in figures if one.figure == "mean_of_turns"]
    worst_of = {(one.metric, one.system): one for one in figures if one.figure == "worst_turn"}
    for mean in sorted(means, key=lambda one: metrics.index(one.metric)):
        worst = worst_of.get((mean.metric, mean.system))
        metric = mean.metric or ""
        scale = scale_for(metric)
        cells: tuple[Cell, ...] = (
            RowName(short_name(metric), mean.better), RowName(mean.system),
            Number(None) if worst is None else _value(worst, scale), _value(mean, scale),
            *_counts(mean if worst is None else worst),
        )  # fmt: skip
        rows.append(Row(cells, tuple(_below(mean if worst is None else worst))))
    return table(columns, rows)


def _counts(one: "ConversationFigure") -> tuple[Cell, ...]:
    return Count(one.n), Count(one.n_undefined, "undefined"), Count(one.n_missing, "missing")


def _value(one: "ConversationFigure", scale: Scale | None) -> Cell:
    if one.value is None:
        return Why("missing" if one.n_missing else "undefined")
    return IntervalCell(one.value, one.low, one.high, scale)


def _below(one: "ConversationFigure") -> Iterator[Words]:
    if one.n_missing and one.worst is not None and one.best is not None:
        yield Phrase(f"{ends(*sorted((one.worst, one.best)))} worst–best", "missing")


def _worst(found: "Conversations", limit: int) -> Iterator[Section]:
    named = dict.fromkeys(one.metric for one in found.figures if one.figure == "worst_turn")
    if not limit or len(named) != 1:
        return
    for metric in filter(None, named):
        ranked = found.worst(metric).head(limit)
        rows = [
            Row((
                RowName(row["session"]), RowName(row["system"]), Count(row["turns"]),
                Number(row[f"worst {metric}"]), Phrase(row[f"at {metric}"], "name"),
                Number(row[f"mean {metric}"]), _ending(row.get("resolved")),
            ))
            for row in ranked.iter_rows(named=True)
        ]  # fmt: skip
        if rows:
            columns = (
                Heading("session"), Heading("system", several=True), Heading("turns"),
                Heading("worst turn"), Heading("example"), Heading("mean of turns"),
                Heading("resolved"),
            )  # fmt: skip
            yield section(table(columns, rows), title=f"Worst by {short_name(metric)}")


def _ending(resolved: float | None) -> str:
    return "" if resolved is None else "yes" if resolved else "no"


def _small_print(found: "Conversations") -> Iterator[Note]:
    yield from (Note(name, said) for name, said in READING)
    yield from method_notes((one.method for one in found.figures), ROWS)
