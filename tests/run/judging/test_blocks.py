"""Where a block and a shard end follows from the examples alone."""

from collections.abc import Callable

import pytest

from ragstone.data import Context, Example
from ragstone.run.judging.sharding import CHARACTERS, blocks, shards_of

Done = Callable[[int], int | None]
Cut = dict[int, list[str]]


def example(number: int, characters: int = 10, contexts: int = 0) -> Example:
    return Example(
        str(number),
        str(number),
        "s",
        answer="a" * characters,
        contexts=tuple(Context("c" * characters, None, rank + 1) for rank in range(contexts)),
    )


def sizes(*examples: Example, most: int = 1_000) -> list[int]:
    return [len(block) for _, block in blocks(shards_of(iter(examples)), most)]


def test_short_examples_are_counted() -> None:
    assert sizes(*(example(number) for number in range(25)), most=10) == [10, 10, 5]
    assert sizes() == []


def test_a_block_ends_with_the_example_that_fills_it() -> None:
    half = CHARACTERS // 2
    assert sizes(*(example(number, half) for number in range(5))) == [2, 2, 1]
    assert sizes(*(example(number, half - 1) for number in range(5))) == [3, 2]
    assert sizes(example(1, 3 * CHARACTERS), example(2), example(3)) == [1, 2]


def test_contexts_without_text_count_too() -> None:
    many = CHARACTERS // 100
    assert sizes(*(example(number, 10, many) for number in range(30))) == [10, 10, 10]


def test_what_follows_is_cut_in_the_same_way_behind_any_block() -> None:
    every = [example(number, 1 + 7919 * number % 900_000) for number in range(60)]
    whole = list(blocks(shards_of(iter(every)), 7))
    for number in range(len(whole)):
        done = sum(len(block) for _, block in whole[:number])
        again = [block for _, block in blocks(shards_of(iter(every[done:])), 7)]
        assert again == [block for _, block in whole[number:]]


def of_shards(examples: list[Example], most: int = 1_000, done: Done = lambda _: None) -> Cut:
    """The ids of the examples of each shard."""
    found: Cut = {}
    for shard, block in blocks(shards_of(iter(examples), done), most):
        found.setdefault(shard, []).extend(one.id for one in block)
    return found


def test_a_shard_has_at_most_2500_examples() -> None:
    found = of_shards([example(number) for number in range(7_001)])
    assert [len(ids) for ids in found.values()] == [2_500, 2_500, 2_001]
    assert list(found) == [0, 1, 2]


def test_a_block_ends_with_its_shard() -> None:
    every = (example(number) for number in range(2_503))
    found = [(shard, len(block)) for shard, block in blocks(shards_of(every), 1_900)]
    assert found == [(0, 1_900), (0, 600), (1, 3)]


def test_a_shard_has_at_most_so_many_characters_unless_one_example_alone_has_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = example(0, 0).characters
    monkeypatch.setattr("ragstone.run.judging.sharding.CHARACTERS_OF_A_SHARD", 3 * short + 300)
    rows = [example(number, long) for number, long in enumerate([100, 100, 100, 1, 9_000, 1, 1])]
    assert list(of_shards(rows).values()) == [["0", "1", "2"], ["3"], ["4"], ["5", "6"]]


@pytest.mark.parametrize("done", [{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}, {0, 1, 2, 3}])
def test_the_cut_is_the_same_whichever_shards_are_done_and_these_are_passed_over(
    done: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.run.judging.sharding.OF_A_SHARD", 7)
    every = [example(number, 1 + 7919 * number % 900) for number in range(24)]
    whole = of_shards(every, 3)
    assert [len(ids) for ids in whole.values()] == [7, 7, 7, 3]
    found = of_shards(every, 3, lambda shard: len(whole[shard]) if shard in done else None)
    assert found == {shard: ids for shard, ids in whole.items() if shard not in done}
