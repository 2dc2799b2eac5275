"""Examples: the answers of a run as a table that filters, sorts, and remembers how."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from markupsafe import Markup

from ragstone.analysis.summaries.failure_stages import NO_FAULT
from ragstone.core.errors import InputError, RagstoneError
from ragstone.judgements import Support
from ragstone.report import charts
from ragstone.report.number_format import counted, number, percent, shortened, spoken
from ragstone.report.page import Tone
from ragstone.report.run_notes import Excerpted
from ragstone.report.sentences.run_words import NAMES
from ragstone.run import Run
from ragstone.web import filters
from ragstone.web.background_cache import SOON
from ragstone.web.example_rows import (
    OUTCOME,
    PREFERRED,
    ExampleRows,
    Marks,
    SavedFilter,
    change_marks,
    example_rows,
    marks_in,
    name_of,
)
from ragstone.web.page_request import Asked, Elsewhere, query, run_path
from ragstone.web.parts.judgement_view import because
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, drawn

ROWS = 50
SHOWN_METRICS = 3
MOST_CHOICES = 40
LONGEST_QUESTION = 240
# Characters of a value to choose; a longer one does not fit into an address.
LONGEST_VALUE = 400

# Seconds that the page waits for the rows of a run that was just opened.
PATIENCE = 0.25

COOKIE = "ragstone-filter"
PLACE = "#examples"

# Outcomes that have a shape of their own.
SHAPES = ("correct", "partial", "wrong", "dont_know")

Cookies = Mapping[str, tuple[str, str]]


def examples_table(
    folder: RunsFolder, request: Asked, run: Run
) -> tuple[Mapping[str, object], Cookies] | Elsewhere:
    """Return what the template shows of a run's examples, and what the browser will remember.

    Elsewhere where a field of the form is to become a condition, or where the filter that was used
    last comes back.
    """
    name = request.names["run"]
    if address := _as_condition(request):
        return Elsewhere(address)
    here = run_path(name)
    if request.one("clear"):
        return Elsewhere(f"{here}{PLACE}", {COOKIE: ("", here)})
    last = filters.ExampleFilter.read(request.cookies.get(COOKIE, ""))
    if last.query and not request.query:
        return Elsewhere(f"{here}{query(last.query)}")
    matching = filters.ExampleFilter.of(request.query)
    rows = example_rows(run)
    if folder.later.get(("rows", folder.stamp(name)), rows.prepare, PATIENCE) is None:
        return {"prepared": False}, {}
    marks = marks_in(folder.folder)
    trouble, chosen = "", rows.rows.clear()
    try:
        matching_rows = chosen_rows(folder, name, rows, matching)
    except InputError as error:
        trouble, matching_rows = error.text, chosen
    waits = matching_rows is None
    chosen = chosen if matching_rows is None else matching_rows
    tags = filters.tags_of(folder, name, SOON) or {}
    shows = _shows(request, name, rows, matching, chosen, marks, tags)
    remembers = matching.query or COOKIE in request.cookies
    cookies = {COOKIE: (matching.text, here)} if remembers else {}
    return {**shows, "prepared": True, "trouble": trouble, "waits": waits}, cookies


def change(folder: RunsFolder, request: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Save the filter under a name, or delete one."""
    name = request.names["run"]
    folder.path(name)
    matching = filters.ExampleFilter.read(form.get("query", "").removeprefix("?"))
    if "save" in form:
        called = name_of(form["save"])
        if not matching.query:
            raise InputError("There is no filter to be saved: choose something first.")
        saved = [SavedFilter(name=called, query=matching.text)]
    elif "delete" in form:
        called, saved = form["delete"], []
    else:
        raise InputError("Choose what is to be noted.")

    def noted(marks: Marks) -> Marks:
        rest = [filter for filter in marks.filters if filter.name != called]
        return marks.model_copy(update={"filters": [*rest, *saved]})

    change_marks(folder.folder, noted)
    return Elsewhere(f"{run_path(name)}{query(matching.query)}{PLACE}")


def _as_condition(request: Asked) -> str:
    """Return the address in which the form's fields are conditions; empty if they are already."""
    metric, low, high, add = (request.one(key) for key in ("m", "low", "high", "add"))
    names = {key for key, _ in request.query}
    if not names & {"m", "low", "high", "add"}:
        return ""
    extra: dict[str, list[str]] = {}
    if metric and (low or high):
        extra["where"] = [*request.all("where"), f"{metric}:{low}..{high}"]
    key, _, value = add.partition("=")
    if key in filters.FIELDS and value:
        extra[key] = [*request.all(key), value]
    if not request.one("q"):
        extra["q"] = []
    address = request.but(m=None, low=None, high=None, add=None, page=None, **extra)
    return f"{address}{PLACE}"


