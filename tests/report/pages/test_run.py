"""The page of a run: what its cells hold, and that terminals of any width show all of them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from ragstone.report import picture, run_page
from ragstone.report.page import (
    Bar,
    Count,
    IntervalCell,
    Number,
    Page,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Share,
    Table,
    Why,
)
from ragstone.report.pages.run import distributions, estimate_table, slices
from ragstone.run.estimate import Estimate

Make = Callable[..., Estimate]
Print = Callable[..., str]
SYSTEMS = ("local_search", "basic_search", "llm_with_context")
MANIFEST: dict[str, Any] = {
    "data": {
        "source": "answers.jsonl",
        "examples": 249,
        "questions": 83,
        "rejected": 1,
        "label_violations": {"fabricated_requires_cited": 2},
    },
    "suites": ["quick"],
    "judges": [
        {"name": "local", "about": "string evidence, to be calibrated", "kinds": ["claims"]},
        {"name": "ids", "about": "reference ids in the data", "kinds": []},
    ],
}


def test_page_says_what_who_and_where(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    ones = tuple(
        estimate("precision", 0.5, low=0.4, high=0.6, method="cluster_t",
                 flags={"empty_retrieval": 2}, group={"system": system})
        for system in ("a", "b")
    )  # fmt: skip
    printed = text(run_page(made_run(ones, MANIFEST)))
    assert "answers.jsonl  249 rows · 83 questions · 2 systems" in printed
    assert "string evidence, to be calibrated" in printed
    assert "reference ids" not in printed, "a judge that filled nothing did not judge"
    assert "ragstone show runs/cornwall" in printed
    assert "cluster t  a mean without a range, whose rows share questions" in printed
    assert "empty_retrieval 4" in printed
    assert "fabricated_requires_cited 2" in printed
    assert "1 row could not be read" in printed
    assert "ragstone 0.1.0 · judge local/1 · data 4f1c22" in printed


def test_all_systems_together_stand_below_the_systems(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    ones = (
        estimate("precision", 0.375),
        estimate("precision", 0.25, group={"system": "a"}),
        estimate("precision", 0.5, group={"system": "b"}),
    )
    printed = text(run_page(made_run(ones, MANIFEST)))
    places = [printed.index(value) for value in ("0.250", "0.500", "0.375")]
    assert places == sorted(places)
    assert "all" in printed[places[1] : places[2]]


def test_what_is_missing_is_explained_once_in_the_small_print(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    reasons = {"not_judged?kind=quality&by=people,model": 4}
    ones = tuple(
        estimate(name, n_missing=4, reasons=reasons) for name in ("helpfulness", "on_topic")
    )
    printed = text(run_page(made_run(ones, MANIFEST)))
    assert printed.count("missing (quality needs an LLM judge or people)") == 2
    assert (
        printed.count("quality needs people's labels, or an LLM judge such as --judge openai:MODEL")
        == 1
    )


def test_a_run_without_estimates_has_a_page(made_run: Callable[..., Any], text: Print) -> None:
    assert "No metric" in text(run_page(made_run((), MANIFEST)))


def rows_of(table: Table) -> dict[str, Row]:
    """The rows by their system."""
    return {row.names[1]: row for row in table.rows}


def as_page(*tables: Table) -> Page:
    return Page("run", "", tuple(Section((table,)) for table in tables))


@pytest.fixture
def three_outcomes(estimate: Make) -> list[Estimate]:
    """Zero, undefined and missing in everything, and a value with missing parts."""
    return [
        estimate("precision", 0.0, low=0.0, high=0.044, method="t", n=83,
                 group={"system": "zero"}),
        estimate("precision", n_undefined=83, reasons={"no_retrieval": 83},
                 group={"system": "undefined_one"}),
        estimate("precision", n_missing=83, reasons={"judge_failed": 83},
                 group={"system": "missing_one"}),
        estimate("precision", 0.5, low=0.4, high=0.6, method="t", n=60, n_missing=23, worst=0.361,
                 best=0.639, group={"system": "partly"}),
    ]  # fmt: skip


def test_zero_undefined_and_missing_are_three_cells(three_outcomes: list[Estimate]) -> None:
    rows = rows_of(estimate_table(three_outcomes))
    assert rows["zero"].cells[2] == IntervalCell(0.0, 0.0, 0.044, Scale(0, 1))
    assert rows["undefined_one"].cells[2] == Why("undefined", "undefined (no_retrieval)")
    assert rows["missing_one"].cells[2] == Why("missing", "missing (judge_failed)")


def test_what_the_mean_could_be_stands_below_a_value_with_missing_parts(
    three_outcomes: list[Estimate],
) -> None:
    rows = rows_of(estimate_table(three_outcomes))
    assert rows["partly"].below == (Phrase("0.361 – 0.639 worst–best", "missing"),)
    assert rows["zero"].below == ()


def test_counts_and_the_method_stand_beside_each_value(three_outcomes: list[Estimate]) -> None:
    assert rows_of(estimate_table(three_outcomes))["partly"].cells[3:] == (
        Count(60), Count(0, "undefined"), Count(23, "missing"), Phrase("t", "quiet"),
    )  # fmt: skip


@pytest.fixture
def many(estimate: Make) -> list[Estimate]:
    metrics = ("precision", 'ndcg(k=10, gain="linear", ideal="pool")', "faithfulness",
               "citation_fabrication", "answer_outcome", "token_f1",
               'ragas_score(weights="faithfulness(no_claims=1.0):0.3 precision:0.2")')  # fmt: skip
    made = []
    for at, metric in enumerate(metrics):
        for place, system in enumerate(SYSTEMS):
            value = 0.111 + 0.1 * at + 0.01 * place
            made.append(
                estimate(metric, value, low=value - 0.1, high=value + 0.1, method="cluster_wilson",
                         n=12_345, n_undefined=2_345, n_missing=1_234, worst=value - 0.05,
                         best=value + 0.05, group={"system": system})
            )  # fmt: skip
    return made


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_no_number_is_cut_at_any_width(width: int, many: list[Estimate], text: Print) -> None:
    printed = text(as_page(estimate_table(many)), width)
    for one in many:
        assert one.value is not None
        assert one.low is not None
        assert f"{one.value:.3f}" in printed
        assert f"{one.low:.3f} – {one.value + 0.1:.3f}" in printed
    assert printed.count("12,345") == len(many)
    assert printed.count("2,345") >= len(many)
    assert printed.count("1,234") >= len(many)
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_no_name_is_cut_at_any_width(width: int, many: list[Estimate], text: Print) -> None:
    letters = "".join(text(as_page(estimate_table(many)), width).split())
    assert letters.count("llm_with_context") == 7
    for metric in ("citation_fabrication", "answer_outcome", "faithfulness↑"):
        assert metric in letters


def test_sections_stand_in_the_order_of_the_report(many: list[Estimate]) -> None:
    titles = [group.title for group in estimate_table(list(reversed(many))).groups]
    assert titles == ["Retrieval", "Grounding", "Against the reference", "Composite"]


def test_arrows_say_which_way_is_better(many: list[Estimate], text: Print) -> None:
    names = {row.cells[0] for row in estimate_table(many).rows}
    assert RowName("faithfulness", "+") in names
    assert RowName("citation_fabrication", "-") in names
    printed = text(as_page(estimate_table(many)))
    assert re.search(r"faithfulness +↑", printed)
    assert re.search(r"citation_fabrication +↓", printed)


def test_one_system_is_not_named_in_every_row(estimate: Make, text: Print) -> None:
    ones = [estimate("precision", 0.5, group={"system": "default"})]
    printed = text(as_page(estimate_table(ones)))
    assert "default" not in printed
    assert "0.500" in printed


def test_a_metric_that_no_system_has_is_one_row(estimate: Make) -> None:
    reasons = {"not_judged?kind=quality&by=people": 8}
    ones = [
        estimate("helpfulness", n_missing=8, reasons=reasons, group={"system": system})
        for system in SYSTEMS
    ]
    (row,) = estimate_table(ones).rows
    assert row.names == ["helpfulness", "all 3"]
    assert row.cells[2:6] == (
        Why("missing", "missing (quality needs people)"),
        Count(0), Count(0, "undefined"), Count(24, "missing"),
    )  # fmt: skip


def test_two_systems_without_a_value_are_one_row_only_for_the_same_reasons(estimate: Make) -> None:
    ones = [
        estimate("precision", n_undefined=4, reasons={"no_retrieval": 4}, group={"system": system})
        for system in ("a", "b")
    ]
    (row,) = estimate_table(ones).rows
    assert row.names[1] == "all 2"
    assert row.cells[4] == Count(8, "undefined")
    ones[1] = estimate("precision", n_undefined=4, reasons={"other": 4}, group={"system": "b"})
    assert [one.names[1] for one in estimate_table(ones).rows] == ["a", "b"]


def test_a_percent_suite_shows_percent(estimate: Make, text: Print) -> None:
    one = estimate("precision", 0.6666, low=0.5, high=0.75, method="t")
    printed = text(as_page(estimate_table([one], ["graphrag"])))
    assert "value %" in printed
    assert "66.7" in printed
    assert "50.0 – 75.0" in printed


def test_a_suite_with_bands_reads_values_in_words(estimate: Make, text: Print) -> None:
    one = estimate("semantic_similarity", 0.7)
    printed = text(as_page(estimate_table([one], ["embedding"])))
    assert re.search(r"0\.700 good", printed)


def test_a_users_own_metric_that_is_not_loaded_has_no_scale(estimate: Make) -> None:
    one = replace(estimate("precision", 0.5), metric="my_own", family="own")
    (group,) = estimate_table([one]).groups
    assert group.title == "Your own"
    assert group.rows[0].cells[2] == IntervalCell(0.5, None, None, None)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_distribution_shows_counts_shares_and_missing(
    width: int, estimate: Make, text: Print
) -> None:
    labels = {"correct": 5, "partial": 1, "dont_know": 2}
    ones = [
        estimate("answer_outcome", 0.6, n=8, n_missing=3, labels=labels, group={"system": system})
        for system in ("first_system", "second_system")
    ]
    (table,) = distributions(ones)
    assert table.rows[0].cells[2:6] == (Share(5, 8), Share(1, 8), Share(0, 8), Share(2, 8))
    assert [column.head for column in table.columns[2:6]] == [
        "correct", "partial", "wrong", "don't know",
    ]  # fmt: skip
    printed = text(as_page(table), width)
    row = next(line for line in printed.splitlines() if "first_system" in line)
    assert row.split()[-3:] == ["8", "0", "3"]
    for share in ("62 %", "12 %", "0 %", "25 %"):
        assert share in row
    assert max(map(len, printed.splitlines())) <= width


def test_bars_are_of_the_words_best_first(estimate: Make) -> None:
    one = estimate("answer_outcome", 0.5, n=4, labels={"correct": 1, "partial": 2, "wrong": 1})
    (table,) = distributions([one])
    bar = table.rows[0].cells[1]
    assert isinstance(bar, Bar)
    assert [(part.size, part.level) for part in bar.parts] == [(1, 0), (2, 2), (1, 3), (0, 5)]
    assert bar.whole == 4


def test_only_metrics_with_words_have_a_distribution(estimate: Make) -> None:
    ones = [
        estimate("factual_accuracy", 0.6, labels={"A": 1}),
        estimate("precision", 0.5),
        estimate("answer_outcome", 0.5, labels={"correct": 1}),
    ]
    titles = [table.groups[0].title for table in distributions(ones)]
    assert titles == ["Outcomes", "Grades"]


def shown(section: Section) -> Page:
    return Page("run", "", (section,))


@pytest.mark.parametrize("width", [80, 100, 120])
def test_slices_show_each_value_with_its_n(width: int, estimate: Make, text: Print) -> None:
    kinds = (
        "Fact Retrieval",
        "Complex Reasoning",
        "Contextual Summarize",
        "Creative Generation",
    )
    ones = []
    for at, system in enumerate(("local_search", "llm_with_context")):
        for place, kind in enumerate(kinds):
            group = {"system": system, "question_type": kind}
            ones.append(
                estimate("precision", 0.101 + at / 2 + place / 10, n=11 + place, group=group)
            )
    ones[-1] = estimate("precision", n_undefined=3, reasons={"no_retrieval": 3}, group=group)
    page = shown(slices("question_type", ones))
    assert page.tables[0].rows[0].cells[2] == Number(0.101, n=11)
    assert page.tables[0].rows[1].cells[-1] == Why("undefined")
    printed = text(page, width)
    for one in ones[:-1]:
        assert f"{one.value:.3f} {one.n}" in printed
    assert "undef.  0" in printed
    assert "Contextual" in printed
    assert max(map(len, printed.splitlines())) <= width


def test_slices_that_do_not_fit_stand_below_each_other(estimate: Make, text: Print) -> None:
    ones = [estimate("precision", 0.5, n=7, group={"topic": f"topic {at:02}"}) for at in range(20)]
    printed = text(shown(slices("topic", ones)), 80)
    assert printed.count("0.500 7") == 20
    assert printed.count("By topic") > 1
    assert max(map(len, printed.splitlines())) <= 80


def test_rare_values_of_a_long_field_are_counted(estimate: Make, text: Print) -> None:
    ones = [estimate("precision", 0.5, n=at, group={"topic": f"t{at}"}) for at in range(1, 31)]
    assert "and 6 rarer values of topic" in text(shown(slices("topic", ones)), 80)


def test_a_value_that_a_system_lacks_is_a_dash(estimate: Make) -> None:
    ones = [
        estimate("precision", 0.5, n=7, group={"system": "a", "topic": "x"}),
        estimate("precision", 0.5, n=7, group={"system": "b", "topic": "y"}),
    ]
    (table,) = shown(slices("topic", ones)).tables
    assert table.rows[0].cells[2:] == (Number(0.5, n=7), Number(None))


def test_the_record_holds_the_estimates_and_what_was_noted(
    estimate: Make, made_run: Callable[..., Any]
) -> None:
    one = estimate("precision", 0.5)
    judges: Sequence[Any] = [{"name": "local", "about": "a guess", "kinds": ["claims"]}]
    record: Any = run_page(made_run((one,), MANIFEST | {"judges": judges}), ["A note."]).record()
    assert record["estimates"] == [one.to_dict()]
    assert record["warnings"] == ["A note.", "judged by local: a guess."]
    assert record["exit_status"] == 0


def test_picture_is_svg_that_loads_nothing(estimate: Make, made_run: Callable[..., Any]) -> None:
    ones = (estimate("precision", 0.625, low=0.5, high=0.75, method="t"),)
    svg = picture(made_run(ones, MANIFEST))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    words = "".join(root.itertext()).replace("\xa0", " ")
    assert "0.625" in words
    assert "0.500 – 0.750" in words
    assert "url(http" not in svg
    assert "@font-face" not in svg


def test_how_to_read_the_page_follows_from_its_suites(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    one = estimate("precision", 0.5, n_missing=1)
    plain = text(run_page(made_run((one,), MANIFEST)), 400)
    assert "values in percent" not in plain
    assert "worst–best: what the mean could be" in plain
    percent = text(run_page(made_run((one,), MANIFEST | {"suites": ["graphrag"]})), 400)
    assert "· neither; values in percent" in percent
    bands = text(run_page(made_run((one,), MANIFEST | {"suites": ["embedding"]})), 400)
    assert "embedding: excellent from 0.8, good from 0.6" in bands
