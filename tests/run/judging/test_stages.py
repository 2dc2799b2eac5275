"""Stages: what is asked together, and what waits for what."""

import pytest

from ragstone.judges.llm.llm_judge import ISOLATED, LEAN, Plan, all_tasks
from ragstone.run.judging.chat_judge import stages

ASKS = (
    "response",
    "claims",
    "statements",
    "relevance",
    "support/claim",
    "support/statement",
    "agreement/claim",
    "agreement/statement",
    "quality",
    "critique",
)


def order(asks: tuple[str, ...], plan: Plan) -> list[tuple[tuple[str, ...], set[int]]]:
    return [
        (tuple(task.name for task in stage.tasks), set(stage.after))
        for stage in stages(asks, plan, all_tasks())
    ]


def test_support_waits_for_what_it_is_about_and_for_the_contexts_of_its_sibling() -> None:
    found = order(ASKS, ISOLATED)
    places = {tasks: place for place, (tasks, _) in enumerate(found)}
    waits = dict(found)
    assert len(found) == 7
    before_support = {places["claims",], places["statements",], places["relevance",]}
    assert waits["support",] == before_support
    assert waits["agreement",] == {places["claims",], places["statements",]}
    assert waits["claims",] == waits["quality",] == waits["relevance",] == set()


def test_the_lean_plan_asks_about_contexts_once_claims_are_known() -> None:
    found = dict(order(ASKS, LEAN))
    assert ("claims", "quality", "critique") in found
    assert len(found["relevance", "support"]) == 2
    assert len(found) == 4


def test_only_what_is_asked_for_is_put() -> None:
    assert order(("relevance",), ISOLATED) == [(("relevance",), set())]
    assert order(("quality", "support/claim", "claims"), LEAN) == [
        (("claims", "quality"), set()),
        (("support",), {0}),
    ]


def test_nothing_waits_for_what_is_not_asked() -> None:
    assert order(("support/evidence",), ISOLATED) == [(("support",), set())]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (ISOLATED, [(("statements",), set()), (("claims",), set()), (("support",), {0, 1})]),
        (
            Plan("odd", (("support", "statements"),)),
            [(("claims",), set()), (("support", "statements"), {0})],
        ),
    ],
)
def test_a_task_that_is_listed_before_what_it_is_about_is_asked_after_it(
    plan: Plan, expected: list[tuple[tuple[str, ...], set[int]]]
) -> None:
    tasks = {name: all_tasks()[name] for name in ("support", "statements", "claims")}
    found = stages(("claims", "statements", "support/claim", "support/statement"), plan, tasks)
    assert [(tuple(task.name for task in one.tasks), set(one.after)) for one in found] == expected
