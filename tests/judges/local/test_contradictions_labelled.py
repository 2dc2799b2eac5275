"""Contradiction: how often `contradicted` is right, by labels after contradictions/guideline.md.

``benchmarks/contradictions.py`` computes the figures that benchmarks/local-judge.md shows.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.scripts import FOLDER, script

contradictions = script("contradictions")
DOCS = FOLDER / "local-judge.md"

LABELS = 200
PRECISION = 0.8


def counts(rows: Sequence[dict[str, Any]], called: Sequence[bool]) -> Counter[tuple[bool, bool]]:
    return Counter((row["contradicts"], said) for row, said in zip(rows, called, strict=True))


def test_claims_of_our_own_are_called_contradicted_where_they_are() -> None:
    rows = contradictions.labelled("own")
    found = counts(rows, contradictions.called_own())
    assert found == {(True, True): 33, (True, False): 7, (False, False): 41, (False, True): 1}


def test_each_label_has_a_reason_and_stands_once() -> None:
    for name in ("own", "labelled"):
        rows = contradictions.labelled(name)
        assert all(row["why"] for row in rows)
        texts = [
            (row["claim"], row.get("context"), row.get("against"), row.get("source"))
            for row in rows
        ]
        assert len(texts) == len(set(texts))
    assert len(rows) == LABELS
    assert {row["rule"] for row in rows} == {"other_number", "denial", "opposite", "other_name"}


def test_no_text_of_the_labelled_sets_is_kept() -> None:
    assert all(re.fullmatch("[0-9a-f]{16}", row["claim"]) for row in contradictions.labelled())


@pytest.mark.usefixtures("shared")
def test_four_in_five_that_are_called_contradicted_are() -> None:
    found = counts(contradictions.labelled(), contradictions.called())
    still = found[True, True] + found[False, True]
    assert found[True, True] >= PRECISION * still
    assert still >= 25


@pytest.mark.usefixtures("shared")
def test_the_docs_show_the_figures_of_the_labels() -> None:
    page = DOCS.read_text(encoding="utf-8")
    for cells in contradictions.table():
        assert f"| {' | '.join(cells)} |" in page
