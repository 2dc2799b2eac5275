"""Examples: the answers of a run as a table that filters, sorts, and remembers how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from markupsafe import Markup

from ragstone.analysis.summaries.failure_stages import NO_FAULT
from ragstone.core.errors import InputError, RagstoneError
from ragstone.judgements import Support
from ragstone.report import charts
from ragstone.report.number_format import counted, number, percent, short_name, shortened, spoken
from ragstone.report.page import Tone
from ragstone.report.run_notes import Excerpted
from ragstone.report.sentences.run_words import NAMES
from ragstone.run import Run
from ragstone.web.background_cache import SOON
from ragstone.web.example_rows import (
    OUTCOME,
    PREFERRED,
    ExampleRows,
    Marks,
    SavedFilter,
    example_rows,
    name_of,
)
from ragstone.web.filters import (
    BAD,
    DIFFER,
    FIELDS,
    SORT,
    WORST,
    Baseline,
    Condition,
    ExampleFilter,
    TagLookup,
    Tags,
    tags_of,
)
from ragstone.web.page_request import Asked, Elsewhere, query, run_path
from ragstone.web.parts.judgement_view import because
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, drawn

ROWS = 50
SHOWN_METRICS = 3
MOST_CHOICES = 40
LONGEST_QUESTION = 240
LONGEST_VALUE = 400
"""Characters of a value to choose; a longer one does not fit into an address."""

PATIENCE = 0.25
"""Seconds that the page waits for the rows of a run that was just opened."""

COOKIE = "ragstone-filter"
PLACE = "#examples"

SHAPES = {"correct": "correct", "partial": "partial", "wrong": "wrong", "dont_know": "dont_know"}


@dataclass(frozen=True, slots=True)
class ExamplesTable:
    """The names that the template uses, and what the browser is going to remember."""

    shows: Mapping[str, object]
    cookies: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def examples_table(place: RunsFolder, asked: Asked, run: Run) -> ExamplesTable | Elsewhere:
    """Return the examples of a run as the address asks for them.

    Elsewhere where a field of the form is to become a condition, or where the filter that was used
    last comes back.
    """
    name = asked.names["run"]
    if address := _as_condition(asked):
        return Elsewhere(address)
    here = run_path(name)
    if asked.one("clear"):
        return Elsewhere(f"{here}{PLACE}", {COOKIE: ("", here)})
    if not asked.query and (kept := ExampleFilter.read(asked.cookies.get(COOKIE, ""))).query:
        return Elsewhere(f"{here}{query(kept.query)}")
    wanted = ExampleFilter.of(asked.query)
    rows = example_rows(run)
    if place.later.get(("rows", place.stamp(name)), rows.prepare, PATIENCE) is None:
        return ExamplesTable({"prepared": False})
    marks = place.marks()
    trouble, waits = "", not ready(place, name, rows, wanted)
    chosen = rows.rows.clear()
    try:
        if not waits:
            chosen = wanted.chosen(rows, baseline_of(place, name), tag_lookup(place, name))
    except InputError as error:
        trouble = error.text
    tags = tags_of(place, name, SOON) or {}
    shows = _shows(asked, name, rows, wanted, chosen, marks, tags)
    remembered = query(wanted.query).removeprefix("?")
    cookies = {COOKIE: (remembered, here)} if wanted.query or COOKIE in asked.cookies else {}
    return ExamplesTable({**shows, "prepared": True, "trouble": trouble, "waits": waits}, cookies)


def change(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Save the filter under a name, or delete one."""
    name = asked.names["run"]
    place.path(name)
    kept = ExampleFilter.read(form.get("query", "").removeprefix("?"))
    if "save" in form:
        called = name_of(form["save"])
        if not kept.query:
            raise InputError("There is no filter to be saved: choose something first.")
        one = SavedFilter(name=called, query=query(kept.query).removeprefix("?"))
        place.mark(lambda marks: _with(marks, called, [one]))
    elif "delete" in form:
        place.mark(lambda marks: _with(marks, form["delete"], []))
    else:
        raise InputError("Choose what is to be noted.")
    return Elsewhere(f"{run_path(name)}{query(kept.query)}{PLACE}")


def _with(marks: Marks, name: str, ones: list[SavedFilter]) -> Marks:
    rest = [one for one in marks.filters if one.name != name]
    return marks.model_copy(update={"filters": [*rest, *ones]})


def _as_condition(asked: Asked) -> str:
    """Return the address in which the form's fields are conditions; empty if they are already."""
    metric, low, high, add = (asked.one(key) for key in ("m", "low", "high", "add"))
    names = {key for key, _ in asked.query}
    if not names & {"m", "low", "high", "add"}:
        return ""
    extra: dict[str, list[str]] = {}
    if metric and (low or high):
        extra["where"] = [*asked.all("where"), f"{metric}:{low}..{high}"]
    key, _, value = add.partition("=")
    if key in FIELDS and value:
        extra[key] = [*asked.all(key), value]
    if not asked.one("q"):
        extra["q"] = []
    address = asked.but(m=None, low=None, high=None, add=None, page=None, **extra)
    return f"{address}{PLACE}"


