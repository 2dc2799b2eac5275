"""Judging: drawn answers judged in batches as by ``ragstone evaluate``, and anchors re-judged.

A batch has a folder with its run and the run's journal. After a kill it goes on as the same batch
and pays for nothing twice; its results are written together with the fact that it is done.

Anchors are a fixed set of examples that is judged in rounds, from which the drift of the judge is
measured.
"""

import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from pathlib import Path
from threading import Event
from time import time
from typing import Any
from uuid import uuid4

import polars as pl

from ragstone.core.database import Sql
from ragstone.core.errors import DataError, RagstoneError
from ragstone.core.files import private_folder
from ragstone.core.messages import reason
from ragstone.judgements import KINDS
from ragstone.monitor.settings.sections import JudgingSettings
from ragstone.monitor.store import batches
from ragstone.monitor.store.draws import due_before, lot
from ragstone.monitor.store.rows import keep, remembered
from ragstone.monitor.store.scores import NewScore, missing_score
from ragstone.monitor.store.store import MonitorStore
from ragstone.run import Limits, Run
from ragstone.run.evaluate import Cancellation, evaluated
from ragstone.run.folder.run_tally import UNANSWERED
from ragstone.run.judging.run_models import Named
from ragstone.run.request import Request

from .draw_answers import COST, sampling_seed
from .periodic_steps import fault_text

# Parts of a run's signature that do not say how it was judged.
OF_THE_BATCH = ("data:", "cluster:")

# Rows of the ledger where a model may answer if it is asked again.
FAILED = (
    pl.col("status").is_in(["failed", "truncated"]) & (pl.col("requests").list.len() > 0)
) | UNANSWERED


def judge_signature(run: Run) -> str:
    """Return who judged, with versions; the same for all batches that are judged alike."""
    parts = run.signature.split("|")
    return "|".join(part for part in parts if not part.startswith(OF_THE_BATCH))


def judged_examples(
    run: Run, examples: Iterable[str], metrics: Sequence[str]
) -> tuple[list[NewScore], dict[str, str], set[str]]:
    """Return scores of examples, their judgements as JSON, and those at which a judge failed."""
    judge = judge_signature(run)
    by_example: defaultdict[str, list[NewScore]] = defaultdict(list)
    for row in run.scores().iter_rows(named=True):
        example = row["example_id"]
        score = NewScore(
            example, row["metric"], row["value"], row["status"], row["reason"] or "", row["label"],
            judge,
        )  # fmt: skip
        by_example[example].append(score)
    scores, judgements, rows = list[NewScore](), dict[str, str](), _judgements(run)
    for example in examples:
        scores += by_example.get(example) or [
            missing_score(example, metric, "example_not_readable", judge) for metric in metrics
        ]
        judgements[example] = json.dumps(rows.get(example, {}), default=str)
    missing = {score.example for score in scores if score.status == "missing"}
    return scores, judgements, missing & set(run.ledger().filter(FAILED)["example_id"])


def _judgements(run: Run) -> dict[str, dict[str, list[dict[str, Any]]]]:
    by_example: defaultdict[str, dict[str, list[dict[str, Any]]]] = defaultdict(dict)
    for kind in KINDS:
        if run.folder.has(kind):
            for row in run.judgements(kind).iter_rows(named=True):
                example = row.pop("example_id")
                by_example[example].setdefault(kind, []).append(row)
    return by_example


FOLDER = "judging"
EXAMPLES, RUN = "examples.jsonl", "run"
REPLIES = "replies"

# Examples of a batch.
MOST = 100

# Kept: examples of a batch, which are fewer after one that could not be judged.
MOST_NOW = "judging_most"

# How often a batch is begun; then it is divided, or its example set aside.
MOST_BEGUN = 3

# Seconds until the judges are asked again after all of a batch failed: at first, and at most.
WAIT, LONGEST_WAIT = 30.0, 600.0

# Seconds after which what is due is given up: an alarm about a day ago helps nobody.
GIVEN_UP = 86_400.0

# The weight of the earlier cost of judging in the running mean; the last batch has the rest.
MEMORY = 0.8


