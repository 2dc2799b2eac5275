"""Kappa's variance: what each item adds to the kappa of two annotators."""

import numpy as np

from ragstone.stats.codes import Floats, Ints, sums_by


def kappa_effects(a: Ints, b: Ints, distance: Floats, weights: Floats) -> Floats:
    """How far each item moves kappa, shape (n,): their sum is 0, their squares add up to V.

        kappa = 1 - D / E,    effect_i = -w_i / W · (d_i - (1 - kappa) (r_i + c_i - E)) / E

    D is the mean distance of the two labels of an item, E that of labels drawn apart; d_i is the
    distance of item i's own, r_i that of its first label to all second ones, and c_i that of its
    second to all first.

    Args:
        a: Shape (n,), the code of the first annotator's label.
        b: Shape (n,), of the second's.
        distance: Shape (labels, labels), symmetric, with 0 on the diagonal.
        weights: Shape (n,), above 0.

    Returns:
        Zeros where all labels are the same one.

    Source: Fleiss, Cohen & Everitt (1969), "Large sample standard errors of kappa and weighted
    kappa", as a derivative by the weight of an item.
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
