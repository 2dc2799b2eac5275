"""What cannot be kept is said at once, all of it; what is odd is only asked about."""

import pytest

from ragstone.labels.queue.check import AnswerFault, answer_faults
from ragstone.labels.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem

YES_NO = ("yes", "no")
FORM = QueueForm(
    "all",
    (
        AskedLabel("contradicted_claim_present", "answer", YES_NO),
        AskedLabel("unsupported_claim_present", "answer", YES_NO),
        AskedLabel("tone", "answer", required=False),
        AskedLabel("topically_relevant", "context", YES_NO),
        AskedLabel("evidence_sufficient", "context", YES_NO, required=False),
        AskedLabel("misleading", "context", YES_NO, required=False),
        AskedLabel("grade", "context", ("0", "1", "2", "3"), required=False),
    ),
)
ITEM = QueueItem(
    1, "e", {}, (ItemPart("answer"), ItemPart("context", "1"), ItemPart("context", "2"))
)
ANSWER, FIRST, SECOND = ("answer", ""), ("context", "1"), ("context", "2")
SAID = {
    ANSWER: {"contradicted_claim_present": "no", "unsupported_claim_present": "no"},
    FIRST: {"topically_relevant": "yes"},
    SECOND: {"topically_relevant": "no"},
}


def faults(more: dict[tuple[str, str], dict[str, str]], note: str = "") -> list[tuple[object, ...]]:
    said = {part: SAID.get(part, {}) | more.get(part, {}) for part in (*SAID, *more)}
    found = answer_faults(FORM, ITEM, ItemAnswers(said, note))
    return [(one.part, one.label, one.why.partition("?")[0], one.severity) for one in found]


def test_what_is_said_in_full_is_kept() -> None:
    assert faults({}) == []
    assert faults({FIRST: {"grade": "3"}, ANSWER: {"tone": "curt"}}) == []


@pytest.mark.parametrize(
    ("part", "label", "value", "why"),
    [
        (FIRST, "topically_relevant", "perhaps", "not_a_choice"),
        (FIRST, "grade", "4", "not_a_choice"),
        (ANSWER, "tone", " ", "not_a_choice"),
        (ANSWER, "tone", "x" * 201, "word_too_long"),
        (ANSWER, "helpful", "yes", "not_asked"),
        (FIRST, "tone", "yes", "not_asked"),
    ],
)
def test_what_is_no_label_is_refused(
    part: tuple[str, str], label: str, value: str, why: str
) -> None:
    assert faults({part: {label: value}}) == [(part, label, why, "block")]


def test_labels_that_lack_are_named_unless_they_may_lack() -> None:
    found = answer_faults(FORM, ITEM, ItemAnswers({FIRST: SAID[FIRST]}))
    assert [(one.part, one.label) for one in found] == [
        (ANSWER, "contradicted_claim_present"),
        (ANSWER, "unsupported_claim_present"),
        (SECOND, "topically_relevant"),
    ]
    assert {one.why for one in found} == {"lacking"}


def test_nothing_is_asked_of_an_item_that_is_discarded() -> None:
    assert answer_faults(FORM, ITEM, ItemAnswers(discarded="in Welsh")) == []


def test_a_hard_rule_blocks_and_a_soft_one_warns() -> None:
    contradicted = {"contradicted_claim_present": "yes"}
    assert faults({ANSWER: contradicted}) == [
        (ANSWER, "", "contradiction_requires_unsupported", "block")
    ]
    both = contradicted | {"unsupported_claim_present": "yes"}
    assert faults({ANSWER: both}) == []
    odd = {"evidence_sufficient": "yes", "misleading": "yes"}
    assert faults({FIRST: odd}) == [(FIRST, "", "evidence_excludes_misleading", "warn")]
    assert faults({SECOND: {"evidence_sufficient": "yes"}}) == [
        (SECOND, "", "evidence_requires_relevance", "block")
    ]


def test_a_part_that_the_item_has_not_and_a_long_note_are_refused() -> None:
    other = ("context", "9")
    assert faults({other: {"topically_relevant": "yes"}}) == [(other, "", "no_such_part", "block")]
    assert faults({}, note="x" * 10_001) == [(ANSWER, "", "note_too_long", "block")]
    assert faults({}, note="x" * 10_000) == []


def test_a_fault_blocks_unless_it_says_otherwise() -> None:
    assert AnswerFault(ANSWER, "", "lacking").severity == "block"
