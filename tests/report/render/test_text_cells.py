"""Text cells: intervals drawn with characters, cells as text, and grids."""

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from ragstone.report.page import (
    Bar,
    BarPart,
    Cell,
    Count,
    IntervalCell,
    Mark,
    Number,
    P,
    RowName,
    Scale,
    Share,
    Verdict,
    Why,
    plain,
)
from ragstone.report.render.text_cells import (
    Grid,
    GridCell,
    GridColumn,
    axis,
    cell,
    coloured,
    folded,
    strip,
    words_of,
    written,
)

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


@pytest.mark.parametrize(
    ("cell", "text", "tone"),
    [
        (Number(2 / 3), "0.667", ""),
        (Number(2 / 3, percent=True), "66.7", ""),
        (Number(0.0), "0.000", ""),
        (Number(None), "–", ""),
        (Number(0.25, sign="+"), "+0.250", ""),
        (Number(-0.25, sign="+"), "-0.250", ""),
        (Number(0.0001, sign="+"), "0.000", ""),
        (Number(0.05, 2, sign="±"), "±0.05", ""),
        (Number(1.234, 2, unit=" ×"), "1.23 ×", ""),
        (Number(12345.6), "12,346", ""),
        (Count(1234), "1,234", ""),
        (Count(1234, "missing"), "1,234", "missing"),
        (Count(0, "missing"), "0", "quiet"),
        (Count(None), "–", ""),
        (Count(13, note="pairs"), "13 pairs", ""),
        (Share(3, 4), "3  75 %", ""),
        (Share(0, 0), "0     –", ""),
        (P(0.0004), "<0.001", "quiet"),
        (P(None), "", "quiet"),
        (Verdict("pass", "holds", "good"), "holds", "good"),
        (Why("undefined"), "undef.", "undefined"),
        (Why("missing"), "missing", "missing"),
        (Why("unknown"), "–", "caution"),
        (Why("undefined", "no claims"), "no claims", "undefined"),
        (Number(1234.5, 1), "1,234.5", ""),
        (Number(-0.04, 1), "0.0", ""),
        (Number(-0.001, 2, sign="+"), "0.00", ""),
        (Number(2.5, 1, sign="+", unit=" %"), "+2.5 %", ""),
        (Number(None, unit=" %", sign="±"), "–", ""),
        (Count(0), "0", ""),
        (Count(None, "missing"), "–", "quiet"),
        (Share(1200, 3600), "1,200  33 %", ""),
        (Share(9, 9), "9 100 %", ""),
        (P(0.0386), "0.039", "quiet"),
        (IntervalCell(0.5, 0.25, None), "0.500", ""),
        (Bar((BarPart(1200, 0, "there"),), 1200), "there 1,200", ""),
        (IntervalCell(0.5, 0.25, 0.75), "0.500 (0.250 – 0.750)", ""),
        (IntervalCell(0.5, None, None), "0.500", ""),
        (IntervalCell(None, None, None), "–", ""),
        (IntervalCell(0.5, 0.25, 0.75, percent=True), "50.0 (25.0 – 75.0)", ""),
        (IntervalCell(0.5, -0.25, 1, signed=True), "+0.500 (-0.250 – 1.000)", ""),
        (Bar((BarPart(3, 0, "correct"), BarPart(0, 1, "wrong")), 3), "correct 3, wrong 0", ""),
        (RowName("hit", "+"), "hit", ""),
        ("words", "words", ""),
        (None, "", ""),
    ],
)  # fmt: skip
def test_what_a_cell_says(cell: Cell, text: str, tone: str) -> None:
    said = written(cell)
    assert (said.text, said.tone) == (text, tone)


def test_zero_undefined_and_missing_are_three_things() -> None:
    said = [written(cell) for cell in (Number(0.0), Why("undefined"), Why("missing"))]
    assert len({one.text for one in said}) == 3
    assert len({one.tone for one in said}) == 3


@pytest.mark.parametrize(
    ("cell", "strong"),
    [
        (Number(0.5), False), (Number(0.5, strong=True), True), (Count(5, strong=True), True),
        (RowName("hit"), False), (RowName("hit", strong=True), True),
        (Verdict("pass", "holds", "good"), True), (IntervalCell(0.5, None, None), True),
        (IntervalCell(0.5, None, None, strong=False), False),
    ],
)  # fmt: skip
def test_what_stands_out_in_its_row_stands_out_alone(cell: Cell, strong: bool) -> None:
    assert written(cell).strong is strong


def test_a_verdict_is_told_with_what_is_noted_behind_it() -> None:
    noted = Verdict("cannot_tell", "cannot tell", "quiet", "~90")
    assert plain(words_of(noted)) == "cannot tell  ~90"
    assert plain(words_of(Verdict("pass", "holds", "good"))) == "holds"
    assert plain(words_of(Count(5))) == "5"


