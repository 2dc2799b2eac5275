"""Failures page: the stage at which answers first went wrong, by system and by slice."""

from collections.abc import Iterator, Mapping, Sequence

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
from ragstone.report import page as ui
from ragstone.report.number_format import SYSTEM, counted, method_notes
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

# Answers at a stage.
SHOWN = 5

WHOLE = ui.Scale(0, 1)
ALL = "all systems"
LEGEND = {
    "not known": "put at a later stage, though it is not known whether they failed here: there may "
    "be so many more",
    "later": "look bad, failed at an earlier stage and here too",
    "survived": "do not look bad, though they failed here",
}


def failures_page(failures: Failures) -> ui.Page:
    """Return the page: how many answers look bad, each system's waterfall, slices, the rules."""
    whole = failures.of()
    if not whole.judged:
        unjudged = f"Which answers look bad is not known: that needs {' or '.join(JUDGED_BY)}."
        rescore = call("rescore", argument("run", "RUN"), argument("metrics", JUDGED_BY[0]))
        sections = [ui.section(ui.Paragraphs((unjudged, f"To add one: {rescore}")))]
    else:
        text = faults_sentence(whole.faults, failures.checked, others=bool(failures.themselves))
        lines = [text]
        if whole.survived:
            good = counted(whole.judged - whole.bad.n, "answer")
            survived = f"{whole.survived:,} of {good} that do not look bad"
            lines.append(f"{survived} survived a fault of retrieval.")
        lines += (
            f"{name} answers with the references, so its answers are left out of all others."
            for name in failures.themselves
        )
        systems = [
            group for group in failures.groups if set(group.group) == {SYSTEM} and group.judged
        ]
        listed = systems if len(systems) > 1 else [whole]
        unknown = _unknown(listed)
        sections = [
            ui.section(ui.Paragraphs(tuple(lines))),
            *(_system(group, failures.level, unknown) for group in listed),
            *(_slices(failures, name) for name in failures.by),
            ui.small_print(_small_print(failures, listed, unknown)),
        ]
    return ui.Page("failures", str(failures.run), tuple(sections), record=failures.to_dict)


def stage_page(
    run: Run, failures: Failures, stage: str, *, system: str | None = None, limit: int | None = None
) -> ui.Page:
    """The answers that failed at a stage first, the most doubtful with question and answer."""
    rows = failures.examples(stage, system)
    most = SHOWN if limit is None else limit
    ids = rows["example_id"].head(most)
    texts = run.examples(["id", "question", "answer"]).filter(pl.col("id").is_in(ids.implode()))
    texts_of = {id: (question, answer) for id, question, answer in texts.iter_rows()}
    failed = [
        (row, [code for code in BECAUSE if row[code] and code != stage])
        for row in rows.iter_rows(named=True)
    ]
    items = []
    for row, also in failed[:most]:
        others = f"  also {', '.join(NAMES[code] for code in also)}" if also else ""
        name = ui.Phrase(row["example_id"], "name", strong=True)
        texts_below = question_and_answer(*texts_of[row["example_id"]])
        items.append(ui.OutlineItem((name, ui.quiet(f"  {row['system']}{others}")), texts_below))
    if left := len(failed) - len(items):
        items.append(ui.OutlineItem(ui.quiet(f"and {left:,} more (--limit, --json)")))
    because = f"  {BECAUSE[stage]}" if stage in BECAUSE else ""
    title = (ui.strong(NAMES[stage]), f"{because}: {counted(rows.height, 'answer')}")
    listed = [
        {"example_id": row["example_id"], "question_id": row["question_id"],
         "system": row["system"], "failed_at": also}
        for row, also in failed
    ]  # fmt: skip
    return ui.Page(
        "failures", str(failures.run), (ui.Section((ui.Outline(tuple(items)),), title),),
        record=lambda: {"run": str(failures.run), "stage": stage, "examples": listed},
    )  # fmt: skip


def _unknown(listed: Sequence[GroupFailures]) -> dict[str, str]:
    known = {stage.stage for group in listed for stage in group.stages if stage.first is not None}
    return {stage.stage: stage.why for stage in listed[0].stages if stage.stage not in known}


def _system(group: GroupFailures, level: float, unknown: Mapping[str, str]) -> ui.Section:
    stages = [stage for stage in group.stages if stage.stage not in unknown]
    name = group.group.get(SYSTEM, ALL)
    steps = [ui.Step(NAMES[item.stage], item.first.n, "bad") for item in stages if item.first]
    steps += [ui.Step(NAMES[PARTIAL], group.partial.n), ui.Step(NAMES[NO_FAULT], group.fine.n)]
    drawn = ui.Waterfall(group.judged, tuple(steps), f"First fault of the answers of {name}")
    columns = (
        "first fault", "answers", ui.Heading("share", level=level), ui.Heading("not known", drop=1),
        ui.Heading("later", drop=2), ui.Heading("survived", drop=3),
    )  # fmt: skip
    rows = [*map(_row, stages)]
    rows += [
        (ui.RowName(NAMES[code]), ui.Count(rate.n), ui.Number(rate.share), "", "", "")
        for code, rate in ((PARTIAL, group.partial), (NO_FAULT, group.fine))
    ]
    return ui.section(
        drawn, ui.table(columns, rows), title=(ui.strong(name), f"  {look_bad(group)}")
    )


def _row(stage: StageFailures) -> tuple[ui.Cell, ...]:
    name = ui.RowName(NAMES[stage.stage], about=BECAUSE.get(stage.stage, ""))
    if stage.first is None:
        return name, ui.Why("unknown", words(stage.why)), None, None, None, None
    survived = ui.Count(stage.survived) if stage.stage in RETRIEVAL else ""
    return (name, ui.Count(stage.first.n, "bad"), _share(stage.first),
            ui.Count(stage.untold, "missing"), ui.Count(stage.later), survived)  # fmt: skip


def _share(rate: Rate) -> ui.IntervalCell:
    return ui.IntervalCell(rate.share, rate.low, rate.high, WHOLE, strong=False)


def _slices(failures: Failures, field: str) -> ui.Section:
    of_systems = any(set(group.group) == {SYSTEM, field} for group in failures.groups)
    keys = {SYSTEM, field} if of_systems else {field}
    columns = (ui.Heading("system", key=True, several=True), field, "answers",
               ui.Heading("look bad", level=failures.level), "most often")  # fmt: skip
    rows = []
    for group in failures.groups:
        if set(group.group) == keys and group.judged:
            faults = group.faults
            most = f"{NAMES[faults.stage]} ({faults.at_stage:,})" if faults.stage else "–"
            rows.append((ui.RowName(group.group.get(SYSTEM, "")), ui.RowName(group.group[field]),
                         ui.Count(group.judged), _share(group.bad), most))  # fmt: skip
    return ui.section(ui.table(columns, rows), title=(ui.strong(f"by {field}"),))


def _small_print(
    failures: Failures, listed: Sequence[GroupFailures], unknown: Mapping[str, str]
) -> Iterator[ui.Note]:
    yield ui.Note("look bad", " ".join(filter(None, (judged_by(failures), LOOKS_BAD, COUNTED))))
    yield from (ui.Note(NAMES[stage], BECAUSE[stage]) for stage in BECAUSE if stage not in unknown)
    for stage, why in unknown.items():
        yield ui.Note(NAMES[stage], (ui.strong("not known"), f": {words(why)}"))
    yield from (ui.Note(word, text) for word, text in LEGEND.items())
    rates = (stage.first for group in listed for stage in group.stages)
    yield from method_notes(rate.method for rate in rates if rate is not None)
