"""What results are in a notebook."""

import subprocess
import sys
from pathlib import Path

import pytest

import ragstone
from ragstone import evaluate
from ragstone.decisions import calibrate
from ragstone.decisions.comparing.compare import compare
from ragstone.report.notebook import notebook_html
from ragstone.run import Run

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


@pytest.mark.parametrize(("name", "start"), [("a.svg", "<svg"), ("a.html", "<!doctype html>")])
def test_a_page_is_written_as_a_picture_or_as_html(
    run: Run, tmp_path: Path, name: str, start: str
) -> None:
    command = [sys.executable, "-m", "ragstone.report", str(run.path), str(tmp_path / name)]
    subprocess.run(command, check=True, cwd=Path(ragstone.__file__).parents[1])
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
