"""Support: do the retrieved contexts back up a proposition?

A proposition is *supported* if a careful reader would accept it from the
contexts alone, *contradicted* if they say otherwise, and *absent* if they do
not settle it. What the reader knows from elsewhere does not count.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import Claims, Evidence, Statements

SUPPORT_VERDICTS = ("supported", "contradicted", "absent")
PROPOSITIONS = ("claim", "statement", "evidence")


class Support(Kind):
    """One row per proposition: a claim, a reference statement, gold evidence."""

    name = "support"
    asks = (
        Ask("claim", Claims, ("answer", "answer_text", "contexts"), ("claims",)),
        Ask("statement", Statements, ("reference", "contexts"), ("statements",)),
        Ask("evidence", Evidence, ("evidence", "contexts")),
    )
    tokens = 65

    origin = Column(pl.Enum(PROPOSITIONS), "where the proposition comes from", role="unit")
    author = Column(pl.String, "who made the proposition", role="unit")
    reference = Column(pl.UInt32, "the reference of a statement, else 0", role="unit")
    index = Column(pl.UInt32, "position among its kind, from 0", role="unit")
    verdict = Column(
        pl.Enum(SUPPORT_VERDICTS),
        "what the contexts say",
        role="verdict",
        label="support",
        fact="support",
    )
    probability = Column(
        pl.Float64,
        "that a careful reader calls it supported; 1 or 0 if only said",
        role="number",
        of="verdict",
    )
    evidence = Column(pl.List(pl.String), "ids of the contexts it rests on", role="evidence")
    quote = Column(pl.String, "the words it rests on, found in a context", role="words")
    quote_found = Column(
        pl.Boolean, "the quote stands in a context; null where not looked for", role="count"
    )
    evidence_unknown = Column(
        pl.UInt32, "ids a model named that were not shown, and that were dropped", role="count"
    )
