"""An example that ends its worker is found, whatever else ends workers."""

import random
from collections import deque

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.core.errors import CannotGoOn
from ragstone.data.line_ranges import LinePlace, Lines
from ragstone.run.ray_engine.engine import DEATHS, ROUNDS, CrashCandidates
from ragstone.run.ray_engine.shard_worker import ShardTask


def shard(rows: int, number: int = 0) -> ShardTask:
    return ShardTask(number, pl.DataFrame({"id": range(rows)}))


def searched(
    suspects: CrashCandidates, task: ShardTask, poison: set[int], chance: float, draw: random.Random
) -> tuple[dict[int, str], int]:
    """What is set aside when the shard is done, and how many workers died for it."""
    todo, deaths = deque([task]), 0
    while todo:
        one = todo.popleft()
        start, end = one.places
        harmful = {row for row in poison if start <= row < end} - one.aside.keys()
        if harmful or draw.random() < chance:
            deaths += 1
            todo.extend(suspects.died(one, "worker_ended"))
        elif one.part is None:
            assert not todo
            return dict(one.aside), deaths
        else:
            todo.extend(suspects.tried(one))
    raise AssertionError("The shard was forgotten.")


@settings(deadline=None)
@given(st.integers(1, 40), st.sets(st.integers(0, 39), max_size=4), st.integers(0, 10**6))
def test_what_ends_a_worker_is_set_aside_and_nothing_else(
    rows: int, poison: set[int], seed: int
) -> None:
    poison = {row for row in poison if row < rows}
    found, _ = searched(CrashCandidates(10), shard(rows), poison, 0, random.Random(seed))
    assert found == dict.fromkeys(poison, "worker_ended")


def test_deaths_by_chance_set_nothing_aside() -> None:
    for seed in range(200):
        found, _ = searched(CrashCandidates(0), shard(500), set(), 0.05, random.Random(seed))
        assert found == {}


def test_it_takes_few_deaths() -> None:
    """Two for the shard, one for each half down to the one, two for that: 2 + 13 + 1 of 5,000."""
    found, deaths = searched(CrashCandidates(10), shard(5_000), {3_217}, 0, random.Random(0))
    assert found.keys() == {3_217}
    assert deaths <= 2 + 13 + 1


def test_one_more_than_may_be_set_aside_ends_the_run() -> None:
    assert searched(CrashCandidates(2), shard(9), {1, 7}, 0, random.Random(0))[0].keys() == {1, 7}
    with pytest.raises(CannotGoOn, match=r"3 examples .* max_poison=2"):
        searched(CrashCandidates(2), shard(9), {1, 4, 7}, 0, random.Random(0))


def test_the_examples_that_ended_a_run_are_named_by_their_ids_or_lines() -> None:
    with pytest.raises(CannotGoOn, match=r"1 example ends the workers that judge it \(4\)"):
        searched(CrashCandidates(0), shard(9), {4}, 0, random.Random(0))
    lines = Lines("rows.jsonl", b"{}\n" * 9, LinePlace(20, 20, 60), LinePlace(29, 29, 87))
    with pytest.raises(CannotGoOn, match=r"\(rows\.jsonl:24\)"):
        searched(CrashCandidates(0), ShardTask(1, lines), {24}, 0, random.Random(0))
    with pytest.raises(CannotGoOn, match=r"4 examples .* \([0-8], [0-8], [0-8], …\)"):
        searched(CrashCandidates(3), shard(9), {1, 4, 6, 7}, 0, random.Random(0))


def test_examples_of_all_shards_count() -> None:
    suspects = CrashCandidates(1)
    searched(suspects, shard(9, 0), {1}, 0, random.Random(0))
    with pytest.raises(CannotGoOn):
        searched(suspects, shard(9, 1), {1}, 0, random.Random(0))


def test_a_shard_that_only_dies_as_a_whole_is_told_and_not_tried_for_ever() -> None:
    suspects, todo, deaths = CrashCandidates(10), deque([shard(8)]), 0

    def try_all() -> None:
        nonlocal deaths
        while todo:
            one = todo.popleft()
            if one.part is None:
                deaths += 1
                todo.extend(suspects.died(one, "worker_out_of_memory"))
            else:
                todo.extend(suspects.tried(one))

    with pytest.raises(CannotGoOn, match="Shard 0 ended its worker"):
        try_all()
    assert deaths <= 8


def test_a_shard_without_examples_is_not_forgotten() -> None:
    suspects, empty = CrashCandidates(10), shard(0)
    for _ in range(ROUNDS * DEATHS + 1):
        assert suspects.died(empty, "worker_ended") == [empty]
    with pytest.raises(CannotGoOn, match="Shard 0 ended its worker"):
        suspects.died(empty, "worker_ended")
