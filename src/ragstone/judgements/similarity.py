"""Similarity: how close are two texts in a model's eyes?

Cosines of embeddings, the greedy token matching of BERTScore, and the score of a
cross-encoder. They need a model. An empty text resembles nothing: 0.
"""

import polars as pl

from .kind import Column, Kind

COSINES = (
    "question_context",
    "question_context_windows",
    "reference_context",
    "reference_context_windows",
    "sentence_context",
    "sentence_context_windows",
    "answer_reference",
    "question_answer",
    "question_probe",
)
"""Of embeddings. ``windows``: a context that is longer than the model reads is read in windows,
of which the best counts."""

BERTSCORES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")

MEASURES = (*COSINES, *BERTSCORES, "answer_reference_cross_encoder")


class Similarity(Kind):
    """One row per measure and unit."""

    name = "similarity"

    measure = Column(pl.Enum(MEASURES), "what is compared, and how", role="unit")
    index = Column(pl.UInt32, "the rank of a context, else the position from 0", role="unit")
    value = Column(pl.Float64, "a cosine from -1 to 1, else 0 to 1", role="number")
    cut = Column(pl.Boolean, "a text was longer than the model reads; null where it does not say")
