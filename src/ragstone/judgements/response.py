"""Response: what kind of reply is this?

*answer*: it answers the question, rightly or wrongly. *partial*: it answers a
part and says what it cannot answer. *abstain*: it says that it does not know
or that the contexts do not tell. *refuse*: it declines to help. *clarify*: it
asks back. A hedged answer that still names something is an answer.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import Answers

RESPONSE_TYPES = ("answer", "partial", "abstain", "refuse", "clarify")


class Response(Kind):
    """One row per answer."""

    name = "response"
    asks = (Ask(over=Answers, requires=("answer",)),)

    response_type = Column(
        pl.Enum(RESPONSE_TYPES), "what kind of reply it is", role="verdict", label="response_type"
    )
