"""Judgements made by hand, as views are joined from them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from ragstone.data import Context, Example, to_frame
from ragstone.judgements import Tables, kind_of

Judged = Callable[..., Tables]


@pytest.fixture(scope="session")
def judged() -> Judged:
    """Tables of examples: for each ask its rows, each a mapping; what is not said is null."""

    def tables(
        examples: Sequence[Example], said: Mapping[str, Sequence[Mapping[str, Any]]]
    ) -> Tables:
        return Tables(to_frame(examples), {ask: _frame(ask, rows) for ask, rows in said.items()})

    return tables


def _frame(ask: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    kind = kind_of(ask)
    schema = {**kind.schema(), "row": pl.UInt32}
    return pl.DataFrame(
        {name: [row.get(name, 0 if name == "row" else None) for row in rows] for name in schema},
        schema=schema,
    )


@pytest.fixture(scope="session")
def retrieved() -> Callable[..., Example]:
    """An example that retrieved contexts of these ids, in order."""

    def example(*ids: str, **more: Any) -> Example:
        contexts = tuple(
            Context(id=one, text=f"text of {one}", rank=rank, score=None)
            for rank, one in enumerate(ids, 1)
        )
        given = {"id": "1", "question_id": "q", "system": "a", "question": "What?", "answer": "A."}
        return Example(**{**given, "contexts": contexts, **more})

    return example
