"""Sums and clusters: scores summed for all estimates, and rows that depend on each other.

Rows with the same question, turns of a conversation and questions about the same document are
dependent. Intervals and tests that treat them as independent are too narrow: 200 rows of 20
questions hold the information of 20. Ids that a tool generated for every row hide this.
"""

import shutil
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import room_for
from ragstone.core.messages import reason
from ragstone.data import Example
from ragstone.data.example import SESSION
from ragstone.metrics import Composite, Metric
from ragstone.stats.bootstrap import ClusterTotals, Keys, part_of, totals_of
from ragstone.stats.cluster_means import clusters_by
from ragstone.stats.cluster_moments import NO_CLUSTERS, ClusterMoments

from .groups import (
    NO_SCORES,
    EstimateGroups,
    Gathered,
    GroupCounts,
    Ints,
    count_of_each,
    counted_scores,
    counts_by_group,
)


def first_of_each(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The first row of each key, in order."""
    hashes = rows[keys[0]]
    if len(keys) == 1 and hashes.dtype == pl.UInt64 and not hashes.null_count():
        # By sorting, for the table that Polars makes of a million hashes takes 200 bytes each.
        first = np.unique(hashes.to_numpy(), return_index=True)[1]
        return rows[np.sort(first)]
    return rows.unique(keys, keep="first", maintain_order=True)


# Field to cluster by, unless the user names another.
QUESTION = "question_id"


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedQuestions:
    """Ids whose question another id asked first, and a note; None if ids and texts agree."""

    later: pl.DataFrame
    note: str | None

    def clusters(self, ids: pl.Series) -> pl.Series:
        """The cluster of each row, by the id of its question."""
        if self.later.is_empty():
            return ids
        position = self.later["id"].search_sorted(ids).clip(upper_bound=self.later.height - 1)
        nearest = self.later[position].with_columns(own=ids)
        first = pl.when(pl.col("id") == pl.col("own")).then("first").otherwise("own")
        return nearest.select(first.alias(ids.name)).to_series()


def repeated_questions(ids: pl.Series, texts: pl.Series) -> RepeatedQuestions:
    """Put rows with the same question text in one cluster, whatever their ids.

    The cluster of an id is the first id whose question has its text. Where all questions read
    the same, the text is an instruction, such as to summarise, and ids stay what they are.

    Args:
        ids: Of each row's question, in any type; of rows with one id the first that has a text
            will do.
        texts: Of each row what is asked, earlier turns included, as ``question_hash`` has it;
            null where it is not known, and then the id alone counts.
    """
    frame = pl.DataFrame({"id": ids, "text": texts})
    known = first_of_each(frame.drop_nulls("text"), ["id"])
    count, of = known.height, known["text"].n_unique()
    if count == of or of == 1:
        note = reason("ids_ask_the_same", n=count) if count > of else None
        return RepeatedQuestions(known.select("id", first="id").clear(), note)
    first = known.select("id", first=pl.col("id").first().over("text"))
    later = first.filter(pl.col("id") != pl.col("first")).sort("id")
    return RepeatedQuestions(later, reason("ids_share_questions", n=count, questions=of))


def question_hash() -> pl.Expr:
    """A hash of a row's ``question`` and ``history``, ignoring case and white space."""
    question = pl.col("question").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    both = pl.struct(question, "history").struct.json_encode().hash(seed=0)
    return pl.when(question != "").then(both).alias("asked")


# Rows at the head of the data that tell whether they are turns of sessions.
LOOKED_AT = 1_000


def default_cluster(examples: Iterable[Example]) -> str:
    """Return the field to cluster by where the user names none.

    ``session`` if one of the sessions holds several questions to one system, else ``question_id``.
    Sessions of one question each say less than the question does: other systems answer it in
    sessions of their own.
    """
    first_question: dict[tuple[str, str], str] = {}
    for example in examples:
        if (session := example.session) is not None:
            first = first_question.setdefault((example.system, session), example.question_id)
            if first != example.question_id:
                return SESSION
    return QUESTION


# Fields finer than a document or a session, whose clusters may depend on each other.
FINE = ("id", "question_id", SESSION)

# Names under which data keep where a question comes from; upper or lower case is the same.
OF_DOCUMENTS = frozenset(
    f"{name}{end}"
    for name in (
        "document", "doc", "source_document", "source_doc", "article", "paper",
        "session", "conversation", "dialogue", "dialog", "thread",
    )
    for end in ("", "_id")
)  # fmt: skip


def origins(examples: Sequence[Example], clusters: pl.Series) -> pl.DataFrame:
    """For each field that names a document or a session: which cluster has which of its values.

    Hashed, each pair once: ``field``, ``cluster``, ``value``.
    """
    names = dict.fromkeys(
        name
        for example in examples
        for fields in (example.slices, example.meta, example.labels)
        for name in fields
        if name.lower() in OF_DOCUMENTS
    )
    schema: dict[str, Any] = {"field": pl.String, "cluster": clusters.dtype, "value": pl.UInt64}
    frames = [pl.DataFrame(schema=schema)]
    for name in names:
        values = pl.Series([example.facet(name) for example in examples], dtype=pl.String)
        pairs = pl.DataFrame({"cluster": clusters, "value": values}).drop_nulls("value")
        hashed = pl.col("value").hash(seed=0)
        frames.append(
            pairs.select(pl.lit(name).alias("field"), "cluster", hashed).unique(maintain_order=True)
        )
    return pl.concat(frames)


# About how many examples a bucket has at most; of buckets on disk, one at a time is in memory.
EXAMPLES = 50_000

# Rows of a type with a field ``cluster``, a hash.
Rows = NDArray[np.void]


def bucketed(
    pieces: Iterable[Rows], examples: int, folder: Path | None
) -> Generator[Rows, None, None]:
    """The rows of a run, in buckets of consecutive hashes, which come in their order.

    How many there are follows from the number of examples alone, and each has its rows in the order
    of the data: whatever is summed over them is the same number, however the rows came.

    Args:
        folder: Where several buckets are kept, which nothing else is; None: in memory.
    """
    number = max(1, -(-examples // EXAMPLES))
    on_disk = folder if number > 1 else None
    in_memory: dict[int, list[Rows]] = defaultdict(list)
    dtype: np.dtype[Any] | None = None
    try:
        if on_disk is not None:
            shutil.rmtree(on_disk, ignore_errors=True)
            on_disk.mkdir()
        for rows in pieces:
            dtype = rows.dtype
            parts = part_of(rows["cluster"], number)
            order = np.argsort(parts, kind="stable")
            ends = np.cumsum(np.bincount(parts, minlength=number))
            for bucket, positions in enumerate(np.split(order, ends[:-1])):
                if not len(positions):
                    continue
                if on_disk is None:
                    in_memory[bucket].append(rows[positions])
                else:
                    file = on_disk / f"{bucket:06d}"
                    with room_for(file), file.open("ab") as stream:
                        stream.write(rows[positions].tobytes())
        if on_disk is None:
            for bucket in sorted(in_memory):
                yield np.concatenate(in_memory.pop(bucket))
        else:
            for file in sorted(on_disk.iterdir()):
                yield np.fromfile(file, dtype=dtype)
                file.unlink()
    finally:
        if on_disk is not None:
            shutil.rmtree(on_disk, ignore_errors=True)


# Each group with its clusters, which stand together.
OfGroups = Sequence[tuple[int, slice]]

SCORE = {
    "column": pl.UInt32,
    "value": pl.Float64,
    "status": pl.UInt8,
    "label": pl.String,
    "reason": pl.String,
}

# Consecutive examples with their scores: facets, scores, and scores that are alike.
#
# Facets are a row an example: ``system``, ``cluster`` (a hash), and a ``by_column`` for each field.
# Scores are ``SCORE``, with columns numbered from 0. The rows of a column are one for each example,
# in the order of the facets; their value is null unless their status is VALUE. A column whose
# scores are all alike has a single row, for all examples.
ScorePiece = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


@dataclass(frozen=True, slots=True, eq=False)
class Summed:
    """The sums over each group, which has the place that ``EstimateGroups`` gives it.

    Attributes:
        moments: By column and group; of those in which some score has a value.
        totals: Of the columns that a composite of means combines, by composite and group.
        table: How the scores came out, as ``count_of_each`` gives it.
        counts: The same by column and group, where something is counted.
    """

    moments: Mapping[tuple[int, int], ClusterMoments]
    totals: Mapping[tuple[str, int], ClusterTotals]
    table: pl.DataFrame
    counts: Mapping[tuple[int, int], GroupCounts]

    def moments_of(self, column: int, group: int) -> ClusterMoments:
        return self.moments.get((column, group), NO_CLUSTERS)

    def counts_of(self, column: int, group: int) -> GroupCounts:
        return self.counts.get((column, group), NO_SCORES)


def summed(
    pieces: Iterable[ScorePiece], groups: EstimateGroups, columns: Mapping[str, int],
    metrics: Sequence[Metric], *, examples: int, folder: Path | None,
) -> Summed:  # fmt: skip
    """Sum scores by group and cluster.

    Args:
        columns: The number of each column, by the text form of the metric or component.
        metrics: Those whose composites of means are summed too.
    """
    counted = Gathered(count_of_each)
    moments: dict[tuple[int, int], ClusterMoments] = {}
    totals: dict[tuple[str, int], ClusterTotals] = {}
    composites = {
        str(metric): parts_of(metric, columns)
        for metric in metrics
        if isinstance(metric, Composite) and metric.over_means
    }

    def rows_of_pieces() -> Iterator[Rows]:
        for facets, scores, alike in pieces:
            codes = groups.codes(facets)
            if not scores["column"].is_sorted():
                scores = scores[np.argsort(scores["column"].to_numpy(), kind="stable")]
            for rows_of_kind in counted_scores(groups, codes, scores, alike):
                counted.add(rows_of_kind)
            yield _rows(facets["cluster"], codes, scores, alike, len(columns))

    with closing(bucketed(rows_of_pieces(), examples, folder)) as buckets:
        for bucket in buckets:
            _add_bucket(bucket, groups, composites, moments, totals)
    table = counted.rows()
    return Summed(moments, totals, table, counts_by_group(table))


def _add_bucket(
    rows: Rows, groups: EstimateGroups, composites: Mapping[str, Sequence[int]],
    moments: dict[tuple[int, int], ClusterMoments], totals: dict[tuple[str, int], ClusterTotals],
) -> None:  # fmt: skip
    values = rows["values"]
    valued = np.flatnonzero(~np.isnan(values).all(axis=0)).tolist()
    for of_rows, keys, of_groups in _cells(rows, groups):
        for column in valued:
            clusters = clusters_by(of_rows, values[:, column], len(keys))
            for group, cells in of_groups:
                some = clusters.of(cells)
                new = some.of(some.counts > 0).moments
                moments[column, group] = moments.get((column, group), NO_CLUSTERS) + new
        for name, parts in composites.items():
            sums = [clusters_by(of_rows, values[:, part], len(keys)) for part in parts]
            for group, cells in of_groups:
                total = totals_of(keys[cells], [part.of(cells) for part in sums])
                before = totals.get((name, group))
                totals[name, group] = total if before is None else before + total


def parts_of(composite: Composite, columns: Mapping[str, int]) -> list[int]:
    """The columns of a composite's components."""
    return [columns[str(component)] for component in composite.components().values()]


def _rows(
    clusters: pl.Series, codes: NDArray[np.int32], scores: pl.DataFrame, alike: pl.DataFrame,
    columns: int,
) -> Rows:  # fmt: skip
    """Return the rows of a bucket, one for each example; NaN stands for no value."""
    of_codes = ("codes", np.int32, codes.shape[1:])
    of_values = ("values", np.float64, (columns,))
    rows = np.empty(len(clusters), dtype=np.dtype([("cluster", np.uint64), of_codes, of_values]))
    rows["cluster"] = clusters.to_numpy()
    rows["codes"] = codes
    present = scores["column"].gather_every(max(1, len(clusters))).to_numpy()
    if len(present) + alike.height != columns:
        raise ValueError(f"{len(present)} and {alike.height} columns of scores, of {columns}")
    values = scores["value"].to_numpy().reshape(len(present), len(clusters))
    for column, scored in [
        *zip(present, values, strict=True),
        *alike.select("column", "value").rows(),
    ]:
        rows["values"][:, column] = np.nan if scored is None else scored
    return rows


def _cells(rows: Rows, groups: EstimateGroups) -> Iterator[tuple[Ints, Keys, OfGroups]]:
    """Yield the clusters within each group of one kind; those of a group stand together.

    Each item is the cluster of every row, the key of every cluster, and each group's clusters.
    """
    names, cluster = np.unique(rows["cluster"], return_inverse=True)
    for group in groups.places(rows["codes"]):
        cells, of_rows = np.unique(group * len(names) + cluster, return_inverse=True)
        places, starts = np.unique(cells // len(names), return_index=True)
        slices = map(slice, starts, [*starts[1:], len(cells)])
        yield of_rows, names[cells % len(names)], list(zip(places.tolist(), slices, strict=True))
