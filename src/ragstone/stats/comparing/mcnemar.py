"""McNemar's exact test: compares two rates on the same rows by the pairs on which they differ."""

import sys

from ragstone.core.errors import InputError
from ragstone.stats.beta import beta_cdf


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact binomial p-value for the hypothesis that two rates are equal.

        min(1, 2 · P(X <= min(only_a, only_b))),   X ~ Binomial(only_a + only_b, 1/2)

    Pairs must be independent: for clustered pairs use ``sign_flip_test``, which
    for independent pairs is the same test.

    Args:
        only_a: Pairs on which only the first succeeds, 0 or more.
        only_b: Pairs on which only the second succeeds, 0 or more.

    Returns:
        In (0, 1]; at least the smallest positive float.

    Raises:
        InputError: A negative count.

    Source: McNemar (1947), "Note on the sampling error of the difference between
    correlated proportions or percentages"; the exact form is the sign test.
    """
    if only_a < 0 or only_b < 0:
        raise InputError(f"Counts cannot be negative, got {only_a} and {only_b}.")
    fewer, more = sorted((only_a, only_b))
    if fewer == more:
        return 1.0
    tail = beta_cdf(0.5, more, fewer + 1)
    return min(1.0, max(2 * tail, sys.float_info.min))
