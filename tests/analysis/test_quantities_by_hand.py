"""Quantities, verdicts and places that decisions stand on, worked out by hand."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from ragstone.analysis.comparison.compared_systems import Values, differences
from ragstone.analysis.comparison.comparison_result import Better, Ranked, ranking, verdict_of
from ragstone.analysis.release_gate.gate_requirements import Bound, Op, metric_in, read_number
from ragstone.analysis.scored_run import (
    Quantity,
    Scored,
    known_metric,
    known_system,
    mean_quantity,
    metric_among,
    owing,
    some,
)
from ragstone.core.errors import InputError, UnknownName
from ragstone.stats import Interval
from tests.analysis.conftest import MISSING, MadeRun, Make, Score

# Verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difference", "p_equivalence", "p", "better", "verdict"),
    [
        (0.1, None, 0.01, "+", "better"),
        (-0.1, None, 0.01, "+", "worse"),
        (0.1, None, 0.01, "-", "worse"),
        (-0.1, None, 0.01, "-", "better"),
        (0.1, None, 0.01, "0", "cannot_tell"),
        (0.1, None, 0.05, "+", "better"),
        (0.1, None, 0.06, "+", "cannot_tell"),
        (0.1, None, None, "+", "cannot_tell"),
        (0.0, None, 0.01, "+", "cannot_tell"),
        (None, None, 0.01, "+", "cannot_tell"),
        (0.01, 0.05, 0.01, "+", "equivalent"),
        (0.01, 0.06, 0.01, "+", "better"),
        (0.01, 0.01, 0.01, "0", "equivalent"),
        (0.01, 0.5, 0.5, "+", "cannot_tell"),
    ],
)
def test_equivalence_goes_first_then_the_difference_in_the_metrics_direction(
    difference: float | None,
    p_equivalence: float | None,
    p: float | None,
    better: Better,
    verdict: str,
) -> None:
    found = verdict_of(difference, p_equivalence=p_equivalence, p=p, better=better)
    assert found == verdict


def test_a_stricter_alpha_finds_less() -> None:
    found = verdict_of(0.1, p_equivalence=None, p=0.02, better="+", alpha=0.01)
    assert found == "cannot_tell"
    same = verdict_of(0.1, p_equivalence=0.02, p=None, better="+", alpha=0.01)
    assert same == "cannot_tell"


@pytest.mark.parametrize(
    ("a", "b", "ahead"),
    [
        (0.1, 0.2, -1),
        (0.2, 0.1, 1),
        (0.1 + 0.2, 0.3, 0),
        (0, 0, 0),
        (1, 1 + 1e-11, -1),
        (1, 1 + 1e-13, 0),
        (-1, 1, -1),
        (1e-20, 2e-20, -1),
    ],
)
def test_values_are_ahead_by_more_than_rounding(a: float, b: float, ahead: int) -> None:
    assert np.sign(differences(np.array([a]), np.array([b]))) == ahead


# Bars ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "side", "cleared"),
    [
        (">=", "above", [(0.5, 0.6), (0.6, 0.7)]),
        (">", "above", [(0.6, 0.7)]),
        ("<=", "below", [(0.4, 0.5), (0.3, 0.4)]),
        ("<", "below", [(0.3, 0.4)]),
    ],
)
def test_an_interval_clears_a_bar_with_its_nearer_end(
    op: Op, side: str, cleared: list[tuple[float, float]]
) -> None:
    bar = Bound(op, 0.5)
    assert bar.side == side
    assert {bar.side, bar.other_side} == {"above", "below"}
    ends = [(0.5, 0.6), (0.6, 0.7), (0.4, 0.5), (0.3, 0.4), (0.4, 0.6)]
    assert [one for one in ends if bar.cleared(Interval(*one, 0.95, "t"))] == cleared


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.85", 0.85),
        (" 85 % ", 0.85),
        ("-1", -1),
        ("1e-2", 0.01),
        ("1e-2%", 0.0001),
        ("100%", 1),
        ("1_0", None),
        ("", None),
        ("%", None),
        ("85%%", None),
        ("inf", None),
        ("nan%", None),
        ("0,5", None),
    ],
)
def test_a_bar_is_a_finite_number_or_a_percentage(text: str, number: float | None) -> None:
    found = read_number(text)
    assert found == (None if number is None else pytest.approx(number))


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("hit>=1", "hit"),
        ("  hit(k=5)  <  80%", "hit(k=5)"),
        ("hit =< 1", "hit"),
        ("hit ≥ 1", "hit"),
        ('critique(aspect="a < b") > 1', 'critique(aspect="a < b")'),
        ("hit == 1", "hit"),
        ("hit > ", "hit"),
    ],
)
def test_a_metric_stands_before_the_last_sign(text: str, metric: str) -> None:
    assert metric_in(text) == metric


@pytest.mark.parametrize("text", ["", "hit", ">= 1", "hit 0.5", "hit = 0.5"])
def test_a_text_without_metric_or_sign_is_no_requirement(text: str) -> None:
    with pytest.raises(InputError, match="not a requirement"):
        metric_in(text)


# Means -----------------------------------------------------------------------------------------


def quantity(run: Make, metric: str, scores: Sequence[Score]) -> Quantity:
    scored = Scored(run(**{metric: scores}))
    return mean_quantity(scored.of(metric), scored.scale(metric))


def test_a_mean_counts_values_undefined_and_missing_rows_apart(run: Make) -> None:
    found = quantity(run, "mrr", [1.0, 0.5, None, MISSING, 0.0])
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.n_undefined, found.n_missing) == (3, 1, 1)
    assert (found.n_possible, found.missing_share) == (4, 1 / 4)
    assert (found.clusters, found.low, found.high, found.exact) == (3, 0, 1, None)
    assert found.reasons == {"why": 2}


@pytest.mark.parametrize(("end", "value"), [("low", 1.5 / 4), ("high", 2.5 / 4)])
def test_missing_rows_are_filled_at_an_end_and_undefined_ones_never(
    run: Make, end: str, value: float
) -> None:
    found = quantity(run, "mrr", [1.0, 0.5, None, MISSING, 0.0])
    assert found.filled is not None
    whole = found.filled("low" if end == "low" else "high")
    assert whole is not None
    assert whole.value == pytest.approx(value)
    assert (whole.n, whole.n_undefined, whole.n_missing) == (4, 1, 0)


def test_without_an_end_of_its_range_nothing_can_be_filled(run: Make) -> None:
    found = quantity(run, "house_style", [1.0, MISSING])
    assert found.filled is not None
    assert (found.filled("low"), found.filled("high")) == (None, None)


@pytest.mark.parametrize(
    ("scores", "possible"), [([None, None], 0), ([MISSING, MISSING], 2), ([None, MISSING], 1)]
)
def test_where_nothing_has_a_value_there_is_no_mean(
    run: Make, scores: Sequence[Score], possible: int
) -> None:
    found = quantity(run, "mrr", scores)
    assert (found.value, found.at(0.95), found.n) == (None, None, 0)
    assert found.n_possible == possible
    assert found.missing_share == (1 if possible else 0)


def test_a_rate_has_exact_tails_and_wider_intervals_at_higher_levels(run: Make) -> None:
    """Of 10 all are 1: the exact lower end at 95 % is .025^(1/10)."""
    found = quantity(run, "hit", [1.0] * 10)
    assert found.exact is not None
    one = found.at(0.95)
    assert one is not None
    assert one.low == pytest.approx(0.025 ** (1 / 10))
    ends = [found.at(level) for level in (0.5, 0.9, 0.99)]
    lows = [end.low for end in ends if end is not None]
    assert lows == sorted(lows, reverse=True)
    assert len(lows) == 3


def test_rows_that_are_owed_move_a_corrected_estimate_by_their_share(run: Make) -> None:
    """Three rows scored, one owed: (3 · 0.4 + end) / 4, and both ends of the interval alike."""
    plain = quantity(run, "mrr", [1.0, 0.5, None, MISSING, 0.0])
    corrected = Quantity(0.4, lambda level: Interval(0.2, 0.8, level, "ratio_delta"), 20)
    found = owing(corrected, plain)
    assert (found.value, found.n, found.n_scored) == (0.4, 20, 3)
    assert (found.n_missing, found.n_undefined, found.n_possible) == (1, 1, 4)
    assert found.filled is not None
    for end, to in (("low", 0), ("high", 1)):
        whole = found.filled("low" if end == "low" else "high")
        assert whole is not None
        assert whole.value == pytest.approx((3 * 0.4 + to) / 4)
        moved = whole.at(0.9)
        assert moved is not None
        assert (moved.low, moved.high) == pytest.approx(((0.6 + to) / 4, (2.4 + to) / 4))
        assert (moved.level, whole.n_missing) == (0.9, 0)


def test_a_correction_of_nothing_scored_cannot_be_filled(run: Make) -> None:
    plain = quantity(run, "mrr", [MISSING, MISSING])
    found = owing(Quantity(None, lambda _: None, 0), plain)
    assert found.filled is not None
    assert found.filled("low") is None


def test_owed_rows_of_a_question_count_beside_those_it_has() -> None:
    """Of two rows one is 0.6 and one owed; of one row all is owed; two rows are there; none is."""
    side = Values(
        np.array([0.6, 0.0, 0.5, 0.0]),
        np.array([True, False, True, False]),
        np.array([False, True, False, False]),
        np.array([1.0, 1.0, 0.0, 0.0]),
        np.array([2.0, 1.0, 2.0, 1.0]),
    )
    low, high = side.filled(0.0), side.filled(1.0)
    assert low.value.tolist() == pytest.approx([0.3, 0, 0.5, 0])
    assert high.value.tolist() == pytest.approx([0.8, 1, 0.5, 0])
    assert low.valued.tolist() == [True, True, True, False]
    assert not low.missing.any()
    assert not low.owed.any()


# Places ----------------------------------------------------------------------------------------


def placed(games: Mapping[tuple[str, str], Sequence[float]]) -> dict[str, Ranked]:
    met = {pair: (np.array(outcome), np.arange(len(outcome))) for pair, outcome in games.items()}
    return {one.system: one for one in ranking("mrr", met, level=0.95)}


def test_of_two_systems_the_strength_is_half_the_log_odds_of_winning() -> None:
    found = placed({("a", "b"): (1, 1, 1, 0)})
    assert list(found) == ["a", "b"]
    assert found["a"].strength == pytest.approx(math.log(3) / 2, abs=1e-6)
    assert found["b"].strength == pytest.approx(-math.log(3) / 2, abs=1e-6)
    assert found["a"].win_probability == pytest.approx(math.sqrt(3) / (1 + math.sqrt(3)))


@pytest.mark.parametrize(
    ("outcome", "share"), [((1, 0), 1 / 2), ((1, 1, 0), 2 / 3), ((1, 0.5, 0, 0), 3 / 8)]
)
def test_a_tie_is_half_a_win(outcome: Sequence[float], share: float) -> None:
    found = placed({("a", "b"): outcome})
    assert found["a"].win_share == pytest.approx(share)
    assert found["b"].win_share == pytest.approx(1 - share)
    assert found["a"].n == found["b"].n == len(outcome)


def test_the_strongest_stands_first_whoever_is_named_first() -> None:
    games = {("c", "a"): (0, 0, 1), ("c", "b"): (0, 1, 1), ("b", "a"): (0, 0, 1)}
    turned = {(b, a): [1 - one for one in outcome] for (a, b), outcome in games.items()}
    assert list(placed(games)) == list(placed(turned)) == ["a", "c", "b"]
    for name, one in placed(games).items():
        assert one.strength == pytest.approx(placed(turned)[name].strength, abs=1e-6)


def test_where_one_never_loses_no_finite_strengths_fit_and_shares_order_them() -> None:
    found = placed({("a", "b"): (0, 0, 0)})
    assert list(found) == ["b", "a"]
    assert [one.strength for one in found.values()] == [None, None]
    assert all(one.reason for one in found.values())
    assert [one.win_share for one in found.values()] == [1, 0]


# Names -----------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> Scored:
    scores = {"hit(k=5)": [1.0], "mrr": [1.0]}
    return Scored(MadeRun(tmp_path, {"a": scores, "b": scores}))


@pytest.mark.parametrize("name", ["hit(k=5)", "hit(k = 5)", " hit(k=5) "])
def test_a_metric_is_known_by_any_of_its_forms(two: Scored, name: str) -> None:
    assert known_metric(two, name) == "hit(k=5)"


@pytest.mark.parametrize("name", ["hit(k=3)", "no_such", ""])
def test_a_metric_that_the_run_has_not_is_named_with_those_it_has(two: Scored, name: str) -> None:
    with pytest.raises(UnknownName, match=r"There are hit\(k=5\), mrr\."):
        known_metric(two, name)


def test_only_a_metric_that_there_is_can_be_added(two: Scored) -> None:
    with pytest.raises(UnknownName, match="To add it"):
        known_metric(two, "hit(k=3)")
    with pytest.raises(UnknownName) as caught:
        known_metric(two, "no_such")
    assert "To add it" not in str(caught.value)
    with pytest.raises(UnknownName) as caught:
        metric_among("hit(k=3)", two.metrics, "metric")
    assert "To add it" not in str(caught.value)


def test_a_system_is_known_by_its_very_name(two: Scored) -> None:
    assert known_system(two, "a") == "a"
    with pytest.raises(UnknownName, match=r"There are a, b\."):
        known_system(two, "A")


@pytest.mark.parametrize(("n", "more"), [(1, ""), (12, ""), (13, " and 1 more")])
def test_twelve_names_are_shown(n: int, more: str) -> None:
    names = [f"n{at}" for at in range(n)]
    assert some(names) == ", ".join(names[:12]) + more
