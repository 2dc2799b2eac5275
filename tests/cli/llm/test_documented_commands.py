"""Every command of README and docs is run, in a folder with the files that it names."""

import csv
import filecmp
import importlib.util
import json
import re
import shlex
import shutil
import socket
import webbrowser
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import uvicorn

from ragstone import evaluate, read
from ragstone.analysis import annotate
from ragstone.annotation.queue.form import ItemAnswers
from ragstone.data import cornwall
from ragstone.data.demo import demo_records
from ragstone.data.write_examples import as_record
from ragstone.metrics import SUITES
from ragstone.models.download import PLACE
from ragstone.monitor.store.store import open_store
from ragstone.web import security as listening
from tests.certificates import certificate
from tests.project import ROOT

OF_USERS = re.compile(
    r"org/name|BAAI/|cross-encoder/|models/my-|FOLDER|torch:|anthropic:|my-prompts|"
    r"s3://bucket|engine ray"
)
"""Commands with a model, prompts, a bucket or a cluster that only a user has: that they exist is
tested elsewhere."""
OTHERS = re.compile(
    r"ragstone models (pull|clear|verify)|--kinds|ragstone score RUN$|correct RUN q7|--static|"
    r"ragstone batches"
)
"""Commands that fetch or delete models, that load a kind (tests/own_kind plays these) into this
process, the one that tries again what an encoder failed to do, those that correct an example that
only a user has (tests/cli/test_correct.py plays these),
the one about batches (test_batches.py), and the one that writes every page."""
ENCODER = re.compile(r"embedding|ragas|graphrag|semantic|bertscore")
"""What compares texts by an encoder."""
DEMO_METRICS = ("answer_coverage", "unsupported_claim", "abstention")
"""The few metrics of runs/demo, of which a command draws every chart."""
ENDS = {
    "evaluate": {0, 4},
    "score": {0, 4},
    "gate": {0, 1, 3, 4},
    "weights": {0, 3},
    "guard": {0, 1, 3},
}
"""Exit statuses that say something of the data; of all other commands 0 alone."""


