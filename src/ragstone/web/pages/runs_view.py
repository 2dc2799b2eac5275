"""Runs: a row for each system of each run, with its difference to the pinned one."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import perf_counter

from ragstone.analysis.calibration.checked_run import checked_against_people
from ragstone.analysis.comparison.comparison_result import Comparison
from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.escape import single_line
from ragstone.report import charts
from ragstone.report.number_format import SYSTEM, counted, scale_for, short_name
from ragstone.report.page import Scale, Series, SeriesPoint
from ragstone.report.run_contents import lasted
from ragstone.report.sentences.analysis_words import badge
from ragstone.run import Estimate
from ragstone.run.folder.run_list import FoundRun, goes_on, last_beat
from ragstone.web.example_rows import PREFERRED, Marks, change_marks, marks_in, name_of
from ragstone.web.page_request import Asked, Elsewhere, WebPage, run_path
from ragstone.web.parts.drawn_charts import metrics_itself
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, drawn

SHOWN_METRICS, A_PAGE = 3, 40

# Seconds for comparisons that are not known yet; the others follow when the page asks again.
PATIENCE = 0.25


def named(source: str) -> str:
    """Return the name of data by the file that they come from, without its endings."""
    return Path(source).name.split(".")[0] or source


def runs_page(folder: RunsFolder, request: Asked) -> WebPage | Elsewhere:
    """Show the runs of the folder; of one run alone, its page."""
    if folder.alone:
        return Elsewhere(run_path(folder.alone.name))
    marks = marks_in(folder.folder)
    runs = folder.runs()
    pinned = request.one("pin", marks.pinned)
    estimates = {run.path: folder.listed(run.path).estimates for run in runs}
    metrics = _metrics(request, list(estimates.values()))
    matching = [run for run in runs if _matches(run, request, marks)]
    page = request.list_page(len(matching), A_PAGE)
    late = perf_counter() + PATIENCE
    views = [
        _shown(folder, run, estimates[run.path], metrics, marks, pinned, late)
        for run in matching[page.rows]
    ]
    everything = dict.fromkeys(estimate.metric for ones in estimates.values() for estimate in ones)
    waits = any(line["waits"] for run in views for line in run["lines"])
    return WebPage(
        "runs.html",
        "Runs",
        {
            "runs": views,
            "all": len(runs),
            "page": page,
            "metrics": [(name, short_name(name)) for name in metrics],
            "others": [(name, short_name(name)) for name in everything if name not in metrics],
            "pinned": pinned,
            "trends": list(_trends(runs, estimates, metrics[0] if metrics else "")),
            "refresh": waits or any(run["goes_on"] for run in views),
        },
    )


def change(folder: RunsFolder, _: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Pin a run, give it a tag, or take one away; or go to the comparison of two runs."""
    back = form.get("back", "/")
    back = back if back.startswith("/?") or back == "/" else "/"
    run = form.get("run", "")
    if "pin" in form:
        pinned = form["pin"]
        if pinned:
            folder.path(pinned.partition("/")[0])
        change_marks(folder.folder, lambda marks: marks.model_copy(update={"pinned": pinned}))
    elif "tag" in form or "untag" in form:
        folder.path(run)
        name = name_of(form.get("tag") or form.get("untag", ""))

        def tagged(marks: Marks) -> Marks:
            tags = [tag for tag in marks.tags.get(run, []) if tag != name]
            tags += [name] if "tag" in form else []
            return marks.model_copy(update={"tags": {**marks.tags, run: tags}})

        change_marks(folder.folder, tagged)
    else:
        raise InputError("Choose what is to be noted.")
    return Elsewhere(back)


def _metrics(request: Asked, estimates: Sequence[Sequence[Estimate]]) -> list[str]:
    counts = Counter(name for ones in estimates for name in {estimate.metric for estimate in ones})
    chosen = [name for text in request.all("metric") for name in text.split(",") if name in counts]
    if chosen:
        return list(dict.fromkeys(chosen))[: 2 * SHOWN_METRICS]

    def rank(name: str) -> tuple[int, int, str]:
        position = PREFERRED.index(name) if name in PREFERRED else len(PREFERRED)
        return -counts[name], position, name

    return sorted(counts, key=rank)[:SHOWN_METRICS]


def _matches(run: FoundRun, request: Asked, marks: Marks) -> bool:
    tags = marks.tags.get(run.path.name, [])
    if (tag := request.one("tag")) and tag not in tags:
        return False
    words = request.one("q").casefold().split()
    judges = [judge.name for judge in run.form.judges] if run.form else []
    source = run.form.data.source if run.form else ""
    text = " ".join([run.path.name, source, *judges, *tags]).casefold()
    return all(word in text for word in words)


