"""Run pages: a run with its metrics, the runs of a folder, the batches of a run, a forecast.

They are printed by ``ragstone evaluate`` (with ``--dry-run`` the forecast), ``ragstone runs`` and
``ragstone batches``.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.report import number_format as fmt
from ragstone.report import page as ui
from ragstone.report.console import command
from ragstone.report.judgement_words import legend, short_judge
from ragstone.report.reason_words import words
from ragstone.report.run_contents import cost, lasted
from ragstone.run import Estimate, Run
from ragstone.run.batches.batch_journal import BatchState
from ragstone.run.folder.remote_folder import named
from ragstone.run.folder.run_list import FoundRun

from .conversations_page import sentence
from .full_run_page import NOTHING, estimate_table, needs, run_note, run_record, said

if TYPE_CHECKING:
    from ragstone.analysis.summaries.run_summary import Summary
    from ragstone.run.batches.batch_follower import ListedBatches
    from ragstone.run.forecast import Forecast, TaskForecast


def forecast_page(forecast: "Forecast") -> ui.Page:
    """Calls, tokens and cost by judge and task, and in total."""
    total = forecast.total
    rows = [
        (ui.RowName(judge), ui.RowName(task), *_numbers(item, strong=False))
        for (judge, task), item in forecast.tasks.items()
    ]
    rows.append((ui.RowName("all", strong=True), ui.RowName(""), *_numbers(total, strong=True)))
    heads = ("calls", "answered\nbefore", "tokens\nsent", "tokens\nreceived", "cost")
    each = total.calls / forecast.examples if forecast.examples else 0.0
    sentence = (
        f"{forecast.examples:,} examples, {each:.1f} calls each. Nothing was sent. Tokens are "
        "taken as four characters, and reply lengths are a guess; retries and a server's cache "
        "discounts are not counted."
    )
    calls = ui.table((ui.Heading("judge", key=True), "task", *heads), rows)
    notes = ui.Paragraphs(tuple(map(ui.quiet, (sentence, *map(words, forecast.notes)))))
    return ui.Page("forecast", "", (ui.section(calls, notes),), record=forecast.to_dict)


def _numbers(forecast: "TaskForecast", *, strong: bool) -> tuple[ui.Cell, ...]:
    counts = (forecast.calls, forecast.known, forecast.prompt, forecast.completion)
    usd = ui.Phrase(cost(forecast.usd) if forecast.calls else "–", strong=strong)
    return (*(ui.Count(count, strong=strong) for count in counts), usd)


STATES: dict[BatchState, str] = {
    "noted": "not sent",
    "creating": "sent or not",
    "sent": "waiting",
    "taken": "taken",
    "refused": "refused",
    "forgotten": "given up",
}


def batches_page(batches: "ListedBatches") -> ui.Page:
    """A row for each batch, and what to do next."""
    step = None
    if batches.waits:
        step = batches.command or "evaluate with the same arguments"
    rows, lines, records = [], [], []
    for batch, age in zip(batches.batches, batches.ages, strict=True):
        name, fault = batch.id or batch.tag, batches.faults.get(batch.tag)
        state = STATES[batch.state]
        state += f": {batch.said}" if batch.said and batch.said != state else ""
        rows.append((
            ui.RowName(name), short_judge(batch.model),
            ui.Phrase(state, "caution" if batch.waits else "quiet"),
            ui.Count(batch.requests), ui.Count(batch.answered), ui.Count(batch.unanswered),
            "–" if batch.expected is None else cost(batch.expected), ui.quiet(f"{lasted(age)} ago"),
        ))  # fmt: skip
        if fault is not None:
            lines.append(f"{name}: as last known, for the provider does not say: {fault}")
        if batch.state == "creating":
            lines.append(
                f"{name} was being sent when the run was stopped. Its provider's list is searched "
                "when the run goes on, and nothing is sent until then."
            )
        records.append({
            "id": batch.id, "tag": batch.tag, "judge": batch.model, "state": batch.state,
            "said": batch.said or None, "questions": batch.requests, "answered": batch.answered,
            "failed": batch.unanswered, "expected_usd": batch.expected,
            "seconds_ago": round(age), "fault": fault,
        })  # fmt: skip
    lines.append(f"Next: {step}" if step else "Nothing is waited for.")
    heads = ("judge", "state", "questions", "answered", "failed", "expected", "sent")
    listed = ui.table((ui.Heading("batch", key=True), *heads), rows)
    record = {
        "run": str(batches.run), "waiting": batches.waits, "next": step, "batches": records,
    }  # fmt: skip
    notes = ui.Paragraphs(tuple(map(ui.quiet, lines)))
    return ui.Page("batches", str(batches.run), (ui.section(listed, notes),), record=lambda: record)


def runs_page(folder: Path, runs: Sequence[FoundRun]) -> ui.Page:
    """A row for each run, the newest first."""
    heads = ("data", "rows", "systems", "judged by", "written (UTC)", "")
    sections = [ui.section(ui.table((ui.Heading("run", key=True), *heads), map(_run_cells, runs)))]
    judges = (judge.name for run in runs if run.form for judge in run.form.judges)
    if panels := legend(judges):
        sections.append(ui.small_print(panels))
    if not runs:
        sections = [ui.section(ui.quiet(f"No run in {folder}: ragstone evaluate DATA"))]
    record = {"runs": list(map(_run_as_data, runs))}
    return ui.Page("runs", str(folder), tuple(sections), record=lambda: record)


def _run_cells(run: FoundRun) -> list[ui.Cell]:
    name, written = ui.RowName(str(run.path)), ui.quiet(f"{run.changed:%Y-%m-%d %H:%M}")
    unknown = ("–", ui.Count(None), ui.Count(None))
    if run.form is None:
        return [name, *unknown, "–", written, ui.Phrase("damaged", "bad")]
    data, beat = run.form.data, run.beat
    judges = ", ".join(short_judge(judge.name) for judge in run.form.judges if judge.kinds) or "–"
    if run.form.finished:
        counts = (ui.Count(data.examples), ui.Count(data.systems))
        return [name, Path(data.source).name, *counts, judges, written, ""]
    state = ui.Phrase("unfinished", "caution")
    if beat is not None and run.goes_on:
        far = f"{beat.examples:,} rows" if beat.fraction is None else f"{beat.fraction:.0%}"
        workers = "" if beat.workers is None else f", {fmt.counted(beat.workers, 'worker')}"
        state = ui.quiet(f"running, {far}{workers}")
    return [name, *unknown, judges, written, state]


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
) -> ui.Page:
    """The run in sentences, metrics as rows and systems as columns, who judged, what to do next."""
    groups = fmt.Groups(run.estimate_list)
    listed = groups.whole_and_all if pooled else groups.whole
    if len(groups.systems) > 1:
        table = matrix(listed, summary, run.form.suites)
    elif listed:
        table = estimate_table(listed, run.form.suites, summary.checked)
    blocks = [table] if listed else [ui.Paragraphs((NOTHING,))]
    return ui.Page(
        "run", str(run.path),
        (ui.section(said(summary)), ui.section(*blocks),
         ui.section(_facts(run, groups, listed, summary))),
        notes=tuple(notes), record=lambda: run_record(run, notes, summary),
    )  # fmt: skip


def matrix(
    estimates: Sequence[Estimate], summary: "Summary", suites: Sequence[str] = ()
) -> ui.Table:
    """A row for each metric, a column for each system.

    Scores that systems share, because they have the same inputs, have one interval.
    """
    systems = list(dict.fromkeys(estimate.group.get(fmt.SYSTEM) for estimate in estimates))
    level, percent = estimates[0].level, fmt.in_percent(suites)
    heads = (ui.Heading(ALL if name is None else name, level=level, peer=True) for name in systems)
    groups, names = [], fmt.row_names(estimates)
    for title, family in fmt.by_family(estimates).items():
        rows = []
        for metric, ones in fmt.by_metric(family).items():
            by_system = {estimate.group.get(fmt.SYSTEM): estimate for estimate in ones}
            first = by_system.get(systems[0])
            cells = [_cell(by_system.get(name), first, summary, suites) for name in systems]
            rows.append(ui.Row((ui.RowName(names[metric], ones[0].better), *cells)))
            corrected: dict[str | None, ui.Cell] = {}
            for name, estimate in by_system.items():
                if mean := summary.checked.corrected(metric, estimate.group):
                    corrected[name] = ui.IntervalCell(
                        mean.value, mean.low, mean.high, percent=percent, strong=False
                    )
            if corrected:
                means = (corrected.get(name, "") for name in systems)
                rows.append(ui.Row((ui.RowName(CORRECTED), *means)))
        groups.append(ui.Group(tuple(rows), title))
    return ui.Table((ui.Heading("metric"), *heads), tuple(groups))


CORRECTED = "↳ corrected"


def _cell(
    estimate: Estimate | None, first: Estimate | None, summary: "Summary", suites: Sequence[str]
) -> ui.Cell:
    if estimate is None:
        return ""
    if estimate.value is None:
        return ui.Why("missing" if estimate.n_missing else "undefined")
    system = estimate.group.get(fmt.SYSTEM)
    alike = first is not None and first is not estimate and fmt.same_mean(first, estimate)
    itself = system is not None and estimate.metric in summary.themselves.get(system, ())
    some = estimate.metric in summary.uneven or estimate.n_undefined or estimate.n_missing
    word = "self" if itself else "same" if estimate.metric in summary.same and alike else ""
    return ui.IntervalCell(
        estimate.value,
        None if word else estimate.low,
        None if word else estimate.high,
        None if word else fmt.scale_for(estimate.metric),
        percent=fmt.in_percent(suites),
        word=word,
        strong=False,
        n=estimate.n if some else None,
        missing=estimate.n_missing,
        leads=system in summary.leaders(estimate.metric),
    )


def _facts(
    run: Run, groups: fmt.Groups, estimates: Sequence[Estimate], summary: "Summary"
) -> ui.Facts:
    rows = []
    if marks := " · ".join(_marks(estimates, summary)):
        rows.append(ui.Note("reading", ui.quiet(marks)))
    rows += needs(run)
    if summary.conversations:
        show = command("show", named(run.path), "--conversations")
        more = ui.quiet("" if run.is_temporary else f"  {show}")
        rows.append(ui.Note("conversations", (sentence(summary.conversations), more)))
    judges = [
        (ui.strong(judge.name), f": {judge.about}") for judge in run.form.judges if judge.kinds
    ]
    if judges:
        words = [part for judge in judges for part in (" · ", *judge)]
        rows.append(ui.Note("judged by", words[1:]))
    by = f" and values by {' and '.join(groups.fields)}" if groups.fields else ""
    show = command("show", named(run.path))
    rows.append(run_note(run, f"{show}  (--full adds counts, methods{by})"))
    return ui.Facts(tuple(rows))


def _marks(estimates: Sequence[Estimate], summary: "Summary") -> Iterator[str]:
    if estimates:
        yield f"{fmt.percent(estimates[0].level)} intervals"
    if len(summary.systems) > 1:
        if any(summary.checked.corrected(item.metric, item.group) for item in estimates):
            yield f"{CORRECTED}: by people's labels and the judge together"
        if summary.uneven and (summary.unanswered or summary.apart):
            yield "n: rows with a score; the systems' questions differ"
        elif summary.uneven or any(item.n_undefined or item.n_missing for item in estimates):
            yield "n: rows with a score, if some have none"
        if summary.leads:
            without = "* or self" if summary.themselves else "one"
            yield f"* better than every system without {without}"
        if summary.same:
            yield "same: the same inputs for all systems"
        if summary.themselves:
            yield "self: the answers are the references"
