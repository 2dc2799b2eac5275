"""Builders for tests, yours too: a few rows of a view, and the score a metric gives them."""

from .rows import (
    Given,
    Rows,
    claims,
    contexts,
    known_contexts,
    rows,
    score_all,
    score_frame,
    score_one,
)

__all__ = [
    "Given",
    "Rows",
    "claims",
    "contexts",
    "known_contexts",
    "rows",
    "score_all",
    "score_frame",
    "score_one",
]
