"""The pages of a run, of the runs of a folder and of a forecast."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone import evaluate
from ragstone.analysis import calibrate, gate
from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun, CorrectedMean
from ragstone.analysis.summaries.run_summary import Lead, Summary, summarise
from ragstone.core.errors import InputError
from ragstone.data import cornwall
from ragstone.report.notebook import page_of
from ragstone.report.page import Count, IntervalCell, Page, Phrase, RowName, Table, Why
from ragstone.report.pages.example_page import worst_page
from ragstone.report.pages.full_run_page import full_page
from ragstone.report.pages.release_gate_page import gate_page
from ragstone.report.pages.runs_page import forecast_page, matrix, run_page
from ragstone.report.render.documents import as_html, as_markdown
from ragstone.report.render.terminal import as_text
from ragstone.report.sentences.run_words import summary_sentences
from ragstone.run import Run
from ragstone.run.folder.schemas import Estimate
from ragstone.run.forecast import Forecast, TaskForecast

Make = Callable[..., Estimate]
Print = Callable[..., str]

SUMMARY = Summary(
    examples=20,
    questions=10,
    answered=20,
    systems=("a", "b"),
    metrics=2,
    themselves={},
    same=(),
    tested=("precision",),
    shared=(8, 8),
    leads=(Lead(("a",), ("b",), ("precision",)),),
    wins=(),
    pair=(),
    alike=(),
    apart=(),
    faults=None,
    missing=0,
    possible=40,
)
MANIFEST: dict[str, Any] = {
    "suites": ["quick"],
    "judges": [
        {"name": "local", "about": "an estimate", "kinds": ["claims"]},
        {"name": "rules", "about": "facts of counting", "kinds": ["lexical"]},
        {"name": "ids", "about": "ids in the data", "kinds": []},
    ],
}


@pytest.fixture
def two(estimate: Make) -> list[Estimate]:
    return [
        estimate("precision", 0.75, low=0.5, high=0.875, method="t", n=10, group={"system": "a"}),
        estimate("precision", 0.25, low=0.125, high=0.5, method="t", n=7, n_undefined=2,
                 n_missing=1, group={"system": "b"}),
    ]  # fmt: skip


def cells(table: Table) -> list[Any]:
    return [cell for row in table.rows for cell in row.cells[1:]]


def test_a_row_is_a_metric_and_a_column_a_system(two: list[Estimate], estimate: Make) -> None:
    made = matrix([*two, estimate("faithfulness", 0.5, group={"system": "b"})], SUMMARY)
    assert [one.head for one in made.columns] == ["metric", "a", "b"]
    assert [(one.title, [row.names for row in one.rows]) for one in made.groups] == [
        ("Retrieval", [["precision"]]), ("Grounding", [["faithfulness"]]),
    ]  # fmt: skip
    assert [cell if isinstance(cell, str) else cell.value for cell in cells(made)] == [
        0.75, 0.25, "", 0.5,
    ]  # fmt: skip


def test_rows_are_counted_where_some_have_no_score(two: list[Estimate]) -> None:
    whole, part = cells(matrix(two, SUMMARY))
    assert (whole.n, whole.missing) == (None, 0)
    assert (part.n, part.missing) == (7, 1)


def test_undefined_missing_and_zero_stay_three_things(estimate: Make) -> None:
    ones = [
        estimate("precision", 0.0, low=0.0, high=0.1, method="t", group={"system": "a"}),
        estimate("precision", n_undefined=3, group={"system": "b"}),
        estimate("precision", n_undefined=3, n_missing=1, group={"system": "c"}),
    ]
    plain = replace(SUMMARY, leads=())
    zero, undefined, missing = cells(matrix(ones, plain))
    assert isinstance(zero, IntervalCell)
    assert zero.value == 0.0
    assert (undefined, missing) == (Why("undefined"), Why("missing"))
    line = as_text_of(matrix(ones, plain)).split("\n")[1]
    words = [word for word in line.split() if "●" not in word]
    assert words == ["precision", "↑", ".000", ".000–.100", "undef.", "missing"]


def test_what_labels_corrected_stands_below_the_judges_means(
    two: list[Estimate], made_run: Any, text: Print
) -> None:
    means = (({"system": "b"}, CorrectedMean(0.5, 0.375, 0.625, 40, 99)),)
    one = CheckedMetric(("local",), 40, 0.5, None, means)
    summary = replace(SUMMARY, checked=CheckedRun({"precision": one}, 40, 2))
    _, corrected = matrix(two, summary).rows
    assert corrected.names == ["↳ corrected"]
    assert corrected.cells[1] == ""
    assert corrected.cells[2] == IntervalCell(0.5, 0.375, 0.625, strong=False)
    reading = "↳ corrected: by people's labels and the judge together"
    assert reading in text(run_page(made_run(two, MANIFEST), summary), 200)
    assert len(matrix(two, SUMMARY).rows) == 1
    # Of a single system the mean of all answers is its own.
    whole: Any = (({}, means[0][1]),)
    alone = CheckedRun({"precision": replace(one, corrected=whole)}, 40, 1)
    page = run_page(made_run(two[:1], MANIFEST), replace(SUMMARY, checked=alone))
    assert "↳ 0.500 (0.375 – 0.625) corrected by people" in text(page)
    record: Any = page.record()
    (row,) = record["estimates"]
    assert row["corrected"] == {"value": 0.5, "low": 0.375, "high": 0.625, "n_labels": 40,
                                "n_judged": 99}  # fmt: skip
    assert record["checked"]["precision"] == {
        "judges": ["local"], "labels": 40, "kappa": 0.5, "checked": True, "lacks": None,
    }  # fmt: skip


def as_text_of(table: Table, width: int = 100) -> str:
    from ragstone.report.page import section

    return as_text(Page("t", "", (section(table),)), width)


def test_every_system_has_its_count_where_the_questions_are_not_the_same(
    two: list[Estimate],
) -> None:
    table = matrix(two, replace(SUMMARY, uneven=("precision",)))
    whole, part = (one for one in table.rows[0].cells if isinstance(one, IntervalCell))
    assert (whole.n, part.n) == (10, 7)


def test_who_leads_is_marked_and_nobody_else(two: list[Estimate]) -> None:
    assert [cell.leads for cell in cells(matrix(two, SUMMARY))] == [True, False]
    printed = as_text_of(matrix(two, SUMMARY), 70)
    assert ".750* .500–.875  .250 .125–.500 n=7 1 missing" in printed
    nobody = replace(SUMMARY, leads=())
    assert "*" not in as_text_of(matrix(two, nobody))


def test_what_systems_share_has_one_interval(two: list[Estimate]) -> None:
    alike = [two[0], replace(two[0], group={"system": "b"}, value=0.75 + 1e-16)]
    first, other = cells(matrix(alike, replace(SUMMARY, same=("precision",))))
    assert (first.low, first.word) == (0.5, "")
    assert (other.low, other.high, other.scale, other.word) == (None, None, None, "same")


@pytest.mark.parametrize("known", [{"value": 0.5}, {"n": 9, "n_undefined": 1}])
def test_the_same_inputs_on_shared_questions_do_not_make_other_means_the_same(
    two: list[Estimate], known: dict[str, Any]
) -> None:
    ones = [two[0], replace(two[0], group={"system": "b"}, **known)]
    other = cells(matrix(ones, replace(SUMMARY, same=("precision",))))[1]
    assert (other.low, other.word) == (0.5, "")


def test_a_system_compared_with_itself_is_marked(two: list[Estimate]) -> None:
    itself, other = cells(matrix(two, replace(SUMMARY, themselves={"a": ("precision",)})))
    assert (itself.value, itself.low, itself.word) == (0.75, None, "self")
    assert (other.low, other.word) == (0.125, "")


def test_marks_are_explained_where_they_are_used(
    two: list[Estimate], made_run: Any, text: Print
) -> None:
    run = made_run(tuple(two), MANIFEST)
    plain = replace(SUMMARY, leads=())
    printed = text(run_page(made_run((two[0], two[0]), MANIFEST), plain))
    for mark in ("rows with a score", "* better", "same:", "self:"):
        assert mark not in printed
    shared = replace(SUMMARY, same=("m",), themselves={"a": ("m",)})
    printed = " ".join(text(run_page(run, shared)).split())
    for mark in ("95 % intervals", "n: rows with a score, if some have none",
                 "* better than every system without * or self",
                 "same: the same inputs for all", "self: the answers are the"):  # fmt: skip
        assert mark in printed


def test_it_says_who_judged_and_what_comes_next(
    two: list[Estimate], made_run: Any, text: Print
) -> None:
    printed = text(run_page(made_run(tuple(two), MANIFEST), SUMMARY))
    assert "judged by  local: an estimate · rules: facts of counting\n" in printed
    assert "ids" not in printed, "a judge that filled nothing did not judge"
    assert "next: ragstone show runs/cornwall  (--full adds counts, methods)" in printed


def test_all_answers_together_have_a_column_where_they_are_asked_for(
    two: list[Estimate], made_run: Any, text: Print, estimate: Make
) -> None:
    run = made_run((*two, estimate("precision", 0.515625)), MANIFEST)
    assert ".516" not in text(run_page(run, SUMMARY))
    assert ".516" in text(run_page(run, SUMMARY, pooled=True))
    record: Any = run_page(run, SUMMARY).record()
    assert [one["group"] for one in record["estimates"]] == [{"system": "a"}, {"system": "b"}, {}]


def test_a_system_called_all_keeps_its_own_numbers_beside_all_systems(estimate: Make) -> None:
    ones = [estimate("precision", 0.25, group={"system": "all"}), estimate("precision", 0.5)]
    made = matrix(ones, SUMMARY)
    assert [one.head for one in made.columns] == ["metric", "all", "all systems"]
    assert [cell.value for cell in cells(made)] == [0.25, 0.5]


def test_one_system_has_a_row_a_metric_with_its_counts(
    estimate: Make, made_run: Any, text: Print
) -> None:
    ones = (estimate("precision", 0.5, low=0.25, high=0.75, method="t", group={"system": "a"}),)
    printed = text(run_page(made_run(ones, MANIFEST), replace(SUMMARY, systems=("a",), tested=())))
    assert "20 answers to 10 questions, 2 metrics." in printed
    assert "undef.  missing" in printed
    assert "0.250 – 0.750" in printed


def test_without_estimates_it_says_so(made_run: Any, text: Print) -> None:
    assert "None of these metrics" in text(run_page(made_run((), MANIFEST), SUMMARY))


def test_what_nobody_judged_is_told_with_who_could(
    estimate: Make, made_run: Any, text: Print
) -> None:
    ones = tuple(
        estimate("helpfulness", n_missing=4, group={"system": system},
                 reasons={"not_judged?kind=quality&by=people,model": 4}) for system in "ab"
    )  # fmt: skip
    printed = text(run_page(made_run(ones, MANIFEST), SUMMARY))
    assert printed.count("quality needs people's labels, or an LLM judge such as") == 1


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ragstone.evaluate(
        cornwall(), judge="local:strings", by=["question_type"],
        out=tmp_path_factory.mktemp("demo") / "run",
    )  # fmt: skip


@pytest.fixture(scope="module")
def demo_page(demo: Run) -> Page:
    return page_of(demo)


def test_the_demo_fits_a_screen(demo_page: Page) -> None:
    lines = as_text(demo_page, 100).splitlines()
    assert len(lines) <= 42
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("width", [60, 80, 100, 160, 240])
def test_every_system_and_metric_is_there_at_any_width(
    demo: Run, demo_page: Page, width: int
) -> None:
    lines = as_text(demo_page, width).splitlines()
    printed = "\n".join(lines)
    for name in demo.examples(["system"])["system"].unique():
        assert name in printed
    for one in demo.estimate_list:
        assert one.metric in printed
    assert max(map(len, lines)) <= width


def test_narrow_screens_have_two_decimals_and_wide_ones_a_drawing(demo_page: Page) -> None:
    def row(width: int) -> str:
        lines = as_text(demo_page, width).splitlines()
        return next(line for line in lines if line.startswith("token_f1"))

    assert ".645 .496–.770" in row(100).replace("  ", " ")
    assert ".64 .50–.77" in row(82).replace("  ", " ")
    assert row(160).count("●") == 3
    assert row(100).count("●") == 0


def test_the_sentences_are_the_same_everywhere(demo: Run, demo_page: Page) -> None:
    sentences, page = summary_sentences(summarise(demo)), demo_page
    record: Any = page.record()
    assert record["summary"] == sentences
    for shown in (as_text(page, 10_000), as_html(page), as_markdown(page).replace("\\_", "_")):
        assert " ".join(sentences) in shown


def test_a_notebook_draws_each_interval_below_its_value(two: list[Estimate], made_run: Any) -> None:
    html = as_html(run_page(made_run(tuple(two), MANIFEST), SUMMARY))
    assert html.count("<svg") == 2
    assert '<b>0.750*</b> <span class="ci">0.500 – 0.875</span><svg' in html
    counts = '<span class="quiet">n=7</span> <span class="missing">1 missing</span>'
    assert f'0.250 <span class="ci">0.125 – 0.500 {counts}</span><svg' in html
    markdown = as_markdown(run_page(made_run(tuple(two), MANIFEST), SUMMARY))
    assert "| **0.750\\*** (0.500 – 0.875) | 0.250 (0.125 – 0.500), n=7, 1 missing |" in markdown


def test_each_task_has_its_calls_tokens_and_cost_and_all_together() -> None:
    tasks = {
        ("m", "claims"): TaskForecast(10, 2, 1000, 100, 0, 0.5),
        ("m", "support"): TaskForecast(30, 0, 3000, 300, 0, 1.25),
    }
    page = forecast_page(Forecast(20, tasks, ("a note",)))
    claims, _, total = page.tables[0].rows
    assert claims.cells == (
        RowName("m"), RowName("claims"), Count(10), Count(2), Count(1000), Count(100),
        Phrase("$0.5000"),
    )  # fmt: skip
    assert total.cells[2:] == (
        Count(40, strong=True), Count(2, strong=True), Count(4000, strong=True),
        Count(400, strong=True), Phrase("$1.75", strong=True),
    )  # fmt: skip
    assert "20 examples, 2.0 calls each. Nothing was sent." in as_text(page)
    assert "a note" in as_text(page)


def test_what_is_not_asked_costs_nothing_and_what_is_not_known_says_so() -> None:
    tasks = {
        ("m", "claims"): TaskForecast(0, 9, 0, 0, 0, None),
        ("m", "support"): TaskForecast(1, 0, 10, 1, 0, None),
    }
    rows = forecast_page(Forecast(0, tasks)).tables[0].rows
    assert [row.cells[-1] for row in rows] == [
        Phrase("–"), Phrase("cost unknown"), Phrase("cost unknown", strong=True),
    ]  # fmt: skip


def test_a_forecast_of_nothing_has_no_calls_each() -> None:
    assert "0 examples, 0.0 calls each" in as_text(forecast_page(Forecast(0, {})))


def test_no_hint_names_a_temporary_folder(tmp_path: Path) -> None:
    rows = [
        {"id": str(number), "question": f"How long is pier {number}?", "answer": "It is 90 m long.",
         "contexts": ["It is wide."], "session": "piers"}
        for number in range(3)
    ]  # fmt: skip
    run = evaluate(rows, metrics="faithfulness", judge="local:strings")
    decided = gate(run, ["faithfulness >= 0.9"])
    pages = [page_of(run), worst_page(run), full_page(run), gate_page(run, decided, {})]
    for page in pages:
        printed = as_text(page, 200)
        assert not re.search(r"ragstone \w+ .*ragstone-", printed), printed
    assert "evaluate(…, out=FOLDER) keeps it" in as_text(pages[0], 200)
    with pytest.raises(InputError, match=r"draw_sample\(scored=RUN\)"):
        calibrate(run)
    stays = evaluate(rows, metrics="faithfulness", judge="local:strings", out=tmp_path / "r")
    assert f"ragstone show {stays.path}" in as_text(page_of(stays), 200)
