import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from ragstone.report.table import EstimateTable
from ragstone.run.estimate import Estimate

Make = Callable[..., Estimate]
Print = Callable[..., str]
SYSTEMS = ("local_search", "basic_search", "llm_with_context")


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


def line_with(word: str, printed: str) -> str:
    return next(line for line in printed.splitlines() if word in line)


def test_zero_undefined_and_missing_look_different(
    three_outcomes: list[Estimate], text: Print
) -> None:
    printed = text(EstimateTable(three_outcomes))
    assert "0.000  0.000 – 0.044" in line_with("zero", printed)
    assert "undefined (no_retrieval)" in line_with("undefined_one", printed)
    assert "missing (judge_failed)" in line_with("missing_one", printed)
    for system in ("undefined_one", "missing_one"):
        assert "0.000" not in line_with(system, printed)


def test_what_the_mean_could_be_stands_below_a_value_with_missing_parts(
    three_outcomes: list[Estimate], text: Print
) -> None:
    lines = text(EstimateTable(three_outcomes)).splitlines()
    below = lines[lines.index(line_with("partly", "\n".join(lines))) + 1]
    assert "0.361 – 0.639 worst–best" in below


def test_counts_stand_beside_each_value(three_outcomes: list[Estimate], text: Print) -> None:
    printed = text(EstimateTable(three_outcomes))
    assert line_with("undefined_one", printed).split()[-3:] == ["0", "83", "0"]
    assert line_with("partly", printed).split()[-4:] == ["60", "0", "23", "t"]


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


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_no_number_is_cut_at_any_width(width: int, many: list[Estimate], text: Print) -> None:
    printed = text(EstimateTable(many), width)
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
    letters = "".join(text(EstimateTable(many), width).split())
    assert letters.count("llm_with_context") == 7
    for metric in ("citation_fabrication", "answer_outcome", "faithfulness↑"):
        assert metric in letters


def test_sections_stand_in_the_order_of_the_report(many: list[Estimate], text: Print) -> None:
    printed = text(EstimateTable(list(reversed(many))))
    titles = ("Retrieval", "Grounding", "Against the reference", "Composite")
    places = [printed.index(title) for title in titles]
    assert places == sorted(places)


def test_arrows_say_which_way_is_better(many: list[Estimate], text: Print) -> None:
    printed = text(EstimateTable(many))
    assert re.search(r"faithfulness +↑", printed)
    assert re.search(r"citation_fabrication +↓", printed)


def test_one_system_is_not_named_in_every_row(estimate: Make, text: Print) -> None:
    printed = text(EstimateTable([estimate("precision", 0.5, group={"system": "default"})]))
    assert "default" not in printed
    assert "0.500" in printed


def test_a_metric_that_no_system_has_is_one_row(estimate: Make, text: Print) -> None:
    reasons = {"not_judged: quality needs a person": 8}
    ones = [
        estimate("helpfulness", n_missing=8, reasons=reasons, group={"system": system})
        for system in SYSTEMS
    ]
    lines = text(EstimateTable(ones)).splitlines()
    assert len(lines) == 2
    assert "all 3" in lines[1]
    assert "missing (quality needs a person)" in lines[1]
    assert lines[1].split()[-3:] == ["0", "0", "24"]


def test_a_percent_suite_shows_percent(estimate: Make, text: Print) -> None:
    one = estimate("precision", 0.6666, low=0.5, high=0.75, method="t")
    printed = text(EstimateTable([one], ["graphrag"]))
    assert "value %" in printed
    assert "66.7" in printed
    assert "50.0 – 75.0" in printed


def test_a_suite_with_bands_reads_values_in_words(estimate: Make, text: Print) -> None:
    one = estimate("semantic_similarity", 0.7)
    assert re.search(r"0\.700 good", text(EstimateTable([one], ["embedding"])))


def test_a_users_own_metric_that_is_not_loaded_is_shown(estimate: Make, text: Print) -> None:
    one = replace(estimate("precision", 0.5), metric="my_own", family="own")
    printed = text(EstimateTable([one]))
    assert "Your own" in printed
    assert "my_own" in printed
