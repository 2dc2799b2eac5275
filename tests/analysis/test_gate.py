import json
from bisect import bisect_left
from math import comb, inf
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from ragstone import evaluate
from ragstone.analysis.comparison.compared_systems import matches_within
from ragstone.analysis.comparison.comparison_result import NO_PAIR_DIFFERS
from ragstone.analysis.release_gate.gate_checks import Check, standings
from ragstone.analysis.release_gate.gate_requirements import (
    Bound,
    Op,
    gain,
    over_means_quantity,
    read_number,
    read_requirement,
)
from ragstone.analysis.release_gate.release_gate import Decided, GateResult, gate
from ragstone.analysis.scored_run import Quantity, Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import References
from ragstone.metrics import Composite, Range, Undefined, metric, parse_metric, register
from ragstone.report.reason_words import explain, words
from ragstone.stats import Interval, wilson
from ragstone.stats.rate_bounds import ExactRate, exact_rate
from tests.analysis.conftest import MISSING, Make, Score


def only(result: GateResult) -> Decided:
    assert len(result.requirements) == 1
    return result.requirements[0]


def zeros(n: int, ones: int = 0) -> list[float]:
    return [1.0] * ones + [0.0] * (n - ones)


# What holds, is broken, is open ------------------------------------------------------------


def test_a_requirement_holds_where_the_whole_interval_clears_the_bar(run: Make) -> None:
    result = gate(run(hit=zeros(100, 95)), "hit >= 0.85")
    one, exact = only(result), binomtest(95, 100).proportion_ci(0.9, "exact")
    assert one.low == pytest.approx(exact.low)
    assert one.high == pytest.approx(exact.high)
    assert exact.low > 0.85
    assert (result.decision, one.state, one.n_needed, result.exit_status) == (
        "pass",
        "holds",
        None,
        0,
    )
    assert one.n_needed_reason == "decided"


def test_a_requirement_is_broken_where_the_opposite_is_shown(run: Make) -> None:
    result = gate(run(hit=zeros(100, 60)), "hit >= 0.85")
    assert (result.decision, only(result).state, result.exit_status) == ("fail", "broken", 1)


def test_a_requirement_is_open_where_the_bar_lies_inside_the_interval(run: Make) -> None:
    result = gate(run(hit=zeros(100, 88)), "hit >= 0.85")
    one = only(result)
    assert (result.decision, one.state, result.exit_status) == ("cannot_tell", "open", 3)
    assert one.n_needed is not None
    assert one.n_needed > 100
    assert one.n_needed_reason is None


def test_no_event_against_one_in_a_hundred_needs_299_examples(run: Make) -> None:
    """.99^298 = .05003, .99^299 = .04953."""
    for n in (50, 100, 298):
        assert only(gate(run(hit=zeros(n)), "hit <= 0.01")).n_needed == 299
    assert gate(run(hit=zeros(299)), "hit <= 0.01").decision == "pass"


def test_a_value_on_the_bar_is_open_whatever_the_number_of_examples(run: Make) -> None:
    one = only(gate(run(hit=zeros(100, 85)), "hit >= 0.85"))
    assert (one.state, one.n_needed) == ("open", None)
    assert one.n_needed_reason == "on_the_bar"


def test_examples_that_are_undefined_count_towards_those_needed(run: Make) -> None:
    half: list[Score] = [*zeros(50), *[None] * 50]
    one = only(gate(run(hit=half), "hit <= 0.01"))
    assert (one.n, one.n_undefined, one.n_needed) == (50, 50, 598)


def test_what_is_broken_alone_may_be_open_among_many(run: Make) -> None:
    scores = {"hit": zeros(100, 78), "recall": zeros(100, 95), "mrr": zeros(100, 95)}
    alone = gate(run(**scores), "hit >= 0.85")
    among = gate(run(**scores), ["hit >= 0.85", "recall >= 0.5", "mrr >= 0.5"])
    p = only(alone).p
    assert p is not None
    assert 0.05 / 3 < p < 0.05
    assert alone.decision == "fail"
    assert among.decision == "cannot_tell"
    assert among.requirements[0].p_adjusted == pytest.approx(3 * p)
    assert "tested alone" in words(among.requirements[0].reason)


