"""Forecast: the calls, tokens and cost of a run, before anything is sent.

The actual questions are made and counted. Those about claims and statements, which a model has yet
to make, use the sentences of the answers and references instead.
"""

import asyncio
import sqlite3
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ragstone.core.files import RunEntry
from ragstone.core.messages import reason
from ragstone.core.sqlite import UNREADABLE, open_to_read
from ragstone.data import Example
from ragstone.judgements import KINDS, answered_by
from ragstone.judges.llm.claim_tasks import AnswerClaim, AnswerClaims, ReferenceStatements
from ragstone.judges.llm.questions import Item, Question, key
from ragstone.judges.llm.replies import Outcome
from ragstone.judges.local.claims_and_evidence import claims, statements
from ragstone.models.chat import ChatModel, Usage
from ragstone.models.chat.chat_names import assumed_reasoning, effort_in

from .calls.budget import CHARACTERS_A_TOKEN, Price, batch_cost, cost, load_prices
from .calls.model_client import tokens_of
from .judging.judge_blocks import judge_further
from .judging.prefetch import Prefetch
from .judging.run_models import able_to_ask
from .judging.sharding import shards_of
from .request import Request, with_arguments_of
from .run_plan import prepare
from .settings import Limits

Result = TypeVar("Result")


@dataclass(slots=True)
class TaskForecast:
    """Expected calls, tokens and cost of one task.

    Attributes:
        calls: Number of distinct questions.
        known: Questions already answered in this run or an earlier one; not in ``calls``.
        prompt: Tokens sent, at four characters each.
        completion: Expected tokens in replies, including reasoning.
        reasoning: Reasoning tokens among them.
        usd: Cost, ignoring the server's prompt cache; None if a price is unknown.
    """

    calls: int = 0
    known: int = 0
    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected calls, tokens and cost of a run.

    Args:
        examples: Number of examples.
        tasks: The forecast of each task, by judge and task.
        notes: That costs are those of batches, where they are; for each judge, how its reasoning
            tokens were estimated.
    """

    examples: int
    tasks: Mapping[tuple[str, str], TaskForecast]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> TaskForecast:
        """All tasks together; the cost is None if that of any is."""
        every = list(self.tasks.values())
        paid = [task.usd for task in every if task.calls]
        names = ("calls", "known", "prompt", "completion", "reasoning")
        counts = {name: sum(getattr(task, name) for task in every) for name in names}
        lacking = any(usd is None for usd in paid)
        return TaskForecast(**counts, usd=None if lacking else sum(usd for usd in paid if usd))

    def to_dict(self) -> dict[str, Any]:
        tasks = [
            {"judge": judge, "task": task, **asdict(expected)}
            for (judge, task), expected in self.tasks.items()
        ]
        total, notes = asdict(self.total), list(self.notes)
        return {"examples": self.examples, "tasks": tasks, "total": total, "notes": notes}


@with_arguments_of(Request)
def forecast(data: Any, **arguments: Any) -> Forecast:
    """Estimate the model calls, tokens and cost of ``evaluate`` with the same arguments.

    Nothing is sent.

    Raises:
        InputError: As ``evaluate``; also if no judge is a model.
    """
    return forecast_of(Request(data, **arguments))


def forecast_of(request: Request) -> Forecast:
    prepared = prepare(request, to_ask=False)
    spec, chat = prepared.spec, prepared.chat
    prices = load_prices(request.limits.prices)
    journal = None if request.out is None else Path(request.out) / RunEntry.JOURNAL
    with closing(_Known(journal, request.limits)) as known:
        counting = _Counting(
            {model.name: prices.of(model.name) for model in chat.models}, known, request.batch
        )
        judges = able_to_ask(spec.judges, counting, spec.asks, prepared.answers)
        prefetch = Prefetch(judges, spec.asks, counting)
        mine = [ask for ask in spec.asks if ask in answered_by("model")]
        for block in prefetch.blocks(
            shards_of(iter(prepared.examples)), counting.see, lambda *_: None
        ):
            judge_further(block.examples, block.tables, block.judges, mine)
        in_batches = (reason("priced_in_batches"),) if request.batch else ()
        notes = in_batches + tuple(known.note_on_reasoning(model.name) for model in chat.models)
    return Forecast(prepared.known.examples or 0, counting.tasks, notes)


class _Known:
    """Knows which questions were answered before, and how many tokens of reasoning they took."""

    def __init__(self, journal: Path | None, limits: Limits) -> None:
        from .calls.journal_reader import answered, reasoned
        from .calls.reply_cache import LAYOUT, replies_file

        existing = journal if journal is not None and journal.is_file() else None
        self._here = set() if existing is None else answered(existing)
        self._reasoned = {} if existing is None else reasoned(existing)
        self._replies: sqlite3.Connection | None = None
        if limits.cached and (file := replies_file(limits.cache)).is_file():
            with suppress(*UNREADABLE):
                self._replies = open_to_read(file, LAYOUT)

    def answers(self, name: str, model: ChatModel) -> bool:
        if name in self._here:
            return True
        if self._replies is not None and model.kept:
            with suppress(*UNREADABLE):
                rows = self._replies.execute("SELECT 1 FROM replies WHERE key = ?", (name,))
                return rows.fetchone() is not None
        return False

    def reasoning(self, judge: str, task: str) -> int:
        replies, tokens = self._reasoned.get((judge, task)) or self._all_reasoned(judge)
        return -(-tokens // replies) if replies else assumed_reasoning(judge)

    def note_on_reasoning(self, judge: str) -> str:
        replies, tokens = self._all_reasoned(judge)
        if replies:
            return reason("reasoning_heard", of=judge, replies=replies, tokens=tokens)
        if (effort := effort_in(judge)) is None:
            return reason("reasoning_not_counted", of=judge)
        tokens = assumed_reasoning(judge)
        return reason("reasoning_assumed", of=judge, effort=effort, tokens=tokens)

    def _all_reasoned(self, judge: str) -> tuple[int, int]:
        of_judge = [counts for (name, _), counts in self._reasoned.items() if name == judge]
        return sum(replies for replies, _ in of_judge), sum(tokens for _, tokens in of_judge)

    def close(self) -> None:
        if self._replies is not None:
            self._replies.close()


@dataclass(slots=True)
class _Counting:
    prices: Mapping[str, Price | None]
    known: _Known
    batch: bool = False
    tasks: dict[tuple[str, str], TaskForecast] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _examples: dict[str, Example] = field(default_factory=dict)

    def see(self, examples: Sequence[Example]) -> None:
        self._examples.update((example.id, example) for example in examples)

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:  # noqa: ARG002
        request = question.request()
        name = key(request, model.identity, question.vote)
        items = {
            item_name: item
            for item_name, sort in question.items.items()
            if (item := _stand_in(item_name, sort, self._examples[question.example])) is not None
        }
        if name not in self._seen:
            self._seen.add(name)
            expected = self.tasks.setdefault((model.name, question.task), TaskForecast())
            if self.known.answers(name, model):
                expected.known += 1
            else:
                sent = tokens_of(request)
                back = thoughts = self.known.reasoning(model.name, question.task)
                back += sum(
                    KINDS[piece.task].tokens * len(piece.items) for piece in question.pieces
                )
                back += sum(map(_tokens, items.values()))
                expected.calls += 1
                expected.prompt += sent
                expected.completion += back
                expected.reasoning += thoughts
                usage = Usage(sent, back, 0, 0)
                price = self.prices[model.name]
                usd = batch_cost(usage, price) if self.batch else cost(usage, price)
                if usd is not None:
                    expected.usd = (expected.usd or 0.0) + usd
        lacking = {item_name: "not asked" for item_name in question.items if item_name not in items}
        return Outcome("ok", items, lacking)

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.submit(work).result()

    def submit(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(asyncio.run, work)

    def settled(self, work: "Future[Any]", seconds: float) -> bool:  # noqa: ARG002
        return work.done()


def _stand_in(name: str, sort: type[Item], example: Example) -> Item | None:
    """Return the sentences of a text as claims or statements; None for asks that judge units."""
    if sort is AnswerClaims:
        factual = [claim for claim in claims(example.answer or "") if claim.factual]
        answer_claims = [AnswerClaim(text=claim.text, sentence=1) for claim in factual]
        return AnswerClaims(response_reason="", response_type="answer", claims=answer_claims)
    if sort is ReferenceStatements:
        return ReferenceStatements(statements=statements(example.reference[int(name[1:]) - 1]))
    return None


def _tokens(item: Item) -> int:
    return len(item.model_dump_json()) // CHARACTERS_A_TOKEN + 20
