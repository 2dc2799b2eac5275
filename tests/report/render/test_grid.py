from io import StringIO

from rich.console import Console
from rich.text import Text

from ragstone.report.render.text_cells import Grid, GridCell, GridColumn, cell, folded


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
