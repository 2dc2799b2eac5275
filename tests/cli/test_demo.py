"""The demo says who is better, lets the better version pass, and leaves nothing half done."""

import shutil
import socket
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import uvicorn

from ragstone import Run, evaluate
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.cli.demo import watch_a_day
from ragstone.data.demo import ANNOTATORS, DOUBTFUL, SYSTEMS, UNSUPPORTED, demo_label
from tests.cli.conftest import Outcome, call
from tests.project import ROOT

DATA = ROOT / "src" / "ragstone" / "data"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "runs"


@pytest.fixture(scope="module")
def demo(folder: Path) -> Callable[..., Outcome]:
    """The demo with an app that ends as soon as it is served."""

    def run(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        for listening in sockets:
            listening.close()

    def start(where: Path = folder) -> Outcome:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(uvicorn.Server, "run", run)
            return call("demo", str(where), "--no-browser", "--port", "0")

    return start


@pytest.fixture(scope="module")
def printed(demo: Callable[..., Outcome]) -> str:
    outcome = demo()
    assert outcome.status == 0, outcome.err
    return outcome.out


def test_it_says_who_is_better_and_what_may_be_released(printed: str, folder: Path) -> None:
    lines = printed.splitlines()
    assert "local_search is better than both others on" in lines[0]
    assert lines[1].startswith("Can the judge be believed? Its means agree with people's so far")
    assert "corrected" in lines[1]
    assert "demo-2/basic_search is better than demo/basic_search on 12" in lines[2]
    assert " worse on " not in lines[2]
    assert lines[3].startswith("May it be released? PASS by the local judge's numbers")
    assert f"ragstone monitor serve --store {folder}/monitor" in lines[4]
    assert "http://127.0.0.1:" in lines[5]


def test_labels_correct_the_judge_and_some_are_left_to_whoever_tries_it(
    printed: str, folder: Path
) -> None:
    queues = {name: Queue(open_labels(folder), name) for name in ("written-for-the-demo", "yours")}
    assert "written by Ragstone's authors" in queues["written-for-the-demo"].form.instructions
    assert queues["written-for-the-demo"].next(ANNOTATORS[0]) is None
    queues["yours"].invite("me")
    assert queues["yours"].next("me") is not None
    labels = ("--labels", f"{folder}/labels.sqlite#written-for-the-demo")
    checked = call("calibrate", str(folder / "demo"), *labels, "--json").json
    [mean] = [
        mean for mean in checked["estimates"]
        if mean["metric"] == "faithfulness" and not mean["group"]
    ]  # fmt: skip
    assert mean["corrected"]["n_labels"] > 80
    labels_alone, judge = mean["labels"]["value"], mean["judge"]["value"]
    assert labels_alone - 0.05 < mean["corrected"]["value"] < judge
    assert printed


def test_a_day_of_production_is_checked_and_judged(printed: str, folder: Path) -> None:
    assert printed
    status = call("monitor", "status", "--store", f"{folder}/monitor", "--json").json
    assert (status["answers"], status["assessed"], status["judged"]) == (120, 120, 120)


@pytest.mark.parametrize(
    ("annotator", "marks"),
    [(ANNOTATORS[0], (UNSUPPORTED,)), (ANNOTATORS[1], (UNSUPPORTED, DOUBTFUL))],
)
def test_a_claim_is_labelled_unsupported_where_its_sentence_is_marked(
    annotator: str, marks: tuple[str, ...], printed: str, folder: Path
) -> None:
    assert printed
    questions = tomllib.loads((DATA / "demo_questions.toml").read_text(encoding="utf-8"))
    marked = {
        f"{question['id']}-{system}" for question in questions["questions"] for system in SYSTEMS
        if any(sentence.startswith(marks) for sentence in question[system]["answer"])
    }  # fmt: skip
    claims = Run.open(folder / "demo").judgements("claims").select("example_id", "text")
    absent = {
        example for example, claim in claims.iter_rows()
        if demo_label(annotator, example, claim) == "absent"
    }  # fmt: skip
    assert absent == marked


def test_a_day_that_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "monitor.unfinished").mkdir()
    (tmp_path / "monitor.unfinished" / "rest").write_text("of a process that was killed")
    watch_a_day(tmp_path / "monitor")
    assert not (tmp_path / "monitor" / "rest").exists()
    status = call("monitor", "status", "--store", f"{tmp_path}/monitor", "--json").json
    assert status["judged"] == 120


def test_a_second_time_changes_nothing(
    printed: str, demo: Callable[..., Outcome], folder: Path
) -> None:
    before = Run.open(folder / "demo").estimates()
    again = demo()
    assert again.out.splitlines()[:5] == printed.splitlines()[:5]
    assert Run.open(folder / "demo").estimates().equals(before)


def test_a_folder_that_was_moved_is_gone_on_with(
    printed: str, demo: Callable[..., Outcome], folder: Path, tmp_path: Path
) -> None:
    assert printed
    moved = shutil.copytree(folder, tmp_path / "moved")
    outcome = demo(moved)
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines()[1] == printed.splitlines()[1]


def test_a_port_that_is_taken_is_said_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        outcome = call("demo", str(tmp_path / "runs"), "--no-browser", "--port", port)
    assert outcome.status == 2
    assert port in outcome.err
    assert not (tmp_path / "runs").exists()


def test_another_run_of_its_name_is_left_alone(tmp_path: Path) -> None:
    rows = [{"question": "How long is the pier?", "answer": "It is 90 m long."}]
    evaluate(rows, metrics=["abstention"], out=tmp_path / "demo")
    outcome = call("demo", str(tmp_path), "--no-browser", "--port", "0")
    assert outcome.status == 2
    assert "name another folder: ragstone demo FOLDER" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_the_store_of_labels_beside_a_run_is_named_where_it_has_none(
    printed: str, folder: Path
) -> None:
    assert printed
    outcome = call("calibrate", str(folder / "demo"))
    assert outcome.status == 2
    assert f"--labels {folder}/labels.sqlite" in outcome.err
