"""Run page: the answer in sentences, then metrics by systems; printed by ``ragstone evaluate``."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.report.command import command
from ragstone.report.figures import in_percent, percent, short_name
from ragstone.report.groups import SYSTEM, Groups, by_family, by_metric, same_mean
from ragstone.report.intervals import scale_for
from ragstone.report.page import (
    Cell,
    Facts,
    Group,
    Heading,
    IntervalCell,
    Note,
    Page,
    Paragraphs,
    Row,
    RowName,
    Table,
    Why,
    quiet,
    section,
    strong,
)
from ragstone.report.stored import Reported
from ragstone.run.estimates.estimate import Estimate
from ragstone.run.folder.remote_folder import named

from .conversations import sentence
from .run_in_full import NOTHING, estimate_table, needs, run_record, said

if TYPE_CHECKING:
    # Deciding takes a quarter of a second to import; who shows a page has decided already.
    from ragstone.analysis.summaries.run_summary import Summary

ALL = "all systems"


def run_page(
    run: Reported, summary: "Summary", notes: Sequence[str] = (), *, pooled: bool = False
) -> Page:
    """The run in sentences, metrics as rows and systems as columns, who judged, what to do next.

    Args:
        run: The run.
        summary: The run, summed up.
        notes: Remarks that are not part of the page.
        pooled: Add a column for the answers of all systems together.
    """
    groups = Groups(run.estimate_list)
    shown = groups.whole_and_all if pooled else groups.whole
    if len(groups.systems) > 1:
        table = matrix(shown, summary, run.form.suites)
    elif shown:
        table = estimate_table(shown, run.form.suites)
    blocks = [table] if shown else [Paragraphs((NOTHING,))]
    return Page(
        "run", str(run.path or ""),
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
    groups = []
    for title, family in by_family(estimates).items():
        rows = []
        for metric, ones in by_metric(family).items():
            found = {one.group.get(SYSTEM): one for one in ones}
            first = found.get(systems[0])
            cells = [_cell(found.get(name), first, summary, suites) for name in systems]
            rows.append(Row((RowName(short_name(metric), ones[0].better), *cells)))
        groups.append(Group(tuple(rows), title))
    return Table(columns, tuple(groups))


def _cell(
    one: Estimate | None, first: Estimate | None, summary: "Summary", suites: Sequence[str]
) -> Cell:
    """A system's mean; ``same`` if its inputs and its mean are those of the first system."""
    if one is None:
        return ""
    if one.value is None:
        return Why("missing" if one.n_missing else "undefined")
    system = one.group.get(SYSTEM)
    alike = first is not None and first is not one and same_mean(first, one)
    itself = system is not None and one.metric in summary.themselves.get(system, ())
    word = "self" if itself else "same" if one.metric in summary.same and alike else ""
    return IntervalCell(
        one.value,
        None if word else one.low,
        None if word else one.high,
        None if word else scale_for(one.metric),
        percent=in_percent(suites),
        word=word,
        strong=False,
        n=one.n if one.n_undefined or one.n_missing else None,
        missing=one.n_missing,
        leads=system in summary.leaders(one.metric),
    )


def _facts(run: Reported, groups: Groups, shown: Sequence[Estimate], summary: "Summary") -> Facts:
    """How to read the table, who judged, and where more is."""
    rows = []
    if marks := " · ".join(_marks(shown, summary)):
        rows.append(Note("reading", quiet(marks)))
    rows += needs(run)
    if summary.conversations:
        more = (
            "" if run.path is None else f"  {command('show', named(run.path), '--conversations')}"
        )
        rows.append(Note("conversations", (sentence(summary.conversations), quiet(more))))
    judges = [one for one in run.form.judges if one.kinds]
    if judges:
        words = [part for one in judges for part in (" · ", strong(one.name), f": {one.about}")]
        rows.append(Note("judged by", words[1:]))
    if run.path is not None:
        more = f"--full adds {_more(groups)}"
        look = quiet(f"  next: {command('show', named(run.path))}  ({more})")
        rows.append(Note("run", (strong(named(run.path)), look)))
    return Facts(tuple(rows))


def _more(groups: Groups) -> str:
    by = f" and values by {' and '.join(groups.fields)}" if groups.fields else ""
    return f"counts, methods{by}"


def _marks(shown: Sequence[Estimate], summary: "Summary") -> Iterator[str]:
    if shown:
        yield f"{percent(shown[0].level)} intervals"
    if len(summary.systems) > 1:
        if any(one.n_undefined or one.n_missing for one in shown):
            yield "n: rows with a score, if some have none"
        if summary.leads:
            without = "* or self" if summary.themselves else "one"
            yield f"* better than every system without {without}"
        if summary.same:
            yield "same: the same inputs for all systems"
        if summary.themselves:
            yield "self: the answers are the references"
