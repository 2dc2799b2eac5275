"""Ids: which ids of examples occurred before, in 32 bytes each, however many there are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Texts = Sequence[str] | pl.Series

FIRST, SECOND = 0, 1
"""Seeds: two hashes of 64 bits tell a hundred million ids apart with a chance of error below
1e-22."""

LONGEST = 200_000
"""Ids from which on a run is not merged with others, which would take its memory three times."""

NO_SYSTEM = ""
"""Of an example whose id cannot be that of a question."""


@dataclass(frozen=True, slots=True, eq=False)
class IdBlock:
    """Some ids, hashed, each array of shape (n,).

    Attributes:
        first: A hash of each id, and ``second`` another.
        systems: A hash of the system that the example names beside its id; 0 for none.
        places: The line or row of each.
    """

    first: Hashes
    second: Hashes
    systems: Hashes
    places: NDArray[np.int64]

    @classmethod
    def of(cls, ids: Texts, systems: Texts, places: Sequence[int] | NDArray[np.int64]) -> Self:
        """Hash them."""
        texts = pl.Series(ids, dtype=pl.String)
        of_systems = pl.Series(systems, dtype=pl.String)
        named = (of_systems != NO_SYSTEM).to_numpy()
        return cls(
            texts.hash(FIRST).to_numpy(),
            texts.hash(SECOND).to_numpy(),
            np.where(named, of_systems.hash(FIRST).to_numpy() | np.uint64(1), np.uint64(0)),
            np.asarray(places, dtype=np.int64),
        )

    def at(self, chosen: NDArray[np.intp]) -> Self:
        """Those at some indices."""
        return type(self)(
            self.first[chosen], self.second[chosen], self.systems[chosen], self.places[chosen]
        )

    @classmethod
    def joined(cls, blocks: "Sequence[IdBlock]") -> Self:
        """All of them, one after the other."""
        blocks = [cls.of((), (), ()), *blocks]
        return cls(
            np.concatenate([one.first for one in blocks]),
            np.concatenate([one.second for one in blocks]),
            np.concatenate([one.systems for one in blocks]),
            np.concatenate([one.places for one in blocks]),
        )

    def beside(self, other: "IdBlock") -> "IdBlock":
        """These and others, sorted by their first hash."""
        both = IdBlock.joined([self, other])
        return both.at(np.argsort(both.first, kind="stable"))


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Which ids of a block occurred before.

    Attributes:
        places: Where each was first; -1 for one that is new. Shape (n,).
        over_systems: Whether an id occurs under several systems, so that it is that of a question.
    """

    places: NDArray[np.int64]
    over_systems: bool


@dataclass(slots=True)
class SeenIds:
    """The ids so far, in sorted runs: each is at least twice as long as the next, or long."""

    _runs: list[IdBlock] = field(default_factory=list)

    def look_up(self, block: IdBlock) -> Repeats:
        """Which ids of a block occurred before, in it or in others; those that are new are kept."""
        _, earliest, whose = np.unique(block.first, return_index=True, return_inverse=True)
        own = earliest[whose]
        places = np.where(own < np.arange(len(own)), block.places[own], np.int64(-1))
        systems = _named_first(block.systems, whose)
        over_systems = _differ(block.systems, systems)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run.first, block.first), len(run.first) - 1)
            same = (run.first[at] == block.first) & (run.second[at] == block.second)
            places = np.where(same, run.places[at], places)
            over_systems |= _differ(systems[same], run.systems[at[same]])
            lacking = same & (run.systems[at] == 0)
            run.systems[at[lacking]] = systems[lacking]
        new = np.flatnonzero(places < 0)
        if len(new):
            there = IdBlock(block.first, block.second, systems, block.places)
            self._keep(there.at(new[np.argsort(block.first[new], kind="stable")]))
        return Repeats(places, over_systems)

    def all(self) -> IdBlock:
        """Every id that was looked up, once."""
        return IdBlock.joined(self._runs)

    def _keep(self, run: IdBlock) -> None:
        while self._runs and len(self._runs[-1].first) < min(2 * len(run.first), LONGEST):
            run = self._runs.pop().beside(run)
        self._runs.append(run)


def _named_first(systems: Hashes, whose: NDArray[np.intp]) -> Hashes:
    """The first system that any row of the same id names; 0 if none does.

    Args:
        systems: Of each row.
        whose: The id of each row.
    """
    named = np.flatnonzero(systems)[::-1]
    of_ids = np.zeros(len(systems), np.uint64)
    of_ids[whose[named]] = systems[named]
    return of_ids[whose]


def _differ(systems: Hashes, others: Hashes) -> bool:
    return bool(((systems != others) & (systems != 0) & (others != 0)).any())
