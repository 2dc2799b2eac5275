"""Where a block ends follows from the examples alone."""

from ragstone.examples import Context, Example
from ragstone.run.blocks import CHARACTERS, blocks


def example(number: int, characters: int = 10, contexts: int = 0) -> Example:
    return Example(
        str(number),
        str(number),
        "s",
        answer="a" * characters,
        contexts=tuple(Context("c" * characters, None, rank + 1) for rank in range(contexts)),
    )


def sizes(*examples: Example, most: int = 1_000) -> list[int]:
    return [len(block) for block in blocks(iter(examples), most)]


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
    whole = list(blocks(iter(every), 7))
    for number in range(len(whole)):
        done = sum(len(block) for block in whole[:number])
        assert list(blocks(iter(every[done:]), 7)) == whole[number:]
