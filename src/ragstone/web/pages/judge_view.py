"""Judge: whether the judge can be believed, and how far people agree among themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from ragstone.analysis import Calibration, calibrate, read_passport
from ragstone.analysis.calibration.column_checks import JudgeCheck, label_words
from ragstone.analysis.calibration.judge_identity import NAME
from ragstone.analysis.calibration.labelled_run import NO_LABELS, labels_for
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.annotator_agreement import ColumnAgreement, agreement_of
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import DataError, InputError
from ragstone.core.messages import reason
from ragstone.report import charts
from ragstone.report.number_format import METHODS, scale_for, short_name, with_and
from ragstone.report.page import IntervalCell, Reliability, Scale, Tone
from ragstone.report.pages.agreement_page import COEFFICIENTS, REASONS
from ragstone.report.pages.calibration_page import reliability_of
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import calibration_sentences, people_sentences
from ragstone.run import Run
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.web.page_request import Asked, NotThere, WebPage, waits_page
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import AROUND_CHANCE, SHARE, View, drawn

HEIGHT = 34

# What is told of a judge beside people, by its name in the check.
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

PROBABILITY = "inclusion_probability"

# Labelled answers; of more the app would take too much memory.
MOST_LABELLED = 5_000

ITEMS = 50
# Shown where no cell is chosen.
FIRST_ITEMS = 10


class Believed(NamedTuple):
    """The facts that people's labels tell of a run, or why there is no judge beside them."""

    judge: Calibration | None
    why: str
    people: Sequence[ColumnAgreement]
    questions: Mapping[str, str]
    where: str


def judge_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show whether the judge can be believed."""
    name = request.names["run"]
    run = folder.run(name)
    file = run.path / f"{NAME}.json"
    passport = read_passport(file) if file.is_file() else None
    known = _believed(folder, name)
    if known is None:
        return _waits(request, name)
    calibration = known.judge
    source = calibration or passport
    record = source.to_dict() if source else {}
    estimates = record.get("estimates", ())
    used = dict.fromkeys(estimate["corrected"]["method"] for estimate in estimates)
    checks = [check for check in record.get("agreement", ()) if check["n"]]
    labels = [f"{check['kind']}.{check['column']}" for check in checks]
    label = request.one("label", labels[0] if labels else "")
    if labels and label not in labels:
        raise NotThere(f"People's labels are not of {label!r}. There are: {', '.join(labels)}.")
    check = checks[labels.index(label)] if labels else None
    live_checks = calibration.checks if calibration else ()
    live = next((each for each in live_checks if f"{each.kind}.{each.column}" == label), None)
    items = calibration.units[label] if calibration and check else None
    cell = request.one("cell")
    return WebPage(
        "judge.html",
        f"Can the judge of {name} be believed?",
        {
            **_common(run, name),
            "said": calibration_sentences(calibration) if calibration else [],
            "why": known.why,
            "where": known.where,
            "notes": [words(note) for note in calibration.notes] if calibration else [],
            "passport": passport,
            "changed": passport.void_for(run) if passport else (),
            "from_passport": calibration is None and passport is not None,
            "corrected": _by_metric(estimates),
            "together": _together,
            "methods": ", ".join(METHODS[name][0] for name in used if name in METHODS),
            "labels": labels,
            "label": label,
            "label_name": _label_name,
            "check": check,
            "matrix": _matrix(live, check) if check else None,
            "opens": calibration is not None,
            "measures": list(_measures(check)) if check else (),
            "scale": _scale_of(check) if check else SHARE,
            "reliability": _reliability(live, label),
            "biases": [
                bias
                for bias in (check["bias"] if check else ())
                if bias["low"] is not None and not bias["low"] <= 0 <= bias["high"]
            ],
            "cell": cell,
            "items": _items(run, items, cell),
            "people": [column for column in known.people if column.n_shared],
            "coefficients": COEFFICIENTS,
        },
    )


def people_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show how far people agree among themselves, and what divides them."""
    name = request.names["run"]
    run = folder.run(name)
    known = _believed(folder, name)
    if known is None:
        return _waits(request, name)
    shared = [column for column in known.people if column.n_shared]
    names = [column.name for column in shared]
    label = request.one("label", names[0] if names else "")
    if names and label not in names:
        raise NotThere(f"Nobody labelled {label!r}. There are: {', '.join(names)}.")
    column = shared[names.index(label)] if names else None
    divided = column.dividing if column and request.one("divided") else ()
    page = request.list_page(len(divided), ITEMS)
    return WebPage(
        "people.html",
        f"People on {name}",
        {
            **_common(run, name),
            "why": known.why,
            "said": people_sentences(shared),
            "columns": [(each, _of_people(each, short=True)) for each in shared],
            "one": column,
            "measures": _of_people(column) if column else (),
            "who": column.annotators if column else (),
            "alone": [each.name for each in known.people if not each.n_shared],
            "divided": divided[page.rows],
            "page": page,
            "questions": known.questions,
        },
    )


def _common(run: Run, name: str) -> dict[str, Any]:
    judges = [judge for judge in run.form.judges if judge.kinds]
    return {
        "run": name,
        "folder": quote(str(run.path)),
        "judges": judges,
        "answers": run.form.data.examples,
    }


def _waits(request: Asked, name: str) -> WebPage:
    return waits_page(request, f"The judge of {name} beside people")


def _believed(folder: RunsFolder, name: str) -> Believed | None:
    queues = folder.queues_of(name)
    key = ("believed", folder.stamp(name), tuple(queues.items()))
    return folder.later.get(key, lambda: believed(folder.run(name), tuple(queues)))


