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


def forecast_page(forecast: "Forecast") -> Page:
    """Calls, tokens and cost by judge and task, and in total."""
    total = forecast.total
    rows = [
        Row((RowName(judge), RowName(task), *_numbers(item, strong=False)))
        for (judge, task), item in forecast.tasks.items()
    ]
    rows.append(Row((RowName("all", strong=True), RowName(""), *_numbers(total, strong=True))))
    heads = ("calls", "answered\nbefore", "tokens\nsent", "tokens\nreceived", "cost")
    columns = (Heading("judge", key=True), Heading("task"), *(Heading(head) for head in heads))
    each = total.calls / forecast.examples if forecast.examples else 0.0
    sentence = (
        f"{forecast.examples:,} examples, {each:.1f} calls each. Nothing was sent. Tokens are "
        "taken as four characters, and reply lengths are a guess; retries and a server's cache "
        "discounts are not counted."
    )
    notes = Paragraphs((quiet(sentence), *(quiet(words(note)) for note in forecast.notes)))
    return Page("forecast", "", (section(table(columns, rows), notes),), record=forecast.to_dict)


def _numbers(forecast: "TaskForecast", *, strong: bool) -> list[Cell]:
    counts = (forecast.calls, forecast.known, forecast.prompt, forecast.completion)
    cells: list[Cell] = [Count(count, strong=strong) for count in counts]
    return [*cells, Phrase(cost(forecast.usd) if forecast.calls else "–", strong=strong)]


STATES: dict[BatchState, str] = {
    "noted": "not sent",
    "creating": "sent or not",
    "sent": "waiting",
    "taken": "taken",
    "refused": "refused",
    "forgotten": "given up",
}


def batches_page(batches: "ListedBatches") -> Page:
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
        for batch, age in zip(batches.batches, batches.ages, strict=True)
    ]
    notes = [quiet(line) for line in _lines(batches)]
    return Page(
        "batches",
        str(batches.run),
        (section(table(columns, rows), Paragraphs(tuple(notes))),),
        record=lambda: _batches_as_data(batches),
    )


def next_step(batches: "ListedBatches") -> str | None:
    """The command that goes on with the run; None if it waits for nothing."""
    if not batches.waits:
        return None
    return batches.command or "evaluate with the same arguments"


def _lines(batches: "ListedBatches") -> Iterator[str]:
    for batch in batches.batches:
        if (fault := batches.faults.get(batch.tag)) is not None:
            yield f"{batch.id or batch.tag}: as last known, for the provider does not say: {fault}"
        if batch.state == "creating":
            yield (
                f"{batch.id or batch.tag} was being sent when the run was stopped. Its provider's "
                "list is searched when the run goes on, and nothing is sent until then."
            )
    step = next_step(batches)
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


def _batches_as_data(batches: "ListedBatches") -> dict[str, object]:
    return {
        "run": str(batches.run),
        "waiting": batches.waits,
        "next": next_step(batches),
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
                "fault": batches.faults.get(batch.tag),
            }
            for batch, age in zip(batches.batches, batches.ages, strict=True)
        ],
    }


def runs_page(folder: Path, runs: Sequence[FoundRun]) -> Page:
    """A row for each run, the newest first."""
    heads = ("rows", "systems", "judged by", "written (UTC)", "")
    columns = (Heading("run", key=True), Heading("data"), *(Heading(head) for head in heads))
    if runs:
        listed = [section(table(columns, [Row(tuple(_run_cells(run))) for run in runs]))]
        judges = (judge.name for run in runs if run.form for judge in run.form.judges)
        if panels := legend(judges):
            listed.append(small_print(panels))
    else:
        listed = [section(Paragraphs((quiet(f"No run in {folder}: ragstone evaluate DATA"),)))]
    return Page(
        "runs", str(folder), tuple(listed), record=lambda: {"runs": list(map(_run_as_data, runs))}
    )


def _run_cells(run: FoundRun) -> list[Cell]:
    written = Phrase(f"{run.changed:%Y-%m-%d %H:%M}", "quiet")
    if run.form is None:
        damaged = Phrase("damaged", "bad")
        return [RowName(str(run.path)), "–", Count(None), Count(None), "–", written, damaged]
    data = run.form.data
    judges = ", ".join(short_judge(judge.name) for judge in run.form.judges if judge.kinds)
    done = run.form.finished
    return [
        RowName(str(run.path)),
        Path(data.source).name if done else "–",
        Count(data.examples if done else None),
        Count(data.systems if done else None),
        judges or "–",
        written,
        "" if done else _how_far(run),
    ]


def _how_far(run: FoundRun) -> Phrase:
    beat = run.beat
    if beat is None or not run.goes_on:
        return Phrase("unfinished", "caution")
    far = f"{beat.examples:,} rows" if beat.fraction is None else f"{beat.fraction:.0%}"
    workers = "" if beat.workers is None else f", {counted(beat.workers, 'worker')}"
    return Phrase(f"running, {far}{workers}", "quiet")


