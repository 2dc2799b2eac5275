"""McNemar's exact test: of the pairs on which one of two succeeds alone, is it mostly the same?"""

import sys

from ragstone.errors import InputError
from ragstone.stats.beta import beta_cdf


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact binomial p that each of two systems succeeds alone as often as the other.

        min(1, 2 · P(X <= min(only_a, only_b))),   X ~ Binomial(only_a + only_b, 1/2)

    Pairs are independent: where they share clusters use ``sign_flip_test``,
    which for independent pairs is the same test.

    Args:
        only_a: Pairs on which the first alone succeeds, 0 or more.
        only_b: Pairs on which the second alone does.

    Returns:
        In (0, 1]: what is too small for a number is the smallest one.

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
