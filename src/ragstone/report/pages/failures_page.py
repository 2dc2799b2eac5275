"""Failures page: the stage at which answers first went wrong, by system and by slice."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.analysis.summaries.failure_stages import (
    JUDGED_BY,
    NO_FAULT,
    PARTIAL,
    RETRIEVAL,
    Failures,
    GroupFailures,
    Rate,
    StageFailures,
)
from ragstone.core.messages import argument, call
from ragstone.report.number_format import SYSTEM, counted, method_notes
from ragstone.report.page import (
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
    quiet,
    section,
    small_print,
    strong,
)
from ragstone.report.reason_words import words
from ragstone.report.sentences.run_words import (
    BECAUSE,
    COUNTED,
    LOOKS_BAD,
    NAMES,
    faults_sentence,
    judged_by,
    look_bad,
)
from ragstone.report.worst_examples import question_and_answer
from ragstone.run import Run

SHOWN = 5
"""Answers at a stage."""

WHOLE = Scale(0, 1)
ALL = "all systems"
LEGEND = {
    "not known": "put at a later stage, though it is not known whether they failed here: there may "
    "be so many more",
    "later": "look bad, failed at an earlier stage and here too",
    "survived": "do not look bad, though they failed here",
}


def failures_page(failures: Failures) -> Page:
    """Return the page: how many answers look bad, each system's waterfall, slices, the rules."""
    whole = failures.of()
    if not whole.judged:
        sections: list[Section] = [section(Paragraphs(tuple(_untold())))]
    else:
        text = faults_sentence(whole.faults, failures.checked, others=bool(failures.themselves))
        sections = [section(Paragraphs((text, *_beside(failures, whole))))]
        listed = _shown(failures)
        unknown = _unknown(listed)
        sections += [_system(stage, failures.level, unknown) for stage in listed]
        sections += [_slices(failures, name) for name in failures.by]
        sections += [small_print(_small_print(failures, listed, unknown))]
    return Page("failures", str(failures.run), tuple(sections), record=failures.to_dict)


def stage_page(
    run: Run, failures: Failures, stage: str, *, system: str | None = None, limit: int | None = None
) -> Page:
    """The answers that failed at a stage first, the most doubtful with question and answer.

    Raises:
        UnknownName: There is no such stage or system.
    """
    rows = failures.examples(stage, system)
    most = SHOWN if limit is None else limit
    ids = rows["example_id"].head(most)
    texts = run.examples(["id", "question", "answer"]).filter(pl.col("id").is_in(ids.implode()))
    texts_of = {id: (question, answer) for id, question, answer in texts.iter_rows()}
    failed = [
        (row, [code for code in BECAUSE if row[code] and code != stage])
        for row in rows.iter_rows(named=True)
    ]
    items = [_item(row, also, *texts_of[row["example_id"]]) for row, also in failed[:most]]
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
        "failures", str(failures.run), (Section((Outline(tuple(items)),), title),),
        record=lambda: {"run": str(failures.run), "stage": stage, "examples": listed},
    )  # fmt: skip


def _item(
    row: Mapping[str, Any], also: Sequence[str], question: str | None, answer: str | None
) -> OutlineItem:
    others = f"  also {', '.join(NAMES[code] for code in also)}" if also else ""
    name = Phrase(row["example_id"], "name", strong=True)
    return OutlineItem((name, quiet(f"  {row['system']}{others}")), question_and_answer(
        question, answer
    ))  # fmt: skip


def _untold() -> Iterator[str]:
    yield f"Nothing tells which answers look bad: that needs {' or '.join(JUDGED_BY)}."
    options = argument("run", "RUN"), argument("metrics", JUDGED_BY[0])
    yield f"To add one: {call('rescore', *options)}"


def _beside(failures: Failures, whole: GroupFailures) -> Iterator[str]:
    if whole.survived:
        good = counted(whole.judged - whole.bad.n, "answer")
        yield f"{whole.survived:,} of {good} that do not look bad survived a fault of retrieval."
    for name in failures.themselves:
        yield f"{name} answers with the references, so its answers are left out of all others."


