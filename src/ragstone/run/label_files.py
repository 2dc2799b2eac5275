"""Label files: people's labels in separate files, joined to their examples."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.annotation.label_table import LabelTable, is_joined
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import DataError, Fault
from ragstone.data import Example


class LabelFiles:
    """Joins label files to a stream of examples, and records what does not fit.

    Raises:
        DataError: A file that cannot be read, or holds no label that a judge could give.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [_read(path) for path in paths]
        self._ids = [set(labels.frame["example_id"]) for labels in self._files]
        self._open = [set(ids) for ids in self._ids]
        self._faults: list[Fault] = []

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._files)

    def join(self, examples: Iterator[Example]) -> Iterator[Example]:
        """The examples with their labels.

        Raises:
            DataError: At the end: rows about contexts that do not exist, or a
                file of which no row is about any example.
        """
        last = ""
        for example in examples:
            labelled = self._labelled(example)
            last = example.id
            if not self._faults:
                yield labelled
        for labels, ids, left in zip(self._files, self._ids, self._open, strict=True):
            if last and left == ids:
                known = f"the id of an example, such as {last}"
                self._faults += labels.faults(ids, "id", known)
        if self._faults:
            raise DataError(self._faults)

    def _labelled(self, example: Example) -> Example:
        for labels, ids in zip(self._files, self._open, strict=True):
            ids.discard(labels.name_of(example.id, example.system))
            try:
                example = labels.join(example)
            except DataError as error:
                self._faults += error.faults
        return example

    @property
    def unknown_ids(self) -> list[str]:
        """Ids in the files that no example has."""
        return sorted(set().union(*self._open))

    @property
    def notes(self) -> list[str]:
        """Notes on labels that were left out or interpreted."""
        return [note for labels in self._files for note in labels.notes]

    def ties(self) -> list[dict[str, Any]]:
        """Labels on which annotators are tied; they are left open."""
        return [
            {
                "file": labels.source,
                "example_id": tie.example_id,
                "context": tie.unit,
                "label": tie.name,
                "votes": list(tie.votes),
            }
            for labels in self._files
            for tie in labels.ties()
            if is_joined(tie.kind, tie.column)
        ]


def _read(path: Path) -> LabelTable:
    labels = read_label_table(path)
    if not any(is_joined(kind, column) for kind, column in labels.columns):
        there = ", ".join(dict.fromkeys(column for _, column in labels.columns)) or "none"
        expected = "a label that a judge could give (`ragstone agreement` takes the others)"
        raise DataError([Fault(labels.source, None, "", expected, there)])
    return labels
