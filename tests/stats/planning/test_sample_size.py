from math import ceil

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from ragstone.core.errors import InputError
from ragstone.stats.cluster_means import mean_interval
from ragstone.stats.planning.sample_size import (
    mean_sample_size,
    pilot,
    rate_half_width,
    rate_sample_size,
)
from ragstone.stats.weights_and_groups import smallest


def half_of(rate: float, rows: int, level: float = 0.95) -> float:
    low, high = proportion_confint(rate * rows, rows, alpha=1 - level, method="wilson")
    return float(high - low) / 2


@pytest.mark.parametrize("rate", [0, 0.003, 0.05, 0.3, 0.5, 0.8, 1])
@pytest.mark.parametrize("half_width", [0.004, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_fewest_rows_whose_wilson_interval_is_narrow_enough(
    rate: float, half_width: float, level: float
) -> None:
    rows = rate_sample_size(rate, half_width, level=level)
    assert half_of(rate, rows, level) <= half_width * (1 + 1e-9)
    assert rows == 1 or half_of(rate, rows - 1, level) > half_width


def test_half_of_all_rows_needs_about_z_squared_over_four_half_widths_squared() -> None:
    assert rate_sample_size(0.5, 0.05) == ceil(1.959964**2 * (0.25 / 0.05**2 - 1))


def test_an_event_that_never_happens_needs_rows_too() -> None:
    assert rate_sample_size(0, 0.01) == 189


@pytest.mark.parametrize(
    ("rate", "half_width", "level"),
    [(1.2, 0.1, 0.95), (0.5, 0, 0.95), (0.5, 0.5, 0.95), (0.5, 0.1, 1)],
)
def test_arguments_out_of_range_are_refused(rate: float, half_width: float, level: float) -> None:
    with pytest.raises(InputError):
        rate_sample_size(rate, half_width, level=level)


def test_rate_half_width_is_half_of_wilsons_interval() -> None:
    assert rate_half_width(0.3, 57) == pytest.approx(half_of(0.3, 57))


def test_a_pilot_knows_its_design_effect() -> None:
    alike = pilot([1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0], [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    assert alike.mean == 0.5
    assert alike.rows_per_cluster == 3
    # Clusters of three equal rows: variance of the mean is 4 / 3 · 1 / 4 / 4, of rows 3 / 11.
    assert alike.cluster_deviation**2 == pytest.approx(1 / 3)
    assert alike.design_effect == pytest.approx(3 * (1 / 3) / (3 / 11))


def test_rows_of_their_own_have_the_design_effect_one() -> None:
    values = np.random.default_rng(1).random(50)
    first = pilot(values, np.arange(50))
    assert first.design_effect == pytest.approx(1)
    assert first.cluster_deviation == pytest.approx(values.std(ddof=1))


def half_of_mean(values: np.ndarray, clusters: np.ndarray, *, rate: bool, bound: bool) -> float:
    """What ``mean_interval`` says."""
    _, at = np.unique(clusters, return_inverse=True)
    sums, squares = np.bincount(at, values), np.bincount(at, values**2)
    found = mean_interval(
        sums, np.bincount(at), squares,
        rate=rate, low=0 if bound else None, high=1 if bound else None,
    ).interval  # fmt: skip
    assert found is not None
    return (found.high - found.low) / 2


@pytest.mark.parametrize(("rate", "bound"), [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("each", [1, 4])
def test_the_pilots_own_half_width_needs_the_pilots_own_size(
    rate: bool, bound: bool, each: int
) -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), each)
    values = np.clip(rng.random(40)[clusters] + 0.2 * rng.normal(size=40 * each), 0, 1)
    values = (values > 0.4).astype(float) if rate else values
    half = half_of_mean(values, clusters, rate=rate, bound=bound)
    low, high = (0.0, 1.0) if bound else (None, None)
    found = mean_sample_size(
        pilot(values, clusters), half * (1 + 1e-9), rate=rate, low=low, high=high
    )
    assert found is not None
    assert found.rows == 40 * each
    assert found.clusters == (None if each == 1 else 40)
    assert found.half_width == pytest.approx(half)


@pytest.mark.parametrize("rate", [True, False])
def test_a_run_of_the_size_found_is_as_narrow_as_was_asked(rate: bool) -> None:
    rng = np.random.default_rng(5)

    def draw(questions: int) -> tuple[np.ndarray, np.ndarray]:
        clusters = np.repeat(np.arange(questions), 5)
        own = rng.beta(2, 2, questions)[clusters]
        values = rng.random(len(clusters)) < own if rate else rng.beta(4 * own, 4 * (1 - own))
        return values.astype(float), clusters

    found = mean_sample_size(pilot(*draw(400)), 0.04, rate=rate, low=0, high=1)
    assert found is not None
    assert found.clusters is not None
    halves = [half_of_mean(*draw(found.clusters), rate=rate, bound=True) for _ in range(20)]
    assert np.mean(halves) == pytest.approx(0.04, rel=0.08)


def test_a_pilot_that_does_not_vary_is_taken_as_one_row_a_cluster() -> None:
    same = pilot([0.5] * 30, range(30))
    assert same.design_effect is None
    found = mean_sample_size(same, 0.1, rate=False, low=0, high=1)
    assert found is not None
    assert abs(found.rows - rate_sample_size(0.5, 0.1)) <= 3  # t instead of the normal
    assert mean_sample_size(same, 0.1, rate=False) is None


@pytest.mark.parametrize("values", [[], [0.3], [0.1, 0.9]])
def test_a_pilot_needs_two_clusters(values: list[float]) -> None:
    with pytest.raises(InputError, match="two clusters"):
        pilot(values, [7] * len(values))


def test_what_no_number_reaches_is_refused() -> None:
    with pytest.raises(InputError, match="less precision"):
        smallest(lambda _: False)


@pytest.mark.parametrize("least", [1, 2, 77, 1024, 1025])
def test_smallest_finds_the_first_that_is_enough(least: int) -> None:
    assert smallest(lambda n: n >= least) == least


@pytest.mark.parametrize("rate", [0, 0.1, 0.37, 0.5])
def test_the_half_width_of_so_many_rows_needs_just_these(rate: float) -> None:
    for rows in range(1, 400):
        assert rate_sample_size(rate, rate_half_width(rate, rows)) == rows


def test_scores_on_another_scale_need_as_many_rows() -> None:
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(30), 3)
    values = np.clip(rng.random(30)[clusters] + 0.1 * rng.normal(size=90), 0, 1)
    shares = mean_sample_size(pilot(values, clusters), 0.05, rate=False, low=0, high=1)
    stars = mean_sample_size(pilot(1 + 4 * values, clusters), 0.2, rate=False, low=1, high=5)
    assert shares is not None
    assert stars is not None
    assert (stars.rows, stars.clusters) == (shares.rows, shares.clusters)
    assert stars.half_width == pytest.approx(4 * shares.half_width)


@pytest.mark.parametrize(("rate", "rows"), [(1.5, 10), (-0.1, 10), (0.5, 0)])
def test_no_half_width_of_what_is_no_rate(rate: float, rows: float) -> None:
    with pytest.raises(InputError, match="rate must lie in"):
        rate_half_width(rate, rows)
