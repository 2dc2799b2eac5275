"""Single coefficients of agreement, as tests look at them: without an interval."""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import partial

from ragstone.stats.agreement.coefficients import CoefficientName, Scale, agreement_coefficients
from ragstone.stats.agreement.ratings import AgreementCoefficient


def agreement(
    name: CoefficientName, ratings: Iterable[Iterable[Hashable]], *, scale: Scale = "nominal"
) -> AgreementCoefficient:
    found = agreement_coefficients(ratings, scale=scale, resamples=2, only=[name])
    return replace(found[name], interval=None)


def cohen_kappa(a: Iterable[Hashable], b: Iterable[Hashable]) -> AgreementCoefficient:
    return agreement("cohen_kappa", [a, b])


percent_agreement = partial(agreement, "percent")
light_kappa = partial(agreement, "cohen_kappa")
quadratic_kappa = partial(agreement, "weighted_kappa", scale="interval")
fleiss_kappa = partial(agreement, "fleiss_kappa")
krippendorff_alpha = partial(agreement, "krippendorff_alpha")
gwet_ac1 = partial(agreement, "gwet_ac1")
