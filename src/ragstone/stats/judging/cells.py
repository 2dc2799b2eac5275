"""Bootstrap intervals for statistics of a contingency table."""

from collections.abc import Callable

import numpy as np

from ragstone.core.errors import InputError
from ragstone.stats.bootstrap import cluster_bootstrap, percentile_interval
from ragstone.stats.codes import Codes, Floats, Ints, codes_of
from ragstone.stats.interval import Interval, upper_quantile


def cell_bootstrap(
    cells: Ints,
    n_cells: int,
    combine: Callable[[Floats], Floats],
    *,
    weights: Floats | None = None,
    clusters: Codes | None,
    seed: int,
    resamples: int,
    level: float,
) -> Interval | None:
    """Percentile bootstrap for a function of the shares of the cells.

    Whole clusters are resampled; for independent rows of equal weight the table is
    drawn from a multinomial, which costs the same for ten rows and ten million.

    Args:
        cells: Shape (n,), the cell of each row, from 0 to ``n_cells`` - 1.
        n_cells: Number of cells.
        combine: Takes shares of shape (B, n_cells), returns finite numbers of
            shape (B,).
        weights: Shape (n,), with mean 1; None if all are equal.
        clusters: Shape (n,); None if rows are independent.
        seed: The same seed gives the same draws on every machine.
        resamples: Number of resamples.
        level: In (0, 1).

    Returns:
        The interval; None for fewer than two rows or clusters, or if both ends
        coincide.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap",
    chapters 8 and 13.
    """
    upper_quantile(level)
    n = len(cells)
    if clusters is not None or weights is not None:
        codes = np.arange(n) if clusters is None else codes_of(clusters)
        if len(codes) != n:
            raise InputError(f"{n} rows have {len(codes)} clusters.")
        size = int(codes.max()) + 1 if n else 0
        table = np.bincount(codes * n_cells + cells, weights, minlength=size * n_cells)
        sums = table.reshape(size, n_cells).astype(np.float64)
        counts = np.repeat(sums.sum(axis=1, keepdims=True), n_cells, axis=1)
        return cluster_bootstrap(sums, counts, combine, seed=seed, resamples=resamples, level=level)
    if n < 2:
        return None
    shares = np.bincount(cells, minlength=n_cells) / n
    drawn = np.random.default_rng(seed).multinomial(n, shares, size=resamples) / n
    return percentile_interval(combine(drawn), level, "multinomial_bootstrap")
