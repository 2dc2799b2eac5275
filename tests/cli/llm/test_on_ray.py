"""A run on the nodes of a real cluster has the bytes of a run in one process, whatever dies."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.run import Run
from tests.forked import COMMAND, Forked
from tests.scripts import script
from tests.waiting import until

from .conftest import Server

nodes_of = script("ray_nodes")

PROGRAM = f"""
from ragstone.run.judging import sharding
sharding.OF_A_SHARD = 50
{COMMAND}
"""
SHARDS = 30
ROWS = 50 * SHARDS

ONE_DEATH = f"from ragstone.run.ray_engine import engine; engine.DEATHS = 1\n{PROGRAM}"
"""Suspects an example at the first death: each death costs a worker."""

OWN = '''
import os, signal, sys
from ragstone.data import Example
from ragstone.metrics import Range, metric


@metric(over=Example, range=Range(0, float("inf"), better="0"))
def harmless(example):
    """Ends a worker on some answers."""
    if "poison" in example.answer and "ray" in sys.modules:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(len(example.answer))
'''


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Any]:
    with nodes_of.ray_nodes(1) as nodes:
        yield nodes


def write(path: Path, rows: int = ROWS) -> Path:
    draw = random.Random(0)
    with path.open("w") as file:
        for number in range(rows):
            labels = {"contexts": [{"topically_relevant": draw.randrange(2)} for _ in range(3)]}
            row = {
                "id": f"r{number}",
                "question": f"Question {number // 2}?",
                "system": "ab"[number % 2],
                "answer": "It is so. " * draw.randrange(1, 5),
                "contexts": ["It is so.", "It may be.", "It is not."],
                "labels": labels,
            }
            file.write(json.dumps(row) + "\n")
    return path


def begin(data: Path, out: Path, *more: str, program: str = PROGRAM) -> Forked:
    return Forked(program, "evaluate", data, "--out", out, "--json", *more, cwd=out.parent)


def end(run: Forked, status: int = 0) -> str:
    said, errors = run.communicate()
    assert run.returncode == status, errors
    assert status or json.loads(said), "nothing of Ray's is among it"
    return errors


def kept(out: Path) -> int:
    ledger = out / "parts" / "shards.jsonl"
    return ledger.read_bytes().count(b"\n") if ledger.is_file() else 0


def content(run: Path) -> dict[str, bytes]:
    left_out = ("run.json", ".lock", "journal.sqlite")
    files = (one for one in run.rglob("*") if one.is_file() and one.name not in left_out)
    return {str(one.relative_to(run)): one.read_bytes() for one in files}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Data, and the run of them in one process."""
    folder = tmp_path_factory.mktemp("alone")
    data = write(folder / "rows.jsonl")
    end(begin(data, folder / "run", "--judge", "human"))
    return data, folder / "run"


@pytest.fixture
def second_node(ray_cluster: Any) -> Iterator[None]:
    ray_cluster.add()
    yield
    ray_cluster.remove()


@pytest.mark.kill
@pytest.mark.usefixtures("second_node")
def test_a_run_in_which_things_die_has_the_same_bytes(
    ray_cluster: Any, alone: tuple[Path, Path], tmp_path: Path
) -> None:
    """A worker, then the run, then a node, and then another that only falls silent."""
    data, whole = alone
    out, engine = tmp_path / "run", ("--judge", "human", "--engine", f"ray:{ray_cluster.address}")

    def begun(shards: int) -> Forked:
        run = begin(data, out, *engine)
        until(lambda: run.returncode is not None or kept(out) >= shards)
        assert kept(out) < SHARDS
        return run

    run = begun(3)
    nodes_of.kill(nodes_of.processes("ray::RagstoneWorker", ray_cluster.address)[0])
    nodes_of.kill(run.pid)
    end(run, -9)
    ray_cluster.add()
    run = begun(kept(out) + 3)
    ray_cluster.remove()
    ray_cluster.silence()
    ray_cluster.add()
    said = end(run)
    ray_cluster.remove()
    assert "ray" not in said.lower()
    assert content(out) == content(whole)


