"""Labels left: how many more answers people must label, from what they said so far."""

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from ragstone.core.messages import reason
from ragstone.labels.names import named
from ragstone.labels.rated import Ends
from ragstone.labels.table import LabelTable
from ragstone.stats.planning.sample_size import mean_sample_size, pilot
from ragstone.stats.weights_and_groups import kish_size

from .label_sizes import FEWEST


@dataclass(frozen=True, slots=True)
class LabelsLeft:
    """How many labels a mean still needs.

    Attributes:
        label: Its name in files.
        half_width: Of the interval that is wanted, in the unit of the label.
        so_far: How many examples, or parts of them, have a label on which people are not split.
        needed: How many it takes in all; None if that cannot be told.
        why: The reason why it cannot.
    """

    label: str
    half_width: float
    so_far: int
    needed: int | None
    why: str | None = None

    @property
    def left(self) -> int | None:
        """How many are still to be labelled; None if that cannot be told."""
        return None if self.needed is None else max(0, self.needed - self.so_far)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "left": self.left}


def labels_left(
    table: LabelTable,
    *,
    half_width: float,
    clusters: Mapping[str, Hashable] | None = None,
    ends: Mapping[str, Ends] | None = None,
    level: float = 0.95,
) -> tuple[LabelsLeft, ...]:
    """How many labels the mean of each label still needs, without a judge's help.

    With a judge's scores of all examples it takes fewer, see ``label_size``.

    Planned with the labels so far as a pilot, for an interval for one look that is no wider on
    average: of labels in words for the share that needs the most, of numbers for the mean, if their
    ends are known. Where some were likelier to be labelled than others, as many more as such labels
    are worth less.

    Args:
        table: The labels so far; those on which people are split are left out.
        half_width: Of the interval that is wanted; of numbers the share of their range.
        clusters: Maps an example to its cluster, such as its question.
        ends: For a label that is a number the least and the greatest that can be said.
        level: Of the interval, in (0, 1).

    Raises:
        InputError: A half-width or a level beyond its range.
    """
    combined = table.adjudicated().filter(~pl.col("tie"))
    found = []
    for (kind, column), scale in table.scales.items():
        rows = combined.filter(pl.col("kind") == kind, pl.col("column") == column)
        name = named(kind, column).shown
        if scale == "nominal":
            least, most, values = 0.0, 1.0, _shares(rows["value"])
        elif name in (ends or {}):
            (least, most), values = (ends or {})[name], rows["number"]
        else:
            continue
        shares = (values - least) / (most - least)
        needed, why = _needed(rows, shares, clusters or {}, half_width, scale == "nominal", level)
        found.append(LabelsLeft(name, half_width * (most - least), rows.height, needed, why))
    return tuple(found)


def _shares(said: pl.Series) -> pl.Series:
    """Whether each is the label whose share is nearest to a half, and so needs the most."""
    counts = said.value_counts()
    apart = (pl.col("count") - len(said) / 2).abs()
    nearest = counts.sort(apart, "value").head(1)["value"]
    return said.is_in(nearest.implode()).cast(pl.Float64)


def _needed(
    rows: pl.DataFrame,
    shares: pl.Series,
    clusters: Mapping[str, Hashable],
    half_width: float,
    of_words: bool,
    level: float,
) -> tuple[int | None, str | None]:
    of = pl.Series([str(clusters.get(id, f"\0{id}")) for id in rows["example_id"]], dtype=pl.String)
    if of.n_unique() < FEWEST:
        return None, reason("too_few_to_plan", n=of.n_unique(), least=FEWEST)
    size = mean_sample_size(
        pilot(shares.to_numpy(), of.to_numpy()),
        half_width,
        rate=of_words,
        low=0.0,
        high=1.0,
        level=level,
    )
    assert size is not None, "shares have two ends"
    chances = rows["inclusion_probability"]
    worth = 1.0 if chances.null_count() else kish_size(1 / chances.to_numpy()) / rows.height
    return round(size.rows / worth), None
