"""Adjudication: several annotators' labels combined into a single label, or marked as a tie.

In labels, an annotator called ``adjudicator:NAME`` is an adjudicator. An adjudicator's label of a
unit in a column counts alone, whatever the others labelled; if an adjudicator discards a unit, no
label of others counts. Labels of an annotator that contradict each other are reported, never
corrected.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import polars as pl

from ragstone.data import majority
from ragstone.data.record_labels import Severity, violations
from ragstone.judgements import KINDS

from .label_names import Scale, label_of, named
from .raw_rows import LabelValue, number_in_words, plain_value

ADJUDICATOR = "adjudicator:"


# A person's last label: unit, column, annotator, and whether it discards the unit.
FinalLabel = tuple[Hashable, Hashable, str, bool]


def adjudicator(name: str) -> str:
    """Return the annotator name under which labels list an adjudicator."""
    return f"{ADJUDICATOR}{name}"


def is_adjudicator(annotator: str) -> bool:
    """Return True if an annotator of labels is an adjudicator."""
    return annotator.startswith(ADJUDICATOR)


def by_adjudicators() -> pl.Expr:
    """Return the filter for rows by adjudicators."""
    return pl.col("annotator").str.starts_with(ADJUDICATOR)


def that_count(words: Iterable[FinalLabel]) -> list[bool]:
    """Return for each label True if it counts when a unit's labels are combined."""
    labels = list(words)
    deciding = [label for label in labels if is_adjudicator(label[2])]
    decided = {(unit, column) for unit, column, _, discarded in deciding if not discarded}
    dropped = {unit for unit, _, _, discarded in deciding if discarded}
    return [
        not discarded
        and (is_adjudicator(who) if (unit, column) in decided else unit not in dropped)
        for unit, column, who, discarded in labels
    ]


