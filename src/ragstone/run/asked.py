"""Asked: which metrics and suites a run was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.errors import UnknownName
from ragstone.metrics import QUICK, SUITES, Metric, parse_metric


@dataclass(frozen=True, slots=True)
class Asked:
    """The metrics that were asked for, each once, and the suites' names.

    ``quick`` among the suites adds what the data and the judges allow, which is
    not known yet.
    """

    metrics: tuple[Metric, ...]
    suites: tuple[str, ...]


def asked_for(metrics: Sequence[str | Metric], suites: Sequence[str], *, else_quick: bool) -> Asked:
    """Look the names up.

    Raises:
        UnknownName: No metric or suite is called that.
    """
    chosen = [one if isinstance(one, Metric) else parse_metric(one) for one in metrics]
    names = tuple(dict.fromkeys(suites))
    if else_quick and not names and not chosen:
        names = (QUICK,)
    for name in names:
        if name in SUITES:
            chosen += SUITES[name].metrics()
        elif name != QUICK:
            raise UnknownName(
                "suite", name, [QUICK, *SUITES], hint="ragstone metrics --suite lists them."
            )
    return Asked(tuple({str(metric): metric for metric in chosen}.values()), names)
