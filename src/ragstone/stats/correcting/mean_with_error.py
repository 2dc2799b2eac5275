"""A mean of labels with its standard error, ready for an interval at any level."""

from dataclasses import dataclass

from ragstone.stats.clusters import Clusters, effective_rows
from ragstone.stats.interval import Interval, Method, clamp, upper_quantile
from ragstone.stats.student import t_quantile
from ragstone.stats.wilson import wilson_ends

from .corrected import NO_VARIATION, Corrected, CorrectionMethod
from .labelled_rows import Floats, LabelledRows, sums_by

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MeanWithError:
    """An estimated mean, from labelled rows or clusters.

    ``size`` is how many independent rows of 0 or 1 would tell as much, for a
    scale with two ends, None for another. ``spread`` is the variance of one
    label, ``low`` and ``high`` the ends of the scale, None for no end. ``value``
    lies on the scale.
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

        On a scale with two ends, Wilson's for ``size`` rows, stretched to the
        scale, with Student's t: never a single point. Otherwise

            value ± t(df) · standard error, ending at the end of the scale

        and None where nothing varies.
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
        return Corrected(
            self.value,
            Interval(low, high, level, self.method),
            self.correction,
            self.n_labels,
            self._effective_labels(),
            flags=self.flags,
        )

    def _effective_labels(self) -> float | None:
        square = self.standard_error**2
        alike = self.spread <= ROUNDING**2 * max(1.0, (self.value or 0) ** 2)
        return self.size if alike or square == 0 else self.spread / square

    def _without(self, reason: str | None) -> Corrected:
        return Corrected(self.value, None, self.correction, self.n_labels, None, reason=reason)


def bounded_size(sample: LabelledRows, low: float | None, high: float | None) -> float | None:
    """``effective_rows`` of the labels on a scale with two ends, each with its weight."""
    if low is None or high is None or sample.n == 0:
        return None
    own = sample.own_clusters

    def total(values: Floats) -> Floats:
        return sums_by(own, sample.weights * values)

    labels = sample.labels
    clusters = Clusters(total(labels), total(labels**0), total(labels**2))
    return effective_rows(clusters.stretched(low, high)) if clusters.size > 1 else 1.0
