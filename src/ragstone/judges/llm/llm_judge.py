"""LLM judge: a chat model, or several that vote, with all tasks and the plan that combines them.

A verdict of a panel needs the votes of more than half of the members; otherwise it is null, and
so missing. Scores from 0 to 1 are averaged over the members that gave a score, if they are more
than half; whole grades are verdicts.

The isolated plan asks each task by itself. The lean plan merges claims, quality and critiques of
a single vote, and relevance and support: fewer calls, but a model does several tasks in a call.

The judge neither asks nor stores anything; the ``Asker`` of a run does. A reply
passes five types before it is a row: ``ChatReply``, the text from the server; ``ReplyEntry``, its
content under an id; ``Item``, the same in the terms of its task; ``Outcome``, all items of a
question; ``TaskReply``, all items of a task.
"""

from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

from ragstone.core.errors import UnknownName
from ragstone.core.messages import Reason
from ragstone.data import Example
from ragstone.judgements import (
    KINDS,
    Claim,
    ConversationSupport,
    Critique,
    Kind,
    Quality,
    Relevance,
    Support,
    Topic,
    kind_of,
)
from ragstone.judges.judge import LedgerStatus, fingerprint
from ragstone.models.chat import ChatModel

from .answer_tasks import CritiqueTask, PreferenceTask, ProbesTask, RatingTask
from .claim_tasks import AgreementTask, ClaimsTask, EntitiesTask, StatementsTask
from .context_tasks import RelevanceTask, SupportTask
from .kind_task import KindTask
from .prompts import Prompts, asked_kinds
from .questions import Item, Piece, Question
from .replies import Outcome
from .task import Row, Target, Task, TaskReply, portions

Result = TypeVar("Result")


