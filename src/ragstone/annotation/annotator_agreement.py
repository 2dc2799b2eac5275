"""Annotator agreement: coefficients for each column of label files, and the items in dispute."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import Displayable, plain
from ragstone.data.fields import squash
from ragstone.data.json_text import BadRow, Problem
from ragstone.data.read_facts import id_of
from ragstone.data.records import RecordReader
from ragstone.stats.agreement.coefficients import CoefficientName, agreement_coefficients
from ragstone.stats.agreement.ratings import GAP, AgreementCoefficient, RatingMatrix, read_ratings
from ragstone.stats.cluster_means import cluster_wilson
from ragstone.stats.distributions import Interval, ends_of

from .adjudication import BrokenRule, Tie
from .label_names import SCALES, Scale, named
from .label_table import LabelTable
from .queue.labels_store import shown_source
from .raw_rows import PARTS, number_in_words
from .read_labels import read_label_table, records_of, system_in

QUESTION = "question_id"


def clusters_of(paths: Sequence[str | PathLike[str]], field: str | None = None) -> dict[str, str]:
    """Return the cluster of each example, by id, as far as files give one.

    Args:
        field: A column of label files, or a field of the data: at the top level, in ``slices``,
            ``meta`` or ``labels``. By default the question, if known.
    """
    cluster_of: dict[str, str] = {}
    for path in paths:
        reader = RecordReader({})
        for line, record in records_of(path):
            if isinstance(record, BadRow):
                continue
            problems: list[Problem] = []
            example = reader.read(record, line or 0, problems) if "labels" in record else None
            id = example.id if example else _id(record, line)
            cluster = None if example is None else example.facet(field or QUESTION)
            if cluster is None:
                cluster = _field(record, field or QUESTION)
            if cluster is not None:
                cluster_of.setdefault(id, cluster)
            system = system_in(record, {})
            if system is not None and (cluster is not None or field is None):
                cluster_of.setdefault(id_of(id, system), cluster or id)
    if field is not None and not cluster_of:
        raise InputError(f"No row of {', '.join(map(shown_source, paths))} has a field {field}.")
    return cluster_of


def _id(record: Mapping[str, Any], line: int | None) -> str:
    by_name = {squash(str(name)): cell for name, cell in record.items()}
    return str(next((by_name[name] for name in PARTS["id"] if by_name.get(name) is not None), line))


def _field(record: Mapping[str, Any], field: str) -> str | None:
    places = [record, *(record.get(name) for name in ("slices", "meta", "labels"))]
    values = (fields.get(field) for fields in places if isinstance(fields, Mapping))
    return next((str(value) for value in values if value is not None), None)


Floats = NDArray[np.float64]
Item = tuple[str, str | None]

# No confusion matrix is shown for a column with more distinct labels than this.
MOST_LABELS = 20


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator compared with the others.

    Attributes:
        name: Empty if the file names no annotator.
        n: Number of items on which the others have a majority.
        agreement: Share of these items on which this annotator gives the majority's label.
        interval: Wilson interval of ``agreement``, over examples or clusters of them.
        difference: Mean of this annotator's label minus the mean of the others', over all items
            that others labelled too; None if labels are not numbers.
    """

    name: str
    n_labels: int
    n: int
    agreement: float | None
    interval: Interval | None
    difference: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "annotator": self.name,
            "n_labels": self.n_labels,
            "n": self.n,
            "agreement": self.agreement,
            **ends_of(self.interval),
            "difference": self.difference,
        }


