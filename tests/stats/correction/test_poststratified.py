"""Post-stratified rates: what people said of each verdict, weighed by its share."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats import cluster_wilson, wilson
from ragstone.stats.correction.corrected import Corrected
from ragstone.stats.correction.poststratified import (
    clustered_share_variance,
    design_effect,
    poststratify,
)
from tests.stats.intervals import ends

Ints = NDArray[np.int64]


def simulated(seed: int, n: int = 200, accuracy: float = 0.9) -> tuple[Ints, Ints, Ints]:
    """Verdicts on 2,000 rows, which are labelled, and their labels."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(2000) < 0.3).astype(np.int64)
    verdicts = np.where(rng.random(2000) < accuracy, truth, 1 - truth)
    rows = rng.choice(2000, n, replace=False)
    return verdicts, rows, truth[rows]


def test_rates_of_the_verdicts_are_weighed_by_their_shares() -> None:
    # 6 of 10 rows are called positive; of those labelled 3 of 4 are, of the others 1 of 2.
    verdicts = [1] * 6 + [0] * 4
    result = poststratify(verdicts, [0, 1, 2, 3, 6, 7], [1, 1, 1, 0, 1, 0]).at(0.95)
    assert result.value == pytest.approx(0.6 * 3 / 4 + 0.4 * 1 / 2)
    assert [(one.verdict, one.n_judged, one.n_labels, one.rate) for one in result.strata] == [
        (0, 4, 2, 0.5),
        (1, 6, 4, 0.75),
    ]
    assert result.method == "poststratified"
    assert result.n_labels == 6
    assert result.flags == ("few_labels",)


def test_judge_who_always_says_the_same_leaves_wilson() -> None:
    labels = [1] * 13 + [0] * 37
    result = poststratify(["yes"] * 400, np.arange(50), labels).at(0.95)
    assert ends(result.interval) == pytest.approx(ends(wilson(13, 50)))
    assert result.effective_labels == pytest.approx(50)


def test_judge_who_always_says_the_same_leaves_cluster_wilson() -> None:
    rng = np.random.default_rng(3)
    sums = rng.binomial(5, rng.beta(0.6, 1.4, 40))
    labels = np.concatenate([[1] * int(k) + [0] * (5 - int(k)) for k in sums])
    clusters = np.arange(400) // 5
    result = poststratify(np.zeros(400), np.arange(200), labels, clusters=clusters).at(0.95)
    assert ends(result.interval) == pytest.approx(ends(cluster_wilson(sums, np.full(40, 5))))


def test_good_judge_makes_the_interval_narrower() -> None:
    verdicts, rows, labels = simulated(1)
    result = poststratify(verdicts, rows, labels).at(0.95)
    alone = ends(wilson(float(labels.sum()), 200))
    assert result.interval is not None
    assert result.interval.high - result.interval.low < 0.8 * (alone[1] - alone[0])
    assert result.effective_labels is not None
    assert result.effective_labels > 300
    assert result.interval.method == "poststratified_wilson"


def test_mask_and_places_are_the_same() -> None:
    verdicts, rows, labels = simulated(2)
    order = np.argsort(rows)
    mask = np.zeros(2000, dtype=bool)
    mask[rows] = True
    assert poststratify(verdicts, mask, labels[order]).at(0.95) == poststratify(
        verdicts, rows[order], labels[order]
    ).at(0.95)


def test_weights_that_are_equal_within_each_verdict_change_nothing() -> None:
    """A sample drawn by verdict: 1 in 2 of the positives, 1 in 20 of the negatives."""
    verdicts, rows, labels = simulated(4)
    plain = poststratify(verdicts, rows, labels).at(0.95)
    weighted = poststratify(
        verdicts, rows, labels, weights=np.where(verdicts[rows] == 1, 2.0, 20.0)
    ).at(0.95)
    assert weighted.value == pytest.approx(plain.value)
    assert ends(weighted.interval) == pytest.approx(ends(plain.interval))


def test_unequal_weights_inside_a_verdict_count_as_kish_says_or_less() -> None:
    # Weights 1 and 3 in one stratum: rate (1 + 3) / 8, and 16 rows are worth 16 · 64 / (4 · 20).
    weights, labels = [1.0, 3.0] * 8, [1, 1, 0, 0] * 4
    result = poststratify([0] * 50, np.arange(16), labels, weights=weights).at(0.95)
    assert result.value == pytest.approx(0.5)
    assert result.strata[0].effective_labels <= 16 * 16 / 20 + 1e-9
    assert result.strata[0].effective_labels > 0.9 * 16 * 16 / 20


def test_verdict_that_no_one_has_looked_at_is_open_and_flagged() -> None:
    verdicts = [1] * 20 + [0] * 80
    result = poststratify(verdicts, np.arange(40, 80), [0] * 30 + [1] * 10).at(0.95)
    assert "unlabelled_stratum" in result.flags
    assert result.value == pytest.approx(0.25)
    negative, positive = result.strata
    assert (positive.n_labels, positive.rate, ends(positive.interval)) == (0, None, (0, 1))
    assert ends(result.interval) == pytest.approx(
        (0.8 * ends(negative.interval)[0], 0.8 * ends(negative.interval)[1] + 0.2), abs=0.02
    )


