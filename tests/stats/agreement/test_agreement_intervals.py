"""Intervals of coefficients of agreement: how often they hold, and where there is none."""

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats.agreement.coefficients import CoefficientName, agreement_coefficients
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.stats.distributions import Interval, wilson
from tests.stats.coefficients import fleiss_kappa

NAMES: tuple[CoefficientName, ...] = (
    "percent", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1",
)  # fmt: skip


def annotated(items: int, right: float, seed: int, annotators: int = 2) -> list[list[int]]:
    """Annotators who are right about a fair coin so often, each for himself."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    wrong = rng.random((annotators, items)) > right
    return np.asarray(np.where(wrong, 1 - truth, truth)).tolist()  # type: ignore[no-any-return]


def interval(agreement: AgreementCoefficient) -> Interval:
    assert agreement.interval is not None
    return agreement.interval


def test_intervals_hold_the_truth() -> None:
    # Both right or both wrong: .85² + .15² = .745; beyond chance of .5: .49.
    truth = {name: 0.745 if name == "percent" else 0.49 for name in NAMES}
    held = dict.fromkeys(NAMES, 0)
    for seed in range(300):
        found = agreement_coefficients(annotated(100, 0.85, seed), seed=seed, resamples=400)
        for name in NAMES:
            ends = interval(found[name])
            held[name] += ends.low <= truth[name] <= ends.high
    assert all(0.91 <= count / 300 <= 0.985 for count in held.values()), held


def test_the_draws_are_those_of_a_plain_bootstrap() -> None:
    table = np.array(annotated(60, 0.8, 1, annotators=3))
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(2000):
        kappa = fleiss_kappa(table[:, rng.integers(60, size=60)].tolist()).value
        assert kappa is not None
        drawn.append(kappa)
    plain = np.quantile(drawn, [0.025, 0.975])
    ends = interval(agreement_coefficients(table.tolist(), seed=2)["fleiss_kappa"])
    assert [ends.low, ends.high] == pytest.approx(plain, abs=0.02)
    assert ends.method == "item_bootstrap"


def test_the_same_seed_gives_the_same_interval() -> None:
    table = annotated(40, 0.8, 1)
    once, again = (agreement_coefficients(table, seed=7) for _ in range(2))
    assert once == again
    assert interval(once["percent"]) != interval(agreement_coefficients(table, seed=8)["percent"])


def test_items_of_one_cluster_share_their_fate() -> None:
    one = annotated(40, 0.8, 4)
    five = [row * 5 for row in one]
    clusters = list(range(40)) * 5
    alone = interval(agreement_coefficients(one)["percent"])
    together = interval(agreement_coefficients(five, clusters=clusters)["percent"])
    as_rows = interval(agreement_coefficients(five)["percent"])
    assert together.high - together.low == pytest.approx(alone.high - alone.low, rel=0.15)
    assert as_rows.high - as_rows.low < 0.6 * (alone.high - alone.low)


def test_clusters_of_one_item_each_are_no_clusters() -> None:
    table = annotated(30, 0.8, 2)
    assert agreement_coefficients(table, clusters=range(30)) == agreement_coefficients(table)


def test_where_all_agree_the_interval_has_width() -> None:
    # Half yes, half no: chance is 1/2, so the end is twice as far from 1 as Wilson's.
    found = agreement_coefficients([["y", "n"] * 10] * 2)
    low = wilson(20, 20)
    assert low is not None
    assert interval(found["percent"]) == Interval(low.low, 1.0, 0.95, "wilson")
    for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert found[name].value == 1
        assert interval(found[name]).low == pytest.approx(1 - 2 * (1 - low.low))
        assert interval(found[name]).high == 1


def test_one_item_tells_nothing_of_others() -> None:
    found = agreement_coefficients([["y"], ["n"]])
    assert all(one.interval is None for one in found.values())
    assert found["percent"].value == 0
    alike = interval(agreement_coefficients([["y"], ["y"]])["percent"])
    assert alike.low < 0.25
    assert alike.high == 1


def test_two_items_have_an_interval_as_wide_as_it_should_be() -> None:
    ends = interval(agreement_coefficients([["y", "n"], ["y", "y"]])["percent"])
    assert (ends.low, ends.high) == (0, 1)


def test_draws_in_which_all_say_the_same_are_draws_of_full_agreement() -> None:
    # y n beside y y: a quarter of the draws is the first item twice, where both always say y;
    # in the others both agree no more often than by chance, and kappa is 0.
    pair = [["y", "n"], ["y", "y"]]
    ends = interval(agreement_coefficients(pair)["cohen_kappa"])
    assert (ends.low, ends.high) == (0, 1)
    narrow = agreement_coefficients(pair, level=0.3)["cohen_kappa"]
    assert (narrow.value, narrow.interval) == (0, None)


def test_items_labelled_once_are_drawn_too() -> None:
    both = annotated(60, 0.85, 3)
    alone = annotated(200, 0.85, 4)
    gaps: list[int | None] = [None] * 200
    table: list[list[int | None]] = [[*both[0], *alone[0]], [*both[1], *gaps]]
    found = agreement_coefficients(table, seed=1)
    few = agreement_coefficients(both, seed=1)
    for name in NAMES:
        wide, narrow = interval(found[name]), interval(few[name])
        assert found[name].n == 60
        assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, rel=0.25)


def test_draws_without_a_pair_are_left_out() -> None:
    table = [["y", "n", *"yn" * 10], ["y", "y", *[None] * 20]]
    found = agreement_coefficients(table)
    assert (interval(found["percent"]).low, interval(found["percent"]).high) == (0, 1)
    assert all(one.n == 2 for one in found.values())


def test_a_single_pair_among_items_labelled_once_has_no_interval() -> None:
    found = agreement_coefficients([["y", *"yn" * 10], ["n", *[None] * 20]])
    assert all(one.interval is None for one in found.values())


def test_a_wrong_number_of_draws_is_refused() -> None:
    with pytest.raises(InputError, match="two resamples"):
        agreement_coefficients([[1, 0], [1, 1]], resamples=1)


def test_many_items_are_quick() -> None:
    table = annotated(50_000, 0.9, 0, annotators=3)
    ends = interval(agreement_coefficients(table)["krippendorff_alpha"])
    assert 0 < ends.high - ends.low < 0.02


def test_draws_with_a_single_pair_count() -> None:
    # Of 22 items two have a pair, which agrees or not. All pairs of a draw agree in 27 % of the
    # draws that have one, and in 17 % of those that have two or more.
    table = [["y", "y", *"yn" * 10], ["y", "n", *[None] * 20]]
    without = (20 / 22) ** 22
    share = ((21 / 22) ** 22 - without) / (1 - without)
    assert share == pytest.approx(0.27, abs=0.005)
    ends = interval(agreement_coefficients(table, level=1 - 2 * 0.22)["percent"])
    assert (ends.low, ends.high) == (0, 1)
    narrow = interval(agreement_coefficients(table, level=1 - 2 * 0.31)["percent"])
    assert (narrow.low, narrow.high) != (0, 1)


def test_no_interval_reaches_below_minus_1_where_many_items_have_one_label() -> None:
    # Agreement of pairs is at least -1: two labels of an item can be no more than always opposed.
    # Shares of x: (4.5 + 12) / 18 = 11/12, so chance is 61/72, and 5/6 or less agrees less.
    a = ["x", "x", "x", "x", "x", "y"] + ["x"] * 12
    b = ["x", "x", "x", "x", "y", "x"] + [None] * 12
    found = agreement_coefficients([a, b])["fleiss_kappa"]
    shares = (4 + 2 * 0.5 + 12) / 18
    chance = shares**2 + (1 - shares) ** 2
    assert found.value == pytest.approx((4 / 6 - chance) / (1 - chance))
    assert interval(found).low == -1
    assert -1 < interval(found).high <= 1
