"""The documents say what the code does: snippets run, links resolve, names exist."""

import json
import re
import runpy
import shlex
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
import typer

import ragstone
from ragstone.annotation import read_label_table
from ragstone.cli.app import app
from ragstone.cli.output import SourceFirst
from ragstone.data import cornwall
from ragstone.data.demo import demo_records
from ragstone.judgements import ASKS
from ragstone.judges.judge_names import JUDGES, who_fills
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.metrics import ALIASES, SUITES, metric_types, needed_asks, parse_metric
from tests.forked import COMMAND, Forked
from tests.project import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])
COMMANDS: Any = typer.main.get_command(app)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """The text without its code blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every table row, heads included."""
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def anchors(text: str) -> set[str]:
    """What a heading is called in a link."""
    heads = re.findall(r"^#+ (.*)$", prose(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_metric_page_is_what_the_code_says() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "catalogue.py"))["page"]()
    assert text_of("docs/metrics.md") == page, "python docs/catalogue.py writes it anew"


def test_page_of_dependencies_is_current_and_names_each_with_its_reason() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "dependencies.py"))
    assert script["DIRECT"].keys() == script["declared"]().keys()
    page = script["page"]()
    assert text_of("docs/dependencies.md") == page, "python docs/dependencies.py writes it anew"


def test_page_of_the_demo_says_what_is_found_of_what_was_planted() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "demo.py"))
    page = script["page"]()
    assert text_of("docs/demo.md") == page, "python docs/demo.py writes it anew"
    assert page.count("| no |") < page.count("` is 1 |") + page.count("| stage `")


SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
}
"""What packages say of their licence that have no SPDX expression yet."""


def test_licences_are_those_that_installed_packages_name() -> None:
    """Two or three name none in their metadata; those were read in their files."""
    script = runpy.run_path(str(ROOT / "docs" / "dependencies.py"))
    for name, (licence, _) in script["DIRECT"].items():
        with suppress(PackageNotFoundError):
            metadata = distribution(name).metadata
            heads = [head.rpartition(" :: ")[2] for head in metadata.get_all("Classifier") or ()
                     if head.startswith("License :: ")]  # fmt: skip
            fields = ("License-Expression", "License")
            named = [text for field in fields for text in metadata.get_all(field) or ()] + heads
            stated = [SPELLINGS.get(text, text) for text in named if "\n" not in text]
            assert not stated or licence in stated, name