@dataclass(frozen=True, slots=True)
class LabelUse:
    """The use of one label, and agreement on it.

    Attributes:
        n: Number of times it was given to an item that another annotator labelled too.
        agreement: Share of other labels of these items that are the same, from 0 to 1. Source:
            Fleiss (1981), "Statistical Methods for Rates and Proportions", section 13.1.
        instead: The labels that others gave where one gave this one, with their shares.
    """

    value: str
    n: int
    agreement: float | None
    instead: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which annotators disagree: who gave which label, with their notes."""

    example_id: str
    unit: str | None
    labels: Mapping[str, str]
    notes: Mapping[str, str]
    spread: float
    """Share of the pairs that differ; for numbers, the mean squared difference of the pairs."""
    decided: str | None = None
    """The label that an adjudicator gave it."""


@dataclass(frozen=True)
class ColumnAgreement:
    """The agreement of annotators on one column.

    Attributes:
        n_items: Examples, or parts of them, labelled by at least one annotator.
        n_shared: Items labelled by two or more, on which the coefficients are based.
        n_clusters: Number of clusters among the shared items.
        uses: The labels that occur; empty if there are too many.
        n_divided: Shared items on which not all annotators agree.
        dividing: The items on which annotators disagree most.
        ties: Items without a majority.
        ratings: The labels of all items.
        clusters: The cluster of each item.
    """

    kind: str
    column: str
    scale: Scale
    n_items: int
    n_shared: int
    n_clusters: int
    coefficients: Mapping[CoefficientName, AgreementCoefficient]
    annotators: tuple[Annotator, ...]
    uses: tuple[LabelUse, ...]
    n_divided: int
    dividing: tuple[Disagreement, ...]
    ties: tuple[Tie, ...]
    seed: int
    resamples: int
    level: float
    limit: int | None
    ratings: RatingMatrix = field(repr=False)
    clusters: Sequence[Hashable] = field(repr=False)

    @property
    def name(self) -> str:
        return named(self.kind, self.column).shown

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "column": self.column,
            "n_items": self.n_items,
            "n_annotators": self.n_annotators,
            **{
                name: {"value": known.value, **ends_of(known.interval), "reason": known.reason}
                for name, known in self.coefficients.items()
            },
            "scale": self.scale,
            "n_shared": self.n_shared,
            "n_clusters": self.n_clusters,
            "n_divided": self.n_divided,
            "n_ties": len(self.ties),
            "annotators": [annotator.to_dict() for annotator in self.annotators],
            "values": plain(self.uses),
            "dividing": plain(self.dividing),
            "ties": [
                {
                    "example_id": tie.example_id,
                    "unit": tie.unit,
                    "labels": dict(zip(tie.annotators, tie.votes, strict=True)),
                }
                for tie in self.ties[: self.limit]
            ],
            "level": self.level,
            "methods": {
                name: None if estimate.interval is None else estimate.interval.method
                for name, estimate in self.coefficients.items()
            },
            "seed": self.seed,
            "resamples": self.resamples,
        }


def agreement_of(
    table: LabelTable,
    *,
    columns: Collection[str] = (),
    scales: Mapping[str, Scale] | None = None,
    clusters: Mapping[str, Hashable] | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
    limit: int | None = 10,
) -> tuple[ColumnAgreement, ...]:
    """Measure how well annotators agree, for each column of a table.

    Args:
        table: Discarded rows and rows set aside are ignored. Adjudicators are no annotators: their
            decisions change no figure.
        columns: Only these columns, by their name in label files or in the judgement.
        scales: Maps a column's name to its scale, to override ``scale_of``.
        clusters: Maps an example to its cluster, such as its question; intervals resample whole
            clusters. By default each example, with all its contexts or claims, is one.
        limit: Maximum number of disputed items, and of ties in ``to_dict``; None: all.

    Raises:
        InputError: An ordinal or interval scale for labels that are not numbers.
    """
    keys = table.by_annotators.select("kind", "column").unique(maintain_order=True)
    known = {named(*key).shown: key for key in keys.iter_rows()}
    chosen = _chosen(table, known, scales or {})
    keys_to_measure = [_key(name, known) for name in columns] or list(known.values())
    ties: dict[tuple[str, str], list[Tie]] = {}
    for tie in table.ties({column: scale for (_, column), scale in chosen.items()}):
        ties.setdefault((tie.kind, tie.column), []).append(tie)
    decided: dict[tuple[str, str], dict[Item, str]] = {}
    rows = table.adjudicated().filter("adjudicated", ~pl.col("tie"))
    label_columns = ("kind", "column", "example_id", "unit", "value")
    for kind, column, id, unit, value in rows.select(label_columns).iter_rows():
        decided.setdefault((kind, column), {})[id, unit] = value
    return tuple(
        _Column(table.of(*key), chosen[key], clusters or {}, decided.get(key, {})).agreement(
            *key, tuple(ties.get(key, ())), seed, resamples, level, limit
        )
        for key in dict.fromkeys(keys_to_measure)
    )


class _Column:
    """The labels of one column as a table of annotators and items."""

    def __init__(
        self,
        rows: pl.DataFrame,
        scale: Scale,
        clusters: Mapping[str, Hashable],
        decided: Mapping[Item, str],
    ) -> None:
        self.scale, self.decided = scale, decided
        self.names = list(rows["annotator"].unique(maintain_order=True))
        self.items: dict[Item, int] = {}
        cells: list[tuple[int, int]] = []
        row_of = {name: at for at, name in enumerate(self.names)}
        for id, unit, annotator in rows.select("example_id", "unit", "annotator").iter_rows():
            item = self.items.setdefault((id, unit), len(self.items))
            cells.append((row_of[annotator], item))
        shape = (len(self.names), len(self.items))
        self.words = np.full(shape, None, dtype=object)
        self.numbers = np.full(shape, np.nan)
        self.notes = np.full(shape, None, dtype=object)
        if cells:
            at = tuple(np.array(cells).T)
            self.words[at] = rows["value"].to_list()
            self.numbers[at] = rows["number"].to_numpy()
            self.notes[at] = rows["note"].to_list()
        self.clusters = [clusters.get(id, f"\0{id}") for id, _ in self.items]
        cells_ = self.words if scale == "nominal" else self.numbers
        self.given: list[list[Hashable]] = cells_.tolist()
        self.rated = read_ratings(self.given)
        self.ratings = self.rated.shared

    def agreement(
        self,
        kind: str,
        column: str,
        ties: tuple[Tie, ...],
        seed: int,
        resamples: int,
        level: float,
        limit: int | None,
    ) -> ColumnAgreement:
        ratings = self.ratings
        return ColumnAgreement(
            kind,
            column,
            self.scale,
            len(self.items),
            ratings.items,
            len({self.clusters[at] for at in ratings.at}),
            agreement_coefficients(
                self.given,
                scale=self.scale,
                clusters=self.clusters,
                seed=seed,
                resamples=resamples,
                level=level,
            ),
            tuple(self._annotator(at, level) for at in range(len(self.names))),
            self._uses(),
            int((ratings.agreeing < 1).sum()),
            self._dividing(limit),
            ties,
            seed,
            resamples,
            level,
            limit,
            self.rated,
            self.clusters,
        )

    def _annotator(self, at: int, level: float) -> Annotator:
        codes = self.ratings.codes[at] if self.ratings.items else np.empty(0, dtype=np.int64)
        mine = np.flatnonzero(codes != GAP)
        others = self.ratings.counts[mine]
        others[np.arange(len(mine)), codes[mine]] -= 1
        most = others.max(axis=1, initial=0)
        clear = (others == most[:, None]).sum(axis=1) == 1
        same = others[np.arange(len(mine)), codes[mine]] == most
        n = int(clear.sum())
        interval = None
        if n:
            totals: dict[Hashable, list[int]] = {}
            for item, hit in zip(mine[clear], same[clear], strict=True):
                total = totals.setdefault(self.clusters[self.ratings.at[item]], [0, 0])
                total[0] += int(hit)
                total[1] += 1
            sums, counts = zip(*totals.values(), strict=True)
            interval = cluster_wilson(sums, counts, level=level)
        return Annotator(
            self.names[at],
            int((self.words[at] != None).sum()),  # noqa: E711  (elementwise)
            n,
            float(same[clear].mean()) if n else None,
            interval,
            self._difference(at),
        )

    def _difference(self, at: int) -> float | None:
        if self.scale == "nominal" or not len(self.numbers):
            return None
        rated = ~np.isnan(self.numbers)
        n_others = rated.sum(axis=0) - rated[at]
        shared = rated[at] & (n_others > 0)
        if not shared.any():
            return None
        mine = self.numbers[at, shared]
        others = (np.nansum(self.numbers[:, shared], axis=0) - mine) / n_others[shared]
        return float((mine - others).mean())

    def _uses(self) -> tuple[LabelUse, ...]:
        ratings = self.ratings
        if ratings.items == 0 or len(ratings.labels) > MOST_LABELS:
            return ()
        together = coincidences(ratings)
        words = [
            number_in_words(label) if isinstance(label, float) else str(label)
            for label in ratings.labels
        ]
        n = ratings.counts.sum(axis=0)
        return tuple(
            LabelUse(
                words[c],
                int(n[c]),
                float(together[c, c] / together[c].sum()),
                {
                    words[k]: float(together[c, k] / together[c].sum())
                    for k in np.argsort(-together[c], kind="stable")
                    if k != c and together[c, k] > 0
                },
            )
            for c in np.flatnonzero(n)
        )

    def _dividing(self, limit: int | None) -> tuple[Disagreement, ...]:
        ratings = self.ratings
        apart = 1 - ratings.agreeing
        if self.scale != "nominal" and ratings.items:
            shared = self.numbers[:, ratings.at]
            m = ratings.raters
            total, square = np.nansum(shared, axis=0), np.nansum(shared**2, axis=0)
            apart = np.maximum(0, 2 * (m * square - total**2) / (m * (m - 1)))
        order = np.lexsort((np.arange(len(apart)), -ratings.raters, -apart))
        ids = list(self.items)
        disagreements = []
        for at in order[:limit]:
            if ratings.agreeing[at] == 1:
                break
            item = int(ratings.at[at])
            annotators = [
                who for who in range(len(self.names)) if self.words[who, item] is not None
            ]
            disagreements.append(
                Disagreement(
                    *ids[item],
                    {self.names[who]: self.words[who, item] for who in annotators},
                    {
                        self.names[who]: note
                        for who in annotators
                        if (note := self.notes[who, item])
                    },
                    float(apart[at]),
                    self.decided.get(ids[item]),
                )
            )
        return tuple(disagreements)


def coincidences(ratings: RatingMatrix) -> Floats:
    """Count how often one annotator gives one label where another gives a second, (labels, labels).

    Each item counts as often as it has labels, as in Krippendorff's alpha.
    """
    weight = 1 / (ratings.raters - 1)
    together = (ratings.counts * weight[:, None]).T @ ratings.counts
    totals = (ratings.counts * weight[:, None]).sum(axis=0)
    return np.asarray(together - np.diag(totals))


def _chosen(
    table: LabelTable, known: Mapping[str, tuple[str, str]], scales: Mapping[str, Scale]
) -> dict[tuple[str, str], Scale]:
    chosen = dict(table.scales)
    for name, scale in scales.items():
        if scale not in SCALES:
            raise UnknownName("scale", scale, SCALES)
        key = _key(name, known)
        if scale != "nominal" and table.of(*key)["number"].null_count():
            raise InputError(f"{name} has labels that are not numbers, so its scale is nominal.")
        chosen[key] = scale
    return chosen


def _key(name: str, known: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    if name in known:
        return known[name]
    matching = [key for key in known.values() if name in (key[1], ".".join(key))]
    if len(matching) == 1:
        return matching[0]
    raise UnknownName("column of these labels", name, known, hint=f"They have {', '.join(known)}.")


@dataclass(frozen=True, eq=False, repr=False)
class LabelAgreement(Displayable):
    """The agreement of annotators, column by column, with the rules their labels break."""

    labels: LabelTable
    columns: tuple[ColumnAgreement, ...]
    broken: tuple[BrokenRule, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "labels": [column.to_dict() for column in self.columns],
            "source": self.labels.source,
            "n_rows": self.labels.frame.height,
            "annotators": list(self.labels.annotators),
            "adjudicators": list(self.labels.adjudicators),
            "adjudication": plain(self.labels.adjudication),
            "discarded": self.labels.discarded,
            "set_aside": self.labels.set_aside,
            "broken_rules": plain(self.broken),
            "notes": list(self.labels.notes),
        }

    def __repr__(self) -> str:
        return f"LabelAgreement({self.labels.source!r}, {len(self.columns)} columns)"


def agreement(
    labels: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    column: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Scale] | None = None,
    cluster: str | None = None,
    seed: int = 0,
    limit: int | None = 3,
) -> LabelAgreement:
    """Measure how far the annotators of label files agree, column by column.

    Args:
        labels: Label files, or data that carry labels.
        column: Columns to measure; by default all.
        columns: Maps a label to the column it is read from.
        scales: Maps a column to its scale: nominal, ordinal or interval; see ``scale_of``.
        cluster: Field that groups dependent rows; by default the question.
        limit: Number of disputed items of a column that are kept; None for all.
    """
    paths = [labels] if isinstance(labels, str | PathLike) else list(labels)
    table = read_label_table(paths, columns=columns)
    results = agreement_of(
        table, columns=column, scales=scales, clusters=clusters_of(paths, cluster), seed=seed,
        limit=limit,
    )  # fmt: skip
    return LabelAgreement(table, tuple(results), tuple(table.broken_rules()))
