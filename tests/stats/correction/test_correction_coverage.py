"""How often corrected rates hold the truth, and how wide they are beside labels alone.

Short forms of ``benchmarks/correction.py``, drawn by its code: 2,000 judged rows, judges
with sensitivity = specificity.
"""

from typing import Any

import numpy as np
import pytest

from ragstone.stats.correction.poststratified import poststratify
from ragstone.stats.correction.ppi_and_rogan_gladen import prediction_powered
from tests.scripts import script

RATES = (0.02, 0.05, 0.3, 0.7, 0.97)
ACCURACIES = (0.8, 0.9, 0.98)


benchmark: Any = script("correction")


@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("rate", RATES)
def test_corrected_rates_hold_the_truth_and_are_no_wider_than_labels_alone(
    rate: float, accuracy: float
) -> None:
    rng = np.random.default_rng(11)
    for n in (50, 100, 300):
        found, chosen = benchmark.independent(rate, accuracy, n, 2000, rng)
        assert min(found.coverage, chosen.coverage) >= 0.935
        assert max(found.width, chosen.width) <= 1.03
        if rate in (0.3, 0.7) and n >= 100:
            assert found.width <= (0.9 if accuracy < 0.9 else 0.75)


@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("rate", RATES)
def test_whole_questions_hold_the_truth_where_rows_taken_as_independent_do_not(
    rate: float, accuracy: float
) -> None:
    rng = np.random.default_rng(12)
    shared, alone = benchmark.clustered(rate, accuracy, 600, rng)
    assert shared.coverage >= 0.935
    assert alone.coverage <= 0.93
    assert shared.width <= 1


def test_draws_are_corrected_as_the_function_does_it() -> None:
    """The benchmark computes many draws at once; each is what ``poststratify`` gives."""
    rng = np.random.default_rng(13)
    drawn = benchmark.draw(0.3, 0.9, 60, 5, rng)
    low, high = benchmark.score_ends(drawn)
    for one in range(5):
        judged = np.round(drawn.shares[one] * 2000).astype(int)
        labelled = drawn.sizes[one].astype(int)
        positives = np.round(drawn.rates[one] * drawn.sizes[one]).astype(int)
        verdicts = np.repeat([0, 1], judged)
        rows = np.concatenate([np.arange(labelled[0]), judged[0] + np.arange(labelled[1])])
        labels = np.concatenate([np.arange(labelled[k]) < positives[k] for k in (0, 1)])
        interval = poststratify(verdicts, rows, labels).at(0.95).interval
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((low[one], high[one]), abs=1e-9)


def test_draws_are_powered_as_the_function_does_it() -> None:
    """The same of ``prediction_powered``, from the same counts."""
    drawn = benchmark.draw(0.3, 0.9, 60, 5, np.random.default_rng(14))
    low, high = benchmark.ppi_ends(drawn, 60)
    for one in range(5):
        judged = np.round(drawn.shares[one] * 2000).astype(int)
        labelled = drawn.sizes[one].astype(int)
        positives = np.round(drawn.rates[one] * drawn.sizes[one]).astype(int)
        rows = np.concatenate([np.arange(labelled[0]), judged[0] + np.arange(labelled[1])])
        labels = np.concatenate([np.arange(labelled[k]) < positives[k] for k in (0, 1)])
        interval = (
            prediction_powered(np.repeat([0, 1], judged), rows, labels, low=0, high=1, rate=True)
            .at(0.95)
            .interval
        )
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((low[one], high[one]), abs=1e-9)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.7])
def test_the_function_itself_holds_the_truth_over_whole_questions(rate: float) -> None:
    """40 of 400 questions labelled, five answers each, that correlate by .33."""
    rng, spread, held = np.random.default_rng(13), (1 - 0.33) / 0.33, 0
    questions = np.repeat(np.arange(400), 5)
    for _ in range(150):
        own = np.repeat(rng.beta(rate * spread, (1 - rate) * spread, 400), 5)
        people = (rng.random(2000) < own).astype(int)
        judge = np.where(rng.random(2000) < 0.9, people, 1 - people)
        found = poststratify(judge, np.arange(200), people[:200], clusters=questions).at(0.95)
        assert found.interval is not None
        held += found.interval.low <= rate <= found.interval.high
    assert held >= 0.9 * 150
