"""The page of one example: what is said of each part of it."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.models.chat import Usage
from ragstone.report.judgement_words import short_judge
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
from ragstone.report.pages.example_page import example_page
from ragstone.report.render.terminal import as_text
from ragstone.report.run_contents import Dossier
from ragstone.run import Entry
from ragstone.run.calls.journal_reader import Attempt

Found = Callable[..., Dossier]
SUPPORT: dict[str, Any] = {
    "verdict": "supported", "probability": 0.875, "evidence": ["c1"], "quote": "90 m",
    "reason": "it says so", "judge": "local",
}  # fmt: skip
AGREES: dict[str, Any] = {"verdict": "full", "reference": 0, "reason": None, "judge": "m"}


def items(page: Page, title: str) -> tuple[OutlineItem, ...]:
    (section,) = [one for one in page.sections if plain(one.title) == title]
    (block,) = section.blocks
    assert isinstance(block, Outline)
    return block.items


def said(item: OutlineItem) -> str:
    return plain(item.words)


def test_a_context_stands_with_its_rank_score_and_what_was_said_of_it(found: Found) -> None:
    relevance = {"relevant": True, "sufficient": True, "misleading": False, "grade": 3,
                 "reason": "it answers", "judge": "human"}  # fmt: skip
    context = {"rank": 1, "id": "c1", "score": 0.5, "text": "The pier is 90 m long.",
               "relevance": relevance}  # fmt: skip
    (item,) = items(example_page(found(contexts=[context])), "Contexts")
    assert item.lead == " 1"
    assert said(item) == "c1  score 0.500  relevant, sufficient, grade 3  it answers  (human)"
    assert item.inner == (OutlineItem(Phrase("The pier is 90 m long.", "text")),)


@pytest.mark.parametrize(
    ("contexts", "words"), [(None, "this system does not retrieve"), ([], "it retrieved nothing")]
)
def test_no_retrieval_and_nothing_retrieved_are_two_things(
    found: Found, contexts: Any, words: str
) -> None:
    assert [said(item) for item in items(example_page(found(contexts=contexts)), "Contexts")] == [
        words
    ]


def test_a_context_without_text_or_judgement_says_so(found: Found) -> None:
    bare = {"rank": 12, "id": "c1", "score": None, "text": None, "relevance": None}
    (item,) = items(example_page(found(contexts=[bare])), "Contexts")
    assert (item.lead, said(item), said(item.inner[0])) == ("12", "c1", "(no text)")


def test_a_claim_stands_with_its_support_and_each_reference(found: Found) -> None:
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
    ("verdict", "tone"), [("supported", "good"), ("contradicted", "bad"), ("absent", "caution")]
)
def test_verdicts_have_a_tone(found: Found, verdict: str, tone: Tone) -> None:
    extra = {**AGREES, "verdict": "extra"}
    said = {"support": {**SUPPORT, "verdict": verdict}, "agreement": [extra]}
    (item,) = items(
        example_page(found(claims=[{"index": 0, "text": "x", **said}])), "Claims of the answer"
    )
    assert Phrase(verdict, tone) in parts(item.inner[0].words)
    assert Phrase("extra", "quiet") in parts(item.inner[1].words)


def test_what_was_not_judged_is_said(found: Found) -> None:
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


def test_the_answer_stands_with_its_type_and_what_it_cites(found: Found) -> None:
    judgements = {
        "response": [{"response_type": "answer", "reason": None, "judge": "m"}],
        "citations": [{"marker": "[1]", "context": "c1"}, {"marker": "[9]", "context": None}],
    }
    answer = items(example_page(found(judgements=judgements)), "Answer")
    assert [said(item) for item in answer] == [
        "90 m.", "response type: answer  (m)", "cites: [1], context c1  (m)",
        "cites: [9], no retrieved context  (m)",
    ]  # fmt: skip
    assert said(items(example_page(found(answer=None)), "Answer")[0]) == "–"


def test_a_reference_stands_with_its_statements(found: Found) -> None:
    statement = {"reference": 0, "text": "90 m", "agreement": AGREES, "support": SUPPORT}
    lexical = {"reference": 0, "token_f1": 0.5, "judge": "rules"}
    page = example_page(
        found(reference=["90 m"], statements=[statement], judgements={"lexical": [lexical]})
    )
    (item,) = items(page, "Reference")
    assert [said(one) for one in item.inner] == ["lexical: token_f1 0.500  (rules)", "90 m"]
    assert said(item.inner[1].inner[0]).startswith("contexts: supported")
    assert said(item.inner[1].inner[1]) == "answer: full  (m)"


def test_other_judgements_labels_and_evidence_are_shown(found: Found) -> None:
    page = example_page(
        found(
            judgements={"preference": [{"rival": "b", "verdict": "win", "reason": "x"}]},
            labels={"helpful": True, "tone": "warm"},
            gold_evidence=[{"text": "90 m", "support": None}],
        )
    )
    assert [said(item) for item in items(page, "Other judgements")] == [
        "preference: against b, win  x  (m)"
    ]
    assert [said(one) for one in items(page, "Labels of people")] == ["helpful  true", "tone  warm"]
    assert items(page, "Gold evidence") == (OutlineItem(Phrase("90 m", "text"), (), " 1"),)


def test_scores_tell_zero_undefined_and_missing_apart(found: Found) -> None:
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
def test_questions_to_models_are_told_with_what_went_wrong(found: Found, prompts: bool) -> None:
    key = "0123456789ab"
    first = Attempt(key, 1, "model", 0.0, 0.5, trouble="timeout", words="late")
    last = Attempt(key, 2, "model", 1.0, 0.5, reply='{"verdict": "yes"}', finish="stop",
                   usage=Usage(prompt=9, completion=2))  # fmt: skip
    call = Entry(key, "m", "support", "q1", 0, "You judge.", ("A", "B"), "{}", (first, last))
    (item,) = items(example_page(found(calls=[call]), prompts=prompts), "Questions to models")
    assert said(item) == "support  m  01234567"
    told = [said(one) for one in item.inner]
    assert told[:2] == (["You judge.", "AB"] if prompts else ["0.50 s", "timeout: late"])
    assert told[-2:] == [
        "attempt 2: 0.50 s, 9 tokens sent, 2 received, cost unknown",
        'verdict: "yes"',
    ]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_an_example_fits_the_console_with_every_word(found: Found, width: int) -> None:
    claim = {"index": 0, "text": "word " * 40, "support": SUPPORT, "agreement": [AGREES]}
    known = {"policy": "be kind", "slices": {"topic": "sea"}}
    history = [{"role": "user", "text": "Hi"}]
    page = example_page(found(claims=[claim], history=history, **known))
    printed = as_text(page, width)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("word") == 40
    assert printed.splitlines()[:3] == ["example   q1", "system    a", "topic     sea"]


def test_the_record_holds_everything_by_the_part_it_is_about(found: Found) -> None:
    claim = {"index": 0, "text": "It is 90 m.", "support": SUPPORT, "conversation_support": None,
             "agreement": [AGREES]}  # fmt: skip
    context = {"rank": 1, "id": "c1", "score": 0.5, "text": "90 m", "relevance": None}
    score = {"metric": "hit", "status": "value", "value": 0.0, "label": None, "reason": None}
    lexical = {"reference": 0, "token_f1": 0.5, "judge": "rules", "reason": None}
    known: dict[str, Any] = {
        "contexts": [context], "answer": "90 m.", "claims": [claim], "reference": ["90 m"],
        "history": [{"role": "user", "text": "Hi"}], "policy": "be kind",
        "judgements": {"lexical": [lexical]}, "scores": [score], "slices": {"topic": "sea"},
        "labels": {"helpful": True},
    }  # fmt: skip
    assert example_page(found(id="x", **known)).record() == {
        "id": "x", "question_id": "q1", "system": "a", "question": "How long?", "statements": [],
        "criteria": [], "gold_evidence": [], "reference_contexts": None, "calls": [], "meta": {},
        **known,
        "claims": [{"number": 1, **{name: claim[name] for name in claim if name != "index"}}],
    }  # fmt: skip


def test_a_panel_has_a_short_name_and_a_legend(found: Found) -> None:
    panel = "openai:gpt-5-mini,http://localhost:11434/v1#qwen3:8b"
    claim = {"index": 0, "text": "x", "support": SUPPORT | {"judge": panel}, "agreement": []}
    shown = as_text(example_page(found(claims=[claim])), 120)
    assert "(gpt-5-mini+qwen3:8b)" in shown
    assert (
        "panel  gpt-5-mini openai:gpt-5-mini, qwen3:8b http://localhost:11434/v1#qwen3:8b" in shown
    )
    assert "panel " not in as_text(example_page(found(claims=[claim | {"support": SUPPORT}])), 120)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("local", "local"),
        ("openai:gpt-5", "openai:gpt-5"),
        ("openai:gpt-5,anthropic:claude-haiku-4-5", "gpt-5+claude-haiku-4-5"),
        ("openai:gpt-5,azure:gpt-5,gemini:flash", "a+b+c"),
        ("litellm:groq/llama-3,a,b", "llama-3+a+b"),
    ],
)
def test_a_panels_models_are_named_without_provider_or_by_letters(name: str, short: str) -> None:
    assert short_judge(name) == short


def test_a_criterion_stands_with_whether_it_is_met(found: Found) -> None:
    met = {"met": True, "reason": "On 31 July.", "judge": "m"}
    not_met = {"met": False, "judge": "human"}
    page = example_page(
        found(
            criteria=[
                {"text": "Mentions the deadline", "criteria": met},
                {"index": 1, "text": "Names no customer", "criteria": not_met},
                {"index": 2, "text": "Is short"},
            ]
        )
    )
    lines = [(item.lead.strip(), said(item)) for item in items(page, "Criteria")]
    assert lines == [
        ("1", "Mentions the deadline  met  On 31 July.  (m)"),
        ("2", "Names no customer  not met  (human)"),
        ("3", "Is short"),
    ]
