"""Assess: what is known of an answer before it is given."""

import gzip
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.data import Context
from ragstone.guard import Assessment, Checks, Guard, assess
from ragstone.guard.assessment import AnswerSpan, WayOut
from ragstone.guard.guard_input import Deadline
from ragstone.report.reason_words import SENTENCES
from tests.processor_time import least_processor_time

PIER = "The pier at Clevedon is 312 m long. It was opened in 1869 by Sir Arthur Elton."
QUESTION = "How long is the pier?"
SUPPORTED = "The pier at Clevedon is 312 m long [1]."
UNSUPPORTED = "Its café sells excellent fish and chips every morning [1]."
WORSE = f"{SUPPORTED} {UNSUPPORTED} Gulls breed loudly behind both kiosks [1]."
"""Its least supported sentence stands in the middle."""


def codes(found: Assessment) -> list[str]:
    return [issue.code for issue in found.issues]


def status(found: Assessment, check: str) -> str:
    return found[check].status


def test_a_supported_answer_that_cites_is_ok_and_passes() -> None:
    found = assess(QUESTION, SUPPORTED, [PIER], run_id="r1")
    assert (found.ok, found.decision, codes(found), found.run_id) == (True, "pass", [], "r1")
    assert found.judge == "local:strings"
    assert not found.late


def test_the_least_supported_sentence_is_named_with_its_place_and_reason() -> None:
    found = assess(QUESTION, WORSE, [PIER])
    assert (found.ok, found.decision, codes(found)) == (False, "ask", ["unsupported_sentence"])
    [span] = found.issues[0].spans
    worst = min(found.judged, key=lambda claim: claim.probability or 0)
    assert span == worst.span == AnswerSpan(span.start, span.end, WORSE[span.start : span.end])
    check = found["groundedness"]
    assert check.spans == (span,)
    assert check.value == pytest.approx(sum(one.probability or 0 for one in found.judged) / 3)
    assert check.threshold == pytest.approx(0.35 + 0.15 / 3)
    assert ragstone.explain(found.issues[0].reason) == (
        f"the mean probability that the contexts support its 3 sentences is {check.value:.3f}; "
        "0.400 is the least that passes"
    )


def test_the_mean_of_the_sentences_decides_and_not_the_least_of_them() -> None:
    found = assess(QUESTION, f"{SUPPORTED} {UNSUPPORTED}", [PIER])
    assert found.ok
    check = found["groundedness"]
    assert check.threshold == pytest.approx(0.35 + 0.15 / 2)
    assert [span.text for span in check.spans] == [UNSUPPORTED]
    assert (found.confidence or 1) < 0.1
    assert 0.43 < (check.value or 0) < 0.6


def test_a_contradicted_sentence_is_told_and_does_not_fail_by_itself() -> None:
    off = Checks(numbers=False)
    alone = "The pier at Clevedon is 412 m long [1]."
    found = assess(QUESTION, f"{SUPPORTED} {alone}", [PIER], checks=off)
    assert (found.ok, found.judged[1].verdict) == (True, "contradicted")
    assert [ragstone.explain(note) for note in found.notes] == [
        "1 of 2 sentences is contradicted by the contexts"
    ]
    assert assess(QUESTION, SUPPORTED, [PIER]).notes == ()
    found = assess(QUESTION, alone, [PIER])
    assert codes(found) == ["contradicted_sentence", "new_number"]
    assert found["numbers"].spans[0].text == "412"


def test_confidence_is_the_probability_that_evaluate_would_give() -> None:
    answer = f"{SUPPORTED} {UNSUPPORTED}"
    scores = ragstone.evaluate_one(
        question=QUESTION, answer=answer, contexts=[PIER], metrics="expected_faithfulness",
        judge="local:strings",
    )  # fmt: skip
    known = [claim.probability or 0.0 for claim in assess(QUESTION, answer, [PIER]).judged]
    assert sum(known) / len(known) == pytest.approx(scores["expected_faithfulness"])


def test_an_answer_without_claims_has_no_confidence() -> None:
    found = assess(QUESTION, "Which pier do you mean?", [PIER])
    assert found.confidence is None
    assert status(found, "groundedness") == "not_applicable"


