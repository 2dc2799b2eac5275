"""Judge: whether the judge can be believed, and how far people agree among themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from shlex import quote
from typing import Any

import polars as pl
from markupsafe import Markup

from ragstone.analysis import Calibration, calibrate, read_passport
from ragstone.analysis.calibration.column_checks import label_words
from ragstone.analysis.calibration.judge_identity import NAME, Passport
from ragstone.analysis.calibration.labelled_run import NO_LABELS, labels_for
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.annotator_agreement import ColumnAgreement, agreement_of
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import InputError
from ragstone.report import charts
from ragstone.report.number_format import METHODS, percent, scale_for, short_name
from ragstone.report.page import IntervalCell, Reliability, Scale, Tone
from ragstone.report.pages.agreement_page import COEFFICIENTS, REASONS
from ragstone.report.pages.calibration_page import reliability_of
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import calibration_sentences, people_sentences
from ragstone.run import Run
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.web.page_request import Asked, NotThere, WebPage, run_path
from ragstone.web.parts.choices_and_tabs import run_tabs
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import AROUND_CHANCE, SHARE, View, drawn

HEIGHT = 34

MEASURES: Mapping[str, str] = {
    "kappa": "κ",
    "krippendorff_alpha": "Krippendorff's α",
    "gwet_ac1": "Gwet's AC1",
    "accuracy": "the same word",
    "sensitivity": "finds people's yes: sensitivity",
    "specificity": "leaves people's no: specificity",
    "precision": "right when it says yes: precision",
    "auroc": "tells yes from no: AUROC",
    "spearman": "the same order: Spearman's ρ",
    "kendall": "the same order: Kendall's τ",
}
"""What is told of a judge beside people, by its name in the check."""

MOST_LABELLED = 5_000
"""Labelled answers; of more the app would take too much memory."""

ITEMS = 50
FIRST_ITEMS = 10
"""Shown where no cell is chosen."""


@dataclass(frozen=True, slots=True)
class Believed:
    """The facts that people's labels tell of a run.

    Attributes:
        judge: Beside people; None if no label is about what it judged.
        why: Why not, in the words of the library.
        people: Among themselves, label by label.
        questions: The question of each example.
        where: Where the labels are, in words.
    """

    judge: Calibration | None
    why: str
    people: tuple[ColumnAgreement, ...]
    questions: Mapping[str, str]
    where: str


def judge_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show whether the judge can be believed."""
    name = asked.names["run"]
    run = place.run(name)
    passport, changed = _passport(run)
    found = _believed(place, name)
    if found is None:
        return _waits(asked, name)
    calibration = found.judge
    record = calibration.to_dict() if calibration else passport.to_dict() if passport else {}
    checks = [one for one in record.get("agreement", ()) if one["n"]]
    labels = [f"{one['kind']}.{one['column']}" for one in checks]
    label = asked.one("label", labels[0] if labels else "")
    if labels and label not in labels:
        raise NotThere(f"People's labels are not of {label!r}. There are: {', '.join(labels)}.")
    check = checks[labels.index(label)] if labels else None
    items = calibration.units[label] if calibration and check else None
    cell = asked.one("cell")
    return WebPage(
        "judge.html",
        f"Can the judge of {name} be believed?",
        {
            **_common(run, name),
            "said": calibration_sentences(calibration) if calibration else [],
            "why": found.why,
            "where": found.where,
            "notes": [words(note) for note in calibration.notes] if calibration else [],
            "passport": passport,
            "changed": changed,
            "from_passport": calibration is None and passport is not None,
            "corrected": _corrected(record.get("estimates", ())),
            "axis": drawn(charts.axis(SHARE, quarters=True)),
            "methods": _methods(record.get("estimates", ())),
            "labels": [(one, _label(one), asked.but(label=one, cell=None)) for one in labels],
            "label": label,
            "label_name": _label(label),
            "check": check,
            "matrix": _matrix(asked, calibration, label, check, cell) if check else None,
            "measures": _measures(check) if check else (),
            "measures_axis": _axis(check),
            "reliability": _reliability(calibration, label),
            "biases": _biases(check) if check else (),
            "cell": cell,
            "items": _items(run, items, cell),
            "people": [one for one in found.people if one.n_shared],
            "coefficients": COEFFICIENTS,
        },
    )