def chosen_rows(
    folder: RunsFolder, name: str, rows: ExampleRows, matching: filters.ExampleFilter
) -> pl.DataFrame | None:
    """Return the rows that a filter means; None while what it needs is computed."""
    fields = {field for field, _ in matching.conditions}
    tags = filters.tags_of(folder, name) if fields & {"tag", "untagged"} else filters.NO_TAGS
    # All judgements are compared with all labels.
    disputed = ("disputed", folder.stamp(name))
    waits = "labels" in fields and folder.later.get(disputed, lambda: rows.disputed) is None

    def baseline() -> tuple[str, ExampleRows] | None:
        pinned = marks_in(folder.folder).pinned
        run = pinned.partition("/")[0]
        if not run or run == name:
            return None
        try:
            return pinned, example_rows(folder.run(run))
        except RagstoneError:
            return None

    return None if tags is None or waits else matching.chosen(rows, baseline, tags)


def shown_metrics(
    metrics: Sequence[str], request: Asked, matching: filters.ExampleFilter
) -> list[str]:
    """Return the metrics with a column: those asked for, filtered or sorted by, then the usual."""
    ranged = [value.rpartition(":")[0] for field, value in matching.conditions if field == "where"]
    usual = [*PREFERRED, *metrics]
    wished = [*request.all("metric"), matching.sort.removeprefix("-"), *ranged, *usual]
    known = [metric for metric in dict.fromkeys(wished) if metric in metrics and metric != OUTCOME]
    return known[: max(SHOWN_METRICS, len(set(ranged)))][: 2 * SHOWN_METRICS]


def _shows(
    request: Asked,
    name: str,
    of: ExampleRows,
    matching: filters.ExampleFilter,
    chosen: pl.DataFrame,
    marks: Marks,
    tags: filters.Tags,
) -> Mapping[str, object]:
    metrics = shown_metrics(of.metrics, request, matching)
    grouped = _grouped(of, chosen)
    page = request.list_page(grouped.height, ROWS)
    at = grouped[page.rows]
    within = query([("within", matching.text)]) if matching.query else ""
    rows = list(_rows(of, name, at, metrics, within))
    return {
        "run": name,
        "rows": rows,
        "has": {
            "system": of.rows["system"].n_unique() > 1,
            "outcome": OUTCOME in of.metrics,
            "claims": any(row["code"] for row in rows),
            "fault": of.stages["stage"].null_count() < of.stages.height,
        },
        "matched": chosen.height,
        "all": of.rows.height,
        "grouped": grouped.height if grouped.height < chosen.height else None,
        "page": page,
        "first": page.rows.start + 1,
        "last": page.rows.start + at.height,
        "columns": [
            # A first click sorts the lowest first, a second one the highest.
            (
                metric,
                request.but(sort=f"{'-' if matching.sort == metric else ''}{metric}", page=None),
            )
            for metric in metrics
        ],
        "tokens": [
            (filters.condition_words(*condition), _without(request, name, condition))
            for condition in matching.conditions
        ],
        "wanted": matching,
        "presets": _presets(request, of, matching, marks, name),
        "saved": marks.filters,
        "metric_choices": of.metrics,
        "choices": _choices(of, tags),
    }


def _without(request: Asked, name: str, condition: tuple[str, str]) -> str:
    """Return the address without a condition, or one that brings no remembered filter back."""
    address = request.but(condition, page=None)
    return f"{address if '?' in address else f'{run_path(name)}?clear=1'}{PLACE}"


def _presets(
    request: Asked, of: ExampleRows, matching: filters.ExampleFilter, marks: Marks, name: str
) -> list[tuple[str, str, bool]]:
    run = marks.pinned.partition("/")[0]
    main = next((metric for metric in PREFERRED if metric in of.metrics), "")
    presets: list[tuple[str, list[tuple[str, str]]]] = [
        ("failed", [("stage", filters.BAD)]),
        ("missing", [("status", "missing")]),
        ("judge ≠ person", [("labels", filters.DIFFER)]),
        ("worst", [(filters.SORT, filters.WORST)]),
    ]
    if run and run != name and main:
        presets.insert(3, ("changed", [("changed", main)]))
    here = [(key, value) for key, value in request.query if key in ("by", "metric")]
    return [
        (title, f"{request.path}{query([*here, *fields])}{PLACE}", fields == matching.query)
        for title, fields in presets
    ]


def _choices(of: ExampleRows, tags: filters.Tags) -> list[tuple[str, list[tuple[str, str]]]]:
    groups: list[tuple[str, list[filters.Condition]]] = []
    systems = of.rows["system"].unique(maintain_order=True).to_list()
    if len(systems) > 1:
        groups.append(("System", [("system", system) for system in systems[:MOST_CHOICES]]))
    if OUTCOME in of.metrics:
        labels = of.rows[f"label {OUTCOME}"].cast(pl.String).drop_nulls().unique().sort()
        groups.append(("Outcome", [("outcome", label) for label in labels]))
    stages = [code for code in NAMES if code != NO_FAULT]
    groups.append(("First fault", [("stage", code) for code in [filters.BAD, *stages, NO_FAULT]]))
    statuses = [("status", status) for status in ("missing", "undefined")]
    groups.append(("No score", [*statuses, *(("reason", reason) for reason in _reasons(of))]))
    for facet in of.run.form.by:
        try:
            values = of.field(facet).unique().sort().to_list()
        except InputError:
            continue
        values = [value for value in values if len(str(value)) <= LONGEST_VALUE][:MOST_CHOICES]
        groups.append((facet, [("slice", f"{facet}:{value}") for value in values]))
    groups.append(("Tag", [("tag", tag) for tag in list(tags)[:MOST_CHOICES]]))
    return [
        (title, [("=".join(condition), filters.condition_words(*condition)) for condition in ones])
        for title, ones in groups
        if ones
    ]