class Asker(Protocol):
    """Asks models, with pacing, retries, journal and budget."""

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:
        """Ask a question; one that was asked before is answered from the journal.

        ``turn`` is the position of the example in the data; lower ones go first.
        """

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine that asks to its end, from a thread outside the event loop."""


def vote(kind: type[Kind], by_member: Sequence[Sequence[Row]], members: int) -> list[Row]:
    """Return a row per unit from those of all members, in the order of the first that judged it.

    The roles of the kind's columns say how each is settled. Members without a row count as well.
    """
    if members == 1:
        return list(by_member[0])
    keys = kind.key or ()
    units: dict[tuple[object, ...], list[Row]] = {}
    for rows in by_member:
        for row in rows:
            units.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    return [_voted(kind, rows, keys, members) for rows in units.values()]


def _voted(kind: type[Kind], rows: Sequence[Row], keys: Sequence[str], members: int) -> Row:
    names = dict.fromkeys(name for row in rows for name in row)
    from_one = kind.having("count", "evidence", "words")
    judged = [name for name in names if name not in from_one and name not in keys]
    voted: Row = {key: rows[0].get(key) for key in keys}
    for name in judged:
        voted[name] = _majority([row[name] for row in rows if row.get(name) is not None], members)
    speaker = max(rows, key=lambda row: sum(row.get(name) == voted[name] for name in judged))
    for name in from_one:
        if name in names:
            voted[name] = speaker.get(name)
    if "verdict" in voted and voted["verdict"] is None:
        rests_on_it = [*kind.having("evidence", "words"), *kind.probabilities()]
        voted |= {name: None for name in rests_on_it if name in names}
        voted["reason"] = "no_majority"
    return voted


def _majority(values: Sequence[object], members: int) -> object:
    if 2 * len(values) <= members:
        return None
    if all(isinstance(value, float) for value in values):
        return sum(value for value in values if isinstance(value, float)) / len(values)
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > members else None


# Those whose replies are read or merged in a way of their own.
OWN: tuple[Task, ...] = (
    *(ClaimsTask(), StatementsTask(), EntitiesTask(), RelevanceTask(), SupportTask()),
    *(SupportTask(ConversationSupport), AgreementTask(), ProbesTask(), RatingTask()),
    *(CritiqueTask(), PreferenceTask()),
)


def all_tasks(*instead: Task) -> dict[str, Task]:
    """Every task by name, which is its kind's, or instead those given; else a ``KindTask``."""
    by_name = {task.name: task for task in (*OWN, *instead)}
    return {name: by_name.get(name) or KindTask(KINDS[name]) for name in asked_kinds()}


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan: the tasks that are asked together."""

    name: str
    together: tuple[tuple[str, ...], ...] = ()

    def rounds(self, tasks: Sequence[str]) -> list[tuple[str, ...]]:
        """The tasks in groups that are asked together, in the order of their first."""
        left = dict.fromkeys(tasks)
        rounds: list[tuple[str, ...]] = []
        for name in tasks:
            if name in left:
                group = next((group for group in self.together if name in group), (name,))
                rounds.append(tuple(task for task in group if task in left))
                for task in rounds[-1]:
                    del left[task]
        return rounds


ISOLATED = Plan("isolated")
LEAN = Plan("lean", ((Claim.name, Quality.name, Critique.name), (Relevance.name, Support.name)))
PLANS = {plan.name: plan for plan in (ISOLATED, LEAN)}


def plan_named(name: str) -> Plan:
    """The plan of that name."""
    if name not in PLANS:
        raise UnknownName("plan", name, PLANS, hint=f"There are: {', '.join(PLANS)}.")
    return PLANS[name]


def merged(tasks: Iterable[Sequence[Piece]]) -> list[list[Piece]]:
    """Merge pieces of several tasks into questions.

    Pieces of a task stand in questions of their own, but for those of further tasks, which join
    the first that shows the same contexts. What is asked in several votes is asked by itself.
    """
    questions: list[list[Piece]] = []
    for pieces in tasks:
        if not questions:
            questions = [[piece] for piece in pieces]
            continue
        joined: set[int] = set()
        repeated = {name for piece in pieces if piece.vote for name in piece.items}
        for piece in pieces:
            others = enumerate(questions if repeated.isdisjoint(piece.items) else ())
            fitting = (at for at, other in others if at not in joined and _fits(piece, other))
            position = next(fitting, None)
            if position is None:
                questions.append([piece])
                position = len(questions) - 1
            else:
                questions[position].append(piece)
            if piece.task != Critique.name:
                joined.add(position)
    return questions


def _fits(piece: Piece, question: Sequence[Piece]) -> bool:
    contexts = {other.contexts for other in question if other.contexts}
    return piece.contexts in contexts if piece.contexts else not contexts


# The reason of a question that the model's window does not hold.
TOO_LONG = "too_long"

CHARACTERS_A_TOKEN = 3
# Tokens of a window that are kept for instructions and reply.
OVERHEAD = 5_000

LEAST_ROOM = 2_000


@dataclass(frozen=True)
class LLMJudge:
    """A chat model, or several that vote.

    With several models, the first makes claims, statements and probes; all judge, and the majority
    decides. A tie is missing. ``topics`` are criteria, aspects and rivals that the metrics name.
    """

    models: tuple[ChatModel, ...]
    prompts: Prompts
    plan: Plan = ISOLATED
    tasks: Mapping[str, Task] = field(default_factory=all_tasks)
    topics: tuple[Topic, ...] = ()

    @cached_property
    def name(self) -> str:
        return ",".join(model.name for model in self.models)

    @cached_property
    def about(self) -> str:
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
        return frozenset(self._by_ask)

    @cached_property
    def _by_ask(self) -> Mapping[str, Task]:
        return {ask: task for task in self.tasks.values() for ask in task.asks}

    def task_of(self, ask: str) -> Task:
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
        groups = merged(portions(some, model.items) for some in pieces.values())
        return [Question(tuple(group), self.prompts.system, example.id) for group in groups]

    def subject(self, tasks: Sequence[Task], target: Target) -> str:
        """Fingerprint of everything the questions show: equal subjects mean equal questions."""
        facts = [(task.name, list(task.facts(target))) for task in tasks]
        return fingerprint(facts, self.name)

    def status(
        self, task: Task, target: Target, replies: Mapping[str, TaskReply]
    ) -> tuple[LedgerStatus, str | None]:
        """Return the status of a task, and the reason if something or everything is missing.

        ``replies`` are those of each model by name; none if there was nothing to ask.
        """
        if why := task.lacks(target.example):
            return "failed", f"{self.name}: {why}"
        if not replies:
            return "ok", None
        if counted := self.counted(task, replies):
            only = next(iter(counted.values()))
            return "ok", None if len(counted) > 1 else only.left_open
        outcomes = [outcome for reply in replies.values() for outcome in reply.outcomes]
        failed = next((outcome for outcome in outcomes if outcome.status != "ok"), None)
        if failed is not None:
            return failed.status, failed.reason
        reasons = (why for reply in replies.values() for why in reply.lacking.values())
        return "failed", next(reasons, "no_reply")

    def counted(self, task: Task, replies: Mapping[str, TaskReply]) -> Mapping[str, TaskReply]:
        """The replies that count; none if no model gave one.

        If units are made, a reply with missing items does not count, because nobody would notice.
        """
        complete = {name: reply for name, reply in replies.items()
                    if not task.kind.made or not reply.lacking}  # fmt: skip
        return complete if any(reply.items for reply in complete.values()) else {}

    def rows(self, ask: str, target: Target, replies: Mapping[str, TaskReply]) -> list[Row]:
        """The rows of an ask with status ok; for a panel, by its votes."""
        task = self.task_of(ask)
        by_member = [task.rows(ask, target, reply) for reply in replies.values() if reply.items]
        if not by_member:
            return task.rows(ask, target, TaskReply({}))
        if task.kind.made:
            return by_member[0]
        return vote(kind_of(ask), by_member, len(self.models))

    def voters(self, task: Task) -> list[str]:
        """The members of a panel, whose rows are stored in addition to the panel's."""
        several = len(self.models) > 1 and not task.kind.made
        return [model.name for model in self.models if several]


def task_replies(pieces: Mapping[str, Sequence[Piece]], questions: Sequence[Question],
                 outcomes: Sequence[Outcome], room: int) -> dict[str, TaskReply]:  # fmt: skip
    """Return one model's reply to each task, from the outcomes of the questions about it."""
    items: dict[str, dict[str, list[Item]]] = {name: {} for name in pieces}
    lacking: dict[str, dict[str, str]] = {name: {} for name in pieces}
    by_task: dict[str, list[Outcome]] = {name: [] for name in pieces}
    for question, outcome in zip(questions, outcomes, strict=True):
        for piece in question.pieces:
            by_task[piece.task].append(outcome)
            for name in piece.items:
                if name in outcome.items:
                    items[piece.task].setdefault(name, []).append(outcome.items[name])
                else:
                    why = outcome.lacking.get(name) or outcome.reason or "no_reply"
                    lacking[piece.task][name] = why
    return {
        name: TaskReply(items[name], lacking[name], room, tuple(by_task[name])) for name in pieces
    }


def too_long(task: Task, reason: str | None) -> bool:
    """True if contexts were too long; nothing else can be split."""
    return task.splits_contexts and Reason.read(reason or "").code == TOO_LONG


def retrieved_nothing(task: Task, example: Example) -> bool:
    """True if nothing was retrieved, so that there is nothing to ask a model."""
    return task.kind.unretrieved is not None and not example.contexts
