"""Agreement: do answer and reference say the same, and what does a good answer have to say?"""

import polars as pl

from .column import Column
from .kind import Ask, Filler, Kind
from .views import ClaimsAgainstReferences, Statements

BY: tuple[Filler, ...] = ("local", "people", "model")
OF_CLAIM = {"matches": "the reference says so too.", "contradicts": "it says otherwise.",
            "extra": "it is silent about it, or says only a part of it."}  # fmt: skip
OF_STATEMENT = {
    "full": "the other side says all of it, or it follows from it.",
    "partial": "it says a part, or says it more vaguely, and nothing against it.",
    "missing": "it is silent about it, or says that it does not know, be it true or false.",
    "contradicted": "it says otherwise.",
}
CLAIM_VERDICTS, STATEMENT_VERDICTS = tuple(OF_CLAIM), tuple(OF_STATEMENT)


class Agreement(Kind):
    """One row per claim and reference, and one per statement."""

    name = "agreement"
    shows = ("question", "reference", "answer")
    asks = (Ask("claim", ClaimsAgainstReferences, ("answer", "reference"), ("claims",), BY,
                values=CLAIM_VERDICTS, says="says it"),
            Ask("statement", Statements, ("answer", "reference"), ("statements",), BY,
                values=STATEMENT_VERDICTS, says="answer"))  # fmt: skip
    tokens = 40

    verdict = Column(None, "what the other side says", role="verdict",
                     values=OF_CLAIM | OF_STATEMENT, positive=("matches", "full"),
                     tones={"matches": "good", "full": "good", "partial": "caution",
                            "missing": "caution", "extra": "quiet", "contradicts": "bad",
                            "contradicted": "bad"}, label="agreement",
                     fact="agreement")  # fmt: skip
    probability = Column(
        pl.Float64, "that a statement is there in full; null from a judge that gives only verdicts",
        role="number", of="verdict", fact="agreement_probability", phrase="",
    )  # fmt: skip


class Importance(Kind):
    """One row per statement of a reference."""

    name = "importance"
    shows = ("question",)
    asks = (Ask(over=Statements, requires=("reference",), after=("statements",), says=""),)
    tokens = 30

    importance = Column(None, "whether a good answer has to say it", role="verdict",
                        values={"vital": "without it the question is not answered well.",
                                "okay": "it is worth saying, and a good answer may leave it out."},
                        tones={"vital": "good", "okay": "good"}, label="importance")  # fmt: skip
