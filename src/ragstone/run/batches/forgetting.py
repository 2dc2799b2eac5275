"""Forgetting: gives up a batch that cannot be read any more, so that the run goes on without it."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.run.lock import locked

from .batch_journal import FILE, BatchJournal


def forget(folder: Path, name: str) -> None:
    """Give up a batch: its questions are asked, and paid for, again.

    Args:
        folder: Of the run.
        name: The batch's id, or its tag if no id is known.

    Raises:
        InputError: The run waits for no such batch.
        RunConflict: The run goes on at this moment.
    """
    with locked(folder), closing(BatchJournal.open(folder / FILE)) as journal:
        for batch in journal.batches:
            if batch.waits and name in (batch.id, batch.tag):
                journal.keep(replace(batch, state="forgotten", present=False))
                return
    raise InputError(f"{folder} waits for no batch {name}.")
