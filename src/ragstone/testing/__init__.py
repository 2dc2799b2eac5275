"""Builders for tests, yours too: rows and their scores, encoders by script, tiny models."""

from .encoder import ScriptedEncoder
from .models import tiny_bert
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
    "ScriptedEncoder",
    "claims",
    "contexts",
    "known_contexts",
    "rows",
    "score_all",
    "score_frame",
    "score_one",
    "tiny_bert",
]