def text(grid: Grid, width: int = 120) -> str:
    console = Console(file=StringIO(), width=width, color_system=None)
    return "".join(f"{line.plain}\n" for line in grid.lines(console))


TWO = [GridColumn(), GridColumn("right")]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    grid = Grid(TWO, [[cell("a"), cell("1")], [cell("long"), cell("1234")]])
    assert text(grid) == "a        1\nlong  1234\n"


def test_a_spanning_cell_wraps_to_the_columns_it_covers() -> None:
    columns = [GridColumn(), GridColumn(), GridColumn("right")]
    rows = [
        [cell("0123456789012"), cell("0123456789"), cell("9")],
        [GridCell(Text("these words need more than one line"), span=2), cell("7")],
    ]
    printed = text(Grid(columns, rows)).splitlines()
    assert printed[1:] == ["these words need more      7", "than one line"]


def test_a_grid_wider_than_the_console_is_printed_whole() -> None:
    assert text(Grid([GridColumn()], [[cell("x" * 60)]]), 20) == f"{'x' * 60}\n"


def test_words_alone_in_their_row_keep_standing_in() -> None:
    grid = Grid([GridColumn()], [[GridCell(Text("  one two three four five six"), span=1)]])
    assert text(grid, 20) == "  one two three four five six\n", "of one column, so not wrapped"
    grid = Grid(TWO, [[GridCell(Text("  one two three four five six"), span=2)]])
    assert text(grid, 20) == "  one two three four\n  five six\n"


def test_an_empty_row_is_a_blank_line() -> None:
    assert text(Grid([GridColumn()], [[cell("a")], [], [cell("b")]])) == "a\n\nb\n"


def test_text_forms_fold_at_blanks() -> None:
    assert folded('ndcg(k=10, gain="linear")', 12) == 'ndcg(k=10,\n  gain="linear")'


def test_long_words_fold_behind_signs_and_else_stay_whole() -> None:
    assert folded("score(weights=abcdefgh:0.3", 14) == "score(\n  weights=abcdefgh:\n  0.3"
    assert folded("semantic_similarity", 5) == "semantic_similarity"


def test_folding_loses_no_letter() -> None:
    form = 'ragas_score(weights="faithfulness(no_claims=1.0):0.3 precision:0.2", kind="x")'
    for width in range(1, 90):
        assert "".join(folded(form, width).split()) == "".join(form.split())


def test_gaps_stand_before_every_column_but_the_first() -> None:
    columns = [GridColumn(gap=9), GridColumn(gap=1), GridColumn(gap=3)]
    grid = Grid(columns, [[cell("a"), cell("b"), cell("c")], [cell("dd"), cell(""), cell("e")]])
    assert text(grid) == "a  b   c\ndd     e\n"
    assert grid.width == 2 + 1 + 1 + 3 + 1


def test_a_cell_of_several_lines_is_as_wide_as_the_widest_and_stands_right_line_by_line() -> None:
    columns = [GridColumn("right"), GridColumn()]
    grid = Grid(columns, [[cell("a\nlonger"), cell("b")], [cell("c"), cell("d")]])
    assert text(grid) == "     a  b\nlonger\n     c  d\n"


def test_letters_that_take_two_places_are_counted_so() -> None:
    grid = Grid(TWO, [[cell("日本"), cell("1")], [cell("abc"), cell("2")]])
    assert grid.widths == [4, 1]
    assert text(grid) == "日本  1\nabc   2\n"


def test_what_spans_columns_does_not_widen_them() -> None:
    columns = [GridColumn(), GridColumn(), GridColumn()]
    wide = GridCell(Text("a b c d e f g h"), span=2)
    grid = Grid(columns, [[cell("x"), cell("y"), cell("z")], [wide, cell("w")]])
    assert grid.widths == [1, 1, 1]
    assert text(grid).splitlines()[1] == "a b c d e f g h  w", "at least 20 letters are on a line"


def test_a_row_may_end_early() -> None:
    assert text(Grid(TWO, [[cell("a")], [cell("bc"), cell("12")]])) == "a\nbc  12\n"


def test_words_of_exactly_the_width_stay_on_their_line() -> None:
    assert folded("abcd efgh", 9) == "abcd efgh"
    assert folded("abcd efgh", 8) == "abcd\n  efgh"
    assert folded("a(b, c)", 7) == "a(b, c)"
    assert folded("", 5) == ""


def test_a_tab_or_a_line_end_in_a_name_moves_no_column() -> None:
    rows = [[cell(folded("a\tb", 20)), cell("1")], [cell(folded("c\nd", 20)), cell("2")]]
    assert text(Grid(TWO, rows)) == "a b  1\nc d  2\n"


def test_a_tab_in_a_cell_moves_no_column() -> None:
    rows = [[GridCell(Text("a\tb")), cell("1")], [cell("long"), cell("2")]]
    assert text(Grid(TWO, rows)) == "a b   1\nlong  2\n"
