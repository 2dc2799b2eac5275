"""Agreement: do the answer and the reference say the same?

A claim of the answer *matches* if the reference says so too, *contradicts* if
it says otherwise, and is *extra* if it is silent. A statement of the reference
is in the answer in *full*, in *part*, *missing*, or *contradicted*. The wording
does not matter, the facts do.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import ClaimsAgainstReferences, Statements

CLAIM_VERDICTS = ("matches", "contradicts", "extra")
STATEMENT_VERDICTS = ("full", "partial", "missing", "contradicted")


class Agreement(Kind):
    """One row per claim and reference, and one per statement."""

    name = "agreement"
    asks = (
        Ask("claim", ClaimsAgainstReferences, ("answer", "reference"), ("claims",)),
        Ask("statement", Statements, ("answer", "reference"), ("statements",)),
    )
    tokens = 40

    origin = Column(
        pl.Enum(["claim", "statement"]), "where the proposition comes from", role="unit"
    )
    author = Column(pl.String, "who made the proposition", role="unit")
    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    index = Column(pl.UInt32, "position among its kind, from 0", role="unit")
    verdict = Column(
        pl.Enum(CLAIM_VERDICTS + STATEMENT_VERDICTS),
        "what the other side says",
        role="verdict",
        label="agreement",
        fact="agreement",
    )
    probability = Column(
        pl.Float64,
        "that a statement is there in full; null from a judge that gives only verdicts",
        role="number",
        of="verdict",
        fact="agreement_probability",
    )
