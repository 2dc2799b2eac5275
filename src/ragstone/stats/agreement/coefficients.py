"""Agreement of annotators: how often they say the same, and every coefficient at once."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Literal

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

MOST_CATEGORIES = 20
"""Coefficients of categories have no meaning for amounts, of which no two are the same."""


def percent_agreement(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
    """Mean over items of the share of pairs of annotators who gave the same label.

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
) -> Mapping[str, AgreementCoefficient]:
    """Every coefficient with its interval over items.

    ``percent``, ``cohen_kappa`` (mean over pairs of annotators), ``weighted_kappa``
    (the same, quadratic, a label being its number; None on a nominal scale), ``fleiss_kappa``,
    ``krippendorff_alpha`` (of the scale), ``gwet_ac1``. Those of categories have no
    value for more than 20 different labels.

    The intervals redraw items, or whole clusters of them, see ``agreement_intervals``.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.
        scale: What the labels are. On a scale other than nominal they are numbers.
        clusters: One name an item; items of the same name are not independent.
        seed: The same seed gives the same intervals on every machine.
        resamples: Draws.
        level: Share of intervals that should hold the truth, in (0, 1).

    Raises:
        InputError: Annotators with different numbers of items, or clusters of another number.
    """
    table = read_ratings(ratings)
    coefficients: dict[str, Coefficient] = {
        "percent": observed_agreement,
        "cohen_kappa": mean_kappa,
        "weighted_kappa": weighted_mean_kappa,
        "fleiss_kappa": fleiss,
        "krippendorff_alpha": alpha(scale),
        "gwet_ac1": ac1,
    }
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
