"""The page of one example: what is said of each part of it."""

from typing import Any

import pytest

from ragstone.report.page import (
    Number,
    Outline,
    OutlineItem,
    Page,
    Phrase,
    RowName,
    Tone,
    Why,
    parts,
    plain,
    quiet,
)
from ragstone.report.pages.example import example_page
from ragstone.report.render.terminal import as_text

SUPPORT: dict[str, Any] = {
    "verdict": "supported", "probability": 0.875, "evidence": ["c1"], "quote": "90 m",
    "reason": "it says so", "judge": "local",
}  # fmt: skip
AGREES: dict[str, Any] = {"verdict": "full", "reference": 0, "reason": None, "judge": "m"}


def found(**known: Any) -> dict[str, Any]:
    return {
        "id": "q1", "system": "a", "slices": {}, "policy": None, "history": None,
        "question": "How long?", "contexts": [], "answer": "90 m.", "claims": [], "reference": [],
        "statements": [], "gold_evidence": [], "judgements": {}, "labels": {}, "calls": [],
        "scores": [], **known,
    }  # fmt: skip


def items(page: Page, title: str) -> tuple[OutlineItem, ...]:
    (section,) = [one for one in page.sections if plain(one.title) == title]
    (block,) = section.blocks
    assert isinstance(block, Outline)
    return block.items


def said(item: OutlineItem) -> str:
    return plain(item.words)


def test_a_context_stands_with_its_rank_score_and_what_was_said_of_it() -> None:
    relevance = {"relevant": True, "sufficient": True, "misleading": False, "grade": 3,
                 "reason": "it answers", "judge": "human"}  # fmt: skip
    context = {"rank": 1, "id": "c1", "score": 0.5, "text": "The pier is 90 m long.",
               "relevance": relevance}  # fmt: skip
    (item,) = items(example_page(found(contexts=[context])), "Contexts")
    assert item.lead == " 1"
    assert said(item) == "c1  score 0.500  relevant, sufficient, grade 3  it answers  (human)"
    assert item.inner == (OutlineItem(Phrase("The pier is 90 m long.", "text")),)


@pytest.mark.parametrize(
    ("contexts", "words"),
    [(None, "this system does not retrieve"), ([], "it retrieved nothing")],
)
def test_no_retrieval_and_nothing_retrieved_are_two_things(contexts: Any, words: str) -> None:
    assert [said(item) for item in items(example_page(found(contexts=contexts)), "Contexts")] == [
        words
    ]


def test_a_context_without_text_or_judgement_says_so() -> None:
    bare = {"rank": 12, "id": "c1", "score": None, "text": None, "relevance": None}
    (item,) = items(example_page(found(contexts=[bare])), "Contexts")
    assert (item.lead, said(item), said(item.inner[0])) == ("12", "c1", "(no text)")


def test_a_claim_stands_with_its_support_and_each_reference() -> None:
    claim = {"index": 0, "text": "It is 90 m.", "support": SUPPORT, "agreement": [AGREES]}
    page = example_page(found(claims=[claim], reference=["90 m", "90"]))
    (item,) = items(page, "Claims of the answer")
    assert (item.lead, item.words) == (" 1", Phrase("It is 90 m.", "text"))
    assert [said(one) for one in item.inner] == [
        "contexts: supported, probability 0.875, from c1 “90 m”  it says so  (local)",
        "reference 1 says it: full  (m)",
    ]
    one_reference = example_page(found(claims=[claim], reference=["90 m"]))
    assert said(items(one_reference, "Claims of the answer")[0].inner[1]) == "says it: full  (m)"


@pytest.mark.parametrize(
    ("verdict", "tone"),
    [("supported", "good"), ("contradicted", "bad"), ("absent", "caution"), ("extra", "quiet")],
)
def test_verdicts_have_a_tone(verdict: str, tone: Tone) -> None:
    claim = {"index": 0, "text": "x", "support": {**SUPPORT, "verdict": verdict}, "agreement": []}
    (item,) = items(example_page(found(claims=[claim])), "Claims of the answer")
    assert Phrase(verdict, tone) in parts(item.inner[0].words)


def test_what_was_not_judged_is_said() -> None:
    bare: dict[str, Any] = {
        "verdict": None,
        "probability": None,
        "evidence": [],
        "quote": None,
        "judge": "m",
    }
    claim = {"index": 0, "text": "x", "support": bare, "agreement": []}
    (item,) = items(example_page(found(claims=[claim])), "Claims of the answer")
    assert said(item.inner[0]) == "contexts: not judged  (m)"


