"""What the kinds declare, held against the pages that tell users, and by what follows from it.

The tables below are facts of the documentation and of the guidelines, in words of their own; they
are tried on a panel that votes, a person who labels, a model that replies and the views.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from ragstone.annotation import labels_of
from ragstone.data import Context, Example
from ragstone.data.record_labels import LABELS, RULES
from ragstone.judgements import (
    ASKS,
    KINDS,
    VIEWS,
    Agreement,
    Critique,
    Grounding,
    Preference,
    Probe,
    Quality,
    Rating,
    Relevance,
    Response,
    Statement,
    Support,
    answered_by,
    instructions_for_people,
    meaning,
)
from ragstone.judgements.column import Role
from ragstone.judgements.kind import SHOWN
from ragstone.judges.judge import HumanJudge
from ragstone.judges.llm.llm_judge import vote
from ragstone.judges.rules import RulesJudge
from ragstone.run.judging.judge_blocks import judge_block
from tests.project import ROOT

FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
JUDGES = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")

ABOUT_AN_ANSWER = ("quality", "grounding")
LABEL_OF = {
    "topically_relevant": ("relevance", "relevant"),
    "evidence_sufficient": ("relevance", "sufficient"),
    "misleading": ("relevance", "misleading"),
    "grade": ("relevance", "grade"),
    "support": ("support", "verdict"),
    "conversation_support": ("conversation_support", "verdict"),
    "agreement": ("agreement", "verdict"),
    "importance": ("importance", "importance"),
    "met": ("criteria", "met"),
    "response_type": ("response", "response_type"),
}
"""The judgement behind each label that is not called as it is."""


def table_rows(page: str) -> Iterator[list[str]]:
    """The cells of each row of each table of a page."""
    for line in page.splitlines():
        if line.startswith("|") and not line.startswith("|--"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


# ---------------------------------------------------------------- labels


def the_record() -> dict[str, Any]:
    """The labels of the record that the page about formats shows."""
    (found,) = re.findall(r'```json\n(\{"labels".*?)```', FORMATS, re.DOTALL)
    labels = json.loads(found)["labels"]
    assert isinstance(labels, dict)
    return labels


def test_a_record_may_carry_the_labels_that_the_page_shows_and_a_grade() -> None:
    shown = the_record()
    names = {
        "context": {*shown["contexts"][0], "grade"},
        "answer": set(shown["answer"]),
        "claim": set(shown["claims"][0]) - {"text", "evidence"},
        "statement": set(shown["statements"][0]) - {"text", "evidence"},
        "criterion": set(shown["criteria"][0]),
        "record": {"response_type"},
    }
    assert {unit: set(labels) for unit, labels in LABELS.items()} == names


def test_each_label_that_the_page_shows_is_a_judgement() -> None:
    shown = the_record()
    units: list[dict[str, Any]] = [
        *shown["contexts"], *shown["claims"], *shown["statements"], *shown["criteria"],
        shown["answer"],
        {"response_type": shown["response_type"], "grade": 1},
    ]  # fmt: skip
    given = {name for unit in units for name in unit} - {"text", "evidence"}
    labels = {
        label: (name, column)
        for name, kind in KINDS.items()
        for column, label in kind.labels().items()
    }
    of_answers = {
        name: (kind, name)
        for kind in ABOUT_AN_ANSWER
        for name in shown["answer"]
        if name in KINDS[kind].columns
    }
    assert set(LABEL_OF) | set(of_answers) == given
    assert labels == LABEL_OF | of_answers | {"preference": ("preference", "verdict")}


def test_the_words_of_a_label_are_those_that_the_page_lists() -> None:
    text = " ".join(
        FORMATS.partition("`labels.contexts[i]` and `labels.criteria[i]` are about")[2]
        .partition("Or in")[0]
        .split()
    )

    def listed(opening: str) -> list[str]:
        found = re.search(rf"{opening} ([a-z_, ]+?)(?: for| or ([a-z]+)[;.])", text)
        assert found is not None, opening
        words = f"{found[1]} or {found[2]}" if found[2] else found[1]
        return re.split(r", | or | and ", words)

    assert listed("`support` is") == list(LABELS["claim"]["support"])
    assert listed("`support` is") == list(LABELS["statement"]["support"])
    assert listed("`agreement` is") == list(LABELS["claim"]["agreement"])
    assert listed("and") == list(LABELS["statement"]["agreement"])
    assert listed("`importance` is") == list(LABELS["statement"]["importance"])
    assert listed("`response_type` is") == list(LABELS["record"]["response_type"])
    assert LABELS["context"]["grade"] == (0, 1, 2, 3)


def test_the_rules_between_labels_are_those_of_the_page() -> None:
    """``evidence_requires_relevance``: sufficient evidence is relevant; and so on."""
    told = {
        cells[0].split("`")[1]: cells[1]
        for cells in table_rows(FORMATS)
        if len(cells) == 2 and cells[1] in ("block", "warn")
    }
    assert {name: rule.severity for name, rule in RULES.items()} == told
    sides = {name: (rule.given, rule.then, rule.says) for name, rule in RULES.items()}
    assert sides == {
        "evidence_requires_relevance": ("evidence_sufficient", "topically_relevant", True),
        "evidence_excludes_misleading": ("evidence_sufficient", "misleading", False),
        "contradiction_requires_unsupported":
            ("contradicted_claim_present", "unsupported_claim_present", True),
        "fabricated_requires_cited": ("fabricated_source", "source_cited", True),
    }  # fmt: skip
    for kind in KINDS.values():
        for rule in kind.rules:
            assert {rule.given, rule.then} <= set(kind.labels().values())
    assert {rule.name for kind in KINDS.values() for rule in kind.rules} == set(told)


def test_the_labels_of_the_page_are_read_as_the_judgements_that_they_are() -> None:
    table = labels_of([{"id": "1", "contexts": ["c"], "labels": the_record()}])
    found = {(kind, column): value for kind, column, value in
             table.used.select("kind", "column", "value").iter_rows()}  # fmt: skip
    assert found["relevance", "sufficient"] == "false"
    assert found["grounding", "source_cited"] == "true"
    assert found["quality", "incomplete"] == "false"
    assert found["response", "response_type"] == "answer"
    assert found["criteria", "met"] == "true"
    assert len(table.used) == 3 + 10 + 3 + 3 + 1 + 1


# ---------------------------------------------------------------- who is asked, and what is shown


def test_people_and_models_are_asked_for_the_tables_that_the_page_says() -> None:
    """People fill `grounding` although it follows by a rule where they say nothing."""
    filled = {
        name: set(re.split(", ", cells[2]))
        for cells in table_rows(JUDGES)
        if len(cells) == 3
        for name in re.findall("`([a-z_]+)`", cells[0])
        if name in KINDS
    }
    assert set(filled) == set(KINDS)
    for filler, word in (("people", "human"), ("model", "LLM"), ("local", "local")):
        asked = {ASKS[ask].kind for ask in answered_by(filler)}  # type: ignore[arg-type]
        told = {name for name, who in filled.items() if word in who}
        assert asked == told - ({"grounding"} if word == "human" else set())
    assert {ask for ask in HumanJudge().asks if ask.startswith("grounding")} == {
        "grounding/support", "grounding/citation",
    }  # fmt: skip


QUESTION, ANSWER, CONTEXTS, REFERENCE, POLICY = (
    "question",
    "answer",
    "contexts",
    "reference",
    "policy",
)
SEEN: dict[str, set[str]] = {
    "response": {QUESTION, ANSWER},
    "claims": {QUESTION, ANSWER},
    "statements": {QUESTION, REFERENCE},
    "support": {CONTEXTS},
    "conversation_support": {CONTEXTS},
    "relevance": {QUESTION},
    "agreement": {QUESTION, REFERENCE, ANSWER},
    "importance": {QUESTION},
    "grounding": {QUESTION, ANSWER, CONTEXTS},
    "quality": {QUESTION, ANSWER, POLICY},
    "criteria": {QUESTION, ANSWER},
    "probes": {ANSWER},
    "rating": set(),
    "critique": {QUESTION, ANSWER},
    "preference": {QUESTION, REFERENCE},
    "entities": {QUESTION, REFERENCE},
}
"""What whoever judges sees of an example beside the units: a judge of support never sees the
question or who made a proposition, one of relevance neither answer nor reference, one of probes the
answer alone, for else it would not guess the question. A rubric says itself what it shows."""


@pytest.mark.parametrize("kind", SEEN)
def test_whoever_judges_sees_what_the_judgement_is_about_and_no_more(kind: str) -> None:
    shown = {"answer" if text == "sentences" else text for text in KINDS[kind].shows}
    assert shown == SEEN[kind]
    assert len(KINDS[kind].shows) == len(shown)


def test_nobody_is_shown_anything_for_what_is_counted() -> None:
    assert {name for name, kind in KINDS.items() if kind.shows} == {
        name for name, texts in SEEN.items() if texts
    }


def test_a_kind_of_ones_own_may_show_whatever_ours_do() -> None:
    assert {text for kind in KINDS.values() for text in kind.shows} == set(SHOWN)


def test_a_reply_is_typed_where_its_claims_are_made() -> None:
    assert {name: kind.asked_with for name, kind in KINDS.items() if kind.asked_with} == {
        "response": "claims"
    }


def test_claims_statements_questions_and_markers_are_made_and_not_judged() -> None:
    made = {name for name, kind in KINDS.items() if kind.made}
    assert made == {"claims", "statements", "probes", "citations", "entities"}
    assert {name for name, kind in KINDS.items() if kind.derived} == {"grounding"}


def test_a_kind_is_about_the_units_of_its_view() -> None:
    about = {name: kind.about for name, kind in KINDS.items() if kind.about != "answer"}
    assert about == {
        "relevance": "context",
        "support": "proposition",
        "conversation_support": "proposition",
        "agreement": "proposition",
        "importance": "proposition",
        "criteria": "proposition",
        "preference": "pair",
    }


# ---------------------------------------------------------------- what columns say


DECIDED = {
    "response": ("response_type",),
    "relevance": ("grade", "relevant", "sufficient", "misleading"),
    "phrases": ("phrases_8", "phrases_12"),
    "entities": ("found",),
    "support": ("verdict",),
    "conversation_support": ("verdict",),
    "agreement": ("verdict",),
    "importance": ("importance",),
    "criteria": ("met",),
    "grounding": ("support_present", "unsupported_claim_present", "contradicted_claim_present",
                  "source_cited", "fabricated_source"),
    "quality": ("proper_action", "response_on_topic", "helpful", "incomplete", "unsafe_content"),
    "probes": ("noncommittal",),
    "critique": ("verdict",),
    "preference": ("verdict",),
}  # fmt: skip
AVERAGED = {
    "relevance": ("probability",),
    "lexical": ("exact_match", "token_f1", "token_f1_set", "rouge_2", "rouge_l"),
    "squad_words": ("squad_f1",),
    "ngrams": ("bleu", "chrf"),
    "support": ("probability",),
    "conversation_support": ("probability",),
    "agreement": ("probability",),
    "quality": ("directness", "focus", "consistency"),
    "rating": ("score",),
    "similarity": ("value",),
}
FROM_ONE = {
    "relevance": ("relevant_sentences",),
    "support": ("evidence", "quote", "quote_found", "evidence_unknown"),
    "conversation_support": ("evidence", "quote", "quote_found", "evidence_unknown"),
    "quality": ("parts", "parts_answered"),
    "probes": ("text",),
    "entities": ("text",),
}
"""What of several judges' words is decided by the most, is their mean, or is taken from one of
those who agree with the most."""
MADE: dict[str, tuple[str, ...]] = {
    "claims": ("text",), "statements": ("text",), "answer_sentences": ("text",),
}  # fmt: skip


def of_each(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(kind, column) for kind, columns in table.items() for column in columns]


def two_values(kind: str, column: str) -> tuple[Any, Any]:
    """Two that a judge may say."""
    found = KINDS[kind].columns[column]
    if found.dtype == pl.Boolean:
        return True, False
    values: list[Any] = list(found.values)
    return values[0], values[1]


@pytest.mark.parametrize(("kind", "column"), of_each(DECIDED))
def test_of_several_judges_the_most_decide(kind: str, column: str) -> None:
    one, other = two_values(kind, column)
    (row,) = vote(KINDS[kind], [[{column: said}] for said in (other, one, one)], 3)
    assert row[column] == one
    (row,) = vote(KINDS[kind], [[{column: said}] for said in (other, one)], 2)
    assert row[column] is None


@pytest.mark.parametrize(("kind", "column"), of_each(AVERAGED))
def test_of_several_judges_numbers_are_averaged(kind: str, column: str) -> None:
    (row,) = vote(KINDS[kind], [[{column: said}] for said in (0.2, 0.4, 0.9)], 3)
    assert row[column] == pytest.approx(0.5)


@pytest.mark.parametrize(("kind", "column"), of_each(FROM_ONE))
def test_what_a_verdict_rests_on_is_taken_from_one_who_gave_it(kind: str, column: str) -> None:
    decides = DECIDED[kind][0]
    one, other = two_values(kind, decides)
    said = [{decides: other, column: "a"}, {decides: one, column: "b"}, {decides: one, column: "c"}]
    (row,) = vote(KINDS[kind], [[one] for one in said], 3)
    assert (row[decides], row[column]) == (one, "b")


def test_every_column_is_decided_averaged_taken_from_one_or_tells_units_apart() -> None:
    tables = (DECIDED, AVERAGED, FROM_ONE, MADE)
    told = {pair for table in tables for pair in of_each(table)}
    others = {
        (name, column)
        for name, kind in KINDS.items()
        for column in kind.columns
        if column not in ("reason", "judge") and column not in (kind.key or ())
    } - told
    assert others == {
        ("claims", "sentence"), ("claims", "factual"), ("claims", "start"), ("claims", "end"),
        ("claims", "citations"), ("citations", "sentence"), ("citations", "marker"),
        ("citations", "context"), ("relevance", "sentences"), ("similarity", "cut"),
    }  # fmt: skip
    assert not told & others


TOLD_APART: dict[Role, dict[str, list[str]]] = {
    "topic": {"rating": ["criterion"], "critique": ["aspect"], "preference": ["rival"]},
    "vote": {"critique": ["index"], "preference": ["order"]},
}


@pytest.mark.parametrize("role", TOLD_APART)
def test_what_is_asked_in_a_metrics_words_and_which_vote_it_was(role: Role) -> None:
    found = {name: kind.having(role) for name, kind in KINDS.items() if kind.having(role)}
    assert found == TOLD_APART[role]


YES = {
    ("support", "verdict"): {"supported"},
    ("conversation_support", "verdict"): {"supported"},
    ("agreement", "verdict"): {"matches", "full"},
    ("response", "response_type"): {"abstain"},
}


def test_the_words_that_count_as_yes() -> None:
    """Support, agreement and abstention are rates of these."""
    found = {
        (name, column): set(one.positive)
        for name, kind in KINDS.items()
        for column, one in kind.columns.items()
        if one.positive
    }
    assert found == YES


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        (Relevance, "grade"),
        (Support, "verdict"),
        (Agreement, "verdict"),
        (Grounding, "support_present"),
        (Quality, "helpful"),
        (Response, "response_type"),
        (Probe, "noncommittal"),
        (Rating, "score"),
        (Critique, "verdict"),
        (Preference, "verdict"),
        (Statement, ""),
    ],
)
def test_the_column_in_which_a_judgement_is_made(kind: type[Any], column: str) -> None:
    assert kind.decides == column


# ---------------------------------------------------------------- people's labels


def example(labels: dict[str, Any], **more: Any) -> Example:
    contexts = (Context("d7", "It is 90 m long.", 1), Context("d9", "It is iron.", 2))
    given = {"question": "How long?", "answer": "90 m.", "contexts": contexts, "labels": labels}
    return Example("1", "q", "a", **given | more)


@pytest.mark.parametrize(
    ("grade", "relevant", "sufficient"),
    [(0, False, False), (1, True, False), (2, True, False), (3, True, True)],
)
def test_a_grade_of_one_is_relevant_and_of_three_sufficient(
    grade: int, relevant: bool, sufficient: bool
) -> None:
    labelled = example({"contexts": [{"grade": grade}, None]})
    (row,) = (
        judge_block([labelled], [HumanJudge()], ["relevance"])
        .tables.of("relevance")
        .rows(named=True)
    )
    assert (row["rank"], row["relevant"], row["sufficient"]) == (1, relevant, sufficient)
    assert row["misleading"] is None
    said = {"grade": grade, "topically_relevant": not relevant, "evidence_sufficient": None}
    contrary = example({"contexts": [said]})
    (row,) = (
        judge_block([contrary], [HumanJudge()], ["relevance"])
        .tables.of("relevance")
        .rows(named=True)
    )
    assert (row["relevant"], row["sufficient"]) == (not relevant, sufficient)


@pytest.mark.parametrize(
    ("verdict", "probability"), [("supported", 1), ("contradicted", 0), ("absent", 0)]
)
def test_a_person_who_says_supported_is_certain(verdict: str, probability: float) -> None:
    labelled = example({"claims": [{"text": "It is 90 m long.", "support": verdict}]})
    found = judge_block([labelled], [HumanJudge()], ["claims", "support/claim"]).tables
    (row,) = found.of("support/claim").rows(named=True)
    assert (row["verdict"], row["probability"]) == (verdict, probability)
    assert row["evidence"] == (None if verdict == "supported" else [])


@pytest.mark.parametrize("verdict", ["full", "partial"])
def test_a_person_who_says_how_far_a_statement_is_there_gives_no_probability(verdict: str) -> None:
    labels = {"statements": [{"text": "It is 90 m long.", "agreement": verdict}]}
    labelled = example(labels, reference=("It is 90 m long.",))
    asks = ["statements", "agreement/statement"]
    found = judge_block([labelled], [HumanJudge()], asks).tables
    (row,) = found.of("agreement/statement").rows(named=True)
    assert (row["verdict"], row["probability"]) == (verdict, None)


# ---------------------------------------------------------------- what follows without a judge


def test_where_nothing_was_retrieved_nothing_is_supported_or_relevant() -> None:
    bare = example({}, contexts=(), reference=("It is long.",), evidence=("It is long.",))
    found = judge_block([bare], [RulesJudge()], ["relevance", "support/evidence"]).tables
    assert found.of("relevance").is_empty()
    assert found.outcome("relevance")["status"].to_list() == [0]
    (row,) = found.of("support/evidence").rows(named=True)
    assert (row["verdict"], row["probability"], row["evidence"]) == ("absent", 0, [])
    assert row["reason"] == "nothing_retrieved"
    assert {name for name, kind in KINDS.items() if kind.unretrieved is not None} == {
        "relevance", "support", "conversation_support",
    }  # fmt: skip


# ---------------------------------------------------------------- what a model is told


SCALES = {
    ("quality", name): (4, 3, 2, 1, 0) for name in ("directness", "focus", "consistency")
} | {("relevance", "grade"): (0, 1, 2, 3)}  # fmt: skip


def test_a_scale_has_a_text_for_each_whole_step_from_nought() -> None:
    found = {
        (name, column): tuple(one.values)
        for name, kind in KINDS.items()
        for column, one in kind.columns.items()
        if one.role in ("number", "grade") and one.values
    }
    assert found == SCALES
    for name, column in SCALES:
        texts = [str(text) for text in KINDS[name].columns[column].values.values()]
        assert all(texts)
        assert len(set(texts)) == len(texts)


def test_what_cannot_be_said_of_an_answer_without_a_question() -> None:
    """Parts of the question, and whether the answer is about what it is about."""
    found = {
        (name, column): one.only_with
        for name, kind in KINDS.items()
        for column, one in kind.columns.items()
        if one.only_with
    }
    told = ("parts", "parts_answered", "response_on_topic")
    assert found == {("quality", column): "question" for column in told}


def test_parts_are_those_that_are_answered_and_those_left_open() -> None:
    counts = {name: column.counts for name, column in Quality.columns.items() if column.counts}
    assert counts == {"parts": ("answered", "open"), "parts_answered": ("answered",)}


def test_a_name_is_short_in_a_reply_and_long_in_a_view_only_where_it_has_to_be() -> None:
    columns = [(name, one) for kind in KINDS.values() for name, one in kind.columns.items()]
    assert {name: one.reply for name, one in columns if one.reply} == {
        "response_on_topic": "on_topic"
    }
    facts = {(kind.name, name): one.fact for kind in KINDS.values()
             for name, one in kind.columns.items() if one.fact}  # fmt: skip
    assert facts == {
        ("support", "verdict"): "support",
        ("conversation_support", "verdict"): "conversation_support",
        ("conversation_support", "probability"): "conversation_probability",
        ("conversation_support", "evidence"): "conversation_evidence",
        ("conversation_support", "quote_found"): "conversation_quote_found",
        ("conversation_support", "evidence_unknown"): "conversation_evidence_unknown",
        ("agreement", "verdict"): "agreement",
        ("agreement", "probability"): "agreement_probability",
    }
    assert "verdict" not in VIEWS["claims"].columns
    assert "verdict" not in VIEWS["statements"].columns


def test_a_probability_says_of_what() -> None:
    found = {name: kind.probabilities() for name, kind in KINDS.items() if kind.probabilities()}
    assert found == {
        "relevance": {"probability": "relevant"},
        "support": {"probability": "verdict"},
        "conversation_support": {"probability": "verdict"},
        "agreement": {"probability": "verdict"},
    }


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.labels()])
def test_people_are_told_of_each_label_when_it_holds(kind: type[Any]) -> None:
    told = instructions_for_people(kind)
    assert told.startswith("# ")
    assert told.endswith("\n")
    assert "## For models" not in told
    for name, label in kind.labels().items():
        column = kind.columns[name]
        if column.values:
            assert f"`{label}`:\n- " in told
            assert all(
                f"{value}" in told and means in told for value, means in column.values.items()
            )
        else:
            assert f"`{label}`: yes if {column.doc}; else no." in told
        assert meaning(kind, name) in told


def test_people_who_are_asked_for_one_label_are_told_of_that_alone() -> None:
    told = instructions_for_people(Quality, ["helpful"])
    assert "`helpful`: yes if it is helpful" in told
    for other in ("proper_action", "response_on_topic", "incomplete", "unsafe_content"):
        assert f"`{other}`" not in told
    assert told.index("`helpful`") < told.index("## Hard cases")
