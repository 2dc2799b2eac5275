"""Ray engine: hands shards to workers, stores results, isolates examples that end a worker.

A worker may also die for reasons of its own, such as a machine that is taken away. A shard is
therefore tried again before it is suspected. It is then searched by halves, and only an example
that ends a worker twice by itself is set aside.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ragstone.core.errors import CannotGoOn, DiskFull, InputError, StorageAway
from ragstone.core.messages import argument
from ragstone.core.python_runtime import kept_out
from ragstone.data import to_frame
from ragstone.data.examples import IdsOfSystems
from ragstone.data.line_ranges import Lines
from ragstone.data.read_facts import SeenIds
from ragstone.run.folder.schemas import Counted, Manifest, ShardForm
from ragstone.run.judging.evaluation import Evaluation
from ragstone.run.judging.scoring import UnfitFields
from ragstone.run.judging.sharding import CutData, PiecewiseData
from ragstone.run.request import Request
from ragstone.run.run_plan import Prepared
from ragstone.run.settings import USUAL

from .connection import connected, own_files, shared_file
from .model_relay import PLACES as ATTEMPT_PLACES
from .model_relay import Clerk, Relay, stand_ins
from .pool import Died, Made, Pool
from .shard_worker import PLACES, Assignment, ShardTask, Tables

# Deaths of workers over the same examples that are no chance.
DEATHS = 2

NAMED = 3
# Searches of a shard for examples that end a worker.
ROUNDS = 3


@dataclass(slots=True)
class CrashCandidate:
    """A shard in which examples that end a worker are looked for."""

    task: ShardTask
    aside: dict[int, str] = field(default_factory=dict)
    trying: set[PLACES] = field(default_factory=set)
    rounds: int = 0


@dataclass(slots=True)
class CrashCandidates:
    """The deaths of workers so far, and the examples that may have caused them."""

    most: int
    _deaths: dict[tuple[int, PLACES | None], int] = field(default_factory=dict)
    _shards: dict[int, CrashCandidate] = field(default_factory=dict)

    def died(self, task: ShardTask, why: str) -> list[ShardTask]:
        """Return the tasks to try next, after a worker died while it was judging."""
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
        """Return the tasks to try next, after a part did its worker no harm."""
        if task.part is None:
            return []
        self._deaths.pop((task.shard, task.part), None)
        suspect = self._shards[task.shard]
        suspect.trying.discard(task.part)
        return self._next(suspect)

    def _search(self, task: ShardTask) -> list[ShardTask]:
        suspect = self._shards.setdefault(task.shard, CrashCandidate(task))
        suspect.task, suspect.rounds = task, suspect.rounds + 1
        if suspect.rounds > ROUNDS:
            raise CannotGoOn(
                f"Shard {task.shard} ended its worker {ROUNDS * DEATHS} times, though none of its "
                "examples does so alone: the workers may have too little memory."
            )
        # What holds no example is only tried again.
        return self._halves(suspect, *task.places) or [task]

    def _halves(self, suspect: CrashCandidate, start: int, end: int) -> list[ShardTask]:
        middle = (start + end + 1) // 2
        parts = [part for part in ((start, middle), (middle, end)) if part[0] < part[1]]
        suspect.trying.update(parts)
        return [replace(suspect.task, part=part) for part in parts]

    def _next(self, suspect: CrashCandidate) -> list[ShardTask]:
        return [] if suspect.trying else [replace(suspect.task, aside=dict(suspect.aside))]

    def _count(self) -> None:
        names = [
            suspect.task.named(at)
            for suspect in self._shards.values()
            for at in sorted(suspect.aside)
        ]
        if len(names) > self.most:
            listed = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
            so_many = "1 example ends the workers that judge it"
            if len(names) > 1:
                so_many = f"{len(names)} examples end the workers that judge them"
            raise CannotGoOn(
                f"{so_many} ({listed}), more than "
                f"{argument('max_poison', self.most)} allows. What is judged is kept. Look at a "
                "judge or metric of your own, or at the memory of the workers, and run the same "
                "command again."
            )


# Fetches tables; None if they were lost with their node.
Fetch = Callable[[Any], Tables | None]

# Shards whose tables the cluster holds because an earlier shard is still out.
MOST_AHEAD = 100

TICK = 0.2


def judge_on_cluster(
    address: str, request: Request, prepared: Prepared, evaluation: Evaluation, data: CutData,
    fraction: Callable[[int], float | None], held: Manifest | None,
) -> None:  # fmt: skip
    """Judge, score and store all unfinished shards on a Ray cluster.

    Args:
        held: The manifest of a finished run that is made anew, with what was added to it later.
    """
    evaluation.resume()
    try:
        with ExitStack() as closing:
            ray = closing.enter_context(connected(address))
            closing.enter_context(kept_out())
            relay: Any = None
            clerk = None
            if evaluation.asking is not None:
                relay = ray.remote(Relay).options(
                    num_cpus=0, max_restarts=-1, max_task_retries=-1,
                    max_concurrency=ATTEMPT_PLACES,
                ).remote()  # fmt: skip
                by_identity = {model.identity: model for model in prepared.chat.models}
                clerk = Clerk(
                    lambda: ray.get(relay.take.remote()),
                    lambda outcomes: ray.get(relay.answer.remote(outcomes)),
                    evaluation.asking, by_identity,
                )  # fmt: skip
                closing.callback(clerk.close)
            sent = replace(
                request, judge=stand_ins(request.judge, prepared.chat), data=None, out=None,
                limits=USUAL, debug=None, progress=None,
            )  # fmt: skip
            assignment = Assignment(
                own_files(), ray.cloudpickle.dumps(sent), evaluation.spec.settings,
                prepared.examples.apart(), shared_file(prepared.known.files), prepared.answers,
                held,
            )  # fmt: skip
            pool = Pool(ray, assignment, relay)
            closing.callback(pool.close)
            work = _Work(evaluation, data, CrashCandidates(request.max_poison))
            while not work.done:
                pool.fill()
                while pool.free() and (task := work.next()):
                    pool.give(task)
                for event in pool.events(TICK):
                    work.hear(event, pool.fetched)
                if clerk is not None and clerk.fault is not None:
                    raise clerk.fault
                done = evaluation.tally.examples
                evaluation.report("judging", done, fraction(done), len(pool))
            work.finish()
    except (DiskFull, StorageAway):
        raise
    except CannotGoOn as error:
        if evaluation.tally.examples:
            raise
        # Nothing is judged that the same call could go on with.
        raise InputError(error.text) from error


@dataclass(slots=True)
class _Work:
    evaluation: Evaluation
    data: CutData
    suspects: CrashCandidates
    # Tasks that are given out once more, before anything new.
    again: "deque[ShardTask]" = field(default_factory=deque)
    out: set[tuple[int, object]] = field(default_factory=set)
    # Shards whose ids are not looked up yet, for earlier ones are still out.
    came: dict[int, Made] = field(default_factory=dict)
    order: "deque[int]" = field(default_factory=deque)
    seen: SeenIds = field(default_factory=SeenIds)
    looked_up: set[int] = field(default_factory=set)
    ended: bool = False
    _new: Iterator[ShardTask] | None = None

    @property
    def done(self) -> bool:
        return self.ended and not (self.again or self.out or self.order)

    def next(self) -> ShardTask | None:
        if self.again:
            task: ShardTask | None = self.again.popleft()
        elif len(self.came) >= MOST_AHEAD:
            return None
        else:
            self._new = self._new or self._tasks()
            task = None if self.ended else next(self._new, None)
            self.ended = self.ended or task is None
            if task is not None:
                self.order.append(task.shard)
        if task is not None:
            first = not self.evaluation.tally.examples
            task = replace(task, only_read=self._faulty, check=first)
            self.out.add((task.shard, task.part))
        return task

    def hear(self, event: Made | Died, fetch: Fetch) -> None:
        if isinstance(event, Died):
            for task in (*event.judging, *event.waiting):
                self.out.discard((task.shard, task.part))
            self.again.extendleft(event.waiting)
            for task in event.judging:
                self.again.extend(self.suspects.died(task, event.why))
            return
        task = event.task
        self.out.discard((task.shard, task.part))
        if event.brief.unread:
            self.again.appendleft(task)
            return
        if task.part is not None:
            self.again.extend(self.suspects.tried(task))
            return
        self.came[task.shard] = event
        while self.order and self.order[0] in self.came:
            if not self._in_turn(self.came.pop(self.order[0]), fetch):
                return
            self.order.popleft()

    def finish(self) -> None:
        if isinstance(self.data, PiecewiseData):
            self.data.examples.all_read()

    @property
    def _faulty(self) -> bool:
        return isinstance(self.data, PiecewiseData) and self.data.examples.stopped

    def _tasks(self) -> Iterator[ShardTask]:
        if isinstance(self.data, PiecewiseData):
            for number, piece in self.data.open_pieces(self.seen):
                yield ShardTask(number, piece)
            return
        for number, examples in self.data.shards():
            yield ShardTask(number, to_frame(list(examples)))

    def _in_turn(self, result: Made, fetch: Fetch) -> bool:
        """Keep a shard whose ids are new; return False if it has to be made again."""
        brief, task = result.brief, result.task
        if brief.ids is not None and task.shard not in self.looked_up:
            self.looked_up.add(task.shard)
            earlier, over_systems = self.seen.look_up(brief.ids)
            if over_systems:
                raise IdsOfSystems
            if len(repeated := np.flatnonzero(earlier >= 0)):
                places, first = brief.ids.places[repeated], earlier[repeated]
                refused = dict(zip(places.tolist(), first.tolist(), strict=True))
                self.again.appendleft(replace(task, refused=refused))
                return False
        if brief.unfit and self.evaluation.tally.examples:
            self.again.appendleft(task)
            return False
        tables = fetch(result.tables) if brief.files else {}
        if tables is None:
            self.again.appendleft(task)
            return False
        if isinstance(task.data, Lines) and isinstance(self.data, PiecewiseData):
            self.data.took(task.shard, task.data, brief.facts, brief.violations, brief.rules)
        if brief.unfit and not self._faulty:
            raise UnfitFields(brief.unfit)
        # The ledger knows of no faults, so of data that are going to be refused nothing is kept.
        if brief.files and not self._faulty:
            counted, piece = Counted.model_validate(brief.counted), self.data.piece(task.shard)
            form = ShardForm(
                shard=brief.shard, examples=brief.examples, files={}, counted=counted, piece=piece,
                alike=list(brief.alike),
            )  # fmt: skip
            self.evaluation.keep_made(form, brief.files, tables)
        return True
