"""The LLM judge: makes questions to models, and rows from their replies.

It neither asks nor stores anything: ``ragstone.run.chat_judge`` asks the questions and holds the
replies. A reply passes five types before it is a row: ``ChatReply``, the text from the server;
``Entry``, its content under one id; ``Item``, the same in the terms of its task; ``Outcome``,
all items of a question; ``TaskReply``, all items of a task.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ragstone.core.messages import Reason
from ragstone.data import Example
from ragstone.judgements import Topic, kind_of
from ragstone.judges.judge import LedgerStatus, fingerprint
from ragstone.models.chat import ChatModel

from .asker import Outcome
from .panel import vote
from .parts import portions
from .prompts import Prompts
from .question import Item, Piece, Question
from .rounds import ISOLATED, Plan, merged
from .task import Row, Target, Task, TaskReply
from .tasks import all_tasks

TOO_LONG = "too_long"
"""The reason of a question that the model's window does not hold."""

CHARACTERS_A_TOKEN = 3
OVERHEAD = 5_000
"""Tokens of a window that are kept for instructions and reply."""
LEAST_ROOM = 2_000


@dataclass(frozen=True)
class LLMJudge:
    """A chat model, or several that vote.

    With several models, the first makes claims, statements and probes; all judge, and the majority
    decides. A tie is missing.

    Args:
        models: The models to ask.
        prompts: The instructions to the models.
        plan: Which tasks share a question.
        tasks: The tasks, by name.
        topics: Criteria, aspects and rivals that the metrics name.
    """

    models: tuple[ChatModel, ...]
    prompts: Prompts
    plan: Plan = ISOLATED
    tasks: Mapping[str, Task] = field(default_factory=all_tasks)
    topics: tuple[Topic, ...] = ()

    @cached_property
    def name(self) -> str:
        """The models' names, a comma between."""
        return ",".join(model.name for model in self.models)

    @cached_property
    def about(self) -> str:
        """The models, and how many of them vote."""
        models = "; ".join(model.about for model in self.models)
        count = len(self.models)
        return f"a panel of {count} that votes: {models}" if count > 1 else models

    @cached_property
    def room(self) -> int:
        """The most characters of text in one question."""
        window = min(model.window for model in self.models)
        return max(LEAST_ROOM, (window - OVERHEAD) * CHARACTERS_A_TOKEN)

    @cached_property
    def asks(self) -> frozenset[str]:
        """The asks that a model can judge."""
        return frozenset(self._by_ask)

    @cached_property
    def _by_ask(self) -> Mapping[str, Task]:
        return {ask: task for task in self.tasks.values() for ask in task.asks}

    def task_of(self, ask: str) -> Task:
        """The task whose reply fills the ask."""
        return self._by_ask[ask]

    def pieces(self, task: Task, target: Target, room: int) -> list[Piece]:
        """The pieces of questions about a target; none if it lacks what the task is about."""
        if task.lacks(target.example):
            return []
        return task.pieces(target, self.prompts, room)

    def questions(
        self, model: ChatModel, pieces: Mapping[str, Sequence[Piece]], example: Example
    ) -> list[Question]:
        """The pieces of several tasks as questions to one model, merged according to the plan."""
        groups = merged(portions(one, model.items) for one in pieces.values())
        return [Question(tuple(group), self.prompts.system, example.id) for group in groups]

    def subject(self, tasks: Sequence[Task], target: Target) -> str:
        """Fingerprint of everything the questions show: equal subjects mean equal questions."""
        facts = [(task.name, list(task.facts(target, task.asks))) for task in tasks]
        return fingerprint(facts, self.name)

    def status(
        self, task: Task, target: Target, replies: Mapping[str, TaskReply]
    ) -> tuple[LedgerStatus, str | None]:
        """The status of a task, and the reason if something or everything is missing.

        Args:
            task: The task.
            target: What it is about.
            replies: The reply of each model by name; none if there was nothing to ask.
        """
        if why := task.lacks(target.example):
            return "failed", f"{self.name}: {why}"
        if not replies:
            return "ok", None
        if counted := self.counted(task, replies):
            only = next(iter(counted.values()))
            return "ok", None if len(counted) > 1 else only.left_open
        outcomes = [outcome for reply in replies.values() for outcome in reply.outcomes]
        failed = next((one for one in outcomes if one.status != "ok"), None)
        if failed is not None:
            return failed.status, failed.reason
        reasons = (why for reply in replies.values() for why in reply.lacking.values())
        return "failed", next(reasons, "no_reply")

    def counted(self, task: Task, replies: Mapping[str, TaskReply]) -> Mapping[str, TaskReply]:
        """The replies that count; none if no model gave one.

        If units are made, a reply with missing items does not count, because nobody would notice.
        """
        found = {
            name: reply
            for name, reply in replies.items()
            if not task.kind.made or not reply.lacking
        }
        return found if any(reply.items for reply in found.values()) else {}

    def rows(self, ask: str, target: Target, replies: Mapping[str, TaskReply]) -> list[Row]:
        """The rows of an ask with status ok; for a panel, by its votes."""
        task = self.task_of(ask)
        said = [task.rows(ask, target, reply) for reply in replies.values() if reply.items]
        if not said:
            return task.rows(ask, target, TaskReply({}))
        if task.kind.made:
            return said[0]
        return vote(kind_of(ask), said, len(self.models))

    def voters(self, task: Task) -> list[str]:
        """The members of a panel, whose rows are stored in addition to the panel's."""
        several = len(self.models) > 1 and not task.kind.made
        return [model.name for model in self.models if several]


def task_replies(
    pieces: Mapping[str, Sequence[Piece]],
    questions: Sequence[Question],
    outcomes: Sequence[Outcome],
    room: int,
) -> dict[str, TaskReply]:
    """One model's reply to each task, from the outcomes of its questions.

    Args:
        pieces: By task.
        questions: The questions made of them.
        outcomes: Of each question.
        room: The most characters of text in one question.
    """
    items: dict[str, dict[str, list[Item]]] = {name: {} for name in pieces}
    lacking: dict[str, dict[str, str]] = {name: {} for name in pieces}
    own: dict[str, list[Outcome]] = {name: [] for name in pieces}
    for question, outcome in zip(questions, outcomes, strict=True):
        for piece in question.pieces:
            own[piece.task].append(outcome)
            for name in piece.items:
                if name in outcome.items:
                    items[piece.task].setdefault(name, []).append(outcome.items[name])
                else:
                    why = outcome.lacking.get(name) or outcome.reason or "no_reply"
                    lacking[piece.task][name] = why
    return {name: TaskReply(items[name], lacking[name], room, tuple(own[name])) for name in pieces}


def too_long(task: Task, reason: str | None) -> bool:
    """Whether contexts were too long; nothing else can be split."""
    return task.splits_contexts and Reason.read(reason or "").code == TOO_LONG


def retrieved_nothing(task: Task, example: Example) -> bool:
    """Whether nothing was retrieved, so that there is nothing to ask a model."""
    return task.kind.unretrieved is not None and not example.contexts