def ready(place: RunsFolder, name: str, rows: ExampleRows, wanted: ExampleFilter) -> bool:
    """Return whether the filter can be answered at once; if not, what it needs is computed."""
    fields = {one.field for one in wanted.conditions}
    if fields & {"tag", "untagged"} and tags_of(place, name) is None:
        return False
    if "labels" not in fields:
        return True
    # All judgements are compared with all labels.
    return place.later.get(("disputed", place.stamp(name)), lambda: rows.disputed) is not None


def tag_lookup(place: RunsFolder, name: str) -> TagLookup:
    """Return a function that finds a run's tags; it finds none while they are looked up."""
    return lambda: tags_of(place, name) or {}


def baseline_of(place: RunsFolder, name: str) -> Baseline:
    """Return a function that finds the pinned run, unless it is this one."""

    def baseline() -> tuple[str, ExampleRows] | None:
        pinned = place.marks().pinned
        run = pinned.partition("/")[0]
        if not run or run == name:
            return None
        try:
            return pinned, example_rows(place.run(run))
        except RagstoneError:
            return None

    return baseline


def shown_metrics(metrics: Sequence[str], asked: Asked, wanted: ExampleFilter) -> list[str]:
    """Return the metrics with a column: those asked for, filtered or sorted by, then the usual."""
    ranged = [one.value.rpartition(":")[0] for one in wanted.conditions if one.field == "where"]
    usual = [*PREFERRED, *metrics]
    wished = [*asked.all("metric"), wanted.sort.removeprefix("-"), *ranged, *usual]
    there = [one for one in dict.fromkeys(wished) if one in metrics and one != OUTCOME]
    return there[: max(SHOWN_METRICS, len(set(ranged)))][: 2 * SHOWN_METRICS]


def _shows(
    asked: Asked,
    name: str,
    of: ExampleRows,
    wanted: ExampleFilter,
    chosen: pl.DataFrame,
    marks: Marks,
    tags: Tags,
) -> Mapping[str, object]:
    metrics = shown_metrics(of.metrics, asked, wanted)
    grouped = _grouped(of, chosen)
    page = asked.list_page(grouped.height, ROWS)
    at = grouped[page.rows]
    within = query([("within", query(wanted.query).removeprefix("?"))]) if wanted.query else ""
    rows = _rows(of, name, at, metrics, within)
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
        "columns": [_column(asked, metric, wanted.sort) for metric in metrics],
        "tokens": [
            {"words": one.words, "without": _without(asked, name, (one.field, one.value))}
            for one in wanted.conditions
        ],
        "wanted": wanted,
        "clear": f"{run_path(name)}?clear=1",
        "presets": _presets(asked, of, wanted, marks, name),
        "saved": [
            {
                "name": one.name,
                "path": f"{run_path(name)}?{one.query}{PLACE}",
                "on": one.query == _written(wanted),
            }
            for one in marks.filters
        ],
        "now": query(wanted.query),
        "metric_choices": of.metrics,
        "choices": _choices(of, tags),
        "search": next((one.value for one in wanted.conditions if one.field == "q"), ""),
        "hidden_fields": [
            (key, value)
            for key, value in asked.query
            if key not in ("q", "page", "m", "low", "high", "add", "clear")
        ],
        "short_name": short_name,
    }


def _without(asked: Asked, name: str, condition: tuple[str, str]) -> str:
    """Return the address without a condition, or one that brings no remembered filter back."""
    address = asked.but(condition, page=None)
    return f"{address if '?' in address else f'{run_path(name)}?clear=1'}{PLACE}"


def _written(wanted: ExampleFilter) -> str:
    return query(wanted.query).removeprefix("?")


def _column(asked: Asked, metric: str, sort: str) -> View:
    # A first click sorts the lowest first, a second one the highest.
    other = f"-{metric}" if sort == metric else metric
    now = {metric: "ascending", f"-{metric}": "descending"}.get(sort, "")
    path = f"{asked.but(sort=other, page=None)}{PLACE}"
    title = short_name(metric).replace("_", " ")
    return {"name": metric, "title": title, "path": path, "sorted": now}