def _reasons(of: ExampleRows) -> list[str]:
    codes: dict[str, None] = {}
    for metric in of.metrics:
        reasons = of.rows[f"reason {metric}"].filter(of.rows[metric].is_null())
        for reason in reasons.cast(pl.String).drop_nulls().unique().sort():
            codes[reason.partition("?")[0]] = None
    return [code for code in codes if code.isidentifier()][:MOST_CHOICES]


def _grouped(of: ExampleRows, chosen: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each question and system, at the place of its first match."""
    if of.repeats.is_empty():
        return chosen.select("id", "question_id", "system", matching=pl.lit(1))
    return chosen.group_by("question_id", "system", maintain_order=True).agg(
        pl.col("id").first(), matching=pl.len()
    )


def _rows(
    of: ExampleRows, name: str, at: pl.DataFrame, metrics: Sequence[str], within: str
) -> Iterator[View]:
    ids = at["id"]
    mine = pl.col("id").is_in(ids.implode())
    texts = dict(of.run.examples(["id", "question"], where=mine).iter_rows())
    scores = {row["id"]: row for row in of.rows.filter(mine).to_dicts()}
    stages = dict(of.stages.filter(mine).select("id", "stage").iter_rows())
    codes = _codes(of.run.excerpt(ids.to_list()))
    repeats = {
        (row["question_id"], row["system"]): row
        for row in of.repeats.filter(pl.col("question_id").is_in(at["question_id"].implode()))
        .to_dicts()
    }  # fmt: skip
    for row in at.to_dicts():
        id, score_row = row["id"], scores[row["id"]]
        several = repeats.get((row["question_id"], row["system"]))
        label = score_row.get(f"label {OUTCOME}") or ""
        stage = stages.get(id)
        yield {
            "id": id,
            "path": f"{run_path(name, 'examples', id)}{within}",
            "question": shortened(texts[id], LONGEST_QUESTION),
            "system": row["system"],
            "outcome": (label if label in SHAPES else "other", spoken(label)) if label else (),
            "code": codes.get(id, ""),
            "cells": [_cell(score_row, several, metric) for metric in metrics],
            "fault": "" if stage in (None, NO_FAULT) else NAMES[stage],
            "repeats": _repeated(several, row["matching"]),
        }


def _cell(
    score_row: Mapping[str, object], several: Mapping[str, object] | None, metric: str
) -> View:
    status, reason = score_row[f"status {metric}"], score_row[f"reason {metric}"]
    value: object = score_row[metric]
    spread = ""
    if several and several[f"mean {metric}"] is not None:
        value, status = several[f"mean {metric}"], "value"
        low, high = several[f"low {metric}"], several[f"high {metric}"]
        spread = f"{_two(low)} – {_two(high)}" if low != high else ""
    why = shortened(because(None if reason is None else str(reason)), 200)
    return {
        "text": "" if value is None else _two(value),
        "spread": spread,
        "status": str(status or "undefined"),
        "why": why,
    }


def _two(value: object) -> str:
    assert isinstance(value, int | float)
    return f"{value:.2f}" if abs(value) < 1000 else number(value)


def _repeated(several: Mapping[str, object] | None, matching: int) -> str:
    if several is None:
        return ""
    n, flips = several["n"], several["flips"]
    assert isinstance(n, int)
    words = counted(n, "answer") if matching == n else f"{matching} of {counted(n, 'answer')}"
    return words if flips is None else f"{words}, flip rate {percent(float(str(flips)), 0)}"


def _codes(some: Excerpted) -> dict[str, Markup]:
    rows = some.judgements(Support.name).filter(pl.col("origin").cast(pl.String) == "claim")
    tones = Support.columns["verdict"].tones
    codes = {}
    for (id,), judgements in rows.sort("index").group_by(["example_id"], maintain_order=True):
        verdicts = judgements["verdict"].cast(pl.String).to_list()
        marks: list[Tone] = [tones.get(verdict, "missing") for verdict in verdicts]
        counts = [(value, verdicts.count(value)) for value in Support.columns["verdict"].values]
        title = ", ".join(f"{n} {verdict}" for verdict, n in counts if n)
        codes[str(id)] = drawn(charts.barcode(marks, title))
    return codes
