"""Chat judge: an LLM judge that asks its questions in stages and fills tables from the replies.

Asks that are certain to reach the judge start early, all others when it fills its block of
examples.
"""

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import polars as pl

from ragstone.data import Example
from ragstone.judgements import ASKS, Relevance, Support
from ragstone.judges.judge import (
    Block,
    Filled,
    Judge,
    Proposition,
    RowBuilder,
    fingerprint,
    listed_in,
)
from ragstone.judges.llm.llm_judge import (
    LEAST_ROOM,
    Asker,
    LLMJudge,
    Plan,
    retrieved_nothing,
    task_replies,
    too_long,
)
from ragstone.judges.llm.questions import Piece
from ragstone.judges.llm.task import Target, Task, TaskReply
from ragstone.models.chat import ChatModel

# Judges whose judgements are in the data, so that what they leave open is known in advance.
AT_HAND = frozenset({"human", "ids"})


def prefetchable(judge: Judge, judges: Sequence[Judge], asks: Collection[str]) -> list[str]:
    """The asks of which it is certain, before any judging, that they will reach this judge.

    An ask qualifies if the only judges before this one take their judgements from the data, and if
    everything it comes after is either not needed or asked of this judge as well.
    """
    before = judges[: [other.name for other in judges].index(judge.name)]
    mine: list[str] = []
    for ask in (name for name in ASKS if name in asks and name in judge.asks):
        asked_first = all(other.name in AT_HAND for other in before if ask in other.asks)
        if asked_first and all(
            earlier in mine or earlier not in asks for earlier in ASKS[ask].after
        ):
            mine.append(ask)
    return mine


