"""Batch follower: sends batches to a provider, follows them, takes their results and lists them.

Nothing that may be paid for twice is repeated. If it is not known whether a batch was created,
the provider's list is searched, and nothing is sent until that is settled.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from ragstone.core.errors import InputError, ModelError, RagstoneError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, call
from ragstone.models.chat import ChatFailure, open_chat
from ragstone.models.chat.batch_server import BatchStatus, ChatBatches
from ragstone.models.embedding_api import one_line
from ragstone.run.calls.model_client import HINTS, wait

from .batch_asker import batches_of
from .batch_journal import BatchJournal, KeptBatch, give_up, key_in

T = TypeVar("T")

# Attempts at a call about batches that costs nothing.
TRIES = 4

AT_ONCE = 500
# The time that a call may take: so many seconds, and more for a long file.
LEAST_TIME, BYTES_A_SECOND = 120.0, 50_000
# Seconds after that time in which a batch that was created comes into the list.
GRACE = 60.0
# Seconds that a server may ask to wait; if it asks for more, the run goes on another time.
LONGEST_PAUSE = 60.0

# Failures after which it is certain that no batch was created.
DEFINITE = frozenset({"rate_limit", "rejected", "parameter", "not_allowed", "not_found",
                      "no_credit", "too_long", "filtered", "unreachable"})  # fmt: skip

OF_ACCOUNT = frozenset({"not_allowed", "not_found"})


class BatchFollower:
    """Sends and follows the batches of one model."""

    def __init__(
        self, journal: BatchJournal, folder: Path, batches: ChatBatches,
        now: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self._journal, self._folder, self._batches, self._now = journal, folder, batches, now

    async def send(self, batch: KeptBatch) -> KeptBatch:
        """Upload and create a batch; it has no id where it is not known whether it was created."""
        file, length = self._file(batch), _longest(batch)
        try:
            uploaded = await _patiently(lambda: self._batches.upload(file, batch.tag), length)
        except ChatFailure as failure:
            raise self._no_batches(batch, failure) from failure
        batch = self._keep(replace(batch, state="creating", at=self._now()))
        try:
            batch_id = await _patiently(
                lambda: self._batches.create(file, uploaded, batch.tag), length, DEFINITE
            )
        except ChatFailure as failure:
            if failure.trouble not in DEFINITE:
                return batch
            self._keep(replace(batch, state="noted"))
            raise self._no_batches(batch, failure) from failure
        return self._sent(batch, batch_id)

    async def find(self, batch: KeptBatch) -> KeptBatch | None:
        """Look for a batch of which it is not known whether it was created.

        Returns:
            The batch, with its id if it was found; None if it was not created.
        """
        try:
            listed = await _patiently(
                lambda: self._batches.find(batch.tag, batch.at, batch.requests)
            )
            known = {known_batch.id for known_batch in self._journal.batches}
            candidates = [name for name in listed if name not in known]
            if self._batches.by_name:
                if candidates:
                    return self._sent(batch, candidates[0])
            elif (proved := await self._proved(batch, candidates)) is not None:
                return batch if not proved else self._sent(batch, proved)
        except ChatFailure as failure:
            raise ModelError(
                f"{batch.model}: whether a batch was sent is not known, and the list of batches "
                f"cannot be read: {failure}. Nothing is sent until then. {_again(failure)} "
                f"{self._or_forget(batch)}"
            ) from failure
        return None if self._now() - batch.at > _longest(batch) + GRACE else batch

    async def follow(self, batch: KeptBatch) -> KeptBatch:
        """Look how far a batch is; if it ended, take its results."""
        assert batch.id is not None
        name = batch.id
        try:
            status = await _patiently(lambda: self._batches.status(name))
            if status.state == "ended":
                await _patiently(lambda: self._take(batch, status), _longest(batch))
        except ChatFailure as failure:
            raise self._not_ours(batch, failure) from failure
        batch = as_said(batch, status)
        if status.state == "failed":
            self._keep(replace(batch, state="refused", present=False))
            raise ModelError(
                f"{batch.model}: the provider refused batch {name}: "
                f"{one_line(status.words) or batch.said}. No question of it was asked. Run the "
                "same command again to send it anew."
            )
        if status.state == "ended":
            batch = replace(batch, state="taken", ended=self._now())
            self._keep(batch)
            self._file(batch).unlink(missing_ok=True)
            return batch
        return self._keep(batch)

    async def _take(self, batch: KeptBatch, status: BatchStatus) -> None:
        """Store all results; this may be repeated."""
        results: list[tuple[str, int, bytes]] = []
        async for result in self._batches.results(status):
            key = key_in(result.custom, batch.tag)
            if key is not None and result.status is not None:
                results.append((key, result.status, result.body))
            if len(results) >= AT_ONCE:
                self._journal.store(batch, results)
                results = []
        self._journal.store(batch, results)

    async def _proved(self, batch: KeptBatch, candidates: list[str]) -> str | None:
        """Find the batch that has the requests of this one, by the ids of its results.

        Returns:
            Its id; empty while one that may be it has not ended; None if none is it.
        """
        undecided = False
        for name in candidates:
            status = await _patiently(partial(self._batches.status, name))
            if status.state == "open":
                undecided = True
                continue
            if await _patiently(partial(self._is_ours, batch, status), _longest(batch)):
                return name
        return "" if undecided else None

    async def _is_ours(self, batch: KeptBatch, status: BatchStatus) -> bool:
        async for result in self._batches.results(status):
            key = key_in(result.custom, batch.tag)
            if key is not None and self._journal.holds(key, batch.tag):
                return True
        return False

    def _sent(self, batch: KeptBatch, name: str) -> KeptBatch:
        return self._keep(replace(batch, state="sent", id=name))

    def _keep(self, batch: KeptBatch) -> KeptBatch:
        self._journal.keep(batch)
        return batch

    def _file(self, batch: KeptBatch) -> Path:
        return self._folder / f"{batch.tag}.jsonl"

    def _no_batches(self, batch: KeptBatch, failure: ChatFailure) -> ModelError:
        if failure.trouble == "not_found":
            return ModelError(
                f"{batch.model}: {failure}. {batch.host} seems to have no batches: leave out "
                f"{BATCH}. Nothing was sent that is paid for."
            )
        return ModelError(
            f"{batch.model}: no batch was sent, and nothing that is paid for: {failure}. "
            f"{_again(failure)}"
        )

    def _or_forget(self, batch: KeptBatch) -> str:
        run = argument("run", str(self._journal.file.parent))
        name = argument("forget", batch.id or batch.tag)
        return (
            f"If it is gone for good, `{call('batches', run, name)}` gives it up; its questions "
            "are then asked, and paid for, again."
        )

    def _not_ours(self, batch: KeptBatch, failure: ChatFailure) -> ModelError:
        if failure.trouble in OF_ACCOUNT:
            return ModelError(
                f"{batch.model}: batch {batch.id} cannot be read with this key: {failure}. Set the "
                "key of the account that sent it, and run the same command again. "
                f"{self._or_forget(batch)}"
            )
        return ModelError(
            f"{batch.model}: batch {batch.id} cannot be read: {failure}. {_again(failure)}"
        )


def as_said(batch: KeptBatch, status: BatchStatus) -> KeptBatch:
    answered, unanswered = (
        min(count, batch.requests) for count in (status.answered, status.unanswered)
    )
    return replace(batch, said=one_line(status.said), answered=answered, unanswered=unanswered)


def _longest(batch: KeptBatch) -> float:
    return LEAST_TIME + batch.bytes / BYTES_A_SECOND


def _again(failure: ChatFailure) -> str:
    hint = HINTS.get(failure.trouble, "Wait a while")
    return f"{hint}; then run the same command again."


BATCH = argument("batch", True)


async def _patiently(
    work: Callable[[], Awaitable[T]],
    seconds: float = LEAST_TIME,
    only: frozenset[str] | None = None,
) -> T:
    tries = 0
    while True:
        tries += 1
        try:
            async with asyncio.timeout(seconds):
                return await work()
        except TimeoutError as error:
            failure = ChatFailure("timeout", f"no reply within {seconds:.0f} s")
            if tries >= TRIES or (only is not None and "timeout" not in only):
                raise failure from error
        except ChatFailure as error:
            may = error.passing and (only is None or error.trouble in only)
            may = may and error.after <= LONGEST_PAUSE
            if tries >= TRIES or not may:
                raise
            failure = error
        await asyncio.sleep(max(failure.after, wait(tries)))


@dataclass(frozen=True, slots=True)
class ListedBatches:
    """The batches of a run.

    Attributes:
        run: Its folder.
        batches: Its batches, in the order they were noted; those that wait as the provider says.
        ages: How long ago each was sent, in seconds.
        faults: What a provider did not say, and why, by the batch's tag.
        command: The command that goes on with the run; None if it was not started by one.
    """

    run: Path
    batches: tuple[KeptBatch, ...]
    ages: tuple[float, ...]
    faults: dict[str, str]
    command: str | None

    @property
    def waits(self) -> bool:
        return any(batch.waits for batch in self.batches)


def batches(
    run: str | Path, *, ask: bool = True, forget: str | None = None,
    now: Callable[[], float] = time.time,
) -> ListedBatches:  # fmt: skip
    """The batches of a run. Nothing is changed but by ``forget``.

    Args:
        run: Its folder.
        ask: Whether providers are asked how far their batches are; otherwise as last known.
        forget: The id of a batch to give up: its questions are asked, and paid for, again.
        now: The time in seconds since 1970.

    Raises:
        InputError: It has no batches, or waits for none of that id.
        RunConflict: A batch is to be given up while the run goes on.
    """
    folder = Path(run)
    if not (folder / RunEntry.BATCHES).is_file():
        if not (folder / RunEntry.MANIFEST).is_file():
            raise InputError(f"There is no run in {folder}.")
        raise InputError(f"{folder} has no batches: it was not asked in any.")
    if forget is not None:
        give_up(folder, forget)
    with closing(BatchJournal.open(folder / RunEntry.BATCHES, to_read=True)) as journal:
        listed, faults = [], dict[str, str]()
        for batch in journal.batches:
            if ask and batch.state == "sent":
                try:
                    # In a thread of its own, because the caller may be in an event loop.
                    with ThreadPoolExecutor(1) as beside:
                        batch = beside.submit(asyncio.run, _looked(batch)).result()
                except (RagstoneError, TimeoutError) as failure:
                    faults[batch.tag] = str(failure) or "no reply"
            listed.append(batch)
        ages = tuple(max(0.0, now() - batch.at) for batch in listed)
        return ListedBatches(folder, tuple(listed), ages, faults, journal.command)


def keep_command(run: Path, command: str) -> None:
    """Keep the command that goes on with a run."""
    with closing(BatchJournal.open(run / RunEntry.BATCHES)) as journal:
        journal.remember(command)


async def _looked(batch: KeptBatch) -> KeptBatch:
    model = open_chat(batch.model)
    try:
        provider = batches_of(model)
        assert provider is not None
        assert batch.id is not None
        async with asyncio.timeout(LEAST_TIME):
            return as_said(batch, await provider.status(batch.id))
    finally:
        await model.close()
