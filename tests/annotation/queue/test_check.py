"""What cannot be kept is said at once, all of it; what is odd is only asked about."""

from itertools import combinations, product

import pytest

from ragstone.annotation.queue.form import (
    MOST_SPANS,
    AnswerFault,
    AskedLabel,
    ItemAnswers,
    ItemPart,
    QueueForm,
    QueueItem,
    answer_faults,
    forbidden,
    rules_asked,
)
from ragstone.data.record_labels import LABELS, Unit

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


@pytest.mark.parametrize("unit", ["answer", "context"])
def test_the_pairs_that_are_forbidden_are_those_that_the_check_finds(unit: Unit) -> None:
    form = QueueForm("f", tuple(AskedLabel(label, unit, YES_NO) for label in LABELS[unit]))
    rules = rules_asked(form)
    assert rules
    part: tuple[str, str] = (unit, "")
    item = QueueItem(1, "e", {}, (ItemPart(unit),))
    for one, two in combinations(LABELS[unit], 2):
        for values in product(YES_NO, repeat=2):
            said = dict(zip((one, two), values, strict=True))
            found = {
                (fault.why, fault.severity)
                for fault in answer_faults(form, item, ItemAnswers({part: said}))
                if fault.why != "lacking"
            }
            told = {
                (rule.name, rule.severity)
                for rule in rules
                if forbidden(rule).items() <= said.items()
            }
            assert found == told, said


def test_only_rules_between_labels_that_are_asked_are_told() -> None:
    form = QueueForm("f", (AskedLabel("source_cited", "answer", YES_NO),))
    assert rules_asked(form) == []


SHOWN_TEXT = "A pier 𝄞 of 90 m."
SPAN = {
    "part": ["answer", ""],
    "label": "tone",
    "text": "answer",
    "start": 2,
    "end": len(SHOWN_TEXT),
}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"part": ["context", "1"], "label": "misleading", "text": "contexts/1"}, None),
        ({"end": len(SHOWN_TEXT) + 1}, "no_such_words"),
        ({"start": -1}, "no_such_words"),
        ({"end": 2}, "no_such_words"),
        ({"start": True}, "no_such_words"),
        ({"start": "2"}, "no_such_words"),
        ({"text": "policy"}, "no_such_words"),
        ({"text": ["answer"]}, "no_such_words"),
        ({"more": 1}, "no_such_words"),
        ({"label": "helpful"}, "not_asked"),
        ({"label": ["tone"]}, "not_asked"),
        ({"part": ["context", "9"]}, "no_such_part"),
        ({"part": "answer"}, "no_such_part"),
        ({"part": None}, "no_such_part"),
    ],
)
def test_words_that_a_label_rests_on_are_in_a_text_of_the_item(
    change: dict[str, object], why: str | None
) -> None:
    shown = {"answer": SHOWN_TEXT, "contexts": [{"name": "1", "text": SHOWN_TEXT}]}
    item = QueueItem(1, "e", shown, ITEM.parts)
    answers = ItemAnswers(SAID, spans=({**SPAN, **change},))
    assert [one.why for one in answer_faults(FORM, item, answers)] == ([why] if why else [])


def test_there_are_only_so_many_marked_words() -> None:
    item = QueueItem(1, "e", {"answer": SHOWN_TEXT}, ITEM.parts)
    most = ItemAnswers(SAID, spans=(SPAN,) * MOST_SPANS)
    assert answer_faults(FORM, item, most) == []
    (one,) = answer_faults(FORM, item, ItemAnswers(SAID, spans=(SPAN,) * (MOST_SPANS + 1)))
    assert one.why.startswith("too_many_spans")
