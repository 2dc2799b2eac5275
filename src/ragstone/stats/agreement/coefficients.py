"""Agreement of annotators: percent agreement, and all coefficients at once."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Literal, get_args

from .cohen import mean_kappa, weighted_mean_kappa
from .fleiss import fleiss
from .gwet import ac1
from .item_bootstrap import agreement_intervals
from .krippendorff import alpha
from .ratings import (
    NO_PAIRS,
    NOMINAL,
    NOT_NUMBERS,
    TOO_MANY_LABELS,
    AgreementCoefficient,
    Coefficient,
    RatingMatrix,
    observed_agreement,
    read_ratings,
    undefined,
    value_of,
)

Scale = Literal["nominal", "ordinal", "interval"]

CoefficientName = Literal[
    "percent", "cohen_kappa", "weighted_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"
]
COEFFICIENTS: tuple[CoefficientName, ...] = get_args(CoefficientName)

MOST_CATEGORIES = 20
"""With more labels the ratings are taken for amounts, for which categorical coefficients are
meaningless."""


def percent_agreement(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
    """The share of pairs of annotators who gave the same label, averaged over items.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.

    Returns:
        From 0 to 1.

    Raises:
        InputError: Annotators with different numbers of items.
    """
    return _percent(read_ratings(ratings))


def agreement_coefficients(
    ratings: Iterable[Iterable[Hashable]],
    *,
    scale: Scale = "nominal",
    clusters: Iterable[Hashable] | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
    only: Collection[CoefficientName] = COEFFICIENTS,
) -> Mapping[CoefficientName, AgreementCoefficient]:
    """All coefficients of agreement, or some, with intervals by the bootstrap over items.

    ``percent``, ``cohen_kappa`` (mean over pairs of annotators), ``weighted_kappa`` (the same with
    quadratic weights on numeric labels; None on a nominal scale), ``fleiss_kappa``,
    ``krippendorff_alpha`` (on the given scale) and ``gwet_ac1``. Categorical coefficients have no
    value for more than 20 distinct labels.

    Items, or whole clusters of items, are resampled; see ``agreement_intervals``.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.
        scale: The scale of the labels. On a scale other than nominal they must be numbers.
        clusters: One name per item; items with the same name are not independent.
        seed: The same seed gives the same intervals on every machine.
        resamples: Number of resamples.
        level: Share of intervals that should hold the truth, in (0, 1).
        only: These coefficients.

    Raises:
        InputError: Different numbers of items for annotators or clusters.
    """
    table = read_ratings(ratings)
    every: dict[CoefficientName, Coefficient] = {
        "percent": observed_agreement,
        "cohen_kappa": mean_kappa,
        "weighted_kappa": weighted_mean_kappa,
        "fleiss_kappa": fleiss,
        "krippendorff_alpha": alpha(scale),
        "gwet_ac1": ac1,
    }
    coefficients = {name: one for name, one in every.items() if name in only}
    found = {name: _value(name, one, table, scale) for name, one in coefficients.items()}
    asked = {name: one for name, one in coefficients.items() if found[name].value is not None}
    intervals = agreement_intervals(
        table,
        asked,
        clusters=None if clusters is None else list(clusters),
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return {
        name: AgreementCoefficient(one.value, one.reason, one.n, intervals.get(name))
        for name, one in found.items()
    }


def _percent(table: RatingMatrix) -> AgreementCoefficient:
    shared = table.shared
    if shared.items == 0:
        return AgreementCoefficient(None, NO_PAIRS, 0)
    return AgreementCoefficient(float(shared.agreeing.mean()), None, shared.items)


def _value(
    name: str, coefficient: Coefficient, table: RatingMatrix, scale: Scale
) -> AgreementCoefficient:
    if name == "percent":
        return _percent(table)
    if (outcome := undefined(table)) is not None:
        return outcome
    if name == "weighted_kappa" and scale == "nominal":
        return AgreementCoefficient(None, NOMINAL, table.shared.items)
    of_numbers = name == "weighted_kappa" or name == "krippendorff_alpha"
    if of_numbers and scale != "nominal" and table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, table.shared.items)
    if name in ("cohen_kappa", "fleiss_kappa", "gwet_ac1") and len(table.labels) > MOST_CATEGORIES:
        return AgreementCoefficient(None, TOO_MANY_LABELS, table.shared.items)
    return value_of(coefficient, table)
