"""Coefficients of agreement, each against pencil and paper and against another library."""

from collections.abc import Sequence
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from ragstone.stats.agreement.coefficients import (
    CoefficientName,
    Scale,
    agreement_coefficients,
    kappa_with_interval,
)
from ragstone.stats.agreement.ratings import AgreementCoefficient
from tests.stats.coefficients import (
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    light_kappa,
    quadratic_kappa,
)

GRADES = st.integers(1, 5)
Table = list[list[int | None]]


@st.composite
def tables(draw: st.DrawFn, gaps: bool = False) -> Table:
    items = draw(st.integers(2, 12))
    cell = st.one_of(GRADES, st.none()) if gaps else GRADES
    row = st.lists(cell, min_size=items, max_size=items)
    return draw(st.lists(row, min_size=2, max_size=5))


def value(agreement: AgreementCoefficient) -> float:
    assert agreement.value is not None
    return agreement.value


def test_ac1_by_hand() -> None:
    # Observed 3/4; share of yes 7/8; expected 2 * 7/8 * 1/8 = 7/32.
    pairs = [["y", "y", "y", "y"], ["y", "y", "y", "n"]]
    assert gwet_ac1(pairs).value == pytest.approx((3 / 4 - 7 / 32) / (1 - 7 / 32))


def test_ac1_of_three_labels_by_hand() -> None:
    # Observed 2/3; shares 1/2, 1/3, 1/6; expected (1/4 + 2/9 + 5/36) / 2 = 11/36.
    assert gwet_ac1([[1, 1, 2], [1, 3, 2]]).value == pytest.approx((2 / 3 - 11 / 36) / (25 / 36))


def test_ac1_holds_where_kappa_collapses() -> None:
    # 97 items both yes, 3 on which they differ: kappa is below 0, AC1 near the raw agreement.
    a, b = ["y"] * 98 + ["n"] * 2, ["y"] * 97 + ["n"] + ["y"] * 2
    assert value(light_kappa([a, b])) < 0
    assert value(gwet_ac1([a, b])) > 0.95


def test_fleiss_kappa_of_the_example_that_textbooks_print() -> None:
    # Ten items, fourteen raters, five categories: 0.210 after Fleiss (1971).
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    items = [[label for label, n in enumerate(row) for _ in range(n)] for row in counts]
    raters = [list(row) for row in zip(*items, strict=True)]
    assert fleiss_kappa(raters).value == pytest.approx(0.210, abs=5e-4)


