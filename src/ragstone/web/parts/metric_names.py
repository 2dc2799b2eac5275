"""Metric names: what the scores of production are called on pages."""

from ragstone.report.number_format import short_name, spoken

GUARD = "guard_"


def said_metric(metric: str) -> str:
    """What a metric, or a check of the guard, is called.

    >>> said_metric("faithfulness"), said_metric("guard_ok"), said_metric("guard_numbers_match")
    ('faithfulness', 'all checks', 'check: numbers match')
    """
    if metric == f"{GUARD}ok":
        return "all checks"
    if metric == f"{GUARD}confidence":
        return "confidence of the guard"
    if metric.startswith(GUARD):
        return f"check: {spoken(metric.removeprefix(GUARD))}"
    return spoken(short_name(metric))
