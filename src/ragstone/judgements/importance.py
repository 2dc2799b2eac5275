"""Importance: does a good answer have to say it?"""

from .column import Column
from .kind import Ask, Kind
from .views import Statements


class Importance(Kind):
    """One row per statement of a reference."""

    name = "importance"
    shows = ("question",)
    asks = (Ask(over=Statements, requires=("reference",), after=("statements",), says=""),)
    tokens = 30

    importance = Column(
        None,
        "whether a good answer has to say it",
        role="verdict",
        values={
            "vital": "without it the question is not answered well.",
            "okay": "it is worth saying, and a good answer may leave it out.",
        },
        tones={"vital": "good", "okay": "good"},
        label="importance",
    )
