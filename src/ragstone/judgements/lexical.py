"""Lexical: how much do the answer's words overlap with a reference's?

Facts of counting, the same for every judge.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import References


class Lexical(Kind):
    """One row per answer and reference."""

    name = "lexical"
    asks = (Ask(over=References, requires=("answer", "reference"), by=("counting",)),)

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    exact_match = Column(pl.Float64, "1 if equal after SQuAD normalisation, else 0", role="number")
    token_f1 = Column(
        pl.Float64, "F1 over the tokens, counted as often as they occur", role="number"
    )
    token_f1_set = Column(pl.Float64, "F1 over the distinct tokens", role="number")
    rouge_2 = Column(pl.Float64, "F1 over the token bigrams", role="number")
    rouge_l = Column(pl.Float64, "F1 of the longest common subsequence of tokens", role="number")
