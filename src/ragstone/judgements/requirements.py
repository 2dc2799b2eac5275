"""Requirements: what an example must have to be judged at all."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Requirement:
    """What an example must have; without it, what rests on it is undefined."""

    reason: str
    holds: pl.Expr
    """Over the table of examples."""


REQUIREMENTS = {
    "question": Requirement("no_question", pl.col("question").is_not_null()),
    "contexts": Requirement("no_retrieval", pl.col("contexts").is_not_null()),
    "grounds": Requirement(
        "no_retrieval", pl.col("contexts").is_not_null() | (pl.col("history").list.len() > 0)
    ),
    "answer": Requirement("no_answer", pl.col("answer").is_not_null()),
    "answer_text": Requirement(
        "empty_answer", pl.col("answer").str.strip_chars().str.len_bytes().fill_null(1) > 0
    ),
    "reference": Requirement("no_reference", pl.col("reference").list.len() > 0),
    "evidence": Requirement("no_evidence", pl.col("evidence").list.len() > 0),
    "known_contexts": Requirement(
        "no_reference_contexts", pl.col("reference_contexts").is_not_null()
    ),
}
