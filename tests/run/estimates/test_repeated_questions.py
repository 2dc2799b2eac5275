"""One question under several ids: clustered by its text, in estimates and in what rests on them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.analysis.comparison.compare import compare
from ragstone.analysis.release_gate.release_gate import gate
from ragstone.analysis.scored_run import Scored
from ragstone.run import Run
from ragstone.run.estimates.sums import repeated_questions


def rows(questions: int, ids: int, **more: Any) -> list[dict[str, Any]]:
    """Two systems, of which the first is right on every other question, under every id."""
    return [
        {
            "question_id": f"q{number}-{again}",
            "question": f"  What is   {'NUMBER' if again % 2 else 'number'} {number}?",
            "system": system,
            "answer": "yes" if system == "a" and number % 2 else "no",
            "reference": "yes",
            **more,
        }
        for system in ("a", "b")
        for number in range(questions)
        for again in range(ids)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("again") / "run"
    return evaluate(rows(20, 10), metrics="exact_match", out=out)


TOLD = "ids_share_questions?n=200&questions=20"


def test_rows_that_ask_the_same_share_a_cluster_whatever_their_ids(run: Run) -> None:
    for one in run.estimate_list:
        assert (one.n, one.clusters) in ((200, 20), (400, 20))
    once = evaluate(rows(20, 1), metrics="exact_match").estimate_list
    for one, other in zip(run.estimate_list, once, strict=True):
        assert one.low is not None
        assert other.low is not None
        assert one.value == other.value
        assert one.low == pytest.approx(other.low, abs=0.03)
    assert any(TOLD in remark for remark in run.manifest["remarks"])


def test_a_comparison_takes_no_more_pairs_than_there_are_questions(run: Run) -> None:
    found = compare(run)
    (one,) = found.comparisons
    assert (one.n_pairs, one.clusters) == (200, 20)
    assert one.p == pytest.approx(2 / 2**10), "ten questions differ, all one way"
    assert any(TOLD in note for note in found.notes)


def test_the_gate_and_what_calibrates_go_by_the_same_clusters(run: Run) -> None:
    assert Scored(run).facets["cluster"].n_unique() == 20
    result = gate(run, "exact_match >= 0.35", system="a")
    assert result.decision == "cannot_tell", "10 of 20, though 100 of 200 would hold"
    assert any(TOLD in note for note in result.notes)


def test_who_wants_rows_to_be_independent_says_so(run: Run, tmp_path: Path) -> None:
    assert Scored(run, cluster="id").facets["cluster"].n_unique() == 400
    alone = evaluate(rows(20, 10), metrics="exact_match", cluster="id", out=tmp_path / "run")
    assert alone.estimate_list[0].clusters == 400
    assert not any(TOLD in remark for remark in alone.manifest["remarks"])


def test_questions_behind_other_turns_are_other_questions() -> None:
    records = [
        one | {"history": [{"role": "user", "text": f"Of {at}."}]}
        for at, one in enumerate(rows(2, 1))
    ]
    assert evaluate(records, metrics="exact_match").estimate_list[0].clusters == 2


def test_an_id_without_a_text_is_a_question_of_its_own() -> None:
    ids = pl.Series(["a", "b", "c", "d", "a", "e"])
    found = repeated_questions(ids, pl.Series([1, 1, None, 2, None, None]))
    assert found.clusters(ids).to_list() == ["a", "a", "c", "d", "a", "e"]
    assert found.note is not None


def test_where_all_ask_the_same_ids_stay_and_it_is_told() -> None:
    ids = pl.Series(["a", "b", "c"])
    found = repeated_questions(ids, pl.Series([1, 1, 1]))
    assert found.clusters(ids).to_list() == ["a", "b", "c"]
    assert (found.note or "") == "ids_ask_the_same?n=3"


def test_ids_that_ask_something_each_are_left_alone() -> None:
    ids = pl.Series(["a", "b", "a"])
    found = repeated_questions(ids, pl.Series([1, 2, 1]))
    assert found.clusters(ids).to_list() == ["a", "b", "a"]
    assert found.note is None
