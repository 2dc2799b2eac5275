"""Agreement of annotators."""

import json
from pathlib import Path
from random import Random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragstone.stats import AgreementCoefficient
from tests.stats.coefficients import cohen_kappa, krippendorff_alpha, percent_agreement

LABELS = st.sampled_from([0, 1, 2])


@st.composite
def tables(draw: st.DrawFn) -> list[list[int | None]]:
    items = draw(st.integers(1, 15))
    row = st.lists(st.one_of(LABELS, st.none()), min_size=items, max_size=items)
    return draw(st.lists(row, min_size=2, max_size=5))


def value(agreement: AgreementCoefficient) -> float:
    assert agreement.value is not None
    return agreement.value


def test_kappa_by_hand() -> None:
    # Observed 3/4; expected 1/2 * 3/4 + 1/2 * 1/4 = 1/2.
    assert cohen_kappa(["y", "y", "n", "n"], ["y", "y", "y", "n"]) == AgreementCoefficient(
        0.5, None, 4
    )


def test_percent_agreement_by_hand() -> None:
    # Items: one pair of three agrees, the only pair agrees, one rating only.
    ratings: list[list[str | None]] = [["a", "c", "b"], ["a", "c", None], ["b", None, None]]
    agreement = percent_agreement(ratings)
    assert agreement.value == pytest.approx((1 / 3 + 1) / 2)
    assert agreement.n == 2


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    kappa = cohen_kappa(a, b)
    if len({*a, *b}) == 1:
        assert kappa == AgreementCoefficient(None, "no_variation", len(pairs))
    else:
        assert value(kappa) == pytest.approx(cohen_kappa_score(a, b))


@given(tables())
def test_alpha_is_that_of_the_krippendorff_package(table: list[list[int | None]]) -> None:
    alpha = krippendorff_alpha(table)
    if alpha.value is None:
        assert alpha.reason in ("no_pairs", "no_variation")
        return
    as_floats = np.array(table, dtype=float)
    expected = krippendorff.alpha(as_floats, level_of_measurement="nominal")
    assert alpha.value == pytest.approx(expected)


@given(tables(), st.randoms())
def test_order_of_annotators_and_items_does_not_matter(
    table: list[list[int | None]], random: Random
) -> None:
    shuffled = [list(item) for item in zip(*table, strict=True)]
    random.shuffle(shuffled)
    rows = [list(row) for row in zip(*shuffled, strict=True)]
    random.shuffle(rows)
    for coefficient in (krippendorff_alpha, percent_agreement):
        before, after = coefficient(table), coefficient(rows)
        assert after.reason == before.reason
        assert after.value == pytest.approx(before.value)


def test_nan_and_none_are_not_rated() -> None:
    with_nan = np.array([[1, 0, np.nan, 1], [1, 1, 0, np.nan], [1, 0, 0, 1]])
    with_none: list[list[int | None]] = [[1, 0, None, 1], [1, 1, 0, None], [1, 0, 0, 1]]
    assert krippendorff_alpha(with_nan) == krippendorff_alpha(with_none)
    assert cohen_kappa(with_nan[0], with_nan[1]) == cohen_kappa(with_none[0], with_none[1])


def test_labels_that_never_vary_leave_chance_undefined() -> None:
    same = [["y", "y", "y"], ["y", "y", "y"]]
    assert krippendorff_alpha(same) == AgreementCoefficient(None, "no_variation", 3)
    assert cohen_kappa(*same) == AgreementCoefficient(None, "no_variation", 3)
    assert percent_agreement(same) == AgreementCoefficient(1, None, 3)


def test_nothing_rated_twice_has_no_agreement() -> None:
    ratings: list[list[int | None]] = [[1, None], [None, 0]]
    nothing = AgreementCoefficient(None, "no_pairs", 0)
    assert krippendorff_alpha(ratings) == nothing
    assert percent_agreement(ratings) == nothing
    assert cohen_kappa(*ratings) == nothing
    assert krippendorff_alpha([]) == nothing


def test_golden_vectors_hold(shared: Path) -> None:
    text = (shared / "golden" / "seed_vectors.json").read_text("utf-8")
    vectors = {vector["id"]: vector for vector in json.loads(text)["vectors"]}
    own = vectors["iaa.krippendorff.own"]
    alpha = value(krippendorff_alpha(own["input"]["ratings"]))
    assert alpha == pytest.approx(own["expected"]["value"], abs=own["tolerance"])
    own = vectors["iaa.cohen_kappa.own"]
    kappa = value(cohen_kappa(own["input"]["a"], own["input"]["b"]))
    assert kappa == pytest.approx(own["expected"]["value"], abs=own["tolerance"])
    degenerate = vectors["iaa.degenerate"]
    ratings, expected = degenerate["input"]["ratings"], degenerate["expected"]
    for agreement in (krippendorff_alpha(ratings), cohen_kappa(*ratings)):
        assert agreement.value is None
        assert agreement.reason == expected["reason"]
    assert percent_agreement(ratings).value == expected["percent_agreement"]
