"""Violations: labels of people that break a hard rule, listed in a file as they pass."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ragstone.examples import Example, violations


class ViolationList:
    """Counts the violations by rule, and lists them in a file that is there only if there are any.

    Labels are never repaired: they are scored as given.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        path.unlink(missing_ok=True)

    def watch(self, examples: Iterator[Example]) -> Iterator[Example]:
        """The examples, unchanged."""
        for example in examples:
            if example.labels:
                self._list(example)
            yield example

    def _list(self, example: Example) -> None:
        found = violations(example.labels)
        if not found:
            return
        with self.path.open("a", encoding="utf-8") as handle:
            for one in found:
                self.counts[one.rule] += 1
                record = {
                    "example_id": example.id,
                    "rule": one.rule,
                    "severity": one.severity,
                    "where": one.where,
                }
                handle.write(json.dumps(record, ensure_ascii=False) + "\n")
