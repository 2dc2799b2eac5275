"""Run in full: every estimate with its counts, distributions, slices and the small print."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ragstone.core.messages import Reason
from ragstone.report import number_format as fmt
from ragstone.report import page as ui
from ragstone.report.console import command
from ragstone.report.reason_words import LACKS, why_no_value, words
from ragstone.report.run_contents import took
from ragstone.report.sentences.analysis_words import corrected
from ragstone.report.sentences.run_words import summary_sentences
from ragstone.run import Estimate, Run
from ragstone.run.folder.remote_folder import named

from .conversations_page import conversation_sections

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CheckedRun

    # Deciding takes a quarter of a second to import; who shows a page has decided already.
    from ragstone.analysis.summaries.run_summary import Summary

# If a field has more values than this, only the most frequent are shown.
SHOWN_VALUES = 24

# For a metric whose scores have words: its title, the words from the best, their bar levels.
WORDS = {
    "answer_outcome": ("Outcomes", ("correct", "partial", "wrong", "dont_know"), (0, 2, 3, 5)),
    "factual_accuracy": ("Grades", ("A", "B", "C", "D", "E"), (0, 1, 2, 3, 4)),
}


def full_page(
    run: Run, notes: Sequence[str] = (), summary: "Summary | None" = None, *, pooled: bool = False
) -> ui.Page:
    """The sentences, the header, a table for the systems, one for each field, distributions."""
    groups = fmt.Groups(run.estimate_list)
    suites = run.form.suites
    sections = [ui.section(said(summary))] if summary else []
    sections.append(ui.section(header(run, groups)))
    if groups.whole:
        listed = groups.whole_and_all if pooled else groups.whole
        checked = summary.checked if summary else None
        sections.append(ui.section(estimate_table(listed, suites, checked)))
        sections += map(ui.section, distributions(groups.whole))
    else:
        sections.append(ui.section(NOTHING))
    if summary and summary.conversations:
        sections += conversation_sections(summary.conversations)
    sections += (slices(field, groups.sliced(field), suites) for field in groups.fields)
    return ui.Page(
        "run", str(run.path), (*sections, ui.small_print(method(run, groups))),
        notes=tuple(notes), record=lambda: run_record(run, notes, summary),
    )  # fmt: skip


NOTHING = "None of these metrics can be computed from this data."


def said(summary: "Summary") -> ui.Paragraphs:
    """The run in sentences."""
    return ui.Paragraphs((" ".join(summary_sentences(summary)),))


def header(run: Run, groups: fmt.Groups, *more: str) -> ui.Facts:
    """Return what was evaluated, who judged, where the run is, and the command that comes next."""
    data = run.form.data
    counts = [fmt.counted(data.examples, "row"), fmt.counted(data.questions, "question")]
    if groups.systems:
        single = len(groups.systems) == 1
        counts.append(f"system {groups.systems[0]}" if single else f"{len(groups.systems)} systems")
    what = (ui.strong(data.source), f"  {' · '.join(counts)}")
    rows = [ui.Note("evaluated", what)]
    for judge in run.form.judges:
        if kinds := ", ".join(judge.kinds):
            text = (ui.strong(judge.name), f"  {judge.about}", ui.quiet(f"  ({kinds})"))
            rows.append(ui.Note("judged by", text))
    if run.form.calls is not None:
        rows.append(ui.Note("asked", took(run.form.calls)))
    rows.append(run_note(run, command("show", named(run.path), *more)))
    return ui.Facts(tuple(rows))


def run_note(run: Run, next_command: str) -> ui.Note:
    """Return where the run is, and what to do next with a run that stays."""
    if run.is_temporary:
        return ui.Note("run", "in a temporary folder; evaluate(…, out=FOLDER) keeps it")
    return ui.Note("run", (ui.strong(named(run.path)), ui.quiet(f"  next: {next_command}")))


def estimate_table(
    estimates: Sequence[Estimate], suites: Sequence[str] = (), checked: "CheckedRun | None" = None
) -> ui.Table:
    """The estimates by family, with a row for each metric and system."""
    value = ui.Heading("value %" if fmt.in_percent(suites) else "value", level=estimates[0].level)
    columns = (
        ui.Heading("metric", key=True), ui.Heading("system", several=True), value, ui.Heading("n"),
        ui.Heading("undef."), ui.Heading("missing"), ui.Heading("method", drop=1),
    )  # fmt: skip
    groups, names = [], fmt.row_names(estimates)
    for title, family in fmt.by_family(estimates).items():
        metrics = fmt.by_metric(family).items()
        rows = [row for name, ones in metrics for row in _rows(names[name], ones, suites, checked)]
        groups.append(ui.Group(tuple(rows), title))
    return ui.Table(columns, tuple(groups))


def _rows(
    name: str, ones: Sequence[Estimate], suites: Sequence[str], checked: "CheckedRun | None"
) -> Iterator[ui.Row]:
    merged, percent = fmt.as_one(ones), fmt.in_percent(suites)
    for estimate in [merged] if merged else ones:
        names = estimate.group.get(fmt.SYSTEM, "all" if len(ones) > 1 else "")
        system = f"all {sum(fmt.SYSTEM in other.group for other in ones)}" if merged else names
        value: ui.Cell = ui.IntervalCell(
            estimate.value, estimate.low, estimate.high, fmt.scale_for(estimate.metric),
            percent=percent, word=fmt.band(estimate, suites),
        )  # fmt: skip
        if estimate.value is None:
            value = ui.Why("missing" if estimate.n_missing else "undefined", why_no_value(estimate))
        method = ui.quiet(fmt.method_word(estimate.method))
        names_of = (ui.RowName(name, estimate.better), ui.RowName(system))
        cells = (*names_of, value, *fmt.count_cells(estimate), method)
        below: list[ui.Words] = []
        if mean := checked and checked.corrected(estimate.metric, estimate.group):
            below.append(ui.Phrase(corrected(mean, percent=percent), "good"))
        if estimate.value is not None:
            below += fmt.worst_to_best(estimate, percent=percent)
        yield ui.Row(cells, tuple(below))


def distributions(estimates: Sequence[Estimate]) -> list[ui.Table]:
    """Return a table of how often each word was given, for each metric whose scores have words."""
    worded = [
        ones for ones in fmt.by_metric(estimates).values() if any(item.labels for item in ones)
    ]
    order = list(WORDS)
    worded.sort(key=lambda ones: order.index(_bare(ones)) if _bare(ones) in order else len(order))
    return [_distribution(ones) for ones in worded]


def _bare(ones: Sequence[Estimate]) -> str:
    return ones[0].metric.split("(")[0]


def _distribution(ones: Sequence[Estimate]) -> ui.Table:
    title, known, levels = WORDS.get(_bare(ones), (_bare(ones), (), ()))
    others = sorted({word for estimate in ones for word in estimate.labels} - set(known))
    words = [*known, *others]
    level = [*levels, *(at % 5 for at in range(len(others)))]
    columns: list[ui.Heading | str] = ["", ""]
    columns += [
        ui.Heading(fmt.spoken(word), fill=at) for word, at in zip(words, level, strict=True)
    ]
    rows = []
    for estimate in ones:
        counts = [estimate.labels.get(word, 0) for word in words]
        parts = tuple(ui.BarPart(count, at, fmt.spoken(word))
                      for count, at, word in zip(counts, level, words, strict=True))  # fmt: skip
        name = ui.RowName(estimate.group.get(fmt.SYSTEM, "all") if len(ones) > 1 else "all")
        shares = [ui.Share(count, estimate.n) for count in counts]
        rows.append(ui.Row((name, ui.Bar(parts, sum(counts)), *shares, *fmt.count_cells(estimate))))
    return ui.table([*columns, "n", "undef.", "missing"], rows, title)


def slices(field: str, estimates: Sequence[Estimate], suites: Sequence[str] = ()) -> ui.Section:
    """One row for each metric and system, one column for each value of the field: mean and n.

    Metrics without any value are left out; the table of whole systems says why they have none.
    """
    values, rarer = slice_values(field, estimates)
    columns = [ui.Heading(key=True), ui.Heading("system", several=True)]
    columns += [ui.Heading(value, peer=True) for value in values]
    percent = fmt.in_percent(suites)
    rows = [
        (
            ui.RowName(name, first.better),
            ui.RowName(system),
            *(_mean(each, percent) for each in ones),
        )
        for name, first, by_system in slice_rows(field, estimates, values)
        for system, ones in by_system.items()
    ]
    blocks: list[ui.Block] = [ui.table(columns, rows, f"By {field}")] if rows else []
    if rarer:
        more = f"and {rarer:,} rarer values of {field}: see --json"
        blocks.append(ui.Paragraphs((ui.quiet(more),)))
    return ui.Section(tuple(blocks))


def slice_rows(
    field: str, estimates: Sequence[Estimate], values: Sequence[str]
) -> Iterator[tuple[str, Estimate, dict[str, list[Estimate | None]]]]:
    """Yield each metric with a value: its name, an estimate, and those by system and value."""
    names = fmt.row_names(estimates)
    ordered = [estimate for ones in fmt.by_family(estimates).values() for estimate in ones]
    for metric, ones in fmt.by_metric(ordered).items():
        if any(estimate.value is not None for estimate in ones):
            by_value = {(each.group.get(fmt.SYSTEM, ""), each.group[field]): each for each in ones}
            systems = dict.fromkeys(system for system, _ in by_value)
            rows = {name: [by_value.get((name, value)) for value in values] for name in systems}
            yield names[metric], ones[0], rows


def _mean(estimate: Estimate | None, percent: bool) -> ui.Cell:
    if estimate is None or not estimate.total:
        return ui.Number(None)
    if estimate.value is None:
        return ui.Why("missing" if estimate.n_missing else "undefined")
    return ui.Number(estimate.value, percent=percent, n=estimate.n)


def slice_values(field: str, estimates: Sequence[Estimate]) -> tuple[list[str], int]:
    """The values of a field that are shown, and how many rarer ones are not."""
    size: dict[str, int] = {}
    for estimate in estimates:
        value = estimate.group[field]
        size[value] = max(size.get(value, 0), estimate.total)
    values = list(size)
    if len(values) > SHOWN_VALUES:
        values = sorted(size, key=lambda value: -size[value])[:SHOWN_VALUES]
    return values, len(size) - len(values)


def method(run: Run, groups: fmt.Groups) -> Iterator[ui.Note]:
    """Yield how the intervals were computed, what was flagged, and the signature."""
    yield from fmt.method_notes(estimate.method for estimate in groups.whole_and_all)
    yield from (ui.Note("reading", line) for line in _reading(run, groups))
    yield from needs(run)
    if flags := _flagged(groups):
        sentence = " · ".join(
            f"{name} {fmt.counted(count, 'row')}" for name, count in flags.items()
        )
        yield ui.Note("flags", f"{sentence}  (their scores follow a convention)")
    data = run.form.data
    if data.label_violations:
        sentence = " · ".join(f"{name} {count:,}" for name, count in data.label_violations.items())
        yield ui.Note("labels", f"{sentence}  (hard rules broken by human labels)")
    if data.rejected:
        yield ui.Note("rejected", f"{fmt.counted(data.rejected, 'row')} could not be read")
    yield ui.Note("signature", run.signature)


def needs(run: Run) -> list[ui.Note]:
    """Return what would give the scores that nobody was asked for."""
    reasons = (Reason.read(text) for estimate in run.estimate_list for text in estimate.reasons)
    lacks = dict.fromkeys(words(str(replace(why, of=""))) for why in reasons if why.code == LACKS)
    return [ui.Note("missing", need) for need in lacks]


def _reading(run: Run, groups: fmt.Groups) -> Iterator[str]:
    suites = run.form.suites
    listed = "; values in percent" if fmt.in_percent(suites) else ""
    yield f"↑ more is better, ↓ less is better, · neither{listed}"
    for suite in fmt.known_suites(suites):
        if suite.conventions:
            yield f"{suite.name}: {suite.conventions}"
        for line in fmt.bands_of(suite):
            yield f"{suite.name}: {line}"
    if any(estimate.n_missing and estimate.value is not None for estimate in groups.whole):
        yield "worst–best: what the mean could be if the missing scores were known"


def _flagged(groups: fmt.Groups) -> dict[str, int]:
    most: Counter[str] = Counter()
    for ones in fmt.by_metric(groups.whole).values():
        most |= sum((Counter(estimate.flags) for estimate in ones), Counter[str]())
    return dict(sorted(most.items()))


def estimates_record(run: Run, checked: "CheckedRun | None") -> list[dict[str, Any]]:
    """The estimates, each with the mean that labels corrected where there is one."""
    means = (
        checked and checked.corrected(estimate.metric, estimate.group)
        for estimate in run.estimate_list
    )
    return [
        estimate.to_dict() | ({} if mean is None else {"corrected": asdict(mean)})
        for estimate, mean in zip(run.estimate_list, means, strict=True)
    ]


def run_record(run: Run, notes: Sequence[str], summary: "Summary | None" = None) -> dict[str, Any]:
    """Return what ``--json`` prints; its warnings also say how the local judge works."""
    local = [
        f"judged by {judge.name}: {judge.about}."
        for judge in run.form.judges
        if judge.name == "local" and judge.kinds
    ]
    checked = summary.checked if summary else None
    conversations = summary.conversations if summary else None
    return {
        "run": named(run.path),
        "signature": run.signature,
        "summary": summary_sentences(summary) if summary else [],
        "estimates": estimates_record(run, checked),
        "checked": checked and checked.to_dict(),
        "conversations": conversations.to_dict() if conversations else None,
        "exit_status": run.exit_status,
        "data": run.form.data.to_dict(),
        "judges": [judge.to_dict() for judge in run.form.judges],
        "calls": None if run.form.calls is None else asdict(run.form.calls),
        "warnings": [*notes, *local],
    }
