"""Which estimates stand together: systems as a whole, slices, families, metrics."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ragstone.report.number_format import FAMILIES, Groups, by_family, by_metric
from ragstone.run.estimates.estimate import Estimate

Make = Callable[..., Estimate]


def groups_of(estimate: Make, *groups: Mapping[str, str]) -> Groups:
    return Groups([estimate("precision", 0.5, group=group) for group in groups])


def shown(estimates: list[Estimate]) -> list[Mapping[str, str]]:
    return [one.group for one in estimates]


def test_systems_stand_in_the_order_of_the_data_each_once(estimate: Make) -> None:
    found = groups_of(estimate, {}, {"system": "b"}, {"system": "a"}, {"system": "b", "t": "x"})
    assert found.systems == ["b", "a"]


def test_the_whole_of_a_run_is_one_estimate_a_system(estimate: Make) -> None:
    found = groups_of(estimate, {}, {"system": "b"}, {"system": "a"}, {"system": "b", "t": "x"})
    assert shown(found.whole) == [{"system": "b"}, {"system": "a"}]


def test_where_no_system_has_a_name_the_whole_is_over_all_rows(estimate: Make) -> None:
    found = groups_of(estimate, {"t": "x"}, {}, {"t": "y"})
    assert shown(found.whole) == shown(found.whole_and_all) == [{}]
    assert shown(found.sliced("t")) == [{"t": "x"}, {"t": "y"}]


def test_the_slices_of_a_single_system_are_those_of_all_rows(estimate: Make) -> None:
    found = groups_of(estimate, {}, {"system": "a"}, {"t": "x"}, {"t": "y"})
    assert shown(found.sliced("t")) == [{"t": "x"}, {"t": "y"}]


def test_all_rows_together_stand_last_and_only_beside_several_systems(estimate: Make) -> None:
    several = groups_of(estimate, {}, {"system": "a"}, {"system": "b"})
    assert shown(several.whole_and_all) == [{"system": "a"}, {"system": "b"}, {}]
    alone = groups_of(estimate, {}, {"system": "a"})
    assert shown(alone.whole_and_all) == [{"system": "a"}], "all rows are this system's"


def test_a_field_is_sliced_by_system_and_by_no_other_field(estimate: Make) -> None:
    ones = [
        {"t": "x"}, {"system": "a", "t": "x"}, {"system": "a", "u": "x"},
        {"system": "a", "t": "x", "u": "x"}, {"system": "a", "t": "y"},
    ]  # fmt: skip
    found = groups_of(estimate, *ones)
    assert found.fields == ["t", "u"], "the system is no field of its own"
    assert shown(found.sliced("t")) == [{"system": "a", "t": "x"}, {"system": "a", "t": "y"}]
    assert shown(found.sliced("u")) == [{"system": "a", "u": "x"}]


def test_families_stand_in_the_order_of_a_report_and_unknown_ones_behind(estimate: Make) -> None:
    one = estimate("precision", 0.5)
    mixed = [replace(one, family=family) for family in ("style", "own", "answer", "retrieval")]
    assert list(by_family(mixed)) == ["Retrieval", "Answer", "Your own", "Style"]
    assert [one.family for one in by_family(mixed)["Style"]] == ["style"]
    assert list(FAMILIES)[-1] == "own", "what a user added stands behind what came with it"


def test_estimates_of_a_metric_keep_their_order(estimate: Make) -> None:
    ones = [
        estimate(name, value)
        for name, value in (("mrr", 0.1), ("hit", 0.2), ("mrr", 0.3), ("hit(k=5)", 0.4))
    ]
    found = by_metric(ones)
    assert list(found) == ["mrr", "hit", "hit(k=5)"]
    assert [one.value for one in found["mrr"]] == [0.1, 0.3]
