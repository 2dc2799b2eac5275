"""Which correction a rate gets is settled before a label is seen."""

import numpy as np
import pytest

from ragstone.stats.correction.corrected import joined_strata
from ragstone.stats.correction.ppi_and_rogan_gladen import favoured, prediction_powered

TENTH = np.arange(1000) < 100


@pytest.mark.parametrize(
    ("scores", "n", "expected"),
    [
        (TENTH, 50, "ppi_plus_plus"),
        (TENTH, 49, "poststratified"),
        (~TENTH, 50, "ppi_plus_plus"),
        (~TENTH, 49, "poststratified"),
        (TENTH / 2, 99, "poststratified"),
        (np.arange(1000) % 5 / 4, 10, "ppi_plus_plus"),
        (np.arange(1000) % 6 / 5, 500, "poststratified"),
        (TENTH, 0, "poststratified"),
    ],
)
def test_five_of_each_of_few_verdicts_are_to_be_expected(
    scores: np.ndarray, n: int, expected: str
) -> None:
    assert favoured(scores, np.arange(n)) == expected


def test_clusters_count_in_place_of_their_rows_and_twenty_are_needed() -> None:
    half, fives = np.arange(1000) % 2, np.arange(1000) // 5
    assert favoured(half, np.arange(100), clusters=fives) == "ppi_plus_plus"
    assert favoured(half, np.arange(95), clusters=fives) == "poststratified"
    assert favoured(TENTH, np.arange(250), clusters=fives) == "ppi_plus_plus"
    assert favoured(TENTH, np.arange(245), clusters=fives) == "poststratified"


def test_unequal_weights_count_as_kishs_number_of_rows() -> None:
    unequal = np.where(np.arange(60) < 30, 1.0, 9.0)
    assert favoured(TENTH, np.arange(60)) == "ppi_plus_plus"
    assert favoured(TENTH, np.arange(60), weights=unequal) == "poststratified"


def test_rare_strata_join_the_nearest_in_value() -> None:
    scores = np.repeat([0.0, 0.2, 0.5, 1.0], [400, 20, 180, 400])
    assert np.bincount(joined_strata(scores, 100)).tolist() == [420, 180, 400]
    assert np.bincount(joined_strata(scores, 20)).tolist() == [600, 400]
    assert np.bincount(joined_strata(scores, 250)).tolist() == [400, 20, 180, 400]


def test_two_strata_are_left_however_rare_one_is() -> None:
    scores = np.repeat([0.0, 0.5, 1.0], [960, 20, 20])
    assert np.bincount(joined_strata(scores, 50)).tolist() == [980, 20]
    assert np.bincount(joined_strata(np.repeat([0, 1], [999, 1]), 10)).tolist() == [999, 1]


def test_errors_that_no_label_met_are_not_taken_for_none() -> None:
    """Thirty labels all agree with the judge: three in a hundred wrong would leave that likely."""
    judge = np.arange(300) % 2
    sure = prediction_powered(judge, np.arange(30), judge[:30], low=0, high=1).at(0.95).interval
    found = (
        prediction_powered(judge, np.arange(30), judge[:30], low=0, high=1, rate=True)
        .at(0.95)
        .interval
    )
    assert sure is not None
    assert found is not None
    assert found.low < 0.47
    assert found.high > 0.53
    assert sure.high - sure.low < found.high - found.low


def test_a_rare_stratum_joins_the_one_of_the_nearest_mean_however_many_rows_that_has() -> None:
    scores = np.repeat([0.1, 0.8, 0.9], [500, 5, 400])
    assert np.bincount(joined_strata(scores, 50)).tolist() == [500, 405]