def test_a_p_at_the_level_is_broken_alone_and_open_among_many(run: Make) -> None:
    made = run(hit=zeros(20, 14), mrr=zeros(20, 18), recall=zeros(20, 18))
    alone = only(gate(made, "hit >= 0.9"))
    assert alone.p is not None
    assert gate(made, "hit >= 0.9", level=alone.p).decision == "fail"
    among = gate(made, ["hit >= 0.9", "mrr >= 0.9", "recall >= 0.9"], level=alone.p)
    assert among.requirements[0].decision == "cannot_tell"
    assert words(among.requirements[0].reason).startswith(
        "below the bar if this requirement is tested alone"
    )


def test_every_system_must_hold_unless_one_is_named(run: Make) -> None:
    two = run({"good": {"hit": zeros(100, 95)}, "bad": {"hit": zeros(100, 50)}})
    both = gate(two, "hit >= 0.8")
    assert [(one.group["system"], one.decision) for one in both.requirements] == [
        ("good", "pass"), ("bad", "fail"),
    ]  # fmt: skip
    assert both.decision == "fail"
    assert gate(two, "hit >= 0.8", system="good").decision == "pass"


def test_a_stricter_level_takes_a_wider_interval(run: Make) -> None:
    made = run(hit=zeros(100, 92))
    assert gate(made, "hit >= 0.85").decision == "pass"
    strict = gate(made, "hit >= 0.85", level=0.001)
    assert strict.decision == "cannot_tell"
    assert only(strict).level == pytest.approx(0.998)


def test_undefined_everywhere_is_open_with_its_reason(run: Make) -> None:
    one = only(gate(run(hit=[None] * 9), "hit >= 0.85"))
    assert (one.decision, one.value, one.p, one.n_needed) == ("cannot_tell", None, None, None)
    assert one.n_needed_reason == "no_value"
    assert words(one.reason) == "undefined everywhere (why)"


def test_one_question_has_no_interval_and_is_open(run: Make) -> None:
    one = only(gate(run(mrr=[0.5]), "mrr >= 0.1"))
    assert (one.decision, one.low) == ("cannot_tell", None)
    assert one.reason == "no_interval"


@pytest.mark.parametrize("op", [">=", "<="])
@pytest.mark.parametrize("n", [50, 66, 100, 137, 300])
def test_a_rate_is_passed_or_failed_by_mistake_no_more_often_than_the_level(n: int, op: Op) -> None:
    """By enumeration, at the least favourable truth, the bar itself; of families by their size."""
    for bar in (Bound(op, at / 100) for at in (1, 5, 30, 50, 85, 99)):
        chances = [comb(n, k) * bar.at**k * (1 - bar.at) ** (n - k) for k in range(n + 1)]
        inwards = list(range(n + 1)) if op == ">=" else list(range(n, -1, -1))
        for family in FAMILIES:
            states = [
                bisect_left(inwards, True, key=lambda k: state_of(k, n, bar, family) in so_far)
                for so_far in (("open", "holds"), ("holds",))
            ]
            broken, held = inwards[: states[0]], inwards[states[1] :]
            assert family * sum(chances[k] for k in broken) <= 0.05 + 1e-12
            assert sum(chances[k] for k in held) <= 0.05 + 1e-12


def test_in_unequal_clusters_too_a_rate_is_seldom_passed_or_failed_by_mistake() -> None:
    """Half of the rows in five questions whose answers nearly all agree."""
    rng = np.random.default_rng(1)
    counts, rate = np.repeat([1.0, 2.0, 5.0, 20.0], [15, 10, 10, 5]), 0.3
    own = rng.beta(rate * 3 / 7, (1 - rate) * 3 / 7, size=(600, len(counts)))
    drawn = rng.binomial(counts.astype(int), own)
    states = []
    for sums in drawn:
        exact = exact_rate(sums, counts)
        assert exact is not None
        quantity = Quantity(exact.rate, exact.interval, len(counts), exact=exact)
        states.append(standings([check_of(quantity, Bound(">=", rate))], level=0.05, on="interval"))
    for state in ("holds", "broken"):
        assert sum(one.state == state for (one,) in states) / 600 <= 0.06


FAMILIES = (1, 3, 5, 10, 20)