def people_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show how far people agree among themselves, and what divides them."""
    name = asked.names["run"]
    run = place.run(name)
    found = _believed(place, name)
    if found is None:
        return _waits(asked, name)
    shared = [one for one in found.people if one.n_shared]
    names = [one.name for one in shared]
    label = asked.one("label", names[0] if names else "")
    if names and label not in names:
        raise NotThere(f"Nobody labelled {label!r}. There are: {', '.join(names)}.")
    one = shared[names.index(label)] if names else None
    divided = one.dividing if one and asked.one("divided") else ()
    page = asked.list_page(len(divided), ITEMS)
    return WebPage(
        "people.html",
        f"People on {name}",
        {
            **_common(run, name),
            "why": found.why,
            "said": people_sentences(shared),
            "columns": [(each, _three(each)) for each in shared],
            "axis": drawn(charts.axis(AROUND_CHANCE)),
            "share_axis": drawn(charts.axis(SHARE, quarters=True)),
            "one": one,
            "measures": _of_people(one) if one else (),
            "who": one.annotators if one else (),
            "alone": [each.name for each in found.people if not each.n_shared],
            "divided": divided[page.rows],
            "page": page,
            "questions": found.questions,
        },
    )


def _common(run: Run, name: str) -> dict[str, Any]:
    judges = [one for one in run.form.judges if one.kinds]
    return {
        "run": name,
        "folder": quote(str(run.path)),
        "tabs": run_tabs(name),
        "run_path": run_path,
        "judges": judges,
        "answers": run.form.data.examples,
    }


def _waits(asked: Asked, name: str) -> WebPage:
    return WebPage("waits.html", f"The judge of {name} beside people", {"again": asked.but()})


def _believed(place: RunsFolder, name: str) -> Believed | None:
    queues = place.queues_of(name)
    key = ("believed", place.stamp(name), tuple(queues.items()))
    return place.later.get(key, lambda: believed(place.run(name), tuple(queues)))


def believed(run: Run, queues: Sequence[str] = ()) -> Believed:
    """Hold the judge of a run, without corrections, against labels in queues, or in its data."""
    run = run.without_corrections()
    labelled = pl.col("labels") != NO_LABELS
    if queues:
        there = read_label_table(queues)
        labelled = pl.col("id").is_in(there.used["example_id"].unique().to_list())
    rows = run.examples(["id", "question"], where=labelled)
    questions = {str(id): str(text or id) for id, text in rows.iter_rows()}
    where = "in the queues of this run" if queues else "in the data of the run"
    if len(rows) > MOST_LABELLED:
        return Believed(None, _too_many(len(rows)), (), questions, where)
    try:
        labels = there if queues else labels_for((), run, None)
    except InputError as error:
        return Believed(None, error.text, (), questions, where)
    clusters = dict(Scored(run).facets.select("example_id", "cluster").iter_rows())
    people = agreement_of(labels, clusters=clusters, limit=None)
    try:
        return Believed(calibrate(run, labels), "", people, questions, where)
    except InputError as error:
        return Believed(None, error.text, people, questions, where)


def _too_many(count: int) -> str:
    return (
        f"{count:,} answers carry labels, more than this page measures. The command below does, "
        "and the page shows what it found."
    )


def _passport(run: Run) -> tuple[Passport | None, Sequence[str]]:
    file = run.path / f"{NAME}.json"
    if not file.is_file():
        return None, ()
    passport = read_passport(file)
    return passport, passport.void_for(run)


def _corrected(estimates: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[View]]]:
    found: dict[str, list[View]] = {}
    for one in estimates:
        found.setdefault(one["metric"], []).append(_ways(one))
    return [(short_name(metric), rows) for metric, rows in found.items()]


def _ways(one: Mapping[str, Any]) -> View:
    ways = one["judge"], one["labels"], one["corrected"]
    scale = scale_for(one["metric"])
    tones: tuple[Tone, ...] = ("quiet", "", "good")
    cells = [
        IntervalCell(way["value"], way["low"], way["high"], scale, tone=tone)
        for way, tone in zip(ways, tones, strict=True)
    ]
    said = [
        f"{word} {way['value']:.3f}"
        for word, way in zip(("judge", "labels", "corrected"), ways, strict=True)
        if way["value"] is not None
    ]
    worth = one["corrected"]["effective_labels"]
    why = one["corrected"]["reason"] or one["labels"]["reason"] or ""
    return {
        "metric": short_name(one["metric"]),
        "group": ", ".join(one["group"].values()),
        "ways": ways,
        "figure": drawn(charts.together(cells, ", ".join(said), HEIGHT)),
        "worth": f"{worth:,.0f}" if worth is not None and isfinite(worth) else "",
        "labels": one["corrected"]["n_labels"],
        "why": why.replace("_", " "),
    }


def _methods(estimates: Sequence[Mapping[str, Any]]) -> str:
    used = dict.fromkeys(one["corrected"]["method"] for one in estimates)
    return ", ".join(METHODS[name][0] for name in used if name in METHODS)


def _label(label: str) -> str:
    kind, _, column = label.partition(".")
    name = short_name(column) if kind == "metric" else column
    return name.replace("_", " ")


def _matrix(
    asked: Asked,
    calibration: Calibration | None,
    label: str,
    check: Mapping[str, Any],
    cell: str,
) -> View | None:
    table = check["confusion"]
    if calibration is not None and table is None:
        live = next(one for one in calibration.checks if f"{one.kind}.{one.column}" == label)
        if live.yes is None:
            return None
        table = {
            "labels": [str(one) for one in live.yes.labels],
            "people_by_judge": live.yes.counts,
        }
    if table is None:
        return None
    names = label_words(table["labels"])
    rows = []
    for people, counts in zip(names, table["people_by_judge"], strict=True):
        cells = tuple(
            {
                "count": count,
                "share": percent(count / sum(counts), 0) if sum(counts) else "",
                "path": asked.but(label=label, cell=f"{people}-{judge}") if calibration else "",
                "agrees": people == judge,
                "chosen": cell == f"{people}-{judge}",
            }
            for judge, count in zip(names, counts, strict=True)
        )
        rows.append((people, cells))
    return {"names": names, "rows": rows}


def _measures(check: Mapping[str, Any]) -> tuple[View, ...]:
    scale = _scale_of(check)
    return tuple(_measured(check, scale))


def _scale_of(check: Mapping[str, Any]) -> Scale:
    ends = [check.get(f"{name}{end}") for name in MEASURES for end in ("", "_low")]
    return AROUND_CHANCE if any(end is not None and end < 0 for end in ends) else SHARE


def _axis(check: Mapping[str, Any] | None) -> Markup:
    scale = SHARE if check is None else _scale_of(check)
    return drawn(charts.axis(scale, quarters=scale is SHARE))


def _measured(check: Mapping[str, Any], scale: Scale) -> Iterator[View]:
    for name, word in MEASURES.items():
        value = check.get(name)
        if value is None and name != "kappa":
            continue
        low, high = check.get(f"{name}_low"), check.get(f"{name}_high")
        weighted = name == "kappa" and check["weighting"] == "quadratic"
        strip = drawn(charts.strip(IntervalCell(value, low, high, scale)))
        why = "" if value is not None else str(check["reason"] or "").replace("_", " ")
        yield {
            "name": "weighted κ" if weighted else word,
            "value": value,
            "low": low,
            "high": high,
            "figure": strip,
            "why": why,
        }


def _reliability(calibration: Calibration | None, label: str) -> Markup | str:
    for check in calibration.checks if calibration else ():
        if f"{check.kind}.{check.column}" == label:
            bins = reliability_of(check)
            title = f"The judge's probability beside people, {_label(label)}"
            return drawn(charts.reliability(Reliability(bins, title))) if bins else ""
    return ""


def _biases(check: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        one
        for one in check["bias"]
        if one["low"] is not None and not one["low"] <= 0 <= one["high"]
    ]


def in_cell(place: RunsFolder, name: str, label: str, cell: str) -> list[str] | None:
    """Return the examples of which people and the judge say this; None while it is computed."""
    found = _believed(place, name)
    if found is None:
        return None
    if found.judge is None or label not in found.judge.units:
        raise NotThere(f"The judge of {name} is not beside people on {label!r}.")
    units = found.judge.units[label].filter(pl.format("{}-{}", "people", "judge") == cell)
    return list(dict.fromkeys(units["example_id"]))


def _items(run: Run, units: pl.DataFrame | None, cell: str) -> list[Mapping[str, Any]]:
    if units is None:
        return []
    here = (
        pl.format("{}-{}", "people", "judge") == cell
        if cell
        else pl.col("people") != pl.col("judge")
    )
    units = units.filter(here)
    rows = units.head(ITEMS if cell else FIRST_ITEMS)
    texts = dict(
        run.examples(["id", "question"])
        .filter(pl.col("id").is_in(rows["example_id"].unique().implode()))
        .iter_rows()
    )
    return [
        {**row, "question": texts.get(row["example_id"]) or row["example_id"], "all": len(units)}
        for row in rows.iter_rows(named=True)
    ]


def _of_people(
    column: ColumnAgreement, names: Sequence[str] = ()
) -> list[tuple[str, AgreementCoefficient, str]]:
    """Return coefficients of a label, each with its title and why it has no value."""
    return [
        (COEFFICIENTS[name][0], coefficient, REASONS.get(why, why))
        for name, coefficient in column.coefficients.items()
        for why in [coefficient.reason or ""]
        if (not names or name in names) and why != "nominal_scale"
    ]


def _three(column: ColumnAgreement) -> list[tuple[str, AgreementCoefficient, str]]:
    weighted = column.coefficients["weighted_kappa"].value is not None
    kappa = "weighted_kappa" if weighted else "cohen_kappa"
    return _of_people(column, (kappa, "krippendorff_alpha", "gwet_ac1"))