@pytest.mark.parametrize(
    ("answer", "contexts", "expected"),
    [
        ("", [PIER], ["empty_answer"]),
        (" \n—", [PIER], ["empty_answer"]),
        (SUPPORTED, [], ["no_context", "dangling_citation"]),
        (SUPPORTED, None, ["no_context", "dangling_citation"]),
        (SUPPORTED, ["  "], ["no_context"]),
        ("The pier at Clevedon is 312 m long [2].", [PIER], ["dangling_citation"]),
        ("Sorry, something went wrong. Please try again later.", [PIER], ["fallback_phrase"]),
        ("I don't know.", [PIER], ["fallback_phrase"]),
        ("Ein Fehler ist aufgetreten.", [PIER], ["fallback_phrase"]),
        ("Es tut mir leid, das weiß ich nicht.", [PIER], ["fallback_phrase"]),
    ],
)
def test_what_is_wrong_with_the_form_has_its_code(
    answer: str, contexts: list[str] | None, expected: list[str]
) -> None:
    found = assess(QUESTION, answer, contexts)
    assert codes(found) == expected
    assert found.ok is False


def test_a_place_of_a_dangling_citation_is_its_mark() -> None:
    found = assess(QUESTION, "The pier at Clevedon is 312 m long [7].", [PIER])
    assert [span.text for span in found["cited_contexts"].spans] == ["[7]"]


def test_citations_are_missed_only_where_they_were_asked_for() -> None:
    def of(citations: bool | None) -> Assessment:
        checks = Checks(citations=citations)
        return assess(QUESTION, "The pier is 312 m long.", [PIER], checks=checks)

    assert codes(of(True)) == ["missing_citations"]
    assert (of(None).ok, status(of(None), "cites")) == (True, "not_applicable")
    assert of(False).ok
    assert "cites" not in {check.check for check in of(False).checks}


def test_an_abstention_is_as_good_as_any_where_it_may_abstain() -> None:
    found = assess(QUESTION, "I don't know.", [PIER], abstain_ok=True)
    assert (found.ok, found.decision) == (True, "pass")
    assert status(found, "abstention") == "not_applicable"
    assert status(found, "groundedness") == "not_applicable"


def test_a_failure_message_is_no_abstention_that_may_be() -> None:
    found = assess(QUESTION, "Internal server error", [PIER], abstain_ok=True)
    assert codes(found) == ["fallback_phrase"]
    assert status(found, "failure_phrases") == "failed"


def test_failure_phrases_of_ones_own_must_match_the_whole_answer() -> None:
    checks = Checks(failure_phrases=[r"ask (?:our|the) hotline\W*"], citations=False)
    assert codes(assess(QUESTION, "Ask our hotline!", [PIER], checks=checks)) == ["fallback_phrase"]
    told = assess(QUESTION, "Ask our hotline: the pier is 312 m long.", [PIER], checks=checks)
    assert status(told, "failure_phrases") == "passed"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (None, "not_applicable"),
        ([], "not_applicable"),
        ([None], "not_applicable"),
        ([0.1, None], "not_applicable"),
        ([0.1, float("nan")], "not_applicable"),
        ([0.1, 12.5], "not_applicable"),
        ([0.1, -0.1], "not_applicable"),
        (["0.1"], "not_applicable"),
        ([True], "not_applicable"),
        ([0.25], "passed"),
        ([0.25, 0.25, 0.25], "passed"),
        ([0.24, 0.24], "failed"),
        (0.1, "failed"),
    ],
)
def test_only_scores_from_0_to_1_can_be_low(scores: Any, expected: str) -> None:
    found = assess(QUESTION, SUPPORTED, [PIER], retrieval_scores=scores)
    assert status(found, "retrieval_scores") == expected


def test_scores_of_the_contexts_count_where_none_are_given() -> None:
    low = [Context("a", PIER, 1, 0.1)]
    assert codes(assess(QUESTION, SUPPORTED, low)) == ["low_retrieval_score"]
    assert assess(QUESTION, SUPPORTED, low, retrieval_scores=[0.9]).ok


