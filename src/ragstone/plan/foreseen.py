"""Foreseen: the asks that are sure to come to a judge, whose questions can be put ahead.

What could not be foreseen the judge asks when its block is filled.
"""

from collections.abc import Collection, Sequence

from ragstone.judgements import ASKS
from ragstone.judges.judge import Judge

AT_HAND = frozenset({"human", "ids"})
"""Judges whose words are in the data, so that what they leave open is known beforehand."""


def foreseen(judge: Judge, judges: Sequence[Judge], asks: Collection[str]) -> list[str]:
    """The asks that will come to this judge, as far as can be said before anybody judges.

    Those that no judge but people stands before, and that are about nothing, or about what this
    judge makes.
    """
    before = judges[: [one.name for one in judges].index(judge.name)]
    mine: list[str] = []
    for ask in (name for name in ASKS if name in asks and name in judge.asks):
        asked_first = all(one.name in AT_HAND for one in before if ask in one.asks)
        if asked_first and all(made in mine or made not in asks for made in ASKS[ask].after):
            mine.append(ask)
    return mine
