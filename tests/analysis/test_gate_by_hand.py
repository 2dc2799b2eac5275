"""What decides a gate, worked out by hand: p-values, states, missing scores, gains."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import norm

from ragstone.analysis.comparison.compared_systems import matches_within
from ragstone.analysis.release_gate.gate_checks import Check, p_beyond, standings, turned_by_missing
from ragstone.analysis.release_gate.gate_requirements import (
    Bound,
    Op,
    gain,
    lacking,
    over_means,
    over_means_quantity,
    read_no_worse,
)
from ragstone.analysis.scored_run import End, Quantity, Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.metrics import Composite, parse_metric
from ragstone.stats import Interval
from tests.analysis.conftest import MISSING, MadeRun, Make, Score


def normal(value: float, error: float, **known: object) -> Quantity:
    """A quantity whose estimate is normal: its p are those of the normal distribution."""

    def at(level: float) -> Interval:
        half = norm.ppf((1 + level) / 2) * error
        return Interval(value - half, value + half, level, "t")

    return Quantity(value, at, 100, **known)  # type: ignore[arg-type]


def check(quantity: Quantity, op: Op = ">=", at: float = 0.0, same: bool = False) -> Check:
    return Check("", "mrr", "one", Bound(op, at), "+", quantity, pl.DataFrame(), same)


def states(*checks: Check, level: float = 0.05) -> list[str]:
    return [one.state for one in standings(checks, level=level, on="interval")]


# p -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [-3.0, -1.0, 0.0, 0.5, 1.96])
def test_p_is_the_tail_of_the_estimate_beyond_the_bar(z: float) -> None:
    """A truth above the bar is the less likely, the lower the value lies."""
    quantity = normal(z, 1.0)
    above = p_beyond(quantity, Bound(">=", 0.0), "above")
    below = p_beyond(quantity, Bound(">=", 0.0), "below")
    assert above == pytest.approx(norm.sf(z), abs=1e-6)
    assert below == pytest.approx(norm.cdf(z), abs=1e-6)


def test_a_p_is_no_smaller_than_the_draws_can_tell() -> None:
    drawn = normal(9.0, 1.0, least_p=1 / 2001)
    assert p_beyond(drawn, Bound(">=", 0.0), "above") == pytest.approx(1 / 2001)
    none = Quantity(None, lambda _: None, 0)
    assert p_beyond(none, Bound(">=", 0.0), "above") is None


def test_p_are_adjusted_by_holm_over_the_family() -> None:
    """One-sided p of .01, .03 and .04: by Holm 3 · .01, 2 · .03, and no less than that."""
    checks = [check(normal(float(norm.ppf(p)), 1.0)) for p in (0.01, 0.04, 0.03)]
    found = standings(checks, level=0.05, on="interval")
    assert [one.p for one in found] == pytest.approx([0.01, 0.04, 0.03], abs=1e-6)
    assert [one.p_adjusted for one in found] == pytest.approx([0.03, 0.06, 0.06], abs=1e-5)
    assert [one.state for one in found] == ["broken", "open", "open"]


def test_what_is_the_same_or_decided_by_its_value_is_no_member_of_the_family() -> None:
    low = check(normal(float(norm.ppf(0.03)), 1.0))
    same = check(normal(-9.0, 1.0), same=True)
    first, second = standings([low, same], level=0.05, on="interval")
    assert first.p_adjusted == first.p
    assert (second.state, second.p, second.interval) == ("holds", None, None)
    (on_point,) = standings([low], level=0.05, on="point")
    assert (on_point.state, on_point.p) == ("broken", None)
    assert on_point.interval is not None, "it is shown all the same"


# States --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "op", "state"),
    [
        (1.65, ">=", "holds"), (1.64, ">=", "open"), (-1.64, ">=", "open"), (-1.65, ">=", "broken"),
        (-1.65, "<=", "holds"), (1.65, "<=", "broken"), (0.0, "<", "open"), (0.0, ">", "open"),
    ],
)  # fmt: skip
def test_a_requirement_is_decided_at_1645_standard_errors(value: float, op: Op, state: str) -> None:
    assert states(check(normal(value, 1.0), op)) == [state]


def owing(value: float, low: float | None, high: float | None) -> Quantity:
    """A quantity with a missing row; at an end of its range its value is another."""

    def filled(end: End) -> Quantity | None:
        to = low if end == "low" else high
        return None if to is None else normal(to, 1.0)

    return normal(value, 1.0, n_missing=1, filled=filled)


@pytest.mark.parametrize(
    ("quantity", "how"),
    [
        (owing(2.0, 2.0, 2.5), ""),
        (owing(2.0, 1.0, 2.5), "low:open"),
        (owing(2.0, -2.0, 2.5), "low:broken"),
        (owing(0.0, -1.0, 2.0), "high:holds"),
        (owing(0.0, -2.0, 2.0), "low:broken"),
        (owing(2.0, None, 2.5), "no_end"),
        (normal(2.0, 1.0), ""),
    ],
)
def test_missing_scores_turn_a_state_at_either_end_the_low_one_first(
    quantity: Quantity, how: str
) -> None:
    checks = [check(quantity)]
    before = standings(checks, level=0.05, on="interval")
    assert turned_by_missing(checks, before, level=0.05, on="interval") == [how]


def test_missing_scores_of_one_requirement_may_turn_another_through_the_family() -> None:
    """Both broken at p .02 and .03; at its low end the first is surely broken, at its high end it
    holds beyond doubt, and by Holm the second has 2 · .03 then: it owes too, so it is turned."""
    first = owing(float(norm.ppf(0.02)), -9.0, 9.0)
    second_value = float(norm.ppf(0.03))
    second = owing(second_value, second_value, second_value)
    checks = [check(first), check(second)]
    before = standings(checks, level=0.05, on="interval")
    assert [one.state for one in before] == ["broken", "broken"]
    turned = turned_by_missing(checks, before, level=0.05, on="interval")
    assert turned == ["high:holds", "high:open"]


@pytest.mark.parametrize(
    ("op", "worst"),
    [(">=", ["c", "a"]), (">", ["c", "a", "b"]), ("<=", ["e", "d"]), ("<", ["e", "d", "b"])],
)
def test_the_worst_are_furthest_on_the_wrong_side(op: Op, worst: list[str]) -> None:
    scores = pl.DataFrame({"example_id": list("abcde"), "value": [0.4, 0.5, 0.1, 0.6, 0.9]})
    one = Check("", "mrr", "one", Bound(op, 0.5), "+", normal(0.5, 1), scores)
    assert [name for name, _ in one.worst(9)] == worst
    assert len(one.worst(1)) == 1


# Gains ---------------------------------------------------------------------------------------


def scored(folder: Path, metric: str, new: Sequence[Score], old: Sequence[Score]) -> Scored:
    return Scored(MadeRun(folder, {"new": {metric: new}, "old": {metric: old}}))


def test_a_gain_is_how_much_better_the_system_is_question_by_question(tmp_path: Path) -> None:
    """Of hallucination less is better: .5 - .25 and 0 - .5."""
    one = scored(tmp_path, "hallucination", [0.25, 0.5, None, MISSING], [0.5, 0.0, 0.5, 0.5])
    quantity, differences, _ = gain(matches_within(one, "old")[0], "hallucination")
    assert quantity.value == pytest.approx((0.25 - 0.5) / 2)
    assert (quantity.n, quantity.n_undefined, quantity.n_missing) == (2, 1, 1)
    assert differences["value"].to_list() == pytest.approx([0.25, -0.5])
    assert differences["example_id"].to_list() == ["q0-new", "q1-new"]
    assert quantity.reasons == {"why": 2}


@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [("mrr", (0.25 + 0.0 - 0.5) / 2, (0.25 + 1.0 - 0.5) / 2),
     ("hallucination", (-0.25 + 0.5 - 1.0) / 2, (-0.25 + 0.5 - 0.0) / 2)],
)  # fmt: skip
def test_a_missing_score_is_filled_at_the_end_that_makes_the_gain_lowest_or_highest(
    tmp_path: Path, metric: str, low: float, high: float
) -> None:
    """The first pair is .75 against .5; of the second the baseline has .5."""
    one = scored(tmp_path, metric, [0.75, MISSING], [0.5, 0.5])
    quantity, _, _ = gain(matches_within(one, "old")[0], metric)
    assert quantity.filled is not None
    ends = [quantity.filled("low"), quantity.filled("high")]
    assert [one.value for one in ends if one is not None] == pytest.approx([low, high])
    assert [one.n_missing for one in ends if one is not None] == [0, 0]


@pytest.mark.parametrize(("text", "margin"), [("old:0.02", 0.02), (" old:2% ", 0.02), ("old:0", 0)])
def test_a_margin_is_a_number_or_a_percentage(tmp_path: Path, text: str, margin: float) -> None:
    found = read_no_worse(text, scored(tmp_path, "mrr", [0.5], [0.5]), ["new"])
    assert found.margin == pytest.approx(margin)
    assert (found.text, found.metrics) == (text.strip(), ("mrr",))
    assert [(a.system, b.system) for a, b in found.matches] == [("new", "old")]


def test_a_baseline_is_known_by_its_very_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="No baseline is called 'older'"):
        read_no_worse("older:0.1", scored(tmp_path, "mrr", [0.5], [0.5]), ["new"])


@pytest.mark.parametrize("text", ["old", "old:", ":0.1", "old:-0.1", "old:much", "old:inf"])
def test_a_baseline_without_a_margin_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="not BASELINE:MARGIN"):
        read_no_worse(text, scored(tmp_path, "mrr", [0.5], [0.5]), ["new"])


def test_a_baseline_is_no_worse_than_others_alone(tmp_path: Path) -> None:
    one = scored(tmp_path, "mrr", [0.5], [0.5])
    with pytest.raises(InputError, match="no other system"):
        read_no_worse("old:0.1", one, ["old"])
    with pytest.raises(InputError, match="no metric in common"):
        read_no_worse("old:0.1", scored(tmp_path, "abstention", [0.5], [0.5]), ["new"])


# Composites of means -------------------------------------------------------------------------

HARMONIC = 'ragas_harmonic(weights="faithfulness:1 context_precision:1")'


def composite() -> Composite:
    made = parse_metric(HARMONIC)
    assert isinstance(made, Composite)
    return made


def test_a_composite_of_means_is_that_of_the_means_and_not_the_mean_of_composites(
    run: Make,
) -> None:
    """Means of .5 and .75 have the harmonic mean 2 / (1/.5 + 1/.75) = .6."""
    made = run(faithfulness=[1.0, 0.0], context_precision=[0.5, 1.0])
    found = over_means_quantity(Scored(made), composite(), "one")
    assert found.value == pytest.approx(0.6)
    assert (found.n, found.n_missing, found.clusters) == (2, 0, 2)


def test_the_component_that_lacks_most_stands_for_the_counts(run: Make) -> None:
    """One of three of the first is missing, one of two of the second."""
    made = run(faithfulness=[1.0, 0.5, MISSING], context_precision=[None, 0.5, MISSING])
    found = over_means_quantity(Scored(made), composite(), "one")
    assert (found.n, found.n_missing, found.n_undefined) == (1, 1, 1)


def test_missing_components_are_filled_each_at_the_end_of_its_own_range(run: Make) -> None:
    """At 0 the mean of the first is .5, at 1 it is 1; the second's is 1: 2/3 and 1."""
    made = run(faithfulness=[1.0, MISSING], context_precision=[1.0, 1.0])
    found = over_means_quantity(Scored(made), composite(), "one")
    assert found.filled is not None
    ends = [found.filled("low"), found.filled("high")]
    assert [one.value for one in ends if one is not None] == pytest.approx([2 / 3, 1.0])


def test_a_component_without_any_score_leaves_no_value(run: Make) -> None:
    made = run(faithfulness=[1.0, 0.5], context_precision=[None, None])
    found = over_means_quantity(Scored(made), composite(), "one")
    assert (found.value, found.at(0.9)) == (None, None)
    lone = Scored(run(faithfulness=[1.0]))
    assert lacking(lone, composite()) == ["context_precision"]
    assert over_means(lone, "faithfulness") is None
    assert str(over_means(lone, HARMONIC)) == HARMONIC
