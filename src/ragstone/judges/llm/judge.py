"""The judge by model: puts the tasks of a run to one model, or to a panel that votes."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from ragstone.examples import Example
from ragstone.judgements import KINDS, Topic, answered_by, kind_of
from ragstone.judges.judge import (
    Block,
    Filled,
    Proposition,
    Sheet,
    fingerprint,
    no_text,
)
from ragstone.models.chat import ChatModel

from .asker import Asker, Outcome
from .heard import TOO_LONG, Heard, heard, lacking_in
from .panel import vote
from .parts import portions
from .prompts import Prompts
from .question import Item, Piece, Question
from .rounds import ISOLATED, ORIGINS, Plan, merged
from .task import Matter, Row, Task, Told
from .tasks import all_tasks

Result = TypeVar("Result")

MADE_BY_ONE = frozenset(name for name, kind in KINDS.items() if kind.made)
"""Tasks whose units are made and not judged: a panel leaves them to its first model."""

SHOWS_CONTEXTS = frozenset({"relevance", "support", "rating"})

CHARACTERS_A_TOKEN = 3
OVERHEAD = 5_000
"""Tokens of a window that are kept for instructions and reply."""
LEAST_ROOM = 2_000


@dataclass(frozen=True)
class LLMJudge:
    """Asks a chat model, or several that vote, and reads the rows from their replies.

    Pacing, retries, the journal and money are the asker's. With several models the first makes
    claims, statements and probes; all judge, and the majority speaks. A tie is missing.

    Args:
        models: Who is asked.
        prompts: What the models are told.
        asker: What questions are put with; None for a judge who is asked nothing yet.
        plan: Which tasks share a question.
        tasks: What can be asked, by name.
        wanted: The asks of the run; what nobody wants is not asked.
        topics: Criteria, aspects and rivals that the metrics name.
        answers: The answers of every system, by question; for preferences.
        heard: What has been said about the examples at hand.
    """

    models: tuple[ChatModel, ...]
    prompts: Prompts
    asker: Asker | None = None
    plan: Plan = ISOLATED
    tasks: Mapping[str, Task] = field(default_factory=all_tasks)
    wanted: frozenset[str] = field(default_factory=lambda: answered_by("model"))
    topics: tuple[Topic, ...] = ()
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    heard: dict[tuple[str, str], Heard] = field(default_factory=dict, repr=False, compare=False)

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

    @property
    def asks(self) -> frozenset[str]:
        """What a model can be asked."""
        return frozenset(ask for task in self.tasks.values() for ask in task.asks)

    def task_of(self, ask: str) -> Task:
        """The task whose reply fills the ask."""
        return next(task for task in self.tasks.values() if ask in task.asks)

    def for_block(self) -> "LLMJudge":
        """The same judge, who has heard nothing yet."""
        return replace(self, heard={})

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Rows from what was heard; what was not asked yet is asked now."""
        task = self.task_of(ask)
        about = {
            ORIGINS[one]: block.propositions(one)
            for one in task.asks
            if one in ORIGINS and one in self.wanted
        }
        matters = {
            row: self.matter(
                block.examples[row], {origin: them.get(row, ()) for origin, them in about.items()}
            )
            for row in rows
            if not _retrieved_nothing(task, block.examples[row])
        }
        unheard = [row for row, matter in matters.items() if not self._knows(task, matter)]
        if unheard:
            self._asker.wait(self._put_all(task, [matters[row] for row in unheard]))
        sheets = {name: Sheet(ask, name) for name in self._speakers(task)}
        for row, matter in matters.items():
            self._enter(ask, row, self.heard[task.name, matter.example.id], sheets)
        filled = [sheet.filled() for sheet in sheets.values()]
        return Filled(
            pl.concat([one.rows for one in filled]), pl.concat([one.ledger for one in filled])
        )

    def matter(self, example: Example, propositions: Mapping[str, Sequence[Proposition]]) -> Matter:
        """What is to be judged of an example."""
        return Matter(example, propositions, self.topics, self._rivals(example))

    async def put(self, round_: Sequence[Task], matter: Matter, turn: int = 0) -> None:
        """Ask about some tasks, those of one round of the plan, and keep what is said.

        Where a server finds the contexts too long, they are asked about in ever smaller parts.
        """
        room = self._room()
        while True:
            said = await self._hear(round_, matter, turn, room)
            if room <= LEAST_ROOM or not _too_long(said):
                break
            shown = sum(len(context.text or "") for context in matter.example.contexts or ())
            room = max(min(room, shown) // 2, LEAST_ROOM)
        for name, one in said.items():
            self.heard[name, matter.example.id] = one

    def propositions(self, task: Task, example: Example) -> list[Proposition]:
        """The claims or statements that were heard of an example, as they are kept."""
        heard = self.heard.get((task.name, example.id))
        if heard is None or heard.status != "ok":
            return []
        return [
            Proposition(self.name, row.get("reference", 0), row["index"], row["text"])
            for row in self._rows(task.name, heard)
        ]

    @property
    def _asker(self) -> Asker:
        if self.asker is None:
            raise RuntimeError(f"{self.name} was given nothing to ask with.")
        return self.asker

    def _rivals(self, example: Example) -> dict[str, str]:
        answers = self.answers.get(example.question_id, {})
        return {system: text for system, text in answers.items() if system != example.system}

    def _knows(self, task: Task, matter: Matter) -> bool:
        heard = self.heard.get((task.name, matter.example.id))
        if heard is None:
            return False
        origins = {ORIGINS[ask] for ask in task.asks if ask in ORIGINS}
        return all(
            list(heard.matter.propositions.get(origin, ()))
            == list(matter.propositions.get(origin, ()))
            for origin in origins
        )

    async def _put_all(self, task: Task, matters: Iterable[Matter]) -> None:
        await asyncio.gather(
            *(self.put([task], matter, turn) for turn, matter in enumerate(matters))
        )

    async def _hear(
        self, round_: Sequence[Task], matter: Matter, turn: int, room: int
    ) -> dict[str, Heard]:
        lacking = {task.name: _lack(task, matter.example) for task in round_}
        facts = [(task.name, list(task.facts(matter, task.asks))) for task in round_]
        subject = fingerprint(facts, self.name)
        pieces = {
            task.name: [] if lacking[task.name] else task.pieces(matter, self.prompts, room)
            for task in round_
        }
        said: dict[str, dict[str, tuple[Told, list[Outcome]]]] = {task.name: {} for task in round_}
        judged = [name for name in pieces if name not in MADE_BY_ONE]
        first, *others = self.models
        members = [(first, list(pieces)), *((model, judged) for model in others)]
        answered = await _together(
            self._ask(model, {name: pieces[name] for name in names}, matter.example, turn, room)
            for model, names in members
        )
        for (model, _), told in zip(members, answered, strict=True):
            for name, one in told.items():
                said[name][model.name] = one
        for name in MADE_BY_ONE & set(pieces):
            await self._others_make(name, pieces[name], matter, turn, room, said[name])
        return {
            name: Heard(matter, subject, {}, "failed", f"{self.name}: {lacking[name]}")
            if lacking[name]
            else heard(matter, subject, said[name], whole=name in MADE_BY_ONE)
            if pieces[name]
            else Heard(matter, subject, {})
            for name in pieces
        }

    async def _others_make(
        self,
        name: str,
        pieces: list[Piece],
        matter: Matter,
        turn: int,
        room: int,
        said: dict[str, tuple[Told, list[Outcome]]],
    ) -> None:
        """Where the first model of a panel made nothing, the next one makes it."""
        for model in self.models[1:]:
            if not pieces or any(told.items and not told.lacking for told, _ in said.values()):
                return
            told = await self._ask(model, {name: pieces}, matter.example, turn, room)
            said[model.name] = told[name]

    async def _ask(
        self,
        model: ChatModel,
        pieces: Mapping[str, list[Piece]],
        example: Example,
        turn: int,
        room: int,
    ) -> dict[str, tuple[Told, list[Outcome]]]:
        """Put the pieces to one model, merged as the plan has it; what it said to each task."""
        groups = merged(portions(one, model.items) for one in pieces.values())
        system = self.prompts.system
        outcomes = await _together(
            self._asker.ask(model, Question(tuple(group), system, example.id), turn)
            for group in groups
        )
        said: dict[str, tuple[dict[str, list[Item]], dict[str, str], list[Outcome]]] = {
            name: ({}, {}, []) for name in pieces
        }
        for group, outcome in zip(groups, outcomes, strict=True):
            for piece in group:
                items, lacking, all_of_it = said[piece.task]
                all_of_it.append(outcome)
                for name in piece.items:
                    if name in outcome.items:
                        items.setdefault(name, []).append(outcome.items[name])
                    else:
                        lacking[name] = outcome.lacking.get(name) or outcome.reason or "no reply"
        return {
            name: (Told(items, lacking, room), all_of_it)
            for name, (items, lacking, all_of_it) in said.items()
        }

    def _room(self) -> int:
        """Characters that the texts of one question may have."""
        window = min(model.window for model in self.models)
        room = (window - OVERHEAD) * CHARACTERS_A_TOKEN
        return max(LEAST_ROOM, room)

    def _speakers(self, task: Task) -> list[str]:
        """In whose names rows are entered: the judge's, and of a panel each member's."""
        several = len(self.models) > 1 and task.name not in MADE_BY_ONE
        return [self.name, *(model.name for model in self.models if several)]

    def _enter(self, ask: str, row: int, heard: Heard, sheets: Mapping[str, Sheet]) -> None:
        ok = heard.status == "ok"
        subject = heard.subject if ok else fingerprint(ask, heard.matter.example.id)
        mine = sheets[self.name]
        if mine.done(row, subject, heard.status, heard.reason, requests=heard.requests):
            for values in self._rows(ask, heard):
                mine.add(subject, **values)
        if len(sheets) > 1 and ok:
            for name, told in heard.told.items():
                self._enter_member(sheets[name], row, heard, told)

    def _enter_member(self, sheet: Sheet, row: int, heard: Heard, told: Told) -> None:
        """The word of one member of a panel, or why it has none."""
        reason, requests = lacking_in(told), heard.requests
        if not told.items:
            failed = fingerprint(sheet.ask, heard.matter.example.id)
            sheet.done(row, failed, "failed", reason, requests=requests)
        elif sheet.done(row, heard.subject, "vote", reason, requests=requests):
            for values in self.task_of(sheet.ask).rows(sheet.ask, heard.matter, told):
                sheet.add(heard.subject, **values)

    def _rows(self, ask: str, heard: Heard) -> list[Row]:
        task = self.task_of(ask)
        said = [task.rows(ask, heard.matter, told) for told in heard.told.values() if told.items]
        if not said:
            return task.rows(ask, heard.matter, Told({})) if heard.status == "ok" else []
        if task.name in MADE_BY_ONE:
            return said[0]
        return vote(kind_of(ask), said, len(self.models))


async def _together(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """All at once; a task of its own costs time, so one alone gets none."""
    every = list(work)
    return [await every[0]] if len(every) == 1 else await asyncio.gather(*every)


def _too_long(heard: Mapping[str, Heard]) -> bool:
    """Whether contexts were too long, which are all that can be split."""
    return any(
        one.reason and TOO_LONG in one.reason
        for name, one in heard.items()
        if name in SHOWS_CONTEXTS
    )


def _lack(task: Task, example: Example) -> str | None:
    """Why a task cannot be put; None where it can."""
    if task.name == "relevance" and not (example.question or "").strip():
        return "no_question"
    return no_text(example) if task.name in ("relevance", "support") else None


def _retrieved_nothing(task: Task, example: Example) -> bool:
    """What counting settles: nothing was retrieved, so there is nothing to read."""
    return task.name in ("relevance", "support") and not example.contexts
