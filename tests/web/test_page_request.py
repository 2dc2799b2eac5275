"""Addresses that differ from what was asked for in one thing."""

import pytest

from ragstone.web.page_request import Asked


def test_a_list_comes_in_pages_with_the_addresses_of_those_beside_them() -> None:
    asked = Asked("/runs/a", query=[("page", "2"), ("q", "sea"), ("open", "x")])
    page = asked.list_page(101, 50, open=None)
    assert (page.number, page.of, page.rows) == (2, 3, slice(50, 100))
    assert page.before == "/runs/a?q=sea&page=1"
    assert page.after == "/runs/a?q=sea&page=3"


@pytest.mark.parametrize(
    ("length", "text", "number", "of"),
    [(0, "1", 1, 1), (50, "2", 1, 1), (51, "2", 2, 2), (51, "9", 2, 2), (51, "0", 1, 2),
     (51, "-1", 1, 2), (51, "x", 1, 2), (51, "٢", 1, 2)],
)  # fmt: skip
def test_a_page_that_is_not_there_is_the_nearest(
    length: int, text: str, number: int, of: int
) -> None:
    page = Asked("/", query=[("at", text)]).list_page(length, 50, "at")
    assert (page.number, page.of) == (number, of)
    assert bool(page.before) == (number > 1)
    assert bool(page.after) == (number < of)