def test_the_threshold_of_scores_can_be_set_or_left_out() -> None:
    strict = assess(QUESTION, SUPPORTED, [PIER], retrieval_scores=[0.5],
                    checks=Checks(least_retrieval_score=0.6))  # fmt: skip
    assert codes(strict) == ["low_retrieval_score"]
    assert strict["retrieval_scores"].value == 0.5
    off = assess(QUESTION, SUPPORTED, [PIER], retrieval_scores=[0.0],
                 checks=Checks(least_retrieval_score=None))  # fmt: skip
    assert off.ok


@pytest.mark.parametrize(
    ("question", "is_list"),
    [
        ("List the fees.", True),
        ("Please list all fees of the pier.", True),
        ("Could you name three piers?", True),
        ("What are the top 5 piers?", True),
        ("Give me a list of piers.", True),
        ("Explain the fees as a bulleted list.", True),
        ("Nenne drei Seebrücken.", True),
        ("Listez les jetées.", True),
        ("¿Puedes enumerar los muelles?", True),
        ("What is the list price of a ticket?", False),
        ("Why did the pier stop paying?", False),
        ("Who enlisted Sir Arthur?", False),
        ("Is the pier listed?", False),
        ("Name the pier.", False),
        ("What is at the top of the pier?", False),
    ],
)
def test_only_a_real_question_for_a_list_wants_one(question: str, is_list: bool) -> None:
    found = assess(question, SUPPORTED, [PIER])
    assert ("missing_list_structure" in codes(found)) == is_list
    assert (status(found, "list_structure") == "not_applicable") != is_list


@pytest.mark.parametrize("answer", ["- a\n- b", "1. a\n2. b", "| a | b |\n|---|---|", "* a"])
def test_bullets_numbers_and_rows_are_a_list(answer: str) -> None:
    assert status(assess("List the fees.", answer, [PIER]), "list_structure") == "passed"


def test_numbers_and_names_that_nobody_gave_are_named_where_they_stand() -> None:
    answer = "The pier at Clevedon was opened in 1872 by Sir Henry Blount [1]."
    found = assess(QUESTION, answer, [PIER])
    assert [span.text for span in found["numbers"].spans] == ["1872"]
    assert [span.text for span in found["names"].spans] == ["Henry", "Blount"]
    for check in ("numbers", "names"):
        for span in found[check].spans:
            assert answer[span.start : span.end] == span.text


def test_numbers_and_names_of_the_question_are_not_new() -> None:
    found = assess("Is Brunel's pier 999 m long?", "Brunel's pier is not 999 m long [1].", [PIER])
    assert status(found, "numbers") == "passed"
    assert status(found, "names") == "passed"


def test_every_check_can_be_switched_off_but_answer_and_contexts() -> None:
    off = Checks(
        citations=False, least_retrieval_score=None, lists=False, least_support=None, numbers=False,
        names=False, links=False,
    )  # fmt: skip
    found = assess(QUESTION, UNSUPPORTED, [PIER], checks=off)
    assert found.ok
    assert {check.check for check in found.checks} == {
        "answer", "contexts", "cited_contexts", "failure_phrases", "abstention",
    }  # fmt: skip


def test_a_stricter_threshold_of_support_fails_what_a_laxer_one_passes() -> None:
    value = assess(QUESTION, SUPPORTED, [PIER]).confidence
    assert value is not None
    assert 0.5 < value < 1
    strict = assess(QUESTION, SUPPORTED, [PIER], checks=Checks(least_support=(1 + value) / 2))
    assert codes(strict) == ["unsupported_sentence"]


class Scripted:
    """A gate that says what it is told."""

    def __init__(self, says: WayOut) -> None:
        self.says: WayOut = says
        self.heard: list[float | None] = []

    def decide(self, confidence: float | None) -> WayOut:
        self.heard.append(confidence)
        return self.says


@pytest.mark.parametrize("says", ["pass", "ask", "block"])
def test_a_gate_decides_by_the_confidence(says: WayOut) -> None:
    gate = Scripted(says)
    found = assess(QUESTION, SUPPORTED, [PIER], gate=gate)
    assert (found.decision, gate.heard) == (says, [found.confidence])


def test_a_gate_lets_nothing_pass_of_which_another_check_failed() -> None:
    found = assess(QUESTION, "The pier is 312 m long [2].", [PIER], gate=Scripted("pass"))
    assert found.decision == "ask"


