"""The page of a run: what its cells hold, and that terminals of any width show all of them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import ragstone
from ragstone.judgements import Claims
from ragstone.metrics import Range, Undefined, register
from ragstone.metrics import user_metrics as loading
from ragstone.report import full_page, picture
from ragstone.report.page import (
    Bar,
    Count,
    Facts,
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
    plain,
)
from ragstone.report.pages import catalogue_page as catalogue
from ragstone.report.pages.full_run_page import distributions, estimate_table, slices
from ragstone.run.calls.journal_reader import Totals
from ragstone.run.folder.schemas import Estimate

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
    printed = text(full_page(made_run(ones, MANIFEST)))
    assert "answers.jsonl  249 rows · 83 questions · 2 systems" in printed
    assert "string evidence, to be calibrated" in printed
    assert "reference ids" not in printed, "a judge that filled nothing did not judge"
    assert "ragstone show runs/cornwall" in printed
    assert "cluster t  a mean of an unbounded metric, clustered by question" in printed
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
    printed = text(full_page(made_run(ones, MANIFEST), pooled=True))
    assert "0.375" not in text(full_page(made_run(ones, MANIFEST)))
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
    printed = text(full_page(made_run(ones, MANIFEST)))
    assert printed.count("missing (quality needs an LLM judge or people)") == 2
    assert (
        printed.count("quality needs people's labels, or an LLM judge such as --judge openai:MODEL")
        == 1
    )


def test_a_run_without_estimates_has_a_page(made_run: Callable[..., Any], text: Print) -> None:
    assert "None of these metrics" in text(full_page(made_run((), MANIFEST)))


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
    one = estimate("bertscore_f1", 0.7)
    printed = text(as_page(estimate_table([one], ["graphrag"])))
    assert re.search(r"70\.0 very similar", printed)
    low = estimate("semantic_similarity", 0.5)
    printed = text(as_page(estimate_table([low], ["embedding"])))
    assert re.search(r"0\.500 below limit", printed)


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
    kinds = ("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation")
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
    record: Any = full_page(made_run((one,), MANIFEST | {"judges": judges}), ["A note."]).record()
    assert record["estimates"] == [one.to_dict()]
    assert record["warnings"] == ["A note.", "judged by local: a guess."]
    assert record["exit_status"] == 0


def test_picture_is_svg_that_loads_nothing(estimate: Make, made_run: Callable[..., Any]) -> None:
    ones = (estimate("precision", 0.625, low=0.5, high=0.75, method="t"),)
    svg = picture(full_page(made_run(ones, MANIFEST)))
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
    plain = text(full_page(made_run((one,), MANIFEST)), 400)
    assert "values in percent" not in plain
    assert "worst–best: what the mean could be" in plain
    percent = text(full_page(made_run((one,), MANIFEST | {"suites": ["graphrag"]})), 400)
    assert "· neither; values in percent" in percent
    bands = text(full_page(made_run((one,), MANIFEST | {"suites": ["embedding"]})), 400)
    assert "embedding: embedding_context_relevance below 0.5: contexts may be off topic" in bands


def heads(table: Table) -> list[str]:
    return [column.head for column in table.columns]


def small_print(run: Any) -> list[tuple[str, str]]:
    (facts,) = full_page(run).sections[-1].blocks
    assert isinstance(facts, Facts)
    assert facts.small
    return [(one.name, plain(one.words)) for one in facts.rows]


def test_each_figure_of_a_run_stands_under_its_head(estimate: Make) -> None:
    one = estimate("precision", 0.5)
    counts = ["n", "undef.", "missing", "method"]
    assert heads(estimate_table([one])) == ["metric", "system", "value", *counts]
    assert heads(estimate_table([one], ["graphrag"]))[2] == "value %"
    assert [column.drop for column in estimate_table([one]).columns] == [0] * 6 + [1]
    assert estimate_table([replace(one, level=0.9)]).columns[2].level == 0.9


def test_a_value_is_drawn_on_the_range_of_its_metric(estimate: Make) -> None:
    """Answer relevance is a mean of cosines, from -1 to 1."""
    (row,) = estimate_table([estimate("answer_relevance", 0.5, low=0.25, high=0.75)]).rows
    assert row.cells[2] == IntervalCell(0.5, 0.25, 0.75, Scale(-1, 1))


def test_a_metric_whose_range_has_no_end_is_not_drawn(
    estimate: Make, text: Print, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_OWN", dict(loading._OWN))

    @ragstone.metric(over=Claims, range=Range(0, float("inf")), empty=Undefined("no_claims"))
    def claims_made() -> pl.Expr:
        return Claims.index.count()

    register(claims_made)
    one = estimate("claims_made", 12.0, low=10.0, high=14.0, method="t")
    printed = text(as_page(estimate_table([one])))
    assert "12.000  10.000 – 14.000" in printed
    assert "●" not in printed
    assert catalogue.named("claims_made").to_dict()["range"] == (0, None)


def test_a_system_without_a_name_is_all_rows_where_others_have_one(estimate: Make) -> None:
    ones = [estimate("precision", 0.5, group={"system": "a"}), estimate("precision", 0.25)]
    assert [row.names[1] for row in estimate_table(ones).rows] == ["a", "all"]
    assert [row.names[1] for row in estimate_table(ones[1:]).rows] == [""]


def test_all_rows_together_are_no_system_of_their_own_where_none_has_a_value(
    estimate: Make,
) -> None:
    """Two systems of three rows each; the six of both are not counted on top."""
    ones = [
        estimate("precision", n_undefined=3, reasons={"no_retrieval": 3}, group={"system": name})
        for name in ("a", "b")
    ]
    ones.append(estimate("precision", n_undefined=6, reasons={"no_retrieval": 6}))
    (row,) = estimate_table(ones).rows
    assert row.names[1] == "all 2"
    assert row.cells[4] == Count(6, "undefined")


def test_systems_of_which_one_has_a_value_keep_rows_of_their_own(estimate: Make) -> None:
    reasons = {"no_retrieval": 3}
    ones = [
        estimate("precision", n_undefined=3, reasons=reasons, group={"system": "a"}),
        estimate("precision", 0.5, n=3, group={"system": "b"}),
    ]
    assert [row.names[1] for row in estimate_table(ones).rows] == ["a", "b"]
    assert [row.names[1] for row in estimate_table(ones[:1]).rows] == ["a"]


def test_what_less_is_better_of_could_be_is_told_from_low_to_high(estimate: Make) -> None:
    one = estimate("hallucination", 0.5, n_missing=2, worst=0.75, best=0.25)
    (row,) = estimate_table([one]).rows
    assert row.below == (Phrase("0.250 – 0.750 worst–best", "missing"),)
    (percent,) = estimate_table([one], ["graphrag"]).rows
    assert percent.below == (Phrase("25.0 – 75.0 worst–best", "missing"),)


def test_a_distribution_has_each_word_under_its_head_and_each_system_in_its_row(
    estimate: Make,
) -> None:
    labels = {"correct": 1, "unclear": 2, "brief": 1}
    several = [
        estimate("answer_outcome", 0.5, n=4, n_undefined=1, labels=labels, group=group)
        for group in ({"system": "a"}, {"system": "b"}, {})
    ]
    (table,) = distributions(several)
    assert heads(table) == [
        "", "", "correct", "partial", "wrong", "don't know", "brief", "unclear", "n", "undef.",
        "missing",
    ]  # fmt: skip
    assert [column.fill for column in table.columns[2:8]] == [0, 2, 3, 5, 0, 1]
    assert [row.names for row in table.rows] == [["a"], ["b"], ["all"]]
    assert table.rows[0].cells[-3:] == (Count(4), Count(1, "undefined"), Count(0, "missing"))
    (alone,) = distributions(several[:1])
    assert alone.rows[0].names == ["all"], "one system is all there is"


def test_a_metric_of_a_users_own_words_has_a_distribution_behind_the_known(estimate: Make) -> None:
    own = replace(estimate("precision", 0.5, labels={"warm": 3}), metric="tone(k=2)", family="own")
    outcome = estimate("answer_outcome", 0.5, labels={"correct": 1})
    first, last = distributions([own, outcome])
    assert (first.groups[0].title, last.groups[0].title) == ("Outcomes", "tone")
    assert heads(last)[2] == "warm"


def test_the_most_frequent_values_of_a_field_have_columns(estimate: Make) -> None:
    """Of 30 values, each seen once more than the last, the 24 last; a value counts at its most."""
    ones = []
    for at in range(30):
        group = {"topic": f"t{at}"}
        ones.append(estimate("precision", 0.5, n=at + 1, group=group))
        ones.append(estimate("faithfulness", 0.5, n=1, n_undefined=1, group=group))
    (table,) = shown(slices("topic", ones)).tables
    assert heads(table)[2:] == [f"t{at}" for at in range(29, 5, -1)]
    few = shown(slices("topic", ones[:48]))
    assert heads(few.tables[0])[2:] == [f"t{at}" for at in range(24)], "in the order of the data"
    assert len(few.sections[0].blocks) == 1
    assert few.tables[0].groups[0].title == "By topic"


def test_metrics_without_any_value_have_no_row_in_a_slice(estimate: Make) -> None:
    ones = [
        estimate("precision", n_missing=3, group={"topic": "x"}),
        estimate("faithfulness", 0.5, n=3, group={"topic": "x"}),
        estimate("faithfulness", n_missing=3, group={"topic": "y"}),
        estimate("faithfulness", group={"topic": "z"}),
    ]
    (table,) = shown(slices("topic", ones)).tables
    (row,) = table.rows
    assert row.cells == (
        RowName("faithfulness", "+"), RowName(""), Number(0.5, n=3), Why("missing"), Number(None),
    )  # fmt: skip
    assert shown(slices("topic", ones[:1])).tables == []


def test_the_small_print_explains_each_interval_and_reading_of_the_page(
    estimate: Make, made_run: Callable[..., Any]
) -> None:
    ones = (
        estimate("precision", 0.5, low=0.4, high=0.6, method="t"),
        estimate("hit", 0.5, low=0.4, high=0.6, method="wilson"),
        estimate("mrr", 0.5, low=0.4, high=0.6, method="t"),
        estimate("map", 0.5),
    )
    told = small_print(made_run(ones, {"suites": []}))
    assert [name for name, _ in told] == ["intervals", "intervals", "reading", "signature"]
    assert told[0][1].startswith("t  a mean")
    assert told[1][1].startswith("Wilson  a rate")
    assert told[-1][1] == "ragstone 0.1.0 · judge local/1 · data 4f1c22"


def test_a_flag_counts_in_the_metric_that_has_it_most(
    estimate: Make, made_run: Callable[..., Any]
) -> None:
    """Hit has flag x at 2 + 3 rows of its systems, mrr at 4; y is at 1 row of one."""
    ones = [
        estimate(name, 0.5, flags=flags, group={"system": system})
        for name, system, flags in (
            ("hit", "a", {"x": 2}), ("hit", "b", {"x": 3}), ("mrr", "a", {"x": 4, "a_y": 1}),
        )
    ]  # fmt: skip
    told = dict(small_print(made_run(tuple(ones), {})))
    assert told["flags"] == "a_y 1 row · x 5 rows  (their scores follow a convention)"


def test_the_record_of_a_run_has_what_was_read_asked_and_judged(
    estimate: Make, made_run: Callable[..., Any]
) -> None:
    """A judge of strings says so; one that filled nothing, or has people behind it, does not."""
    judges = [{"name": name, "about": "a guess", "kinds": kinds}
              for name, kinds in (("local", []), ("human", ["claims"]))]  # fmt: skip
    known = MANIFEST | {"judges": judges, "calls": Totals(calls=3, usd=0.5)}
    record: Any = full_page(made_run((estimate("precision", 0.5),), known)).record()
    assert MANIFEST["data"].items() <= record["data"].items()
    assert (record["calls"]["calls"], record["calls"]["usd"]) == (3, 0.5)
    assert [one["name"] for one in record["judges"]] == ["local", "human"]
    assert record["run"] == "runs/cornwall"
    assert record["signature"] == "ragstone 0.1.0 · judge local/1 · data 4f1c22"
    assert record["warnings"] == []
    without: Any = full_page(made_run((), MANIFEST)).record()
    assert without["calls"] is None


@pytest.mark.parametrize(
    ("systems", "said"), [((), "249 rows · 83 questions"), (("a",), "83 questions · system a")]
)
def test_the_header_names_one_system_and_what_was_asked(
    estimate: Make, made_run: Callable[..., Any], text: Print, systems: Sequence[str], said: str
) -> None:
    ones = tuple(estimate("precision", 0.5, group={"system": name}) for name in systems)
    calls = Totals(calls=3)
    run = made_run(ones or (estimate("precision", 0.5),), MANIFEST | {"calls": calls})
    printed = text(full_page(run), 300)
    assert said in printed
    assert "asked      3 model calls, cost unknown" in printed
    assert "string evidence, to be calibrated  (claims)" in printed


def test_a_value_that_no_row_has_is_the_rarest(estimate: Make) -> None:
    """Of 25 values with one row each but the first, which has none, the first goes."""
    ones = [estimate("precision", 0.5, n=1, group={"topic": f"t{at}"}) for at in range(25)]
    ones[0] = replace(ones[0], n=0)
    (table,) = shown(slices("topic", ones)).tables
    assert heads(table)[2:] == [f"t{at}" for at in range(1, 25)]
