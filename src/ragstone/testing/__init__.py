"""Builders for tests, yours too: a few rows of a view, and the score a metric gives them."""

from .rows import Rows, claims, contexts, known_contexts, rows, score_all, score_one

__all__ = ["Rows", "claims", "contexts", "known_contexts", "rows", "score_all", "score_one"]
