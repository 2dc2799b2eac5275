"""Two texts with the words marked that only one of them has."""

from random import Random
from time import process_time

from ragstone.web.parts.highlight import TOKEN, word_diff


def test_words_of_one_text_alone_are_marked_neighbours_together() -> None:
    left, right = word_diff("The cat sat on the mat.", "A cat sat on a big mat.")
    assert left == "<del>The</del> cat sat on <del>the</del> mat."
    assert right == "<ins>A</ins> cat sat on <ins>a big</ins> mat."


def test_equal_texts_have_no_mark_and_an_empty_one_marks_all_of_the_other() -> None:
    assert word_diff("the same", "the same") == ("the same", "the same")
    assert word_diff("", "all new") == ("", "<ins>all new</ins>")


def test_markup_in_an_answer_stays_text() -> None:
    left, right = word_diff("<script>alert(1)</script>", "<b>")
    assert "<script" not in left
    assert "<b>" not in right
    assert "&lt;" in left


def test_as_many_words_are_alike_as_in_the_table_of_the_textbook() -> None:
    draw = Random(1)
    for _ in range(50):
        first, second = (
            " ".join(draw.choice("abcd") for _ in range(draw.randrange(12))) for _ in range(2)
        )
        kept = len(TOKEN.findall(first)) - sum(
            len(TOKEN.findall(part.partition("</del>")[0]))
            for part in word_diff(first, second)[0].split("<del>")[1:]
        )
        assert kept == longest(first.split(), second.split())


def longest(first: list[str], second: list[str]) -> int:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def test_a_million_characters_without_a_word_in_common_take_no_time() -> None:
    draw = Random(2)
    first, second = ("".join(draw.choice(".,;:") for _ in range(1_000_000)) for _ in range(2))
    start = process_time()
    left, _ = word_diff(first, second)
    assert process_time() - start < 2
    assert len(left.striptags()) <= 10_000
