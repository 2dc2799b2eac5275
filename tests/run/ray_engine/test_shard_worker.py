"""A shard that a worker makes: which examples are set aside, and on what it is checked."""

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate, rescore
from ragstone.data import Examples, read
from ragstone.data.line_ranges import Lines
from ragstone.run.judging.sharding import size_of_a_shard
from ragstone.run.ray_engine.shard_worker import (
    Assignment,
    Brief,
    ShardTask,
    ShardWorker,
    Tables,
    made_shard,
)
from ragstone.run.request import Request
from ragstone.run.run_plan import prepare


@pytest.fixture
def data(tmp_path: Path) -> Examples:
    rows = [{"id": f"r{number}", "question": "Q?", "answer": "It is so."} for number in range(6)]
    lines = [json.dumps(row) for row in rows]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([*lines[:3], "", *lines[3:]]) + "\n")
    return read(path)


def maker(data: Examples, **given: Any) -> Callable[[ShardTask], tuple[Brief, Tables]]:
    request = Request(data, **{"metrics": "abstention", **given})
    return partial(made_shard, prepare(request).spec, data.apart(), None)


def whole(data: Examples) -> Lines:
    (piece,) = data.pieces(size_of_a_shard())
    return piece


def set_aside(tables: Tables) -> list[str]:
    scores = pl.read_parquet(tables["scores"].tobytes())
    return scores.filter(pl.col("reason") == "worker_ended")["example_id"].to_list()


@pytest.mark.parametrize("refused", [{}, {1: 90}, {1: 90, 3: 91}])
def test_what_is_set_aside_is_the_same_whatever_ids_are_refused(
    data: Examples, refused: dict[int, int]
) -> None:
    task = ShardTask(0, whole(data), refused=refused, aside={5: "worker_ended"})
    brief, tables = maker(data)(task)
    assert set_aside(tables) == ["r3"]
    assert brief.examples == 6 - len(refused)


def test_a_part_is_of_the_places_that_it_names(data: Examples) -> None:
    start, end = ShardTask(0, whole(data)).places
    assert (start, end) == (1, 8)
    for part in ((1, 5), (5, 8), (4, 5)):
        brief, tables = maker(data)(ShardTask(0, whole(data), part=part))
        assert (brief.examples, tables) == (6, {})


def test_fields_are_checked_on_the_first_examples_alone(data: Examples) -> None:
    made = maker(data, by=["colour"])
    brief, tables = made(ShardTask(0, whole(data), check=True))
    assert brief.unfit.startswith("No example has a field 'colour'")
    assert not tables
    brief, tables = made(ShardTask(0, whole(data), check=False))
    assert not brief.unfit
    assert "scores" in tables


def test_a_run_that_is_made_anew_has_what_was_added_to_it(tmp_path: Path) -> None:
    rows = [{"id": f"r{n}", "question": "Q?", "answer": "a", "reference": "a"} for n in range(3)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    request = Request(str(path), metrics="token_f1", out=None)
    settings = prepare(request).spec.settings
    evaluate(path, metrics="token_f1", out=tmp_path / "run")
    held = rescore(tmp_path / "run", metrics="exact_match").form
    told = pickle.dumps(replace(request, data=None))
    data = read(path)
    assignment = Assignment((), told, settings, data.apart(), None, {}, held)
    _, tables = ShardWorker(assignment, None).make(ShardTask(0, whole(data)))
    scores = pl.read_parquet(tables["scores"].tobytes())
    assert set(scores["metric"]) == {"token_f1", "exact_match"}