def state_of(successes: int, n: int, bar: Bound, family: int) -> str:
    """Its state as one of a family whose others are met beyond doubt."""
    exact = ExactRate(successes / n, n)
    quantity = Quantity(exact.rate, exact.interval, n, exact=exact)
    wide = Interval(0.0, 1.0, 0.9, "clopper_pearson")
    sure = check_of(Quantity(1.0, lambda _: wide, 1, exact=ExactRate(1.0, 1)), Bound(">=", 0.0))
    checks = [check_of(quantity, bar), *[sure] * (family - 1)]
    return standings(checks, level=0.05, on="interval")[0].state


def check_of(quantity: Quantity, bar: Bound) -> Check:
    return Check("", "hit", "one", bar, "+", quantity, pl.DataFrame())


# What is missing ---------------------------------------------------------------------------


def test_too_many_missing_scores_are_missing_though_the_rest_holds(run: Make) -> None:
    scores: list[Score] = [*zeros(90, 90), *[MISSING] * 10]
    result = gate(run(hit=scores), "hit >= 0.5")
    assert (result.decision, only(result).state, result.exit_status) == ("missing", "holds", 4)
    assert words(only(result).reason) == "10 of 100 scores are missing, more than 5 %"
    assert gate(run(hit=scores), "hit >= 0.5", max_missing=0.1).decision == "pass"


def test_few_missing_scores_that_could_turn_it_are_missing_too(run: Make) -> None:
    held: list[Score] = zeros(100, 92)  # type: ignore[assignment]
    assert gate(run(hit=held), "hit >= 0.85").decision == "pass"
    result = gate(run(hit=[*held, *[MISSING] * 4]), "hit >= 0.85")
    assert (result.decision, only(result).state) == ("missing", "holds")
    assert "at the low end of the range it would be open" in words(only(result).reason)


def test_few_missing_scores_that_change_nothing_do_not_matter(run: Make) -> None:
    scores: list[Score] = [*zeros(100, 95), MISSING]
    assert gate(run(hit=scores), "hit >= 0.5").decision == "pass"


def test_what_is_broken_fails_whatever_is_missing(run: Make) -> None:
    scores: list[Score] = [*zeros(50, 5), *[MISSING] * 50]
    assert gate(run(hit=scores), "hit >= 0.85").decision == "fail"


def test_missing_everywhere_is_missing(run: Make) -> None:
    one = only(gate(run(hit=[MISSING] * 9), "hit >= 0.85"))
    assert (one.decision, one.value, one.n_missing) == ("missing", None, 9)


def test_missing_comes_before_cannot_tell_and_fail_before_missing(run: Make) -> None:
    owed: list[Score] = [*zeros(90, 90), *[MISSING] * 10]
    made = run(hit=owed, mrr=zeros(100, 88), recall=zeros(100, 20))
    both = gate(made, ["mrr >= 0.85", "hit >= 0.5"])
    assert both.decision == "missing"
    assert gate(made, ["mrr >= 0.85", "hit >= 0.5", "recall >= 0.9"]).decision == "fail"


# On point ----------------------------------------------------------------------------------


def test_a_bar_at_the_end_of_the_range_is_open_and_says_what_decides_it(run: Make) -> None:
    one = only(gate(run(hit=zeros(500, 500)), "hit >= 1"))
    assert one.decision == "cannot_tell"
    assert tuple(map(explain, one.notes)) == (
        'no interval clears 1, the end of the range; on="point" decides by the value',
    )


def test_on_point_the_value_alone_decides(run: Make) -> None:
    every, most = run(hit=zeros(5, 5)), run(hit=zeros(5, 4))
    assert gate(every, "hit >= 1", on="point").decision == "pass"
    failed = gate(most, "hit >= 1", on="point")
    assert (failed.decision, only(failed).p) == ("fail", None)
    assert gate(run(mrr=[0.5]), "mrr > 0.5", on="point").decision == "fail"


def test_on_point_what_has_no_value_is_open(run: Make) -> None:
    assert gate(run(hit=[None]), "hit >= 1", on="point").decision == "cannot_tell"


# No worse than -----------------------------------------------------------------------------


