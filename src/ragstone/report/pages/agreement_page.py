"""Agreement page: how far annotators agree on each label, and on which values they differ."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from ragstone.annotation.annotator_agreement import ColumnAgreement, Disagreement, LabelAgreement
from ragstone.core.grouping import grouped
from ragstone.report import page as ui
from ragstone.report.number_format import counted, interval_cell, percent
from ragstone.stats.agreement.coefficients import CoefficientName
from ragstone.stats.agreement.ratings import AgreementCoefficient

from .annotation_pages import annotator_name, label_facts

# With fewer items than this, an interval of agreement is only a rough guide.
FEW = 30

SHOWN_INSTEAD = 5

# The coefficients shown next to Krippendorff's alpha in the overview.
BESIDE: tuple[CoefficientName, ...] = ("percent", "fleiss_kappa", "gwet_ac1")

# The short name and the description of each coefficient.
COEFFICIENTS: Mapping[CoefficientName, tuple[str, str]] = {
    "percent": ("percent", "share of annotator pairs that give an item the same label"),
    "cohen_kappa": (
        "Cohen's κ",
        "agreement beyond chance, from each annotator's own label frequencies; for more than two "
        "annotators, the mean over pairs weighted by their shared items",
    ),
    "weighted_kappa": ("weighted κ", "Cohen's κ with squared differences as weights"),
    "fleiss_kappa": ("Fleiss' κ", "agreement beyond chance, from the label frequencies of all"),
    "krippendorff_alpha": (
        "Krippendorff's α",
        "agreement beyond chance, as if labels were shuffled; grades differ by the square of their "
        "distance in ranks, numbers by the square of their difference",
    ),
    "gwet_ac1": (
        "Gwet's AC1",
        "chance only on items hard to tell; stable where one label is rare and κ collapses",
    ),
}

# Descriptions of the columns of the tables.
LEGEND = {
    "items": "what a label is about: an answer, a context, a claim or a statement",
    "labels": "how many labels this annotator gave",
    "compared": "labels on items where the others have a most frequent label; where nobody else "
    "labelled, or the others are split, there is nothing to compare with",
    "like the others": "share of the compared labels equal to the others' most frequent label",
    "difference": "how far this annotator's labels are above (+) or below (-) the mean of the "
    "others' on the same items",
    "given": "how often the label was given to items labelled by two or more",
    "again": "where one annotator gives it, how often another annotator of the item does too",
}

REASONS = {
    "no_pairs": "undefined: no item has two labels",
    "no_variation": "undefined: all labels are the same, so chance alone explains them",
    "too_many_labels": "undefined: numbers, not categories",
    "not_numbers": "undefined: not all labels are numbers",
}


def agreement_page(result: LabelAgreement) -> ui.Page:
    """Return the page: who labelled what, an overview, each label, faults in the labels."""
    labels, columns = result.labels, result.columns
    compared = [column for column in columns if column.n_shared]
    measured = compared or columns
    people = list(dict.fromkeys(who.name for item in measured for who in item.annotators))
    n = sum(who.n_labels for item in measured for who in item.annotators)
    sections = [ui.section(ui.Facts(tuple(label_facts(labels, people, n, result.broken))))]
    if len(compared) > 1:
        sections.append(ui.section(_overview(compared)))
    sections += [ui.Section(tuple(_blocks(item)), _title(item)) for item in compared]
    if alone := ", ".join(column.name for column in columns if not column.n_shared):
        why = ui.quiet("labelled by one annotator only, so there is nothing to compare  ")
        sections.append(ui.section((why, alone)))
    if not columns:
        sections.append(ui.section("No label counts, so there is nothing to compare."))
    if compared:
        sections += [ui.small_print(_legend(compared)), ui.small_print(_small_print(compared))]
    return ui.Page(
        "agreement", labels.source, tuple(sections), notes=labels.notes, record=result.to_dict
    )


def _overview(compared: Sequence[ColumnAgreement]) -> ui.Table:
    scale = _scale([column.coefficients["krippendorff_alpha"] for column in compared])
    columns = (
        ui.Heading("overview", key=True), "items", "people", "percent",
        ui.Heading("κ Fleiss", drop=2), ui.Heading("AC1", drop=1),
        ui.Heading("α", level=compared[0].level),
    )  # fmt: skip
    rows: list[tuple[ui.Cell, ...]] = [
        (ui.RowName(column.name), ui.Count(column.n_shared), ui.Count(column.n_annotators),
         *(ui.Number(column.coefficients[name].value) for name in BESIDE),
         _drawn(column.coefficients["krippendorff_alpha"], scale))
        for column in compared
    ]  # fmt: skip
    return ui.table(columns, rows)


def _title(column: ColumnAgreement) -> ui.Words:
    shared = "all" if column.n_shared == column.n_items else f"{column.n_shared:,}"
    parts = [
        f"{column.scale} · {counted(column.n_items, 'item')}, {shared} labelled by two or more"
    ]
    parts += [counted(column.n_clusters, "cluster")] if column.n_clusters < column.n_shared else []
    parts += [f"{column.n_divided:,} divided"]
    parts += [counted(len(column.ties), "tie")] if column.ties else []
    return (ui.strong(column.name), "  ", ui.quiet(" · ".join(parts)))


def _blocks(column: ColumnAgreement) -> Iterator[ui.Block]:
    coefficients = _shown(column)
    scale = _scale(coefficients.values())
    values: list[tuple[ui.Cell, ...]] = [
        (ui.RowName(COEFFICIENTS[name][0]),
         ui.Why("undefined", REASONS.get(value.reason or "", value.reason or ""))
         if value.value is None else _drawn(value, scale))
        for name, value in coefficients.items()
    ]  # fmt: skip
    yield ui.table(("agreement", ui.Heading("value", level=column.level)), values)
    if column.n_clusters < FEW:
        n = counted(column.n_clusters, "cluster" if column.n_clusters < column.n_shared else "item")
        yield ui.Paragraphs((ui.Phrase(f"Only {n}, so the intervals are rough.", "caution"),))
    if column.n_annotators > 1:
        yield _annotators(column)
    if column.uses:
        uses = []
        for use in column.uses:
            again = None if use.agreement is None else use.agreement * 100
            instead = list(use.instead.items())[:SHOWN_INSTEAD]
            others = " · ".join(f"{value} {percent(share, 0)}" for value, share in instead)
            figure = ui.Number(again, 0, unit=" %", strong=True)
            uses.append((ui.RowName(use.value), ui.Count(use.n), figure, others or "–"))
        yield ui.table(("label", "given", "again", "others said instead"), uses)
    if column.dividing:
        items = [_dividing(item) for item in column.dividing]
        left = column.n_divided - len(column.dividing)
        items += (
            [ui.OutlineItem(ui.quiet(f"and {left:,} more (--limit, --json)"))] if left > 0 else []
        )
        yield ui.Outline(tuple(items), "most disagreement")


def _shown(column: ColumnAgreement) -> dict[CoefficientName, AgreementCoefficient]:
    values = column.coefficients.items()
    return {name: value for name, value in values if value.reason != "nominal_scale"}


def _annotators(column: ColumnAgreement) -> ui.Table:
    differing = any(annotator.difference is not None for annotator in column.annotators)
    columns: list[ui.Heading | str] = [
        "annotator",
        "labels",
        "compared",
        ui.Heading("like the others", level=column.level),
    ]
    columns += ["difference"] if differing else []
    rows: list[tuple[ui.Cell, ...]] = [
        (ui.RowName(annotator_name(who.name)), ui.Count(who.n_labels), ui.Count(who.n),
         interval_cell(who.agreement, who.interval, ui.Scale(0, 1)),
         *([ui.Number(who.difference, 2, sign="+")] if differing else []))
        for who in column.annotators
    ]  # fmt: skip
    return ui.table(columns, rows)


def _dividing(item: Disagreement) -> ui.OutlineItem:
    unit = ""
    if item.unit is not None:
        unit = f", {item.unit}" if " " in item.unit else f", context {item.unit}"
    by_label = grouped((label, annotator_name(who)) for who, label in item.labels.items())
    ranked = sorted(by_label.items(), key=lambda pair: -len(pair[1]))
    votes = " · ".join(f"{label} ({', '.join(who)})" for label, who in ranked)
    notes = tuple(
        ui.OutlineItem(ui.quiet(f"{annotator_name(annotator)}: {note}"))
        for annotator, note in item.notes.items()
    )
    decided = () if item.decided is None else (ui.quiet("  decided: "), ui.strong(item.decided))
    text = (f"{item.example_id}{unit}", "  ", ui.Phrase(votes, "name"), *decided)
    return ui.OutlineItem(text, notes)


def _legend(columns: Sequence[ColumnAgreement]) -> Iterator[ui.Note]:
    several = any(column.n_annotators > 1 for column in columns)
    uses = any(column.uses for column in columns)
    people = [who for column in columns for who in column.annotators]
    explained = {
        "items": True,
        **dict.fromkeys(("labels", "compared", "like the others"), several),
        "difference": any(who.difference is not None for who in people),
        **dict.fromkeys(("given", "again"), uses),
    }
    yield from (ui.Note(word, LEGEND[word]) for word, explains in explained.items() if explains)


def _small_print(columns: Sequence[ColumnAgreement]) -> Iterator[ui.Note]:
    listed = {name for column in columns for name in _shown(column)}
    yield from (
        ui.Note(word, what) for name, (word, what) in COEFFICIENTS.items() if name in listed
    )
    item = columns[0]
    yield ui.Note(
        "intervals",
        f"{item.resamples:,} bootstrap samples of items, or of whole questions and examples "
        f"(seed {item.seed}); Wilson for single annotators and where all agree",
    )


def _drawn(coefficient: AgreementCoefficient, scale: ui.Scale) -> ui.IntervalCell:
    return interval_cell(coefficient.value, coefficient.interval, scale)


def _scale(ones: Collection[AgreementCoefficient]) -> ui.Scale:
    least = [coefficient.value for coefficient in ones if coefficient.value is not None]
    least += [coefficient.interval.low for coefficient in ones if coefficient.interval is not None]
    return (
        ui.Scale(-1, 1, (ui.Mark(0, "chance"),)) if min(least, default=0.0) < 0 else ui.Scale(0, 1)
    )
