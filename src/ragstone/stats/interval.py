"""Interval: a confidence interval with its level and method."""

from dataclasses import dataclass
from typing import Literal

from ragstone.core.errors import InputError

Method = Literal[
    "wilson",
    "clopper_pearson",
    "cluster_wilson",
    "cluster_clopper_pearson",
    "t",
    "cluster_t",
    "bounded_wilson",
    "cluster_bootstrap",
    "multinomial_bootstrap",
    "basic_bootstrap",
    "ratio_delta",
    "newcombe",
    "square_and_add",
    "poststratified_wilson",
    "ppi_plus_plus",
    "rogan_gladen",
    "item_bootstrap",
    "linearised_wilson",
    "betting_sequence",
    "asymptotic_sequence",
    "bradley_terry",
    "delong",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval: two ends with ``low <= high``, in the unit of the estimate.

    ``level`` is the share of such intervals that should hold the true value, in
    (0, 1); ``method`` names how the ends were computed.
    """

    low: float
    high: float
    level: float
    method: Method

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"An interval needs low <= high, got {self.low} and {self.high}.")
        upper_quantile(self.level)


def upper_quantile(level: float) -> float:
    """The cumulative probability at the upper end of a central interval: (1 + level) / 2.

    Raises:
        InputError: ``level`` is not inside (0, 1).
    """
    if not 0 < level < 1:
        raise InputError(f"The level of an interval must lie inside (0, 1), got {level}.")
    return (1 + level) / 2


def ends_of(interval: Interval | None, prefix: str = "") -> dict[str, float | None]:
    """``low`` and ``high`` as plain data with a prefix; both None if there is no interval.

    >>> ends_of(Interval(0.25, 0.5, 0.95, "wilson"), "kappa_"), ends_of(None)
    ({'kappa_low': 0.25, 'kappa_high': 0.5}, {'low': None, 'high': None})
    """
    low = None if interval is None else interval.low
    high = None if interval is None else interval.high
    return {f"{prefix}low": low, f"{prefix}high": high}


def clamp(value: float, low: float | None, high: float | None) -> float:
    """The value limited to a range; None means no bound."""
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return value
