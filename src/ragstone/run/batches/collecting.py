"""Collecting: goes over the data and notes the questions that can be asked now.

A question that depends on others' answers is not asked before these are here. So the questions of
one stage are noted over all the data.
"""

from collections.abc import Callable, Iterable, Sequence

from ragstone.judgements import ASKS, Tables
from ragstone.judges import Judge
from ragstone.judges.judge import Block, Filled
from ragstone.plan import foreseen
from ragstone.run.blocks import DataShard
from ragstone.run.chat_judge import ChatJudge
from ragstone.run.judging import judge_further
from ragstone.run.prefetch import Prefetch, Worker


def collect(
    shards: Iterable[DataShard],
    judges: Sequence[Judge],
    asks: Sequence[str],
    asking: Worker,
    tick: Callable[[int], None],
) -> None:
    """Put all questions that can be put, once.

    Args:
        shards: Those that are not done.
        judges: In the order they are asked; the chat models with an asker.
        asks: Of the run.
        asking: Runs what asks.
        tick: Called with how many examples were gone over.
    """
    prefetch = Prefetch(judges, asks, asking)
    mine = [] if _all_foreseen(judges, asks) else _up_to_models(judges, asks)
    for block in prefetch.blocks(shards, lambda _: None, lambda _, count: tick(count)):
        if mine:
            held = _Held(block.judges)
            judge_further(block.examples, Tables(block.frame), held.judges, mine)
        tick(prefetch.examples)


def _all_foreseen(judges: Sequence[Judge], asks: Sequence[str]) -> bool:
    """Whether all that may be asked of models is asked before anything is judged."""
    return all(
        set(foreseen(judge, judges, asks)) == judge.asks & set(asks)
        for judge in judges
        if isinstance(judge, ChatJudge)
    )


def _up_to_models(judges: Sequence[Judge], asks: Sequence[str]) -> list[str]:
    """The asks that models may be asked, and those that they depend on."""
    wanted = {ask for one in judges if isinstance(one, ChatJudge) for ask in one.asks}
    wanted = wanted.union(*(_before(ask) for ask in wanted))
    return [ask for ask in asks if ask in wanted]


def _before(ask: str) -> set[str]:
    """The asks that an ask comes after, whatever the number of steps."""
    found: set[str] = set()
    left = list(ASKS[ask].after)
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += ASKS[one].after
    return found


class _Held:
    """Judges of a block that are not asked what depends on a reply that is not here yet."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self._later: dict[str, set[int]] = {}
        self.judges = [_HeldJudge(judge, self) for judge in judges]

    def open(self, ask: str, rows: Sequence[int]) -> list[int]:
        """Those of the rows of which all is known that the ask needs."""
        later = set[int]().union(*(self._later.get(one, ()) for one in (ask, *_before(ask))))
        return [row for row in rows if row not in later]

    def add(self, ask: str, rows: set[int]) -> None:
        """Of these rows the ask is put later."""
        self._later[ask] = self._later.get(ask, set()) | rows


class _HeldJudge:
    def __init__(self, judge: Judge, held: _Held) -> None:
        self._judge, self._held = judge, held
        self.name, self.about, self.asks = judge.name, judge.about, judge.asks

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        rows = self._held.open(ask, rows)
        filled = self._judge.fill(ask, block, rows)
        if isinstance(self._judge, ChatJudge):
            later = {row for row in rows if self._judge.asks_later(ask, block.examples[row])}
            self._held.add(ask, later)
        return filled