def test_no_worse_than_pairs_the_systems_in_each_metrics_direction(run: Make) -> None:
    base = {"mrr": [0.5, 0.6, 0.7, 0.8] * 20, "hallucination": [0.1, 0.2] * 40}
    better = {"mrr": [0.6, 0.7, 0.7, 0.9] * 20, "hallucination": [0.1, 0.1] * 40}
    made = run({"new": better, "old": base})
    result = gate(made, no_worse_than="old:0.02")
    assert [(one.metric, one.group["system"]) for one in result.requirements] == [
        ("mrr", "new"), ("hallucination", "new"),
    ]  # fmt: skip
    assert [one.value for one in result.requirements] == [pytest.approx(0.075), pytest.approx(0.05)]
    assert {one.counted for one in result.requirements} == {"pairs"}
    assert result.decision == "pass"
    other_way = gate(made, no_worse_than="new:2%")
    assert [one.value for one in other_way.requirements] == [
        pytest.approx(-0.075), pytest.approx(-0.05),
    ]  # fmt: skip
    assert other_way.decision == "fail"
    assert other_way.requirements[0].bar == -0.02


def test_metrics_without_a_direction_are_left_out(run: Make) -> None:
    scores = {"abstention": zeros(9, 3), "mrr": zeros(9, 9)}
    result = gate(run({"a": scores, "b": scores}), no_worse_than="b:0.5")
    assert [one.metric for one in result.requirements] == ["mrr"]


def test_missing_pairs_are_filled_at_both_ends(run: Make) -> None:
    full: list[Score] = [*[0.5, 0.6] * 50]
    owed: list[Score] = [*full[:-4], *[MISSING] * 4]
    made = run({"new": {"mrr": owed}, "old": {"mrr": full}})
    result = gate(made, no_worse_than="old:0.03")
    assert (only(result).state, only(result).n_missing, only(result).n) == ("holds", 4, 96)
    assert result.decision == "missing"


def test_undefined_on_either_side_makes_no_pair(run: Make) -> None:
    made = run({"new": {"mrr": [None, *[0.5] * 9]}, "old": {"mrr": [*[0.5] * 9, MISSING]}})
    one = only(gate(made, no_worse_than="old:0.5"))
    assert (one.n, one.n_undefined, one.n_missing) == (8, 1, 1)


@pytest.mark.parametrize(
    ("metric", "ends"),
    [("mrr", (-1, 1)), ("answer_relevance", (-2, 2)), ("house_style", (None, None))],
)
def test_a_difference_lies_within_the_width_of_the_range(
    metric: str, ends: tuple[float | None, float | None], run: Make
) -> None:
    scored = Scored(run({"new": {metric: [0.1, 0.4]}, "old": {metric: [0.2, 0.3]}}))
    (match,) = matches_within(scored, "old")
    found, _, _ = gain(match, metric)
    assert (found.low, found.high) == ends


# Corrected estimates -----------------------------------------------------------------------


def test_a_corrected_quantity_is_decided_on_in_place_of_the_judges(run: Make) -> None:
    def corrected(metric: str, system: str) -> Quantity | None:
        assert (metric, system) == ("hit", "one")
        return Quantity(0.6, lambda level: wilson(60, 100, level=level), 100, counted="labels")

    made = run(hit=zeros(1000, 950))
    assert gate(made, "hit >= 0.85").decision == "pass"
    result = gate(made, "hit >= 0.85", corrected=corrected)
    assert (result.decision, only(result).value, only(result).counted) == ("fail", 0.6, "labels")
    assert (gate(made, "hit >= 0.85").corrected, result.corrected) == ((), ("hit",))


def test_without_labels_for_it_a_requirement_says_that_it_is_not_corrected(run: Make) -> None:
    result = gate(run(hit=zeros(100, 95)), "hit >= 0.8", corrected=lambda *_: None)
    assert (result.decision, result.corrected) == ("pass", ())
    assert tuple(map(explain, result.notes)) == (
        "hit: no labels correct it for one, so it is decided on the judges' own scores.",
    )


def test_without_any_label_there_is_nothing_to_decide_on(run: Make) -> None:
    """All is scored and nothing is missing, but it is decided on labels."""
    none = Quantity(None, lambda _: None, 0, counted="labels")
    one = only(gate(run(hit=zeros(9)), "hit >= 0.8", corrected=lambda *_: none))
    assert (one.decision, one.n) == ("cannot_tell", 0)
    assert one.reason == "nothing_counted?counted=labels"
    owed: list[Score] = [0.0, MISSING]
    one = only(gate(run(hit=owed), "hit >= 0.8", corrected=lambda *_: none, max_missing=1))
    assert one.reason.startswith("no_value_anywhere?missing=1")