def believed(run: Run, queues: Sequence[str] = ()) -> Believed:
    """Hold the judge of a run, without corrections, against labels in queues, or in its data."""
    run = run.without_corrections()
    labelled = pl.col("labels") != NO_LABELS
    if queues:
        queues, table = _together_or_largest(queues)
        labelled = pl.col("id").is_in(table.used["example_id"].unique().to_list())
    rows = run.examples(["id", "question"], where=labelled)
    questions = {str(id): str(text or id) for id, text in rows.iter_rows()}
    names = with_and([queue.rpartition("#")[2] for queue in queues])
    word = "queue" if len(queues) == 1 else "queues"
    where = f"in the {word} {names}" if queues else "in the data of the run"
    if len(rows) > MOST_LABELLED:
        why = (
            f"{len(rows):,} answers carry labels, more than this page measures. The command below "
            "does, and the page shows what it found."
        )
        return Believed(None, why, (), questions, where)
    try:
        labels = table if queues else labels_for((), run, None)
    except InputError as error:
        return Believed(None, error.text, (), questions, where)
    clusters = dict(Scored(run).facets.select("example_id", "cluster").iter_rows())
    people = agreement_of(labels, clusters=clusters, limit=None)
    try:
        return Believed(calibrate(run, labels), "", people, questions, where)
    except InputError as error:
        return Believed(None, error.text, people, questions, where)


def _together_or_largest(queues: Sequence[str]) -> tuple[Sequence[str], LabelTable]:
    """Read the labels of all queues, or of the largest if they draw with other probabilities.

    An answer's chance of being in any draw is unknown: draws with one seed are alike.
    """
    try:
        return queues, read_label_table(queues)
    except DataError as error:
        if len(queues) == 1 or any(fault.field != PROBABILITY for fault in error.faults):
            raise
    tables = {queue: read_label_table(queue) for queue in queues}
    largest = max(queues, key=lambda queue: tables[queue].used.height)
    others = with_and([queue.rpartition("#")[2] for queue in queues if queue != largest])
    note = reason("queues_drawn_apart", queue=largest.rpartition("#")[2], others=others)
    table = tables[largest]
    return [largest], replace(table, notes=(*table.notes, note))


def _by_metric(estimates: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for estimate in estimates:
        by_metric.setdefault(short_name(estimate["metric"]), []).append(estimate)
    return by_metric


def _together(estimate: Mapping[str, Any]) -> Markup:
    """Draw what the judge says, what labels say, and the corrected mean."""
    ways = {name: estimate[name] for name in ("judge", "labels", "corrected")}
    tones: tuple[Tone, ...] = ("quiet", "", "good")
    scale = scale_for(estimate["metric"])
    cells = [
        IntervalCell(way["value"], way["low"], way["high"], scale, tone=tone)
        for way, tone in zip(ways.values(), tones, strict=True)
    ]
    known = {name: way["value"] for name, way in ways.items() if way["value"] is not None}
    title = ", ".join(f"{name} {value:.3f}" for name, value in known.items())
    return drawn(charts.together(cells, title, HEIGHT))


def _label_name(label: str) -> str:
    kind, _, column = label.partition(".")
    return short_name(column) if kind == "metric" else column.replace("_", " ")


def _matrix(
    live: JudgeCheck | None, check: Mapping[str, Any]
) -> tuple[list[str], list[list[int]]] | None:
    table = check["confusion"]
    if table is not None:
        return label_words(table["labels"]), table["people_by_judge"]
    if live is None or live.yes is None:
        return None
    return label_words(list(map(str, live.yes.labels))), list(map(list, live.yes.counts))


def _scale_of(check: Mapping[str, Any]) -> Scale:
    ends = [check.get(f"{name}{end}") for name in MEASURES for end in ("", "_low")]
    return AROUND_CHANCE if any(end is not None and end < 0 for end in ends) else SHARE


def _measures(check: Mapping[str, Any]) -> Iterator[View]:
    scale = _scale_of(check)
    for name, word in MEASURES.items():
        value = check.get(name)
        if value is None and name != "kappa":
            continue
        low, high = check.get(f"{name}_low"), check.get(f"{name}_high")
        weighted = name == "kappa" and check["weighting"] == "quadratic"
        yield {
            "name": "weighted κ" if weighted else word,
            "value": value,
            "low": low,
            "high": high,
            "figure": drawn(charts.strip(IntervalCell(value, low, high, scale))),
            "why": "" if value is not None else str(check["reason"] or "").replace("_", " "),
        }


def _reliability(live: JudgeCheck | None, label: str) -> Markup | str:
    bins = () if live is None else reliability_of(live)
    title = f"The judge's probability beside people, {_label_name(label)}"
    return drawn(charts.reliability(Reliability(bins, title))) if bins else ""


def in_cell(folder: RunsFolder, name: str, label: str, cell: str) -> list[str] | None:
    """Return the examples of which people and the judge say this; None while it is computed."""
    known = _believed(folder, name)
    if known is None:
        return None
    calibration = known.judge
    if calibration is None or label not in calibration.units:
        raise NotThere(f"The judge of {name} is not beside people on {label!r}.")
    units = calibration.units[label].filter(pl.format("{}-{}", "people", "judge") == cell)
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
    column: ColumnAgreement, *, short: bool = False
) -> list[tuple[str, AgreementCoefficient, str]]:
    """Return coefficients of a label, each with its title and why it has no value."""
    weighted = column.coefficients["weighted_kappa"].value is not None
    first = ("weighted_kappa" if weighted else "cohen_kappa", "krippendorff_alpha", "gwet_ac1")
    return [
        (COEFFICIENTS[name][0], coefficient, REASONS.get(why, why))
        for name, coefficient in column.coefficients.items()
        for why in [coefficient.reason or ""]
        if (not short or name in first) and why != "nominal_scale"
    ]
