"""People: what people's labels of drawn answers make of the metrics, as scores beside the judge's.

Only labels of the queue whose answers were drawn by chance count. A metric's value by people is its
own rule over their judgements; where these do not settle it, there is none.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

from ragstone.database.postgres_address import POSTGRES
from ragstone.labels.queue.address import FILE, StoreAddress
from ragstone.labels.queue.queue import queues
from ragstone.labels.queue.records import queue_records
from ragstone.labels.queue.snapshot import labels_as_they_are
from ragstone.labels.queue.work import queue_version
from ragstone.monitor.labelling import DRAWN
from ragstone.monitor.settings.rule import GUARD
from ragstone.monitor.store.kept import keep, remembered
from ragstone.monitor.store.labelled_examples import ExampleToScore, examples_to_score
from ragstone.monitor.store.scored_metrics import scored_metrics
from ragstone.monitor.store.scores import NewScore, ScoredExample, write_scores
from ragstone.monitor.store.store import MonitorStore
from ragstone.run.evaluate import evaluate

EVERY = 60.0
TAKEN = "labels_taken"


class People:
    """Takes over what people labelled.

    Args:
        store: What is monitored; people's labels lie in the same folder or database.
        now: Seconds since the epoch.
    """

    def __init__(self, store: MonitorStore, now: Callable[[], float] = time) -> None:
        self._store, self._now = store, now
        self._next = 0.0
        on_server = store.place.startswith(POSTGRES)
        self._labels = StoreAddress(store.place if on_server else str(store.folder / FILE))

    def step(self) -> int:
        """Score what people labelled, where they said more; gives how many answers that were."""
        now = self._now()
        if now < self._next:
            return 0
        self._next = now + EVERY
        said, version = self._labelled()
        chances = {row["id"]: float(row["inclusion_probability"]) for row in said}
        with self._store.database.reading() as run:
            metrics = [one for one in scored_metrics(run) if not GUARD.fullmatch(one)]
            known = [version, metrics]
            if not chances or not metrics or remembered(run, TAKEN) == known:
                return 0
            examples = examples_to_score(run, list(chances))
        scores = scores_by_people(examples, said, metrics) if examples else []
        with self._store.database.transaction() as run:
            kept = {one.example: one for one in examples_to_score(run, list(chances))}
            of = {
                name: ScoredExample(one.at, one.version, chances[name])
                for name, one in kept.items()
            }
            there = [one for one in scores if one.example in of]
            write_scores(run, now, "people", there, of, ("people",))
            keep(run, TAKEN, known)
        return len({one.example for one in there})

    def _labelled(self) -> tuple[list[dict[str, Any]], list[int]]:
        """What was said of drawn answers, as rows of labels; and what changes with more."""
        if self._labels.is_file and not Path(self._labels.place).is_file():
            return [], []
        with labels_as_they_are(self._labels) as database:
            if database is None or all(one.name != DRAWN for one in queues(database)):
                return [], []
            with database.reading() as run:
                version = queue_version(run, DRAWN)
            rows = [row for row in queue_records(database, DRAWN) if row["inclusion_probability"]]
        return rows, list(version)


def scores_by_people(
    examples: Sequence[ExampleToScore], said: Sequence[Mapping[str, Any]], metrics: Sequence[str]
) -> list[NewScore]:
    """The scores that people's judgements settle.

    Args:
        examples: That were labelled.
        said: Rows of labels, of these and perhaps of others.
        metrics: Their text forms.
    """
    there = {one.example for one in examples}
    with TemporaryDirectory() as folder:
        data, labels = Path(folder) / "examples.jsonl", Path(folder) / "labels.jsonl"
        data.write_text("".join(f"{one.record}\n" for one in examples), encoding="utf-8")
        labels.write_text(
            "".join(f"{json.dumps(row)}\n" for row in said if row["id"] in there),
            encoding="utf-8",
        )
        run = evaluate(data, metrics=metrics, judge=[f"human:{labels}"])
        found = run.scores()
    return [
        NewScore(
            row["example_id"], row["metric"], row["value"], row["status"], row["reason"] or "",
            row["label"], "people",
        )
        for row in found.iter_rows(named=True)
        if row["status"] == "value"
    ]  # fmt: skip
