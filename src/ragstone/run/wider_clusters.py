"""Wider clusters: fields, such as a document or session, whose values hold several questions.

Questions about one document are correlated. Intervals that treat them as
independent are then too narrow, and the run says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ragstone.core.parquet import scan_parquet
from ragstone.data import Example
from ragstone.data.example import SESSION

from .distinct import Distinct
from .written import collect

FINE = ("id", "question_id", SESSION)
"""What may be clustered by without a thought of what several questions or sessions share."""

OF_DOCUMENTS = frozenset(
    f"{name}{end}"
    for name in (
        "document", "doc", "source_document", "source_doc", "article", "paper",
        "session", "conversation", "dialogue", "dialog", "thread",
    )
    for end in ("", "_id")
)  # fmt: skip
"""Names under which data keep where a question comes from; upper or lower case is the same."""

LEAST_SHARE = 0.5
"""Of the clusters must have the field: fewer are an aside, not how the data were drawn."""


@dataclass(frozen=True, slots=True)
class WiderClusters:
    """``clusters`` of all ``of`` clusters come from fewer ``values`` of a field."""

    field: str
    clusters: int
    values: int
    of: int


def origins(examples: Sequence[Example], clusters: pl.Series) -> pl.DataFrame:
    """For each field that names a document or a session: which cluster has which of its values.

    Hashed, each pair once: ``field``, ``cluster``, ``value``.

    Args:
        examples: Of one block.
        clusters: The cluster of each, hashed.
    """
    names = dict.fromkeys(
        name
        for one in examples
        for place in (one.slices, one.meta, one.labels)
        for name in place
        if name.lower() in OF_DOCUMENTS
    )
    found = [
        pl.DataFrame(
            {
                "field": pl.repeat(name, len(examples), dtype=pl.String, eager=True),
                "cluster": clusters,
                "value": pl.Series([one.facet(name) for one in examples], dtype=pl.String),
            }
        )
        .drop_nulls("value")
        .with_columns(pl.col("value").hash(seed=0))
        .unique()
        for name in names
    ]
    empty = pl.DataFrame(schema={"field": pl.String, "cluster": clusters.dtype, "value": pl.UInt64})
    return pl.concat([empty, *found])


def widest_clusters(files: Iterable[Path], clusters: int) -> WiderClusters | None:
    """The field that groups the clusters into the fewest groups; None if none does.

    Each cluster lies in one value of it, and some value holds several clusters.

    Args:
        files: Of ``origins``, of all shards; a shard without such a field has none.
        clusters: How many there are, with such a field or without.
    """
    fields = [one for one in _nested(list(files), clusters) if 1 < one.values < one.clusters]
    return min(fields, key=lambda one: one.values, default=None)


def _nested(files: list[Path], clusters: int) -> Iterator[WiderClusters]:
    """One field at a time, to bound memory."""
    if not files:
        return
    names = {name for file in files for name in _read(file, pl.col("field").unique())["field"]}
    for name in sorted(names):
        pairs = Distinct("cluster", "value")
        for file in files:
            pairs.add(_read(file, pl.col("cluster", "value").filter(pl.col("field") == name)))
        own = pairs.rows()
        there = own["cluster"].n_unique()
        if there == own.height and there >= LEAST_SHARE * clusters:
            yield WiderClusters(name, there, own["value"].n_unique(), clusters)


def _read(file: Path, columns: pl.Expr) -> pl.DataFrame:
    return collect(scan_parquet(file).select(columns), file)
