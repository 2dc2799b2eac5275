import pytest

from ragstone.report.page import IntervalCell, Mark, Scale
from ragstone.report.render.text_cells import axis, coloured, strip

BAR = (Mark(0.8, "bar"),)


@pytest.mark.parametrize(
    ("value", "low", "high", "drawn"),
    [
        (0.5, 0.25, 0.75, "··├─●─┤··"),
        (0.0, 0.0, 0.25, "●─┤······"),
        (1.0, 0.5, 1.0, "····├───●"),
        (0.5, None, None, "····●····"),
        (0.5, 0.25, None, "····●····"),
        (0.5, None, 0.75, "····●····"),
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


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        (0.8001, "·····┃●····"),
        (0.7999, "····●┃·····"),
        (0.8, "·····◉·····"),
        (0.6, "●····┃·····"),
        (1.0, "·····┃····●"),
    ],
)
def test_what_lies_beside_a_bar_stands_next_to_it(value: float, drawn: str) -> None:
    """Of eleven places the bar has the sixth; what is nearer than half a place has a neighbour."""
    assert strip(IntervalCell(value, None, None, Scale(0.6, 1, BAR)), 11) == drawn


@pytest.mark.parametrize(
    ("at", "value", "drawn"),
    [(1.0, 0.999, "········●┃"), (0.0, 0.001, "┃●········"), (1.0, 1.2, "·········◉")],
)
def test_at_the_edge_nothing_is_drawn_outside(at: float, value: float, drawn: str) -> None:
    scale = Scale(0, 1, (Mark(at, "bar"),))
    assert strip(IntervalCell(value, None, None, scale), 10) == drawn


def test_a_mark_beyond_the_scale_is_not_drawn() -> None:
    marks = (Mark(-2, "margin"), Mark(2, "margin"), Mark(0, "zero"))
    assert strip(IntervalCell(0.5, None, None, Scale(-1, 1, marks)), 9) == "····│·●··"
    assert strip(IntervalCell(None, None, None, Scale(0.5, 1, marks)), 9) == "·········"


@pytest.mark.parametrize(
    ("at", "said"),
    [(0.5, "0    .5   1"), (0.7, "0      .7 1"), (0.8, "0         1"), (0.1, "0         1")],
)
def test_a_word_of_an_axis_keeps_away_from_its_ends(at: float, said: str) -> None:
    """Of eleven places .8 has the ninth, so its word would touch the 1 in the last."""
    assert axis([Scale(0, 1, (Mark(at, "chance"),))], 11) == said


def test_margins_and_bars_have_no_word_on_an_axis() -> None:
    marks = (Mark(0, "zero"), Mark(-0.5, "margin"), Mark(0.5, "margin"))
    assert axis([Scale(-1, 1, marks)], 21, signed=True) == "-1        0        +1"
    assert axis([Scale(0, 1, (*BAR, Mark(0.5, "zero")))], 11) == "0    .5   1"


def test_bars_on_scales_of_their_own_share_an_axis_and_other_scales_do_not() -> None:
    bars = [Scale(0.6, 1, BAR), Scale(0.7, 0.9, BAR)]
    assert axis(bars, 9) == "   bar"
    assert axis([*bars, Scale(0, 1)], 9) == ""
    assert axis([Scale(1, 1)], 9) == ""
    assert axis([Scale(0, 1)], 0) == ""


def test_each_letter_of_a_strip_has_the_colour_of_what_it_is() -> None:
    """The interval in its tone, the value in another, the scale dim, the bar to clear bright."""
    looks = {str(one.style) for one in coloured("·├┊│┃●◉┤", "red", "bold red").spans}
    assert looks == {"bright_black", "bold red", "not dim bold default"}
    drawn = coloured("·├┊│┃●◉┤", "red", "bold red")
    assert str(drawn.style) == "red"
    assert [(one.start, str(one.style)) for one in drawn.spans] == [
        (0, "bright_black"), (2, "bright_black"), (3, "bright_black"),
        (4, "not dim bold default"), (5, "bold red"), (6, "not dim bold default"),
    ]  # fmt: skip
