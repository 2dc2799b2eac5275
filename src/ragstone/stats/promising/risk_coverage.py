"""Risk and coverage: the share of wrong answers among those given, by the share given."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.codes import Floats, sums_by


@dataclass(frozen=True, eq=False, slots=True)
class RiskCoverage:
    """What is wrong among the answers whose score reaches a threshold, for every threshold.

    Attributes:
        thresholds: Shape (m,), the distinct scores from the highest down.
        coverage: Shape (m,), the share of rows with a score of at least the threshold, in (0, 1].
        risk: Shape (m,), the share of wrong ones among these.
        area: The mean of the risk over all numbers of rows that may be covered, in [0, 1]; lower
            is better. None for no rows.
        best: The area if every wrong row had a lower score than every right one.
        blind: The area of a score that tells nothing: the share of wrong rows.
    """

    thresholds: Floats
    coverage: Floats
    risk: Floats
    area: float | None
    best: float | None
    blind: float | None


def risk_coverage(scores: ArrayLike, wrong: ArrayLike) -> RiskCoverage:
    """The curve of a score by which one abstains, and the area under it.

        area = mean over k = 1..n of (wrong among the k rows of the highest scores) / k

    Rows of one score are covered in random order: the area is its mean over all orders.

    Args:
        scores: Shape (n,), finite.
        wrong: Shape (n,), true or 1 for a row that should not have been covered.

    Raises:
        InputError: Wrong shapes or numbers.

    Source: El-Yaniv & Wiener (2010), "On the Foundations of Noise-free Selective Classification";
    Geifman, Uziel & El-Yaniv (2019), "Bias-Reduced Uncertainty Estimation for Deep Neural
    Classifiers", for the area and its least value.
    """
    values, false = np.asarray(scores, dtype=np.float64), np.asarray(wrong)
    if values.ndim != 1 or values.shape != false.shape:
        raise InputError(f"Scores and labels must be of one shape (n,): {values.shape}, "
                         f"{false.shape}.")  # fmt: skip
    if not np.isfinite(values).all() or not np.isin(false, (0, 1)).all():
        raise InputError("Scores must be finite and labels true or false.")
    n = len(values)
    if n == 0:
        nothing = np.empty(0)
        return RiskCoverage(nothing, nothing, nothing, None, None, None)
    thresholds, place = np.unique(-values, return_inverse=True)
    size = sums_by(place, np.ones(n))
    faults = sums_by(place, false.astype(np.float64))
    covered, found = size.cumsum(), faults.cumsum()
    # Within a group of one score, the expected number of wrong rows rises evenly.
    k = np.arange(1, n + 1)
    group = np.repeat(np.arange(len(size)), size.astype(np.int64))
    before = found[group] - faults[group]
    expected = before + faults[group] * (k - (covered[group] - size[group])) / size[group]
    total = float(found[-1])
    best = np.maximum(k - (n - total), 0) / k
    return RiskCoverage(
        thresholds=-thresholds,
        coverage=covered / n,
        risk=found / covered,
        area=float((expected / k).mean()),
        best=float(best.mean()),
        blind=total / n,
    )
