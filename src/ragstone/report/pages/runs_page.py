"""Run pages: a run with its metrics, the runs of a folder, the batches of a run, a forecast.

They are printed by ``ragstone evaluate`` (with ``--dry-run`` the forecast), ``ragstone runs`` and
``ragstone batches``.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.report.console import command
from ragstone.report.judgement_words import legend, short_judge
from ragstone.report.number_format import (
    SYSTEM,
    Groups,
    by_family,
    by_metric,
    counted,
    in_percent,
    percent,
    row_names,
    same_mean,
    scale_for,
)
from ragstone.report.page import (
    Cell,
    Count,
    Facts,
    Group,
    Heading,
    IntervalCell,
    Note,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Table,
    Why,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.reason_words import words
from ragstone.report.run_contents import cost, lasted
from ragstone.run import Estimate, Run
from ragstone.run.batches.batch_journal import BatchState, KeptBatch
from ragstone.run.folder.remote_folder import named
from ragstone.run.folder.run_list import FoundRun

from .conversations_page import sentence
from .full_run_page import NOTHING, estimate_table, needs, run_record, said

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CorrectedMean
    from ragstone.analysis.summaries.run_summary import Summary
    from ragstone.run.batches.batch_follower import ListedBatches
    from ragstone.run.forecast import Forecast, TaskForecast


def forecast_page(found: "Forecast") -> Page:
    """Calls, tokens and cost by judge and task, and in total."""
    total = found.total
    rows = [
        Row((RowName(judge), RowName(task), *_numbers(one, strong=False)))
        for (judge, task), one in found.tasks.items()
    ]
    rows.append(Row((RowName("all", strong=True), RowName(""), *_numbers(total, strong=True))))
    heads = ("calls", "answered\nbefore", "tokens\nsent", "tokens\nreceived", "cost")
    columns = (Heading("judge", key=True), Heading("task"), *(Heading(head) for head in heads))
    each = total.calls / found.examples if found.examples else 0.0
    sentence = (
        f"{found.examples:,} examples, {each:.1f} calls each. Nothing was sent. Tokens are taken "
        "as four characters, and reply lengths are a guess; retries and a server's cache "
        "discounts are not counted."
    )
    notes = Paragraphs((quiet(sentence), *(quiet(words(note)) for note in found.notes)))
    return Page("forecast", "", (section(table(columns, rows), notes),), record=found.to_dict)


def _numbers(one: "TaskForecast", *, strong: bool) -> list[Cell]:
    counts = (one.calls, one.known, one.prompt, one.completion)
    cells: list[Cell] = [Count(count, strong=strong) for count in counts]
    return [*cells, Phrase(cost(one.usd) if one.calls else "–", strong=strong)]


STATES: dict[BatchState, str] = {
    "noted": "not sent",
    "creating": "sent or not",
    "sent": "waiting",
    "taken": "taken",
    "refused": "refused",
    "forgotten": "given up",
}


def batches_page(found: "ListedBatches") -> Page:
    """A row for each batch, and what to do next."""
    heads = ("questions", "answered", "failed", "expected", "sent")
    columns = (
        Heading("batch", key=True),
        Heading("judge"),
        Heading("state"),
        *(Heading(head) for head in heads),
    )
    rows = [
        Row(tuple(_batch_cells(batch, age)))
        for batch, age in zip(found.batches, found.ages, strict=True)
    ]
    said = [quiet(line) for line in _lines(found)]
    return Page(
        "batches",
        str(found.run),
        (section(table(columns, rows), Paragraphs(tuple(said))),),
        record=lambda: _batches_as_data(found),
    )


def next_step(found: "ListedBatches") -> str | None:
    """The command that goes on with the run; None if it waits for nothing."""
    if not found.waits:
        return None
    return found.command or "evaluate with the same arguments"


def _lines(found: "ListedBatches") -> Iterator[str]:
    for batch in found.batches:
        if (fault := found.faults.get(batch.tag)) is not None:
            yield f"{batch.id or batch.tag}: as last known, for the provider does not say: {fault}"
        if batch.state == "creating":
            yield (
                f"{batch.id or batch.tag} was being sent when the run was stopped. Its provider's "
                "list is searched when the run goes on, and nothing is sent until then."
            )
    step = next_step(found)
    yield f"Next: {step}" if step else "Nothing is waited for."


def _batch_cells(batch: KeptBatch, age: float) -> Iterator[Cell]:
    yield RowName(batch.id or batch.tag)
    yield short_judge(batch.model)
    state = STATES[batch.state]
    yield Phrase(
        f"{state}: {batch.said}" if batch.said and batch.said != state else state,
        "caution" if batch.waits else "quiet",
    )
    yield Count(batch.requests)
    yield Count(batch.answered)
    yield Count(batch.unanswered)
    yield cost(batch.expected) if batch.expected is not None else "–"
    yield Phrase(f"{lasted(age)} ago", "quiet")


def _batches_as_data(found: "ListedBatches") -> dict[str, object]:
    return {
        "run": str(found.run),
        "waiting": found.waits,
        "next": next_step(found),
        "batches": [
            {
                "id": batch.id,
                "tag": batch.tag,
                "judge": batch.model,
                "state": batch.state,
                "said": batch.said or None,
                "questions": batch.requests,
                "answered": batch.answered,
                "failed": batch.unanswered,
                "expected_usd": batch.expected,
                "seconds_ago": round(age),
                "fault": found.faults.get(batch.tag),
            }
            for batch, age in zip(found.batches, found.ages, strict=True)
        ],
    }


def runs_page(folder: Path, runs: Sequence[FoundRun]) -> Page:
    """A row for each run, the newest first."""
    heads = ("rows", "systems", "judged by", "written (UTC)", "")
    columns = (Heading("run", key=True), Heading("data"), *(Heading(head) for head in heads))
    if runs:
        shown = [section(table(columns, [Row(tuple(_run_cells(one))) for one in runs]))]
        judges = (judge.name for one in runs if one.form for judge in one.form.judges)
        if panels := legend(judges):
            shown.append(small_print(panels))
    else:
        shown = [section(Paragraphs((quiet(f"No run in {folder}: ragstone evaluate DATA"),)))]
    return Page(
        "runs", str(folder), tuple(shown), record=lambda: {"runs": list(map(_run_as_data, runs))}
    )


def _run_cells(one: FoundRun) -> list[Cell]:
    written = Phrase(f"{one.changed:%Y-%m-%d %H:%M}", "quiet")
    if one.form is None:
        damaged = Phrase("damaged", "bad")
        return [RowName(str(one.path)), "–", Count(None), Count(None), "–", written, damaged]
    data = one.form.data
    judges = ", ".join(short_judge(judge.name) for judge in one.form.judges if judge.kinds)
    done = one.form.finished
    return [
        RowName(str(one.path)),
        Path(data.source).name if done else "–",
        Count(data.examples if done else None),
        Count(data.systems if done else None),
        judges or "–",
        written,
        "" if done else _how_far(one),
    ]


def _how_far(one: FoundRun) -> Phrase:
    beat = one.beat
    if beat is None or not one.goes_on:
        return Phrase("unfinished", "caution")
    far = f"{beat.examples:,} rows" if beat.fraction is None else f"{beat.fraction:.0%}"
    workers = "" if beat.workers is None else f", {counted(beat.workers, 'worker')}"
    return Phrase(f"running, {far}{workers}", "quiet")


def _run_as_data(one: FoundRun) -> dict[str, object]:
    form = one.form
    known = form if form and form.finished else None
    return {
        "run": str(one.path),
        "state": "damaged" if form is None else "finished" if form.finished else "unfinished",
        "progress": None if one.beat is None else one.beat.model_dump(mode="json"),
        "written": one.changed.isoformat(timespec="seconds"),
        "data": known and known.data.source,
        "examples": known and known.data.examples,
        "systems": known and known.data.systems,
        "judges": form and [judge.name for judge in form.judges if judge.kinds],
        "metrics": known and list(known.metrics),
        "signature": known and known.signature,
    }


ALL = "all systems"


def run_page(
    run: Run, summary: "Summary", notes: Sequence[str] = (), *, pooled: bool = False
) -> Page:
    """The run in sentences, metrics as rows and systems as columns, who judged, what to do next."""
    groups = Groups(run.estimate_list)
    shown = groups.whole_and_all if pooled else groups.whole
    if len(groups.systems) > 1:
        table = matrix(shown, summary, run.form.suites)
    elif shown:
        table = estimate_table(shown, run.form.suites, summary.checked)
    blocks = [table] if shown else [Paragraphs((NOTHING,))]
    return Page(
        "run", str(run.path),
        (section(said(summary)), section(*blocks), section(_facts(run, groups, shown, summary))),
        notes=tuple(notes), record=lambda: run_record(run, notes, summary),
    )  # fmt: skip


def matrix(estimates: Sequence[Estimate], summary: "Summary", suites: Sequence[str] = ()) -> Table:
    """A row for each metric, a column for each system.

    Scores that systems share, because they have the same inputs, have one interval.
    """
    systems = list(dict.fromkeys(one.group.get(SYSTEM) for one in estimates))
    level = estimates[0].level
    columns = (
        Heading("metric"),
        *(Heading(ALL if name is None else name, level=level, peer=True) for name in systems),
    )
    groups, names = [], row_names(estimates)
    for title, family in by_family(estimates).items():
        rows = []
        for metric, ones in by_metric(family).items():
            found = {one.group.get(SYSTEM): one for one in ones}
            first = found.get(systems[0])
            cells = [_cell(found.get(name), first, summary, suites) for name in systems]
            rows.append(Row((RowName(names[metric], ones[0].better), *cells)))
            means = [summary.checked.corrected(metric, found[name].group) if name in found else None
                     for name in systems]  # fmt: skip
            if any(means):
                rows.append(Row((RowName(CORRECTED), *(_corrected(one, suites) for one in means))))
        groups.append(Group(tuple(rows), title))
    return Table(columns, tuple(groups))


CORRECTED = "↳ corrected"


def _corrected(mean: "CorrectedMean | None", suites: Sequence[str]) -> Cell:
    if mean is None:
        return ""
    percent = in_percent(suites)
    return IntervalCell(mean.value, mean.low, mean.high, percent=percent, strong=False)


def _cell(
    one: Estimate | None, first: Estimate | None, summary: "Summary", suites: Sequence[str]
) -> Cell:
    if one is None:
        return ""
    if one.value is None:
        return Why("missing" if one.n_missing else "undefined")
    system = one.group.get(SYSTEM)
    alike = first is not None and first is not one and same_mean(first, one)
    itself = system is not None and one.metric in summary.themselves.get(system, ())
    some = one.metric in summary.uneven or one.n_undefined or one.n_missing
    word = "self" if itself else "same" if one.metric in summary.same and alike else ""
    return IntervalCell(
        one.value,
        None if word else one.low,
        None if word else one.high,
        None if word else scale_for(one.metric),
        percent=in_percent(suites),
        word=word,
        strong=False,
        n=one.n if some else None,
        missing=one.n_missing,
        leads=system in summary.leaders(one.metric),
    )


def _facts(run: Run, groups: Groups, shown: Sequence[Estimate], summary: "Summary") -> Facts:
    rows = []
    if marks := " · ".join(_marks(shown, summary)):
        rows.append(Note("reading", quiet(marks)))
    rows += needs(run)
    if summary.conversations:
        more = quiet(f"  {command('show', named(run.path), '--conversations')}")
        rows.append(Note("conversations", (sentence(summary.conversations), more)))
    judges = [one for one in run.form.judges if one.kinds]
    if judges:
        words = [part for one in judges for part in (" · ", strong(one.name), f": {one.about}")]
        rows.append(Note("judged by", words[1:]))
    by = f" and values by {' and '.join(groups.fields)}" if groups.fields else ""
    look = f"  next: {command('show', named(run.path))}  (--full adds counts, methods{by})"
    rows.append(Note("run", (strong(named(run.path)), quiet(look))))
    return Facts(tuple(rows))


def _marks(shown: Sequence[Estimate], summary: "Summary") -> Iterator[str]:
    if shown:
        yield f"{percent(shown[0].level)} intervals"
    if len(summary.systems) > 1:
        if any(summary.checked.corrected(one.metric, one.group) for one in shown):
            yield f"{CORRECTED}: by people's labels and the judge together"
        if summary.uneven and (summary.unanswered or summary.apart):
            yield "n: rows with a score; the systems' questions differ"
        elif summary.uneven or any(one.n_undefined or one.n_missing for one in shown):
            yield "n: rows with a score, if some have none"
        if summary.leads:
            without = "* or self" if summary.themselves else "one"
            yield f"* better than every system without {without}"
        if summary.same:
            yield "same: the same inputs for all systems"
        if summary.themselves:
            yield "self: the answers are the references"
