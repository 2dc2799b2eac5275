"""Label files: people's words from files of their own, joined to the examples they are about."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.errors import DataError, Fault
from ragstone.examples import Example, read_labels, with_labels


class LabelFiles:
    """Joins label files to a stream of examples, and keeps an eye on what does not fit."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [read_labels(path) for path in paths]
        self._open = [set(labels.merged) for labels in self._files]
        self._faults: list[Fault] = []

    def join(self, examples: Iterator[Example]) -> Iterator[Example]:
        """The examples with their labels.

        Raises:
            DataError: At the end: rows about contexts that are not there, or a
                file of which no row is about any example.
        """
        last = ""
        for example in examples:
            labelled = self._labelled(example)
            last = example.id
            if not self._faults:
                yield labelled
        for labels, ids in zip(self._files, self._open, strict=True):
            if last and len(ids) == len(labels.merged):
                known = f"the id of an example, such as {last}"
                self._faults += [
                    Fault(labels.source, row.line, "id", known, row.id) for row in labels.rows
                ]
        if self._faults:
            raise DataError(self._faults)

    def _labelled(self, example: Example) -> Example:
        for labels, ids in zip(self._files, self._open, strict=True):
            ids.discard(example.id)
            try:
                example = with_labels(example, labels)
            except DataError as error:
                self._faults += error.faults
        return example

    @property
    def unknown_ids(self) -> list[str]:
        """Ids in the files that no example has."""
        return sorted(set().union(*self._open))

    def ties(self) -> list[dict[str, Any]]:
        """Labels on which as many annotators say one thing as another; they stay open."""
        return [
            {
                "file": labels.source,
                "example_id": tie.id,
                "context": tie.context,
                "label": tie.label,
                "votes": list(tie.votes),
            }
            for labels in self._files
            for tie in labels.ties
        ]
