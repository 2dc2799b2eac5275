"""Number format: values, intervals and groups of estimates as they are shown."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import get_args

import pytest

from ragstone.metrics import metric_types
from ragstone.report.number_format import (
    FAMILIES,
    METHODS,
    Groups,
    band,
    by_family,
    by_metric,
    counted,
    ends,
    in_percent,
    interval_cell,
    interval_of,
    method_notes,
    method_word,
    number,
    p_word,
    percent,
    scale_for,
    scale_of,
    shortened,
    signed,
    spoken,
)
from ragstone.report.page import Heading, IntervalCell, Note, Row, RowName, Scale, strong, table
from ragstone.run.folder.schemas import Estimate
from ragstone.stats import Interval
from ragstone.stats.distributions import Method
from tests.registries import NEED_A_PARAMETER

Make = Callable[..., Estimate]


@pytest.mark.parametrize(
    ("value", "percent", "shown"),
    [
        (2 / 3, False, "0.667"),
        (2 / 3, True, "66.7"),
        (0.0, False, "0.000"),
        (-0.00001, False, "0.000"),
        (-0.25, False, "-0.250"),
        (1.0, True, "100.0"),
        (12345.6, False, "12,346"),
    ],
)
def test_numbers_have_three_decimals_and_percentages_one(
    value: float, percent: bool, shown: str
) -> None:
    assert number(value, percent=percent) == shown


def test_no_interval_is_a_dash() -> None:
    assert ends(None, None) == "–"
    assert ends(0.25, 0.5) == "0.250 – 0.500"


def test_an_estimate_without_an_interval_says_why(estimate: Make) -> None:
    assert interval_of(estimate("mrr", 0.4, low=0.25, high=0.5)) == "0.250 – 0.500"
    assert interval_of(estimate("mrr", 0.4, low=None, high=None, clusters=1)) == "too few"
    assert interval_of(estimate("mrr", 0.4, low=None, high=None, clusters=8)) == "no spread"


def test_classes_and_metrics_are_said_as_people_say_them() -> None:
    assert [spoken(one) for one in ("dont_know", "left_out")] == ["don't know", "left out"]


@pytest.mark.parametrize(
    ("share", "shown"), [(0.95, "95 %"), (0.975, "97.5 %"), (0.9999, "99.99 %"), (1 - 0.95, "5 %")]
)
def test_a_level_is_not_rounded(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0386, "0.039"), (1e-9, "<0.001"), (1.0, "1.000"), (None, "")]
)
def test_a_p_value_is_written_as_a_number(p: float | None, shown: str) -> None:
    assert p_word(p) == shown


def test_one_is_not_several() -> None:
    assert [counted(n, "tie") for n in (0, 1, 2000)] == ["0 ties", "1 tie", "2,000 ties"]


def test_a_difference_has_its_sign() -> None:
    shown = [signed(value) for value in (0.25, -0.25, 0.0, None)]
    assert shown == ["+0.250", "-0.250", "0.000", "–"]


def test_a_metric_that_is_not_loaded_has_no_scale() -> None:
    assert scale_of("some_users_own_metric") is None


def test_every_metric_has_a_scale_but_those_that_need_parameters() -> None:
    without = [name for name in metric_types() if scale_of(name) is None]
    assert without == list(NEED_A_PARAMETER)


@pytest.mark.parametrize(
    ("metric", "value", "word"),
    [
        ('semantic_similarity(scale="clamped")', 1 - 1e-7, "identical"),
        ('semantic_similarity(scale="clamped")', 0.9999, "equivalent"),
        ('semantic_similarity(scale="clamped")', 0.9, "equivalent"),
        ('semantic_similarity(scale="clamped")', 0.8, "core meaning kept"),
        ('semantic_similarity(scale="clamped")', 0.7999, "differs"),
        ("bertscore_f1", 0.99, "near identical"),
        ("bertscore_f1", 0.7, "very similar"),
        ("bertscore_f1", 0.6999, "other words"),
        ("bertscore_f1", 0.3, "other words"),
        ("bertscore_f1", -0.1, "very different"),
        ("precision", 0.9, ""),
    ],
)
def test_graphrag_reports_read_similarities_in_words(
    metric: str, value: float, word: str, estimate: Make
) -> None:
    assert band(estimate(metric, value), ["no_such", "graphrag"]) == word
    assert band(estimate(metric, value), ["ragas"]) == ""


@pytest.mark.parametrize(
    ("metric", "value", "word"),
    [
        ("embedding_context_relevance", 0.5, ""),
        ("embedding_context_relevance", 0.4999, "below limit"),
        ("embedding_context_sufficiency", 0.49, "below limit"),
        ("semantic_similarity", 0.6, ""),
        ("semantic_similarity", 0.59, "below limit"),
        ("embedding_hallucination", 0.3, ""),
        ("embedding_hallucination", 1 / 3, "above limit"),
        ("embedding_answer_relevance", 0.1, ""),
    ],
)
def test_the_embedding_suite_has_five_limits(
    metric: str, value: float, word: str, estimate: Make
) -> None:
    assert band(estimate(metric, value), ["embedding"]) == word


def test_percent_only_where_all_suites_show_percent() -> None:
    assert in_percent(["graphrag"])
    assert not in_percent([])
    assert not in_percent(["quick"])
    assert not in_percent(["graphrag", "ragas"])


def test_every_interval_method_has_a_word() -> None:
    assert set(METHODS) == set(get_args(Method))
    assert all(method_word(method) == METHODS[method][0] for method in get_args(Method))
    assert (method_word(None), method_word("a_later_one")) == ("", "a_later_one")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, "–"), ("", ""), ("a\n b\t c", "a b c"), ("1234567", "1234567"),
        ("12345678", "123456…"), ("12345 789", "12345…"),
    ],
)  # fmt: skip
def test_a_text_is_shortened_to_one_line(text: str | None, shown: str) -> None:
    """Of seven letters, the last a sign that there were more."""
    assert shortened(text, 7) == shown


def test_a_thousand_has_no_decimals_and_less_has() -> None:
    assert [number(one) for one in (999.4, 1000.0, -1000.4)] == ["999.400", "1,000", "-1,000"]
    assert number(12.0, percent=True) == "1,200"
    assert number(9.99, percent=True) == "999.0"


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    shown = [signed(value) for value in (0.0004, 0.0005, -0.0004, 1234.0)]
    assert shown == ["0.000", "+0.001", "0.000", "+1,234"]


@pytest.mark.parametrize(("p", "shown"), [(0.001, "0.001"), (0.00099, "<0.001"), (0.0, "<0.001")])
def test_a_small_p_is_told_to_be_smaller(p: float, shown: str) -> None:
    assert p_word(p) == shown


def test_nothing_is_said_of_a_mean_that_is_not_there(estimate: Make) -> None:
    assert band(estimate("semantic_similarity"), ["embedding"]) == ""


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


def test_a_value_stands_with_its_interval_or_alone() -> None:
    found = interval_cell(0.5, Interval(0.25, 0.75, 0.95, "wilson"), Scale(0, 1), tone="good")
    assert found == IntervalCell(0.5, 0.25, 0.75, Scale(0, 1), tone="good")
    assert interval_cell(0.5, None) == IntervalCell(0.5, None, None)


def test_a_metric_is_drawn_on_its_whole_range() -> None:
    assert scale_for("precision") == Scale(0, 1)
    assert scale_for("embedding_context_relevance") == Scale(-1, 1)
    assert scale_for("somebodys_own") is None


def test_each_method_is_explained_once_and_in_other_words_where_these_are_given() -> None:
    found = list(method_notes(["t", None, "new", "t"], {"t": "a mean difference"}))
    assert found == [
        Note("intervals", (strong("t"), "  a mean difference")),
        Note("intervals", (strong("new"), "  ")),
    ]


def test_a_word_is_a_heading_of_which_nothing_else_is_said() -> None:
    row = Row((RowName("a"), "b"))
    named = Heading("name", key=True)
    assert table((named, "n"), [row]).columns == (named, Heading("n"))
