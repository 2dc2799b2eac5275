"""Requested: the metrics and suites that a run was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ragstone.core.errors import each
from ragstone.core.user_code import source
from ragstone.judges import fingerprint
from ragstone.metrics import QUICK, Metric, metric_types, parse_metric, register, suite_named

from .quick import candidates

CALLS_PYTHON = "python_udf("
"""What Polars writes for a Python function in an expression, whatever the function."""


@dataclass(frozen=True, slots=True)
class Requested:
    """The requested metrics, each once, and the suites' names.

    ``quick`` among the suites adds what the data and the judges allow, which is
    not known yet.
    """

    metrics: tuple[Metric, ...]
    suites: tuple[str, ...]

    @property
    def scored(self) -> list[Metric]:
        """All metrics to score, including everything that ``quick`` may choose."""
        quick = candidates() if QUICK in self.suites else ()
        return list({str(metric): metric for metric in [*self.metrics, *quick]}.values())


def several(given: str | Sequence[str]) -> Sequence[str]:
    """A list; a single name becomes a list of one."""
    return [given] if isinstance(given, str) else given


def requested(
    metrics: str | Metric | Sequence[str | Metric],
    suites: str | Sequence[str],
    *,
    else_quick: bool,
    cross_encoder: bool = False,
) -> Requested:
    """Look up the names; a user's own metrics are registered by name.

    Args:
        metrics: As given.
        suites: As given.
        else_quick: Whether nothing means ``quick``.
        cross_encoder: Whether one is given, of which suites may have a metric.

    Raises:
        UnknownName: There is no such metric or suite.
        InputError: Several names are wrong; says all that is.
    """
    built_in = metric_types()
    given = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    for one in given:
        if isinstance(one, Metric) and one.name not in built_in:
            register(one)
    names = tuple(dict.fromkeys(several(suites)))
    if else_quick and not names and not given:
        names = (QUICK,)

    def of_suite(name: str) -> Sequence[Metric]:
        return suite_named(name).metrics(cross_encoder=cross_encoder) if name != QUICK else ()

    def alone(one: str | Metric) -> Sequence[Metric]:
        return [one if isinstance(one, Metric) else parse_metric(one)]

    found = each(
        [*(partial(alone, one) for one in given), *(partial(of_suite, one) for one in names)]
    )
    chosen = [metric for ones in found for metric in ones]
    return Requested(tuple({str(metric): metric for metric in chosen}.values()), names)


def own_definitions(metrics: Sequence[Metric]) -> dict[str, str]:
    """A fingerprint of each user's own metric, because its name does not identify it.

    Raises:
        InputError: A metric calls a function whose source does not tell what it does, and has no
            identity.
    """
    built_in = metric_types()
    return {
        str(metric): fingerprint(_definition(metric))
        for metric in metrics
        if metric.name not in built_in
    }


def _definition(metric: Metric) -> object:
    """A metric's identity; by default its expressions, or the source of the function in them."""
    if metric.identity:
        return metric.identity
    parts = [(name, str(part.rule), part.empty) for name, part in metric.parts().items()]
    combined = str(metric.combine())
    if not any(CALLS_PYTHON in rule for rule in (combined, *(rule for _, rule, _ in parts))):
        return parts, combined
    made_by = getattr(type(metric), "made_by", type(metric))
    return source(made_by, instead=f'identity="1" for the metric {metric.name}')
