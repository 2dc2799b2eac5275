from collections.abc import Callable
from io import StringIO

from rich.console import Console
from rich.text import Text

from ragstone.report.facts import Facts, Paragraph
from ragstone.report.render.grid import Grid, GridCell, GridColumn, cell, folded

TWO = [GridColumn(), GridColumn("right")]


def test_columns_are_as_wide_as_their_widest_cell(text: Callable[..., str]) -> None:
    grid = Grid(TWO, [[cell("a"), cell("1")], [cell("long"), cell("1234")]])
    assert text(grid) == "a        1\nlong  1234\n"


def test_a_spanning_cell_wraps_to_the_columns_it_covers(text: Callable[..., str]) -> None:
    columns = [GridColumn(), GridColumn(), GridColumn("right")]
    rows = [
        [cell("0123456789012"), cell("0123456789"), cell("9")],
        [GridCell(Text("these words need more than one line"), span=2), cell("7")],
    ]
    printed = text(Grid(columns, rows)).splitlines()
    assert printed[1:] == ["these words need more      7", "than one line"]


def test_a_grid_wider_than_the_console_is_printed_whole() -> None:
    console = Console(file=StringIO(), width=20, color_system=None)
    console.print(Grid([GridColumn()], [[cell("x" * 60)]]), crop=False)
    assert isinstance(console.file, StringIO)
    assert "x" * 60 in console.file.getvalue()


def test_an_empty_row_is_a_blank_line(text: Callable[..., str]) -> None:
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


def test_facts_say_a_repeated_name_once(text: Callable[..., str]) -> None:
    facts = Facts([("judged by", Text("a")), ("judged by", Text("b")), ("run", Text("c"))])
    assert text(facts) == "judged by  a\n           b\nrun        c\n"


def test_later_lines_of_a_paragraph_hang(text: Callable[..., str]) -> None:
    assert text(Paragraph(Text("one two three four five"), 2, 3), 26).splitlines() == [
        "  one two three four",
        "     five",
    ]
