"""Listed: the batches of a run as they stand, as ``ragstone batches`` shows them."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.files import RunEntry
from ragstone.models.chat import open_chat

from .batch_journal import FILE, BatchJournal, KeptBatch
from .following import BatchFollower, as_said
from .forgetting import forget as give_up
from .noting import batches_of


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
        """Whether the run waits for any."""
        return any(one.waits for one in self.batches)


def batches(
    run: str | Path,
    *,
    ask: bool = True,
    forget: str | None = None,
    now: Callable[[], float] = time.time,
) -> ListedBatches:
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
    if not (folder / FILE).is_file():
        if not (folder / RunEntry.MANIFEST).is_file():
            raise InputError(f"There is no run in {folder}.")
        raise InputError(f"{folder} has no batches: it was not asked in any.")
    if forget is not None:
        give_up(folder, forget)
    journal = BatchJournal.open(folder / FILE, to_read=True)
    try:
        found, faults = [], dict[str, str]()
        for batch in journal.batches:
            if ask and batch.state == "sent":
                try:
                    batch = _in_thread(_looked(journal, folder, batch))
                except (RagstoneError, TimeoutError) as failure:
                    faults[batch.tag] = str(failure) or "no reply"
            found.append(batch)
        ages = tuple(max(0.0, now() - one.at) for one in found)
        return ListedBatches(folder, tuple(found), ages, faults, journal.command)
    finally:
        journal.close()


def keep_command(run: Path, command: str) -> None:
    """Keep the command that goes on with a run.

    Raises:
        InputError: It cannot be written.
    """
    journal = BatchJournal.open(run / FILE)
    try:
        journal.remember(command)
    finally:
        journal.close()


def _in_thread(work: Coroutine[Any, Any, KeptBatch]) -> KeptBatch:
    """Run a coroutine in a thread of its own, because the caller may be in an event loop."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


async def _looked(journal: BatchJournal, folder: Path, batch: KeptBatch) -> KeptBatch:
    model = open_chat(batch.model)
    try:
        of = batches_of(model)
        assert of is not None
        status = await BatchFollower(journal, folder, of).look(batch)
    finally:
        await model.close()
    return as_said(batch, status)
