"""The real views, joined from judgements made by hand; expected rows by pencil and paper."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from ragstone.data import Context, Example
from ragstone.data.write_examples import from_frame
from ragstone.judgements import (
    VIEWS,
    Answers,
    AnswerSentences,
    Claims,
    ClaimsAgainstReferences,
    Contexts,
    Evidence,
    ExampleTexts,
    KnownContexts,
    Preferences,
    Probes,
    Ratings,
    References,
    Sentences,
    Statements,
    Tables,
    View,
    Votes,
    weight,
)

Retrieved = Callable[..., Example]
Judged = Callable[..., Tables]


def rows(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return frame.select(columns).rows()


def claim(index: int, **more: Any) -> dict[str, Any]:
    return {"index": index, "text": f"claim {index}", "judge": "j", **more}


def support(index: int, verdict: str, **more: Any) -> dict[str, Any]:
    return {"origin": "claim", "author": "j", "index": index, "verdict": verdict, **more}


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_has_the_columns_and_types_that_it_names(
    view: type[View], judged: Judged, retrieved: Retrieved
) -> None:
    whole = {"reference": ("R.",), "evidence": ("E.",), "reference_contexts": {"x": 1}}
    frame = view.frame(judged([retrieved("x", **whole)], {}), list(view.columns))
    named = {"row": pl.UInt32, **{name: fact.dtype for name, fact in view.columns.items()}}
    assert dict(frame.schema) == named


# ---------------------------------------------------------------- contexts


def test_contexts_stand_in_rank_order_with_their_ids_and_scores(judged: Judged) -> None:
    first = Example(
        id="1", question_id="q", system="a",
        contexts=(Context("x", "t", 1, 0.5), Context("y", "t", 2, None)),
    )  # fmt: skip
    empty = Example(id="2", question_id="q", system="b", contexts=())
    none = Example(id="3", question_id="q", system="c", contexts=None)
    last = Example(id="4", question_id="r", system="a", contexts=(Context("z", "t", 1, 1.5),))
    frame = Contexts.frame(judged([first, empty, none, last], {}), ())
    assert rows(frame, "row", "rank", "context", "score") == [
        (0, 1, "x", 0.5),
        (0, 2, "y", None),
        (3, 1, "z", 1.5),
    ]


def test_relevance_joins_by_example_and_rank_and_a_context_without_a_word_is_open(
    judged: Judged, retrieved: Retrieved
) -> None:
    examples = [retrieved("x", "y"), retrieved("x", id="2", system="b")]
    said = [
        {"row": 0, "rank": 2, "relevant": True, "sufficient": False, "misleading": True,
         "grade": 2, "sentences": 3, "relevant_sentences": [0, 2]},
        {"row": 1, "rank": 1, "relevant": False, "sufficient": False, "misleading": False,
         "grade": 0},
    ]  # fmt: skip
    frame = Contexts.frame(judged(examples, {"relevance": said}), [*Contexts.columns])
    assert rows(frame, "row", "rank", "relevant", "sufficient", "misleading", "grade") == [
        (0, 1, None, None, None, None),
        (0, 2, True, False, True, 2),
        (1, 1, False, False, False, 0),
    ]
    assert rows(frame, "sentences", "relevant_sentences", "weight") == [
        (None, None, None),
        (3, [0, 2], 1),
        (None, None, 0),
    ]


@pytest.mark.parametrize(
    ("relevant", "sufficient", "grade", "expected"),
    [
        (True, True, 3, 2),
        (True, False, 1, 1),
        (True, False, None, 1),
        (False, False, 0, 0),
        (None, True, None, 2),
        (None, False, None, None),
        (None, None, 4, 4),
        (True, None, None, None),
        (None, None, None, None),
    ],
)
def test_a_weight_is_two_for_sufficient_one_for_relevant_else_the_grade(
    relevant: bool | None, sufficient: bool | None, grade: int | None, expected: int | None
) -> None:
    frame = pl.DataFrame(
        {"relevant": [relevant], "sufficient": [sufficient], "grade": [grade]},
        schema={"relevant": pl.Boolean, "sufficient": pl.Boolean, "grade": pl.Int32},
    )
    assert frame.select(weight()).to_series().to_list() == [expected]
    swapped = frame.select(weight(pl.col("sufficient"), pl.lit(value=False))).to_series()
    assert swapped.to_list() == [None if sufficient is None else int(sufficient)]


def test_a_context_is_listed_where_its_grade_is_known_be_it_zero(
    judged: Judged, retrieved: Retrieved
) -> None:
    examples = [
        retrieved("x", "y", "z", reference_contexts={"x": 0, "z": 2}),
        retrieved("x", id="2", reference_contexts=None),
    ]
    frame = Contexts.frame(judged(examples, {}), ["listed"])
    assert rows(frame, "row", "context", "listed") == [
        (0, "x", True),
        (0, "y", False),
        (0, "z", True),
        (1, "x", False),
    ]


def test_a_context_is_used_if_a_supported_claim_of_its_own_answer_rests_on_it(
    judged: Judged, retrieved: Retrieved
) -> None:
    examples = [retrieved("x", "y", "z"), retrieved("x", "y", id="2", system="b")]
    said = [
        support(0, "supported", evidence=["x", "x"]),
        support(1, "contradicted", evidence=["y"]),
        support(2, "absent", evidence=["z"]),
        {**support(0, "supported", evidence=["y"]), "row": 1},
    ]
    frame = Contexts.frame(judged(examples, {"support/claim": said}), ["used"])
    assert rows(frame, "row", "context", "used") == [
        (0, "x", True),
        (0, "y", False),
        (0, "z", False),
        (1, "x", False),
        (1, "y", True),
    ]


def test_a_supported_claim_rests_on_a_relevant_context_on_irrelevant_ones_or_it_is_not_known(
    judged: Judged, retrieved: Retrieved
) -> None:
    given = retrieved("x", "y", "z", answer="A.", reference=("R.",))
    said = [
        support(0, "supported", evidence=["x", "y"]),
        support(1, "supported", evidence=["y"]),
        support(2, "supported", evidence=["y", "z"]),
        support(3, "supported", evidence=["x", "z"]),
        support(4, "supported", evidence=None),
        support(5, "supported", evidence=[]),
        support(6, "absent", evidence=["x"]),
        support(7, "contradicted", evidence=None),
    ]
    relevant = {"x": True, "y": False, "z": None}
    tables = judged(
        [given],
        {
            "claims": [{"index": index, "text": "A."} for index in range(8)],
            "support/claim": said,
            "relevance": [
                {"rank": rank, "relevant": one} for rank, one in enumerate(relevant.values(), 1)
            ],
        },
    )
    frame = ClaimsAgainstReferences.frame(tables, ["on_relevant", "on_irrelevant"])
    assert rows(frame, "index", "on_relevant", "on_irrelevant") == [
        (0, True, False),
        (1, False, True),
        (2, None, None),
        (3, True, False),
        (4, None, None),
        (5, False, False),
        (6, False, False),
        (7, False, False),
    ]


def test_where_a_supported_claim_names_no_context_the_others_are_unknown(
    judged: Judged, retrieved: Retrieved
) -> None:
    examples = [retrieved("x", "y"), retrieved("x", id="2"), retrieved("x", id="3")]
    said = [
        support(0, "supported", evidence=["x"]),
        support(1, "supported", evidence=None),
        support(2, "supported", evidence=None),
        {**support(0, "absent", evidence=None), "row": 1},
        {**support(0, "supported", evidence=[]), "row": 2},
    ]
    frame = Contexts.frame(judged(examples, {"support/claim": said}), ["used"])
    assert rows(frame, "row", "context", "used") == [
        (0, "x", True),
        (0, "y", None),
        (1, "x", False),
        (2, "x", False),
    ]


def test_cosines_of_contexts_join_by_rank_and_each_measure_has_its_column(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = {
        "similarity/question_context": [{"index": 2, "value": 0.2}, {"index": 1, "value": 0.1}],
        "similarity/question_context_windows": [{"index": 1, "value": 0.3}],
        "similarity/reference_context": [{"index": 1, "value": 0.4}],
        "similarity/reference_context_windows": [{"index": 2, "value": 0.5}],
    }
    columns = [
        "question_similarity",
        "question_similarity_windows",
        "reference_similarity",
        "reference_similarity_windows",
    ]
    frame = Contexts.frame(judged([retrieved("x", "y")], said), columns)
    assert rows(frame, "rank", *columns) == [(1, 0.1, 0.3, 0.4, None), (2, 0.2, None, None, 0.5)]
    assert columns[1] not in Contexts.frame(judged([retrieved("x")], said), columns[:1]).columns


def test_a_known_context_that_was_retrieved_twice_has_its_best_rank(
    judged: Judged, retrieved: Retrieved
) -> None:
    examples = [
        retrieved("x", "y", "x", reference_contexts={"x": 2, "w": 1, "y": 0}),
        retrieved("y", "x", id="2", reference_contexts={"x": 1}),
        retrieved("x", id="3", reference_contexts=None),
    ]
    frame = KnownContexts.frame(judged(examples, {}), ())
    assert rows(frame, "row", "context", "grade", "rank") == [
        (0, "x", 2, 1),
        (0, "w", 1, None),
        (0, "y", 0, 2),
        (1, "x", 1, 2),
    ]


# ---------------------------------------------------------------- claims and sentences


def test_claims_stand_in_order_with_what_the_contexts_say_of_each(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = {
        "claims": [claim(1, sentence=1), claim(0, sentence=0), {**claim(0), "row": 1}],
        "support/claim": [
            support(0, "supported", probability=0.9, evidence=["x"]),
            {**support(0, "absent", probability=0.2), "row": 1},
        ],
    }
    tables = judged([retrieved("x"), retrieved("x", id="2")], said)
    frame = Claims.frame(tables, ["support", "probability", "evidence"])
    columns = ("row", "index", "text", "sentence", "support", "probability", "evidence")
    assert rows(frame, *columns) == [
        (0, 0, "claim 0", 0, "supported", 0.9, ["x"]),
        (0, 1, "claim 1", 1, None, None, None),
        (1, 0, "claim 0", None, "absent", 0.2, None),
    ]
    for column in ("support", "probability", "evidence"):
        assert column in Claims.frame(tables, [column]).columns
    assert Claims.frame(tables, ()).columns == ["row", "index", "text", "sentence"]


def test_a_claim_cites_what_it_names_itself_else_what_its_sentence_names(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = {
        "claims": [
            claim(0, sentence=0),
            claim(1, sentence=0, citations=["y"]),
            claim(2, sentence=0, citations=[None]),
            claim(3, sentence=1),
            claim(4, sentence=2),
            claim(5, sentence=None),
            claim(6, sentence=None, citations=[]),
        ],
        "citations": [
            {"sentence": 0, "marker": "[1]", "context": "x"},
            {"sentence": 0, "marker": "[9]", "context": None},
            {"sentence": 2, "marker": "[8]", "context": None},
            {"row": 1, "sentence": 1, "marker": "[1]", "context": "x"},
        ],
    }
    tables = judged([retrieved("x", "y"), retrieved("x", id="2")], said)
    expected = [
        (0, ["x"], 2),
        (1, ["y"], 1),
        (2, [], 1),
        (3, [], 0),
        (4, [], 1),
        (5, None, None),
        (6, [], 0),
    ]
    for wanted in ("cited", "markers"):
        assert rows(Claims.frame(tables, [wanted]), "index", "cited", "markers") == expected


def test_a_sentence_is_supported_only_if_all_its_claims_are(
    judged: Judged, retrieved: Retrieved
) -> None:
    verdicts: dict[int, list[str | None]] = {
        0: ["supported", "supported"],
        1: ["supported", "absent"],
        2: ["absent", "absent"],
        3: ["supported", None],
        4: ["absent", None],
    }
    claims: list[dict[str, Any]] = []
    verdict: list[dict[str, Any]] = []
    for sentence, of_claims in verdicts.items():
        for one in of_claims:
            claims.append(claim(len(claims), sentence=sentence))
            if one:
                verdict.append(support(len(claims) - 1, one))
    claims.append(claim(len(claims), sentence=None))
    verdict.append(support(len(claims) - 1, "supported"))
    said = {"claims": claims, "support/claim": verdict}
    frame = Sentences.frame(judged([retrieved("x")], said), ["supported"])
    assert sorted(rows(frame, "sentence", "supported"), key=str) == sorted(
        [(0, True), (1, False), (2, False), (3, None), (4, False), (None, None)], key=str
    )


def test_sentences_of_two_answers_stay_apart(judged: Judged, retrieved: Retrieved) -> None:
    said = {
        "claims": [claim(0, sentence=0), {**claim(0, sentence=0), "row": 1}],
        "support/claim": [support(0, "supported"), {**support(0, "absent"), "row": 1}],
    }
    frame = Sentences.frame(judged([retrieved("x"), retrieved("x", id="2")], said), ["supported"])
    assert rows(frame, "row", "sentence", "supported") == [(0, 0, True), (1, 0, False)]


def test_each_claim_is_held_against_each_reference(judged: Judged, retrieved: Retrieved) -> None:
    examples = [
        retrieved("x", reference=("one", "two")),
        retrieved("x", id="2", reference=("one",)),
        retrieved("x", id="3", reference=()),
    ]
    said = {
        "claims": [claim(1), claim(0), {**claim(0), "row": 1}, {**claim(0), "row": 2}],
        "agreement/claim": [
            {"origin": "claim", "reference": 0, "index": 0, "verdict": "matches"},
            {"origin": "claim", "reference": 1, "index": 0, "verdict": "contradicts"},
            {"origin": "claim", "reference": 1, "index": 1, "verdict": "extra"},
            {"origin": "claim", "row": 1, "reference": 0, "index": 0, "verdict": "extra"},
        ],
    }
    frame = ClaimsAgainstReferences.frame(judged(examples, said), ["agreement"])
    assert rows(frame, "row", "reference", "index", "agreement") == [
        (0, 0, 0, "matches"),
        (0, 0, 1, None),
        (0, 1, 0, "contradicts"),
        (0, 1, 1, "extra"),
        (1, 0, 0, "extra"),
    ]


# ---------------------------------------------------------------- references, statements, evidence


def test_statements_stand_in_order_with_what_contexts_and_answer_say(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = {
        "statements": [
            {"reference": 1, "index": 0, "text": "c"},
            {"reference": 0, "index": 1, "text": "b"},
            {"reference": 0, "index": 0, "text": "a"},
        ],
        "support/statement": [
            {"origin": "statement", "reference": 0, "index": 0, "verdict": "supported",
             "probability": 0.8},
            {"origin": "statement", "reference": 1, "index": 0, "verdict": "absent",
             "probability": 0.1},
        ],
        "agreement/statement": [
            {"origin": "statement", "reference": 0, "index": 1, "verdict": "partial"},
            {"origin": "statement", "reference": 1, "index": 0, "verdict": "full"},
        ],
    }  # fmt: skip
    tables = judged([retrieved("x", reference=("one", "two"))], said)
    frame = Statements.frame(tables, ["support", "probability", "agreement"])
    assert rows(frame, "reference", "index", "text") == [(0, 0, "a"), (0, 1, "b"), (1, 0, "c")]
    assert rows(frame, "support", "probability", "agreement") == [
        ("supported", 0.8, None),
        (None, None, "partial"),
        ("absent", 0.1, "full"),
    ]
    assert "probability" in Statements.frame(tables, ["probability"]).columns
    assert "agreement" not in Statements.frame(tables, ["support"]).columns
    assert "support" not in Statements.frame(tables, ["agreement"]).columns


def test_gold_evidence_is_numbered_within_its_example(judged: Judged, retrieved: Retrieved) -> None:
    examples = [
        retrieved("x", evidence=("e", "f")),
        retrieved("x", id="2", evidence=()),
        retrieved("x", id="3", evidence=("g",)),
    ]
    said = [
        {"origin": "evidence", "index": 1, "verdict": "supported"},
        {"origin": "evidence", "row": 2, "index": 0, "verdict": "contradicted"},
    ]
    frame = Evidence.frame(judged(examples, {"support/evidence": said}), ["support"])
    assert rows(frame, "row", "index", "support") == [
        (0, 0, None),
        (0, 1, "supported"),
        (2, 0, "contradicted"),
    ]


def test_references_carry_overlap_and_similarity_each_by_its_number(
    judged: Judged, retrieved: Retrieved
) -> None:
    lexical = {"exact_match": 1.0, "token_f1": 0.2, "token_f1_set": 0.3, "rouge_2": 0.4,
               "rouge_l": 0.5}  # fmt: skip
    measures = {
        "similarity/answer_reference": "similarity",
        "similarity/answer_reference_cross_encoder": "cross_encoder",
        "similarity/bertscore_precision": "bertscore_precision",
        "similarity/bertscore_recall": "bertscore_recall",
        "similarity/bertscore_f1": "bertscore_f1",
    }
    said: dict[str, Any] = {"lexical": [{"reference": 1, **lexical}]}
    for number, ask in enumerate(measures):
        said[ask] = [{"index": 0, "value": 0.1 * number}]
    tables = judged([retrieved("x", reference=("one", "two"))], said)
    frame = References.frame(tables, [*lexical, *measures.values()])
    assert rows(frame, "reference", *lexical) == [(0, *[None] * 5), (1, 1.0, 0.2, 0.3, 0.4, 0.5)]
    assert rows(frame, *measures.values()) == [
        tuple(0.1 * number for number in range(5)),
        (None,) * 5,
    ]
    for column in lexical:
        assert column in References.frame(tables, [column]).columns
    assert References.frame(tables, ()).columns == ["row", "reference"]


# ---------------------------------------------------------------- answers


GROUNDING = {
    "support_present": "grounding/support",
    "unsupported_claim_present": "grounding/support",
    "contradicted_claim_present": "grounding/support",
    "source_cited": "grounding/citation",
    "fabricated_source": "grounding/citation",
}
QUALITY = {
    "parts": 3, "parts_answered": 2, "directness": 0.1, "focus": 0.2, "consistency": 0.3,
    "proper_action": True, "response_on_topic": False, "helpful": True, "incomplete": False,
    "unsafe_content": True,
}  # fmt: skip


def test_an_answer_carries_what_each_kind_says_of_it(judged: Judged, retrieved: Retrieved) -> None:
    examples = [retrieved("x", answer=None), retrieved("x", id="2"), retrieved("x", id="3")]
    said: dict[str, Any] = {
        "response": [{"row": 1, "response_type": "abstain"}],
        "phrases": [{"row": 1, "phrases_8": True, "phrases_12": False}],
        "quality": [{"row": 1, **QUALITY}],
        "similarity/question_answer": [{"row": 1, "index": 0, "value": 0.7}],
        "grounding/support": [
            {"row": 1, "support_present": True, "unsupported_claim_present": False,
             "contradicted_claim_present": False}
        ],
        "grounding/citation": [{"row": 1, "source_cited": True, "fabricated_source": False}],
    }  # fmt: skip
    tables = judged(examples, said)
    expected: dict[str, Any] = {
        "response_type": "abstain", "phrases_8": True, "phrases_12": False, **QUALITY,
        "question_similarity": 0.7, "support_present": True, "unsupported_claim_present": False,
        "contradicted_claim_present": False, "source_cited": True, "fabricated_source": False,
    }  # fmt: skip
    assert {"text", *expected} == set(Answers.columns)
    whole = Answers.frame(tables, list(expected))
    assert rows(whole, "row", *expected) == [(1, *expected.values()), (2, *[None] * len(expected))]
    for column, value in expected.items():
        assert rows(Answers.frame(tables, [column]), column) == [(value,), (None,)]
    for column, ask in GROUNDING.items():
        assert Answers.columns[column].needs == (ask,)


def test_sentences_of_an_answer_are_those_that_were_compared(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = {
        "similarity/sentence_context": [{"index": 1, "value": 0.2}, {"index": 0, "value": 0.1}],
        "similarity/sentence_context_windows": [{"index": 1, "value": 0.3}, {"row": 1, "index": 0}],
    }
    tables = judged([retrieved("x"), retrieved("x", id="2")], said)
    frame = AnswerSentences.frame(tables, ["similarity", "similarity_windows"])
    assert rows(frame, "row", "index", "similarity", "similarity_windows") == [
        (0, 0, 0.1, None),
        (0, 1, 0.2, 0.3),
        (1, 0, None, None),
    ]
    assert AnswerSentences.frame(judged([retrieved("x")], {}), ["similarity"]).height == 0


def test_probes_carry_their_likeness_to_the_question(judged: Judged, retrieved: Retrieved) -> None:
    said = {
        "probes": [
            {"index": 0, "text": "What?", "noncommittal": False},
            {"index": 1, "text": "Who?", "noncommittal": True},
        ],
        "similarity/question_probe": [{"index": 1, "value": 0.4}],
    }
    frame = Probes.frame(judged([retrieved("x")], said), ["similarity"])
    assert rows(frame, "row", "index", "text", "noncommittal", "similarity") == [
        (0, 0, "What?", False, None),
        (0, 1, "Who?", True, 0.4),
    ]


def test_ratings_and_votes_are_shown_as_they_were_given(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = {
        "rating": [{"criterion": "clarity", "score": 0.75}],
        "critique": [
            {"aspect": "harmfulness", "index": 0, "verdict": True},
            {"aspect": "harmfulness", "index": 1, "verdict": None},
        ],
    }
    tables = judged([retrieved("x")], said)
    ratings, votes = Ratings.frame(tables, ()), Votes.frame(tables, ())
    assert rows(ratings, "row", "criterion", "score") == [(0, "clarity", 0.75)]
    assert rows(votes, "row", "aspect", "index", "verdict") == [
        (0, "harmfulness", 0, True),
        (0, "harmfulness", 1, None),
    ]


def test_of_two_verdicts_on_the_same_order_the_first_counts(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = [
        {"rival": "b", "order": order, "verdict": verdict}
        for verdict in ("win", "loss")
        for order in (0, 1)
    ]
    frame = Preferences.frame(judged([retrieved("x")], {"preference": said}), ())
    assert rows(frame, "rival", "first", "second") == [("b", "win", "win")]


def test_a_rival_has_one_row_and_a_place_for_each_order(
    judged: Judged, retrieved: Retrieved
) -> None:
    said = [
        {"rival": "b", "order": 1, "verdict": "loss"},
        {"rival": "b", "order": 0, "verdict": "win"},
        {"rival": "c", "order": 1, "verdict": "tie"},
        {"row": 1, "rival": "b", "order": 0, "verdict": "tie"},
    ]
    tables = judged([retrieved("x"), retrieved("x", id="2")], {"preference": said})
    assert rows(Preferences.frame(tables, ()), "row", "rival", "first", "second") == [
        (0, "b", "win", "loss"),
        (0, "c", None, "tie"),
        (1, "b", "tie", None),
    ]


# ---------------------------------------------------------------- texts


def test_an_example_shows_its_texts_whatever_it_lacks(judged: Judged, retrieved: Retrieved) -> None:
    bare = Example(id="1", question_id="q", system="s")
    whole = retrieved("x", "y", id="2", reference=("R.", "S."))
    frame = ExampleTexts.frame(judged([bare, whole], {}), list(ExampleTexts.columns))
    texts = [one.text for one in whole.contexts or ()]
    assert rows(frame, "row", "id", "question", "answer", "contexts", "reference") == [
        (0, "1", None, None, None, []),
        (1, "2", whole.question, whole.answer, texts, ["R.", "S."]),
    ]
    assert from_frame(frame["record"].struct.unnest()) == [bare, whole]
    assert "record" not in ExampleTexts.frame(judged([bare], {}), ["answer"]).columns


def test_answers_contexts_and_references_have_their_texts(
    judged: Judged, retrieved: Retrieved
) -> None:
    tables = judged([retrieved("x", answer="A.", reference=("R.", "S."))], {})
    assert rows(Answers.frame(tables, ["text"]), "text") == [("A.",)]
    assert rows(References.frame(tables, ["text"]), "text") == [("R.",), ("S.",)]
    (context,) = retrieved("x").contexts or ()
    assert rows(Contexts.frame(tables, ["text"]), "text") == [(context.text,)]


def test_what_a_view_reads_of_an_example_follows_from_its_columns() -> None:
    assert ExampleTexts.reads(["answer"]) == {"answer"}
    assert {"answer", "contexts", "reference", "policy"} <= ExampleTexts.reads(["record"])
    assert References.reads(["text"]) == {"answer", "reference"}
