"""Batch asker: collects a run's questions into batch files and hands out the replies.

A question that depends on other answers is not asked before these are here, so the questions of
each stage are collected over all the data.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Literal

from ragstone.core.files import private_file
from ragstone.judgements import ASKS, KINDS
from ragstone.judges import Judge
from ragstone.judges.judge import Block, Filled
from ragstone.models.chat import ChatFailure, ChatModel, Usage
from ragstone.models.chat.batch_server import ChatBatches
from ragstone.models.chat.chat_names import assumed_reasoning
from ragstone.models.chat.http_chat import AskingChat
from ragstone.run.calls.attempt import Fate, QueuedQuestion, StoredReply, interpreted, without_reply
from ragstone.run.calls.budget import Price, batch_cost
from ragstone.run.calls.model_client import tokens_of
from ragstone.run.judging.chat_judge import ChatJudge, prefetchable
from ragstone.run.judging.judge_blocks import judge_further
from ragstone.run.judging.prefetch import Prefetch, Worker
from ragstone.run.judging.sharding import DataShard

from .batch_journal import BatchJournal, KeptBatch, custom_id

# Where a question that a batch could not answer is asked again: in the next batch, or singly.
Rest = Literal["batch", "alone"]

RESTS: tuple[Rest, ...] = ("batch", "alone")

# In this many batches a question is asked before it is given up.
MOST_BATCHES = 3


class BatchAsker:
    """Notes questions in the files of batches, and hands out what batches brought.

    Attributes:
        collecting: Whether questions are noted. Else they are asked singly.
    """

    def __init__(self, journal: BatchJournal, folder: Path, rest: Rest, attempts: int) -> None:
        self.journal = journal
        self.collecting = False
        self.prices: Callable[[ChatModel], Price | None] = lambda _: None
        self._folder, self._rest, self._attempts = folder, rest, attempts
        self._open: dict[str, _RequestFile] = {}
        self._noted: dict[str, KeptBatch] = {}
        self._first: dict[str, asyncio.Event] = {}

    def begin(self) -> None:
        self._open, self._noted, self._first = {}, {}, {}
        self.collecting = True

    def end(self) -> list[KeptBatch]:
        """Note no more; gives the batches that were noted, which are not sent yet."""
        self.collecting = False
        for name in list(self._open):
            self._close(name)
        return list(self._noted.values())

    def stored(self, model: ChatModel, queued: QueuedQuestion) -> Sequence[StoredReply]:
        """Return what came back for a question and was not read yet, the earliest first."""
        replies = []
        if (batches := batches_of(model)) is not None:
            for batch, status, body in self.journal.unread(queued.key):
                try:
                    result = interpreted(batches.read(status, body), queued)
                except ChatFailure as failure:
                    result = without_reply(failure)
                seconds = max(0.0, (batch.ended or batch.at) - batch.at)
                replies.append(StoredReply(batch.tag, batch.at, seconds, result))
        return replies

    def taken(self, key: str, tag: str) -> None:
        self.journal.has_read(key, tag)

    async def fate(self, model: ChatModel, queued: QueuedQuestion) -> Fate:
        """Decide how a question without a reply goes on."""
        file = self._open.get(model.identity)
        before: list[KeptBatch] = []
        for tag in self.journal.tags_of(queued.key):
            batch = self.journal.batch(tag)
            if (file and file.tag == tag) or (batch and (batch.waits or batch.state == "noted")):
                return "later"
            if batch and batch.present:
                before.append(batch)
        if self._rest == "batch":
            # Of a question about what lacks in a reply to a question about what lacked.
            again = queued.tries is not None and queued.tries < self._attempts - 1
            if again or len(before) >= MOST_BATCHES:
                return "given_up"
        elif before or queued.tries is not None:
            return "alone"
        if not self.collecting:
            return "alone"
        looked = self._first.get(model.identity)
        if looked is None:
            self._first[model.identity] = asyncio.Event()
            return "first"
        await looked.wait()
        self._note(model, queued)
        return "later"

    def looked(self, model: ChatModel) -> None:
        self._first[model.identity].set()

    def _note(self, model: ChatModel, queued: QueuedQuestion) -> None:
        batches = batches_of(model)
        assert batches is not None
        file = self._open.get(model.identity)
        tag = file.tag if file else token_hex(6)
        line = batches.line(custom_id(queued, tag), queued.request)
        if file and not file.takes(line):
            self._close(model.identity)
            file, tag = None, token_hex(6)
            line = batches.line(custom_id(queued, tag), queued.request)
        if file is None:
            file = _RequestFile(self._folder / f"{tag}.jsonl", tag, model, batches)
            self._open[model.identity] = file
        file.write(line, expected_cost(queued, model, self.prices(model)))
        self.journal.note(queued.key, tag)

    def _close(self, name: str) -> None:
        batch = self._open.pop(name).close()
        self.journal.keep(batch)
        self._noted[batch.tag] = batch


class _RequestFile:
    def __init__(self, file: Path, tag: str, model: ChatModel, batches: ChatBatches) -> None:
        private_file(file)
        self.tag = tag
        self._file: BinaryIO = file.open("wb")
        self._model, self._of = model, batches
        self._digest = blake2b(digest_size=16)
        self._requests = self._bytes = 0
        self._expected: float | None = 0.0

    def takes(self, line: bytes) -> bool:
        fits = self._bytes + len(line) <= self._of.most_bytes
        return fits and self._requests < self._of.most_requests

    def write(self, line: bytes, usd: float | None) -> None:
        self._file.write(line)
        self._digest.update(line)
        self._requests += 1
        self._bytes += len(line)
        self._expected = None if usd is None or self._expected is None else self._expected + usd

    def close(self) -> KeptBatch:
        self._file.close()
        digest = self._digest.hexdigest()
        return KeptBatch(
            self.tag, self._model.name, self._of.host, time.time(), digest, self._requests,
            self._bytes, self._expected,
        )  # fmt: skip


def batches_of(model: ChatModel) -> ChatBatches | None:
    return model.batches if isinstance(model, AskingChat) else None


def expected_cost(queued: QueuedQuestion, model: ChatModel, price: Price | None) -> float | None:
    """Return the expected cost of a question in a batch, in US dollars; None without a price."""
    pieces = queued.question.pieces
    rows = sum(KINDS[piece.task].tokens * len(piece.items) for piece in pieces)
    back = rows + assumed_reasoning(model.name)
    return batch_cost(Usage(tokens_of(queued.request), back, 0, 0), price)


def without_files(folder: Path, journal: BatchJournal) -> None:
    """Delete files of requests that no batch is waiting for."""
    awaited = {f"{batch.tag}.jsonl" for batch in journal.batches if batch.waits}
    for file in folder.glob("*.jsonl"):
        if file.name not in awaited:
            file.unlink(missing_ok=True)


def collect(
    shards: Iterable[DataShard], judges: Sequence[Judge], asks: Sequence[str], asking: Worker,
    tick: Callable[[int], None],
) -> None:  # fmt: skip
    """Put all questions that can be put, once."""
    prefetch = Prefetch(judges, asks, asking)
    chat = [judge for judge in judges if isinstance(judge, ChatJudge)]
    mine: list[str] = []
    if any(set(prefetchable(judge, judges, asks)) != judge.asks & set(asks) for judge in chat):
        possible = {ask for judge in chat for ask in judge.asks}
        possible = possible.union(*(_before(ask) for ask in possible))
        mine = [ask for ask in asks if ask in possible]
    for block in prefetch.blocks(shards, lambda _: None, lambda _, count: tick(count)):
        if mine:
            later: dict[str, set[int]] = {}
            held = [_HeldJudge(judge, later) for judge in block.judges]
            judge_further(block.examples, block.tables, held, mine)
        tick(prefetch.examples)


def _before(ask: str) -> set[str]:
    return {*ASKS[ask].after}.union(*map(_before, ASKS[ask].after))


class _HeldJudge:
    """A judge of a block that is not asked what depends on a reply that is not here yet."""

    def __init__(self, judge: Judge, later: dict[str, set[int]]) -> None:
        self._judge, self._later = judge, later
        self.name, self.about, self.asks = judge.name, judge.about, judge.asks

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        closed = set[int]().union(*(self._later.get(name, ()) for name in (ask, *_before(ask))))
        rows = [row for row in rows if row not in closed]
        filled = self._judge.fill(ask, block, rows)
        if isinstance(self._judge, ChatJudge):
            later = {row for row in rows if self._judge.asks_later(ask, block.examples[row])}
            self._later.setdefault(ask, set()).update(later)
        return filled
