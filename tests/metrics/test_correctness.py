"""Correctness against one reference, several, and none."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
import pytest

from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.judgements import Answers, ClaimsAgainstReferences, References, Statements
from ragstone.metrics import Missing, Score, Undefined, parse_metric, score
from ragstone.metrics.correctness import LETTERS, factual_accuracy, letter
from ragstone.testing import Given, Rows, rows, score_frame, score_one

Scored = Callable[..., dict[str, list[Score]]]
Verdicts = Sequence[str | None]


def claims(*by_reference: Verdicts) -> Rows:
    return _rows(ClaimsAgainstReferences, by_reference)


def statements(*by_reference: Verdicts) -> Rows:
    return _rows(Statements, by_reference)


def _rows(view: Any, by_reference: Sequence[Verdicts]) -> Rows:
    pairs = [(number, one) for number, said in enumerate(by_reference) for one in said]
    return rows(
        view, reference=[number for number, _ in pairs], agreement=[one for _, one in pairs]
    )


def scored(name: str, *given: Rows) -> Score:
    return score_one(parse_metric(name), *given)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["full", "full"], 1),
        (["full", "partial"], 0.75),
        (["partial", "missing", "contradicted", "full"], 1.5 / 4),
        (["missing"], 0),
    ],
)
def test_coverage_counts_partial_statements_half(said: Verdicts, expected: float) -> None:
    assert scored("answer_coverage", statements(said)) == pytest.approx(expected)


def test_f_beta_leans_to_recall_as_beta_grows() -> None:
    given = claims(["matches", "extra"]), statements(["full", "missing", "missing", "missing"])
    precision, recall = 1 / 2, 1 / 4
    for beta in (0.5, 1, 2):
        expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        metric = f"answer_correctness(factual=1, beta={beta})"
        assert scored(metric, *given) == pytest.approx(expected)


def test_similarity_weighs_a_quarter_and_is_needed_only_where_it_weighs() -> None:
    given = claims(["matches"]), statements(["full"])
    alike = rows(References, similarity=[0.4], reference=[0])
    assert scored("answer_correctness", *given, alike) == pytest.approx(0.75 + 0.25 * 0.4)
    opposite = rows(References, similarity=[-0.4], reference=[0])
    assert scored("answer_correctness", *given, opposite) == pytest.approx(0.75)
    assert scored("answer_correctness(factual=1)", *given) == 1
    unknown = rows(References, similarity=[None], reference=[0])
    assert scored("answer_correctness", *given, unknown) == Missing("incomplete_judgement")


def test_a_threshold_turns_correctness_into_yes_or_no() -> None:
    half = claims(["matches", "extra"]), statements(["full", "missing"])
    assert scored("answer_correctness(factual=1, threshold=0.5)", *half) == 1
    assert scored("answer_correctness(factual=1, threshold=0.51)", *half) == 0
    # F1 of 1 and 1/2 is 2/3, of which .9 is .6, in floats a little less.
    third = claims(["matches"]), statements(["full", "missing"])
    similar = rows(References, reference=[0], similarity=[0.0])
    assert scored("answer_correctness(factual=0.9, threshold=0.6)", *third, similar) == 1


@pytest.mark.parametrize(
    ("claimed", "covered", "expected", "letter"),
    [
        (["matches"], ["full"], 1, "A"),
        (["matches", "extra"], ["full"], 1, "A"),
        (["matches", "contradicts"], ["full"], 0.5 / 2 + 0.3 + 0.2 / 2, "B"),
        (["extra"], ["partial"], 0.3 / 2 + 0.2, "D"),
        (["matches"], ["missing"], 0.5 + 0.2, "B"),
        (["contradicts"], ["contradicted"], 0, "E"),
    ],
)
def test_extra_facts_cost_nothing_and_wrong_ones_a_lot(
    claimed: Verdicts, covered: Verdicts, expected: float, letter: str
) -> None:
    given = claims(claimed), statements(covered)
    line = score_frame(parse_metric("factual_accuracy"), [given]).row(0, named=True)
    assert line["value"] == pytest.approx(expected)
    assert line["label"] == letter


def exact_letter(value: Fraction) -> str:
    return next((name for name, least in zip("ABCD", (8, 6, 4, 2), strict=True)
                 if value >= Fraction(least, 10)), "E")  # fmt: skip


def test_a_value_that_is_exactly_a_bound_has_its_letter() -> None:
    frame, expected = [], []
    for matching, wrong, extra in product(range(4), range(4), range(4)):
        for full, partial, missing in product(range(4), range(3), range(4)):
            n, statements_in_all = matching + wrong + extra, full + partial + missing
            if not n or not statements_in_all:
                continue
            correctness = Fraction(matching, matching + wrong) if matching + wrong else Fraction(0)
            completeness = Fraction(2 * full + partial, 2 * statements_in_all)
            consistency = 1 - Fraction(wrong, n)
            exact = correctness / 2 + completeness * 3 / 10 + consistency / 5
            expected.append(exact_letter(exact))
            frame.append((float(correctness), float(completeness), float(consistency)))
    columns = pl.DataFrame(frame, schema=["x", "y", "z"], orient="row")
    value = factual_accuracy(pl.col("x"), pl.col("y"), pl.col("z"))
    assert columns.select(letter(value, LETTERS)).to_series().to_list() == expected


def test_other_letters_are_a_parameter() -> None:
    given = claims(["matches", "contradicts"]), statements(["full"])
    metric = parse_metric("factual_accuracy(letters=(0.9, 0.75, 0.5, 0.25))")
    assert score_frame(metric, [given])["label"].to_list() == ["C"]


def test_a_failed_judge_gives_no_letter() -> None:
    given = claims([None]), statements(["full"])
    line = score_frame(parse_metric("factual_accuracy"), [given]).row(0, named=True)
    assert (line["value"], line["label"], line["reason"]) == (None, None, "incomplete_judgement")


@pytest.mark.parametrize(
    ("response", "covered", "claimed", "word", "value"),
    [
        ("answer", ["full", "full"], ["matches", "extra"], "correct", 1),
        ("answer", ["full", "full"], ["contradicts"], "partial", 0.5),
        ("answer", ["full", "missing"], ["matches"], "partial", 0.5),
        ("answer", ["partial"], ["matches"], "partial", 0.5),
        ("answer", ["missing"], ["extra"], "wrong", 0),
        ("answer", ["contradicted"], ["contradicts"], "wrong", 0),
        ("partial", ["full"], [], "correct", 1),
        ("abstain", ["missing"], [], "dont_know", 0),
        ("abstain", ["full"], ["matches"], "dont_know", 0),
        ("refuse", ["missing"], [], "dont_know", 0),
        ("clarify", ["missing"], [], "dont_know", 0),
    ],
)
def test_an_outcome_looks_for_abstention_first(
    response: str, covered: Verdicts, claimed: Verdicts, word: str, value: float
) -> None:
    given = rows(Answers, response_type=[response]), statements(covered), claims(claimed)
    line = score_frame(parse_metric("answer_outcome"), [given]).row(0, named=True)
    assert (line["label"], line["value"]) == (word, value)


def test_an_outcome_is_missing_where_any_judgement_is() -> None:
    answered = rows(Answers, response_type=["answer"])
    for given in (
        (answered, statements(["full", None]), claims(["matches"])),
        (answered, statements(["full"]), claims([None])),
        (rows(Answers, response_type=[None]), statements(["full"]), claims(["matches"])),
    ):
        assert scored("answer_outcome", *given) == Missing("incomplete_judgement")


def test_a_reply_that_gives_no_answer_needs_no_reading_of_its_claims() -> None:
    for said in ("abstain", "refuse", "clarify"):
        given = rows(Answers, response_type=[said]), statements([None]), claims([None])
        line = score_frame(parse_metric("answer_outcome"), [given]).row(0, named=True)
        assert (line["label"], line["value"], line["reason"]) == ("dont_know", 0, None)


def test_in_three_classes_a_partial_answer_is_wrong() -> None:
    """Half of the reference is covered, then all, then the answer says that it does not know."""
    cases = [("answer", ["full", "missing"]), ("answer", ["full"]), ("abstain", ["missing"])]
    given = [
        (rows(Answers, response_type=[said]), statements(covered), claims(["matches"]))
        for said, covered in cases
    ]
    found = score_frame(parse_metric("answer_outcome(classes=3)"), given)
    assert found["label"].to_list() == ["wrong", "correct", "dont_know"]
    assert found["value"].to_list() == [0, 1, 0]


@pytest.mark.parametrize("phrases", ["phrases_8", "phrases_12"])
def test_an_outcome_tells_abstentions_by_phrases_where_it_is_asked_to(phrases: str) -> None:
    """The judge calls both answers answers."""
    given = [
        (rows(Answers, response_type=["answer"], **{phrases: [one]}), statements(["full"]),
         claims(["matches"]))
        for one in (True, False)
    ]  # fmt: skip
    found = score_frame(parse_metric(f'answer_outcome(by="{phrases}")'), given)
    assert found["label"].to_list() == ["dont_know", "correct"]


@pytest.mark.parametrize("text", ["answer_outcome(classes=2)", 'answer_outcome(by="words")',
                                  "factual_accuracy(abstention=2.0)"])  # fmt: skip
def test_there_are_no_other_classes_ways_to_abstain_or_values(text: str) -> None:
    with pytest.raises(InputError, match=r"answer_outcome|abstention must be 0 to 1"):
        parse_metric(text)


@pytest.mark.parametrize(
    ("response", "claimed", "value", "letter"),
    [
        ("abstain", [], 0, "E"),
        ("refuse", [], 0, "E"),
        ("clarify", [], 0, "E"),
        ("abstain", ["matches"], 0, "E"),
        ("abstain", [None], 0, "E"),
        ("answer", [], 0, "E"),
        ("answer", ["matches"], 0.5 + 0.3 / 2 + 0.2, "A"),
        ("partial", ["contradicts"], 0.3 / 2, "E"),
    ],
)
def test_every_answer_is_graded_where_an_abstention_has_a_value(
    response: str, claimed: Verdicts, value: float, letter: str
) -> None:
    """Half of the reference is covered; without the convention the abstentions have no score."""
    given = rows(Answers, response_type=[response]), statements(["partial"]), claims(claimed)
    line = score_frame(parse_metric("factual_accuracy(abstention=0.0)"), [given]).row(0, named=True)
    assert line["value"] == pytest.approx(value)
    assert line["label"] == letter


def test_a_failed_judge_gives_no_letter_where_abstentions_have_one() -> None:
    given = rows(Answers, response_type=["answer"]), statements(["full"]), claims([None])
    metric = "factual_accuracy(abstention=0.0)"
    assert scored(metric, *given) == Missing("incomplete_judgement")
    unknown = rows(Answers, response_type=[None]), statements(["full"]), claims(["matches"])
    assert scored(metric, *unknown) == Missing("incomplete_judgement")


def test_the_best_of_several_references_counts_and_is_named() -> None:
    given = [statements(["missing", "missing"], ["full", "missing"], ["full", "full", "missing"])]
    line = score_frame(parse_metric("answer_coverage"), [given]).row(0, named=True)
    assert line["value"] == pytest.approx(2 / 3)
    assert line["reason"] == "best_reference=3"


def test_of_equal_references_the_first_counts() -> None:
    given = [statements(["full"], ["full"])]
    assert score_frame(parse_metric("answer_coverage"), [given])["reason"].to_list() == [
        "best_reference=1"
    ]


def test_a_single_reference_is_not_named() -> None:
    frame = score_frame(parse_metric("answer_coverage"), [[statements(["full"])]])
    assert frame["reason"].to_list() == [None]


def test_a_reference_without_verdicts_makes_the_best_one_missing() -> None:
    given = statements(["full", "missing"], [None])
    assert scored("answer_coverage", given) == Missing("incomplete_judgement")


def test_claims_and_statements_are_held_against_the_same_reference() -> None:
    given = claims(["matches"], ["contradicts"]), statements(["missing"], ["full"])
    assert scored("answer_correctness(factual=1)", *given) == 0
    assert scored("factual_accuracy", *given) == pytest.approx(max(0.5 + 0.2, 0.3))


def test_without_a_reference_there_is_nothing_to_be_correct_about(scored: Scored) -> None:
    names = [
        "answer_correctness", "factual_accuracy", "answer_outcome", "answer_coverage",
        "exact_match", "token_f1", "rouge_l", "semantic_similarity", "bertscore_f1",
        "context_recall",
    ]  # fmt: skip
    example = Example("1", "q", "s", question="?", answer="It rained.", contexts=())
    assert scored(names, [example]) == {name: [Undefined("no_reference")] for name in names}


def test_without_statements_there_is_nothing_to_be_complete_about() -> None:
    answered = rows(Answers, response_type=["answer"])
    for name in ("factual_accuracy", "answer_outcome"):
        assert scored(name, claims(["matches"]), answered) == Undefined("no_statements")


def test_a_letter_stands_only_beside_a_value() -> None:
    given = Given([[claims(["matches"]), statements(["full"])]] * 2)
    references = pl.Series([["It rained."], []], dtype=pl.List(pl.String))
    given.examples = given.examples.with_columns(reference=references)
    frame = score(given, [parse_metric("factual_accuracy")])["factual_accuracy"]
    assert frame.select("value", "label", "reason").rows() == [
        (1, "A", None),
        (None, None, "no_reference"),
    ]


def test_the_best_overlap_counts(score_frames: Callable[..., dict[str, pl.DataFrame]]) -> None:
    example = Example("1", "q", "s", answer="red fox", reference=("blue whale", "the red fox"))
    frames = score_frames(["exact_match", "token_f1"], [example])
    assert frames["exact_match"].row(0)[0] == 1
    assert frames["token_f1"].row(0)[0] == pytest.approx(2 * 2 / 5)
    assert frames["token_f1"].row(0)[3] == "best_reference=2"
