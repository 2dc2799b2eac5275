import pytest

from ragstone.report.page import IntervalCell, Mark, Scale
from ragstone.report.render.strip import axis, strip

BAR = (Mark(0.8, "bar"),)


@pytest.mark.parametrize(
    ("value", "low", "high", "drawn"),
    [
        (0.5, 0.25, 0.75, "··├─●─┤··"),
        (0.0, 0.0, 0.25, "●─┤······"),
        (1.0, 0.5, 1.0, "····├───●"),
        (0.5, None, None, "····●····"),
        (0.5, 0.49, 0.51, "····●····"),
        (1.7, 0.25, 0.75, "··├───┤·●"),
        (-3.0, None, None, "●········"),
        (None, None, None, "·········"),
    ],
)
def test_an_interval_is_drawn_on_its_scale(
    value: float | None, low: float | None, high: float | None, drawn: str
) -> None:
    assert strip(IntervalCell(value, low, high, Scale(0, 1)), 9) == drawn


@pytest.mark.parametrize(
    ("low", "value", "high", "reach", "drawn"),
    [
        (0.84, 0.92, 1.0, 0.2, "·····┃├─●─┤"),
        (0.6, 0.64, 0.72, 0.2, "├●─┤·┃·····"),
        (0.7, 0.85, 0.9, 0.1, "├────┃─●──┤"),
        (0.7, 0.8, 0.9, 0.1, "├────◉────┤"),
        (0.8001, 0.9, 0.99, 0.19, "·····┃├─●─┤"),
        (None, 0.7, None, 0.1, "●····┃·····"),
        (None, None, None, 1.0, "·····┃·····"),
    ],
)
def test_an_interval_is_drawn_about_its_bar(
    low: float | None, value: float | None, high: float | None, reach: float, drawn: str
) -> None:
    scale = Scale(0.8 - reach, 0.8 + reach, BAR)
    assert strip(IntervalCell(value, low, high, scale), 11) == drawn


@pytest.mark.parametrize(
    ("low", "value", "high", "drawn"),
    [
        (-0.6, -0.2, 0.6, "··├─●┼──┤··"),
        (0.01, 0.4, 0.8, "··┊··│├●─┤·"),
        (-0.2, 0.0, 0.2, "··┊·├●┤·┊··"),
        (-1.0, -1.0, -0.8, "●┤┊··│··┊··"),
    ],
)
def test_zero_and_the_margin_are_marked(low: float, value: float, high: float, drawn: str) -> None:
    """An interval that leaves zero out is never drawn upon it, however near it comes."""
    marks = (Mark(0, "zero"), Mark(-0.6, "margin"), Mark(0.6, "margin"))
    assert strip(IntervalCell(value, low, high, Scale(-1, 1, marks)), 11) == drawn


@pytest.mark.parametrize("scale", [None, Scale(0, float("inf")), Scale(1, 1)])
def test_without_two_ends_nothing_is_drawn(scale: Scale | None) -> None:
    assert strip(IntervalCell(0.5, 0.4, 0.6, scale), 9) == ""


@pytest.mark.parametrize("width", [1, 2, 9, 31])
def test_a_strip_is_as_wide_as_asked(width: int) -> None:
    for value in (0.0, 0.01, 0.333, 0.99, 1.0):
        assert len(strip(IntervalCell(value, 0, 1, Scale(0, 1)), width)) == width


def test_an_axis_names_the_ends_that_all_share() -> None:
    assert axis([Scale(0, 1)] * 2, 9) == "0       1"
    assert axis([Scale(0, 1)], 9, percent=True) == "0     100"
    assert axis([Scale(-0.5, 0.5, (Mark(0, "zero"),))], 11, signed=True) == "-0.5 0 +0.5"
    assert axis([Scale(0, 1, (Mark(0.5, "chance"),))], 11) == "0    .5   1"
    assert axis([Scale(0, 1), Scale(-1, 1)], 9) == ""
    assert axis([], 9) == ""


def test_over_bars_stands_that_they_are_bars() -> None:
    assert axis([Scale(0.6, 1, BAR)], 9) == "   bar"
