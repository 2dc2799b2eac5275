"""What results are in a notebook."""

from pathlib import Path

import pytest

import ragstone
from ragstone import evaluate
from ragstone.analysis import calibrate
from ragstone.analysis.comparison.compare import compare
from ragstone.core.messages import Displayable
from ragstone.report.notebook import brief, notebook_html, page_of
from ragstone.report.page import (
    OutlineItem,
    Page,
    Paragraphs,
    Row,
    RowName,
    Table,
    Tone,
    Verdict,
    section,
    table,
)
from ragstone.report.render.terminal import as_text
from ragstone.run import Run
from tests.forked import Forked

ROWS = [
    {"id": f"{question}-{system}", "question_id": question, "system": system,
     "question": f"How long is {question}?", "contexts": ["It is 90 m."], "answer": answer,
     "reference": "It is 90 m.", "labels": {"exact_match": at % 2}}
    for at, question in enumerate(("pier", "mole", "adit"))
    for system, answer in (("a", "It is 90 m."), ("b", "It is 20 m."))
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("notebook") / "run"
    return evaluate(ROWS, metrics=["exact_match", "token_f1"], out=out)


def test_a_run_and_a_comparison_show_their_pages(run: Run) -> None:
    shown = run._repr_html_()
    assert "<bdi>exact_match</bdi>" in shown
    assert "<svg" in shown
    compared = compare(run.path)._repr_html_()
    assert compared.startswith('<div class="ragstone"><style>')
    assert "question by question" in compared


def test_a_calibration_shows_its_page(run: Run, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    lines = [f"{row['id']},ann,{at % 2}\n" for at, row in enumerate(ROWS)]
    labels.write_text("id,annotator,exact_match\n" + "".join(lines))
    shown = calibrate(run, labels)._repr_html_()
    assert "corrected by people" in shown


def test_what_has_no_page_says_so() -> None:
    with pytest.raises(TypeError, match="int has no page"):
        notebook_html(3)


@pytest.mark.parametrize(("name", "start"), [("a.svg", "<svg"), ("a.md", "# ")])
def test_a_page_is_written_as_a_picture_or_as_markdown(
    run: Run, tmp_path: Path, name: str, start: str
) -> None:
    program = "import runpy; runpy.run_module('ragstone.report', run_name='__main__')"
    drawing = Forked(program, run.path, tmp_path / name, cwd=tmp_path)
    assert (drawing.communicate(), drawing.returncode) == (("", ""), 0)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


RESULTS = ("run", "comparison", "calibration", "gate", "agreement")


@pytest.fixture(scope="module")
def results(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Displayable]:
    labels = tmp_path_factory.mktemp("labels") / "labels.csv"
    lines = [f"{row['id']},{who},{at % 2}\n" for at, row in enumerate(ROWS) for who in ("a", "b")]
    labels.write_text("id,annotator,exact_match\n" + "".join(lines))
    return {
        "run": run,
        "comparison": compare(run.path),
        "calibration": calibrate(run, labels),
        "gate": ragstone.gate(run, "token_f1 >= 0.9"),
        "agreement": ragstone.agreement(labels),
    }


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_printed_is_the_page_and_what_is_named_is_a_line(
    name: str, results: dict[str, Displayable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    result = results[name]
    assert str(result).splitlines() == as_text(brief(page_of(result)), 100).splitlines()
    assert type(result).__name__ in repr(result)
    assert len(repr(result)) < 200
    assert "\n" not in repr(result)


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_short_table(name: str, results: dict[str, Displayable]) -> None:
    html = results[name]._repr_html_()
    assert html.startswith('<div class="ragstone"><style>')
    assert html.count("<tr>") > 1
    assert len(html.encode()) < 60_000


def test_a_gate_shows_the_examples_that_fail_it(results: dict[str, Displayable]) -> None:
    printed = str(results["gate"])
    assert "FAIL" in printed or "CANNOT TELL" in printed
    assert "pier-b" in printed


def test_a_comparison_of_many_metrics_stays_short(tmp_path: Path) -> None:
    rows = [row | {"system": f"s{at}", "id": f"{row['id']}{at}", "answer": f"It is {at} m long."}
            for row in ROWS for at in range(5)]  # fmt: skip
    run = evaluate(rows, judge="local:strings", out=tmp_path / "run")
    found = compare(run)
    html = found._repr_html_()
    page = page_of(found)
    assert sum(len(one.rows) for one in page.tables) > 40
    assert sum(len(one.rows) for one in brief(page).tables) == 40
    assert len(html.encode()) < 60_000
    assert "more rows" in html


def test_many_systems_stay_short_too(tmp_path: Path) -> None:
    rows = [row | {"system": f"s{at}", "id": f"{row['id']}{at}"}
            for row in ROWS for at in range(12)]  # fmt: skip
    run = evaluate(rows, judge="local:strings", out=tmp_path / "run")
    for result in (run, compare(run)):
        html = result._repr_html_()
        assert len(html.encode()) < 60_000
        assert html.count("<tr>") <= 60, "at most 40 rows, and the heads of 13 tables"


def test_tables_without_room_for_a_few_rows_are_counted_and_those_that_decide_stay() -> None:
    tables = [a_table(*["same"] * 4), a_table(*["better"] * 4), a_table("same")]
    page = Page("t", "", tuple(section(one, title="of two") for one in tables))
    assert kept(page) == [["m0", "m1", "m2", "m3"], ["m0"]]
    assert "and 1 more table\n" in as_text(brief(page, 5))
    assert "more table" not in as_text(brief(page, 9))


def a_table(*verdicts: str, title: str = "") -> Table:
    tones: dict[str, Tone] = {"better": "good", "same": "quiet", "cannot_tell": "quiet"}
    rows = [Row((RowName(f"m{at}"), Verdict(one, one, tones[one])), detail=(OutlineItem("d"),))
            for at, one in enumerate(verdicts)]  # fmt: skip
    return table(["metric", "verdict"], rows, title)


def kept(page: Page) -> list[list[str]]:
    return [[row.names[0] for row in one.rows] for one in brief(page, 5).tables]


def test_rows_that_decide_nothing_go_first_and_small_tables_stay_whole() -> None:
    long = a_table("same", "better", "same", "better", "same", "better")
    page = Page("t", "", (section(a_table("same")), section(long, Paragraphs(("end",)))))
    assert kept(page) == [["m0"], ["m0", "m1", "m3", "m5"]]
    shown = as_text(brief(page, 5))
    assert "and 2 more rows\n" in shown
    assert shown.index("more rows") < shown.index("end")
    assert "and 1 more row\n" in as_text(brief(Page("t", "", (section(long),)), 5))


def test_a_page_keeps_the_details_of_a_few_rows() -> None:
    page = Page("t", "", (section(a_table(*["better"] * 8)),))
    (found,) = brief(page, 8).tables
    assert [row.cells for row in found.rows] == [row.cells for row in page.tables[0].rows]
    assert [bool(row.detail) for row in found.rows] == [True] * 6 + [False] * 2
    assert "more row" not in as_text(brief(page, 8))


def test_a_group_without_rows_has_no_title() -> None:
    one, other = a_table("better", title="One"), a_table("same", title="Other")
    both = Table(one.columns, (*one.groups, *other.groups))
    (found,) = brief(Page("t", "", (section(both),)), 1).tables
    assert [group.title for group in found.groups] == ["One"]
