from io import StringIO

from rich.console import Console
from rich.text import Text

from ragstone.report.render.grid import Grid, GridCell, GridColumn, cell, folded


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
