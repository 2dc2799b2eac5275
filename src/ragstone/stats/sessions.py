"""Sessions: figures of whole conversations from the scores of their turns.

Each figure is one number a session: its worst turn, the mean of its turns, whether it was resolved.
A turn has a score, has none by definition (undefined), or has one that is not known (missing). What
the missing ones leave open is kept as the least and the greatest that the figure could be.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

from .bootstrap import ratio_of_sums
from .cluster_means import mean_interval
from .distributions import Interval
from .weights_and_groups import Bools, Floats, Ints, row_weights

Better = Literal["+", "-", "0"]
# A session of one turn is no conversation, and has no figure of its own.
FEWEST_TURNS = 2


@dataclass(frozen=True, slots=True, eq=False)
class TurnScores:
    """A score for each turn, shape (n,).

    Args:
        values: NaN where there is none.
        missing: Whether there would be one if it were known; where both fail, it is undefined.
        better: ``"+"`` if higher scores are better, ``"-"`` if lower ones are.
    """

    values: Floats
    missing: Bools
    low: float | None
    high: float | None
    better: Better

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.values.shape != self.missing.shape:
            raise InputError(
                "values and missing must be of one shape (n,), got "
                f"{self.values.shape} and {self.missing.shape}."
            )
        if (self.missing & np.isfinite(self.values)).any():
            raise InputError("A turn cannot have a score and miss it.")

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest possible score, infinite without a bound."""
        return (
            -np.inf if self.low is None else self.low,
            np.inf if self.high is None else self.high,
        )

    @property
    def known(self) -> Bools:
        """Show which turns have a score."""
        return np.isfinite(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class SessionValues:
    """A figure of each session, shape (S,).

    Attributes:
        values: NaN where there is none.
        missing: Whether missing turns leave it open; where both fail, it is undefined.
        least: The least that it could be; infinite where it has no bound, NaN where undefined.
        greatest: The greatest that it could be.
        turns: The row of the turn that makes it: the worst known one; -1 for none.
    """

    values: Floats
    missing: Bools
    least: Floats
    greatest: Floats
    turns: Ints


@dataclass(frozen=True, slots=True)
class SessionEstimate:
    """The mean of a figure over sessions, or the share of sessions for a yes or no.

    Attributes:
        value: None if no session has the figure.
        interval: Sessions are independent; None for fewer than two.
        n: Sessions with the figure; their number, whatever their weights.
        n_undefined: Sessions without it by definition, those of a single turn among them.
        n_missing: Sessions in which missing turns leave it open.
        worst: The mean if every missing turn were as bad as can be, by what is known of its
            session; None if that has no bound.
        best: The same, as good as can be.
    """

    value: float | None
    interval: Interval | None
    n: int
    n_undefined: int
    n_missing: int
    worst: float | None
    best: float | None


class Sessions:
    """The turns of each session in order.

    Args:
        sessions: Shape (n,). The session of each turn, in any type that sorts.
        order: Shape (n,). What its turns are ordered by, such as their times; equal ones stay in
            the order given. None: the order given.
        weights: Shape (n,). For sessions that were drawn, the inverse of the probability; the same
            for all turns of a session. Turns that were not drawn, in a session of which others
            were, are missing ones. None: all sessions are there.

    Attributes:
        ids: Shape (S,). The sessions.
        sizes: Shape (S,). How many turns each has.
        last: Shape (S,). The row of the last turn of each.
    """

    def __init__(
        self, sessions: ArrayLike, order: ArrayLike | None = None, weights: ArrayLike | None = None
    ) -> None:
        self.ids, code = np.unique(np.asarray(sessions), return_inverse=True)
        rows = len(code)
        by = np.zeros(rows) if order is None else np.asarray(order, dtype=np.float64)
        if by.shape != (rows,) or np.isnan(by).any():
            raise InputError(f"The order of {rows} turns must be {rows} numbers.")
        self._rows = np.lexsort((by, code))
        self.sizes = np.bincount(code, minlength=len(self.ids))
        self._starts = np.cumsum(self.sizes) - self.sizes
        self.last = self._rows[self._starts + self.sizes - 1] if rows else self._rows
        self.weights = self._weights(weights, code)

    def _weights(self, weights: ArrayLike | None, code: NDArray[np.intp]) -> Floats | None:
        if weights is None or not len(code):
            return None
        of_turns = row_weights(weights, len(code))
        first: Floats = of_turns[self._rows[self._starts]]
        if not np.allclose(of_turns, first[code], rtol=1e-9):
            raise InputError(
                "The turns of a session have one weight, the inverse of the probability that the "
                "session was drawn."
            )
        return first

    def worst(self, scores: TurnScores) -> SessionValues:
        """The score of the worst turn: the least where more is better, else the greatest.

        Undefined turns do not count. Where a turn is missing, the worst known one is the figure
        only if it is as bad as a score can be.

        Raises:
            InputError: Neither higher nor lower scores are better.
        """
        if scores.better == "0":
            raise InputError("Without a better end there is no worst turn.")
        sign = -1.0 if scores.better == "-" else 1.0
        floor, top = sorted(sign * end for end in scores.ends)
        signed = np.where(scores.known, sign * scores.values, np.inf)[self._rows]
        worst = self._reduced(np.minimum, signed)
        some = np.isfinite(worst)
        gaps = self._count(scores.missing) > 0
        turns = np.where(some, self._first_at(signed, worst), -1)
        settled = some & (~gaps | (worst <= floor))
        open_ = gaps & ~settled
        value = np.where(settled, worst, np.nan)
        bad = np.where(open_, floor, value)
        good = np.where(open_, np.where(some, worst, top), value)
        least, greatest = (bad, good) if sign > 0 else (-good, -bad)
        return self._several(sign * value, open_, least, greatest, turns)

    def mean(self, scores: TurnScores) -> SessionValues:
        """The mean score of the turns; undefined turns do not count, a missing one leaves it open.

        mean = sum of the scores / turns with a score
        """
        sums = self._sum(np.where(scores.known, scores.values, 0.0))
        counts, gaps = self._count(scores.known), self._count(scores.missing)
        open_ = gaps > 0
        rows = np.where(counts + gaps > 0, counts + gaps, np.nan)
        with np.errstate(invalid="ignore"):
            least, greatest = (
                np.where(open_, (sums + np.where(open_, gaps * end, 0.0)) / rows, sums / rows)
                for end in scores.ends
            )
        value = np.where(open_, np.nan, sums / rows)
        return self._several(value, open_, least, greatest, np.full(len(sums), -1))

    def resolved(
        self, answered: TurnScores, scores: TurnScores | None = None, bar: float | None = None
    ) -> SessionValues:
        """1 for a session whose last turn is answered, and reaches the bar if there is one; else 0.

        A known no settles it. Otherwise it is missing where the last turn misses one of the two,
        and undefined where that has no answer or no score by definition.

        Args:
            answered: 1 for a turn with an answer, 0 for one that abstains, refuses or asks back.
            scores: Of the metric that the bar is for.
            bar: The least score that will do, or the greatest where less is better.
        """
        parts = [(answered.values == 1, answered)]
        if bar is not None:
            if scores is None:
                raise InputError("A bar needs the scores that it is for.")
            enough = scores.values <= bar if scores.better == "-" else scores.values >= bar
            parts.append((enough, scores))
        last = self.last
        failed = np.any([part.known[last] & ~yes[last] for yes, part in parts], axis=0)
        gaps = np.any([part.missing[last] for _, part in parts], axis=0) & ~failed
        done = np.all([part.known[last] & yes[last] for yes, part in parts], axis=0)
        value = np.where(failed, 0.0, np.where(done, 1.0, np.nan))
        least, greatest = (np.where(gaps, end, value) for end in (0.0, 1.0))
        return self._several(value, gaps, least, greatest, last)

    def estimate(
        self,
        figure: SessionValues,
        *,
        rate: bool,
        low: float | None,
        high: float | None,
        better: Better,
        level: float = 0.95,
    ) -> SessionEstimate:
        """The mean of a figure over all sessions, each counted once, or by its weight.

            mean = sum of w · figure / sum of w    over the sessions that have it

        Source: Hájek (1971) for the weights; the intervals are those of ``mean_interval``, and with
        weights of ``ratio_of_sums``.
        """
        known = np.isfinite(figure.values)
        n, missing = int(known.sum()), int(figure.missing.sum())
        value, interval = self._mean(figure.values, known, rate, low, high, level)
        worst, best = value, value
        if missing:
            counted = known | figure.missing
            ends = [
                self._mean(end, counted, False, None, None, level)[0]
                if np.isfinite(end[counted]).all()
                else None
                for end in (figure.least, figure.greatest)
            ]
            worst, best = ends[::-1] if better == "-" else ends
        undefined = len(known) - n - missing
        return SessionEstimate(value, interval, n, undefined, missing, worst, best)

    def _mean(
        self,
        values: Floats,
        rows: Bools,
        rate: bool,
        low: float | None,
        high: float | None,
        level: float,
    ) -> tuple[float | None, Interval | None]:
        of = values[rows]
        if self.weights is None:
            ones = np.ones(len(of))
            mean = mean_interval(of, ones, of * of, rate=rate, low=low, high=high, level=level)
            return mean.value, mean.interval
        weights = self.weights[rows]
        ratio = ratio_of_sums(weights * of, weights, low=low, high=high, level=level)
        return ratio.value, ratio.interval

    def _several(
        self, values: Floats, missing: Bools, least: Floats, greatest: Floats, turns: Ints
    ) -> SessionValues:
        single = self.sizes < FEWEST_TURNS
        values, least, greatest = (
            np.where(single, np.nan, column) for column in (values, least, greatest)
        )
        return SessionValues(values, missing & ~single, least, greatest, turns)

    def _reduced(self, by: np.ufunc, ordered: Floats) -> Floats:
        return by.reduceat(ordered, self._starts) if len(ordered) else np.empty(0)

    def _sum(self, values: Floats) -> Floats:
        return self._reduced(np.add, values[self._rows])

    def _count(self, rows: Bools) -> Floats:
        return self._sum(rows.astype(np.float64))

    def _first_at(self, ordered: Floats, worst: Floats) -> Ints:
        rows = np.arange(len(ordered))
        at = np.where(ordered == np.repeat(worst, self.sizes), rows, len(ordered))
        first = np.minimum.reduceat(at, self._starts) if len(at) else at
        return self._rows[np.minimum(first, len(ordered) - 1)] if len(at) else first
