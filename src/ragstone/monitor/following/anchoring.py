"""Anchoring: a fixed set is judged again and again; ``numbers.judge_drift`` reads the rounds."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time

from ragstone.core.files import private_folder
from ragstone.data import as_record, read
from ragstone.monitor.settings.judging import JudgingSettings
from ragstone.monitor.store.anchors import (
    anchors,
    draw_anchors,
    last_round,
    put_anchors,
    write_round,
)
from ragstone.monitor.store.store import MonitorStore
from ragstone.run import Limits
from ragstone.run.judging.named_models import Named

from .judged_run import judge_signature
from .judging import judged_run
from .sampling import lot, sampling_seed

ANCHORS = "anchors"
MOST = 50
"""Examples of the set."""

LEAST_JUDGED = 200
"""Judged examples from which the set is drawn."""

EVERY = 86_400.0
"""Seconds between two rounds."""


@dataclass(frozen=True)
class Anchoring:
    """Judges the set anew from time to time.

    Args:
        store: Where all of it is.
        settings: What is judged, by whom.
        every: Seconds between two rounds.
        now: Seconds since the epoch.
        judge: Judges in the place of those that the settings name.
    """

    store: MonitorStore
    settings: JudgingSettings = JudgingSettings()  # noqa: RUF009
    every: float = EVERY
    now: Callable[[], float] = time
    judge: Named | None = None

    def step(self) -> int:
        """Draw the set once there is enough to draw from, or judge it where it is time."""
        now = self.now()
        with self.store.database.reading() as run:
            at, known = last_round(run), anchors(run)
        if at is not None and now - at < self.every:
            return 0
        if not known:
            with self.store.database.transaction() as run:
                seed = sampling_seed(run)
                draw = partial(lot, f"anchors {seed}")
                return draw_anchors(run, LEAST_JUDGED, MOST, draw)
        folder = self.store.folder / ANCHORS
        private_folder(folder)
        file = folder / "examples.jsonl"
        file.write_text("".join(f"{record}\n" for record in known.values()), "utf-8")
        limits = Limits(budget=self.settings.usd_an_hour, prices=self.settings.prices, cached=False)
        found = judged_run(file, folder / "run", self.settings, limits, judge=self.judge)
        values = [
            (row["example_id"], row["metric"], row["value"])
            for row in found.scores().iter_rows(named=True)
        ]
        with self.store.database.transaction() as run:
            write_round(run, now, values, judge_signature(found))
        shutil.rmtree(folder, ignore_errors=True)
        return len(known)


def read_anchors(store: MonitorStore, file: Path) -> int:
    """Take the examples of a file for the set, in the place of an earlier one; gives how many.

    Raises:
        DataError: It cannot be read.
    """
    records = {one.id: json.dumps(as_record(one), ensure_ascii=False) for one in read(file)}
    with store.database.transaction() as run:
        put_anchors(run, records)
    return len(records)