def test_the_answer_stands_with_its_type_and_what_it_cites() -> None:
    judgements = {
        "response": [{"response_type": "answer", "reason": None, "judge": "m"}],
        "citations": [{"marker": "[1]", "context": "c1"}, {"marker": "[9]", "context": None}],
    }
    answer = items(example_page(found(judgements=judgements)), "Answer")
    assert [said(item) for item in answer] == [
        "90 m.", "response type answer  (m)", "cites [1] = c1", "cites [9] = no retrieved context",
    ]  # fmt: skip
    assert said(items(example_page(found(answer=None)), "Answer")[0]) == "–"


def test_a_reference_stands_with_its_statements() -> None:
    statement = {"reference": 0, "text": "90 m", "agreement": AGREES, "support": SUPPORT}
    lexical = {"reference": 0, "token_f1": 0.5, "judge": "rules"}
    page = example_page(
        found(reference=["90 m"], statements=[statement], judgements={"lexical": [lexical]})
    )
    (item,) = items(page, "Reference")
    assert [said(one) for one in item.inner] == ["token_f1 0.500", "90 m"]
    assert said(item.inner[1].inner[0]) == "answer: full  (m)"
    assert said(item.inner[1].inner[1]).startswith("contexts: supported")


def test_other_judgements_labels_and_evidence_are_shown() -> None:
    page = example_page(
        found(
            judgements={"quality": [{"helpful": True, "score": None, "judge": "m", "reason": "x"}]},
            labels={"helpful": True, "tone": "warm"},
            gold_evidence=[{"text": "90 m", "support": None}],
        )
    )
    assert [said(item) for item in items(page, "Other judgements")] == [
        "quality  helpful true  x  (m)"
    ]
    assert [said(one) for one in items(page, "Labels of people")] == ["helpful  true", "tone  warm"]
    assert items(page, "Gold evidence") == (OutlineItem(Phrase("90 m", "text"), (), " 1"),)


def test_scores_tell_zero_undefined_and_missing_apart() -> None:
    scores = [
        {"metric": "hit", "status": "value", "value": 0.0, "label": "wrong", "reason": "note"},
        {"metric": "mrr", "status": "undefined", "value": None, "label": None, "reason": "no_x"},
        {"metric": "f1", "status": "missing", "value": None, "label": None, "reason": "failed"},
    ]
    (table,) = example_page(found(scores=scores)).tables
    assert [row.cells for row in table.rows] == [
        (RowName("hit"), Number(0.0, strong=True), quiet("wrong  note")),
        (RowName("mrr"), Number(None), Why("undefined", "undefined (no_x)")),
        (RowName("f1"), Number(None), Why("missing", "missing (failed)")),
    ]


@pytest.mark.parametrize("prompts", [False, True])
def test_questions_to_models_are_told_with_what_went_wrong(prompts: bool) -> None:
    usage = {"prompt": 9, "completion": 2, "cached": None, "reasoning": None}
    first = {"number": 1, "source": "model", "seconds": 0.5, "finish": None, "trouble": "timeout",
             "words": "late", "reply": None, "usage": usage, "usd": None}  # fmt: skip
    last = first | {"number": 2, "finish": "stop", "trouble": None, "reply": '{"verdict": "yes"}'}
    call = {"task": "support", "judge": "m", "key": "0123456789ab", "system": "You judge.",
            "parts": ["A", "B"], "attempts": [first, last]}  # fmt: skip
    (item,) = items(example_page(found(calls=[call]), prompts=prompts), "Questions to models")
    assert said(item) == "support  m  01234567"
    told = [said(one) for one in item.inner]
    assert told[:2] == (["You judge.", "AB"] if prompts else ["0.50 s", "timeout: late"])
    assert told[-2:] == [
        "attempt 2: 0.50 s, 9 tokens sent, 2 back, cost not known",
        'verdict: "yes"',
    ]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_an_example_fits_the_console_with_every_word(width: int) -> None:
    claim = {"index": 0, "text": "word " * 40, "support": SUPPORT, "agreement": [AGREES]}
    known = {"policy": "be kind", "slices": {"topic": "sea"}}
    history = [{"role": "user", "text": "Hi"}]
    page = example_page(found(claims=[claim], history=history, **known))
    printed = as_text(page, width)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("word") == 40
    assert printed.splitlines()[:3] == ["example   q1", "system    a", "topic     sea"]


def test_the_record_is_what_was_found() -> None:
    assert example_page(found(id="x")).record() == found(id="x")
