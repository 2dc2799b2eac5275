"""A mean of labels with its standard error, from which intervals of any level are computed."""

from dataclasses import dataclass
from statistics import NormalDist

from ragstone.stats.cluster_moments import moments_of
from ragstone.stats.clusters import effective_rows
from ragstone.stats.codes import Floats, sums_by
from ragstone.stats.interval import Interval, Method, clamp, upper_quantile
from ragstone.stats.student import t_quantile
from ragstone.stats.wilson import wilson_ends

from .corrected import NO_VARIATION, Corrected, CorrectionMethod, effective_labels_of_rate
from .labelled_rows import LabelledRows

ROUNDING = 1e-12
STEPS = 50


@dataclass(frozen=True, slots=True)
class MeanWithError:
    """An estimated mean, from labelled rows or clusters.

    ``size`` is the effective sample size (see ``effective_rows``) for a bounded
    scale, otherwise None. ``spread`` is the variance of a label; ``low`` and
    ``high`` are the ends of the scale, None for no bound. ``value`` lies on the
    scale.
    """

    value: float | None
    standard_error: float
    spread: float
    df: float
    size: float | None
    low: float | None
    high: float | None
    n_labels: int
    correction: CorrectionMethod
    method: Method
    flags: tuple[str, ...]
    reason: str | None

    def at(self, level: float) -> Corrected:
        """The mean with its interval at ``level``, in (0, 1).

        On a bounded scale it is Wilson's for ``size`` rows with Student's t,
        rescaled: never a single point. Otherwise

            value ± t(df) · standard error, clipped to the scale

        and None if nothing varies.
        """
        q = t_quantile(upper_quantile(level), self.df)
        if self.value is None or self.reason is not None:
            return self._without(self.reason)
        if self.low is not None and self.high is not None and self.size is not None:
            span = self.high - self.low
            share = clamp((self.value - self.low) / span, 0, 1)
            least, greatest = wilson_ends(share, self.size, q)
            low, high = self.low + least * span, self.low + greatest * span
        else:
            half = q * self.standard_error
            low = clamp(self.value - half, self.low, self.high)
            high = clamp(self.value + half, self.low, self.high)
            if high - low <= ROUNDING * max(1.0, abs(self.value)):
                return self._without(NO_VARIATION)
        interval = Interval(low, high, level, self.method)
        return Corrected(
            self.value,
            interval,
            self.correction,
            self.n_labels,
            self._effective_labels(interval, q),
            flags=self.flags,
        )

    def _effective_labels(self, interval: Interval, q: float) -> float | None:
        """The number of independent labels of this variance with an equally narrow interval."""
        upper = upper_quantile(interval.level)
        if self.low is None or self.high is None or self.size is None:
            rows = self.spread * (NormalDist().inv_cdf(upper) / (q * self.standard_error)) ** 2
            return _with_t(rows, upper)
        span = self.high - self.low
        low, high = ((end - self.low) / span for end in (interval.low, interval.high))
        share = clamp(((self.value or 0.0) - self.low) / span, 0, 1)
        on_scale = Interval(low, high, interval.level, interval.method)
        rows = effective_labels_of_rate(share, on_scale)
        most = share * (1 - share) * span**2
        alike = self.spread <= ROUNDING * span**2
        return _with_t(rows if alike or not most else rows * min(1.0, self.spread / most), upper)

    def _without(self, reason: str | None) -> Corrected:
        return Corrected(self.value, None, self.correction, self.n_labels, None, reason=reason)


def _with_t(rows: float, upper: float) -> float:
    """The number of rows whose t interval is as wide as the normal interval of ``rows`` rows.

    A t interval needs at least two rows; below that the result is scaled in proportion.
    """
    z = NormalDist().inv_cdf(upper)

    def worth(found: float) -> float:
        return found * (z / t_quantile(upper, found - 1)) ** 2

    if rows <= worth(2):
        return 2 * rows / worth(2)
    low = max(2.0, rows)
    high = low * (t_quantile(upper, low - 1) / z) ** 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) < rows else (low, middle)
    return high


def bounded_size(sample: LabelledRows, low: float | None, high: float | None) -> float | None:
    """``effective_rows`` of the weighted labels on a bounded scale; None for another scale."""
    if low is None or high is None or sample.n == 0:
        return None
    own = sample.own_clusters

    def total(values: Floats) -> Floats:
        return sums_by(own, sample.weights * values)

    labels = sample.labels
    clusters = moments_of(total(labels), total(labels**0), total(labels**2))
    return effective_rows(clusters.stretched(low, high)) if clusters.size > 1 else 1.0
