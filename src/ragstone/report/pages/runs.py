"""Runs page: the runs in a directory, as ``ragstone runs`` prints it."""

from collections.abc import Sequence
from pathlib import Path

from ragstone.report.figures import counted
from ragstone.report.page import (
    Cell,
    Count,
    Heading,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    quiet,
    section,
    small_print,
    table,
)
from ragstone.report.panels import legend, short_judge
from ragstone.run.folder.run_list import FoundRun


def runs_page(folder: Path, runs: Sequence[FoundRun]) -> Page:
    """A row for each run, the newest first.

    Args:
        folder: The directory they are in.
        runs: What ``runs_in`` found there.
    """
    heads = ("rows", "systems", "judged by", "written (UTC)", "")
    columns = (Heading("run", key=True), Heading("data"), *(Heading(head) for head in heads))
    if runs:
        shown = [section(table(columns, [Row(tuple(_cells(one))) for one in runs]))]
        judges = (judge.name for one in runs if one.form for judge in one.form.judges)
        if panels := legend(judges):
            shown.append(small_print(panels))
    else:
        shown = [section(Paragraphs((quiet(f"No run in {folder}: ragstone evaluate DATA"),)))]
    return Page(
        "runs", str(folder), tuple(shown), record=lambda: {"runs": list(map(_record, runs))}
    )


def _cells(one: FoundRun) -> list[Cell]:
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
    """Of a run that is not finished."""
    beat = one.beat
    if beat is None or not one.goes_on:
        return Phrase("unfinished", "caution")
    far = f"{beat.examples:,} rows" if beat.fraction is None else f"{beat.fraction:.0%}"
    workers = "" if beat.workers is None else f", {counted(beat.workers, 'worker')}"
    return Phrase(f"running, {far}{workers}", "quiet")


def _record(one: FoundRun) -> dict[str, object]:
    """The state is ``finished``, ``unfinished`` or ``damaged``; what is not known is null.

    ``progress`` is how far a run said it was when it last did, if it is not finished.
    """
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