def _presets(
    asked: Asked, of: ExampleRows, wanted: ExampleFilter, marks: Marks, name: str
) -> list[View]:
    run = marks.pinned.partition("/")[0]
    main = next((one for one in PREFERRED if one in of.metrics), "")
    given: list[tuple[str, list[tuple[str, str]]]] = [
        ("failed", [("stage", BAD)]),
        ("missing", [("status", "missing")]),
        ("judge ≠ person", [("labels", DIFFER)]),
        ("worst", [(SORT, WORST)]),
    ]
    if run and run != name and main:
        given.insert(3, ("changed", [("changed", main)]))
    here = [(key, value) for key, value in asked.query if key in ("by", "metric")]
    return [
        {
            "name": title,
            "path": f"{asked.path}{query([*here, *fields])}{PLACE}",
            "on": fields == wanted.query,
        }
        for title, fields in given
    ]


def _choices(of: ExampleRows, tags: Tags) -> list[tuple[str, list[tuple[str, str]]]]:
    groups: list[tuple[str, list[Condition]]] = []
    systems = of.rows["system"].unique(maintain_order=True).to_list()
    if len(systems) > 1:
        groups.append(("System", [Condition("system", one) for one in systems[:MOST_CHOICES]]))
    if OUTCOME in of.metrics:
        labels = of.rows[f"label {OUTCOME}"].cast(pl.String).drop_nulls().unique().sort()
        groups.append(("Outcome", [Condition("outcome", one) for one in labels]))
    stages = [code for code in NAMES if code != NO_FAULT]
    groups.append(("First fault", [Condition("stage", one) for one in [BAD, *stages, NO_FAULT]]))
    statuses = [Condition("status", one) for one in ("missing", "undefined")]
    groups.append(("No score", [*statuses, *(Condition("reason", one) for one in _reasons(of))]))
    for one in of.run.form.by:
        try:
            values = of.field(one).unique().sort().to_list()
        except InputError:
            continue
        values = [value for value in values if len(str(value)) <= LONGEST_VALUE][:MOST_CHOICES]
        groups.append((one, [Condition("slice", f"{one}:{value}") for value in values]))
    groups.append(("Tag", [Condition("tag", one) for one in list(tags)[:MOST_CHOICES]]))
    return [
        (title, [(f"{one.field}={one.value}", one.words) for one in ones])
        for title, ones in groups
        if ones
    ]


def _reasons(of: ExampleRows) -> list[str]:
    codes: dict[str, None] = {}
    for metric in of.metrics:
        given = of.rows[f"reason {metric}"].filter(of.rows[metric].is_null())
        for reason in given.cast(pl.String).drop_nulls().unique().sort():
            codes[reason.partition("?")[0]] = None
    return [one for one in codes if one.isidentifier()][:MOST_CHOICES]


def _grouped(of: ExampleRows, chosen: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each question and system, at the place of its first match."""
    if of.repeats.is_empty():
        return chosen.select("id", "question_id", "system", matching=pl.lit(1))
    return chosen.group_by("question_id", "system", maintain_order=True).agg(
        pl.col("id").first(), matching=pl.len()
    )


def _rows(
    of: ExampleRows, name: str, at: pl.DataFrame, metrics: Sequence[str], within: str
) -> list[View]:
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
    found = []
    for row in at.to_dicts():
        id, own = row["id"], scores[row["id"]]
        several = repeats.get((row["question_id"], row["system"]))
        label = own.get(f"label {OUTCOME}") or ""
        stage = stages.get(id)
        found.append(
            {
                "id": id,
                "path": f"{run_path(name, 'examples', id)}{within}",
                "question": shortened(texts[id], LONGEST_QUESTION),
                "system": row["system"],
                "outcome": (SHAPES.get(label, "other"), spoken(label)) if label else ("", ""),
                "code": codes.get(id, ""),
                "cells": [_cell(own, several, metric) for metric in metrics],
                "fault": "" if stage in (None, NO_FAULT) else NAMES[stage],
                "repeats": _repeated(several, row["matching"]),
            }
        )
    return found


def _cell(own: Mapping[str, object], several: Mapping[str, object] | None, metric: str) -> View:
    status, reason = own[f"status {metric}"], own[f"reason {metric}"]
    value: object = own[metric]
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
    said = counted(n, "answer") if matching == n else f"{matching} of {counted(n, 'answer')}"
    return said if flips is None else f"{said}, flip rate {percent(float(str(flips)), 0)}"


def _codes(some: Excerpted) -> dict[str, Markup]:
    rows = some.judgements(Support.name).filter(pl.col("origin").cast(pl.String) == "claim")
    tones = Support.columns["verdict"].tones
    found = {}
    for (id,), own in rows.sort("index").group_by(["example_id"], maintain_order=True):
        verdicts = own["verdict"].cast(pl.String).to_list()
        marks: list[Tone] = [tones.get(one, "missing") for one in verdicts]
        counts = [(one, verdicts.count(one)) for one in Support.columns["verdict"].values]
        title = ", ".join(f"{n} {one}" for one, n in counts if n)
        found[str(id)] = drawn(charts.barcode(marks, title))
    return found