def _shown(
    folder: RunsFolder,
    run: FoundRun,
    estimates: Sequence[Estimate],
    metrics: Sequence[str],
    marks: Marks,
    pinned: str,
    late: float,
) -> View:
    name = run.path.name
    finished = run.form is not None and run.form.finished
    systems = list(dict.fromkeys(e.group[SYSTEM] for e in estimates if SYSTEM in e.group)) or [""]
    created = run.form.created if run.form and finished else ""
    by_system = _compared(folder, name, systems, pinned, late) if finished else {}
    lines = []
    for system in systems if finished else ():
        group = {SYSTEM: system} if system else {}
        here = {e.metric: e for e in estimates if e.group == group}
        pin = f"{name}/{system}" if len(systems) > 1 else name
        comparisons, itself, waits = by_system.get(system, NOT_COMPARED)
        cells = [(here.get(metric), scale_for(metric), comparisons.get(metric), metric in itself)
                 for metric in metrics]  # fmt: skip
        lines.append(
            {
                "system": system if len(systems) > 1 else "",
                "pin": pin,
                "cells": cells,
                "waits": waits,
            }
        )
    form = run.form
    beat = last_beat(run.path) if form and not finished else None
    going = goes_on(run.path, beat)
    calls = beat or (form.calls if form else None)
    cost = ""
    if calls is not None and calls.calls:
        cost = counted(calls.calls, "call") if calls.usd is None else f"${calls.usd:,.2f}"
    time = lasted(form.seconds if form else None)
    if beat:
        left = beat.left if going else None
        time = "" if left is None else f"{lasted(left)} left"
    judges = [judge.name for judge in form.judges if judge.kinds] if form else []
    return {
        "name": name,
        "when": datetime.fromisoformat(created) if created else run.changed,
        "form": form,
        "badge": badge(checked_against_people(run.path, form)) if form and finished else "",
        "tags": marks.tags.get(name, ()),
        "lines": lines,
        "whole": [estimate for estimate in estimates if not estimate.group],
        "progress": beat,
        "goes_on": going,
        "open": form is not None and not finished,
        "data": named(form.data.source) if form and form.data.source else "",
        "judges": beat.judges if beat else judges,
        "cost": cost,
        "time": time,
    }


# A system beside the pinned one: the comparison on each metric, the metrics that hold it against
# itself, and whether it is still to be compared.
WithPinned = tuple[Mapping[str, Comparison], Collection[str], bool]

NOT_COMPARED: WithPinned = ({}, (), False)


def _compared(
    folder: RunsFolder, name: str, systems: Sequence[str], pinned: str, late: float
) -> dict[str, WithPinned]:
    """Compare each system with the pinned one, as far as there is time."""
    run, _, system = pinned.partition("/")
    if not run or (run == name and len(systems) < 2):
        return {}
    if perf_counter() > late:
        return {system: ({}, (), True) for system in systems}
    try:
        comparisons = (
            folder.comparing(name, baseline=system or systems[0], patience=None)
            if run == name
            else folder.comparing(name, run, patience=None)
        )
    except RagstoneError:
        return {}
    assert comparisons is not None, "a result that is waited for without end"
    labels = {system: system if run == name else f"{name}/{system}" for system in systems}
    itself = metrics_itself(comparisons)
    baseline = "" if not system else system if run == name else f"{run}/{system}"
    return {
        name: (
            {
                c.metric: c
                for c in comparisons.comparisons
                if c.a == label and c.slice is None and baseline in ("", c.b)
            },
            itself.get(label, ()),
            False,
        )
        for name, label in labels.items()
    }


def _trends(
    runs: Sequence[FoundRun], estimates: Mapping[Path, Sequence[Estimate]], metric: str
) -> Iterator[View]:
    by_data: dict[str, list[tuple[FoundRun, Estimate, SeriesPoint]]] = {}
    for entry in sorted(runs, key=lambda run: run.form.created if run.form else ""):
        whole = next((e for e in estimates[entry.path] if e.metric == metric and not e.group), None)
        if entry.form and whole and whole.value is not None:
            ones = by_data.setdefault(entry.form.data.source, [])
            low = whole.value if whole.low is None else whole.low
            high = whole.value if whole.high is None else whole.high
            ones.append((entry, whole, SeriesPoint(len(ones), whole.value, low, high)))
    for source, ones in by_data.items():
        if len(ones) < 2:
            continue
        points = tuple(point for *_, point in ones)
        scale = scale_for(metric) or Scale(
            min(point.low for point in points), max(point.high for point in points)
        )
        name = single_line(named(source))
        events = tuple((float(at), "") for at in range(len(ones)))
        series = Series(points, scale, f"{short_name(metric)}, {name}", None, events)
        yield {
            "data": name,
            "metric": short_name(metric),
            "figure": drawn(charts.series(series, 120)),
            "points": [(run.path.name, estimate) for run, estimate, _ in ones],
        }