def test_a_gate_may_pass_what_the_usual_threshold_would_not() -> None:
    found = assess(QUESTION, WORSE, [PIER], gate=Scripted("pass"))
    assert (found.ok, found.decision) == (False, "pass")


@pytest.mark.parametrize(
    "contexts",
    [
        [{"id": "p", "text": PIER}],
        [{"page_content": PIER}],
        [Context("p", PIER, 1)],
        {"id": "p", "text": PIER},
        PIER,
        (PIER,),
        iter([PIER]),
    ],
)
def test_contexts_come_in_every_usual_form(contexts: Any) -> None:
    checks = Checks(citations=False)
    found = assess(QUESTION, "The pier at Clevedon is 312 m long.", contexts, checks=checks)
    assert found.ok


def test_evidence_names_the_contexts_by_their_ids() -> None:
    found = assess(QUESTION, "The pier is 312 m long [p].", [{"id": "p", "text": PIER}])
    assert found.judged[0].evidence == ("p",)
    assert found.judged[0].quote == "The pier at Clevedon is 312 m long."


@pytest.mark.parametrize("contexts", [[3], [{"x": 1}], 7, [PIER, object()]])
def test_contexts_that_cannot_be_read_leave_groundedness_unjudged(contexts: Any) -> None:
    found = assess(QUESTION, SUPPORTED, contexts)
    assert status(found, "groundedness") == "not_judged"
    assert found.decision == "ask"


def test_contexts_without_text_leave_groundedness_unjudged() -> None:
    found = assess(QUESTION, SUPPORTED, [{"id": "1"}])
    assert status(found, "groundedness") == "not_judged"
    assert (found.ok, found.decision) == (None, "ask")


@pytest.mark.parametrize(
    ("question", "answer", "contexts"),
    [
        (None, None, None),
        (object(), b"\xff\xfe is 312 m long", PIER),
        ("q", float("nan"), [PIER]),
        ("\ud800", "\ud800 lone [1].", ["\ud800"]),
        ("q", "\x00\x1b[31mred", ["\x00"]),
        ("الطول؟", "طول الرصيف 312 مترا. Der Steg ist lang. 桟橋は長い。", [PIER]),
    ],
)
def test_nothing_is_raised_inside_a_request(question: Any, answer: Any, contexts: Any) -> None:
    found = assess(question, answer, contexts)
    assert "guard" not in {check.check for check in found.checks}
    json.dumps(found.to_dict())


def test_what_breaks_inside_the_guard_is_unjudged_and_logged_without_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> object:
        raise ValueError(str(1233 + 1))

    monkeypatch.setattr("ragstone.guard.answer_checks.ground", broken)
    found = assess(QUESTION, SUPPORTED, [PIER])
    assert (found.ok, found.decision) == (None, "ask")
    assert [check.reason for check in found.checks] == ["guard_failed?error=ValueError"]
    assert "ValueError" in caplog.text
    assert "1234" not in caplog.text


