"""Tone: a kind of a user's own, in one file and one guideline."""

from ragstone.judgements import Answers, Ask, Column, Kind


class Tone(Kind):
    """One row per answer."""

    name = "tone"
    asks = (Ask(over=Answers, requires=("answer",)),)
    shows = ("question", "answer")

    tone = Column(
        None,
        "how it speaks",
        role="verdict",
        label="tone",
        phrase="sounds {}",
        values={
            "formal": "full sentences, no slang, nobody is addressed as a friend.",
            "neutral": "neither.",
            "casual": "slang, jokes or exclamations.",
        },
    )
