"""Relevance: does a context help to answer the question?

Judged from the question and the context alone, never from an answer. Grade 0:
it does not help. 1: it is about the topic. 2: it holds part of an answer. 3: it
is *sufficient*: the question can be answered from it. *Misleading*: whoever
trusts it will answer wrongly. *Relevant* is grade 1 or more.
"""

import polars as pl

from .kind import Column, Kind


class Relevance(Kind):
    """One row per retrieved context."""

    name = "relevance"
    key = ("rank",)

    rank = Column(pl.UInt32, "its rank in the list that was judged")
    grade = Column(pl.Int32, "0 to 3; any whole number where known from graded ids")
    probability = Column(
        pl.Float64, "that it is relevant, finer than the grade; null from a judge that only grades"
    )
    relevant = Column(pl.Boolean, "grade 1 or more")
    sufficient = Column(pl.Boolean, "grade 3")
    misleading = Column(pl.Boolean, "it leads to a wrong answer")
    sentences = Column(pl.UInt32, "how many sentences it has")
    relevant_sentences = Column(pl.List(pl.UInt32), "which of them help, from 0")
