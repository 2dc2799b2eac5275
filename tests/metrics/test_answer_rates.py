"""Rates over answers: one label, one value."""

import pytest

from ragstone.judgements import Answers
from ragstone.metrics import Missing, Score, Undefined, parse_metric
from ragstone.testing import rows, score_one

LABELS = {
    "grounding_presence": "support_present",
    "unsupported_claim": "unsupported_claim_present",
    "contradiction": "contradicted_claim_present",
    "citation_presence": "source_cited",
    "proper_action": "proper_action",
    "on_topic": "response_on_topic",
    "helpfulness": "helpful",
    "incompleteness": "incomplete",
    "unsafe_content": "unsafe_content",
}
LOWER_IS_BETTER = (
    "unsupported_claim", "contradiction", "citation_fabrication", "incompleteness",
    "unsafe_content",
)  # fmt: skip


def scored(name: str, **labels: object) -> Score:
    return score_one(parse_metric(name), rows(Answers, **{k: [v] for k, v in labels.items()}))


@pytest.mark.parametrize(("name", "label"), LABELS.items())
def test_a_rate_is_its_label(name: str, label: str) -> None:
    assert scored(name, **{label: True}) == 1
    assert scored(name, **{label: False}) == 0
    assert scored(name, **{label: None}) == Missing("no_labels")


@pytest.mark.parametrize("name", [*LABELS, "citation_fabrication"])
def test_a_rate_knows_which_end_is_better(name: str) -> None:
    assert parse_metric(name).range.better == ("-" if name in LOWER_IS_BETTER else "+")


@pytest.mark.parametrize(
    ("cited", "fabricated", "expected"),
    [
        (True, True, 1),
        (True, False, 0),
        (False, False, Undefined("no_answer_cites_a_source")),
        (False, True, Undefined("no_answer_cites_a_source")),
        (False, None, Undefined("no_answer_cites_a_source")),
        (True, None, Missing("no_labels")),
        (None, True, Missing("no_labels")),
        (None, None, Missing("no_labels")),
    ],
)
def test_only_answers_that_cite_can_fabricate(
    cited: bool | None, fabricated: bool | None, expected: Score
) -> None:
    score = scored("citation_fabrication", source_cited=cited, fabricated_source=fabricated)
    assert score == expected


@pytest.mark.parametrize("kind", ["answer", "partial", "abstain", "refuse", "clarify"])
def test_only_an_abstention_abstains(kind: str) -> None:
    assert scored("abstention", response_type=kind) == (kind == "abstain")


def test_abstention_by_phrases_looks_at_its_own_list() -> None:
    found = {"phrases_8": False, "phrases_12": True, "response_type": "answer"}
    assert scored('abstention(by="phrases_8")', **found) == 0
    assert scored('abstention(by="phrases_12")', **found) == 1


def test_completeness_is_the_share_of_parts_answered() -> None:
    assert scored("response_completeness", parts=3, parts_answered=2) == pytest.approx(2 / 3)
    assert scored("response_completeness", parts=0, parts_answered=0) == Undefined("no_parts")
    assert scored("response_completeness", parts=3, parts_answered=None) == Missing("no_labels")


def test_rated_relevance_is_the_mean_of_three() -> None:
    given = {"directness": 1.0, "focus": 0.5, "parts": 4, "parts_answered": 1}
    assert scored("answer_relevance_rated", **given) == pytest.approx((1 + 0.5 + 0.25) / 3)
    assert scored("answer_relevance_rated", **given | {"focus": None}) == Missing("no_labels")
