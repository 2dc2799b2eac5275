"""Tagged: which answers of a run people tagged, in all queues of the store."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import polars as pl

from ragstone.annotation.queue.note_tags import QueueTags, store_tags, tags_version
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import RagstoneError
from ragstone.run import Run

from .later import PATIENCE
from .runs_folder import RunsFolder


@dataclass(frozen=True, slots=True)
class TagSlice:
    """The answers with a tag, and those that people labelled without it, by the ids of examples."""

    tagged: frozenset[str]
    others: frozenset[str]


Tags = Mapping[str, TagSlice]
TagLookup = Callable[[], Tags]


def tags_of(place: RunsFolder, name: str, patience: float = PATIENCE) -> Tags | None:
    """The tags that answers of a run carry; None while they are being looked up.

    A store that cannot be used has none; the pages of its queues say what is wrong with it.
    """
    with suppress(RagstoneError):
        with place.labels_to_read() as database:
            known = store_tags(database) if database else {}
            version = tags_version(database) if database and known else ()
        if known:
            key = ("tags", place.stamp(name), version)
            return place.later.get(key, lambda: _of(place, place.run(name)), patience)
    return {}


def _of(place: RunsFolder, run: Run) -> Tags:
    def texts(ids: list[str]) -> dict[str, dict[str, str]]:
        there = run.examples(["id", "question", "answer"], where=pl.col("id").is_in(ids))
        return {row.pop("id"): row for row in there.to_dicts()}

    known: dict[str, str] = {}
    tagged: dict[str, set[str]] = {}
    labelled: dict[str, set[str]] = {}
    with place.labels_to_read() as database:
        if database is None:
            return {}
        for queue, names in store_tags(database).items():
            found = QueueTags(database, Queue(database, queue)).examples(texts)
            for name in names:
                tag = known.setdefault(name.casefold(), name)
                tagged.setdefault(tag, set()).update(found.by_tag.get(name, ()))
                labelled.setdefault(tag, set()).update(found.labelled)
    return {
        tag: TagSlice(frozenset(ids), frozenset(labelled[tag] - ids))
        for tag, ids in sorted(tagged.items(), key=lambda one: one[0].casefold())
        if ids
    }
