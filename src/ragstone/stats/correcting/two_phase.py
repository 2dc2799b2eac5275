"""Two phases: a judge's mean of drawn rows, corrected by people's labels of some of these."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.heavy_rows import heaviest_size, heavy_wilson_ends
from ragstone.stats.interval import Interval, clamp, upper_quantile
from ragstone.stats.kish import kish_df
from ragstone.stats.student import t_quantile
from ragstone.stats.watching.weighted_sums import WeightedSums

from .corrected import NO_LABELS, NO_VARIATION, ONE_CLUSTER, Corrected, label_flags


def two_phase_mean(
    judged: WeightedSums,
    scores: ArrayLike,
    weights: ArrayLike,
    labels: ArrayLike,
    label_weights: ArrayLike,
    *,
    low: float | None,
    high: float | None,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> Corrected:
    """People's mean over all rows, of which some were drawn and judged, and some of these labelled.

        ȳ + g (f̄ - f̄_l),   ȳ = Σ v y / Σ v,   f̄_l = Σ v f / Σ v,   f̄ = Σ w f / Σ w

    f are the judge's scores, y the labels; w is one over the probability with which a row was
    judged, v one over that with which it was judged and labelled. The first two means are over the
    labelled rows, the last over all judged ones. g in [0, 1] is that of the least variance, as in
    PPI++: a useless judge does no harm. The variance is the sum of the squared contributions of all
    judged rows, so what both phases share is counted once. The interval is ``heavy_wilson_ends``
    where scores have bounds, which adds half an unseen label; else value ± t · standard error.

    Args:
        judged: Sums over all judged rows, of one window: shape (1,).
        scores: Shape (n,). The judge's scores of the labelled rows.
        weights: Shape (n,). Their w.
        labels: Shape (n,). People's.
        label_weights: Shape (n,). Their v.
        low: The least possible value, None for no bound.
        high: The greatest possible value, None for no bound.
        design_effect: Of rows that share sessions, at least 1.
        level: In (0, 1).

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Särndal, Swensson & Wretman (1992), "Model Assisted Survey Sampling", chapter 9, for two
    phases; Angelopoulos, Duchi & Zrnic (2023), "PPI++", for g.
    """
    upper = upper_quantile(level)
    f, w, y, v = (
        np.asarray(one, dtype=np.float64) for one in (scores, weights, labels, label_weights)
    )
    if f.ndim != 1 or not f.shape == w.shape == y.shape == v.shape:
        raise InputError("Scores, labels and both weights must be of one shape (n,).")
    if not (np.isfinite([f, y, w, v]).all() and (w > 0).all() and (v > 0).all()):
        raise InputError("Scores and labels must be finite, and weights finite and above 0.")
    n = len(f)
    if n < 2:
        reason = ONE_CLUSTER if n else NO_LABELS
        return Corrected(None, None, "ppi_plus_plus", n, None, reason=reason)
    share = v / v.sum()
    label_mean, seen_mean = float(share @ y), float(share @ f)
    judged_mean, total = float(judged.mean[0]), float(judged.w[0])
    adds = share * (y - label_mean)
    first = w * (f - judged_mean) / total
    follows = first - share * (f - seen_mean)
    # Of all judged rows; the labelled ones among them have a part of the second phase as well.
    spread = float(judged.variance[0]) + float(follows @ follows - first @ first)
    gain = clamp(-float(adds @ follows) / spread, 0, 1) if spread > 0 else 0.0
    value = clamp(label_mean + gain * (judged_mean - seen_mean), low, high)
    variance = float(adds @ adds) + 2 * gain * float(adds @ follows) + gain * gain * spread
    variance = max(0.0, variance) * design_effect
    df = max(1.0, (kish_df(v) + 1) / design_effect - 1)
    flags = label_flags(n, None)
    if low is not None and high is not None:
        rows = max(1.0, heaviest_size(v) / design_effect)
        ends = heavy_wilson_ends(value, variance, rows=rows, df=df, level=level, low=low, high=high)
    elif variance > 0:
        half = t_quantile(upper, df) * sqrt(variance * (df + 1) / df)
        ends = clamp(value - half, low, high), clamp(value + half, low, high)
    else:
        return Corrected(value, None, "ppi_plus_plus", n, None, reason=NO_VARIATION)
    interval = Interval(*ends, level, "ppi_plus_plus")
    return Corrected(value, interval, "ppi_plus_plus", n, None, flags=flags)