def test_scores_that_a_judge_owes_stand_beside_a_corrected_estimate(run: Make) -> None:
    def corrected(metric: str, system: str) -> Quantity | None:  # noqa: ARG001
        return Quantity(0.95, lambda level: wilson(190, 200, level=level), 200, counted="labels")

    few: list[Score] = [*zeros(1000, 950), *[MISSING] * 20]
    assert gate(run(hit=few), "hit >= 0.85", corrected=corrected).decision == "pass"
    one = only(gate(run(hit=few), "hit >= 0.915", corrected=corrected))
    assert (one.n, one.n_missing, one.decision) == (200, 20, "missing")
    assert words(one.reason).startswith("20 of 1,020 scores are missing and could turn it")


# What is given -----------------------------------------------------------------------------


@pytest.fixture
def scored(run: Make) -> Scored:
    names = ("ndcg(k=10)", "faithfulness", 'critique(aspect="x >= y, a=b")', "house_style")
    return Scored(run(**{name: [0.0, 1.0] for name in names}))


@pytest.mark.parametrize(
    ("text", "metric", "op", "at"),
    [
        ("faithfulness >= 0.85", "faithfulness", ">=", 0.85),
        ("faithfulness>=85%", "faithfulness", ">=", 0.85),
        ("  faithfulness < .5 ", "faithfulness", "<", 0.5),
        ("faithfulness ≥ 85 %", "faithfulness", ">=", 0.85),
        ("ndcg(k=10) >= 0.7", "ndcg(k=10)", ">=", 0.7),
        ("ndcg( k = 10 ) <= 7e-1", "ndcg(k=10)", "<=", 0.7),
        ("ndcg_at_k(k=10) > 0.7", "ndcg(k=10)", ">", 0.7),
        ("ragas_faithfulness >= 1", "faithfulness", ">=", 1),
        ('critique(aspect="x >= y, a=b") <= 1%', 'critique(aspect="x >= y, a=b")', "<=", 0.01),
    ],
)
def test_a_requirement_names_any_form_of_a_metric(
    scored: Scored, text: str, metric: str, op: str, at: float
) -> None:
    known, bar = read_requirement(text, scored)
    assert (known, bar.op) == (metric, op)
    assert bar.at == pytest.approx(at)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("faithfulness", "is not a requirement"),
        ("faithfulness 0.85", "is not a requirement"),
        ("faithfulness == 0.85", "cannot test for equality"),
        ("faithfulness >= high", "'high' is not a number"),
        ("faithfulness >= nan", "is not a number"),
        ("faithfulness >=", "is not a number"),
        ("faithfulness >= 85", "Is 85% meant"),
        ("faithfulness < 0", "cannot lie beyond 0"),
        ("faithfulness >= -1", "never below 0"),
        ("precision >= 0.5", "No metric of this run"),
        ("ndcg(k=3) >= 0.5", "Did you mean ndcg"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_what_to_write(
    scored: Scored, text: str, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        read_requirement(text, scored)


@pytest.mark.parametrize(
    ("op", "below", "at", "above"),
    [
        (">=", False, True, True),
        (">", False, False, True),
        ("<=", True, True, False),
        ("<", True, False, False),
    ],
)
def test_a_number_on_the_bar_meets_it_where_the_sign_says_so(
    op: Op, below: bool, at: bool, above: bool
) -> None:
    bar = Bound(op, 0.5)
    assert [bar.met(value) for value in (0.4, 0.5, 0.6)] == [below, at, above]


def test_numbers_are_plain_or_percentages() -> None:
    read = [read_number(text) for text in ("0.5", "50%", " 50 % ", "1e-2", "1_0", "inf", "")]
    assert read == [0.5, 0.5, 0.5, 0.01, None, None, None]


def test_every_fault_is_told_at_once(run: Make) -> None:
    with pytest.raises(InputError) as caught:
        gate(
            run(hit=[1.0]), ["mrr >= 0.5", "hit ~ 1"], system="two", level=0.6, max_missing=2,
            no_worse_than=["three:0.1", "one:0.1", "one"],
        )  # fmt: skip
    told = str(caught.value)
    assert told.startswith("8 problems")
    for word in ("'mrr'", "'hit ~ 1'", "'two'", "0.6", "max_missing", "'three'", "no other system"):
        assert word in told


def test_a_single_fault_keeps_its_kind(run: Make) -> None:
    with pytest.raises(UnknownName, match="There are hit"):
        gate(run(hit=[1.0]), "mrr >= 0.5")


def test_nothing_to_decide_is_a_fault(run: Make) -> None:
    with pytest.raises(InputError, match="needs something to decide"):
        gate(run(hit=[1.0]))


def test_a_requirement_given_twice_counts_once(run: Make) -> None:
    result = gate(run(hit=zeros(9, 9)), ["hit >= 0.5", "hit>=50%"])
    assert [one.text for one in result.requirements] == ["hit >= 0.5"]


# What is given back ------------------------------------------------------------------------


def test_the_record_has_what_programs_read(run: Make) -> None:
    record = gate(run(hit=zeros(100, 88)), "hit >= 0.85").to_dict()
    assert record["decision"] == "cannot_tell"
    (one,) = record["requirements"]
    assert list(one)[:8] == [
        "text", "group", "decision", "value", "low", "high", "p", "n_needed",
    ]  # fmt: skip
    assert (one["text"], one["group"]) == ("hit >= 0.85", {"system": "one"})


def test_the_record_has_everything_by_its_name(run: Make) -> None:
    result = gate(run(hit=zeros(100, 88)), "hit >= 0.85", corrected=lambda *_: None)
    record = result.to_dict()
    assert record.pop("without_overrules") is result.without_corrections is None
    for found, known in ((record, result), (record["requirements"][0], only(result))):
        for name in ("requirements", "worst"):
            found.pop(name, None)
        plain = {name: value for name, value in found.items() if name != "adjusted"}
        given = {name: getattr(known, name) for name in plain}
        if checked := given.get("checked"):
            given["checked"] = checked.to_dict()
        assert json.dumps(plain) == json.dumps(given)
    assert record["notes"] == ["hit: uncorrected?systems=one"]


def test_the_worst_examples_lie_furthest_on_the_wrong_side(run: Make) -> None:
    one = only(gate(run(mrr=[0.9, 0.2, 0.5, 0.2, 0.1]), "mrr >= 0.8"))
    assert [name for name, _ in one.worst] == ["q4-one", "q1-one", "q3-one", "q2-one"]
    above = only(gate(run(mrr=[0.9, 0.2, 0.5]), "mrr <= 0.1", on="point"))
    assert [value for _, value in above.worst] == [0.9, 0.5, 0.2]


def test_a_composite_of_means_is_decided_on_its_components_redrawn_together(run: Make) -> None:
    made = run(ragas_harmonic=[None] * 40, faithfulness=[0.8, 1.0] * 20,
               answer_relevance=[0.9, 1.0] * 20, context_precision=[1.0, 0.5] * 20)  # fmt: skip
    one = only(gate(made, "ragas_harmonic >= 0.7"))
    expected = 3 / (1 / 0.9 + 1 / 0.95 + 1 / 0.75)
    assert one.value == pytest.approx(expected)
    assert one.method == "cluster_bootstrap"
    assert (one.decision, one.n) == ("pass", 40)


@pytest.mark.usefixtures("registries")
def test_a_missing_component_without_an_end_of_its_range_cannot_be_filled(run: Make) -> None:
    @metric(over=References, range=Range(0, inf), empty=Undefined("no_reference"))
    def words_over() -> pl.Expr:
        return References.rouge_l.max()

    register(words_over)
    composite = parse_metric('ragas_harmonic(weights="faithfulness:1 words_over:1")')
    assert isinstance(composite, Composite)
    owed: list[Score] = [0.8, 1.0, MISSING]
    scored = Scored(run(faithfulness=[0.8, 1.0, 0.9], words_over=owed))
    filled = over_means_quantity(scored, composite, "one").filled
    assert filled is not None
    assert filled("high") is None
    low = filled("low")
    assert low is not None
    assert low.n_missing == 0


def test_a_composite_of_means_without_its_components_says_what_to_score(run: Make) -> None:
    with pytest.raises(InputError, match=r'rescore\(run=".*", metrics="faithfulness"\) adds them'):
        gate(run(ragas_harmonic=[None] * 9), "ragas_harmonic >= 0.7")


# Between runs ------------------------------------------------------------------------------


def rows(right: int, n: int = 40) -> list[dict[str, str]]:
    return [
        {
            "question_id": f"q{at}",
            "question": f"What is {at}?",
            "answer": "yes" if at < right else "no",
            "reference": "yes",
        }
        for at in range(n)
    ]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("baseline") / "run"
    return evaluate(rows(30), metrics="exact_match", out=out).path


def test_a_run_stands_beside_another_runs_folder(baseline: Path) -> None:
    better = evaluate(rows(34), metrics="exact_match")
    result = gate(better, no_worse_than=f"{baseline}:0.05")
    assert result.decision == "pass"
    assert only(result).value == pytest.approx(0.1)
    worse = gate(evaluate(rows(10), metrics="exact_match"), no_worse_than=f"{baseline}:0.05")
    assert worse.decision == "fail"
    assert only(worse).value == pytest.approx(-0.5)
    assert only(worse).text == f"exact_match no worse than {baseline}:0.05"


def test_a_run_is_no_worse_than_itself_in_every_metric(baseline: Path) -> None:
    result = gate(baseline, no_worse_than=f"{baseline}:0")
    one = only(result)
    assert (result.decision, one.state, one.same, one.value) == ("pass", "holds", True, 0)
    assert (one.metric, one.low, one.p, one.p_adjusted) == ("exact_match", None, None, None)
    assert "the same inputs on every pair" in words(one.reason)
    assert one.to_dict()["same"]
    assert gate(baseline, no_worse_than=f"{baseline}:0", on="point").decision == "pass"


@pytest.mark.parametrize(
    ("new", "old", "decision"),
    [
        ([1] * 40, [1] * 40, "pass"),
        ([0] * 40, [1] * 40, "fail"),
        ([1] * 39 + [0], [1] * 40, "cannot_tell"),
        ([None] * 40, [1] * 40, "missing"),
    ],
)
def test_what_people_said_otherwise_of_the_same_answers_is_decided_by_it(
    new: list[int | None], old: list[int | None], decision: str
) -> None:
    labelled = [
        {**row, "system": system, "labels": {"answer": {"helpful": value, "on_topic": 1}}}
        for system, helpful in (("new", new), ("old", old))
        for row, value in zip(rows(40), helpful, strict=True)
    ]
    run = evaluate(labelled, metrics="helpfulness", judge="human")
    result = gate(run, no_worse_than="old:0.02", system="new")
    assert result.decision == decision
    assert only(result).same is (new == old)


def test_what_has_the_same_inputs_is_not_one_of_the_family(baseline: Path, tmp_path: Path) -> None:
    """Precision reads the contexts alone, which are none; so the family is exact match."""
    metrics = ["exact_match", "context_precision"]
    first = evaluate(rows(30), metrics=metrics, out=tmp_path / "a").path
    better = evaluate(rows(20), metrics=metrics, out=tmp_path / "b").path
    tested, same = gate(better, no_worse_than=f"{first}:0.02").requirements
    assert (same.metric, same.same, tested.same) == ("context_precision", True, False)
    assert tested.p == tested.p_adjusted
    alone = only(gate(evaluate(rows(20), metrics="exact_match"), no_worse_than=f"{baseline}:0.02"))
    assert (tested.decision, tested.p_adjusted) == (alone.decision, alone.p_adjusted)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_no_pairs_are_asked_for_where_none_differs(run: Make, value: float) -> None:
    scores = {"hit": [value] * 8}
    one = only(gate(run({"new": scores, "old": scores}), no_worse_than="old:0.02"))
    assert (one.state, one.n_needed, one.n_needed_reason) == ("open", None, NO_PAIR_DIFFERS)


def test_only_some_metrics_are_to_be_no_worse(run: Make) -> None:
    scores = {"mrr": [0.5, 0.6] * 20, "recall": [0.5, 0.1] * 20, "hit": zeros(40, 20)}
    made = run({"new": scores, "old": scores})
    found = gate(made, no_worse_than="old:0.5", only=["recall", "mrr"]).requirements
    assert [one.metric for one in found] == ["recall", "mrr"]
    with pytest.raises(UnknownName, match="There are mrr, recall, hit"):
        gate(made, no_worse_than="old:0.5", only="ndcg")
    with pytest.raises(InputError, match="only= limits no_worse_than="):
        gate(made, "mrr >= 0.1", only="mrr")


def test_runs_without_a_question_in_common_are_refused(baseline: Path) -> None:
    others = [row | {"question_id": f"other {at}"} for at, row in enumerate(rows(30))]
    with pytest.raises(InputError, match="share no question"):
        gate(evaluate(others, metrics="exact_match"), no_worse_than=f"{baseline}:0.05")
