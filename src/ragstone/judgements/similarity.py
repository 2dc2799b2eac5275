"""Similarity: how close are two texts in a model's eyes?

Cosines of embeddings and the greedy token matching of BERTScore. They need a
local model.
"""

import polars as pl

from .kind import Column, Kind

MEASURES = (
    "question_context",
    "reference_context",
    "sentence_context",
    "answer_reference",
    "answer_reference_cross_encoder",
    "bertscore_precision",
    "bertscore_recall",
    "bertscore_f1",
)


class Similarity(Kind):
    """One row per measure and unit."""

    name = "similarity"
    unit = "pair"

    measure = Column(pl.Enum(MEASURES), "what is compared, and how")
    index = Column(pl.UInt32, "the rank of a context, else the position from 0")
    value = Column(pl.Float64, "a cosine from -1 to 1, else 0 to 1")
