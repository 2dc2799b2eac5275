"""Violations: labels of people that break a hard rule, as a file of the run lists them."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ragstone.data import Example, violations

from .written import as_line


class Violations:
    """Those of the examples that passed by; they are never repaired, but scored as given.

    Attributes:
        rules: How often each rule is broken.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.rules = Counter[str]()

    @property
    def lines(self) -> str:
        """One for each rule that is broken, as ``label_violations.jsonl`` has them."""
        return "".join(self._lines)

    def watch(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples, unchanged."""
        for example in examples:
            for one in violations(example.labels) if example.labels else ():
                self.rules[one.rule] += 1
                record = {
                    "example_id": example.id,
                    "rule": one.rule,
                    "severity": one.severity,
                    "where": one.where,
                }
                self._lines.append(as_line(record))
            yield example