def docs() -> ModuleType:
    path = ROOT / "tests" / "test_docs.py"
    spec = importlib.util.spec_from_file_location("docs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def documented() -> Iterator[str]:
    """Each command once, without the comment behind it."""
    page = docs()
    found = (line for path in page.DOCUMENTS for line in page.commands_of(path))
    for line in dict.fromkeys(re.sub(r"\s+#.*", "", one) for one in found):
        whole = len(line.split()) > 2 or line in ("ragstone runs", "ragstone models")
        of_users = OF_USERS.search(line) or OTHERS.search(line)
        if line.startswith("ragstone ") and whole and not of_users:
            yield line


@cache
def rows(times: int = 1) -> list[dict[str, Any]]:
    """Eight answers of two systems, some times over, called as in the documents."""
    names = {"basic_search": "v1", "local_search": "v2"}
    found = [as_record(one) for one in read(cornwall())][:15]
    return [
        row | {"system": names[row["system"]], "id": f"{row['id']}{again or ''}",
               "question_id": f"{row['question_id']}{again or ''}"}
        for again in range(times) for row in found if row["system"] in names
    ]  # fmt: skip


def renamed(row: dict[str, Any], **names: str) -> dict[str, Any]:
    """What another tool's file has of a row: fields by its names."""
    texts = {**row, "contexts": [one["text"] for one in row["contexts"] or ()],
             "reference": " ".join(row["reference"])}  # fmt: skip
    return {new: texts[old] for old, new in names.items()}


def written(folder: Path) -> None:
    """The files that the documents speak of."""
    data = rows()
    lines = [json.dumps(row) for row in data]
    many = [json.dumps(row) for row in rows(times=26)]
    (folder / "many.jsonl").write_text("\n".join(many), encoding="utf-8")
    for name in ("answers", "labelled", "records"):
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    answers = list(map(json.dumps, demo_records()))
    (folder / "demo.jsonl").write_text("\n".join(answers), encoding="utf-8")
    (folder / "few.jsonl").write_text("\n".join(answers[:30]), encoding="utf-8")
    ragas = {"question": "user_input", "answer": "response", "contexts": "retrieved_contexts",
             "reference": "reference"}  # fmt: skip
    ours = [json.dumps(renamed(row, **ragas)) for row in data]
    (folder / "rows.jsonl").write_text("\n".join(ours), encoding="utf-8")
    deepeval = {"question": "input", "answer": "actual_output", "contexts": "retrieval_context",
                "reference": "expected_output"}  # fmt: skip
    cases = [renamed(row, **deepeval) for row in data]
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    # What other tools export.
    shapes = ROOT / "tests" / "data" / "layouts" / "shapes"
    shutil.copy(shapes / "mlflow-traces.json", folder / "traces.json")
    shutil.copy(shapes / "langsmith.csv", folder / "experiment.csv")
    sample = {"id": 1, "epoch": 1, "input": "How long?", "output": {"completion": "90 m."}}
    log = {"eval": {"model": "m"}, "samples": [{**sample, "metadata": {"contexts": ["90 m."]}}]}
    (folder / "log.json").write_text(json.dumps(log), encoding="utf-8")
    graphrag = {"question": "question", "answer": "generated_answer", "contexts": "context",
                "reference": "gold_answer"}  # fmt: skip
    results = [renamed(row, **graphrag) for row in data]
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    exported(folder, data)
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "my_column", "passages_json"])
        for row in data:
            texts = [one["text"] for one in row["contexts"] or ()]
            table.writerow([row["question"], row["answer"], json.dumps(texts)])
    ranks = [f"q{q} Q0 d{d} {d} {9 - d} bm25" for q in range(4) for d in range(1, 6)]
    (folder / "run.trec").write_text("\n".join(ranks), encoding="utf-8")
    grades = [f"q{q} 0 d{d} {d % 2}" for q in range(4) for d in range(1, 6)]
    (folder / "qrels.txt").write_text("\n".join(grades), encoding="utf-8")
    judged = [f"{row['id']},{who},{at % 2},{(at + 1) % 2},{at % 2},{('correct', 'wrong')[at % 2]}"
              for at, row in enumerate(data) for who in ("ann", "ben")]  # fmt: skip
    head = "id,annotator,faithfulness,helpful,unsupported_claim_present,verdict"
    for name in ("labels", "sheet"):
        (folder / f"{name}.csv").write_text("\n".join([head, *judged]), encoding="utf-8")
    pages = docs()
    for document in (
        "docs/calibrate.md",
        "docs/own-questions.md",
        "docs/own-metric.md",
        "docs/promise.md",
    ):
        text = pages.text_of(document)
        for name, content in re.findall(r"^```csv (\S+)\n(.*?)^```", text, re.M | re.S):
            if not (folder / name).exists():
                (folder / name).write_text(content, encoding="utf-8")
    (folder / "mine.toml").write_text(
        pages.blocks(pages.text_of("docs/own-questions.md"), "toml")[0]
    )
    own = [one for _, one in pages.own_metrics()]
    (folder / "own.py").write_text("\n\n".join(own), encoding="utf-8")
    questions = dict.fromkeys(row["question_id"] for row in data if "question_id" in row)
    asked = list(questions) or [f"q{at}" for at in range(3)]
    pairs = [f"{one},v2,v1,2,ann" for one in asked]
    (folder / "pairs.csv").write_text(
        "\n".join(["question_id,system_a,system_b,preference,annotator", *pairs]), encoding="utf-8"
    )
    prices = '["openai:gpt-5-mini"]\ninput = 0.25\noutput = 2.0\n'
    (folder / "prices.toml").write_text(prices, encoding="utf-8")
    (folder / "results").mkdir()
    shutil.copy(folder / "answers.jsonl", folder / "window.jsonl")
    open_store(folder / "monitor").close()


