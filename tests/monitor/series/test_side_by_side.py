"""What is now is compared with what was before, and the comparison may be looked at at any time."""

import numpy as np
import pytest

from ragstone.analysis.comparison.comparison_result import Verdict
from ragstone.analysis.scored_run import ValueRange
from ragstone.monitor.series.baselines import SettledMean, verdict_beside
from ragstone.monitor.series.metric_over_time import Window
from ragstone.stats.comparison.differences import unpaired_difference
from ragstone.stats.distributions import wilson
from ragstone.stats.monitoring.windows import WeightedSums

BETTER, WORSE = ValueRange(0, 1, "+", rate=True), ValueRange(0, 1, "-", rate=True)


def rate(successes: int, n: int) -> SettledMean:
    """A rate of a run."""
    return SettledMean(successes / n, n, lambda level: wilson(successes, n, level=level))


def window(successes: int, n: int, scale: ValueRange = BETTER) -> Window:
    return Window(scale, WeightedSums.of([1.0] * successes + [0.0] * (n - successes)), 1.0)


@pytest.mark.parametrize(
    ("now", "before", "scale", "verdict"),
    [
        ((600, 1000), (900, 1000), BETTER, "worse"),
        ((900, 1000), (600, 1000), BETTER, "better"),
        ((600, 1000), (900, 1000), WORSE, "better"),
        ((900, 1000), (600, 1000), WORSE, "worse"),
        ((60, 100), (70, 100), BETTER, "cannot_tell"),
        ((80_000, 100_000), (80_000, 100_000), BETTER, "equivalent"),
        # A difference that is sure, and too small to matter.
        ((81_000, 100_000), (79_500, 100_000), BETTER, "equivalent"),
        ((600, 1000), (900, 1000), ValueRange(0, 1, "0", rate=True), "cannot_tell"),
    ],
)  # fmt: skip
def test_verdicts(
    now: tuple[int, int], before: tuple[int, int], scale: ValueRange, verdict: Verdict
) -> None:
    assert verdict_beside(window(*now, scale), rate(*before), margin=0.05) == verdict


def test_without_a_margin_nothing_is_equivalent() -> None:
    found = verdict_beside(window(80_000, 100_000), rate(80_000, 100_000), margin=None)
    assert found == "cannot_tell"


def test_equivalent_takes_two_one_sided_tests() -> None:
    now, before = window(1600, 2000), rate(1600, 2000)

    def reach(level: float) -> float:
        always, once = now.always(level), before.once(level)
        assert always is not None
        assert once is not None
        found = unpaired_difference(0.8, always, 0.8, once, level=level)
        return max(-found.low, found.high)

    between = (reach(0.9) + reach(0.95)) / 2
    assert verdict_beside(now, before, margin=between) == "equivalent"
    closer = reach(0.9) - 0.0001
    assert verdict_beside(now, before, margin=closer) == "cannot_tell"


def test_of_many_comparisons_each_has_to_be_the_surer() -> None:
    now, before = window(700, 1000), rate(800, 1000)
    assert verdict_beside(now, before, margin=None) == "worse"
    assert verdict_beside(now, before, margin=None, family=10_000) == "cannot_tell"


def test_where_nothing_was_judged_or_there_are_no_bounds_nothing_can_be_told() -> None:
    assert verdict_beside(window(0, 0), rate(8, 10), margin=0.05) == "cannot_tell"
    endless = Window(ValueRange(None, None, "+", rate=False), WeightedSums.of([1.0, 2.0]), 1.0)
    assert verdict_beside(endless, rate(8, 10), margin=0.05) == "cannot_tell"


def test_no_difference_is_called_one_at_any_look() -> None:
    rng = np.random.default_rng(1)
    false = 0
    for _ in range(60):
        before = rate(int(rng.binomial(250, 0.8)), 250)
        x = (rng.random(1000) < 0.8).astype(float)
        looks = [verdict_beside(Window(BETTER, WeightedSums.of(x[:n]), 1.0), before,
                              margin=None) for n in range(50, 1001, 50)]  # fmt: skip
        false += any(one != "cannot_tell" for one in looks)
    assert false / 60 <= 0.05
