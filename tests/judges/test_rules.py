"""What follows by counting and by logic."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.data import Context, Example
from ragstone.judgements import AnswerSentences, Tables
from ragstone.judges.judge import HumanJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import Missing, Score, Undefined
from ragstone.run.judging.judge_blocks import judge_block

Judged = Callable[..., Tables]
Scored = Callable[..., Score]

PEOPLE = (HumanJudge(), RulesJudge())
ONE = (Context("1", "It rained.", 1),)


def example(answer: str | None = "It rained.", **fields: Any) -> Example:
    return Example("1", "q", "s", **{"question": "?", "answer": answer, "contexts": ONE} | fields)


def claims(*verdicts: str | None) -> dict[str, Any]:
    return {"claims": [{"text": f"c{n}", "support": one} for n, one in enumerate(verdicts)]}


def test_where_nothing_was_retrieved_nothing_is_supported(judged: Judged, scored: Scored) -> None:
    labels = {
        "claims": [{"text": "It rained."}, {"text": "It poured."}],
        "statements": [{"text": "It rained."}],
    }
    bare = example(contexts=(), reference=("It rained.",), evidence=("rain",), labels=labels)
    for name in ("faithfulness", "expected_faithfulness", "context_recall", "evidence_recall"):
        assert scored(name, bare, PEOPLE) == 0
    rows = judged(["claims", "support/claim"], [bare], PEOPLE).of("support/claim")
    assert rows.select("verdict", "probability", "reason").unique().rows() == [
        ("absent", 0.0, "nothing_retrieved")
    ]


def test_where_nothing_was_retrieved_and_nothing_claimed_nothing_is_unfaithful(
    scored: Scored,
) -> None:
    bare = example("Hello!", contexts=(), labels={"claims": []})
    assert scored("faithfulness", bare, PEOPLE) == Undefined("no_claims")
    assert scored("unsupported_claim", bare, PEOPLE) == 0


def test_claims_that_nobody_found_are_not_taken_for_none(scored: Scored) -> None:
    for contexts in ((), ONE):
        score = scored("faithfulness", example(contexts=contexts), (RulesJudge(),))
        assert isinstance(score, Missing)


@pytest.mark.parametrize(
    ("verdicts", "presence", "unsupported", "contradiction"),
    [
        (("supported",), 1, 0, 0),
        (("supported", "absent"), 1, 1, 0),
        (("contradicted",), 0, 1, 1),
        (("absent",), 0, 1, 0),
        ((), 0, 0, 0),
    ],
)
def test_grounding_follows_from_the_claims_where_people_gave_none(
    scored: Scored,
    verdicts: tuple[str, ...],
    presence: float,
    unsupported: float,
    contradiction: float,
) -> None:
    given = example(labels=claims(*verdicts))
    assert scored("grounding_presence", given, PEOPLE) == presence
    assert scored("unsupported_claim", given, PEOPLE) == unsupported
    assert scored("contradiction", given, PEOPLE) == contradiction


def test_labels_of_grounding_win_over_what_follows_from_claims(scored: Scored) -> None:
    labels = {
        **claims("supported"),
        "answer": {"support_present": 0, "unsupported_claim_present": 1, "source_cited": 0},
    }
    given = example("It rained [1].", labels=labels)
    assert scored("grounding_presence", given, PEOPLE) == 0
    assert scored("unsupported_claim", given, PEOPLE) == 1
    assert scored("citation_presence", given, PEOPLE) == 0


@pytest.mark.parametrize(
    ("verdicts", "presence", "unsupported", "contradiction"),
    [
        (("supported", None), 1, Missing("no_labels"), Missing("no_labels")),
        (("contradicted", None), Missing("no_labels"), 1, 1),
        (("absent", None), Missing("no_labels"), 1, Missing("no_labels")),
    ],
)
def test_a_claim_without_a_verdict_leaves_open_what_it_could_change(
    scored: Scored,
    verdicts: tuple[str | None, ...],
    presence: Score,
    unsupported: Score,
    contradiction: Score,
) -> None:
    given = example(labels=claims(*verdicts))
    assert scored("grounding_presence", given, PEOPLE) == presence
    assert scored("unsupported_claim", given, PEOPLE) == unsupported
    assert scored("contradiction", given, PEOPLE) == contradiction


@pytest.mark.parametrize("name", ["grounding_presence", "unsupported_claim", "contradiction"])
def test_what_is_undefined_for_claims_is_undefined_for_grounding(scored: Scored, name: str) -> None:
    assert scored(name, example(contexts=None)) == Undefined("no_retrieval")
    assert scored(name, example("  ")) == Undefined("empty_answer")
    assert scored(name, example(None)) == Undefined("no_answer")


def test_grounding_is_missing_where_the_claims_are(scored: Scored) -> None:
    score = scored("grounding_presence", example(), (RulesJudge(),))
    assert isinstance(score, Missing)
    assert score.reason.startswith("not_judged?kind=support")


@pytest.mark.parametrize(
    ("answer", "cites", "fabricates"),
    [
        ("It rained [1].", 1, 0),
        ("It rained [9].", 1, 1),
        ("It rained [1]. It poured [9].", 1, 1),
        ("It rained [citation needed].", 0, Undefined("no_answer_cites_a_source")),
        ("", 0, Undefined("no_answer_cites_a_source")),
    ],
)
def test_citing_follows_from_the_markers(
    scored: Scored, answer: str, cites: float, fabricates: Score
) -> None:
    assert scored("citation_presence", example(answer)) == cites
    assert scored("citation_fabrication", example(answer)) == fabricates


def test_a_marker_belongs_to_the_sentence_before_or_around_it(judged: Judged) -> None:
    answer = "It rained [1]. It poured. [1] It stopped."
    rows = judged(["citations"], [example(answer)], (RulesJudge(),)).of("citations")
    assert rows["context"].to_list() == ["1", "1"]
    assert rows["sentence"].to_list()[0] == 0
    assert rows["sentence"].to_list()[1] in (1, 2)


def test_overlap_has_a_row_for_each_reference(judged: Judged) -> None:
    given = example("red fox", reference=("red fox", "blue whale"))
    rows = judged(["lexical"], [given], (RulesJudge(),)).of("lexical")
    assert rows.select("reference", "exact_match", "token_f1").rows() == [(0, 1, 1), (1, 0, 0)]


def test_the_same_answer_is_counted_once(judged: Judged) -> None:
    twins = [Example(str(n), "q", "s", answer="a", reference=("a",)) for n in range(3)]
    filled = judged(["lexical"], twins, (RulesJudge(),)).of("lexical")
    assert filled["row"].to_list() == [0, 1, 2]
    assert filled["subject"].n_unique() == 1


def test_stock_phrases_are_looked_for_in_both_lists(judged: Judged) -> None:
    answers = ("I don't know.", "That is not available.", "It rained.")
    given = [Example(str(n), "q", "s", answer=answer) for n, answer in enumerate(answers)]
    rows = judged(["phrases"], given, (RulesJudge(),)).of("phrases").sort("row")
    assert rows.select("phrases_8", "phrases_12").rows() == [
        (True, True),
        (False, True),
        (False, False),
    ]


def test_a_pattern_that_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(InputError, match="regular expression"):
        RulesJudge(citation_pattern="[")


def test_an_answers_sentences_are_a_column_beside_their_cosines() -> None:
    answer = "It opened in 1859, by Dr. Brunel. Who paid? Nobody knows."
    given = [Example("1", "1", "", answer=answer), Example("2", "2", "", answer="")]
    tables = judge_block(given, [RulesJudge()], ["answer_sentences"]).tables
    frame = AnswerSentences.frame(tables, ("text",))
    assert frame.select("row", "index", "text").rows() == [
        (0, 0, "It opened in 1859, by Dr. Brunel."),
        (0, 1, "Who paid?"),
        (0, 2, "Nobody knows."),
    ]
    assert AnswerSentences.needs(("text", "similarity")) == {
        "answer_sentences", "similarity/sentence_context",
    }  # fmt: skip
