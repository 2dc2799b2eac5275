"""Helpers for tests, including yours: rows, scores, scripted models and encoders, tiny models."""

from .fake_models import ScriptedEncoder, ScriptedModel, asked, reply_to, tiny_bert
from .hand_rows import (
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
    "ScriptedModel",
    "asked",
    "claims",
    "contexts",
    "known_contexts",
    "reply_to",
    "rows",
    "score_all",
    "score_frame",
    "score_one",
    "tiny_bert",
]
