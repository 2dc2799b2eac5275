"""Sentences: what are the sentences of the answer?

Split by rule, the same for every judge.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind


class AnswerSentence(Kind):
    """One row per sentence of an answer."""

    name = "answer_sentences"
    asks = (Ask(requires=("answer", "answer_text"), by=("counting",)),)

    index = Column(pl.UInt32, "position in the answer, from 0", role="unit", phrase="")
    text = Column(pl.String, "the sentence", role="words")
