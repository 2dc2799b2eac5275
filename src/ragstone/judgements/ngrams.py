"""Ngrams: how many runs of words and of letters do an answer and a reference share?

Facts of counting, the same for every judge.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import References


class Ngrams(Kind):
    """One row per answer and reference."""

    name = "ngrams"
    asks = (Ask(over=References, requires=("answer", "reference"), by=("counting",)),)

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    bleu = Column(pl.Float64, "BLEU over runs of up to four words", role="number")
    chrf = Column(pl.Float64, "chrF over runs of up to six letters", role="number")
