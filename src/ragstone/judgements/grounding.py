"""Grounding: an answer judged as a whole against its contexts."""

import polars as pl

from ragstone.data.record_labels import RULES

from .column import Column
from .kind import Ask, Kind
from .views import Answers


class Grounding(Kind):
    """One row per answer."""

    name = "grounding"
    shows = ("question", "answer", "contexts")
    derived = True
    rules = (RULES["contradiction_requires_unsupported"], RULES["fabricated_requires_cited"])
    asks = (Ask("support", Answers, ("answer",), ("support/claim",), ("local", "people", "model"),
                columns=("support_present", "unsupported_claim_present",
                         "contradicted_claim_present")),
            Ask("citation", Answers, ("answer",), ("citations",), ("local", "people", "model"),
                columns=("source_cited", "fabricated_source")))  # fmt: skip

    support_present = Column(
        pl.Boolean, "some claim is supported", role="verdict", label="support_present",
        phrase={True: "a claim supported", False: "no claim supported"},
    )  # fmt: skip
    unsupported_claim_present = Column(
        pl.Boolean, "some claim is absent or contradicted", role="verdict",
        label="unsupported_claim_present",
        phrase={True: "a claim unsupported", False: "no claim unsupported"},
    )  # fmt: skip
    contradicted_claim_present = Column(
        pl.Boolean, "some claim is contradicted", role="verdict",
        label="contradicted_claim_present",
        phrase={True: "a claim contradicted", False: "no claim contradicted"},
    )  # fmt: skip
    source_cited = Column(pl.Boolean, "it names a source", role="verdict", label="source_cited",
                          phrase={True: "a source cited", False: "no source cited"})  # fmt: skip
    fabricated_source = Column(
        pl.Boolean, "it names a source that was not retrieved", role="verdict",
        label="fabricated_source",
        phrase={True: "a source fabricated", False: "no source fabricated"},
    )  # fmt: skip
