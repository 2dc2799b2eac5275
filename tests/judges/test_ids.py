"""Relevance from known ids."""

from collections.abc import Callable

import pytest

from ragstone.data import Context, Example
from ragstone.judgements import Tables
from ragstone.judges.judge import IdsJudge

Judged = Callable[..., Tables]


def retrieved(
    *ids: str, known: dict[str, int] | None, contexts: tuple[Context, ...] | None = ()
) -> Example:
    found = tuple(Context(id, None, rank) for rank, id in enumerate(ids, 1)) or contexts
    return Example("1", "q", "s", contexts=found, reference_contexts=known)


def test_a_listed_id_has_its_grade_and_another_is_not_relevant(judged: Judged) -> None:
    example = retrieved("a", "b", "x", known={"a": 3, "b": 0, "c": 1})
    rows = judged(["relevance"], [example], (IdsJudge(),)).of("relevance")
    assert rows.select("rank", "grade", "relevant").rows() == [
        (1, 3, True),
        (2, 0, False),
        (3, 0, False),
    ]
    assert rows["sufficient"].null_count() == rows.height


@pytest.mark.parametrize(
    "example", [retrieved("a", known=None), retrieved(known={"a": 1}, contexts=None)]
)
def test_without_ids_or_retrieval_it_leaves_the_example_to_others(
    judged: Judged, example: Example
) -> None:
    tables = judged(["relevance"], [example], (IdsJudge(),))
    assert tables.of("relevance").is_empty()


def test_an_empty_list_is_judged_and_has_no_rows(judged: Judged) -> None:
    tables = judged(["relevance"], [retrieved(known={"a": 1})], (IdsJudge(),))
    assert tables.of("relevance").is_empty()
    assert tables.outcome("relevance").row(0) == (0, None)