def _run_as_data(run: FoundRun) -> dict[str, object]:
    form = run.form
    known = form if form and form.finished else None
    return {
        "run": str(run.path),
        "state": "damaged" if form is None else "finished" if form.finished else "unfinished",
        "progress": None if run.beat is None else run.beat.model_dump(mode="json"),
        "written": run.changed.isoformat(timespec="seconds"),
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
    listed = groups.whole_and_all if pooled else groups.whole
    if len(groups.systems) > 1:
        table = matrix(listed, summary, run.form.suites)
    elif listed:
        table = estimate_table(listed, run.form.suites, summary.checked)
    blocks = [table] if listed else [Paragraphs((NOTHING,))]
    return Page(
        "run", str(run.path),
        (section(said(summary)), section(*blocks), section(_facts(run, groups, listed, summary))),
        notes=tuple(notes), record=lambda: run_record(run, notes, summary),
    )  # fmt: skip


def matrix(estimates: Sequence[Estimate], summary: "Summary", suites: Sequence[str] = ()) -> Table:
    """A row for each metric, a column for each system.

    Scores that systems share, because they have the same inputs, have one interval.
    """
    systems = list(dict.fromkeys(estimate.group.get(SYSTEM) for estimate in estimates))
    level = estimates[0].level
    columns = (
        Heading("metric"),
        *(Heading(ALL if name is None else name, level=level, peer=True) for name in systems),
    )
    groups, names = [], row_names(estimates)
    for title, family in by_family(estimates).items():
        rows = []
        for metric, ones in by_metric(family).items():
            by_system = {estimate.group.get(SYSTEM): estimate for estimate in ones}
            first = by_system.get(systems[0])
            cells = [_cell(by_system.get(name), first, summary, suites) for name in systems]
            rows.append(Row((RowName(names[metric], ones[0].better), *cells)))
            means = [
                summary.checked.corrected(metric, by_system[name].group)
                if name in by_system
                else None
                for name in systems
            ]
            if any(means):
                rows.append(
                    Row((RowName(CORRECTED), *(_corrected(mean, suites) for mean in means)))
                )
        groups.append(Group(tuple(rows), title))
    return Table(columns, tuple(groups))


CORRECTED = "↳ corrected"


def _corrected(mean: "CorrectedMean | None", suites: Sequence[str]) -> Cell:
    if mean is None:
        return ""
    percent = in_percent(suites)
    return IntervalCell(mean.value, mean.low, mean.high, percent=percent, strong=False)


def _cell(
    estimate: Estimate | None, first: Estimate | None, summary: "Summary", suites: Sequence[str]
) -> Cell:
    if estimate is None:
        return ""
    if estimate.value is None:
        return Why("missing" if estimate.n_missing else "undefined")
    system = estimate.group.get(SYSTEM)
    alike = first is not None and first is not estimate and same_mean(first, estimate)
    itself = system is not None and estimate.metric in summary.themselves.get(system, ())
    some = estimate.metric in summary.uneven or estimate.n_undefined or estimate.n_missing
    word = "self" if itself else "same" if estimate.metric in summary.same and alike else ""
    return IntervalCell(
        estimate.value,
        None if word else estimate.low,
        None if word else estimate.high,
        None if word else scale_for(estimate.metric),
        percent=in_percent(suites),
        word=word,
        strong=False,
        n=estimate.n if some else None,
        missing=estimate.n_missing,
        leads=system in summary.leaders(estimate.metric),
    )


def _facts(run: Run, groups: Groups, estimates: Sequence[Estimate], summary: "Summary") -> Facts:
    rows = []
    if marks := " · ".join(_marks(estimates, summary)):
        rows.append(Note("reading", quiet(marks)))
    rows += needs(run)
    if summary.conversations:
        more = quiet(f"  {command('show', named(run.path), '--conversations')}")
        rows.append(Note("conversations", (sentence(summary.conversations), more)))
    judges = [judge for judge in run.form.judges if judge.kinds]
    if judges:
        words = [
            part for judge in judges for part in (" · ", strong(judge.name), f": {judge.about}")
        ]
        rows.append(Note("judged by", words[1:]))
    by = f" and values by {' and '.join(groups.fields)}" if groups.fields else ""
    look = f"  next: {command('show', named(run.path))}  (--full adds counts, methods{by})"
    rows.append(Note("run", (strong(named(run.path)), quiet(look))))
    return Facts(tuple(rows))


def _marks(estimates: Sequence[Estimate], summary: "Summary") -> Iterator[str]:
    if estimates:
        yield f"{percent(estimates[0].level)} intervals"
    if len(summary.systems) > 1:
        if any(
            summary.checked.corrected(estimate.metric, estimate.group) for estimate in estimates
        ):
            yield f"{CORRECTED}: by people's labels and the judge together"
        if summary.uneven and (summary.unanswered or summary.apart):
            yield "n: rows with a score; the systems' questions differ"
        elif summary.uneven or any(
            estimate.n_undefined or estimate.n_missing for estimate in estimates
        ):
            yield "n: rows with a score, if some have none"
        if summary.leads:
            without = "* or self" if summary.themselves else "one"
            yield f"* better than every system without {without}"
        if summary.same:
            yield "same: the same inputs for all systems"
        if summary.themselves:
            yield "self: the answers are the references"
