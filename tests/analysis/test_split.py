"""Estimates over sets of examples are those that the run would have had, grouped by them."""

from dataclasses import replace

import pytest

import ragstone
from ragstone.analysis.scored_run import Scored
from ragstone.analysis.summaries.run_summary import split_estimates
from ragstone.data import cornwall
from ragstone.metrics import parse_metric
from ragstone.run import Estimate


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ragstone.Run:
    out = tmp_path_factory.mktemp("split") / "run"
    return ragstone.evaluate(cornwall(), by=["question_type"], out=out)


def test_sets_of_one_field_have_the_estimates_of_the_run(run: ragstone.Run) -> None:
    facets = Scored(run, by=["question_type"]).facets
    sets = {
        str(value): rows["example_id"].to_list()
        for (value,), rows in facets.group_by("by question_type")
    }
    found = split_estimates(run, "question_type", sets)
    own = [
        replace(one, worst=None, best=None, labels={}, flags={}, signature="")
        for one in run.estimate_list
        if set(one.group) == {"question_type"}
    ]
    names = {one.metric for one in found}
    over_means = {one.metric for one in own} - names
    assert all(getattr(parse_metric(name), "over_means", False) for name in over_means)
    assert len(found) > 20
    key = ("metric", "group")

    def sorted_by(ones: list[Estimate]) -> list[Estimate]:
        return sorted(ones, key=lambda one: str([getattr(one, name) for name in key]))

    expected = sorted_by([one for one in own if one.metric in names])
    for one, same in zip(sorted_by(found), expected, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((same.value, same.low, same.high))
        assert replace(one, value=0, low=0, high=0) == replace(same, value=0, low=0, high=0)


def test_a_set_of_no_example_has_no_value(run: ragstone.Run) -> None:
    found = split_estimates(run, "tag", {"tagged": []})
    assert {(one.value, one.low, one.total) for one in found} == {(None, None, 0)}
