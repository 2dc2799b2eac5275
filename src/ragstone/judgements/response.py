"""Response: what kind of reply is this?"""

from .column import Column
from .kind import Ask, Kind
from .views import Answers


class Response(Kind):
    """One row per answer."""

    name = "response"
    shows = ("question", "sentences")
    asked_with = "claims"
    asks = (Ask(over=Answers, requires=("answer",), by=("local", "people", "model"),
                says="response type"),)  # fmt: skip

    response_type = Column(
        None, "what kind of reply it is", role="verdict",
        values={
            "answer": "it answers, rightly or wrongly; a hedge that names something is an answer.",
            "partial": "it answers one part and says that it cannot answer another.",
            "abstain": "it only says that it does not know, or that the sources do not tell.",
            "refuse": "it declines to help.", "clarify": "it asks back.",
        },
        positive=("abstain",), tones={}, label="response_type",
    )  # fmt: skip


RESPONSE_TYPES = tuple(map(str, Response.columns["response_type"].values))
