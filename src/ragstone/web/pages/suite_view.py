"""Suite: a run as the report of the tool that a suite is named after, as its users know it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from ragstone.analysis.calibration.checked_run import checked_against_people
from ragstone.core.grouping import grouped
from ragstone.core.messages import argument, call
from ragstone.metrics import read_metric, suite_named
from ragstone.report.layouts import LAYOUTS, as_asked, limits_reached, report_as, reports_of
from ragstone.report.layouts.layout import Layout, ReportFile
from ragstone.report.layouts.named_reports import FAMILIES
from ragstone.report.number_format import Groups, bands_of
from ragstone.report.page import Bar, BarPart
from ragstone.report.reason_words import words
from ragstone.run import Estimate
from ragstone.run.run import Run
from ragstone.web.page_request import Asked, NotThere, WebPage, run_path, waits_page
from ragstone.web.parts.choices_and_tabs import choice
from ragstone.web.parts.estimate_tables import shown_estimates
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, minus

from .run_view import run_head

A_PAGE, ANSWERS = 25, 10


def suite_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the report that a run is under one of its suites."""
    name, suite = request.names["run"], request.names["suite"]
    run = folder.run(name)
    reports = reports_of(run)
    if suite not in reports:
        hint = call("rescore", argument("run", run.path), argument("suites", suite))
        raise NotThere(f"{name} was not measured for a report of {suite}. First run: {hint}")
    title = f"{suite}, {name}"
    key = ("suite", suite, folder.stamp(name))
    results = folder.later.get(key, lambda: (report_as(run, suite), limits_reached(run, suite)))
    if results is None:
        return waits_page(request, title)
    report, limits = results
    layout = as_asked(LAYOUTS[suite], run)
    parameters = suite_named(_asked_as(run, suite))
    files = [file for file in report.files if isinstance(file, ReportFile)]
    frames = {file.name: file.tables for file in files}
    rows = files[0].tables[0]
    return WebPage(
        "suite.html",
        title,
        {
            **run_head(run, name),
            "suite": parameters,
            "on": suite,
            "reading": [parameters.conventions, *bands_of(replace(parameters, limits=()))],
            "notes": [words(note) for note in report.notes],
            "export": call("export", argument("run", run.path)),
            "estimates": _means(run, layout, suite, request),
            "tables": list(_tables(frames)),
            "bars": list(_bars(frames)),
            "text": _text,
            "limits": dict.fromkeys(reached.limit for reached in limits),
            "reached": limits,
            **_questions(rows, layout, request),
            **_answers(frames, layout, request),
        },
    )


def _asked_as(run: Run, suite: str) -> str:
    return next((name for name in run.form.suites if name.split("(")[0] == suite), suite)


def _means(run: Run, layout: Layout, suite: str, request: Asked) -> View:
    groups = Groups(run.estimate_list)
    families = FAMILIES if layout.at_any_k else {suite: (*layout.columns, *layout.behind)}
    forms = grouped((read_metric(form).name, form) for form in run.form.metrics)
    estimates: list[Estimate] = []
    called: dict[str, str] = {}
    for family, columns in families.items():
        for metric in dict.fromkeys(column.metric for column in columns):
            names = [
                column.name
                for column in columns
                if column.metric == metric and column.shows == "value"
            ]
            called_so = read_metric(metric).name
            for form in forms.get(called_so, ()) if layout.at_any_k else [metric]:
                k = read_metric(form).parameters.get("k")
                at = "" if k is None else str(k)
                spoken = [name.replace("@K", f"@{at}" if at else "") for name in names]
                called[form] = ", ".join(name.replace("_", " ") for name in spoken)
                title = f"{family} metrics" if layout.at_any_k else "metric"
                estimates += [
                    replace(estimate, family=title)
                    for estimate in groups.whole
                    if estimate.metric == form
                ]
    here = run_path(request.names["run"])
    return shown_estimates(
        estimates,
        path=lambda metric: f"{here}?metric={metric}&sort={metric}#examples",
        opens=lambda metric: f"{request.but(open=metric)}#means",
        opened=request.all("open"),
        suites=[_asked_as(run, suite)],
        called=called,
        checked=checked_against_people(run.path, run.form),
    )


Frames = Mapping[str, Sequence[pl.DataFrame]]


def _tables(frames: Frames) -> Iterator[tuple[str, pl.DataFrame]]:
    if by_method := frames.get("by_method.csv"):
        yield (
            "Ragas score by method, percent",
            by_method[0].select(
                "method", average="ragas_score_average", best="ragas_score_best",
                worst="ragas_score_worst", correct="correct_answers_count",
                wrong="wrong_answers_count", dont_know="dont_know_answers_count", n="n",
            ),
        )  # fmt: skip
    if by_type := frames.get("by_question_type.csv"):
        yield "By type of question", by_type[0]


def _text(value: object) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else minus(str(value))


