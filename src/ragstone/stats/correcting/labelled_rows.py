"""The rows that people labelled, among all judged rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, sums_by
from ragstone.stats.kish import kish_df


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Checked labels of some of ``n_judged`` rows.

    ``rows`` are their indices, shape (n,); ``weights`` have mean 1, and
    ``weighted`` says whether they are unequal; ``clusters`` is a whole number for
    each judged row, shape (N,), or None if rows are independent.
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
        """A whole number from 0 for each labelled row: its cluster; without clusters, its own."""
        if self.clusters is None:
            return np.arange(self.n)
        return np.unique(self.clusters[self.rows], return_inverse=True)[1].astype(np.int64)

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters with a labelled row; None if rows are independent."""
        return None if self.clusters is None else len(np.unique(self.clusters[self.rows]))

    @property
    def df(self) -> float | None:
        """Degrees of freedom of a variance between the labelled clusters, at least 1.

        ``kish_df`` of the clusters' weights. None for independent rows of equal
        weight, whose rates need no variance estimate.
        """
        if self.n == 0 or (self.clusters is None and not self.weighted):
            return None
        return kish_df(self.cluster_weights)

    @property
    def cluster_weights(self) -> Floats:
        """Total weight of each labelled cluster or row, shape (C,)."""
        return sums_by(self.own_clusters, self.weights)

    @property
    def alike(self) -> bool:
        """Whether all labels are equal, or there are none."""
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
    """Check labels with their rows, weights and clusters.

    Args:
        n_judged: Number of judged rows, N.
        labelled: Indices of the labelled rows, shape (n,), each once; or a mask
            of shape (N,), true where a row is labelled.
        labels: Shape (n,), in the order of ``labelled``; 0 or 1 for a rate.
        rate: Whether labels must be 0 or 1.
        weights: Shape (n,), above 0: inverse sampling probabilities, up to a common
            factor. None if all are equal.
        clusters: Shape (N,). Rows with the same value are not independent.

    Raises:
        InputError: The arguments have faults; lists them.
    """
    rows = np.asarray(labelled)
    if rows.dtype == bool:
        faults = [] if rows.shape == (n_judged,) else ["a mask needs one value per judged row"]
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
        faults.append("labels of a rate must be 0 or 1")
    if own.shape != values.shape or not (np.isfinite(own) & (own > 0)).all():
        faults.append("weights must be finite and above 0, one per label")
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
        return ["labelled rows must be whole numbers or a mask"]
    places = rows.astype(np.int64)
    faults = []
    if places.min() < 0 or places.max() >= n_judged:
        faults.append(f"labelled rows must lie between 0 and {n_judged - 1}")
    if len(np.unique(places)) < len(places):
        faults.append("a row is labelled twice")
    return faults