def exported(folder: Path, data: list[dict[str, Any]]) -> None:
    """What Phoenix, MLflow and promptfoo write of the demo data."""
    spans, evaluated, results = [], [], []
    for at, row in enumerate(data):
        texts = [one["text"] for one in row["contexts"] or ()]
        trace = {"context.trace_id": f"t{at}"}
        spans.append({"context.span_id": f"a{at}", **trace, "parent_id": None,
                      "attributes.input.value": row["question"],
                      "attributes.output.value": row["answer"]})  # fmt: skip
        spans.append({"context.span_id": f"b{at}", **trace, "parent_id": f"a{at}",
                      "span_kind": "RETRIEVER", "attributes.retrieval.documents": [
                          {"document.content": text} for text in texts]})  # fmt: skip
        reference = " ".join(row["reference"])
        evaluated.append({"inputs": {"question": row["question"], "context": texts},
                          "outputs": row["answer"],
                          "expectations": {"expected_response": reference}})  # fmt: skip
        results.append({"testIdx": at, "promptIdx": 0, "provider": {"id": "openai:gpt-5-mini"},
                        "prompt": {"label": "p"}, "response": {"output": row["answer"]},
                        "vars": {"question": row["question"], "context": texts,
                                 "expected": reference}})  # fmt: skip
    for name, records in (("spans", spans), ("mlflow", evaluated)):
        lines = "\n".join(json.dumps(record) for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    whole = {"evalId": "e1", "results": {"version": 3, "results": results, "stats": {}}}
    (folder / "promptfoo.json").write_text(json.dumps(whole), encoding="utf-8")


def labelled(runs: Path) -> None:
    """A queue in which two people labelled all answers of a run, and labels from elsewhere."""
    queue = annotate(runs / "demo", runs, metric="unsupported_claim", name="QUEUE", per_item=2)
    for at, person in enumerate(("ann", "ben")):
        queue.invite(person)
        item = queue.next(person)
        while item is not None:
            said = "yes" if (item.item + at) % 3 else "no"
            answers = ItemAnswers({("answer", ""): {"unsupported_claim_present": said}})
            item = queue.save(person, item.item, answers, str(item.item))
    given = [f"{id},cem,1" for id, _ in queue.places().values()]
    head = "id,annotator,unsupported_claim_present"
    Path("given.csv").write_text("\n".join([head, *given]), encoding="utf-8")


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, and runs in which each command finds what it needs."""
    from tests.cli.conftest import call

    folder = tmp_path_factory.mktemp("docs")
    written(folder)
    for file, name in zip(certificate(folder), ("rag.pem", "rag.key"), strict=True):
        file.rename(folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        both = ["human", "local:strings"]
        evaluate("many.jsonl", metrics=["faithfulness"], judge=both, out="runs/many")
        evaluate("answers.jsonl", judge=both, by="question_type", out="runs/mine")
        evaluate("demo.jsonl", judge="local:strings", out="run")
        evaluate("few.jsonl", metrics=DEMO_METRICS, judge="local:strings", out="runs/demo")
        for again in ("answers", "today", "yesterday"):
            shutil.copytree("runs/mine", f"runs/{again}")
        labelled(Path("runs"))
        gate = ("--max-false-pass", "0.15", "--out", "gate.json")
        assert call("guard", "calibrate", "labelled.csv", *gate).status == 0
        exported = call("export", "runs/mine", "--as", "inspectorraget", "--out", "run.json")
        assert exported.status == 0, exported.err
    return folder


def restore(copy: Path, original: Path) -> None:
    """Undo what a command did to a copy, without copying anew what it left alone.

    Files beside a file that changed are made anew too: a database consists of several.
    """
    compared = filecmp.dircmp(original, copy, ignore=[])
    if compared.left_only or compared.right_only or compared.diff_files:
        for path in copy.iterdir():
            if path.is_file():
                path.unlink()
            elif path.name in compared.right_only:
                shutil.rmtree(path)
        for path in original.iterdir():
            if path.is_file():
                shutil.copy2(path, copy)
            elif path.name in compared.left_only:
                shutil.copytree(path, copy / path.name)
    for name in compared.common_dirs:
        restore(copy / name, original / name)


@pytest.fixture(scope="module")
def copy_of_playground(playground: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(playground, tmp_path_factory.mktemp("commands") / "here")


@pytest.fixture
def here(playground: Path, copy_of_playground: Path) -> Path:
    """A folder to run a command in, whatever the commands before it did there."""
    restore(copy_of_playground, playground)
    return copy_of_playground


@pytest.fixture(scope="module")
def cache_with_encoder(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which builtin:minilm is there; the vectors of one command serve the others."""
    cache = tmp_path_factory.mktemp("cache")
    (cache / "models").mkdir()
    (cache / "models" / PLACE).symlink_to(minilm, target_is_directory=True)
    return cache


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app is made and its port is taken; it does not wait for anybody to come."""

    def run(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        for one in sockets:
            one.close()

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    # Several of these tests run at once, and the port that is taken by default is one.
    monkeypatch.setattr(listening, "_take", lambda host, _: socket.create_server((host, 0)))


@pytest.mark.usefixtures("registries")
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("line", list(documented()))
def test_it_does_what_it_says(
    line: str, here: Path, server: Any, ragstone: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    monkeypatch.chdir(here)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    encodes = ENCODER.search(line)
    cache = request.getfixturevalue("cache_with_encoder") if encodes else tmp_path / "cache"
    monkeypatch.setenv("RAGSTONE_CACHE", str(cache))
    words = shlex.split(line)[1:]
    layout = words[words.index("--as") + 1] if "--as" in words else ""
    files = [here / word for before, word in pairwise(words) if before == "--out"]
    for file in [*files, *([here / "runs" / "mine"] if layout in SUITES else [])]:
        if file.is_dir():
            shutil.rmtree(file)
        file.unlink(missing_ok=True)
    if layout in SUITES:
        made = ragstone("evaluate", "answers.jsonl", "--suite", layout, "--judge", "human",
                        "--judge", server.judge, "--out", "runs/mine")  # fmt: skip
        assert made.status in (0, 4), made.err
    # README evaluates into runs/judged one line before it shows an example of it.
    out = "runs/judged" if words[0] == "evaluate" else "runs/mine"
    mine = "runs/many" if words[0] == "sample" else "runs/mine"  # Of 200 answers.
    given = {
        "RUN": mine,
        "runs/mine": mine,
        "EXAMPLE": rows()[0]["id"],
        "some-id": rows()[0]["id"],
        "runs/judged": out,
        "http://localhost:11434/v1#qwen3:8b": server.judge,
    }
    done = ragstone(*(given.get(word, word) for word in words))
    assert done.status in ENDS.get(words[0], {0}), done.err or done.out