def test_what_one_annotator_labelled_alone_counts_in_chance_as_in_gwets_book() -> None:
    # Twelve units, four raters, the last unit rated by one: Gwet (2014), and as cac.raw4raters
    # in the vignette of his R package irrCAC, which prints these values.
    gap = None
    units: Table = [
        [1, 1, gap, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [gap, 5, 5, 5], [gap, gap, 1, 1],
        [gap, gap, 3, gap],
    ]  # fmt: skip
    found = agreement_coefficients([list(row) for row in zip(*units, strict=True)])
    printed: dict[CoefficientName, float] = {
        "percent": 0.81818,
        "fleiss_kappa": 0.76117,
        "krippendorff_alpha": 0.74342,
        "gwet_ac1": 0.77544,
    }
    assert {name: round(value(found[name]), 5) for name in printed} == printed
    assert {one.n for one in found.values()} == {11}


def test_a_label_said_once_and_alone_still_moves_chance() -> None:
    # Two items on which both say yes, one that a single annotator calls no: chance is no longer
    # sure, so both are 1 and not undefined.
    table: list[list[str | None]] = [["y", "y", "n"], ["y", "y", None]]
    assert gwet_ac1(table) == fleiss_kappa(table) == AgreementCoefficient(1.0, None, 2)
    assert krippendorff_alpha(table).reason == "no_variation"
    # And where they differ once: observed 1/2; shares of yes over three items (1 + 1/2 + 0) / 3.
    table = [["y", "y", "n"], ["y", "n", None]]
    assert gwet_ac1(table).value == pytest.approx((1 / 2 - 1 / 2) / (1 - 1 / 2))
    assert fleiss_kappa(table).value == pytest.approx((1 / 2 - 1 / 2) / (1 - 1 / 2))
    assert gwet_ac1([["y", "y", "y"], ["y", "n", None]]).value == pytest.approx(
        (1 / 2 - 2 * 5 / 6 / 6) / (1 - 2 * 5 / 6 / 6)
    )


@given(tables())
def test_fleiss_kappa_is_that_of_statsmodels(table: Table) -> None:
    found = fleiss_kappa(table)
    if found.value is None:
        assert found.reason == "no_variation"
        return
    counts, _ = aggregate_raters(np.array(table).T)
    assert found.value == pytest.approx(fleiss_of_statsmodels(counts), abs=1e-12)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@given(table=tables(gaps=True))
def test_alpha_on_every_scale_is_that_of_the_krippendorff_package(
    scale: Scale, table: Table
) -> None:
    found = krippendorff_alpha(table, scale=scale)
    if found.value is None:
        assert found.reason in ("no_pairs", "no_variation")
        return
    expected = krippendorff.alpha(np.array(table, dtype=float), level_of_measurement=scale)
    assert found.value == pytest.approx(expected, abs=1e-10)


@given(st.lists(st.tuples(GRADES, GRADES), min_size=1))
def test_quadratic_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    found = quadratic_kappa([a, b])
    if found.value is None:
        assert found.reason == "no_variation"
        return
    expected = cohen_kappa_score(a, b, weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_a_grade_is_its_number_not_its_rank() -> None:
    # Distances 0, 0, 4, 0 of 0, 1, 5; drawn apart: mean of squares less twice the means' product.
    a, b = [0, 1, 1, 5], [0, 1, 5, 5]
    observed, expected = 16 / 4, 27 / 4 + 51 / 4 - 2 * (7 / 4) * (11 / 4)
    for found in (
        quadratic_kappa([a, b]),
        kappa_with_interval(a, b, disagreement="quadratic"),
        agreement_coefficients([a, b], scale="ordinal")["weighted_kappa"],
        agreement_coefficients([a, b], scale="interval")["weighted_kappa"],
    ):
        assert found.value == pytest.approx(1 - observed / expected)


@given(tables())
def test_lights_kappa_is_the_mean_over_pairs(table: Table) -> None:
    kappas = [
        cohen_kappa_score(a, b) for a, b in combinations(table, 2) if len({*a, *b}) > 1
    ]  # fmt: skip
    found = light_kappa(table)
    if found.value is None:
        assert not kappas
        return
    assert found.value == pytest.approx(np.mean(kappas), abs=1e-12)


def test_pairs_weigh_as_their_common_items() -> None:
    # a and b on four items, kappa 1/2; a and c on two, kappa 1; b and c on the same two, kappa 1.
    table: list[list[str | None]] = [
        ["y", "y", "n", "n"],
        ["y", "y", "y", "n"],
        [None, "y", None, "n"],
    ]
    assert light_kappa(table).value == pytest.approx((4 * 0.5 + 2 + 2) / 8)


def test_every_coefficient_comes_with_its_own() -> None:
    table: Table = [[1, 2, 3, 3, 1], [1, 2, 2, 3, None], [1, 3, 3, 3, 1]]
    found = agreement_coefficients(table, scale="ordinal")
    assert found["fleiss_kappa"].value == fleiss_kappa(table).value
    assert found["krippendorff_alpha"].value == krippendorff_alpha(table, scale="ordinal").value
    assert found["weighted_kappa"].value == quadratic_kappa(table).value
    assert found["gwet_ac1"].value == gwet_ac1(table).value
    assert {one.n for one in found.values()} == {5}


@pytest.mark.parametrize(
    ("table", "percent", "reason"),
    [
        ([], None, "no_pairs"),
        ([[], []], None, "no_pairs"),
        ([[1], [None]], None, "no_pairs"),
        ([[1], [1]], 1, "no_variation"),
        ([[1, 1, 1], [1, 1, 1]], 1, "no_variation"),
    ],
)
def test_what_has_no_value_says_why(table: Table, percent: float | None, reason: str) -> None:
    found = agreement_coefficients(table)
    assert found["percent"].value == percent
    for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert found[name] == AgreementCoefficient(None, reason, found["percent"].n)


def test_amounts_have_no_kappa_and_words_no_distances() -> None:
    rng = np.random.default_rng(3)
    amounts = rng.random((2, 50)).tolist()
    found = agreement_coefficients(amounts, scale="interval")
    assert found["fleiss_kappa"].reason == "too_many_labels"
    assert found["krippendorff_alpha"].value is not None
    words: Sequence[Sequence[str]] = [["a", "b"], ["a", "a"]]
    found = agreement_coefficients(words, scale="ordinal")
    assert found["krippendorff_alpha"].reason == "not_numbers"
    assert quadratic_kappa(words).reason == "not_numbers"
    assert krippendorff_alpha(words, scale="interval").reason == "not_numbers"
    assert agreement_coefficients(words)["weighted_kappa"].reason == "nominal_scale"


def test_one_item_that_two_labelled_is_enough_for_a_value() -> None:
    # Both disagree on it; with those labelled once yes and no are as frequent, chance is 1/2.
    table: list[list[str | None]] = [["y", "y", "n"], ["n", None, None]]
    assert fleiss_kappa(table) == gwet_ac1(table) == AgreementCoefficient(-1.0, None, 1)


def test_words_on_a_scale_have_the_coefficients_that_need_no_distance() -> None:
    words: Sequence[Sequence[str]] = [["a", "b", "c"], ["a", "a", "c"]]
    found = agreement_coefficients(words, scale="ordinal")
    reasons = {name: one.reason for name, one in found.items() if one.value is None}
    assert reasons == {"weighted_kappa": "not_numbers", "krippendorff_alpha": "not_numbers"}
