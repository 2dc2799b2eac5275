"""Erasure: removes old or surplus traces, and all that is known of a session or a user."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import time

from ragstone.annotation.queue.labels_store import FILE as LABELS
from ragstone.annotation.queue.labels_store import erase_items, open_labels
from ragstone.core.database import POSTGRES
from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.data.traces.redaction import hashed_id
from ragstone.monitor.settings.sections import RetentionSettings
from ragstone.monitor.store import incoming
from ragstone.monitor.store.batches import current_batch, keep_batch
from ragstone.monitor.store.rows import keep, last_heartbeat, remembered, worker_state
from ragstone.monitor.store.store import MonitorStore

from .fold_traces import Folding
from .judge_answers import ANCHORS, FOLDER, REPLIES

DAY = 86_400.0
GIGABYTE = 1_000_000_000
# Traces that go in one transaction.
PAGE = 100

# The least share of traces that is dropped when there are too many, so that this stays rare.
LEAST = 0.1

# How much a database may grow before more is dropped: a server does not give freed space back, but
# fills it again.
GROWN = 1.01

SIZE, LEFT = "retained_size", "retention_left"


def drop_old_traces(
    store: MonitorStore, settings: RetentionSettings, clock: Callable[[], float]
) -> int:
    """Let go of a page of traces that are too old or too many; gives how many went."""
    oldest = clock() - settings.days * DAY
    too_many = _too_many(store, settings)
    with store.database.transaction() as run:
        traces = incoming.oldest_traces(run, PAGE, before=oldest)
        if not traces and too_many:
            traces = incoming.oldest_traces(run, min(PAGE, too_many))
            keep(run, LEFT, max(0, too_many - len(traces)) if traces else 0)
        if traces:
            incoming.erase_traces(run, traces)
            incoming.erased(run)
        incoming.trim_before(run, oldest)
    return len(traces)


def _too_many(store: MonitorStore, settings: RetentionSettings) -> int:
    with store.database.reading() as run:
        left = int(remembered(run, LEFT, 0))
        before = float(remembered(run, SIZE, 0.0))
        traces = incoming.count_traces(run)
    if left:
        return left
    size, most = store.database.size(), settings.gigabytes * GIGABYTE
    if size <= most or size < GROWN * before:
        return 0
    n = ceil(max(LEAST, 1 - (1 - LEAST) * most / size) * traces)
    with store.database.transaction() as run:
        keep(run, SIZE, size)
        keep(run, LEFT, n)
    return n


@dataclass(frozen=True, slots=True)
class Erasure:
    """Counts of the data that was erased.

    Attributes:
        in_work: Whether some of them are being judged at this moment: their texts go as soon as
            that ends.
    """

    traces: int
    examples: int
    labelled: int
    malformed: int
    in_work: bool


def erase(
    store: MonitorStore,
    *,
    session: str | None = None,
    user: str | None = None,
    now: Callable[[], float] = time,
) -> Erasure:
    """Remove all traces with an answer in a session, or to a user.

    The bytes are gone from the store, its log of writes and the folders of judging. In PostgreSQL
    they are free for the server to write over.

    Raises:
        InputError: Neither is named.
    """
    require_person_or_session(session, user)
    # What is not folded yet has no session: afterwards it has.
    Folding(store, now=now).fold_all()
    with store.database.transaction() as run:
        traces = incoming.traces_of(run, sessions=_kept_as(session), people=_kept_as(user))
        examples = incoming.erase_traces(run, traces)
        malformed = incoming.erase_malformed(run, [session or "", user or ""])
        incoming.unlink_alarms(run, examples)
        incoming.erased(run)
        batch = current_batch(run)
        at_work = worker_state(last_heartbeat(run), now()) == "alive"
        held = batch is not None and not batch.examples.keys().isdisjoint(examples)
        if held and not at_work:
            keep_batch(run, None)
    folder = store.folder / FOLDER
    if held and batch is not None and not at_work:
        shutil.rmtree(folder / batch.id, ignore_errors=True)
    for item in (folder / REPLIES, store.folder / ANCHORS):
        shutil.rmtree(item, ignore_errors=True)
    labelled = _labels_of(store, examples)
    store.database.compact()
    return Erasure(len(traces), len(examples), labelled, malformed, held and at_work)


def require_person_or_session(session: str | None, user: str | None) -> None:
    """Require that somebody is named whose data is erased."""
    if not session and not user:
        raise InputError(f"Name {argument('session', 'ID')} or {argument('user', 'ID')}.")


def _kept_as(id: str | None) -> tuple[str, ...]:
    """Return an id as it was sent, or its hash where it held what is taken out."""
    return (id, hashed_id(id)) if id else ()


def _labels_of(store: MonitorStore, examples: list[str]) -> int:
    if not store.place.startswith(POSTGRES) and not (Path(store.place) / LABELS).is_file():
        return 0
    labels = open_labels(store.place)
    try:
        with labels.transaction() as run:
            n = erase_items(run, examples)
        if n:
            labels.compact()
    finally:
        labels.close()
    return n
