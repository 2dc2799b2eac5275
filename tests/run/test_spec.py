"""What a run is going to do is asked for, settled and read in one way each."""

import asyncio
import inspect
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import CannotGoOn, DamagedRun, InputError
from ragstone.models.chat import CallableChat, ChatRequest
from ragstone.run.evaluate import Cancellation
from ragstone.run.folder.run_list import Progress
from ragstone.run.judging import sharding as blocks
from ragstone.run.request import Request
from ragstone.run.run_plan import prepare

ROOMS_ABOVE = ("analysis", "report", "cli", "annotation")


def parameters(function: Any) -> list[tuple[str, Any]]:
    return [(name, one.default) for name, one in inspect.signature(function).parameters.items()]


def test_evaluate_aevaluate_and_forecast_take_the_same_arguments() -> None:
    taken = parameters(ragstone.evaluate)
    assert taken[0] == ("data", inspect.Parameter.empty)
    assert dict(taken)["cluster"] is None
    assert parameters(ragstone.aevaluate) == taken == parameters(ragstone.forecast)


def test_evaluate_explains_every_argument() -> None:
    explained = re.findall(r"^    (\w+): ", inspect.getdoc(ragstone.evaluate) or "", re.M)
    names = [name for name, _ in parameters(ragstone.evaluate)]
    assert [name for name in explained if name in names] == names


def test_an_argument_that_is_not_known_is_refused() -> None:
    with pytest.raises(TypeError, match="judges"):
        ragstone.evaluate([], judges="local")  # type: ignore[call-arg]


def test_a_spec_scores_what_was_asked_for_and_judges_what_that_needs() -> None:
    rows = [{"question": "q", "answer": "a", "reference": "a"}]
    asked = Request(rows, metrics=["exact_match", "faithfulness"], judge="rules", by=["system"])
    spec = prepare(asked).spec
    assert [str(metric) for metric in spec.metrics] == ["exact_match", "faithfulness"]
    assert {"claims", "support/claim", "lexical"} <= set(spec.asks)
    assert not {"relevance", "statements"} & set(spec.asks)
    assert (spec.by, spec.settings.cluster, spec.settings.llm) == ((), "question_id", None)
    assert spec.settings.to_dict()["metrics"] == ["exact_match", "faithfulness"]


class Closable:
    """What questions would be put with."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("first", ["cancel", "watch"])
def test_a_run_that_is_cancelled_asks_nothing_whenever_that_was(first: str) -> None:
    cancellation, asking = Cancellation(), Closable()
    if first == "cancel":
        cancellation.cancel()
        cancellation.watch(asking)  # type: ignore[arg-type]
    else:
        cancellation.watch(asking)  # type: ignore[arg-type]
        assert not asking.closed
        cancellation.cancel()
    assert asking.closed


def test_a_run_cancelled_before_its_data_are_read_asks_no_model() -> None:
    begun, go_on, asked = threading.Event(), threading.Event(), list[str]()

    def slow() -> Any:
        begun.set()
        go_on.wait(10)
        yield {"question": "q", "answer": "a", "contexts": ["c"]}

    async def model(request: ChatRequest) -> str:
        asked.append(request.name)
        return ""

    async def cancelled() -> None:
        judge = CallableChat(model, "model", identity="1")
        run = asyncio.create_task(ragstone.aevaluate(slow(), metrics="mrr", judge=judge))
        await asyncio.to_thread(begun.wait, 10)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        go_on.set()

    asyncio.run(cancelled())  # which waits for the thread
    assert not asked


def test_a_cancelled_run_ends_with_the_examples_that_are_being_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 2)
    begun, go_on, done = threading.Event(), threading.Event(), list[int]()
    rows = [{"question": f"q{n}", "answer": "a", "reference": "a"} for n in range(20)]
    given: dict[str, Any] = {"metrics": "exact_match", "out": tmp_path / "run"}

    def wait(progress: Progress) -> None:
        done.append(progress.examples)
        begun.set()
        go_on.wait(60)

    async def cancelled() -> None:
        # A run may have the only thread of its loop.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        run = asyncio.create_task(ragstone.aevaluate(rows, **given, progress=wait))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        go_on.set()

    asyncio.run(cancelled())  # which waits for the thread
    assert done == [2]
    assert ragstone.evaluate(rows, **given).manifest["data"]["examples"] == 20


@pytest.mark.parametrize("at", [2, 6, 20])
@pytest.mark.parametrize("existed", [False, True])
def test_a_folder_that_is_deleted_while_its_run_goes_on_is_said(
    at: int, existed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 2)
    rows = [{"question": f"q{n}", "answer": "a", "reference": "a"} for n in range(20)]
    given: dict[str, Any] = {"metrics": "exact_match", "out": tmp_path / "run"}
    if existed:
        given["out"].mkdir()

    def delete(progress: Progress) -> None:
        if (progress.stage, progress.examples) == ("judging", at):
            shutil.rmtree(tmp_path / "run", ignore_errors=True)

    with pytest.raises(InputError, match="run was deleted while its run went on"):
        ragstone.evaluate(rows, **given, progress=delete)
    assert ragstone.evaluate(rows, **given).manifest["data"]["examples"] == 20


def test_damage_is_told_as_it_is_and_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 2)
    rows = [{"question": f"q{n}", "answer": "a", "reference": "a"} for n in range(8)]
    file = tmp_path / "run" / "parts" / "scores" / "000001.parquet"

    def damage(progress: Progress) -> None:
        if progress.stage == "estimating":
            file.write_bytes(b"junk")

    with pytest.raises(DamagedRun, match=r"scores/000001\.parquet"):
        ragstone.evaluate(rows, metrics="exact_match", out=tmp_path / "run", progress=damage)
    assert file.exists()


def test_a_temporary_folder_of_which_no_run_comes_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def stop(_: Progress) -> None:
        raise CannotGoOn("Stop.")

    rows = [{"question": "q", "answer": "a", "reference": "a"}]
    with pytest.raises(CannotGoOn):
        ragstone.evaluate(rows, metrics="exact_match", progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("room", ROOMS_ABOVE)
def test_rooms_above_read_the_tables_of_a_run_through_run_alone(room: str) -> None:
    folder = Path(ragstone.__file__).parent / room
    past_run = re.compile(r"import .*\bFolder\b|(read|scan)_parquet")
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted(folder.rglob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if past_run.search(line)
    ]
    assert not found
