"""Support: do the retrieved contexts, or earlier turns too, back up a proposition?"""

from types import MappingProxyType

import polars as pl

from .column import Column
from .kind import Ask, Filler, Kind
from .views import Claims, Evidence, Statements

BY: tuple[Filler, ...] = ("local", "people", "model")


UNRETRIEVED = MappingProxyType(
    {"verdict": "absent", "probability": 0.0, "evidence": [], "reason": "nothing_retrieved"}
)


class Support(Kind):
    """One row per proposition: a claim, a reference statement, gold evidence."""

    name = "support"
    shows = ("contexts",)
    asks = (Ask("claim", Claims, ("answer", "answer_text", "contexts"), ("claims",), BY,
                says="contexts"),
            Ask("statement", Statements, ("reference", "contexts"), ("statements",), BY,
                says="contexts"),
            Ask("evidence", Evidence, ("evidence", "contexts"), (), ("local", "model"),
                says="contexts"))  # fmt: skip
    unretrieved = UNRETRIEVED
    tokens = 65

    verdict = Column(
        None, "what the contexts say", role="verdict",
        values={
            "supported": "a careful reader would accept the whole of it from the passages alone.",
            "contradicted": "the passages say otherwise about at least a part of it.",
            "absent": "they do not settle it, however true you know it to be.",
        },
        positive=("supported",),
        tones={"supported": "good", "contradicted": "bad", "absent": "caution"}, label="support",
        fact="support",
    )  # fmt: skip
    probability = Column(pl.Float64,
                         "that a careful reader calls it supported; 1 or 0 if only said",
                         role="number", of="verdict", certain=True)  # fmt: skip
    evidence = Column(
        pl.List(pl.String), "ids of the contexts it rests on", role="evidence", phrase="from {}"
    )
    quote = Column(pl.String, "the words it rests on, found in a context", role="words")
    quote_found = Column(pl.Boolean, "the quote stands in a context; null where not looked for",
                         role="count", phrase={False: "not found in the contexts"})  # fmt: skip
    evidence_unknown = Column(pl.UInt32,
                              "ids a model named that were not shown, and that were dropped",
                              role="count", phrase="")  # fmt: skip


class ConversationSupport(Kind):
    """One row per claim of an answer, which may rest on what was said before."""

    name = "conversation_support"
    shows = ("contexts",)
    asks = (Ask(over=Claims, requires=("answer", "answer_text", "grounds"), after=("claims",),
                by=("local", "people", "model"), beside=("contexts",),
                says="contexts or earlier turns"),)  # fmt: skip
    reads_turns = True
    unretrieved = UNRETRIEVED
    tokens = 65

    verdict = Column(
        None, "what the contexts and the earlier turns say", role="verdict",
        values={
            "supported": "a careful reader would accept the whole of it from the passages and the "
            "earlier turns alone.",
            "contradicted": "they say otherwise about at least a part of it.",
            "absent": "they do not settle it, however true you know it to be.",
        },
        positive=("supported",),
        tones={"supported": "good", "contradicted": "bad", "absent": "caution"},
        label="conversation_support", fact="conversation_support",
    )  # fmt: skip
    probability = Column(
        pl.Float64, "that a careful reader calls it supported; 1 or 0 if only said", role="number",
        of="verdict", certain=True, fact="conversation_probability",
    )  # fmt: skip
    evidence = Column(pl.List(pl.String),
                      "ids of the contexts it rests on, and turns such as turn 2", role="evidence",
                      fact="conversation_evidence", phrase="from {}")  # fmt: skip
    quote = Column(pl.String, "the words it rests on", role="words")
    quote_found = Column(
        pl.Boolean, "the quote stands in a context or a turn; null where not looked for",
        role="count", fact="conversation_quote_found",
        phrase={True: "", False: "not found in the contexts or the earlier turns"},
    )  # fmt: skip
    evidence_unknown = Column(
        pl.UInt32, "ids a model named that were not shown, and that were dropped", role="count",
        fact="conversation_evidence_unknown", phrase="",
    )  # fmt: skip


SUPPORT_VERDICTS = tuple(map(str, Support.columns["verdict"].values))
