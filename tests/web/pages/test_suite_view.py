"""A run as the report of the tool that a suite is named after."""

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone.data import cornwall
from ragstone.metrics import SUITES
from ragstone.run import Run
from ragstone.testing import ScriptedEncoder
from tests.web.conftest import client_of, settled


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    suites = ["graphrag", "taxonomy", "embedding", "triad"]
    ragstone.evaluate(cornwall(), suites=suites, embedder=ScriptedEncoder(), out=made / "all")
    return made


@pytest.fixture
def reports(folder: Path) -> TestClient:
    return client_of(folder)


def words(text: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", text).split()))


def test_a_run_offers_the_reports_that_it_was_made_for(reports: TestClient) -> None:
    text = settled(reports, "/runs/all")
    assert re.findall(r'href="/runs/all/suites/(\w+)"', text) == [
        "graphrag", "embedding", "taxonomy", "triad",
    ]  # fmt: skip


def test_a_report_whose_metrics_are_not_there_says_what_to_do(client: TestClient) -> None:
    answer = client.get("/runs/cornwall/suites/rubric")
    assert answer.status_code == 404
    assert "--suite rubric" in answer.text


def test_graphrag_has_classes_grades_types_and_wrong_answers_with_references(
    reports: TestClient, folder: Path
) -> None:
    text = words(settled(reports, "/runs/all/suites/graphrag"))
    counts = re.search(r"(\d+) correct \((\S+) %.*?(\d+) wrong .*?(\d+) don't know", text)
    assert counts is not None
    correct, share, wrong, unknown = counts.groups()
    assert int(correct) + int(wrong) + int(unknown) == 24
    assert float(share) == pytest.approx(100 * int(correct) / 24, abs=0.05)
    labels = Run.open(folder / "all").scores()["label"].cast(str).to_list()
    assert int(correct) == labels.count("correct"), "partial counts as wrong"
    assert "Fact Retrieval 6" in text
    assert "ground truth" in text
    assert text.index("Fact Retrieval 6") < text.index("Complex Reasoning 6")


def test_a_column_of_a_report_is_shown_question_by_question(reports: TestClient) -> None:
    text = settled(reports, "/runs/all/suites/graphrag?column=classification")
    grid = text.split('id="questions"')[1].split("</table>")[0]
    assert grid.count("<tr>") == 1 + 8
    assert set(re.findall(r'<td class="n">([^<]*)</td>', grid)) <= {
        "CORRECT", "WRONG", "DON&#39;T KNOW",
    }  # fmt: skip


def test_the_taxonomy_has_its_own_names_by_family(reports: TestClient) -> None:
    text = words(settled(reports, "/runs/all/suites/taxonomy"))
    places = [text.index(f"{name} metrics") for name in ("Retrieval", "Grounding", "Generation")]
    assert places == sorted(places)
    assert "TopicalPrecision ↑" in text
    assert "UnsafeContentRate ↓" in text


def test_each_limit_stands_with_its_advice_and_how_many_are_beyond(reports: TestClient) -> None:
    text = words(settled(reports, "/runs/all/suites/embedding"))
    for limit in SUITES["embedding"].limits:
        said = f"{limit.name.replace('_', ' ')} {limit.side} {limit.bound:g} : {limit.advice}"
        assert said in text
    assert re.search(r"local_search \d of 8", text)


def test_a_cell_that_does_not_apply_says_why(reports: TestClient) -> None:
    text = settled(reports, "/runs/all/suites/triad?column=context_relevance")
    assert "N/A: no retrieval" in text
    assert ">N/A<" not in text


def test_the_triad_gives_the_reasons_of_each_answer(reports: TestClient) -> None:
    text = settled(reports, "/runs/all/suites/triad")
    assert "Answer by answer" in text
    assert 'href="/runs/all/examples/' in text


def test_a_page_beyond_the_last_is_the_last(reports: TestClient) -> None:
    text = settled(reports, "/runs/all/suites/graphrag?page=99&at=99")
    assert "page 2 of 2" in text