def rows_that_count(labels: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a label table that count when labels are combined.

    Decisions stand where annotators first labelled the unit, because some intervals depend on
    the order in which labels came. Only adjudicators' rows may be discarded.
    """
    if not labels.select(by_adjudicators().any()).item():
        return labels
    columns = ("example_id", "unit", "kind", "column", "annotator", "discarded")
    words = (
        ((id, unit), (kind, column), annotator, why is not None)
        for id, unit, kind, column, annotator, why in labels.select(columns).iter_rows()
    )
    counts = pl.Series("counts", that_count(words), dtype=pl.Boolean)
    rows = labels.with_columns(counts).with_row_index("came")
    rows = rows.with_columns(pl.col("came").min().over(UNITS)).sort("came", maintain_order=True)
    return rows.filter("counts").drop("came", "counts")


UNITS = ["example_id", "kind", "column", "unit"]

# The columns that a label has in common, by any annotator or by all combined.
SAID = {
    **dict.fromkeys(("example_id", "kind", "column", "unit", "value"), pl.String),
    "number": pl.Float64,
}

ADJUDICATED = {
    **SAID,
    "inclusion_probability": pl.Float64,
    "n_votes": pl.UInt32,
    "tie": pl.Boolean,
    "adjudicated": pl.Boolean,
}


@dataclass(frozen=True, slots=True)
class Vote:
    """The label that one annotator gave one unit; a discarded unit may have no kind and value.

    Of a unit that an adjudicator discarded, kind, column and value may be empty.
    """

    kind: str
    column: str
    unit: str | None
    annotator: str
    value: str
    number: float | None
    discarded: bool = False


@dataclass(frozen=True, slots=True)
class Tie:
    """A unit and column on which two or more values share the most votes.

    ``votes`` are truth values, numbers or words, in the order of ``annotators``.
    """

    example_id: str
    kind: str
    column: str
    unit: str | None
    annotators: tuple[str, ...]
    votes: tuple[Any, ...]

    @property
    def name(self) -> str:
        return str(named(self.kind, self.column))


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The number of labels that adjudicators decided.

    ``compared`` counts those on which annotators have a majority (never on an interval scale),
    ``as_majority`` those of them that were decided like the majority.
    """

    n: int
    compared: int
    as_majority: int


def settle(votes: Sequence[tuple[str, float | None]], scale: Scale) -> LabelValue | None:
    """Combine labels, given as value and number, into the majority's; None on a tie.

    On an interval scale, if all labels are numbers, it is their mean.
    """
    numbers = [number for _, number in votes if number is not None]
    if scale == "interval" and len(numbers) == len(votes):
        mean = fsum(numbers) / len(numbers)
        return LabelValue(number_in_words(mean), mean)
    value = majority(value for value, _ in votes)
    return None if value is None else LabelValue(value, dict(votes)[value])


def adjudicated(counted: pl.DataFrame, scales: Mapping[tuple[str, str], Scale]) -> pl.DataFrame:
    """Return one row for each unit and column of labels, see ``LabelTable.adjudicated``."""
    units = counted.group_by(UNITS, maintain_order=True).agg(
        "value",
        "number",
        pl.col("inclusion_probability").drop_nulls().first(),
        by_adjudicators().first().alias("adjudicated"),
    )
    rows = []
    for id, kind, column, unit, values, numbers, inclusion, decided in units.iter_rows():
        label = settle(list(zip(values, numbers, strict=True)), scales[kind, column])
        facts = (inclusion, len(values), label is None, decided)
        rows.append((id, kind, column, unit, *(label or (None, None)), *facts))
    return pl.DataFrame(rows, schema=ADJUDICATED, orient="row")


def ties(counted: pl.DataFrame, settled: pl.DataFrame) -> list[Tie]:
    """Return the votes on each unit and column that ``settled`` leaves undecided."""
    split = settled.filter("tie").select(UNITS)
    votes = split.join(counted, on=UNITS, how="left", nulls_equal=True, maintain_order="left_right")
    by_unit = votes.group_by(UNITS, maintain_order=True).agg("annotator", "value", "number")
    return [
        Tie(id, kind, column, unit, tuple(annotators), tuple(map(plain_value, values, numbers)))
        for id, kind, column, unit, annotators, values, numbers in by_unit.iter_rows()
    ]


def adjudication(
    counted: pl.DataFrame, by_annotators: pl.DataFrame, scales: Mapping[tuple[str, str], Scale]
) -> Adjudication:
    """Count the labels that adjudicators decided."""
    decided = adjudicated(counted.filter(by_adjudicators()), scales).filter(~pl.col("tie"))
    votes = by_annotators.join(decided.select(UNITS), on=UNITS, how="semi", nulls_equal=True)
    voted = [scales[key] != "interval" for key in votes.select("kind", "column").iter_rows()]
    majority = adjudicated(votes.filter(pl.Series(voted, dtype=pl.Boolean)), scales)
    majority = majority.filter(~pl.col("tie"))
    both = majority.join(decided, on=UNITS, how="inner", nulls_equal=True)
    same = both.filter(pl.col("value") == pl.col("value_right"))
    return Adjudication(decided.height, both.height, same.height)


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule between labels, such as that sufficient evidence is relevant, broken in one unit."""

    rule: str
    severity: Severity
    example_id: str
    unit: str | None
    annotator: str


def broken_rules(used: pl.DataFrame) -> list[BrokenRule]:
    """Return every rule broken between two labels that one annotator gave one unit."""
    values: dict[tuple[str, str | None, str], dict[str, bool]] = {}
    ruled = [name for name, kind in KINDS.items() if kind.rules]
    truths = used.filter(pl.col("kind").is_in(ruled), pl.col("value").is_in(["true", "false"]))
    columns = ("example_id", "unit", "annotator", "kind", "column", "number")
    for id, unit, annotator, kind, column, number in truths.select(columns).iter_rows():
        values.setdefault((id, unit, annotator), {})[label_of(kind, column)] = bool(number)
    return [
        BrokenRule(broken.rule, broken.severity, id, unit, annotator)
        for (id, unit, annotator), labels in values.items()
        for broken in violations({"contexts": [labels]} if unit is not None else {"answer": labels})
    ]
