"""Failures and conversations: pages of ``ragstone show --failures`` and ``--conversations``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ragstone.analysis.summaries.failure_stages import (
    JUDGED_BY,
    NO_FAULT,
    OTHER,
    RETRIEVAL,
    Failures,
    GroupFailures,
    Rate,
    StageFailures,
)
from ragstone.core.messages import argument, call
from ragstone.report.number_format import SYSTEM, counted, ends, method_notes, scale_for, short_name
from ragstone.report.page import (
    Block,
    Cell,
    Count,
    Group,
    Heading,
    IntervalCell,
    Note,
    Number,
    Outline,
    OutlineItem,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Step,
    Table,
    Waterfall,
    Why,
    Words,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.reason_words import words
from ragstone.report.sentences.run_words import (
    BECAUSE,
    COUNTED,
    FELL_SHORT,
    NAMES,
    faults_sentence,
)
from ragstone.report.worst_examples import question_and_answer
from ragstone.run import Run

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
    """How many there are and how many were resolved, each metric, the worst of them.

    Args:
        found: The conversations.
        limit: How many of the worst are shown for each metric, ``SHOWN`` by default.
    """
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
    """How many conversations there are, and what share of them was resolved."""
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
    """Where the figure would lie if the missing turns were known."""
    if one.n_missing and one.worst is not None and one.best is not None:
        yield Phrase(f"{ends(*sorted((one.worst, one.best)))} worst–best", "missing")


def _worst(found: "Conversations", limit: int) -> Iterator[Section]:
    """The worst conversations of each metric, with the turn that makes them so."""
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


ALL = "all systems"
"""Answers at a stage."""
LEGEND = {
    "not known": "laid to a later stage, or to none, though it is not known whether they failed "
    "here: so many more there may be",
    "later": "fell short, failed at an earlier stage and here too",
    "survived": "did not fall short, though they failed here",
}


def failures_page(found: Failures) -> Page:
    """How many answers fell short, the waterfall of each system, slices, the rules."""
    whole = found.of()
    if not whole.judged:
        sections: list[Section] = [section(Paragraphs(tuple(_untold())))]
    else:
        said = faults_sentence(whole.faults, others=bool(found.themselves))
        sections = [section(Paragraphs((said, *_beside(found, whole))))]
        shown = _shown(found)
        unknown = _unknown(shown)
        sections += [_system(one, found.level, unknown) for one in shown]
        sections += [_slices(found, name) for name in found.by]
        sections += [small_print(_failures_small_print(shown, unknown))]
    return Page("failures", str(found.run), tuple(sections), record=found.to_dict)


def stage_page(
    run: Run,
    found: Failures,
    stage: str,
    *,
    system: str | None = None,
    limit: int | None = None,
) -> Page:
    """The answers that failed at a stage first, the first of them with question and answer.

    Args:
        run: The run.
        found: Its failures.
        stage: The code of a stage, ``other`` or ``no_fault``.
        system: Only its answers.
        limit: The largest number shown, ``SHOWN`` by default; the record has all.

    Raises:
        UnknownName: There is no such stage or system.
    """
    rows = found.examples(stage, system)
    most = SHOWN if limit is None else limit
    ids = rows["example_id"].head(most)
    texts = run.examples(["id", "question", "answer"]).filter(pl.col("id").is_in(ids.implode()))
    said = {id: (question, answer) for id, question, answer in texts.iter_rows()}
    failed = [
        (row, [code for code in BECAUSE if row[code] and code != stage])
        for row in rows.iter_rows(named=True)
    ]
    items = [_item(row, also, *said[row["example_id"]]) for row, also in failed[:most]]
    if left := len(failed) - len(items):
        items.append(OutlineItem(quiet(f"and {left:,} more (--limit, --json)")))
    because = f"  {BECAUSE[stage]}" if stage in BECAUSE else ""
    title = (strong(NAMES[stage]), f"{because}: {counted(rows.height, 'answer')}")
    listed = [
        {"example_id": row["example_id"], "question_id": row["question_id"],
         "system": row["system"], "failed_at": also}
        for row, also in failed
    ]  # fmt: skip
    return Page(
        "failures", str(found.run), (Section((Outline(tuple(items)),), title),),
        record=lambda: {"run": str(found.run), "stage": stage, "examples": listed},
    )  # fmt: skip


def _item(
    row: Mapping[str, Any], also: Sequence[str], question: str | None, answer: str | None
) -> OutlineItem:
    """An answer with its question and the other stages at which it failed."""
    others = f"  also {', '.join(NAMES[code] for code in also)}" if also else ""
    name = Phrase(row["example_id"], "name", strong=True)
    return OutlineItem((name, quiet(f"  {row['system']}{others}")), question_and_answer(
        question, answer
    ))  # fmt: skip


def _untold() -> Iterator[str]:
    yield f"Nothing tells which answers fell short: that needs {' or '.join(JUDGED_BY)}."
    given = argument("run", "RUN"), argument("metrics", JUDGED_BY[0])
    yield f"To add one: {call('rescore', *given)}"


def _beside(found: Failures, whole: GroupFailures) -> Iterator[str]:
    """What is no fault of the others, and who is left out."""
    if whole.survived:
        fine = counted(whole.no_fault, "answer")
        yield f"{whole.survived:,} of {fine} without a fault survived a fault of retrieval."
    for name in found.themselves:
        yield f"{name} answers with the references, so its answers are left out of all others."


def _shown(found: Failures) -> list[GroupFailures]:
    """Each system; all together where only one has a name."""
    systems = [one for one in found.groups if set(one.group) == {SYSTEM} and one.judged]
    return systems if len(systems) > 1 else [found.of()]


def _unknown(shown: Sequence[GroupFailures]) -> dict[str, str]:
    """Stages that are known of none of these groups, each with the reason."""
    found = {one.stage: one.why for one in shown[0].stages if one.first is None}
    known = {one.stage for group in shown for one in group.stages if one.first is not None}
    return {stage: why for stage, why in found.items() if stage not in known}


def _system(group: GroupFailures, level: float, unknown: Mapping[str, str]) -> Section:
    stages = [one for one in group.stages if one.stage not in unknown]
    name = group.group.get(SYSTEM, ALL)
    counts = [(one.stage, one.first.n) for one in stages if one.first is not None]
    counts.append((NO_FAULT, group.no_fault))
    steps = tuple(Step(NAMES[stage], n, "" if stage == NO_FAULT else "bad") for stage, n in counts)
    drawn = Waterfall(group.judged, steps, f"First fault of the answers of {name}")
    title = f"{group.short.n:,} of {counted(group.judged, 'answer')} fell short"
    columns = (
        Heading("first fault"), Heading("answers"), Heading("share", level=level),
        Heading("not known", drop=1), Heading("later", drop=2), Heading("survived", drop=3),
    )  # fmt: skip
    rows = [*(_row(one) for one in stages), _fine(group)]
    table = Table(columns, (Group(tuple(rows)),))
    return Section((drawn, table), (strong(name), f"  {title}"))


def _row(one: StageFailures) -> Row:
    name = RowName(NAMES[one.stage], about=BECAUSE.get(one.stage, ""))
    if one.first is None:
        return Row((name, Why("unknown", words(one.why)), None, None, None, None))
    if one.stage == OTHER:
        return Row((name, Count(one.first.n, "bad"), _share(one.first), "", "", ""))
    survived: Cell = Count(one.survived) if one.stage in RETRIEVAL else ""
    return Row((
        name, Count(one.first.n, "bad"), _share(one.first), Count(one.untold, "missing"),
        Count(one.later), survived,
    ))  # fmt: skip


def _fine(group: GroupFailures) -> Row:
    share = Number(group.no_fault / group.judged)
    return Row((RowName(NAMES[NO_FAULT]), Count(group.no_fault), share, "", "", ""))


def _share(rate: Rate) -> IntervalCell:
    return IntervalCell(rate.share, rate.low, rate.high, WHOLE, strong=False)


def _slices(found: Failures, field: str) -> Section:
    """How many fell short in each slice, and the stage at which most of them first failed."""
    keys = {SYSTEM, field} if any(set(one.group) == {SYSTEM, field} for one in found.groups) else {
        field
    }  # fmt: skip
    columns = (
        Heading("system", key=True, several=True), Heading(field), Heading("answers"),
        Heading("fell short", level=found.level), Heading("most often"),
    )  # fmt: skip
    rows = []
    for one in found.groups:
        if set(one.group) == keys and one.judged:
            faults = one.faults
            most = f"{NAMES[faults.stage]} ({faults.at_stage:,})" if faults.stage else "–"
            rows.append(Row((
                RowName(one.group.get(SYSTEM, "")), RowName(one.group[field]), Count(one.judged),
                _share(one.short), most,
            )))  # fmt: skip
    return Section((Table(columns, (Group(tuple(rows)),)),), (strong(f"by {field}"),))


def _failures_small_print(
    shown: Sequence[GroupFailures], unknown: Mapping[str, str]
) -> Iterator[Note]:
    yield Note("fell short", f"{FELL_SHORT} {COUNTED}")
    yield from (Note(NAMES[stage], BECAUSE[stage]) for stage in BECAUSE if stage not in unknown)
    yield from (
        Note(NAMES[stage], (strong("not known"), f": {words(why)}"))
        for stage, why in unknown.items()
    )
    yield from (Note(word, said) for word, said in LEGEND.items())
    yield from method_notes(
        one.first.method for group in shown for one in group.stages if one.first is not None
    )
