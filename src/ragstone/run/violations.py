"""Violations: labels of people that break a hard rule, as a file of the run lists them."""

from collections.abc import Iterator
from typing import Any

from ragstone.examples import Example, violations


def violation_records(example: Example) -> Iterator[dict[str, Any]]:
    """One for each rule that is broken; labels are never repaired, but scored as given."""
    if not example.labels:
        return
    for one in violations(example.labels):
        yield {
            "example_id": example.id,
            "rule": one.rule,
            "severity": one.severity,
            "where": one.where,
        }
