"""F distribution: the quantiles of a ratio of two variances."""

from ragstone.errors import InputError

from .beta import beta_quantile

KNOWN = 1e6
"""A variance with so many degrees of freedom is known, to well below 1 %."""


def f_quantile(q: float, above: float, below: float = KNOWN) -> float:
    """The ratio of two estimates of one variance below which a share ``q`` of them lies.

        below · x / (above · (1 - x)),   x the quantile of Beta(above / 2, below / 2)

    Args:
        q: In (0, 1).
        above: Degrees of freedom of the variance above the line, above 0.
        below: Of that below it; left out where it is known, for chi² over its degrees of freedom.

    Raises:
        InputError: An argument is out of its range.

    Source: Abramowitz & Stegun (1964), 26.6.2.
    """
    if not (0 < q < 1 and above > 0 and below > 0):
        raise InputError(f"F needs q in (0, 1) and two numbers above 0, got {q}, {above}, {below}.")
    x = beta_quantile(q, above / 2, below / 2)
    return below * x / (above * (1 - x))