def test_missing_verdict_is_a_stratum_like_any_other() -> None:
    result = poststratify(["yes", None, "no", None], [0, 1, 2], [1, 1, 0]).at(0.95)
    assert {one.verdict for one in result.strata} == {"yes", "no", None}
    assert result.value == pytest.approx(1 / 4 + 2 / 4)


def test_no_labels_say_nothing() -> None:
    assert poststratify([0, 1], [], []).at(0.95) == Corrected(
        None, None, "poststratified", 0, None, reason="no_labels"
    )


def test_one_labelled_cluster_cannot_tell() -> None:
    result = poststratify([0, 0, 1, 1], [0, 1], [1, 0], clusters=[7, 7, 8, 8]).at(0.95)
    assert (result.value, result.interval, result.reason) == (0.5, None, "one_cluster")


def test_one_label_gives_a_wide_interval() -> None:
    low, high = ends(poststratify([0] * 9, [3], [1]).at(0.95).interval)
    assert high == 1
    assert low < 0.25


def test_rows_in_whole_clusters_tell_less() -> None:
    verdicts, _, _ = simulated(5)
    labels = np.repeat(np.random.default_rng(5).integers(0, 2, 40), 5)
    alone = poststratify(verdicts, np.arange(200), labels).at(0.95)
    shared = poststratify(verdicts, np.arange(200), labels, clusters=np.arange(2000) // 5).at(0.95)
    assert shared.value == alone.value
    assert shared.effective_labels is not None
    assert alone.effective_labels is not None
    assert shared.effective_labels < alone.effective_labels / 3


def test_estimate_made_ready_is_the_same_at_every_level() -> None:
    verdicts, rows, labels = simulated(6)
    ready = poststratify(verdicts, rows, labels)
    for level in (0.5, 0.9, 0.95):
        assert ready.at(level) == poststratify(verdicts, rows, labels).at(level)
    narrow, wide = ends(ready.at(0.5).interval), ends(ready.at(0.9).interval)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), min_size=1, max_size=40),
    st.booleans(),
    st.randoms(),
)
def test_order_of_rows_does_not_matter_and_intervals_stay_in_the_range(
    rows: list[tuple[int, bool, bool]], clustered: bool, random: Random
) -> None:
    clusters = [place // 3 for place in range(len(rows))]
    drawn = list(zip(rows, clusters, strict=True))

    def result() -> Corrected:
        labelled = np.array([row[1] for row, _ in drawn])
        return poststratify(
            [row[0] for row, _ in drawn],
            labelled,
            [int(row[2]) for row, _ in drawn if row[1]],
            clusters=[cluster for _, cluster in drawn] if clustered else None,
        ).at(0.95)

    first = result()
    random.shuffle(drawn)
    second = result()
    assert first.value == pytest.approx(second.value)
    if first.interval is not None and first.value is not None:
        low, high = ends(first.interval)
        assert (low, high) == pytest.approx(ends(second.interval), abs=1e-9)
        assert 0 <= low <= first.value <= high <= 1
        assert low < high


@pytest.mark.parametrize(
    ("verdicts", "labelled", "labels", "more", "says"),
    [
        ([0, 1], [0, 1], [2, 0], {}, "0 or 1"),
        ([0, 1], [0, 1], [1, 0], {"weights": [0, 1]}, "above 0"),
        ([0, 1], [0, 1], [1, 0], {"clusters": [1]}, "2 rows have 1 clusters"),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    verdicts: list[float], labelled: list[int], labels: list[int], more: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        poststratify(verdicts, labelled, labels, **more)


def test_shares_of_clusters_vary_as_the_mean_of_the_clusters() -> None:
    # The judge is right about all six rows, and its clusters say yes in 1, 0 and 1/2 of the cases.
    verdicts, clusters = np.array([1, 1, 0, 0, 1, 0]), np.array([0, 0, 1, 1, 2, 2])
    shares, rates, nothing = np.full(2, 0.5), np.array([0.0, 1.0]), np.zeros(6)
    found = clustered_share_variance(verdicts, clusters, np.arange(6), shares, rates, nothing)
    assert found == pytest.approx(np.var([1, 0, 0.5], ddof=1) / 3)


def test_design_effect_by_hand_counts_a_stratum_of_one_label() -> None:
    # Shares .5: rates 1/2 of one row's worth and 1/4 of four; clusters add .2, -.4 and .2.
    binomial = 0.25 * (1 / 4) / 1 + 0.25 * (3 / 16) / 4
    spread = 3 / 2 * (0.04 + 0.16 + 0.04)
    expected = (spread + 0.5 * 0.5 / 9) / (binomial + 0.5 * (0.25 / 1 + 0.25 / 4) / 3)
    shares, rates, sizes = np.array([0.5, 0.5]), np.array([0.5, 0.25]), np.array([1.0, 4.0])
    found = design_effect(shares, rates, sizes, np.array([0.2, -0.4, 0.2]))
    assert found == pytest.approx(expected)