# For a file with classes: its title, the column that names them, and their fills.
CLASSES: Mapping[str, tuple[str, str, tuple[int, ...]]] = {
    "classification.csv": ("Classification", "classification", (0, 3, 5)),
    "grades.csv": ("Grades of factual accuracy", "grade", (0, 1, 2, 3, 4)),
}


def _bars(frames: Frames) -> Iterator[tuple[str, list[tuple[str, Bar, str]]]]:
    """Yield the title of each file with classes; of each method its bar and what it says."""
    for file, (title, column, levels) in CLASSES.items():
        if file not in frames:
            continue
        whole, by_method = frames[file]
        spoken = [name.lower() if len(name) > 1 else name for name in whole[column]]

        sentence = ", ".join(
            f"{row['count']:,} {word} ({row['percentage'] or '–'} %"
            + (f", {row['low']} – {row['high']})" if row["low"] else ")")
            for word, row in zip(spoken, whole.iter_rows(named=True), strict=True)
        )
        rows = [("all methods", _bar(whole["count"].to_list(), levels, spoken), sentence)]
        for method in by_method["method"].unique(maintain_order=True):
            of_method = by_method.filter(pl.col("method") == method)
            plain = "count" not in of_method.columns
            counts = of_method.row(0)[1:4] if plain else of_method["count"].to_list()
            bar = _bar(counts, levels, spoken)
            rows.append((method, bar, ", ".join(f"{p.size:,g} {p.word}" for p in bar.parts)))
        yield title, rows


def _bar(counts: Sequence[int], levels: Sequence[int], words: Sequence[str]) -> Bar:
    return Bar(tuple(map(BarPart, counts, levels, words)), sum(counts))


def _questions(rows: pl.DataFrame, layout: Layout, request: Asked) -> dict[str, object]:
    who = "method" if "method" in rows.columns else "system"
    if layout.at_any_k or who not in rows.columns:
        return {"questions": [], "methods": [], "column": None}
    columns = [each.name for each in (*layout.columns, *layout.behind) if each.name in rows.columns]
    valued = [name for name in columns if rows[name].null_count() < rows.height] or columns
    overall = [name for name in ("ragas_score", "overall_weighted") if name in valued]
    name = request.one("column", (overall or valued)[0])
    name = name if name in columns else columns[0]
    ids = rows["question_id"].unique(maintain_order=True)
    page = request.list_page(len(ids), A_PAGE)
    on_page = ids[page.rows]
    methods = rows[who].unique(maintain_order=True).to_list()
    part = rows.filter(pl.col("question_id").is_in(on_page.to_list()))
    by_question: dict[str, dict[str, View]] = {}
    about: dict[str, tuple[str, str]] = {}
    for row in part.iter_rows(named=True):
        key = row["question_id"]
        about.setdefault(key, (row["question"] or "", row.get("question_type") or ""))
        by_question.setdefault(key, {}).setdefault(row[who], _cell(row, name))
    return {
        "questions": [
            (*about[key], [by_question[key].get(method) for method in methods])
            for key in on_page
        ],
        "methods": methods,
        "column": choice(
            request, "column", "Column of the report",
            [(column, column.replace("_", " ")) for column in columns], name, "questions",
        ),
        "page": page,
    }  # fmt: skip


# What a report says of a cell without a number, with the reason.
WHY: Mapping[str, str] = {"N/A": "N/A: no retrieval"}


def _cell(row: Mapping[str, object], name: str) -> View:
    value = row[name]
    if value is not None:
        return {"text": WHY.get(str(value), minus(str(value))), "status": "value"}
    missing = str(row.get("missing") or "").split(", ")
    return {"text": "", "status": "missing" if name in missing else "undefined"}


def _answers(frames: Frames, layout: Layout, request: Asked) -> dict[str, object]:
    run = request.names["run"]
    if wrong := frames.get("wrong_answers.csv"):
        frame, title = wrong[0], "Wrong answers"
        texts: tuple[str, ...] = ("ground_truth", "wrong_answer")
        more = f"{run_path(run)}?outcome=wrong#examples"
    elif rows := frames.get("rows.csv"):
        frame, title = rows[0], "Answer by answer"
        texts = tuple(reason.name for reason in layout.reasons)
        texts += ("advice",) if layout.limits else ()
        more = ""
    else:
        return {"answers": [], "answers_title": "", "more": "", "total": 0}
    at = request.list_page(frame.height, ANSWERS, "at")
    views = []
    names = [] if wrong else [column.name for column in (*layout.columns, *layout.behind)]
    for row in frame[at.rows].iter_rows(named=True):
        path = run_path(run, "examples", row["example_id"]) if "example_id" in row else ""
        views.append(
            {
                "question": row["question"] or "",
                "method": row.get("method") or row.get("system") or "",
                "path": path,
                "scores": [(n.replace("_", " "), _cell(row, n)) for n in names if n in row],
                "texts": [(n.replace("_", " "), row[n]) for n in texts if row.get(n)],
            }
        )
    return {
        "answers": views, "answers_title": title, "more": more, "at": at,
        "total": frame.height,
    }  # fmt: skip
