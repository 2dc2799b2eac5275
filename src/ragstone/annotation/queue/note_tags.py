"""Tags: names for what goes wrong, which people's notes are sorted into.

A tag is on an item, and so on its example. Two names that differ only in case are one tag. Who
wrote a note is not told; who tagged is, in the events of the queue.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.core.database import Sql, rows_of
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import reason
from ragstone.stats.correction.corrected import ONE_CLUSTER
from ragstone.stats.correction.labels_only import rate_of_labels
from ragstone.stats.distributions import Interval
from ragstone.stats.weights_and_groups import codes_of, shared_codes

from .labels_store import LabelDatabase, last_numbers
from .queue import Queue

# Characters of a tag's name.
MOST_TAG = 60

# Between the names of several tags.
SEPARATOR = ","

# What an item shows of its example, by which the example is known again.
TEXTS = ("question", "answer")


# The texts of examples, by their ids.
TextLookup = Callable[[list[str]], Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class TaggedNote:
    """A note on an item, without its author; ``question`` is empty where the item shows none."""

    item: int
    id: str
    question: str
    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TagCount:
    """The frequency of a tag.

    Attributes:
        n: Labelled items with the tag.
        labelled: Items that somebody labelled; discarded ones are not.
        share: Share of labelled items, each weighted by the inverse of its probability, if known.
        interval: Over questions.
        why: The reason why there is no interval.
    """

    tag: str
    n: int
    labelled: int
    share: float | None
    interval: Interval | None
    why: str


def store_tags(database: LabelDatabase) -> dict[str, list[str]]:
    """Return the tags of each queue of a store that has any."""
    tags: dict[str, list[str]] = {}
    statement = "SELECT DISTINCT queue, tag FROM tagged ORDER BY queue, tag"
    for queue, tag in rows_of(database, statement):
        tags.setdefault(queue, []).append(tag)
    return tags


def tags_version(database: LabelDatabase) -> tuple[int, ...]:
    """Return numbers that change as soon as something is tagged, labelled or decided."""
    with database.reading() as run:
        return last_numbers(run)


class QueueTags:
    """The tags of a queue."""

    def __init__(self, database: LabelDatabase, queue: Queue) -> None:
        self._database, self._queue = database, queue

    def names(self) -> list[str]:
        """Return the tags that items carry, in alphabetical order."""
        with self._database.reading() as run:
            return self._names(run)

    def notes(self) -> list[TaggedNote]:
        """Return the notes of annotators and adjudicators, in the order of the items."""
        saves = self._queue.said()
        with self._database.reading() as run:
            items, tags = self._items(run), self._tags(run)
        notes = []
        for item, text in sorted((s.item, s.answers.note) for s in saves if s.answers.note):
            id, content = items[item]
            question = str(content.get("question") or "")
            notes.append(TaggedNote(item, id, question, text, tuple(tags.get(item, ()))))
        return notes

    def add(self, item: int, names: str, by: str = "") -> None:
        """Put one tag, or several with commas between, on an item."""
        new_names = [_name(name) for name in names.split(SEPARATOR) if name.strip()] or [_name("")]
        self._queue.item(item)
        with self._database.transaction() as run:
            for name in new_names:
                known = _among(name, self._names(run)) or name
                if run(
                    "INSERT INTO tagged VALUES (?, ?, ?) ON CONFLICT (queue, item, tag) "
                    "DO NOTHING RETURNING item",
                    self._queue.name, item, known,
                ):  # fmt: skip
                    self._queue.record(run, by, "tagged", f"{item}: {known}")

    def remove(self, item: int, name: str, by: str = "") -> None:
        """Take a tag off an item; a tag that no item carries is gone."""
        with self._database.transaction() as run:
            if run(
                "DELETE FROM tagged WHERE queue = ? AND item = ? AND tag = ? RETURNING item",
                self._queue.name, item, name,
            ):  # fmt: skip
                self._queue.record(run, by, "untagged", f"{item}: {name}")

    def rename(self, name: str, to: str, by: str = "") -> None:
        """Rename a tag, unless another has the new name."""
        new = _name(to)
        with self._database.transaction() as run:
            self._known(run, name)
            other = _among(new, self._names(run))
            if other not in ("", name):
                raise InputError(f"There is a tag {other!r} already: merge {name!r} into it.")
            run(
                "UPDATE tagged SET tag = ? WHERE queue = ? AND tag = ?",
                new, self._queue.name, name,
            )  # fmt: skip
            self._queue.record(run, by, "tag renamed", f"{name} → {new}")

    def merge(self, name: str, into: str, by: str = "") -> None:
        """Move the items of one tag to another."""
        if name == into:
            raise InputError(f"Choose another tag to merge {name!r} into.")
        here = self._queue.name
        with self._database.transaction() as run:
            self._known(run, name)
            self._known(run, into)
            run(
                "DELETE FROM tagged WHERE queue = ? AND tag = ? AND item IN "
                "(SELECT item FROM tagged WHERE queue = ? AND tag = ?)",
                here, name, here, into,
            )  # fmt: skip
            run("UPDATE tagged SET tag = ? WHERE queue = ? AND tag = ?", into, here, name)
            self._queue.record(run, by, "tags merged", f"{name} → {into}")

    def drop(self, name: str, by: str = "") -> None:
        """Take a tag off all items."""
        with self._database.transaction() as run:
            self._known(run, name)
            run("DELETE FROM tagged WHERE queue = ? AND tag = ?", self._queue.name, name)
            self._queue.record(run, by, "tag dropped", name)

    def counts(self, level: float = 0.95) -> list[TagCount]:
        """Count each tag among the labelled items, the most common first."""
        labelled = self._labelled()
        chances = self._queue.inclusion()
        with self._database.transaction() as run:
            items, by_item = self._items(run), self._tags(run)
            names = self._names(run)
        weights = None if chances is None else [1 / chances[item] for item in labelled]
        questions = self._queue.questions()
        of = [items[item][0] for item in labelled]
        clusters = shared_codes(codes_of([questions.get(id, f"\0{id}") for id in of]))
        tag_counts = []
        for name in names:
            carries = np.array([float(name in by_item.get(item, ())) for item in labelled])
            rate = rate_of_labels(carries, weights=weights, clusters=clusters).at(level)
            why = ""
            if chances is None:
                why = reason("labelled_not_drawn")
            elif rate.reason == ONE_CLUSTER:
                why = reason(ONE_CLUSTER, noun="question")
            elif rate.reason:
                why = reason("nothing_labelled")
            interval, n = None if why else rate.interval, int(carries.sum())
            tag_counts.append(TagCount(name, n, len(labelled), rate.value, interval, why))

        return sorted(tag_counts, key=lambda count: (-count.n, count.tag.casefold()))

    def examples(self, texts: TextLookup | None = None) -> tuple[set[str], dict[str, set[str]]]:
        """Return the ids of the labelled examples, and of those with each tag.

        ``texts`` gives question and answer of examples with these ids, as far as known; an
        example of which people saw another answer is left out. None: all examples of the queue.
        """
        labelled = self._labelled()
        with self._database.transaction() as run:
            items, by_item = self._items(run), self._tags(run)
        known = None if texts is None else texts(list({items[item][0] for item in labelled}))
        labelled_ids, by_tag = set[str](), dict[str, set[str]]()
        for item in labelled:
            id, content = items[item]
            read = {name: content[name] for name in TEXTS if isinstance(content.get(name), str)}
            if known is not None and not (id in known and read.items() <= known[id].items()):
                continue
            labelled_ids.add(id)
            for name in by_item.get(item, ()):
                by_tag.setdefault(name, set()).add(id)
        return labelled_ids, dict(sorted(by_tag.items()))

    def _labelled(self) -> list[int]:
        saved = self._queue.said()
        decided = {save.item: save.answers for save in saved if save.role == "adjudicator"}
        items = dict.fromkeys(save.item for save in saved if not save.answers.discarded)
        return sorted(item for item in items if item not in decided or not decided[item].discarded)

    def _items(self, run: Sql) -> dict[int, tuple[str, Mapping[str, Any]]]:
        rows = run("SELECT item, id, shown FROM items WHERE queue = ?", self._queue.name)
        return {item: (id, json.loads(content)) for item, id, content in rows}

    def _tags(self, run: Sql) -> dict[int, list[str]]:
        rows = run("SELECT item, tag FROM tagged WHERE queue = ?", self._queue.name)
        tags: dict[int, list[str]] = {}
        for item, tag in sorted(rows, key=lambda row: (row[0], row[1].casefold())):
            tags.setdefault(item, []).append(tag)
        return tags

    def _names(self, run: Sql) -> list[str]:
        rows = run("SELECT DISTINCT tag FROM tagged WHERE queue = ?", self._queue.name)
        return sorted((tag for (tag,) in rows), key=str.casefold)

    def _known(self, run: Sql, name: str) -> None:
        known = self._names(run)
        if name not in known:
            raise UnknownName("tag", name, known)


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not 0 < len(name) <= MOST_TAG or not name.isprintable() or SEPARATOR in name:
        raise InputError(f"A tag has 1 to {MOST_TAG} characters that can be printed, and no comma.")
    return name


def _among(name: str, known: Sequence[str]) -> str:
    return next((tag for tag in known if tag.casefold() == name.casefold()), "")
