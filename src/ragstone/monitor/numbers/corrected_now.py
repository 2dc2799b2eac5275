"""Corrected now: a metric as the judge has it, and corrected by people's labels."""

from ragstone.core.database import Sql
from ragstone.monitor.store.labelled_scores import labelled_scores
from ragstone.stats.correction.corrected import two_phase_mean
from ragstone.stats.distributions import Interval
from ragstone.stats.monitoring.windows import WeightedSums

from .metric_over_time import Facet
from .page_facts import CorrectedNow, MeanWithInterval
from .stretch import Stretch


def corrected_now(
    run: Sql, metric: str, since: float, until: float, slice: Facet | None, judged: Stretch
) -> CorrectedNow | None:
    """The mean of a stretch of time by the judge, corrected by labels, and by labels alone.

    Labels are those of answers that were drawn by chance from the judged ones; each counts with one
    over the probability that it was judged and labelled.

    Args:
        run: A reading of the store.
        metric: Its text form.
        since: In seconds since the epoch.
        until: The same.
        slice: Of which traffic; None: of all.
        judged: All judged answers of this stretch.

    Returns:
        None if none of them is labelled.
    """
    rows = labelled_scores(run, metric, since, until, slice)
    if not rows:
        return None
    weights = [1 / row.label_probability for row in rows]
    found = two_phase_mean(
        judged.sums,
        [row.score for row in rows],
        [1 / row.probability for row in rows],
        [row.label for row in rows],
        weights,
        low=judged.scale.low,
        high=judged.scale.high,
        design_effect=judged.effect,
    )
    people = Stretch(
        judged.scale, WeightedSums.of([row.label for row in rows], weights), judged.effect
    )
    return CorrectedNow(
        raw=_mean(judged.value, judged.once(), judged.n),
        corrected=_mean(found.value, found.interval, found.n_labels),
        labels=_mean(people.value, people.always(), people.n),
        why=found.reason,
    )


def _mean(value: float | None, interval: Interval | None, n: int) -> MeanWithInterval:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return MeanWithInterval(value, low, high, n)
