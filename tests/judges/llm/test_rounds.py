"""Plans: which tasks share a question."""

from collections.abc import Sequence

import pytest

from ragstone.core.errors import UnknownName
from ragstone.judges.llm.llm_judge import ISOLATED, LEAN, merged, plan_named
from ragstone.judges.llm.questions import Item, Piece

TASKS = ("claims", "statements", "relevance", "support", "agreement", "quality", "critique")


class Said(Item):
    """An item."""

    reason: str


def piece(task: str, *ids: str, contexts: str | None = None, vote: int = 0) -> Piece:
    return Piece(task, task, (), dict.fromkeys(ids, Said), contexts, vote=vote)


def names(questions: Sequence[Sequence[Piece]]) -> list[list[str]]:
    return [[one.task for one in question] for question in questions]


def test_in_the_isolated_plan_each_task_stands_by_itself() -> None:
    assert ISOLATED.rounds(TASKS) == [(name,) for name in TASKS]


def test_the_lean_plan_merges_two_groups() -> None:
    assert LEAN.rounds(TASKS) == [
        ("claims", "quality", "critique"),
        ("statements",),
        ("relevance", "support"),
        ("agreement",),
    ]
    assert LEAN.rounds(["support", "quality"]) == [("support",), ("quality",)]


def test_an_unknown_plan_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="isolated, lean"):
        plan_named("fast")


def test_pieces_of_several_tasks_join_where_they_show_the_same() -> None:
    questions = merged(
        [
            [piece("relevance", "c01", contexts="A"), piece("relevance", "c02", contexts="B")],
            [piece("support", "p01", contexts="A"), piece("support", "p01", contexts="B")],
        ]
    )
    assert names(questions) == [["relevance", "support"], ["relevance", "support"]]
    assert [question[1].contexts for question in questions] == ["A", "B"]


def test_pieces_join_what_shows_their_contexts_whatever_the_order() -> None:
    questions = merged(
        [
            [piece("relevance", "c01", contexts="A"), piece("relevance", "c02", contexts="B")],
            [
                piece("support", "p01", contexts="B"),
                piece("support", "p02", contexts="C"),
                piece("support", "p03"),
                piece("support", "p04", contexts="A"),
            ],
        ]
    )
    assert [[id_ for one in question for id_ in one.items] for question in questions] == [
        ["c01", "p04"],
        ["c02", "p01"],
        ["p02"],
        ["p03"],
    ]


def test_a_second_chunk_of_propositions_is_asked_by_itself() -> None:
    questions = merged(
        [
            [piece("relevance", "c01", contexts="A")],
            [piece("support", "p01", contexts="A"), piece("support", "p21", contexts="A")],
        ]
    )
    assert names(questions) == [["relevance", "support"], ["support"]]


def test_chunks_of_propositions_are_asked_apart_where_nothing_else_shows_their_contexts() -> None:
    questions = merged(
        [
            [piece("relevance", "c01", contexts="A")],
            [piece("support", "p01", contexts="B"), piece("support", "p21", contexts="B")],
        ]
    )
    assert names(questions) == [["relevance"], ["support"], ["support"]]


def test_every_critique_of_one_vote_joins_and_one_of_three_votes_does_not() -> None:
    three = [piece("critique", "critique_b", vote=number) for number in range(3)]
    questions = merged(
        [[piece("claims", "claims")], [piece("quality", "quality")],
         [piece("critique", "critique_a"), *three, piece("critique", "critique_c")]]
    )  # fmt: skip
    assert names(questions) == [
        ["claims", "quality", "critique", "critique"],
        ["critique"],
        ["critique"],
        ["critique"],
    ]


def test_critiques_alone_are_not_merged() -> None:
    pieces = [piece("critique", "critique_a"), piece("critique", "critique_b")]
    assert names(merged([pieces])) == [["critique"], ["critique"]]
