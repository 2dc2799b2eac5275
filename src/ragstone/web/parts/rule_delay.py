"""Rule delay: after how many judged answers a rule notices a fall, simulated for that rule."""

from dataclasses import dataclass

from ragstone.core.errors import InputError
from ragstone.monitor.alarms.slice_rules import limit_for, share_of
from ragstone.monitor.settings import AlarmPromise, AlarmRule
from ragstone.report.number_format import number
from ragstone.stats.monitoring.detection_delay import Delay, Traffic, expected_delay
from ragstone.stats.monitoring.detector import Detector

from .moments import HOUR, length_in_words

EDGE = 0.001
MOST = 10_000


@dataclass(frozen=True, slots=True)
class FallOfMean:
    """A fall of a metric's mean, on its own scale."""

    before: float
    after: float


def usual_fall(rule: AlarmRule, bar: float) -> FallOfMean:
    """The fall that a rule's delay is told for: from a mean that is right to one that is not.

    It begins half as far on the good side of the bar as the mean falls in all.
    """
    way = 1 if rule.better == "+" else -1
    above = rule.margin or rule.drop / 2
    scale = rule.range
    room = (scale.high - scale.low) * EDGE
    before = min(max(bar + way * above, scale.low + room), scale.high - room)
    after = min(max(before - way * rule.drop, scale.low + room), scale.high - room)
    return FallOfMean(before, after)


def rule_delay(
    rule: AlarmRule, bar: float, fall: FallOfMean, promise: AlarmPromise, shares: int, rate: float
) -> Delay:
    """After how many judged answers a rule notices a fall.

    Args:
        rule: What is watched.
        bar: On the metric's own scale.
        fall: Of the mean.
        promise: On false alarms.
        shares: Among how many detectors it is divided.
        rate: With which every answer is drawn to be judged.

    Raises:
        InputError: A number is out of its range, or the mean does not get worse.
    """
    before, after = share_of(rule, fall.before), share_of(rule, fall.after)
    if not after < before:
        raise InputError("A fall ends at a mean that is worse than the one before it.")
    before = min(max(before, EDGE), 1 - EDGE)
    after = min(max(after, EDGE / 2), before - EDGE / 4)
    at = min(max(share_of(rule, bar), EDGE), 1 - EDGE)
    detector = Detector(at, limit_for(promise, shares), rate)
    healthy = Traffic.of(before, probabilities=rate)
    return expected_delay(detector, healthy, before - after, most=MOST)


def judged_of(rule: AlarmRule) -> str:
    """What a rule looks at, in words."""
    return "judged conversations" if rule.of == "sessions" else "judged answers"


def in_words(
    delay: Delay, fall: FallOfMean, answers_an_hour: float, *, of: str = "judged answers"
) -> str:
    """A delay as a sentence.

    Args:
        delay: What was simulated.
        fall: Of the mean.
        answers_an_hour: That are judged, of this rule; 0 where nobody knows.
        of: What is looked at.
    """
    told = f"{number(fall.before)} → {number(fall.after)}"
    if delay.median is None:
        return (
            f"{told}: noticed within {delay.most:,} {of} in only "
            f"{100 * delay.noticed:.0f} of 100 falls"
        )
    later = f"9 of 10 after {delay.p90:,}" if delay.p90 else "and some much later"
    if answers_an_hour:
        hours = length_in_words(delay.median / answers_an_hour * HOUR)
        return f"{told}: half noticed after {delay.median:,} {of} ({hours} now), {later}"
    return f"{told}: half noticed after {delay.median:,} {of}, {later}"
