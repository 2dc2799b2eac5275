"""Post-stratified rate: people's rate within each verdict, weighted by the verdict's frequency."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.cluster_means import HALF_CLUSTER
from ragstone.stats.distributions import Interval, wilson_ends
from ragstone.stats.weights_and_groups import Codes, Floats, Ints, in_order, sums_by

from .corrected import UNLABELLED_STRATUM, MeanCorrection, Stratum, rate_correction, read_labelled

FIRST, STRIDE = 16.0, 4.0
CLOSE = 1e-12
MOST_STEPS = 100
TINY = 1e-300


def stratified_wilson_ends(
    shares: Floats,
    rates: Floats,
    sizes: Floats,
    quantile: float,
    share_variance: float | Floats = 0.0,
) -> tuple[Floats, Floats]:
    """The true rates θ = sum of P_k t_k that lie ``quantile`` standard errors from the estimate.

        (sum of P_k (m_k - t_k))² = q² · (sum of P_k² t_k (1 - t_k) / n_k + S)

    with t the maximum-likelihood rates of the strata subject to θ. For a single stratum this is
    Wilson's interval. By Lagrange multipliers each t_k solves

        n_k (m_k - t_k) = μ P_k t_k (1 - t_k)

    and the statistic increases with |μ|, so μ is found by regula falsi, for all intervals of the
    arrays at once. A stratum without rows may have any rate: its share is added in full to the
    upper end. The lower and upper ends have shape (...), in [0, 1].

    Args:
        shares: Shape (..., K). P, with sum 1; S accounts for their sampling error.
        rates: Shape (..., K). m, in [0, 1]; ignored for strata without rows.
        sizes: Shape (..., K). n, effective sample sizes, 0 for none.
        quantile: q, above 0, of the normal or of Student's t.
        share_variance: Shape (...). S, the variance of θ due to the shares.

    Source: Wilson (1927); Miettinen & Nurminen (1985), "Comparative analysis of two rates", for
    score intervals with restricted likelihood over strata.
    """
    labelled = sizes > 0
    weights = np.where(labelled, shares, 0.0)
    labelled_rates = np.where(labelled, rates, 0.0)
    rows = np.where(labelled, sizes, 1.0)
    apart = np.asarray(share_variance, dtype=np.float64)
    low = _end(weights, labelled_rates, rows, quantile, apart)
    missed = _end(weights, 1 - labelled_rates, rows, quantile, apart)
    return np.clip(low, 0, 1), np.clip(shares.sum(axis=-1) - missed, 0, 1)


def _end(shares: Floats, rates: Floats, rows: Floats, quantile: float, apart: Floats) -> Floats:
    """The lower end; 0 where even a rate of 0 is less than ``quantile`` errors away."""
    estimate = (shares * rates).sum(axis=-1)
    reached = estimate > quantile * np.sqrt(apart)

    def beyond(multiplier: Floats) -> Floats:
        distance = _distance(multiplier, shares, rates, rows, apart)[0]
        return np.where(reached, distance - quantile, 0.0)

    multiplier = _root(beyond, estimate.shape)
    return np.where(reached, _distance(multiplier, shares, rates, rows, apart)[1], 0.0)


def _root(rising: Callable[[Floats], Floats], shape: tuple[int, ...]) -> Floats:
    """Roots of increasing functions that are negative at 0: regula falsi, Illinois variant."""
    least, most = np.zeros(shape), np.full(shape, FIRST)
    below, above = rising(least), rising(most)
    # Extend each bracket until it holds its root.
    for _ in range(MOST_STEPS):
        short = above < 0
        if not short.any():
            break
        least, below = np.where(short, most, least), np.where(short, above, below)
        most = np.where(short, STRIDE * most, most)
        above = rising(most)
    middle, before = most, np.zeros(shape)
    for _ in range(MOST_STEPS):
        gap = np.where(above > below, above - below, 1)
        middle = np.where(above > below, (least * above - most * below) / gap, most)
        here = rising(middle)
        if ((np.abs(here) < CLOSE) | (most - least <= CLOSE * most)).all():
            break
        over = here > 0
        # Illinois: halve the value at an end that was kept twice in a row, or it would never move.
        below = np.where(over, np.where(before > 0, below / 2, below), here)
        above = np.where(over, here, np.where(before < 0, above / 2, above))
        least, most = np.where(over, least, middle), np.where(over, middle, most)
        before = np.where(over, 1.0, -1.0)
    return middle


def _distance(
    multiplier: Floats, shares: Floats, rates: Floats, rows: Floats, apart: Floats
) -> tuple[Floats, Floats]:
    pull = multiplier[..., None] * shares
    total = rows + pull
    root = np.sqrt(np.maximum(0, total**2 - 4 * pull * rows * rates))
    # This form of the root has no difference of nearly equal numbers, which total - root would be.
    likely = np.minimum(1, 2 * rows * rates / (total + root))
    variance = (shares**2 * likely * (1 - likely) / rows).sum(axis=-1)
    distance = multiplier * variance / np.sqrt(np.maximum(variance + apart, TINY))
    return distance, (shares * likely).sum(axis=-1)


def poststratify(
    verdicts: Codes,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> MeanCorrection:
    """Estimate people's rate in all judged rows from the labels of some; ``at`` gives the interval.

        sum over verdicts k of  P_k · θ_k

    P_k is the share of judged rows with verdict k, θ_k the share of positives among its labelled
    rows. The interval is Wilson's for strata, ``stratified_wilson_ends``, with the sampling
    variance of the shares; for a judge that always gives the same verdict it is Wilson's own. The
    estimate is valid however bad the judge is; a good judge makes the interval narrower.

    - Unequal weights: θ_k is the weighted share, and its sample size is Kish's effective one.
    - Clusters: all sample sizes are divided by one design effect, at least 1, of the whole
      estimate, because a cluster has rows in several strata; q is Student's t with the degrees of
      freedom of the labelled clusters. ``design_effect`` has the formula.
    - A verdict without a labelled row may have any rate from 0 to 1. This is not sampling error, so
      its share is added in full to both sides. The value uses the rate of all labelled rows for it.

    Args:
        verdicts: Shape (N,). The judge's verdict on each row, with few distinct values; a missing
            verdict is a further value. For scores see ``strata_of``.
        weights: Shape (n,). Inverse probabilities of being drawn for labelling, up to a common
            factor. Needed only if they differ between rows with the same verdict.

    The alternative, combining the strata's Wilson intervals by square-and-add (Newcombe 1998; Zou &
    Donner 2008), is 5 to 20 % wider for rates near 0 or 1 and has lower coverage there.
    ``benchmarks/correction.py`` measures both.

    Source: Holt & Smith (1979), "Post stratification"; Wilson (1927) and Miettinen & Nurminen
    (1985) for the interval; Kish (1965) for weights. The design effect is ours.
    """
    listed = verdicts.tolist() if isinstance(verdicts, np.ndarray) else verdicts
    names = in_order(listed)
    codes = {verdict: stratum for stratum, verdict in enumerate(names)}
    strata = np.fromiter((codes[verdict] for verdict in listed), dtype=np.int64)
    sample = read_labelled(
        len(strata), labelled, labels, rate=True, weights=weights, clusters=clusters
    )
    kinds = len(names)
    labelled_strata = strata[sample.rows]
    judged = np.bincount(strata, minlength=kinds)
    mass = sums_by(labelled_strata, sample.weights, kinds)
    squares = sums_by(labelled_strata, sample.weights**2, kinds)
    positives = sums_by(labelled_strata, sample.weights * sample.labels, kinds)
    sizes = np.divide(mass**2, squares, out=np.zeros(kinds), where=mass > 0)
    n_labels = np.bincount(labelled_strata, minlength=kinds)
    shares, rates = judged / len(strata), stratum_rates(positives, mass)
    even = sample.clusters is None and np.allclose(sizes, n_labels)
    share_variance = float(row_share_variance(shares, rates, len(strata)))
    if not even:
        at = labelled_strata
        residual = shares[at] * sample.weights * (sample.labels - rates[at]) / mass[at]
        by_cluster = sums_by(sample.own_clusters, residual)
        sizes = sizes / float(design_effect(shares, rates, sizes, by_cluster))
        if sample.clusters is not None:
            share_variance = clustered_share_variance(
                strata, sample.clusters, sample.rows, shares, rates, residual
            )

    def ends(q: float) -> tuple[float, float]:
        low, high = stratified_wilson_ends(shares, rates, sizes, q, share_variance)
        return float(low), float(high)

    def of_strata(level: float, q: float) -> tuple[Stratum, ...]:
        columns = (column.tolist() for column in (shares, judged, n_labels, sizes, rates))
        return tuple(
            Stratum(
                verdict,
                share,
                n_judged,
                n,
                size,
                rate if n else None,
                Interval(*(wilson_ends(rate, size, q) if n else (0.0, 1.0)), level, "wilson"),
            )
            for verdict, share, n_judged, n, size, rate in zip(names, *columns, strict=True)
        )

    return rate_correction(
        sample,
        float(np.clip(shares @ rates, 0, 1)) if sample.n else None,
        ends,
        df=None if even else sample.df,
        correction="poststratified",
        method="poststratified_wilson",
        reason=sample.reason,
        flags=(UNLABELLED_STRATUM,) if (mass == 0).any() else (),
        strata=of_strata,
    )


def stratum_rates(positives: Floats, mass: Floats) -> Floats:
    """Rate of each stratum, shape (..., K); a stratum without labels gets the pooled rate."""
    total = mass.sum(axis=-1, keepdims=True)
    pooled = positives.sum(axis=-1, keepdims=True) / np.where(total > 0, total, 1)
    rates = np.divide(positives, mass, out=np.zeros_like(mass, dtype=np.float64), where=mass > 0)
    return np.where(mass > 0, np.minimum(rates, 1), pooled)


def design_effect(shares: Floats, rates: Floats, sizes: Floats, residuals: Floats) -> Floats:
    """The design effect: variance of the rate relative to that of independent rows, at least 1.

        effect = (V + h · sum of P_k² / C²) / (B + h · sum of P_k² / (n_k C)),    h = 1/2
        V = C / (C - 1) · sum of R_c²,    B = sum of P_k² θ_k (1 - θ_k) / n_k

    R_c is the contribution of cluster c to the estimate: the sum of P_k (y - θ_k) / n_k over its
    labelled rows. There is one effect for all strata, because rows of a cluster are correlated
    across strata. For a single stratum it is the design effect of ``effective_rows``, including the
    half cluster.

    Args:
        shares: Shape (..., K). Sums run over the strata with labels.
        sizes: Shape (..., K). Numbers of rows, or Kish's effective ones; 0 for no label.
    """
    clusters = residuals.shape[-1]
    labelled = sizes > 0
    per_row = np.divide(shares**2, sizes, out=np.zeros_like(sizes), where=labelled)
    spread = (residuals**2).sum(axis=-1) * clusters / max(1, clusters - 1)
    squares = (np.where(labelled, shares, 0) ** 2).sum(axis=-1)
    agreeing = HALF_CLUSTER * squares / max(1, clusters) ** 2
    binomial = (per_row * rates * (1 - rates)).sum(axis=-1)
    apart = HALF_CLUSTER * per_row.sum(axis=-1) / max(1, clusters)
    within = binomial + apart
    ratio = np.divide(
        spread + agreeing, within, out=np.ones_like(within, dtype=np.float64), where=within > 0
    )
    return np.asarray(np.maximum(1, ratio), dtype=np.float64)


def row_share_variance(shares: Floats, rates: Floats, n_judged: float) -> Floats:
    """The part of the rate's variance that comes from the shares, for independent rows."""
    value = (shares * rates).sum(axis=-1, keepdims=True)
    return np.asarray((shares * (rates - value) ** 2).sum(axis=-1) / n_judged)


def clustered_share_variance(
    strata: Ints, clusters: Ints, labelled: Ints, shares: Floats, rates: Floats, residual: Floats
) -> float:
    """The same for clusters, of judged rows; ``residual`` is one for each labelled row."""
    moved = (rates[strata] - shares @ rates) / len(strata)
    judged = sums_by(clusters, moved)
    by_cluster = sums_by(clusters[labelled], residual, len(judged))
    between = float(judged @ judged) * len(judged) / max(1, len(judged) - 1)
    return max(0.0, between + 2 * float(judged @ by_cluster))
