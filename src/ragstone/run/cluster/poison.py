"""Poison: an example that ends the process which judges it, found by halves.

A worker may also die for reasons of its own, such as a machine that is taken away. So a shard is
tried again before it is suspected, and only what ends a worker twice by itself is set aside.
"""

from dataclasses import dataclass, field, replace

from ragstone.core.errors import CannotGoOn
from ragstone.core.messages import argument

from .task import PLACES, ShardTask

DEATHS = 2
"""So many deaths of workers over the same examples are no chance."""
NAMED = 3
"""So many examples a message names."""
ROUNDS = 3
"""So often a shard is searched for examples that end a worker."""


class PoisonedData(CannotGoOn):
    """Examples end the workers that judge them, more than the run may set aside."""


@dataclass(slots=True)
class Suspect:
    """A shard in which examples that end a worker are looked for.

    Args:
        task: The shard as a whole.
        aside: The places of those that were found, each with the reason.
        trying: The parts that are being tried.
        rounds: How often the shard was searched.
    """

    task: ShardTask
    aside: dict[int, str] = field(default_factory=dict)
    trying: set[PLACES] = field(default_factory=set)
    rounds: int = 0


@dataclass(slots=True)
class Suspects:
    """What is known of deaths of workers.

    Args:
        most: How many examples may be set aside; one more ends the run.
    """

    most: int
    _deaths: dict[tuple[int, PLACES | None], int] = field(default_factory=dict)
    _shards: dict[int, Suspect] = field(default_factory=dict)

    def died(self, task: ShardTask, why: str) -> list[ShardTask]:
        """What to try next, after a worker died while it was judging.

        Args:
            task: What it was judging.
            why: The reason to give, should an example be the cause.

        Raises:
            PoisonedData: Too many examples were set aside, or no single one is the cause.
        """
        key, (start, end) = (task.shard, task.part), task.places
        self._deaths[key] = self._deaths.get(key, 0) + 1
        # A part that is cut once too often costs little; a shard or an example must not be wronged.
        by_chance = task.part is None or end - start == 1
        if by_chance and self._deaths[key] < DEATHS:
            return [task]
        del self._deaths[key]
        if task.part is None:
            return self._search(task)
        suspect = self._shards[task.shard]
        suspect.trying.discard(task.part)
        if end - start == 1:
            suspect.aside[start] = why
            self._count()
            return self._next(suspect)
        return self._halves(suspect, start, end)

    def tried(self, task: ShardTask) -> list[ShardTask]:
        """What to try next, after a part did its worker no harm."""
        if task.part is None:
            return []
        self._deaths.pop((task.shard, task.part), None)
        suspect = self._shards[task.shard]
        suspect.trying.discard(task.part)
        return self._next(suspect)

    def _search(self, task: ShardTask) -> list[ShardTask]:
        suspect = self._shards.setdefault(task.shard, Suspect(task))
        suspect.task, suspect.rounds = task, suspect.rounds + 1
        if suspect.rounds > ROUNDS:
            raise PoisonedData(
                f"Shard {task.shard} ended its worker {ROUNDS * DEATHS} times, though none of its "
                "examples does so alone: the workers may have too little memory."
            )
        # What holds no example is only tried again.
        return self._halves(suspect, *task.places) or [task]

    def _halves(self, suspect: Suspect, start: int, end: int) -> list[ShardTask]:
        middle = (start + end + 1) // 2
        parts = [part for part in ((start, middle), (middle, end)) if part[0] < part[1]]
        suspect.trying.update(parts)
        return [replace(suspect.task, part=part) for part in parts]

    def _next(self, suspect: Suspect) -> list[ShardTask]:
        """The whole shard again, once all parts were tried."""
        if suspect.trying:
            return []
        return [replace(suspect.task, aside=dict(suspect.aside))]

    def _count(self) -> None:
        found = [one.task.named(at) for one in self._shards.values() for at in sorted(one.aside)]
        if len(found) > self.most:
            named = ", ".join(found[:NAMED]) + (", …" if len(found) > NAMED else "")
            raise PoisonedData(
                f"{_so_many(len(found))} ({named}), more than "
                f"{argument('max_poison', self.most)} allows. What is judged is kept. Look at a "
                "judge or metric of your own, or at the memory of the workers, and run the same "
                "command again."
            )


def _so_many(examples: int) -> str:
    if examples == 1:
        return "1 example ends the workers that judge it"
    return f"{examples} examples end the workers that judge them"