def _shown(failures: Failures) -> list[GroupFailures]:
    systems = [group for group in failures.groups if set(group.group) == {SYSTEM} and group.judged]
    return systems if len(systems) > 1 else [failures.of()]


def _unknown(listed: Sequence[GroupFailures]) -> dict[str, str]:
    unknown = {stage.stage: stage.why for stage in listed[0].stages if stage.first is None}
    known = {stage.stage for group in listed for stage in group.stages if stage.first is not None}
    return {stage: why for stage, why in unknown.items() if stage not in known}


def _system(group: GroupFailures, level: float, unknown: Mapping[str, str]) -> Section:
    stages = [stage for stage in group.stages if stage.stage not in unknown]
    name = group.group.get(SYSTEM, ALL)
    steps = [
        Step(NAMES[stage.stage], stage.first.n, "bad")
        for stage in stages
        if stage.first is not None
    ]
    steps += [Step(NAMES[PARTIAL], group.partial.n), Step(NAMES[NO_FAULT], group.fine.n)]
    drawn = Waterfall(group.judged, tuple(steps), f"First fault of the answers of {name}")
    columns = (
        Heading("first fault"), Heading("answers"), Heading("share", level=level),
        Heading("not known", drop=1), Heading("later", drop=2), Heading("survived", drop=3),
    )  # fmt: skip
    rows = [_row(stage) for stage in stages]
    rows += [_good(PARTIAL, group.partial), _good(NO_FAULT, group.fine)]
    table = Table(columns, (Group(tuple(rows)),))
    return Section((drawn, table), (strong(name), f"  {look_bad(group)}"))


def _row(stage: StageFailures) -> Row:
    name = RowName(NAMES[stage.stage], about=BECAUSE.get(stage.stage, ""))
    if stage.first is None:
        return Row((name, Why("unknown", words(stage.why)), None, None, None, None))
    survived: Cell = Count(stage.survived) if stage.stage in RETRIEVAL else ""
    return Row((
        name, Count(stage.first.n, "bad"), _share(stage.first), Count(stage.untold, "missing"),
        Count(stage.later), survived,
    ))  # fmt: skip


def _good(stage: str, rate: Rate) -> Row:
    return Row((RowName(NAMES[stage]), Count(rate.n), Number(rate.share), "", "", ""))


def _share(rate: Rate) -> IntervalCell:
    return IntervalCell(rate.share, rate.low, rate.high, WHOLE, strong=False)


def _slices(failures: Failures, field: str) -> Section:
    keys = (
        {SYSTEM, field}
        if any(set(group.group) == {SYSTEM, field} for group in failures.groups)
        else {field}
    )
    columns = (
        Heading("system", key=True, several=True), Heading(field), Heading("answers"),
        Heading("look bad", level=failures.level), Heading("most often"),
    )  # fmt: skip
    rows = []
    for group in failures.groups:
        if set(group.group) == keys and group.judged:
            faults = group.faults
            most = f"{NAMES[faults.stage]} ({faults.at_stage:,})" if faults.stage else "–"
            rows.append(
                Row(
                    (
                        RowName(group.group.get(SYSTEM, "")),
                        RowName(group.group[field]),
                        Count(group.judged),
                        _share(group.bad),
                        most,
                    )
                )
            )
    return Section((Table(columns, (Group(tuple(rows)),)),), (strong(f"by {field}"),))


def _small_print(
    failures: Failures, listed: Sequence[GroupFailures], unknown: Mapping[str, str]
) -> Iterator[Note]:
    yield Note("look bad", " ".join(filter(None, (judged_by(failures), LOOKS_BAD, COUNTED))))
    yield from (Note(NAMES[stage], BECAUSE[stage]) for stage in BECAUSE if stage not in unknown)
    yield from (
        Note(NAMES[stage], (strong("not known"), f": {words(why)}"))
        for stage, why in unknown.items()
    )
    yield from (Note(word, text) for word, text in LEGEND.items())
    yield from method_notes(
        stage.first.method for group in listed for stage in group.stages if stage.first is not None
    )
