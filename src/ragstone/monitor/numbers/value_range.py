"""Value range: where the values of a monitored metric lie."""

from functools import lru_cache

from ragstone.analysis.scored_run import ValueRange
from ragstone.core.errors import RagstoneError
from ragstone.monitor.settings.rule import GUARD, metric_range

CONFIDENCE = "guard_confidence"


@lru_cache(maxsize=1024)
def value_range(metric: str) -> ValueRange:
    """The range of a metric's values, and which end is better; nothing is known of a strange one.

    All that the guard says of an answer is 0 or 1, but for its confidence. Kept, for a name that is
    no metric is looked for among all packages that are installed.
    """
    try:
        found = metric_range(metric)
    except RagstoneError:
        return ValueRange(None, None, "0", rate=False)
    rate = found.rate or (GUARD.fullmatch(metric) is not None and metric != CONFIDENCE)
    return ValueRange(*found.ends, found.better, rate)
