"""The rows that people labelled, among all that the judge judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, sums_by
from ragstone.stats.kish import kish_df


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Labels of some of ``n_judged`` rows, checked.

    ``rows`` are their places, shape (n,); ``weights`` have mean 1, and
    ``weighted`` says whether they differ; ``clusters`` holds a whole number for
    each judged row, shape (N,), or is None where rows are independent.
    """

    n_judged: int
    rows: Ints
    labels: Floats
    weights: Floats
    weighted: bool
    clusters: Ints | None

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def own_clusters(self) -> Ints:
        """A whole number from 0 for each labelled row: its cluster, or itself."""
        if self.clusters is None:
            return np.arange(self.n)
        return np.unique(self.clusters[self.rows], return_inverse=True)[1].astype(np.int64)

    @property
    def n_clusters(self) -> int | None:
        """Clusters with a labelled row; None where rows are independent."""
        return None if self.clusters is None else len(np.unique(self.clusters[self.rows]))

    @property
    def df(self) -> float | None:
        """Degrees of freedom of a variance over the labelled clusters, at least 1.

        ``kish_df`` of the weights of the clusters. None for independent rows of
        equal weight, whose rates need no estimate of their variance.
        """
        if self.n == 0 or (self.clusters is None and not self.weighted):
            return None
        return kish_df(self.cluster_weights)

    @property
    def cluster_weights(self) -> Floats:
        """Sum of the weights of each labelled cluster, or row, shape (C,)."""
        return sums_by(self.own_clusters, self.weights)

    @property
    def alike(self) -> bool:
        """Whether all labels are the same one, or there is none."""
        return self.n == 0 or bool(self.labels.min() == self.labels.max())


def read_labelled(
    n_judged: int,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    rate: bool,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> LabelledRows:
    """Check labels and what belongs to them.

    Args:
        n_judged: Rows that were judged, N.
        labelled: Places of the labelled rows, shape (n,), each once; or shape
            (N,), true where a row is labelled.
        labels: Shape (n,), in the order of ``labelled``; 0 or 1 for a rate.
        rate: Whether labels must be 0 or 1.
        weights: Shape (n,), above 0: one over the probability with which the
            row was drawn, up to a factor. None where all had the same.
        clusters: Shape (N,). Rows with the same value are not independent.

    Raises:
        InputError: With every fault.
    """
    rows = np.asarray(labelled)
    if rows.dtype == bool:
        faults = [] if rows.shape == (n_judged,) else ["a mask needs one value a judged row"]
        rows = np.flatnonzero(rows)
    else:
        faults = _index_faults(rows, n_judged)
        rows = rows.astype(np.int64) if not faults else np.empty(0, dtype=np.int64)
    values = np.asarray(labels, dtype=np.float64)
    own = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not faults and values.shape != rows.shape:
        faults.append(f"{len(rows)} labelled rows have labels of shape {values.shape}")
    if not np.isfinite(values).all():
        faults.append("labels must be finite")
    elif rate and not np.isin(values, (0, 1)).all():
        faults.append("labels of a rate are 0 or 1")
    if own.shape != values.shape or not (np.isfinite(own) & (own > 0)).all():
        faults.append("weights must be finite and above 0, one a label")
    codes = None if clusters is None else codes_of(clusters)
    if codes is not None and len(codes) != n_judged:
        faults.append(f"{n_judged} judged rows have {len(codes)} clusters")
    if faults:
        raise InputError(f"Labels cannot be used: {'; '.join(faults)}.")
    weighted = bool(len(own) and own.max() > own.min())
    even = own / own.mean() if weighted else np.ones(len(own))
    return LabelledRows(n_judged, rows, values, even, weighted, codes)


def _index_faults(rows: NDArray[np.generic], n_judged: int) -> list[str]:
    if rows.ndim != 1:
        return [f"labelled rows must be of shape (n,), got {rows.shape}"]
    if len(rows) == 0:
        return []
    if rows.dtype.kind not in "iu":
        return ["labelled rows are whole numbers or a mask"]
    places = rows.astype(np.int64)
    faults = []
    if places.min() < 0 or places.max() >= n_judged:
        faults.append(f"labelled rows must lie in 0 to {n_judged - 1}")
    if len(np.unique(places)) < len(places):
        faults.append("a row is labelled twice")
    return faults
