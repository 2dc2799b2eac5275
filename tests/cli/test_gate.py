from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

from ragstone import evaluate
from ragstone.cli.decide import gate
from ragstone.cli.output import guarded

from .conftest import Outcome

Gate = Callable[..., Outcome]
CONTEXT = "The pier is 90 metres long."


def row(at: int, system: str, right: bool) -> dict[str, Any]:
    return {
        "id": f"q{at}-{system}",
        "question_id": f"q{at}",
        "system": system,
        "question": f"How long is pier {at}?",
        "contexts": [CONTEXT],
        "answer": CONTEXT if right else f"The pier <{at}> is 20 metres long | \x07*maybe*.",
        "reference": CONTEXT,
    }


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 30 questions ``good`` gets all right, ``bad`` ten."""
    rows = [row(at, "good", right=True) for at in range(30)]
    rows += [row(at, "bad", right=at < 10) for at in range(30)]
    out = tmp_path_factory.mktemp("gate") / "run"
    metrics = ["exact_match", "faithfulness", "abstention"]
    return evaluate(rows, metrics=metrics, judge="local", out=out).path


@pytest.fixture
def run_gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Run ``ragstone gate`` with these arguments."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    app = typer.Typer()
    app.command()(guarded(gate))

    def call(*arguments: object) -> Outcome:
        result = CliRunner().invoke(app, [str(one) for one in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.mark.parametrize(
    ("arguments", "decision", "status"),
    [
        (["-r", "exact_match >= 0.8", "--system", "good"], "pass", 0),
        (["-r", "exact_match >= 0.8"], "fail", 1),
        (["-r", "exact_match >= 0.95", "--system", "good"], "cannot_tell", 3),
        (["-r", "exact_match >= 1", "--system", "good", "--on", "point"], "pass", 0),
        (["--no-worse-than", "bad:0.02"], "pass", 0),
        (["--no-worse-than", "good:0.02"], "fail", 1),
    ],
)
def test_the_exit_status_says_what_was_decided(
    run_gate: Gate, answers: Path, arguments: list[str], decision: str, status: int
) -> None:
    outcome = run_gate(answers, *arguments, "--json")
    assert outcome.status == status
    assert outcome.json["decision"] == decision


def test_bad_input_is_status_2_with_every_fault(run_gate: Gate, answers: Path) -> None:
    outcome = run_gate(answers, "-r", "exact_match", "-r", "mrr > .5", "--system", "worst")
    assert outcome.status == 2
    assert outcome.out == ""
    for word in ("3 problems", "'exact_match' is not a requirement", "'mrr'", "'worst'"):
        assert word in outcome.err


def test_a_folder_that_is_no_run_is_bad_input(run_gate: Gate, tmp_path: Path) -> None:
    assert run_gate(tmp_path, "-r", "exact_match >= 1").status == 2


def test_the_page_says_the_verdict_first_and_shows_the_worst_with_reasons(
    run_gate: Gate, answers: Path
) -> None:
    outcome = run_gate(answers, "-r", "faithfulness >= 0.95")
    lines = outcome.out.splitlines()
    assert "FAIL" in lines[1]
    assert "1 broken" in lines[1]
    bad = next(line for line in lines if "bad  " in line)
    assert "broken" in bad
    assert bad.index("●") < bad.index("┃")
    assert "Worst examples  faithfulness >= 0.95  bad" in lines
    assert "claim 1 absent" in outcome.out
    assert "\x07" not in outcome.out


def test_what_is_open_says_how_many_examples_it_needs(run_gate: Gate, answers: Path) -> None:
    outcome = run_gate(answers, "-r", "exact_match >= 0.95", "--system", "good")
    line = next(line for line in outcome.out.splitlines() if line.startswith("exact_match"))
    assert line.endswith(" 59"), ".95^58 = .0510, .95^59 = .0485"
    assert "59 examples per system" in " ".join(outcome.out.replace("█", " ").split())


def test_the_record_has_the_worst_examples_with_reasons(run_gate: Gate, answers: Path) -> None:
    record = run_gate(answers, "-r", "faithfulness >= 0.95", "--limit", 2, "--json").json
    good, bad = record["requirements"]
    assert (good["group"], bad["group"]) == ({"system": "good"}, {"system": "bad"})
    assert [one["example_id"] for one in bad["worst"]] == ["q10-bad", "q11-bad"]
    assert bad["worst"][0]["reasons"][0].startswith("claim 1 absent: The pier <10>")


def test_junit_has_a_case_for_each_requirement_and_system(
    run_gate: Gate, answers: Path, tmp_path: Path
) -> None:
    file = tmp_path / "reports" / "gate.xml"
    run_gate(answers, "-r", "exact_match >= 0.95", "-r", "abstention <= 20%", "--junit", file)
    root = ElementTree.parse(file).getroot()
    suite = root[0]
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "2", "errors": "0", "skipped": "0",
    }  # fmt: skip
    cases = [
        (case.get("classname"), case.get("name"), [child.get("type") for child in case
                                                   if child.tag in ("failure", "error")])
        for case in suite.iter("testcase")
    ]  # fmt: skip
    assert cases == [
        ("ragstone.gate.good", "exact_match >= 0.95", ["cannot_tell"]),
        ("ragstone.gate.bad", "exact_match >= 0.95", ["fail"]),
        ("ragstone.gate.good", "abstention <= 20%", []),
        ("ragstone.gate.bad", "abstention <= 20%", []),
    ]
    told = "".join(failure.text or "" for failure in suite.iter("failure"))
    assert "q10-bad" in told
    assert "\x07" not in file.read_text(encoding="utf-8")


def test_markdown_escapes_what_the_data_say(run_gate: Gate, answers: Path, tmp_path: Path) -> None:
    file = tmp_path / "gate.md"
    run_gate(answers, "-r", "faithfulness >= 0.95", "--markdown", file)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("## ❌ FAIL")
    table = [line for line in text.splitlines() if line.startswith("| faithfulness")]
    assert len(table) == 2
    assert {line.replace("\\|", "").count("|") for line in table} == {8}
    assert "pier &lt;10&gt; is" in text
    assert "\\*maybe\\*" in text


def test_the_summary_is_put_behind_what_the_build_step_said(
    run_gate: Gate, answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    run_gate(answers, "-r", "exact_match >= 0.8", "--system", "good")
    assert file.read_text(encoding="utf-8").startswith("before\n## ✅ PASS")


def test_missing_scores_are_status_4(run_gate: Gate, tmp_path: Path) -> None:
    rows = [row(at, "one", right=True) for at in range(20)]
    run = evaluate(rows, metrics="helpfulness", out=tmp_path / "run")
    outcome = run_gate(run.path, "-r", "helpfulness >= 0.5", "--json")
    assert outcome.status == 4
    assert outcome.json["requirements"][0]["decision"] == "missing"
    assert outcome.json["requirements"][0]["n_missing"] == 20


def test_the_gate_says_whose_numbers_it_decides_on(
    answers: Path, run_gate: Gate, tmp_path: Path
) -> None:
    own = run_gate(answers, "-r", "faithfulness >= 0.8", "--system", "good")
    assert "PASS by the local judge's numbers" in own.out
    assert "numbers  the local judge, which no label has checked here" in own.out
    counted = run_gate(answers, "-r", "exact_match >= 0.8", "--system", "good")
    assert "PASS  1 holds" in counted.out
    labels = tmp_path / "labels.csv"
    rows = [f"q{at}-{system},ann,1" for at in range(30) for system in ("good", "bad")]
    labels.write_text("\n".join(["id,annotator,faithfulness", *rows]), encoding="utf-8")
    arguments = (answers, "-r", "faithfulness >= 0.8", "--labels", labels)
    corrected = run_gate(*arguments)
    assert "PASS  2 hold" in corrected.out
    assert "the local judge, faithfulness corrected by 60 labels of people" in corrected.out
    record = run_gate(*arguments, "--json").json
    assert record["corrected"] == ["faithfulness"]
    assert record["checked"]["faithfulness"]["judges"] == ["local"]
    # A paired difference is never corrected.
    both = run_gate(*arguments, "--no-worse-than", "bad:0.5", "--only", "faithfulness")
    assert "by the local judge's numbers" in both.out


@pytest.mark.parametrize(
    ("questions", "lacks"),
    [
        ((0, 29), "4 labels; about 60 are needed"),
        (range(0, 30, 4), "16 labels; about 60 are needed"),
        (range(0, 30, 2), "30 labels from fewer than 20 questions; more questions are needed"),
    ],
)
def test_too_few_labels_leave_it_by_the_judges_numbers(
    answers: Path, run_gate: Gate, tmp_path: Path, questions: Sequence[int], lacks: str
) -> None:
    labels = tmp_path / "labels.csv"
    rows = [f"q{at}-{system},ann,1" for at in questions for system in ("good", "bad")]
    labels.write_text("\n".join(["id,annotator,faithfulness", *rows]), encoding="utf-8")
    arguments = (answers, "-r", "faithfulness >= 0.01", "--labels", labels)
    few = run_gate(*arguments)
    assert "PASS by the local judge's numbers  2 hold" in few.out
    numbers = f"numbers the local judge, not checked against people: {lacks}"
    assert numbers in " ".join(few.out.split())
    record = run_gate(*arguments, "--json").json
    assert record["corrected"] == []
    assert record["checked"]["faithfulness"]["labels"] == len(rows)
