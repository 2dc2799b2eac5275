"""How single scores lie, and what composites are made of, by hand."""

import polars as pl
import pytest

from ragstone.analysis.summaries.run_summary import histograms, weight_shares


def scores(metric: str, *values: float | None, reason: str | None = None) -> pl.DataFrame:
    rows = [(metric, "a", one, "undefined" if one is None else "value", reason) for one in values]
    schema = {"metric": pl.String, "system": pl.String, "value": pl.Float64, "status": pl.String,
              "reason": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema, orient="row")


def test_a_score_is_in_the_sixteenth_of_the_range_in_which_it_lies() -> None:
    found = histograms(scores("faithfulness", 0.0, 0.06, 0.0625, 0.5, 0.99, 1.0, None))
    assert found == {("faithfulness", "a"): (2, 1, *[0] * 6, 1, *[0] * 6, 2)}


def test_a_range_that_begins_below_zero_is_taken_as_it_is() -> None:
    found = histograms(scores("semantic_similarity", -1.0, 0.0))
    assert found == {("semantic_similarity", "a"): (1, *[0] * 7, 1, *[0] * 7)}


@pytest.mark.parametrize("values", [(0.0, 1.0, 1.0), (1.0,), ()])
def test_scores_that_are_all_at_an_end_are_told_by_their_mean(values: tuple[float, ...]) -> None:
    assert histograms(scores("faithfulness", *values)) == {}


def test_a_metric_that_is_not_known_here_has_no_range() -> None:
    assert histograms(scores("of_a_file_that_is_not_loaded", 0.5)) == {}


def test_a_composite_is_made_of_the_mean_of_the_shares_that_its_scores_have() -> None:
    part = "components=3/4,weight_coverage=0.5"
    rows = pl.concat([scores("ragas_score", 0.2, reason=part), scores("ragas_score", 0.4, None),
                      scores("faithfulness", 0.5)])  # fmt: skip
    assert weight_shares(rows) == {("ragas_score", "a"): 0.75}
