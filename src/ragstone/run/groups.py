"""Groups: what estimates are of: all examples, systems, values of fields, and both together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]

ALL = 0
"""The place of the group of all examples."""


def by_column(field: str) -> str:
    """The name of the facets' column for a field, which cannot clash with other columns."""
    return f"by {field}"


@dataclass(frozen=True, slots=True)
class EstimateGroups:
    """The groups of a run, each with a place in this order.

    Args:
        systems: In order of appearance.
        values: Of each field that groups, sorted.
    """

    systems: Sequence[str]
    values: Mapping[str, Sequence[str]]

    def __iter__(self) -> Iterator[dict[str, str]]:
        """All examples, each system, each value of a field, and each within each system."""
        yield {}
        for system in self.systems:
            yield {"system": system}
        for name, values in self.values.items():
            for value in values:
                yield {name: value}
            if len(self.systems) > 1:
                for system in self.systems:
                    for value in values:
                        yield {"system": system, name: value}

    def codes(self, facets: pl.DataFrame) -> NDArray[np.int32]:
        """The place of each example's system and of its value of each field, (n, 1 + fields).

        Args:
            facets: ``system``, and a ``by_column`` for each field.
        """
        columns = {"system": self.systems}
        columns |= {by_column(name): values for name, values in self.values.items()}
        places = [
            facets[name].cast(pl.Enum(values)).to_physical().cast(pl.Int32).to_numpy()
            for name, values in columns.items()
        ]
        return np.stack(places, axis=1)

    def places(self, codes: NDArray[np.int32]) -> Iterator[Ints]:
        """The places of each example's groups, shape (n,): of each kind of group, it has one.

        Args:
            codes: As ``codes`` gives them.
        """
        system, *fields = codes.T.astype(np.int64)
        yield np.full(len(codes), ALL)
        yield 1 + system
        start = 1 + len(self.systems)
        for own, values in zip(fields, self.values.values(), strict=True):
            yield start + own
            start += len(values)
            if len(self.systems) > 1:
                yield start + system * len(values) + own
                start += len(self.systems) * len(values)


def groups_of(facets: pl.DataFrame, by: Sequence[str]) -> EstimateGroups:
    """The groups of these examples.

    Args:
        facets: ``system``, and a ``by_column`` for each field.
        by: The fields.
    """
    return EstimateGroups(
        facets["system"].unique(maintain_order=True).to_list(),
        {name: facets[by_column(name)].unique().sort().to_list() for name in by},
    )


def rows_of(group: Mapping[str, str]) -> pl.Expr:
    """Which examples are in a group."""
    columns = {one if one == "system" else by_column(one): value for one, value in group.items()}
    everything = pl.repeat(value=True, n=pl.len(), dtype=pl.Boolean)
    return pl.all_horizontal(everything, *(pl.col(name) == one for name, one in columns.items()))