def ticking(step: float) -> Callable[[], float]:
    """A clock that goes on by a step whenever it is asked."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += step
        return now

    return clock


def test_sentences_after_the_deadline_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ragstone.guard.guard_input.Deadline.__init__.__defaults__", (ticking(0.1),)
    )
    found = assess(QUESTION, " ".join([SUPPORTED] * 50), [PIER])
    assert status(found, "groundedness") == "not_judged"
    assert status(found, "numbers") == status(found, "names") == "not_judged"
    assert (found.ok, found.decision, found.confidence) == (None, "ask", None)
    assert 0 < len(found.judged) < 50


def test_a_mean_is_not_known_before_all_is_judged_but_a_new_number_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "ragstone.guard.guard_input.Deadline.__init__.__defaults__", (ticking(0.1),)
    )
    found = assess(QUESTION, " ".join([f"1872. {UNSUPPORTED}"] + [SUPPORTED] * 50), [PIER])
    assert status(found, "groundedness") == "not_judged"
    assert status(found, "numbers") == "failed"
    assert (found.ok, found.confidence) == (False, None)


def test_contexts_after_the_deadline_leave_all_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ragstone.guard.guard_input.Deadline.__init__.__defaults__", (ticking(0.1),)
    )
    found = assess(QUESTION, SUPPORTED, [PIER] * 50)
    assert status(found, "groundedness") == "not_judged"
    assert found["groundedness"].reason.startswith("contexts_not_read_in_time?")


def test_a_sentence_without_end_is_judged_in_parts() -> None:
    found = assess(QUESTION, "word " * 10_000, [PIER], deadline=600)
    assert " ".join(claim.span.text for claim in found.judged) == ("word " * 10_000).strip()
    assert max(len(claim.span.text) for claim in found.judged) <= 5_000
    assert codes(found) == ["unsupported_sentence"]


def test_of_citation_marks_without_end_the_first_5_000_are_looked_at() -> None:
    found = assess(QUESTION, SUPPORTED + "[1]" * 10_000, [PIER])
    assert found["cites"].value == 5_000


def test_an_assessment_is_plain_data() -> None:
    found = assess(QUESTION, f"{SUPPORTED} {UNSUPPORTED} In 1872.", [PIER], run_id="r")
    told = json.loads(json.dumps(found.to_dict()))
    assert [issue["code"] for issue in told["issues"]] == [issue.code for issue in found.issues]
    assert told["judged"][0]["span"]["text"] == found.judged[0].span.text
    assert all("issues" not in check for check in told["checks"])


def test_the_same_is_assessed_alike() -> None:
    given = (QUESTION, f"{SUPPORTED} {UNSUPPORTED}", [PIER])
    assert assess(*given) == assess(*given)


def test_contexts_that_were_read_before_give_the_same() -> None:
    guard = Guard()
    read = guard.read([PIER])
    for answer in (SUPPORTED, UNSUPPORTED):
        assert guard.assess(QUESTION, answer, read) == guard.assess(QUESTION, answer, [PIER])


async def _aassessed(guard: Guard) -> Assessment:
    return await guard.aassess(QUESTION, SUPPORTED, [PIER], run_id="a")


def test_the_async_twin_gives_the_same() -> None:
    import asyncio

    guard = Guard()
    assert asyncio.run(_aassessed(guard)) == guard.assess(QUESTION, SUPPORTED, [PIER], run_id="a")


def test_each_assessment_is_one_log_line_and_one_event(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ragstone.guard")
    heard: list[Any] = []
    assess(QUESTION, SUPPORTED, [PIER], run_id="r\n1", listener=heard.append)
    [record] = caplog.records
    assert (record.levelno, "\n" in record.getMessage()) == (logging.INFO, False)
    assert record.getMessage().startswith("run_id=r 1 ok=True decision=pass issues=none ")
    [event] = heard
    assert event == record.__dict__["assessment"]
    assert (event["run_id"], event["ok"], event["checks"]["groundedness"]) == (
        "r 1",
        True,
        "passed",
    )
    json.dumps(event)


def test_neither_log_nor_event_holds_a_text_of_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    heard: list[Any] = []
    assess("hunter2?", "My key is sk-hunter2.", ["hunter2 context"], listener=heard.append)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "hunter2" not in caplog.text + json.dumps(heard)


def test_a_listener_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def failing(_: object) -> None:
        raise RuntimeError("secret")

    assert assess(QUESTION, SUPPORTED, [PIER], listener=failing).ok
    assert "listener failed: RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_bad_settings_are_told_all_at_once() -> None:
    with pytest.raises(InputError) as told:
        Checks(
            citation_pattern="(", failure_phrases="[", languages=["xx"], least_retrieval_score=2,
            least_support=float("nan"),
        )  # fmt: skip
    named = "citation_pattern failure_phrases 'xx' least_retrieval_score least_support"
    for name in named.split():
        assert name in str(told.value)


@pytest.mark.parametrize("deadline", [0, -1, float("nan"), "1", None, True])
def test_a_deadline_is_a_time(deadline: Any) -> None:
    with pytest.raises(InputError, match="deadline"):
        Guard(deadline=deadline)


def test_every_reason_of_an_assessment_has_words() -> None:
    answers = (SUPPORTED, UNSUPPORTED, "", "I don't know.", "Which one do you mean?", "- a [9]")
    for answer in answers:
        for contexts in ([PIER], [], [3], [{"id": "1"}]):
            for question in (QUESTION, "List the piers."):
                found = assess(question, answer, contexts, retrieval_scores=[0.1])
                for check in found.checks:
                    assert check.reason.partition("?")[0] in SENTENCES or (
                        check.reason == "no_context_text"
                    )


def test_an_assessment_is_printed_as_a_page_with_the_answer_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = str(assess(QUESTION, WORSE, [PIER]))
    assert shown.index("its 3 sentences is") < shown.index("groundedness")
    assert "none of 6 content words" in shown
    assert "&lt;script&gt;" in assess(QUESTION, "<script>x</script> [1].", [PIER]).notebook()


@pytest.mark.parametrize(
    ("answer", "check", "expected", "why"),
    [
        ("The pier is 312 m long.", "cites", "not_applicable", "cites_nothing"),
        ("I don't know.", "cites", "not_applicable", "response_is"),
        ("Which pier do you mean?", "cites", "not_applicable", "response_is"),
        ("Internal server error", "cites", "not_applicable", "is_a_failure"),
        ("", "cites", "not_applicable", "answer_is_empty"),
        (SUPPORTED, "cites", "passed", "cites"),
        ("The pier is 312 m long.", "cited_contexts", "not_applicable", "cites_nothing"),
        (SUPPORTED, "cited_contexts", "passed", "all_cited_are_there"),
        ("", "abstention", "not_applicable", "answer_is_empty"),
        ("Internal server error", "abstention", "not_applicable", "is_a_failure"),
        (SUPPORTED, "abstention", "passed", "response_is"),
        ("", "failure_phrases", "not_applicable", "answer_is_empty"),
        (SUPPORTED, "failure_phrases", "passed", "no_failure_message"),
        ("", "groundedness", "not_applicable", "answer_is_empty"),
        ("Internal server error", "groundedness", "not_applicable", "is_a_failure"),
        ("I don't know.", "groundedness", "not_applicable", "response_is"),
        ("Which pier do you mean?", "groundedness", "not_applicable", "no_claims_made"),
        (SUPPORTED, "groundedness", "passed", "mean_support"),
        (SUPPORTED, "numbers", "passed", "nothing_new"),
        (SUPPORTED, "links", "not_applicable", "no_links"),
        ("", "links", "not_applicable", "no_links"),
        ("", "names", "not_applicable", "answer_is_empty"),
        ("", "list_structure", "not_applicable", "answer_is_empty"),
        (SUPPORTED, "list_structure", "not_applicable", "no_list_asked"),
    ],
)
def test_each_check_says_what_came_of_it_and_why(
    answer: str, check: str, expected: str, why: str
) -> None:
    found = assess(QUESTION, answer, [PIER])[check]
    assert (found.status, found.reason.partition("?")[0]) == (expected, why)


@pytest.mark.parametrize(("deadline", "judging"), [(0.5, 0.35), (1.0, 0.7), (10.0, 9.7)])
def test_three_tenths_of_the_deadline_and_300_ms_at_most_are_kept_for_telling(
    deadline: float, judging: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    class Noted(Deadline):
        def __init__(self, seconds: float) -> None:
            seen.append(seconds)
            super().__init__(seconds)

    monkeypatch.setattr("ragstone.guard.guard.Deadline", Noted)
    assess(QUESTION, SUPPORTED, [PIER], deadline=deadline)
    assert seen == [pytest.approx(judging)]


HOSTILE = {
    "contradicted sentences": "The pier at Clevedon is 412 m long. " * 27_000,
    "abbreviations": "e.g. " * 200_000,
    "lines of code": "```\n" + "x = 1\n" * 160_000,
    "line separators": "a\u2028" * 500_000,
    "brackets that are no citations": "[a](" * 250_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_answer_of_1_mb_costs_not_much_more_than_the_deadline(name: str) -> None:
    guard = Guard(deadline=0.2)
    guard.assess(QUESTION, SUPPORTED, [PIER])

    def read_words() -> None:
        for _ in re.finditer(r"[^\W_]+", HOSTILE[name]):
            pass

    read_once = least_processor_time(read_words)  # .05 to .08 s on a quiet machine
    assessments = []
    spent = least_processor_time(
        lambda: assessments.append(guard.assess(QUESTION, HOSTILE[name], [PIER]))
    )
    assert spent < guard.deadline + 3 * read_once
    assert all(assessment.ok is not True for assessment in assessments)


def test_contexts_without_an_end_are_taken_as_far_as_there_is_time() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield PIER

    guard = Guard(deadline=0.05)
    found = guard.assess(QUESTION, SUPPORTED, endless())  # type: ignore[arg-type]
    assert found.ok is None
    assert status(found, "groundedness") == "not_judged"
    patient = Guard(deadline=60).read(["a"] * 20_001)
    assert patient.fault == "contexts_not_listed?n=20000"


def test_citations_that_were_not_looked_at_are_not_said_to_be_there() -> None:
    found = assess(QUESTION, SUPPORTED + "[1]" * 5_000 + "[9]", [PIER])
    assert status(found, "cited_contexts") == "not_judged"


@pytest.mark.parametrize(
    "context",
    [
        {"text": PIER, "score": float("nan")},
        {"text": PIER, "score": None},
        {"text": PIER, "score": "high"},
        {"text": PIER, "score": 10**400},
        PIER.encode(),
        np.str_(PIER),
    ],
)
def test_a_context_is_read_whatever_its_score_and_type_of_text(context: Any) -> None:
    found = assess(QUESTION, SUPPORTED, [context, None])  # A missing one is blank.
    assert (found.ok, status(found, "retrieval_scores")) == (True, "not_applicable")


def test_chunks_of_one_document_may_share_its_id() -> None:
    chunks = [{"id": "guide.pdf", "text": PIER}, {"id": "guide.pdf", "text": "It has a café."}]
    assert assess(QUESTION, "The pier is 312 m long [guide.pdf].", chunks).ok
    sources = [{"source": "guide.pdf", "text": one["text"]} for one in chunks]
    assert assess(QUESTION, "The pier is 312 m long [guide.pdf].", sources).ok
    assert codes(assess(QUESTION, "The pier is 312 m long [a1].", chunks)) == ["dangling_citation"]


@pytest.mark.parametrize("scores", [np.array([0.1, 0.2]), [np.float32(0.1)], np.float64(0.1)])
def test_retrieval_scores_of_numpy_are_numbers(scores: Any) -> None:
    assert codes(assess(QUESTION, SUPPORTED, [PIER], retrieval_scores=scores)) == [
        "low_retrieval_score"
    ]


def test_a_retrieval_score_that_is_no_float_at_all_is_on_another_scale() -> None:
    found = assess(QUESTION, SUPPORTED, [PIER], retrieval_scores=[10**400])
    assert status(found, "retrieval_scores") == "not_applicable"


class Unprintable:
    def __str__(self) -> str:
        raise ValueError("no")

    __repr__ = __str__


@pytest.mark.parametrize("run_id", [float("nan"), b"r1", 7, Unprintable()])
def test_a_name_of_a_request_is_text_whatever_was_given(run_id: Any) -> None:
    heard: list[Any] = []
    found = Guard(listener=heard.append).assess(QUESTION, SUPPORTED, [PIER], run_id=run_id)
    assert found.ok
    assert isinstance(found.run_id, str)
    json.dumps([found.to_dict(), *heard], allow_nan=False)


def test_a_handler_of_the_log_that_raises_breaks_no_request() -> None:
    class Broken(logging.Handler):
        def emit(self, _: logging.LogRecord) -> None:
            raise RuntimeError

    logger, handler = logging.getLogger("ragstone.guard"), Broken()
    logger.addHandler(handler)
    try:
        assert assess(QUESTION, "I don't know.", [PIER]).ok is False
        assert assess(QUESTION, Unprintable(), [PIER]).ok is None  # type: ignore[arg-type]
    finally:
        logger.removeHandler(handler)


def test_what_a_gate_says_that_is_no_way_out_asks() -> None:
    class Odd:
        def decide(self, confidence: float | None) -> Any:
            return f"perhaps at {confidence}"

    assert Guard(gate=Odd()).assess(QUESTION, SUPPORTED, [PIER]).decision == "ask"


@pytest.mark.parametrize(
    "setting", [{"gate": 5}, {"gate": "gate.json"}, {"listener": 5}, {"judge": 5}]
)
def test_a_setting_of_a_wrong_type_is_refused_before_any_request(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(setting))} is"):
        Guard(**setting)


@pytest.mark.parametrize("name", ["failure_phrases", "languages"])
def test_a_list_of_checks_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 5"):
        Checks(**{name: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "mark",
    [
        "[doc-7]",
        "[source: doc-7]",
        "[Source 1]",
        "[Doc 1]",
        "[1]",
        "【1】",
        "【1†guide.pdf】",
        "[^1]",
    ],
)
def test_a_citation_is_part_of_no_claim_however_it_is_written(mark: str) -> None:
    found = assess(QUESTION, f"The pier is 312 m long {mark}.", [{"id": "doc-7", "text": PIER}])
    assert (codes(found), found.ok) == ([], True)


def test_no_citation_is_said_to_dangle_while_contexts_are_missing() -> None:
    found = assess(QUESTION, SUPPORTED, 5)  # type: ignore[arg-type]
    assert (codes(found), status(found, "cited_contexts")) == ([], "not_judged")


@pytest.mark.parametrize(
    "message",
    [
        "I encountered an error while generating the response.",
        "We are experiencing high traffic right now. Please try again later.",
        "Sorry, I'm having trouble answering right now.",
        "Unable to process your request at this time.",
        "Failed to generate an answer.",
        "Connection error.",
        "Es ist ein Fehler aufgetreten. Bitte versuchen Sie es später noch einmal.",
    ],
)
def test_what_systems_say_when_they_fail_is_no_answer(message: str) -> None:
    assert codes(assess(QUESTION, message, [PIER])) == ["fallback_phrase"]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("I'd like you to list the piers.", True),
        ("I need a list of piers", True),
        ("Give me three piers", True),
        ("Name two", True),
        ("Give me two minutes", False),
        ("Show me the 10 K filing", False),
        ("Provide 24/7 support details", False),
        ("Show me the 50% threshold", False),
        ("Give me the 30 day return policy", False),
        ("Show me the two-factor login page", False),
        ("Nenne drei Seebrücken", True),
    ],
)
def test_a_number_in_a_request_asks_for_a_list_only_if_it_counts(question: str, asks: bool) -> None:
    found = assess(question, "The pier at Clevedon is 312 m long [1].", [PIER])
    assert status(found, "list_structure") == ("failed" if asks else "not_applicable")


def test_steps_that_are_numbered_are_a_list() -> None:
    answer = "Step 1: Go to the pier.\nStep 2: Walk on it."
    assert status(assess("List the steps", answer, [PIER]), "list_structure") == "passed"


def test_of_many_new_numbers_all_are_counted_and_the_first_hundred_shown() -> None:
    answer = " ".join(f"The pier has {number} lamps." for number in range(1000, 1250))
    found = assess(QUESTION, answer, [PIER], deadline=600)["numbers"]
    assert (found.value, len(found.spans)) == (250.0, 100)
    assert found.spans[1].text == "1001"


def test_by_default_few_faithful_answers_of_models_are_blocked_and_most_others_caught(
    shared: Path,
) -> None:
    limits = {"rag_quality_mtrag/answers": (0.12, 0.85), "faithfulness_begin/pairs": (0.05, 0.67)}
    guard = Guard(deadline=60)
    for name, (most_blocked, least_caught) in limits.items():
        blocked: dict[bool, list[bool]] = {True: [], False: []}
        with gzip.open(shared / "data" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        for row in rows:
            labels = row["labels"]
            median = labels.get("faithfulness_median", 4 if labels.get("faithful") else 0)
            judged = labels.get("faithful", median) is not None and (median == 4 or median < 3)
            if row["answer"] and judged and not row["id"].endswith("-reference"):
                found = guard.assess(row["question"], row["answer"], row["contexts"])
                blocked[median == 4].append(found.ok is not True)
        assert np.mean(blocked[True]) <= most_blocked
        assert np.mean(blocked[False]) >= least_caught
