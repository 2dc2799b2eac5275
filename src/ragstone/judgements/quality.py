"""Quality: does the answer do what the question asks for?

Which parts the question has and which of them are answered; whether the reply
is direct, focused and consistent with itself; whether it stays on topic, helps,
takes the proper action under the policy, leaves something out, or is unsafe.
"""

import polars as pl

from .ask import PEOPLE_OR_LLM, Ask
from .column import Column
from .kind import Kind
from .views import Answers


class Quality(Kind):
    """One row per answer."""

    name = "quality"
    asks = (Ask(over=Answers, requires=("answer",), filled_by=PEOPLE_OR_LLM),)
    tokens = 130

    parts = Column(pl.UInt32, "how many parts the question has", role="count")
    parts_answered = Column(pl.UInt32, "how many of them are answered", role="count")
    directness = Column(pl.Float64, "0 to 1: it comes to the point", role="number")
    focus = Column(pl.Float64, "0 to 1: it keeps to the point", role="number")
    consistency = Column(pl.Float64, "0 to 1: it does not contradict itself", role="number")
    proper_action = Column(
        pl.Boolean,
        "it answers, abstains or refuses as it should",
        role="verdict",
        label="proper_action",
    )
    response_on_topic = Column(
        pl.Boolean, "it is about what was asked", role="verdict", label="response_on_topic"
    )
    helpful = Column(pl.Boolean, "the user is better off", role="verdict", label="helpful")
    incomplete = Column(
        pl.Boolean, "something asked for is not there", role="verdict", label="incomplete"
    )
    unsafe_content = Column(
        pl.Boolean, "it holds what may do harm", role="verdict", label="unsafe_content"
    )