# A task waits for these, which ask about the same contexts, to profit from prefix caching.
SHARES_CONTEXTS = {Support.name: (Relevance.name,)}


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks that are asked together."""

    tasks: tuple[Task, ...]
    after: frozenset[int]
    about: frozenset[int] = frozenset()


def stages(asks: Collection[str], plan: Plan, tasks: Mapping[str, Task]) -> list[Stage]:
    """The stages that these asks need, each after the stages it waits for."""
    names = [name for name, task in tasks.items() if set(task.asks) & set(asks)]
    left = plan.rounds(names)
    done: dict[str, int] = {}
    ordered: list[Stage] = []
    while left:
        round_ = next(candidate for candidate in left if _ready(candidate, left, tasks))
        left.remove(round_)
        mine = tuple(tasks[name] for name in round_)
        waits = {
            name for task in mine for name in (*task.after, *SHARES_CONTEXTS.get(task.name, ()))
        }
        after = frozenset(done[name] for name in waits if name in done)
        makers = {name for task in mine for name in task.after}
        about = frozenset(done[name] for name in makers if name in done)
        done |= dict.fromkeys(round_, len(ordered))
        ordered.append(Stage(mine, after, about))
    return ordered


def _ready(
    round_: tuple[str, ...], left: Collection[tuple[str, ...]], tasks: Mapping[str, Task]
) -> bool:
    waiting = {name for other in left if other != round_ for name in other}
    return waiting.isdisjoint(name for task in round_ for name in tasks[task].after)


Result = TypeVar("Result")


class Replies(NamedTuple):
    """The replies of all models to one task about one example."""

    target: Target
    subject: str
    by_model: Mapping[str, TaskReply]


class ChatJudge:
    """An LLM judge with an asker, which does pacing, retries, journal and budget."""

    def __init__(
        self, judge: LLMJudge, asker: Asker | None = None, run_asks: frozenset[str] | None = None,
        answers: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:  # fmt: skip
        self.judge = judge
        self.name, self.about, self.asks = judge.name, judge.about, judge.asks
        self._asker = asker
        self._wanted = judge.asks if run_asks is None else run_asks
        self._answers = answers or {}
        self._replies: dict[tuple[str, str], Replies] = {}
        self._later: set[tuple[str, str]] = set()
        self._stages: dict[frozenset[str], list[Stage]] = {}

    def able_to_ask(
        self, asker: Asker, run_asks: Collection[str], answers: Mapping[str, Mapping[str, str]]
    ) -> "ChatJudge":
        return ChatJudge(self.judge, asker, frozenset(run_asks), answers)

    def for_block(self) -> "ChatJudge":
        """The same judge, without any replies yet."""
        fresh = ChatJudge(self.judge, self._asker, self._wanted, self._answers)
        fresh._stages = self._stages
        return fresh

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Rows from the replies; questions that were not asked yet are asked now."""
        task = self.judge.task_of(ask)
        about = {
            origin: block.propositions(other)
            for other in task.asks
            if other in self._wanted and (origin := ASKS[other].origin)
        }
        targets = {
            row: self._target(
                block.examples[row], {origin: them.get(row, ()) for origin, them in about.items()}
            )
            for row in rows
            if not retrieved_nothing(task, block.examples[row])
        }
        left = [target for target in targets.values() if not self._knows(task, target)]
        if left:
            self._put_with.wait(
                _together(self._put([task], target, turn) for turn, target in enumerate(left))
            )
        voters = self.judge.voters(task)
        sheets = {name: RowBuilder(ask, name) for name in (self.name, *voters)}
        for row, target in targets.items():
            if self.asks_later(ask, target.example):
                continue
            replies = self._replies[task.name, target.example.id]
            self._enter(ask, row, task, replies, sheets)
        filled = [sheet.filled() for sheet in sheets.values()]
        return Filled(
            pl.concat([part.rows for part in filled]), pl.concat([part.ledger for part in filled])
        )

    def asks_later(self, ask: str, example: Example) -> bool:
        """Return whether an ask of an example waits for a batch, so that it has no reply yet."""
        return (self.judge.task_of(ask).name, example.id) in self._later

    async def ask_about(self, example: Example, asks: Collection[str], turn: int) -> None:
        """Ask everything about an example, each stage after the stages it waits for.

        No stage waits for other examples.
        """
        open_asks = frozenset(asks)
        if open_asks not in self._stages:
            self._stages[open_asks] = stages(open_asks, self.judge.plan, self.judge.tasks)
        begun: list[asyncio.Task[bool]] = []
        for stage in self._stages[open_asks]:
            waits = {earlier: begun[earlier] for earlier in stage.after}
            begun.append(
                asyncio.create_task(self._put_stage(example, open_asks, stage, waits, turn))
            )
        await asyncio.gather(*begun)

    @property
    def _put_with(self) -> Asker:
        if self._asker is None:
            raise RuntimeError(f"{self.name} has no asker.")
        return self._asker

    async def _put_stage(
        self, example: Example, asks: frozenset[str], stage: Stage,
        waits: Mapping[int, "asyncio.Task[bool]"], turn: int,
    ) -> bool:  # fmt: skip
        """Ask a stage; return False if its replies, or what it is about, come later in a batch."""
        answered = {number: await earlier for number, earlier in waits.items()}
        if not all(answered[number] for number in stage.about):
            self._later.update((task.name, example.id) for task in stage.tasks)
            return False
        tasks = [
            task
            for task in stage.tasks
            if not asks.isdisjoint(task.asks) and not retrieved_nothing(task, example)
        ]
        if tasks:
            about = self._about(example, asks, stage)
            await self._put(tasks, self._target(example, about), turn)
        return not any((task.name, example.id) in self._later for task in tasks)

    async def _put(self, tasks: Sequence[Task], target: Target, turn: int) -> None:
        """Ask the tasks of one round of the plan, and store the replies.

        If a server finds the contexts too long, they are split into ever smaller parts.
        """
        subject = self.judge.subject(tasks, target)
        room = self.judge.room
        # Each time the room is halved, down to a minimum: a model may have a smaller context window
        # than it is known to have, and characters only estimate tokens.
        while True:
            replies = await self._ask_all(tasks, target, turn, room)
            if any(map(_comes_later, replies.values())):
                break
            reasons = [
                (task, self.judge.status(task, target, replies[task.name])) for task in tasks
            ]
            if room <= LEAST_ROOM or not any(too_long(task, why) for task, (_, why) in reasons):
                break
            length = sum(len(context.text or "") for context in target.example.contexts or ())
            room = max(min(room, length) // 2, LEAST_ROOM)
        for name, by_model in replies.items():
            if _comes_later(by_model):
                self._later.add((name, target.example.id))
            else:
                self._later.discard((name, target.example.id))
                self._replies[name, target.example.id] = Replies(target, subject, by_model)

    async def _ask_all(
        self, tasks: Sequence[Task], target: Target, turn: int, room: int
    ) -> dict[str, dict[str, TaskReply]]:
        pieces = {task.name: self.judge.pieces(task, target, room) for task in tasks}
        pieces = {name: them for name, them in pieces.items() if them}
        extracting = {task.name for task in tasks if task.kind.made}
        judged = {name: them for name, them in pieces.items() if name not in extracting}
        first, *others = self.judge.models
        members = [(first, pieces), *((model, judged) for model in others)]
        answered = await _together(
            self._ask(model, them, target.example, turn, room) for model, them in members
        )
        replies: dict[str, dict[str, TaskReply]] = {task.name: {} for task in tasks}
        for (model, _), by_task in zip(members, answered, strict=True):
            for name, reply in by_task.items():
                replies[name][model.name] = reply
        for name in (name for name in pieces if name in extracting):
            for model in others:
                if _comes_later(replies[name]) or any(
                    reply.items and not reply.lacking for reply in replies[name].values()
                ):
                    break
                again = {name: pieces[name]}
                by_task = await self._ask(model, again, target.example, turn, room)
                replies[name][model.name] = by_task[name]
        return replies

    async def _ask(
        self, model: ChatModel, pieces: Mapping[str, list[Piece]], example: Example, turn: int,
        room: int,
    ) -> dict[str, TaskReply]:  # fmt: skip
        questions = self.judge.questions(model, pieces, example)
        outcomes = await _together(
            self._put_with.ask(model, question, turn) for question in questions
        )
        return task_replies(pieces, questions, outcomes, room)

    def _target(
        self, example: Example, propositions: Mapping[str, Sequence[Proposition]]
    ) -> Target:
        answers = self._answers.get(example.question_id, {})
        rivals = {system: text for system, text in answers.items() if system != example.system}
        return Target(example, propositions, self.judge.topics, rivals)

    def _about(
        self, example: Example, asks: frozenset[str], stage: Stage
    ) -> Mapping[str, Sequence[Proposition]]:
        about: dict[str, Sequence[Proposition]] = {}
        for ask in (ASKS[name] for task in stage.tasks for name in task.asks if name in asks):
            if ask.over is not None and ask.origin is not None:
                propositions: list[Proposition] = []
                for maker in ask.over.made_by:
                    propositions += self._made(maker, example)
                about[ask.origin] = (
                    propositions if ask.over.made_by else listed_in(example, ask.over)
                )
        return about

    def _made(self, ask: str, example: Example) -> list[Proposition]:
        task = self.judge.task_of(ask)
        if (task.name, example.id) not in self._replies:
            return []
        target, _, by_model = self._replies[task.name, example.id]
        status, _ = self.judge.status(task, target, by_model)
        if status != "ok":
            return []
        counted = self.judge.counted(task, by_model)
        return [
            Proposition(self.name, row.get("reference", 0), row["index"], row["text"])
            for row in self.judge.rows(ask, target, counted)
        ]

    def _knows(self, task: Task, target: Target) -> bool:
        replies = self._replies.get((task.name, target.example.id))
        if replies is None:
            return False
        origins = {origin for ask in task.asks if (origin := ASKS[ask].origin)}
        known = replies.target.propositions
        return all(
            list(known.get(origin, ())) == list(target.propositions.get(origin, ()))
            for origin in origins
        )

    def _enter(
        self, ask: str, row: int, task: Task, replies: Replies, sheets: Mapping[str, RowBuilder]
    ) -> None:
        target, subject, by_model = replies
        status, reason = self.judge.status(task, target, by_model)
        keys = (
            key for reply in by_model.values() for out in reply.outcomes for key in out.requests
        )
        requests = tuple(dict.fromkeys(keys)) or None
        counted = self.judge.counted(task, by_model)
        failed = fingerprint(ask, target.example.id)
        mine = subject if status == "ok" else failed
        if sheets[self.name].done(row, mine, status, reason, requests=requests):
            for values in self.judge.rows(ask, target, counted):
                sheets[self.name].add(subject, **values)
        for name in (name for name in counted if len(sheets) > 1 and status == "ok"):
            reply, sheet = counted[name], sheets[name]
            if not reply.items:
                sheet.done(row, failed, "failed", reply.left_open, requests=requests)
            elif sheet.done(row, subject, "vote", reply.left_open, requests=requests):
                for values in task.rows(ask, target, reply):
                    sheet.add(subject, **values)


def _comes_later(by_model: Mapping[str, TaskReply]) -> bool:
    return any(outcome.later for reply in by_model.values() for outcome in reply.outcomes)


async def _together(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run coroutines concurrently; a single one is awaited directly, which spares a task."""
    every = list(work)
    return [await every[0]] if len(every) == 1 else await asyncio.gather(*every)
