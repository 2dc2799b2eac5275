"""Summing: from scores, in pieces of whole examples, to the sums that all estimates are made of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.stats.bootstrap import ClusterTotals, Keys, totals_of
from ragstone.stats.cluster_means import Clusters, clusters_by
from ragstone.stats.cluster_moments import NO_CLUSTERS, ClusterMoments

from .buckets import Buckets, Rows
from .groups import EstimateGroups, Ints
from .score_counts import NO_SCORES, CountedScores, GroupCounts, counts_by_group

Place = TypeVar("Place")
Sum = TypeVar("Sum", ClusterMoments, ClusterTotals)

SCORE = {
    "column": pl.UInt32,
    "value": pl.Float64,
    "status": pl.UInt8,
    "label": pl.String,
    "reason": pl.String,
}
"""The columns of scores that are summed."""


@dataclass(frozen=True, slots=True, eq=False)
class ScorePiece:
    """Consecutive examples with their scores.

    Args:
        facets: A row an example: ``system``, ``cluster`` (a hash), a ``by_column`` a field.
        scores: ``SCORE``, with columns numbered from 0. The rows of a column are one for each
            example, in the order of ``facets``; their value is null unless their status is VALUE.
        alike: Of further columns ``SCORE`` in one row, which is that of all examples.
    """

    facets: pl.DataFrame
    scores: pl.DataFrame
    alike: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCORE))


@dataclass(frozen=True, slots=True, eq=False)
class Summed:
    """The sums over each group, which has the place that ``EstimateGroups`` gives it.

    Attributes:
        moments: Of the scores with a value, by column and group.
        totals: Of the columns that a composite of means combines, by composite and group.
        table: How the scores came out, as ``CountedScores.table`` gives it.
        counts: The same by column and group.
    """

    moments: Mapping[tuple[int, int], ClusterMoments]
    totals: Mapping[tuple[str, int], ClusterTotals]
    table: pl.DataFrame
    counts: Mapping[tuple[int, int], GroupCounts]

    def of(self, column: int, group: int) -> ClusterMoments:
        """The moments of a column in a group."""
        return self.moments.get((column, group), NO_CLUSTERS)

    def counted(self, column: int, group: int) -> GroupCounts:
        """How the scores of a column in a group came out."""
        return self.counts.get((column, group), NO_SCORES)


def summed(
    pieces: Iterable[ScorePiece],
    groups: EstimateGroups,
    columns: int,
    composites: Mapping[str, Sequence[int]],
    *,
    examples: int,
    folder: Path | None,
) -> Summed:
    """Sum scores by group and cluster.

    Args:
        pieces: All examples, each once, gone over once.
        groups: Their groups.
        columns: How many columns of scores there are.
        composites: The columns that each composite of means combines.
        examples: How many there are.
        folder: Where they are put aside if they are many; None: in memory.
    """
    counted = CountedScores(groups)
    moments: dict[tuple[int, int], ClusterMoments] = {}
    totals: dict[tuple[str, int], ClusterTotals] = {}
    with Buckets(examples, folder) as buckets:
        for piece in pieces:
            codes = groups.codes(piece.facets)
            scores = piece.scores
            if not scores["column"].is_sorted():
                scores = scores[np.argsort(scores["column"].to_numpy(), kind="stable")]
            counted.add(scores, codes, piece.alike)
            buckets.add(_rows(piece.facets["cluster"], codes, scores, piece.alike, columns))
        for rows in buckets:
            valued = [one for one in range(columns) if not np.isnan(rows["values"][:, one]).all()]
            for cells in _cells(rows, groups):
                for column in valued:
                    for group, _, (clusters,) in cells.summed(rows, [column]):
                        there = clusters.of(clusters.counts > 0)
                        _merge(moments, (column, group), there.moments)
                for name, parts in composites.items():
                    for group, keys, found in cells.summed(rows, parts):
                        _merge(totals, (name, group), totals_of(keys, found))
    table = counted.table()
    return Summed(moments, totals, table, counts_by_group(table))


def _rows(
    clusters: pl.Series,
    codes: NDArray[np.int32],
    scores: pl.DataFrame,
    alike: pl.DataFrame,
    columns: int,
) -> Rows:
    """What is put into buckets, one row an example; NaN is no value."""
    dtype = np.dtype(
        [
            ("cluster", np.uint64),
            ("codes", np.int32, (codes.shape[1],)),
            ("values", np.float64, (columns,)),
        ]
    )
    rows = np.empty(len(clusters), dtype=dtype)
    rows["cluster"] = clusters.to_numpy()
    rows["codes"] = codes
    there = scores["column"].gather_every(max(1, len(clusters))).to_numpy()
    if len(there) + alike.height != columns:
        raise ValueError(f"{len(there)} and {alike.height} columns of scores, of {columns}")
    values = scores["value"].to_numpy().reshape(len(there), len(clusters))
    for column, own in [*zip(there, values, strict=True), *alike.select("column", "value").rows()]:
        rows["values"][:, column] = np.nan if own is None else own
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The clusters within each group of one kind; those of a group stand together."""

    of_rows: Ints
    """The cell of each row."""
    keys: Keys
    """The cluster of each cell."""
    groups: Sequence[tuple[int, slice]]
    """The place of each group that has rows, and its cells."""

    def summed(
        self, rows: Rows, columns: Sequence[int]
    ) -> Iterator[tuple[int, Keys, list[Clusters]]]:
        """The place of each group, its clusters, and the scores of these columns in them."""
        found = [
            clusters_by(self.of_rows, rows["values"][:, one], len(self.keys)) for one in columns
        ]
        for place, own in self.groups:
            yield place, self.keys[own], [one.of(own) for one in found]


def _cells(rows: Rows, groups: EstimateGroups) -> Iterator[_Cells]:
    """Of each kind of group."""
    names, cluster = np.unique(rows["cluster"], return_inverse=True)
    for group in groups.places(rows["codes"]):
        cells, of_rows = np.unique(group * len(names) + cluster, return_inverse=True)
        places, starts = np.unique(cells // len(names), return_index=True)
        own = map(slice, starts, [*starts[1:], len(cells)])
        of_groups = list(zip(places.tolist(), own, strict=True))
        yield _Cells(of_rows, names[cells % len(names)], of_groups)


def _merge(sums: dict[Place, Sum], place: Place, new: Sum) -> None:
    before = sums.get(place)
    sums[place] = new if before is None else before + new