@dataclass
class Judging:
    """Judges what is due, within the budget."""

    store: MonitorStore
    settings: JudgingSettings = JudgingSettings()  # noqa: RUF009
    now: Callable[[], float] = time
    judge: Named | None = None
    _failures: int = 0
    _waits_until: float = 0.0
    _stopping: Event = field(default_factory=Event)
    _cancellation: Cancellation = field(default_factory=Cancellation)

    def step(self) -> int:
        """Judge a batch, the unfinished one first; gives how many examples it had."""
        self._give_up()
        # Where the clock was set back, the wait is over, too.
        waits = self.now() < self._waits_until <= self.now() + LONGEST_WAIT
        if waits or self._stopping.is_set():
            return 0
        batch = self._begun() or self._chosen()
        if batch is None:
            return 0
        if batch.tries > MOST_BEGUN:
            self._divide(batch, reason("judging_died"), died=True)
            return len(batch.examples)
        try:
            run = self._judged(batch)
            if run is None:
                return 0
        except Exception as error:
            if self._stopping.is_set():
                return 0
            if isinstance(error, RagstoneError) and not isinstance(error, DataError):
                # No judge can be had, or not with these settings: no example is at fault.
                self._keep(replace(batch, tries=batch.tries - 1))
                pause = self._wait()
                text = f"Nothing can be judged; tried again in {pause:g} s. {error}"
                self.store.log(self.now(), "error", text)
                return 0
            self.store.log(self.now(), "error", f"Judging failed ({fault_text(error)}).")
            self._divide(batch, reason("judging_failed", error=type(error).__name__))
        else:
            self._write(batch, run)
        return len(batch.examples)

    def stop(self) -> None:
        """Put no further question; the batch goes on with the next process."""
        self._stopping.set()
        self._cancellation.cancel()

    def _give_up(self) -> None:
        now = self.now()
        before = now - GIVEN_UP if self.settings.metrics else now + 1
        with self.store.database.reading() as run:
            late = due_before(run, before) > 0
        while late and not self._stopping.is_set():
            with self.store.database.transaction() as run:
                # A batch with an answer that is late is divided anew; its replies are kept.
                batches.keep_batch(run, None)
                why = reason("judging_shed", hours=round(GIVEN_UP / 3600))
                late = batches.shed(run, now, before, self.settings.metrics, why, MOST) == MOST

    def excuse(self) -> None:
        """Count a batch that is cut short as not begun: the process does not end by its fault."""
        with self.store.database.transaction() as run:
            batch = batches.current_batch(run)
            if batch is not None and batch.tries:
                batches.keep_batch(run, replace(batch, tries=batch.tries - 1))

    def _begun(self) -> batches.JudgingBatch | None:
        with self.store.database.reading() as run:
            batch = batches.current_batch(run)
        self._sweep(batch)
        if batch is None:
            return None
        if batch.how != self._how:
            text = "Metrics or judges changed: what was half judged is begun anew."
            self.store.log(self.now(), "info", text)
            shutil.rmtree(self._folder(batch), ignore_errors=True)
            batch = replace(batch, how=self._how, tries=0)
        batch = replace(batch, tries=batch.tries + 1)
        self._keep(batch)
        return batch

    def _chosen(self) -> batches.JudgingBatch | None:
        now = self.now()
        with self.store.database.transaction() as run:
            most, usd = self._affordable(run, now)
            examples = batches.next_due(run, now, most) if most else {}
            if not examples:
                return None
            batch = batches.JudgingBatch(uuid4().hex, examples, 1, usd, self._how)
            batches.keep_batch(run, batch)
        return batch

    def _affordable(self, run: Sql, now: float) -> tuple[int, float | None]:
        answers, usd = batches.spent(run, now)
        most = remembered(run, MOST_NOW, MOST)
        if self.settings.answers_an_hour is not None:
            most = min(most, max(0, self.settings.answers_an_hour - answers))
        if self.settings.usd_an_hour is None:
            return most, None
        left = self.settings.usd_an_hour - usd
        each = remembered(run, COST)
        if left <= 0:
            return 0, None
        return (min(most, ceil(left / each)) if each else most), left

    def _judged(self, batch: batches.JudgingBatch) -> Run | None:
        folder = self._folder(batch)
        file = folder / EXAMPLES
        if not file.exists():
            with self.store.database.reading() as sql:
                records = batches.records_of(sql, batch.examples)
            if not records:
                self._keep(None)
                self._drop(batch)
                return None
            private_folder(folder)
            unfinished = file.with_suffix(".unfinished")
            unfinished.write_text("".join(f"{record}\n" for record in records), "utf-8")
            unfinished.replace(file)
        cache = self.store.folder / FOLDER / REPLIES
        limits = Limits(budget=batch.usd, prices=self.settings.prices, cache=cache)
        run = judged_run(file, folder / RUN, self.settings, limits, self._cancellation, self.judge)
        if self._stopping.is_set():
            # What was cut short is asked when it goes on; it did not fail.
            self._keep(replace(batch, tries=batch.tries - 1))
            return None
        return run

    def _keep(self, batch: batches.JudgingBatch | None) -> None:
        with self.store.database.transaction() as run:
            batches.keep_batch(run, batch)

    def _write(self, batch: batches.JudgingBatch, run: Run) -> None:
        n = len(batch.examples)
        scores, judgements, failed = judged_examples(run, batch.examples, self.settings.metrics)
        if len(failed) == n:
            pause = self._wait()
            if n > 1 and batch.tries < MOST_BEGUN:
                text = f"No judge answered; they are asked again in {pause:g} s."
                self.store.log(self.now(), "warning", text)
                return
        else:
            self._failures = 0
        calls = run.form.calls
        usd = None if calls is None else calls.usd
        with self.store.database.transaction() as sql:
            batches.write_judged(
                sql, self.now(), batch, scores, judgements, failed, judge_signature(run), usd
            )
            most = remembered(sql, MOST_NOW, MOST)
            if not self._failures and most < MOST:
                keep(sql, MOST_NOW, min(MOST, 2 * most))
            if usd is not None:
                each = usd / n
                known = remembered(sql, COST)
                keep(sql, COST, each if known is None else MEMORY * known + (1 - MEMORY) * each)
        self._drop(batch)

    def _divide(self, batch: batches.JudgingBatch, why: str, *, died: bool = False) -> None:
        """After a fault that left no result: smaller batches; one example alone is at fault.

        Where the process died of it, so did all that it was doing besides: it gets no other try.
        """
        self._wait()
        n = len(batch.examples)
        with self.store.database.transaction() as run:
            # Kept, for this process may end before it takes the next batch.
            keep(run, MOST_NOW, max(1, n // 4))
            if n == 1:
                (example,) = batch.examples
                scores = [missing_score(example, metric, why) for metric in self.settings.metrics]
                batches.write_judged(
                    run, self.now(), batch, scores, {}, {example}, "", None, last=died
                )
            else:
                batches.keep_batch(run, None)
        self._drop(batch)

    def _wait(self) -> float:
        """Ask nobody for a while, which gets longer each time; gives the seconds."""
        pause = min(WAIT * 2.0**self._failures, LONGEST_WAIT)
        self._waits_until = self.now() + pause
        self._failures += 1
        return pause

    @property
    def _how(self) -> str:
        return json.dumps([self.settings.metrics, self.settings.judges])

    def _folder(self, batch: batches.JudgingBatch) -> Path:
        return self.store.folder / FOLDER / batch.id

    def _drop(self, batch: batches.JudgingBatch) -> None:
        """Remove what a batch wrote; replies are kept while something may be tried again."""
        shutil.rmtree(self._folder(batch), ignore_errors=True)
        with self.store.database.reading() as run:
            is_tried_again = batches.tried_before(run)
        if not is_tried_again:
            shutil.rmtree(self.store.folder / FOLDER / REPLIES, ignore_errors=True)

    def _sweep(self, batch: batches.JudgingBatch | None) -> None:
        """Remove the folders of batches that are done: a kill may have left one."""
        names = {REPLIES, *({batch.id} if batch else ())}
        folder = self.store.folder / FOLDER
        for item in folder.iterdir() if folder.is_dir() else ():
            if item.name not in names:
                shutil.rmtree(item, ignore_errors=True)


def judged_run(
    data: object,
    out: Path,
    settings: JudgingSettings,
    limits: Limits,
    cancellation: Cancellation | None = None,
    judge: Named | None = None,
) -> Run:
    """Run over examples by what the settings say."""
    request = Request(
        data, metrics=settings.metrics, judge=settings.judges if judge is None else judge, out=out,
        limits=limits, skip_bad=True, keep_thoughts=settings.keep_thoughts,
    )  # fmt: skip
    return evaluated(request, cancellation)


ANCHORS = "anchors"
# Examples of the set.
MOST_ANCHORS = 50

# Judged examples from which the set is drawn.
LEAST_JUDGED = 200

# Seconds between two rounds.
EVERY = 86_400.0


def judge_anchors(
    store: MonitorStore,
    settings: JudgingSettings,
    clock: Callable[[], float],
    judge: Named | None = None,
) -> int:
    """Draw the anchors once there is enough to draw from, or judge them where it is time."""
    now = clock()
    with store.database.reading() as run:
        at, known = batches.last_round(run, now), batches.anchors(run)
    if at is not None and now - at < EVERY:
        return 0
    if not known:
        with store.database.transaction() as run:
            draw = partial(lot, f"anchors {sampling_seed(run)}")
            return batches.draw_anchors(run, LEAST_JUDGED, MOST_ANCHORS, draw)
    folder = store.folder / ANCHORS
    private_folder(folder)
    file = folder / "examples.jsonl"
    file.write_text("".join(f"{record}\n" for record in known.values()), "utf-8")
    limits = Limits(budget=settings.usd_an_hour, prices=settings.prices, cached=False)
    judged = judged_run(file, folder / "run", settings, limits, judge=judge)
    values = judged.scores().select("example_id", "metric", "value").iter_rows()
    with store.database.transaction() as run:
        batches.write_round(run, now, values, judge_signature(judged))
    shutil.rmtree(folder, ignore_errors=True)
    return len(known)
