"""Stages: the rounds of a plan, each after the rounds whose results it needs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ragstone.judgements import Relevance, Support
from ragstone.judges.llm.llm_judge import Plan
from ragstone.judges.llm.task import Task

SHARES_CONTEXTS = {Support.name: (Relevance.name,)}
"""A task waits for these, which ask about the same contexts, to profit from prefix caching."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks that are asked together.

    Args:
        tasks: The tasks.
        after: Indices of the stages whose replies it waits for.
        about: Of these, the ones that make what it is about.
    """

    tasks: tuple[Task, ...]
    after: frozenset[int]
    about: frozenset[int] = frozenset()


def stages(asks: Collection[str], plan: Plan, tasks: Mapping[str, Task]) -> list[Stage]:
    """The stages that these asks need, each after the stages it waits for."""
    names = [name for name, task in tasks.items() if set(task.asks) & set(asks)]
    left = plan.rounds(names)
    done: dict[str, int] = {}
    found: list[Stage] = []
    while left:
        round_ = next(one for one in left if _ready(one, left, tasks))
        left.remove(round_)
        mine = tuple(tasks[name] for name in round_)
        waits = {
            name for task in mine for name in (*task.after, *SHARES_CONTEXTS.get(task.name, ()))
        }
        after = frozenset(done[name] for name in waits if name in done)
        made = {name for task in mine for name in task.after}
        about = frozenset(done[name] for name in made if name in done)
        done |= dict.fromkeys(round_, len(found))
        found.append(Stage(mine, after, about))
    return found


def _ready(
    round_: tuple[str, ...], left: Collection[tuple[str, ...]], tasks: Mapping[str, Task]
) -> bool:
    waiting = {name for other in left if other != round_ for name in other}
    return waiting.isdisjoint(name for task in round_ for name in tasks[task].after)
