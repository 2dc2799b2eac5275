"""Stream: puts the questions about an example as soon as what they are about is known.

No stage waits for other examples. What is put ahead like this is then found by the judge when the
block is filled; what could not be foreseen it asks itself.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from ragstone.examples import Example
from ragstone.judgements import ASKS
from ragstone.judges.judge import Judge, Proposition
from ragstone.judges.llm.judge import LLMJudge
from ragstone.judges.llm.rounds import ORIGINS

from .stages import Stage

AT_HAND = frozenset({"human", "ids"})
"""Judges whose words are in the data, so that what they leave open is known beforehand."""


def foreseen(judge: LLMJudge, judges: Sequence[Judge], asks: Collection[str]) -> list[str]:
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


async def stream(
    judge: LLMJudge, example: Example, asks: Collection[str], stages: Sequence[Stage], turn: int
) -> None:
    """Put all that is asked about an example, each stage behind those that it waits for.

    Args:
        judge: Who is asked.
        example: What about.
        asks: Those that are open for this example.
        stages: Of the plan.
        turn: The place of the example in the data.
    """
    begun: list[asyncio.Task[None]] = []
    for stage in stages:
        waits = [begun[place] for place in stage.after]
        begun.append(asyncio.create_task(_put(judge, example, asks, stage, waits, turn)))
    await asyncio.gather(*begun)


async def _put(
    judge: LLMJudge,
    example: Example,
    asks: Collection[str],
    stage: Stage,
    waits: Sequence["asyncio.Task[None]"],
    turn: int,
) -> None:
    for earlier in waits:
        await earlier
    tasks = [task for task in stage.tasks if set(task.asks) & set(asks)]
    if not example.contexts:
        tasks = [task for task in tasks if task.name not in ("relevance", "support")]
    if tasks:
        await judge.put(tasks, judge.matter(example, _about(judge, example, asks, stage)), turn)


def _about(
    judge: LLMJudge, example: Example, asks: Collection[str], stage: Stage
) -> Mapping[str, Sequence[Proposition]]:
    made = {"claim": judge.tasks["claims"], "statement": judge.tasks["statements"]}
    about: dict[str, Sequence[Proposition]] = {}
    for ask in (ask for task in stage.tasks for ask in task.asks if ask in ORIGINS):
        origin = ORIGINS[ask]
        if ask not in asks:
            continue
        if origin == "evidence":
            about[origin] = [
                Proposition("data", 0, index, text) for index, text in enumerate(example.evidence)
            ]
        else:
            about[origin] = judge.propositions(made[origin], example)
    return about