def test_metric_page_has_every_metric_and_suite() -> None:
    page = anchors(text_of("docs/metrics.md"))
    assert page >= {*metric_types(), *(f"suite-{name}" for name in SUITES)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_relative_link_resolves(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    for target in (one for one in targets if "://" not in one):
        file, _, anchor = target.partition("#")
        linked = path.parent / file if file else path
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_a_link_to_a_page_has_words_and_not_the_name_of_its_file(path: Path) -> None:
    assert re.findall(r"\[[\w-]+\.md\]\([^)]*\)", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_no_document_names_a_place_on_one_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"(?<![\w./])/(?:work|root|tmp|home|Users)\b|[A-Z]:\\\w", text)


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", ["README.md", "docs/own-metric.md", "docs/run-folder.md"])
def test_python_snippets_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "snippet"}
    for number, snippet in enumerate(blocks(text_of(name), "python")):
        file = tmp_path / f"snippet_{number}.py"
        file.write_text(snippet, encoding="utf-8")
        exec(compile(snippet, str(file), "exec"), names)
    assert isinstance(names["run"], ragstone.Run)


def own_metrics() -> list[tuple[list[str], str]]:
    """The names and the file of the metrics of each file the documents show."""
    found = []
    for snippet in blocks(text_of("docs/own-metric.md"), "python"):
        if snippet.startswith("# own.py"):
            named = re.findall(r'name: ClassVar\[str\] = "(\w+)"', snippet)
            functions = re.findall(r"^def (\w+)\(", snippet, re.MULTILINE)
            found.append((named or functions, snippet))
    return found


@pytest.mark.parametrize(("metrics", "file"), own_metrics())
def test_own_metrics_of_the_docs_are_scored(metrics: list[str], file: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(file, encoding="utf-8")
    own = ("--metric", metrics[0], "--metrics-from", "own.py", "--out", "run", "--json")
    out, errors = Forked(COMMAND, "evaluate", cornwall(), *own, cwd=tmp_path).communicate()
    assert out, errors
    found = {one["metric"]: one["n"] for one in json.loads(out)["estimates"]}
    assert list(found) == metrics
    assert all(found.values())


def test_own_metric_takes_no_more_than_ten_lines() -> None:
    assert all(len(file.splitlines()) <= 10 for _, file in own_metrics()[:1])


def commands_of(path: Path) -> list[str]:
    """The commands of a page: lines of shell blocks, and code in tables."""
    text = path.read_text(encoding="utf-8")
    shell = "".join(blocks(text, "sh")).replace("\\\n", " ").splitlines()
    return shell + [code for row in rows(text) for cell in row
                    for code in re.findall(r"`(ragstone [^`]+)`", cell)]  # fmt: skip


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_command_and_option_exists(path: Path) -> None:
    for line in commands_of(path):
        words = shlex.split(line, comments=True)
        if words[:1] == ["ragstone"]:
            command = COMMANDS.commands[words[1]]
            below = getattr(command, "commands", {})
            if isinstance(command, SourceFirst):
                # `annotate RUN` is short for `annotate new RUN`.
                command = next(iter(below.values()))
            command = below.get("".join(words[2:3]), command)
            known = {name for parameter in command.params for name in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= known, line


@pytest.mark.parametrize(
    "name", ["quick-start.md", "compare.md", "gate.md", "calibrate.md", "promise.md"]
)
def test_worked_examples_print_what_the_page_says(name: str) -> None:
    played = runpy.run_path(str(ROOT / "docs" / "worked.py"))["played"]
    page = text_of(f"docs/{name}")
    assert played(page) == page, "python docs/worked.py writes it anew"


def test_python_of_the_promise_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = text_of("docs/promise.md")
    for name, text in re.findall(r"^```csv (\S+)\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    context = "The bridge over the river Tamar was opened in 1859."
    answers = {True: "The bridge was opened in 1859.", False: "Ninety cats sleep in Paris {}."}
    examples = [
        {"question": f"When, {at}?", "answer": answers[at > 45].format(at),
         "contexts": [f"{context} It is number {at}."], "labels": {"faithful": at > 45}}
        for at in range(50)
    ]  # fmt: skip
    lines = "".join(json.dumps(one) + "\n" for one in examples)
    (tmp_path / "examples.jsonl").write_text(lines, encoding="utf-8")
    names: dict[str, Any] = {
        "question": "When?", "answer": answers[True], "contexts": [context],
        "scores": [0.9] * 30, "wrong": [False] * 30, "questions": list(range(30)),
    }  # fmt: skip
    for snippet in blocks(page, "python"):
        exec(compile(snippet, "promise.md", "exec"), names)
    assert names["gate"].judge.name == "local:strings"


def test_python_of_the_alarms_says_what_the_page_says() -> None:
    names: dict[str, Any] = {}
    for snippet in blocks(text_of("benchmarks/monitor.md"), "python"):
        exec(compile(snippet, "monitor.md", "exec"), names)
    # The page's table has 362 and 578, of 2,000 draws.
    assert names["delay"].median == pytest.approx(362, rel=0.1)
    assert names["delay"].p90 == pytest.approx(578, rel=0.1)


def test_answers_that_the_quick_start_shows_are_the_demos() -> None:
    named = re.findall(r"`ragstone show run (\w[\w-]*)`", text_of("docs/quick-start.md"))
    assert named
    assert set(named) <= {record["id"] for record in demo_records()}


def test_the_index_leads_to_every_page() -> None:
    index = text_of("docs/index.md")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert [name for name in sorted(pages) if f"]({name})" not in index] == []


def compared_metrics() -> list[list[str]]:
    """The rows of the tables that say where a metric of another tool is found."""
    found = [row for row in rows(text_of("docs/coming-from.md")) if len(row) == 4]
    return [row for row in found if row[1] != "here"]


@pytest.mark.parametrize("row", compared_metrics(), ids=lambda row: row[0])
def test_metric_of_another_tool_is_found_here(row: list[str]) -> None:
    names = re.findall(r"`([^`]+)`", row[1])
    assert names
    for name in names:
        assert parse_metric(str(parse_metric(name))) == parse_metric(name)


@pytest.mark.parametrize("row", compared_metrics(), ids=lambda row: row[0])
def test_metric_that_nobody_can_judge_yet_is_said_to_come_later(row: list[str]) -> None:
    names = re.findall(r"`([^`]+)`", row[1])
    asks = needed_asks([parse_metric(name) for name in names])
    if any(not who_fills(ask) for ask in asks):
        assert row[3] == "later"


def test_metric_said_to_need_counting_alone_is_never_missing(tmp_path: Path) -> None:
    names = [name for row in compared_metrics() if row[3] == "counting"
             for name in re.findall(r"`([^`]+)`", row[1])]  # fmt: skip
    run = ragstone.evaluate(cornwall(), metrics=names, judge=["rules"], out=tmp_path / "run")
    assert {one.n_missing for one in run.estimate_list} == {0}


def test_metric_said_to_need_the_judge_has_values_from_it(tmp_path: Path) -> None:
    names = [name for row in compared_metrics() if row[3] == "judge"
             for name in re.findall(r"`([^`]+)`", row[1])]  # fmt: skip
    run = ragstone.evaluate(cornwall(), metrics=names, judge=["local"], out=tmp_path / "run")
    assert all(one.n for one in run.estimate_list if not one.group)


def test_every_judge_and_every_table_it_fills_is_told() -> None:
    told = [row for row in rows(text_of("docs/judges.md")) if len(row) in (2, 3)]
    assert {row[0].strip("`") for row in told if len(row) == 2} >= {one.name for one in JUDGES}
    filled: dict[str, set[str]] = {}
    for row in told:
        if len(row) == 3 and row[0] != "table":
            judges = set() if row[2] == "later" else set(row[2].split(", "))
            filled |= {kind.strip("`"): judges for kind in row[0].split(", ")}
    kinds = {ask.kind for ask in ASKS.values()}
    assert filled == {
        kind: {judge for name, ask in ASKS.items() if ask.kind == kind for judge in who_fills(name)}
        for kind in kinds
    }


def test_readme_says_of_the_local_judge_what_it_says_of_itself() -> None:
    said = LocalJudge().about.split(" (")[0]
    assert said in " ".join(text_of("README.md").split())


def test_figures_for_users_of_the_local_judge_are_those_that_were_measured() -> None:
    measured = text_of("benchmarks/local-judge.md")
    figures = [
        figure
        for cells in rows(text_of("docs/local-judge.md"))
        if len(cells) == 5
        for figure in re.findall(r"0\.\d{3}", " ".join(cells))
    ]
    assert len(figures) == 20
    assert [figure for figure in figures if f"| {figure} |" not in measured] == []


def test_labels_are_read_as_told(tmp_path: Path) -> None:
    (record,) = blocks(text_of("docs/judges.md"), "json")
    (label_file,) = blocks(text_of("docs/judges.md"), "csv")
    file = tmp_path / "labels.csv"
    file.write_text(label_file, encoding="utf-8")
    assert not read_label_table(file).ties()
    run = ragstone.evaluate(
        [json.loads(record)],
        metrics=["precision", "faithfulness", "misleading_rate", "sufficiency_rate", "helpfulness"],
        judge=[f"human:{file}"],
        out=tmp_path / "run",
    )
    assert {one.metric: one.value for one in run.estimate_list} == {
        "precision": 1 / 2,
        "faithfulness": 1,
        "misleading_rate": None,
        "sufficiency_rate": 1 / 2,
        "helpfulness": 1,
    }


def test_every_file_and_column_of_a_run_is_told(tmp_path: Path) -> None:
    page = text_of("docs/run-folder.md")
    run = ragstone.evaluate(cornwall(), out=tmp_path / "run")
    for file in (tmp_path / "run").iterdir():
        if file.is_file():
            assert f"`{file.name}`" in page
    for column in (*run.scores().columns, *run.estimate_list[0].to_dict()):
        assert f"`{column}`" in page, column


def test_every_benchmark_has_a_line() -> None:
    told = re.findall(r"^\| \[(\w+\.py)\]", text_of("benchmarks/README.md"), flags=re.MULTILINE)
    assert told == sorted(path.name for path in (ROOT / "benchmarks").glob("*.py"))


def test_every_alias_names_a_metric() -> None:
    assert all(parse_metric(target) for target, _ in ALIASES.values())
