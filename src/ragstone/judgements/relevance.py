"""Relevance: does a context help to answer the question?"""

from types import MappingProxyType

import polars as pl

from ragstone.data.record_labels import RULES

from .column import Column
from .kind import Ask, Kind
from .views import Contexts


class Relevance(Kind):
    """One row per retrieved context."""

    name = "relevance"
    shows = ("question",)
    asks = (Ask(over=Contexts, requires=("contexts",), by=("local", "people", "model"), says=""),)
    rules = (RULES["evidence_requires_relevance"], RULES["evidence_excludes_misleading"])
    unretrieved = MappingProxyType({})
    tokens = 50

    grade = Column(
        pl.Int32, "0 to 3; any whole number where known from graded ids", role="grade",
        values={
            0: "it does not help.", 1: "it is about the topic, but holds no part of an answer.",
            2: "it holds part of an answer, or evidence for one.",
            3: "it is sufficient: the whole question can be answered from it alone.",
        },
        label="grade",
    )  # fmt: skip
    probability = Column(
        pl.Float64, "that it is relevant, finer than the grade; null from a judge that only grades",
        role="number", of="relevant",
    )  # fmt: skip
    relevant = Column(pl.Boolean, "grade 1 or more", role="verdict", label="topically_relevant",
                      at_least=1, phrase={True: "relevant", False: "not relevant"},
                      tones={True: "good", False: "caution"})  # fmt: skip
    sufficient = Column(pl.Boolean, "grade 3", role="verdict", label="evidence_sufficient",
                        at_least=3, phrase={True: "sufficient"}, tones={True: "good"})  # fmt: skip
    misleading = Column(
        pl.Boolean,
        "whoever trusts it will answer wrongly: a wrong or outdated fact, or one about a person, "
        "place or time that is easily mistaken",
        role="verdict", label="misleading", phrase={True: "misleading"}, tones={True: "bad"},
    )  # fmt: skip
    sentences = Column(pl.UInt32, "how many sentences it has", phrase="")
    relevant_sentences = Column(
        pl.List(pl.UInt32), "which of them help, from 0", role="evidence", phrase=""
    )
