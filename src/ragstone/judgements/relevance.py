"""Relevance: does a context help to answer the question?

Judged from the question and the context alone, never from an answer. Grade 0:
it does not help. 1: it is about the topic. 2: it holds part of an answer. 3: it
is *sufficient*: the question can be answered from it. *Misleading*: whoever
trusts it will answer wrongly. *Relevant* is grade 1 or more.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import Contexts


class Relevance(Kind):
    """One row per retrieved context."""

    name = "relevance"
    asks = (Ask(over=Contexts, requires=("contexts",)),)
    tokens = 50

    rank = Column(pl.UInt32, "its rank in the list that was judged", role="unit")
    grade = Column(
        pl.Int32,
        "0 to 3; any whole number where known from graded ids",
        role="grade",
        label="grade",
    )
    probability = Column(
        pl.Float64,
        "that it is relevant, finer than the grade; null from a judge that only grades",
        role="number",
        of="relevant",
    )
    relevant = Column(pl.Boolean, "grade 1 or more", role="verdict", label="topically_relevant")
    sufficient = Column(pl.Boolean, "grade 3", role="verdict", label="evidence_sufficient")
    misleading = Column(
        pl.Boolean, "it leads to a wrong answer", role="verdict", label="misleading"
    )
    sentences = Column(pl.UInt32, "how many sentences it has")
    relevant_sentences = Column(pl.List(pl.UInt32), "which of them help, from 0", role="evidence")
