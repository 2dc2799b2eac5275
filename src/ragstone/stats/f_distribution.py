"""F distribution: quantiles of a ratio of two variance estimates."""

from ragstone.core.errors import InputError

from .beta import beta_quantile

KNOWN = 1e6
"""Degrees of freedom that stand for a known variance: its error is well below 1 %."""


def f_quantile(q: float, above: float, below: float = KNOWN) -> float:
    """The ``q`` quantile of the ratio of two independent estimates of the same variance.

        below · x / (above · (1 - x)),   x the quantile of Beta(above / 2, below / 2)

    Args:
        q: In (0, 1).
        above: Degrees of freedom of the numerator, above 0.
        below: Degrees of freedom of the denominator; by default it is a known variance, which
            gives the quantile of chi² over its degrees of freedom.

    Raises:
        InputError: An argument is out of its range.

    Source: Abramowitz & Stegun (1964), 26.6.2.
    """
    if not (0 < q < 1 and above > 0 and below > 0):
        raise InputError(f"F needs q in (0, 1) and two numbers above 0, got {q}, {above}, {below}.")
    x = beta_quantile(q, above / 2, below / 2)
    return below * x / (above * (1 - x))
