"""Batch loop: collects questions, sends them in batches and waits, until nothing is left to ask."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ragstone.core.errors import BatchesWaiting, InputError, ModelError
from ragstone.core.files import RunEntry, private_folder
from ragstone.core.messages import argument, reason
from ragstone.models.chat import ChatModel
from ragstone.run.calls.asker import Asking
from ragstone.run.folder.run_list import Progress, Report

from .batch_asker import RESTS, BatchAsker, Rest, batches_of, without_files
from .batch_follower import BatchFollower
from .batch_journal import BatchJournal, KeptBatch

Result = TypeVar("Result")

# Seconds between two looks at batches that are waited for.
FIRST_POLL, LONGEST_POLL = 5.0, 60.0

OTHER = "Leave out {batch}, or name a model as openai:, anthropic:, gemini: or http://HOST/v1#."


class RunBatches:
    """The batches of a run: its journal, and what is done with them."""

    def __init__(
        self, folder: Path, models: Sequence[ChatModel], rest: Rest, attempts: int
    ) -> None:
        self._folder = folder
        self._files = folder / RunEntry.BATCH_FILES
        self.journal = BatchJournal.open(folder / RunEntry.BATCHES)
        self.noting = BatchAsker(self.journal, self._files, rest, attempts)
        self._models = {model.name: model for model in models}
        # What was noted and not sent is noted again.
        unsent = [batch for batch in self.journal.batches if batch.state == "noted"]
        self._drop_all(unsent)
        self._unsent = bool(unsent)

    @property
    def sent(self) -> bool:
        """True if anything was sent that may have to be paid for."""
        return any(batch.state != "noted" for batch in self.journal.batches)

    def must_not_wait(self) -> None:
        """Refuse to ask singly what batches are answering."""
        waiting = [batch for batch in self.journal.batches if batch.waits]
        if waiting:
            raise InputError(
                f"{self._folder} waits for {_counted(waiting)}. Run the same command with "
                f"{argument('batch', True)}, so that nothing is paid for twice."
            )

    def until_answered(
        self, collect: Callable[[], None], asking: Asking, *, wait: float, report: Report | None
    ) -> None:
        """Ask all questions in batches, stage by stage."""
        private_folder(self._files)
        self.noting.prices = asking.price
        until = time.monotonic() + wait
        pause = FIRST_POLL
        while True:
            self._advance_all(asking)
            waiting = [batch for batch in self.journal.batches if batch.waits]
            if waiting and not self._unsent:
                left = until - time.monotonic()
                if left <= 0:
                    raise self._waiting(waiting)
                # By the asker, whose end ends the wait.
                asking.wait(asyncio.sleep(min(pause, left)))
                pause = min(2 * pause, LONGEST_POLL)
                continue
            self._unsent = False
            pause = FIRST_POLL
            with self.journal.together():
                self.noting.begin()
                try:
                    collect()
                finally:
                    noted = self.noting.end()
            if not noted and not waiting:
                return
            self._afford(noted, asking)
            self._tell(noted, asking, report)
            for batch in noted:
                asking.wait(self._follower(batch).send(batch))

    def read(self, work: Callable[[], Result]) -> Result:
        """Do what asks singly what is left; what batches brought is read."""
        with self.journal.together():
            return work()

    def finished(self) -> None:
        self.journal.close_round()
        without_files(self._files, self.journal)

    def close(self) -> None:
        self.journal.close()

    def _advance_all(self, asking: Asking) -> None:
        """Take the results of all batches; one that cannot be read keeps no other back."""
        faults = []
        for batch in [waiting for waiting in self.journal.batches if waiting.waits]:
            try:
                follower = self._follower(batch)
                created: KeptBatch | None = batch
                if batch.state == "creating":
                    created = asking.wait(follower.find(batch))
                if created is None:
                    self.journal.drop(batch)
                    self._unsent = True
                elif created.state == "sent":
                    asking.wait(follower.follow(created))
            except ModelError as fault:
                faults.append(fault)
        if faults:
            raise faults[0]

    def _afford(self, noted: Sequence[KeptBatch], asking: Asking) -> None:
        budget = asking.budget
        waiting = [batch for batch in self.journal.batches if batch.waits]
        questions = sum(batch.requests for batch in noted)
        before = budget.calls + sum(batch.requests for batch in waiting)
        if budget.max_calls is not None and before + questions > budget.max_calls:
            self._drop_all(noted)
            raise InputError(
                f"The next batches have {questions:,} questions, and "
                f"{max(0, budget.max_calls - before):,} of the {budget.max_calls:,} calls of "
                f"{argument('max_calls')} are left. None was sent. Raise "
                f"{argument('max_calls')}, and run the same command again."
            )
        if budget.usd is None:
            return
        expected = sum(batch.expected or 0.0 for batch in noted)
        spent = budget.spent + sum(batch.expected or 0.0 for batch in waiting)
        if spent + expected > budget.usd:
            self._drop_all(noted)
            raise InputError(
                f"The next batches are expected to cost ${expected:.4f}, and "
                f"${max(0.0, budget.usd - spent):.4f} of {argument('budget')} are left. None was "
                f"sent. Raise {argument('budget')}, and run the same command again."
            )

    def _drop_all(self, noted: Sequence[KeptBatch]) -> None:
        for batch in noted:
            self.journal.drop(batch)
        without_files(self._files, self.journal)

    def _tell(self, noted: Sequence[KeptBatch], asking: Asking, report: Report | None) -> None:
        if report is None:
            return
        for batch in noted:
            price = asking.price(self._model(batch))
            usd = "" if batch.expected is None else f"{batch.expected:.4f}"
            share = "" if price is None else f"{price.batch:g}"
            note = reason("batch_to_send", of=batch.model, n=batch.requests, usd=usd, share=share)
            report(Progress("sending", 0, None, asking.counts(), note))

    def _follower(self, batch: KeptBatch) -> BatchFollower:
        batches = batches_of(self._model(batch))
        assert batches is not None
        return BatchFollower(self.journal, self._files, batches)

    def _model(self, batch: KeptBatch) -> ChatModel:
        model = self._models.get(batch.model)
        if model is None:
            raise ModelError(
                f"{self._folder} has a batch of {batch.model}, which is no judge of this run. Name "
                f"another folder with {argument('out')}."
            )
        return model

    def _waiting(self, waiting: Sequence[KeptBatch]) -> BatchesWaiting:
        listed = "; ".join(
            f"{batch.id} ({batch.model}, {batch.said or 'sent'}, {batch.answered:,} of "
            f"{batch.requests:,} answered)"
            if batch.id
            else f"a batch of {batch.model} that was being sent when the run was stopped, and is "
            "looked for again"
            for batch in waiting
        )
        words = f"{self._folder} waits for {_counted(waiting)}: {listed}. Run the same command "
        ids = [batch.id for batch in waiting if batch.id]
        return BatchesWaiting(f"{words}again to go on.", self._folder, ids)


def check_batches(models: Sequence[ChatModel], rest: str, wait: float) -> Rest:
    """Refuse what cannot be asked in batches, before anything is sent."""
    lacking = [model.name for model in models if batches_of(model) is None]
    if lacking:
        other = OTHER.format(batch=argument("batch", True))
        raise InputError(f"{', '.join(lacking)}: no batches there. {other}")
    if not models:
        raise InputError(
            f"{argument('batch', True)} needs a judge that is a model, such as "
            f"{argument('judge', 'openai:MODEL')}."
        )
    for way in RESTS:
        if way == rest:
            if not wait >= 0:
                raise InputError(f"{argument('batch_wait', f'{wait:g}')}: expected 0 or more.")
            return way
    raise InputError(f"{argument('batch_rest', rest)}: expected {' or '.join(RESTS)}.")


def _counted(batches: Sequence[KeptBatch]) -> str:
    questions = sum(batch.requests for batch in batches)
    many = "1 batch" if len(batches) == 1 else f"{len(batches)} batches"
    return f"{many} with {questions:,} question{'' if questions == 1 else 's'}"
