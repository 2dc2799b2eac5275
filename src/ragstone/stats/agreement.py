"""Agreement of annotators on nominal labels, raw and corrected for chance."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError

NO_PAIRS = "no_pairs"
NO_VARIATION = "no_variation"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient over ``n`` items that at least two annotators labelled.

    ``value`` is None, and ``reason`` says why, where the definition gives none:
    ``no_pairs``, or ``no_variation``, when all labels are the same one and
    chance alone would agree as well.
    """

    value: float | None
    reason: str | None
    n: int


def percent_agreement(ratings: Iterable[Iterable[Hashable]]) -> Agreement:
    """Mean over items of the share of pairs of annotators who gave the same label.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.

    Returns:
        From 0 to 1.

    Raises:
        InputError: Annotators with different numbers of items.
    """
    table = _label_counts(ratings)
    if len(table) == 0:
        return Agreement(None, NO_PAIRS, 0)
    raters = table.sum(axis=1)
    agreeing = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    return Agreement(float(agreeing.mean()), None, len(table))


def cohen_kappa(a: Iterable[Hashable], b: Iterable[Hashable]) -> Agreement:
    """Agreement of two annotators beyond what their own label shares would give by chance.

        (observed - expected) / (1 - expected)

    Args:
        a: One label an item; None and NaN mean not rated, and the item is left out.
        b: As many, for the same items.

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Different numbers of items.

    Source: Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    first, second = list(a), list(b)
    _check_items([first, second])
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if _rated(x) and _rated(y)]
    n = len(pairs)
    if n == 0:
        return Agreement(None, NO_PAIRS, 0)
    codes = _codes(label for pair in pairs for label in pair)
    shares_a = np.bincount([codes[x] for x, _ in pairs], minlength=len(codes)) / n
    shares_b = np.bincount([codes[y] for _, y in pairs], minlength=len(codes)) / n
    if len(codes) == 1:
        return Agreement(None, NO_VARIATION, n)
    observed = sum(x == y for x, y in pairs) / n
    expected = float(shares_a @ shares_b)
    return Agreement((observed - expected) / (1 - expected), None, n)


def krippendorff_alpha(ratings: Iterable[Iterable[Hashable]]) -> Agreement:
    """Agreement of any number of annotators beyond chance, with gaps, for nominal labels.

        1 - observed disagreement / expected disagreement

    Args:
        ratings: Annotators × items. None and NaN mean not rated; an item with
            fewer than two labels is left out.

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    table = _label_counts(ratings)
    if len(table) == 0:
        return Agreement(None, NO_PAIRS, 0)
    raters, uses = table.sum(axis=1), table.sum(axis=0)
    labels = uses.sum()
    differing = (raters**2 - (table**2).sum(axis=1)) / (raters - 1)
    observed = float(differing.sum() / labels)
    expected = float((labels**2 - (uses**2).sum()) / (labels * (labels - 1)))
    if expected == 0:
        return Agreement(None, NO_VARIATION, len(table))
    return Agreement(1 - observed / expected, None, len(table))


def _label_counts(ratings: Iterable[Iterable[Hashable]]) -> NDArray[np.float64]:
    """How often each item got each label, shape (items, labels), for items with two or more."""
    rows = [list(row) for row in ratings]
    _check_items(rows)
    codes = _codes(label for row in rows for label in row if _rated(label))
    items = len(rows[0]) if rows else 0
    table = np.zeros((items, len(codes)))
    for row in rows:
        rated = [(item, codes[label]) for item, label in enumerate(row) if _rated(label)]
        if rated:
            item, code = np.array(rated).T
            table[item, code] += 1
    return np.asarray(table[table.sum(axis=1) >= 2])


def _codes(labels: Iterable[Hashable]) -> dict[Hashable, int]:
    return {label: code for code, label in enumerate(dict.fromkeys(labels))}


def _rated(label: Hashable) -> bool:
    return label is not None and label == label


def _check_items(rows: list[list[Hashable]]) -> None:
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise InputError(f"Annotators must have the same items, got {lengths} of them.")
