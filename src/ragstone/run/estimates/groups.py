"""Groups: which examples an estimate is made for, and counts of the scores in each group."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.judgements import MISSING, UNDEFINED, VALUE

Ints = NDArray[np.int64]

# The place of the group of all examples.
ALL = 0


NO_VALUE = "(none)"


def by_column(field: str) -> str:
    """The name of the facets' column for a field, which cannot clash with other columns."""
    return f"by {field}"


@dataclass(frozen=True, slots=True)
class EstimateGroups:
    """The groups of a run, each with a place in this order."""

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
        """The place of each example's system and of its value of each field, (n, 1 + fields)."""
        fields = zip(map(by_column, self.values), self.values.values(), strict=True)
        places = facets.select(
            pl.col(name).cast(pl.Enum(values)).to_physical().cast(pl.Int32)
            for name, values in (("system", self.systems), *fields)
        )
        return places.to_numpy()

    def places(self, codes: NDArray[np.int32]) -> Iterator[Ints]:
        """The places of each example's groups, shape (n,): of each kind of group, it has one."""
        system, *fields = codes.T.astype(np.int64)
        yield np.full(len(codes), ALL)
        yield 1 + system
        start = 1 + len(self.systems)
        for codes_of_field, values in zip(fields, self.values.values(), strict=True):
            yield start + codes_of_field
            start += len(values)
            if len(self.systems) > 1:
                yield start + system * len(values) + codes_of_field
                start += len(self.systems) * len(values)


def groups_of(facets: pl.DataFrame, by: Sequence[str]) -> EstimateGroups:
    return EstimateGroups(
        facets["system"].unique(maintain_order=True).to_list(),
        {name: facets[by_column(name)].unique().sort().to_list() for name in by},
    )


def rows_of(group: Mapping[str, str]) -> pl.Expr:
    everything = pl.repeat(value=True, n=pl.len(), dtype=pl.Boolean)
    names = {name: name if name == "system" else by_column(name) for name in group}
    return pl.all_horizontal(everything, *(pl.col(names[name]) == group[name] for name in group))


# Flags that say something of one score, and are not counted.
NOTES = ("best_reference=", "components=", "weight_coverage=")

# Rows are put together by key once there are this many more than twice as many as were kept.
AT_ONCE = 500_000


class Gathered:
    """Tables that come one by one, put together now and then so that few rows are held."""

    def __init__(self, together: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        self._together = together
        self._parts: list[pl.DataFrame] = []
        self._kept = self._rows = 0

    def add(self, rows: pl.DataFrame) -> None:
        self._parts.append(self._together(rows))
        self._rows += self._parts[-1].height
        if self._rows > 2 * self._kept + AT_ONCE:
            self.rows()

    def rows(self) -> pl.DataFrame:
        """The rows so far; at least one table was added."""
        if len(self._parts) > 1:
            self._parts = [self._together(pl.concat(self._parts))]
        self._kept = self._rows = self._parts[0].height
        return self._parts[0]


KEYS = ["column", "group", "status", "reason", "label"]


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Counts of the scores of a group; see ``Estimate``."""

    n: int
    n_undefined: int
    n_missing: int
    labels: Mapping[str, int]
    flags: Mapping[str, int]
    reasons: Mapping[str, int]

    @property
    def total(self) -> int:
        return self.n + self.n_undefined + self.n_missing

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


NO_SCORES = GroupCounts(0, 0, 0, {}, {}, {})


def count_of_each(rows: pl.DataFrame) -> pl.DataFrame:
    """The count of each column, group, status, reason and label, in ``len``."""
    return rows.group_by(KEYS).agg(pl.col("len").sum())


def counted_scores(
    groups: EstimateGroups, codes: NDArray[np.int32], scores: pl.DataFrame, alike: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    """Rows for ``count_of_each``, a table for each kind of group."""
    names = list(map("code {}".format, range(codes.shape[1])))
    keys = ["column", "status", "reason", "label"]
    times = scores.height // max(1, len(codes))
    repeated = pl.DataFrame(np.tile(codes, (times, 1)), schema=names, orient="row")
    few = scores.select(keys).hstack(repeated).group_by(*keys, *names).len()
    if alike.height:
        examples = pl.DataFrame(codes, schema=names, orient="row").group_by(names).len()
        few = pl.concat([few, alike.select(keys).join(examples, how="cross")])
    few = few.with_columns(pl.col("len").cast(pl.Int64))
    for group in groups.places(few.select(names).to_numpy()):
        yield few.with_columns(group=pl.Series(group))


# Status, reason and label of scores, and how many there are.
CountedScores = tuple[int, str | None, str | None, int]


def counts_by_group(table: pl.DataFrame) -> dict[tuple[int, int], GroupCounts]:
    """The counts of each column and group, from a table of ``count_of_each``."""
    rows_of = defaultdict[tuple[int, int], list[CountedScores]](list)
    for column, group, status, reason, label, count in table.select(*KEYS, "len").iter_rows():
        rows_of[column, group].append((status, reason, label, count))
    return {place: _counts_of(rows) for place, rows in rows_of.items()}


def _counts_of(rows: Iterable[CountedScores]) -> GroupCounts:
    statuses, labels, by_reason = Counter[int](), Counter[str](), Counter[tuple[str, int]]()
    for status, reason, label, count in rows:
        statuses[status] += count
        if label is not None:
            labels[label] += count
        if reason is not None:
            by_reason[reason, status] += count
    flags, reasons = Counter[str](), Counter[str]()
    most_frequent = sorted(by_reason.items(), key=lambda item: (item[1], item[0][0]), reverse=True)
    for (reason, status), count in most_frequent:
        if status == VALUE:
            for flag in reason.split(","):
                if not flag.startswith(NOTES):
                    flags[flag] += count
        else:
            reasons[reason] += count
    return GroupCounts(
        statuses[VALUE], statuses[UNDEFINED], statuses[MISSING], dict(sorted(labels.items())),
        dict(flags), dict(reasons),
    )  # fmt: skip
