"""Tokens of a call: what can be, and what servers send in its place."""

import pytest

from ragstone.models.chat import Usage


@pytest.mark.parametrize(
    ("sent", "counted"),
    [
        (0, 0),
        (7, 7),
        (1_000_000_000, 1_000_000_000),
        (1_000_000_001, None),
        (2**32 - 5, None),
        (2**64 - 5, None),
        (-1, None),
        (7.0, None),
        (True, None),
        ("7", None),
        (None, None),
    ],
)
def test_a_count_is_a_whole_number_up_to_a_billion(sent: object, counted: int | None) -> None:
    made = Usage(prompt=sent, completion=sent, cached=sent, reasoning=sent, written=sent)  # type: ignore[arg-type]
    assert made == Usage(counted, counted, counted, counted, counted)
    assert (made.prompt, made.written) == (counted, counted)


def test_cached_tokens_counted_beside_the_prompt_are_added_to_it() -> None:
    assert Usage(prompt=200, cached=800).prompt == 1000
    assert Usage(prompt=1000, cached=800).prompt == 1000
