"""What was retrieved is assessed before anybody answers by it."""

from ragstone.guard import Checks
from ragstone.guard.integrations import assess_retrieval


def test_what_fails_is_told_with_its_code() -> None:
    found = assess_retrieval("Q?", ["C"], retrieval_scores=[0.1, 0.3], run_id="r")
    assert (found.ok, found.decision, found.run_id) == (False, "ask", "r")
    assert [one.code for one in found.issues] == ["low_retrieval_score"]
    assert found["retrieval_scores"].value == 0.2
    assert [one.code for one in assess_retrieval("Q?", []).issues] == ["no_context"]


def test_scores_of_the_contexts_are_looked_at() -> None:
    contexts = [{"text": "C", "score": 0.9}, {"text": "D", "score": 0.7}]
    found = assess_retrieval("Q?", contexts)
    assert (found.ok, found.decision) == (True, "pass")
    assert found["retrieval_scores"].value == 0.8


def test_what_is_switched_off_is_not_among_the_checks() -> None:
    found = assess_retrieval("Q?", ["C"], checks=Checks(least_retrieval_score=None))
    assert [one.check for one in found.checks] == ["contexts"]
