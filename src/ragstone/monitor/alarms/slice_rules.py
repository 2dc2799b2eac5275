"""Slice rules: an alarm rule on a slice, with its bar, detectors and share of the promise."""

import json
from dataclasses import dataclass
from functools import cached_property

from ragstone.monitor.series.baselines import AlarmBar, unit_of
from ragstone.monitor.settings import AlarmPromise, AlarmRule, MonitorSettings
from ragstone.stats.monitoring.detector import Detector, limit_of_gap, on_a_share, promised_limit

# A bar is at least this far inside the range: at an end of it the first worse answer would be an
# alarm, or none ever.
EDGE = 0.001

# Slices of a rule that are watched. The later one comes, the more evidence it wants.
MOST_SLICES = 200

# For each alarm: the probability that it is declared over within so many judged answers although
# the mean is still at its bar or worse.
RECOVERY = AlarmPromise(0.05, 200)


@dataclass(frozen=True)
class WatchedSlice:
    """A rule at work on one slice.

    Attributes:
        least: The least probability with which its answers are drawn to be judged.
        judge: Whose scores the bar was counted from; None where the bar is nobody's.
    """

    rule: AlarmRule
    slice: str
    number: int
    bar: AlarmBar
    limit: float
    least: float = 1.0
    begun: int = 0
    judge: str | None = None

    @property
    def facet(self) -> tuple[str, str] | None:
        """Facet and value of its answers; None for all."""
        return facet_of(self.slice)

    @cached_property
    def bar_share(self) -> float:
        """The bar as a share from 0 to 1, of which 1 is the best."""
        return min(max(share_of(self.rule, self.bar.value), EDGE), 1 - EDGE)

    @cached_property
    def falling(self) -> Detector:
        """Notices that the mean is worse than the bar."""
        return Detector(self.bar_share, self.limit, self.least)

    @cached_property
    def recovering(self) -> Detector:
        """Notices that the mean is better than the bar: of the scores' distance from 1."""
        return Detector(1 - self.bar_share, limit_for(RECOVERY, 1), self.least)

    @property
    def identity(self) -> str:
        """Return the key of its state: with another bar or metric a detector starts anew."""
        of = {"metric": self.rule.metric, "better": self.rule.better, "bar": self.bar_share}
        return json.dumps({**of, **unit_of(self.rule)})


def facet_of(slice: str) -> tuple[str, str] | None:
    """Facet and value of a slice that is written ``facet=value``; None for all traffic."""
    facet, _, value = slice.partition("=")
    return (facet, value) if facet else None


def share_of(rule: AlarmRule, value: float) -> float:
    """Return a value of the rule's metric as a share from 0 to 1, of which 1 is the best."""
    scale = rule.range
    low, high = scale.low, scale.high
    inside = min(max(value, low), high)
    return float(on_a_share(inside, low=low, high=high, less_is_better=rule.better == "-"))


def limit_for(promise: AlarmPromise, shares: int) -> float:
    """Return the evidence that an alarm wants of a detector with one of these shares."""
    if promise.false_alarms is None:
        return limit_of_gap(promise.answers, detectors=shares)
    return promised_limit(promise.false_alarms, promise.answers, detectors=shares)


def shares_of(settings: MonitorSettings, rule: AlarmRule, number: int = 1) -> int:
    """Return into how many shares the promise is cut of which the ``number``-th slice has one.

    A promise is divided evenly by the rules that have it together. Where slices keep coming, the
    k-th of a rule has 1 / (k (k + 1)) of its part: however many come, and whenever, they never
    have more than the part, and none of them changes what another one was promised.
    """
    of_rule = number * (number + 1) if rule.facet is not None and rule.value is None else 1
    return of_rule * (settings.sharing if rule.promise is None else 1)


def watched(
    settings: MonitorSettings,
    rule: AlarmRule,
    bar: AlarmBar,
    *,
    slice: str = "",
    number: int = 1,
    begun: int = 0,
    judge: str | None = None,
) -> WatchedSlice:
    """Return a rule at work on its ``number``-th slice."""
    promise = rule.promise or settings.promise
    limit = limit_for(promise, shares_of(settings, rule, number))
    # The guard checks every answer.
    least = 1.0 if rule.metric.startswith("guard_") else settings.sampling.least
    return WatchedSlice(rule, slice, number, bar, limit, least, begun, judge)