@pytest.mark.usefixtures("second_node")
def test_faults_of_the_data_are_those_of_one_process(ray_cluster: Any, tmp_path: Path) -> None:
    data = write(tmp_path / "rows.jsonl", 300)
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:120], "{", *lines[120:], lines[7], lines[290]]) + "\n")
    engine = ("--judge", "human", "--engine", f"ray:{ray_cluster.address}")
    here = end(begin(data, tmp_path / "here", "--judge", "human"), 2)
    there = end(begin(data, tmp_path / "there", *engine), 2)
    assert "as in line 8" in here
    assert there == here
    assert not (tmp_path / "there").exists()
    end(begin(data, tmp_path / "here", "--judge", "human", "--skip-bad"))
    end(begin(data, tmp_path / "there", *engine, "--skip-bad"))
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_what_keeps_a_worker_from_judging_is_told_in_one_line(
    ray_cluster: Any, tmp_path: Path
) -> None:
    data = write(tmp_path / "rows.jsonl", 120)
    engine = ("--judge", "human", "--engine", f"ray:{ray_cluster.address}")
    said = end(begin(data, tmp_path / "run", *engine, "--by", "colour"), 2)
    assert said.startswith("No example has a field 'colour' to group by.")
    assert not (tmp_path / "run").exists()
    data.write_text("{}\n" * 60 + data.read_text())
    assert end(begin(data, tmp_path / "run", *engine, "--by", "colour", "--skip-bad"), 2) == said


def test_ids_of_questions_are_noticed_across_shards_that_no_worker_can_read(
    ray_cluster: Any, tmp_path: Path
) -> None:
    rows = [f"q{number % 100},Q{number}?,It is so.,{'ab'[number // 100]}" for number in range(200)]
    data = tmp_path / "rows.csv"
    data.write_text("\n".join(["id,question,answer,system", *rows, ""]))
    more = ("-m", "token_f1", "-m", "abstention")
    end(begin(data, tmp_path / "here", *more))
    end(begin(data, tmp_path / "there", *more, "--engine", f"ray:{ray_cluster.address}"))
    assert content(tmp_path / "there") == content(tmp_path / "here")


@pytest.mark.kill
def test_an_example_that_ends_its_worker_is_set_aside(ray_cluster: Any, tmp_path: Path) -> None:
    data = write(tmp_path / "rows.jsonl", 102)
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    rows[101]["answer"] = "poison"  # In a short shard, for each halving costs a worker.
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "own.py").write_text(OWN)
    own = ("--metrics-from", str(tmp_path / "own.py"), "-m", "harmless")
    engine = ("--engine", f"ray:{ray_cluster.address}")
    strict = begin(data, tmp_path / "run", *own, *engine, "--max-poison", "0", program=ONE_DEATH)
    said = end(strict, 2)
    at = f"({tmp_path / 'rows.jsonl'}:102)"
    assert said.startswith(
        f"1 example ends the workers that judge it {at}, more than --max-poison 0 allows."
    )
    assert kept(tmp_path / "run")
    end(begin(data, tmp_path / "run", *own, *engine))
    run = Run.open(tmp_path / "run")
    scores = run.scores(["harmless"])
    missing = scores.filter(scores["status"] == "missing")
    assert missing.select("example_id", "reason").rows() == [("r101", "worker_ended")]
    assert scores.height == 102
    assert set(run.examples()["id"]) == {f"r{number}" for number in range(102)}
    (whole,) = (one for one in run.estimate_list if not one.group)
    assert (whole.n, whole.n_missing, whole.reasons) == (101, 1, {"worker_ended": 1})
    assert "examples_set_aside?n=1" in run.form.remarks


def test_workers_need_no_key_and_ask_nothing_twice(
    ray_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    """The relay of their questions is killed half way."""
    data = write(tmp_path / "rows.jsonl", 200)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-run")
    judge = ("--judge", f"{server.url}#m", "-m", "faithfulness", "-m", "ndcg", "--no-cache")
    end(begin(data, tmp_path / "here", *judge))
    asked, server.asked = sorted(server.asked), []
    server.wait = 0.05
    run = begin(data, tmp_path / "there", *judge, "--engine", f"ray:{ray_cluster.address}")
    until(lambda: run.returncode is not None or len(server.asked) >= len(asked) // 3)
    for pid in nodes_of.processes("ray::Relay", ray_cluster.address):
        nodes_of.kill(pid)
    end(run)
    assert sorted(server.asked) == asked
    assert content(tmp_path / "there") == content(tmp_path / "here")
