"""What a model lists as entities of the references, and how they are looked up."""

from typing import Any

import pytest

from ragstone.data import Context, Example
from ragstone.judges.llm.claim_tasks import EntitiesTask, ReferenceEntities
from ragstone.judges.llm.prompts import load_prompts
from ragstone.judges.llm.questions import Question, ReplyEntry
from ragstone.judges.llm.task import Target, TaskReply

TASK = EntitiesTask()


def target(*references: str, contexts: tuple[str | None, ...] = (), **fields: Any) -> Target:
    given = tuple(Context(str(rank), text, rank) for rank, text in enumerate(contexts, 1))
    return Target(Example("1", "q", "s", reference=references, contexts=given, **fields))


def rows(asked: Target, *listed: list[str]) -> list[tuple[Any, ...]]:
    items = {
        f"r{number:02d}": [ReferenceEntities.model_validate({"listed": texts})]
        for number, texts in enumerate(listed, 1)
    }
    return [tuple(row.values()) for row in TASK.rows("entities/model", asked, TaskReply(items))]


def test_each_entity_is_looked_up_once_in_the_contexts() -> None:
    asked = target("…", contexts=("Brunel opened it on 2 May 1859.", "It is of iron."))
    assert rows(asked, ["Isambard Brunel", "May 1859", "BRUNEL", "Brunel", "…"]) == [
        (0, 0, "Isambard Brunel", False),
        (0, 1, "May 1859", True),
        (0, 2, "BRUNEL", True),
    ]


def test_each_reference_has_a_list_of_its_own_which_may_be_empty() -> None:
    asked = target("…", "Yes.", "…", contexts=("Truro.",))
    assert rows(asked, ["Truro"], [], ["Truro", "Bath"]) == [
        (0, 0, "Truro", True), (2, 0, "Truro", True), (2, 1, "Bath", False),
    ]  # fmt: skip


def test_what_a_context_without_its_text_holds_is_unknown() -> None:
    asked = target("…", contexts=("Truro.", None))
    assert rows(asked, ["Truro", "Bath"]) == [(0, 0, "Truro", True), (0, 1, "Bath", None)]
    assert rows(target("…"), ["Truro"]) == [(0, 0, "Truro", False)]


@pytest.mark.parametrize(("details", "listed"), [([], []), (["Truro"], ["Truro"]), (None, None)])
def test_a_list_has_to_be_there_to_be_empty(details: list[str] | None, listed: object) -> None:
    found = ReferenceEntities.of(ReplyEntry(reason="", verdict="", details=details))
    assert found.get("listed") == listed


def test_systems_share_the_question_and_differ_in_what_is_found() -> None:
    one, other = target("Truro.", contexts=("Truro.",)), target("Truro.", contexts=("Bath.",))
    asked = [Question(tuple(TASK.pieces(each, load_prompts(), 9_000)), "S").request()
             for each in (one, other)]  # fmt: skip
    assert asked[0] == asked[1]
    assert [*TASK.facts(one)] != [*TASK.facts(other)]
    assert TASK.asks == ("entities/model",)
