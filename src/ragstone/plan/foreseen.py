"""Foreseen: the asks that will certainly reach a judge, so that it can start on them early.

All other questions are asked later, when the judge fills its block of examples.
"""

from collections.abc import Collection, Sequence

from ragstone.judgements import ASKS
from ragstone.judges.judge import Judge

AT_HAND = frozenset({"human", "ids"})
"""Judges whose judgements are in the data, so that what they leave open is known in advance."""


def foreseen(judge: Judge, judges: Sequence[Judge], asks: Collection[str]) -> list[str]:
    """The asks of which it is certain, before any judging, that they will reach this judge.

    An ask qualifies if the only judges before this one take their judgements from the data, and if
    everything it comes after is either not needed or asked of this judge as well.
    """
    before = judges[: [one.name for one in judges].index(judge.name)]
    mine: list[str] = []
    for ask in (name for name in ASKS if name in asks and name in judge.asks):
        asked_first = all(one.name in AT_HAND for one in before if ask in one.asks)
        if asked_first and all(made in mine or made not in asks for made in ASKS[ask].after):
            mine.append(ask)
    return mine
