"""Kappa's variance: each item's influence on the kappa of two annotators."""

import numpy as np

from ragstone.stats.codes import Floats, Ints, sums_by


def kappa_effects(a: Ints, b: Ints, distance: Floats, weights: Floats) -> Floats:
    """The influence of each item on kappa, shape (n,): sum 0, sum of squares kappa's variance.

        kappa = 1 - D / E,    effect_i = -w_i / W · (d_i - (1 - kappa) (r_i + c_i - E)) / E

    D is the mean distance between the two labels of an item, E that between independently drawn
    labels. d_i is the distance between the two labels of item i, r_i the mean distance of its
    first label to all second ones, c_i that of its second label to all first ones. W is the sum
    of the weights.

    Args:
        a: Shape (n,), codes of the first annotator's labels.
        b: Shape (n,), codes of the second annotator's labels.
        distance: Shape (labels, labels), symmetric, with 0 on the diagonal.
        weights: Shape (n,), above 0.

    Returns:
        Zeros if all labels are the same.

    Source: Fleiss, Cohen & Everitt (1969), "Large sample standard errors of kappa and weighted
    kappa", as the derivative with respect to an item's weight.
    """
    kinds, mass = len(distance), weights / weights.sum()
    first, second = (sums_by(codes, mass, kinds) for codes in (a, b))
    own = distance[a, b]
    expected = float(first @ distance @ second)
    if expected <= 0:
        return np.zeros(len(a))
    away = float(mass @ own) / expected
    chance = (distance @ second)[a] + (distance @ first)[b] - expected
    return np.asarray(-mass * (own - away * chance) / expected)
