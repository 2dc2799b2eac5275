"""A gate keeps its promise or refuses: thresholds by hand, refusals, standing, files."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from ragstone import explain
from ragstone.core.errors import DataError, InputError, PromiseRefused
from ragstone.guard import Gate, Guard
from ragstone.guard.confidence_gate.confidence_gate import calibrate_gate
from ragstone.guard.confidence_gate.gate_labels import (
    GateJudge,
    LabelledScore,
    has_scores,
    labelled_scores,
)
from ragstone.models.chat.model import ChatFailure
from ragstone.testing import ScriptedModel


def rows(*groups: tuple[bool, Sequence[float | None]]) -> list[LabelledScore]:
    """Answers that are independent of each other."""
    return [LabelledScore(score, faithful) for faithful, scores in groups for score in scores]


def spread(n: int, low: float, high: float) -> list[float]:
    return [float(score) for score in np.linspace(low, high, n)]


FIFTY = rows((False, spread(45, 0.1, 0.6)), (True, spread(5, 0.5, 0.9)))


def test_without_a_false_pass_to_spare_answers_pass_from_the_first_faithful_score_above_all() -> (
    None
):
    gate = Gate.calibrate(FIFTY)
    assert gate.pass_at == pytest.approx(0.7)
    assert (gate.n, gate.clusters, gate.unscored) == (50, 50, 0)
    assert (gate.false_pass.hits, gate.false_pass.clusters) == (0, 45)
    assert gate.false_pass.high == pytest.approx(1 - 0.1 ** (1 / 45))
    assert (gate.max_false_pass, gate.confidence) == (0.05, 0.9)
    assert (gate.block_below, gate.max_false_block) == (None, None)


def test_less_confidence_needs_fewer_labels() -> None:
    few = rows((False, spread(18, 0.1, 0.6)), (True, [0.9]))
    assert Gate.calibrate(few, confidence=0.6).false_pass.high == pytest.approx(1 - 0.4 ** (1 / 18))
    with pytest.raises(PromiseRefused):
        Gate.calibrate(few[1:], confidence=0.6)


def test_three_ways_out() -> None:
    gate = replace(
        Gate.calibrate(
            rows((False, spread(60, 0, 0.6)), (True, spread(60, 0.3, 1))), max_false_block=0.05
        ),
        pass_at=0.6,
        block_below=0.2,
    )
    assert [gate.decide(score) for score in (0.6, 0.59, 0.2, 0.19)] == [
        "pass", "ask", "ask", "block",
    ]  # fmt: skip
    assert gate.decide(None) == gate.decide(float("nan")) == gate.decide(float("inf")) == "ask"


def test_answers_below_the_lowest_faithful_score_are_blocked() -> None:
    gate = Gate.calibrate(
        rows((False, [*spread(50, 0.1, 0.3), *spread(5, 0.4, 0.5)]), (True, spread(45, 0.35, 0.9))),
        max_false_pass=0.1,
        max_false_block=0.05,
    )
    assert gate.block_below == pytest.approx(0.35)
    assert gate.false_block is not None
    assert (gate.false_block.hits, gate.false_block.clusters) == (0, 45)
    assert gate.decide(0.3) == "block"
    assert gate.decide(0.35) == "ask"


def test_blocking_with_one_faithful_answer_to_spare() -> None:
    good = [0.05, *spread(76, 0.4, 0.9)]
    gate = Gate.calibrate(rows((False, spread(77, 0.01, 0.3)), (True, good)), max_false_block=0.05)
    assert gate.block_below == pytest.approx(0.4)
    assert gate.false_block is not None
    assert gate.false_block.hits == 1
    assert binom.cdf(1, 77, gate.false_block.high) == pytest.approx(0.1)


def test_what_passes_is_not_blocked_where_scores_part_the_answers_wholly() -> None:
    gate = Gate.calibrate(
        rows((False, spread(50, 0.1, 0.2)), (True, spread(50, 0.8, 0.9))), max_false_block=0.05
    )
    assert gate.block_below == gate.pass_at == pytest.approx(0.8)


def test_of_each_cluster_one_unfaithful_answer_counts_with_its_highest_score() -> None:
    bad = [LabelledScore(score, False, f"q{at}") for at in range(45) for score in (0.1, 0.6)]
    good = [LabelledScore(score, True, f"q{at}") for at, score in enumerate([0.5, 0.7])]
    gate = Gate.calibrate([*bad, *good])
    assert gate.pass_at == 0.7
    assert (gate.false_pass.clusters, gate.false_pass.answers) == (45, 90)
    with pytest.raises(PromiseRefused):
        Gate.calibrate([*bad[2:], *good])


def test_answers_without_a_score_are_counted_and_asked_about_and_carry_no_promise() -> None:
    gate = Gate.calibrate([*FIFTY, *rows((False, [None]), (True, [None]))])
    assert (gate.n, gate.unscored, gate.false_pass.clusters) == (52, 2, 45)
    asked = {one.of: one.answers for one in gate.shares if one.way == "ask"}
    assert asked["faithful"] == 3
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(rows((False, [*spread(44, 0.1, 0.6), None]), (True, [0.9])))
    assert caught.value.clusters == 44


def test_shares_say_how_many_answers_go_which_way_with_intervals_by_clusters() -> None:
    gate = Gate.calibrate(FIFTY)
    shares = {(one.of, one.way): one for one in gate.shares}
    assert len(shares) == 9
    assert (shares["all", "pass"].answers, shares["all", "pass"].total) == (3, 50)
    assert (shares["faithful", "pass"].answers, shares["faithful", "ask"].answers) == (3, 2)
    assert shares["unfaithful", "pass"].share == 0
    peer = binomtest(3, 5).proportion_ci(0.95, method="wilson")
    assert shares["faithful", "pass"].low == pytest.approx(peer.low)
    assert shares["faithful", "pass"].high == pytest.approx(peer.high)


# What labels cannot carry.


def mtrag(shared: Path) -> list[dict[str, Any]]:
    import gzip

    file = shared / "data" / "rag_quality_mtrag" / "answers.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [
        {
            "question": one["meta"]["task_id"],
            "contexts": one["contexts"],
            "faithful": one["labels"]["faithfulness_median"] >= 3,
            # Scores that would tell these answers apart: what is refused is refused for numbers.
            "score": 0.9 if one["labels"]["faithfulness_median"] >= 3 else 0.1,
        }
        for one in found
    ]


def test_mtrag_cannot_carry_five_percent_and_says_what_it_can(shared: Path) -> None:
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(mtrag(shared))
    said = caught.value
    assert (said.answers, said.clusters, said.why) == (31, 18, "too_few")
    assert (said.tightest, said.tightest_if_independent) == (0.1201, 0.0716)
    assert (said.needed, said.more) == (45, 27)
    assert "31 unfaithful answers with a score in 18 clusters" in str(said)
    assert "max_false_pass=0.1201 is what they can carry; it would be 0.0716 if all answers" in (
        str(said)
    )
    assert "45 clusters with an unfaithful answer if none of them goes wrong, 77 if one" in str(
        said
    )
    assert "27 more" in str(said)


def test_promise_that_a_refusal_names_can_be_asked_for(shared: Path) -> None:
    gate = Gate.calibrate(mtrag(shared), max_false_pass=0.1201)
    assert (gate.pass_at, gate.false_pass.clusters) == (0.9, 18)
    with pytest.raises(PromiseRefused):
        Gate.calibrate(mtrag(shared), max_false_pass=0.12)


def test_independent_labels_are_refused_without_a_word_of_clusters() -> None:
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(FIFTY[1:])
    assert (caught.value.needed, caught.value.more) == (45, 1)
    assert caught.value.tightest == caught.value.tightest_if_independent
    assert "cluster" not in str(caught.value)


def test_scores_that_tell_nothing_are_refused_however_many_labels_there_are() -> None:
    same = rows((False, [0.9] * 300), (True, [0.9] * 300))
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(same)
    assert (caught.value.why, caught.value.tightest, caught.value.more) == ("not_apart", None, None)
    assert "more labels alone do not change that" in str(caught.value)


def test_tightest_promise_of_overlapping_scores_is_what_the_highest_faithful_score_shows() -> None:
    mixed = rows((False, [*spread(90, 0.1, 0.5), *[0.95] * 10]), (True, [0.6, 0.8]))
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(mixed)
    tightest = caught.value.tightest
    assert tightest is not None
    assert binom.cdf(10, 100, tightest) <= 0.1 < binom.cdf(10, 100, tightest - 1e-4)
    assert Gate.calibrate(mixed, max_false_pass=tightest).pass_at == 0.6


@pytest.mark.parametrize("n", range(5, 45))
def test_tightest_promise_is_told_rounded_up_so_that_it_can_be_asked_for(n: int) -> None:
    few = rows((False, spread(n, 0.1, 0.4)), (True, [0.9]))
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(few)
    tightest = caught.value.tightest
    assert tightest is not None
    assert 0 <= tightest - (1 - 0.1 ** (1 / n)) < 1e-4
    assert Gate.calibrate(few, max_false_pass=tightest).pass_at == 0.9


def test_labels_without_an_unfaithful_answer_are_nothing_to_test() -> None:
    with pytest.raises(PromiseRefused) as caught:
        Gate.calibrate(rows((True, spread(100, 0.5, 0.9))))
    assert (caught.value.why, caught.value.tightest, caught.value.more) == (
        "nothing_to_test", None, 45,
    )  # fmt: skip


def test_no_faithful_answer_leaves_nothing_to_pass() -> None:
    with pytest.raises(PromiseRefused, match="no faithful answer has one"):
        Gate.calibrate(rows((False, spread(100, 0.1, 0.4))))


def test_blocking_is_refused_like_passing() -> None:
    few = rows((False, spread(50, 0.1, 0.4)), (True, spread(44, 0.5, 0.9)))
    with pytest.raises(PromiseRefused, match="faithful answers are blocked") as caught:
        Gate.calibrate(few, max_false_block=0.05)
    assert (caught.value.promise, caught.value.more) == ("max_false_block", 1)


@pytest.mark.parametrize("labelled", [None, 5])
def test_labels_that_are_no_rows_are_refused_in_words(labelled: Any) -> None:
    with pytest.raises(InputError, match="it must be a path, or rows with labels"):
        Gate.calibrate(labelled)


@pytest.mark.parametrize("name", ["max_false_pass", "confidence", "max_false_block"])
@pytest.mark.parametrize("value", ["x", float("nan"), True])
def test_promises_that_are_no_numbers_are_refused_in_words(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=name.replace("_", ".")):
        Gate.calibrate([], **{name: value})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_false_pass": 0}, "max_false_pass= is 0"),
        ({"max_false_block": 1.5}, "max_false_block= is 1.5"),
        ({"confidence": 0.5}, "confidence is 0.5"),
    ],
)
def test_promise_outside_its_range_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Gate.calibrate(FIFTY, **arguments)


# Labels as they are given.


def test_rows_are_linked_by_question_and_by_contexts() -> None:
    found = labelled_scores(
        [
            {"score": 0.1, "faithful": True, "question": "a", "contexts": ["x"]},
            {"score": 0.2, "faithful": "no", "question": "b", "contexts": ["x"]},
            {"score": None, "faithful": 0, "question": "b", "contexts": ["y"]},
            {"score": "0.4", "faithful": "true", "question": "c", "question_id": "7"},
            {"score": "0.4", "faithful": "true", "question": "d", "question_id": "7"},
            {"score": 0.5, "faithful": {"ann": True, "ben": True, "cid": False}, "cluster": "a"},
            {"score": 0.5, "faithful": [1, 0]},
            {"score": 0.5, "faithful": None},
        ]
    )
    assert found.clusters.tolist() == [0, 0, 0, 1, 1, 2]
    assert found.faithful.tolist() == [True, False, False, True, True, True]
    assert found.scores.tolist()[:2] == [0.1, 0.2]
    assert np.isnan(found.scores[2])
    assert found.unlabelled == 2
    assert found.left_open == (0.5, 0.5)


@pytest.mark.parametrize(
    ("scores", "worst", "best"),
    [
        # Of 45 unfaithful answers none passes, from .7 on. These four would, and these six not.
        ([0.95] * 4 + [0.2] * 6, 4 / 49, 0),
        ([0.2] * 50, 0, 0),
        ([0.95] * 50, 50 / 95, 0),
        ([0.95] * 51, None, None),
        ([None] * 4, None, None),
    ],
)
def test_answers_that_people_left_open_are_shown_at_their_worst_and_best(
    scores: list[float | None], worst: float | None, best: float | None
) -> None:
    open_ones = [{"score": score, "faithful": ""} for score in scores]
    found = calibrate_gate([*FIFTY, *open_ones])
    assert found.gate == replace(calibrate_gate(FIFTY).gate, date=found.gate.date)
    assert [one.worst for one in found.if_open] == pytest.approx([] if worst is None else [worst])
    assert [one.best for one in found.if_open] == ([] if best is None else [best])
    assert found.to_dict()["if_open"] == [asdict(one) for one in found.if_open]


def test_a_promise_to_block_seldom_is_shown_at_its_worst_and_best_too() -> None:
    labelled = rows((False, spread(60, 0, 0.6)), (True, spread(60, 0.3, 1)))
    gate = calibrate_gate(labelled, max_false_block=0.05).gate
    below = sum(score < (gate.block_below or 0) for score in spread(60, 0.3, 1))
    check = gate.check([*labelled, *({"score": 0.0, "faithful": None} for _ in range(20))])
    assert check.if_open[1].worst == pytest.approx((below + 20) / 80)
    assert check.if_open[1].best == pytest.approx(below / 60)


def test_labels_likelier_to_be_drawn_are_thinned_out_to_those_drawn_least() -> None:
    """Of 2,000 answers 80 of each verdict are labelled; the rates are then those of all."""
    rng, passes, left = np.random.default_rng(1), list[float](), list[int]()
    for _ in range(25):
        faithful = rng.random(2000) < 0.7
        surely = rng.random(2000) < np.where(faithful, 0.9, 0.3)
        drawn = [(of, rng.choice(np.flatnonzero(surely == of), 80, False)) for of in (True, False)]
        found = labelled_scores(
            [{"score": float(surely[row]), "faithful": bool(faithful[row]),
              "inclusion_probability": str(80 / (surely == of).sum())}
             for of, those in drawn for row in those]
        )  # fmt: skip
        passes += found.scores[~found.faithful].tolist()
        left.append(len(found) + found.surplus)
    assert np.mean(passes) == pytest.approx(0.3, abs=0.05)
    assert left == [160] * 25


def test_probabilities_of_being_drawn_are_known_for_all_labels_or_for_none() -> None:
    rows = [{"score": 1, "faithful": True, "inclusion_probability": p} for p in (0.5, None)]
    with pytest.raises(InputError, match="1 of 2 labelled answers have no inclusion_probability"):
        labelled_scores(rows)
    with pytest.raises(DataError, match="above 0, at most 1"):
        labelled_scores([{**rows[0], "inclusion_probability": 0}])
    assert labelled_scores([{**rows[0], "inclusion_probability": ""}]).surplus == 0


def test_label_may_stand_among_the_labels_and_have_another_name() -> None:
    found = labelled_scores(
        [{"score": 1, "labels": {"grounded": True}, "session": "s"},
         {"confidence": 0, "grounded": False, "session": "s"}],
        label="grounded", cluster="session",
    )  # fmt: skip
    assert (found.faithful.tolist(), found.clusters.tolist()) == ([True, False], [0, 0])


def test_every_fault_of_the_rows_is_listed() -> None:
    with pytest.raises(DataError) as caught:
        labelled_scores(
            [
                {"score": "high", "faithful": "perhaps"},
                {"faithful": True},
                LabelledScore(float("inf"), True),
                3,  # type: ignore[list-item]
                {"score": True, "faithful": True},
            ]
        )
    assert [(one.line, one.field) for one in caught.value.faults] == [
        (1, "score"), (1, "faithful"), (2, "score"), (3, "score"), (4, ""), (5, "score"),
    ]  # fmt: skip
    assert "label=NAME" in str(caught.value)


def test_rows_without_any_label_are_a_fault() -> None:
    with pytest.raises(DataError, match="at least one label"):
        labelled_scores([{"score": 0.3, "faithful": None}])


def test_file_of_scores_is_read_and_known_from_examples(tmp_path: Path) -> None:
    scores, examples = tmp_path / "scores.csv", tmp_path / "examples.jsonl"
    scores.write_text("score,faithful,cluster\n0.5,yes,a\n,no,b\n", encoding="utf-8")
    examples.write_text('{"question": "q", "answer": "a", "contexts": ["c"]}\n', encoding="utf-8")
    assert labelled_scores(scores).faithful.tolist() == [True, False]
    assert (has_scores(scores), has_scores(examples)) == (True, False)
    with pytest.raises(DataError, match="scored by a guard"):
        labelled_scores(examples)


def test_examples_are_scored_by_the_confidence_of_a_guard() -> None:
    guard = Guard()
    context = "The bridge was opened in 1932 by the mayor of Truro."
    answers = ["The bridge was opened in 1932.", "It costs ninety dollars.", "I don't know."]
    data = [
        {"id": str(at), "question": "When?", "answer": answer, "contexts": [context],
         "labels": {"faithful": at != 1}}
        for at, answer in enumerate(answers)
    ]  # fmt: skip
    found = labelled_scores([*data, {**data[1], "id": "null", "answer": None}], guard=guard)
    assert found.unlabelled == 1
    expected = [guard.assess("When?", answer, [context]).confidence for answer in answers]
    assert found.scores[:2].tolist() == expected[:2]
    assert expected[2] is None
    assert np.isnan(found.scores[2])
    assert found.clusters.tolist() == [0, 0, 0]
    assert found.faithful.tolist() == [True, False, True]


def test_fault_in_the_label_of_an_example_has_its_place() -> None:
    data = [{"question": "q", "answer": "a", "contexts": ["c"], "labels": {"faithful": said}}
            for said in (True, "perhaps", None)]  # fmt: skip
    with pytest.raises(DataError) as caught:
        labelled_scores(data, guard=Guard())
    assert [(one.line, one.field) for one in caught.value.faults] == [(2, "faithful")]


# Whether it still stands.


def judged(name: str = "mine", parts: tuple[str, ...] = ("1",)) -> Gate:
    return Gate.calibrate(FIFTY, judge=GateJudge(name, parts))


def test_void_gate_asks_about_every_answer() -> None:
    gate = judged()
    assert gate.decide(0.99) == "pass"
    void = gate.as_it_stands(judge="other")
    assert [void.decide(score) for score in (0.99, 0.0, None)] == ["ask"] * 3
    assert explain(void.void[0]).startswith("the gate was calibrated with another judge: mine (")
    unnamed = gate.as_it_stands(judge=GateJudge()).void[0]
    assert ", not unknown (" in explain(unnamed)


@pytest.mark.parametrize(
    ("was", "now", "void"),
    [
        (GateJudge("mine", ("1",)), GateJudge("mine", ("1",)), False),
        (GateJudge("mine", ("1",)), GateJudge("mine", ("2",)), True),
        (GateJudge("mine", ("1",)), "mine", False),
        (GateJudge("mine"), GateJudge("mine", ("2",)), False),
        (GateJudge("mine"), "other", True),
        (GateJudge(), "mine", True),
    ],
)
def test_gate_stands_for_the_judge_it_was_calibrated_with(
    was: GateJudge, now: GateJudge | str, void: bool
) -> None:
    standing = Gate.calibrate(FIFTY, judge=was).standing(judge=now)
    assert standing.holds == (not void)


def test_fingerprint_changes_with_every_part() -> None:
    prints = {GateJudge(*one).fingerprint for one in (("a",), ("b",), ("a", ("1",)), ("a", ("2",)))}
    assert len(prints) == 4


def test_gate_of_drifted_scores_is_void_and_stays_so() -> None:
    gate = judged()
    drifted = [0.9 + at / 1000 for at in range(60)]
    standing = gate.standing(scores=drifted)
    assert standing.drift is not None
    assert not standing.holds
    assert "distributed" in explain(standing.void[0])
    void = gate.as_it_stands(scores=drifted)
    assert void.as_it_stands(judge=gate.judge).decide(0.99) == "ask"


def test_scores_of_the_same_source_seldom_void_a_gate() -> None:
    rng = np.random.default_rng(4)
    gate = judged()
    pool = [row.score or 0.0 for row in FIFTY]
    found = [gate.standing(scores=rng.choice(pool, 50)).holds for _ in range(200)]
    assert np.mean(found) >= 0.97


def test_one_score_a_cluster_is_kept_to_see_a_drift() -> None:
    several = [LabelledScore(score, False, f"q{at}") for at in range(50) for score in (0.1, 0.2)]
    gate = Gate.calibrate([*several, LabelledScore(0.9, True, "q0")])
    assert len(gate.scores) == 50
    assert set(gate.scores) <= {0.1, 0.2, 0.9}


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_level_of_drift_lies_inside_the_unit_interval(level: float) -> None:
    with pytest.raises(InputError, match="level of a test"):
        judged().standing(scores=[0.1], level=level)


# New labels.


def test_promise_holds_where_new_labels_show_it() -> None:
    found = judged().check(rows((False, spread(45, 0.1, 0.69)), (True, [0.9])))
    assert (found.state, found.exit_status) == ("holds", 0)
    assert found.promises[0].needed is None
    assert found.promises[0].risk.high == pytest.approx(1 - 0.1 ** (1 / 45))


def test_promise_cannot_be_told_from_few_new_labels() -> None:
    found = judged().check(rows((False, [*spread(30, 0.1, 0.6), 0.95]), (True, [0.9])))
    assert (found.state, found.exit_status) == ("cannot_tell", 3)
    assert found.promises[0].needed == 77
    assert (found.promises[0].risk.hits, found.promises[0].risk.clusters) == (1, 31)


def test_new_answers_with_just_the_score_of_a_threshold_go_its_way() -> None:
    labels = rows((False, spread(60, 0, 0.4)), (True, spread(60, 0.5, 1)))
    gate = Gate.calibrate(labels, max_false_pass=0.1, max_false_block=0.1)
    block = gate.block_below
    assert block is not None
    new = [(False, [gate.pass_at, gate.pass_at - 1e-9]), (True, [block, block - 1e-9])]
    found = gate.check(rows(*new))
    assert [one.risk.hits for one in found.promises] == [1, 1]
    assert [gate.decide(score) == "pass" for score in new[0][1]] == [True, False]
    assert [gate.decide(score) == "block" for score in new[1][1]] == [False, True]


def test_promise_is_broken_where_even_the_lower_bound_is_above_it() -> None:
    new = rows((False, [*spread(40, 0.1, 0.6), *[0.95] * 10]), (True, [0.9]))
    found = judged().check(new)
    assert (found.state, found.exit_status) == ("broken", 1)
    low = binomtest(10, 50, alternative="greater").proportion_ci(0.9, method="exact").low
    assert found.promises[0].risk.low == pytest.approx(low)


def test_of_two_promises_the_worse_one_decides() -> None:
    labels = rows((False, spread(60, 0, 0.4)), (True, spread(60, 0.5, 1)))
    gate = Gate.calibrate(labels, max_false_block=0.1)
    found = gate.check(rows((False, spread(60, 0, 0.4)), (True, [0.1] * 30 + [0.9] * 30)))
    assert [(one.promise, one.state) for one in found.promises] == [
        ("max_false_pass", "holds"),
        ("max_false_block", "broken"),
    ]
    assert found.state == "broken"


def test_check_says_of_new_scores_whether_they_have_drifted() -> None:
    found = judged().check(rows((False, [0.05] * 60), (True, [0.06] * 60)))
    assert found.state == "holds"
    assert not found.standing.holds


def test_check_counts_new_answers_without_a_score() -> None:
    found = judged().check(rows((False, [0.2, None]), (True, [None, 0.9])))
    assert (found.unscored, found.promises[0].risk.answers) == (2, 1)
    assert sum(one.answers for one in found.shares if one.of == "all" and one.way == "ask") == 3


def test_check_without_an_unfaithful_answer_cannot_tell() -> None:
    found = judged().check(rows((True, [0.9])))
    assert (found.state, found.promises[0].risk.rate) == ("cannot_tell", None)


# In a guard.


CONTEXT = "The bridge was opened in 1932 by the mayor of Truro."
ANSWER = "The bridge was opened in 1932 by the mayor [1]."


def test_guard_decides_by_the_gate_of_its_judge() -> None:
    confidence = Guard().assess("When?", ANSWER, [CONTEXT]).confidence
    assert confidence is not None
    gate = replace(Gate.calibrate(FIFTY, judge=Guard().scores_by), pass_at=confidence)
    assert Guard(gate=gate).assess("When?", ANSWER, [CONTEXT]).decision == "pass"
    stricter = replace(gate, pass_at=confidence + 1e-6)
    assert Guard(gate=stricter).assess("When?", ANSWER, [CONTEXT]).decision == "ask"


def test_guard_takes_the_gate_of_another_judge_for_void() -> None:
    gate = replace(Gate.calibrate(FIFTY, judge="nli:other"), pass_at=0.0)
    assert Guard(gate=gate).assess("When?", ANSWER, [CONTEXT]).decision == "ask"
    unknown = replace(Gate.calibrate(FIFTY), pass_at=0.0)
    assert Guard(gate=unknown).assess("When?", ANSWER, [CONTEXT]).decision == "ask"


def test_void_gate_is_told_of_in_the_notes() -> None:
    gate = Gate.calibrate(FIFTY, judge="nli:other")
    found = Guard(gate=gate).assess("When?", ANSWER, [CONTEXT])
    assert ["calibrated with another judge" in explain(note) for note in found.notes] == [True]
    kept = Guard(gate=Gate.calibrate(FIFTY, judge=Guard().scores_by))
    assert kept.assess("When?", ANSWER, [CONTEXT]).notes == ()


def test_answer_that_another_judge_scored_in_the_place_of_a_late_one_is_asked_about() -> None:
    gone = ScriptedModel(lambda _: ChatFailure("unreachable", "cannot be reached"))
    judge = Guard(judge=gone).scores_by
    gate = replace(Gate.calibrate(FIFTY, judge=judge), pass_at=0.0)
    found = Guard(judge=gone, gate=gate).assess("When?", ANSWER, [CONTEXT])
    assert (found.late, found.ok, found.decision) == (True, True, "ask")
    assert found.confidence is not None


def test_nothing_passes_of_which_another_check_failed() -> None:
    gate = replace(Gate.calibrate(FIFTY, judge=Guard().scores_by), pass_at=0.0)
    found = Guard(gate=gate).assess("When?", ANSWER.replace("[1]", "[7]"), [CONTEXT])
    assert (found.ok, found.decision) == (False, "ask")


# As a file.


def test_gate_is_the_same_after_it_was_written_and_read(tmp_path: Path) -> None:
    gate = Gate.calibrate(
        rows((False, spread(60, 0, 0.6)), (True, spread(60, 0.3, 1))),
        max_false_block=0.05,
        judge=GateJudge("mine", ("1", "2")),
    ).as_it_stands(judge="other")
    assert Gate.read(gate.write(tmp_path / "gate.json")) == gate


def test_a_gate_that_the_first_version_wrote_is_read_as_it_is() -> None:
    file = Path(__file__).with_name("gate-0.1.0.json")
    before = file.read_bytes()
    gate = Gate.read(file)
    assert [gate.decide(score) for score in (0.7, 0.5, 0.2)] == ["pass", "ask", "block"]
    assert gate.to_dict().items() >= json.loads(before).items()
    assert file.read_bytes() == before


def test_every_fault_of_a_gate_is_listed(tmp_path: Path) -> None:
    told = judged().to_dict()
    told["pass_at"], told["n"], told["date"] = "high", -1, None
    told["false_pass"]["high"] = 1.5
    del told["judge"]
    file = tmp_path / "gate.json"
    file.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Gate.read(file)
    said = str(caught.value)
    assert "is no gate, as ragstone guard calibrate writes it" in said
    assert all(f"  {name}  expected" in said for name in (
        "pass_at", "n", "date", "judge", "false_pass.high",
    ))  # fmt: skip


def read_from(tmp_path: Path, told: object) -> Gate:
    file = tmp_path / "gate.json"
    file.write_text(json.dumps(told), encoding="utf-8")
    return Gate.read(file)


def test_gate_whose_parts_do_not_fit_lists_them_all(tmp_path: Path) -> None:
    told = judged().to_dict()
    told |= {"block_below": 0.9, "confidence": 0.4, "scores": [0.3, 0.1]}
    told["false_pass"]["promised"] = 0
    with pytest.raises(InputError) as caught:
        read_from(tmp_path, told)
    said = str(caught.value)
    for fault in ("above pass_at", "inside (.5, 1)", "belong together", "ascending", "is promised"):
        assert fault in said


@pytest.mark.parametrize("told", [[], "gate", None, {"pass_at": [1, 2]}])
def test_what_is_no_gate_is_refused(told: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no gate"):
        read_from(tmp_path, told)


def test_missing_file_is_no_gate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no gate"):
        Gate.read(tmp_path / "none.json")


# What a calibration tells beside the gate.


def test_calibration_says_what_other_promises_would_bring() -> None:
    found = calibrate_gate(rows((False, spread(100, 0, 0.99)), (True, spread(100, 0.01, 1))),
                           max_false_pass=0.1)  # fmt: skip
    others = {one.max_false_pass: one for one in found.others}
    assert others[0.01].pass_at is None
    assert others[0.01].faithful == 0
    assert others[0.1].pass_at == found.gate.pass_at
    passed = [one.faithful for one in found.others]
    assert passed == sorted(passed)


def test_area_under_risk_and_coverage_is_that_of_the_scored_answers() -> None:
    found = calibrate_gate([*FIFTY, *rows((False, [None]))])
    assert found.risk_coverage.blind == pytest.approx(45 / 50)
    told = found.to_dict()["risk_coverage"]
    assert told["area"] == found.risk_coverage.area
    assert (told["thresholds"][0], told["coverage"][-1]) == (0.9, 1)
    assert {"faithful_passed", "passed"} <= set(found.to_dict()["others"][0])
    assert told["risk"][-1] == pytest.approx(45 / 50)
