"""Small pages made by hand, as they stand on a terminal."""

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from ragstone.report.page import (
    Banner,
    Bar,
    BarPart,
    Cell,
    Count,
    Facts,
    Group,
    Heading,
    IntervalCell,
    Mark,
    Note,
    Number,
    Outline,
    OutlineItem,
    P,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Share,
    Table,
    Tone,
    Verbatim,
    Verdict,
    Why,
    quiet,
    strong,
    table,
)
from ragstone.report.render.terminal import Shown, as_text

PageOf = Callable[..., Page]
SHARE = Scale(0, 1)
FOUR = (Heading("metric", key=True), Heading("system", several=True), Heading("value", level=0.95),
        Heading("n"))  # fmt: skip


def lines(page: Page, width: int = 100) -> list[str]:
    return as_text(page, width).splitlines()


def row(system: str, value: float, metric: str = "hit", n: int = 9) -> Row:
    interval = IntervalCell(value, value - 0.25, value + 0.25, SHARE)
    return Row((RowName(metric, "+"), RowName(system), interval, Count(n)))


def test_a_table_has_a_line_a_row_and_its_axis_in_the_head(page_of: PageOf) -> None:
    page = page_of(table(FOUR, [row("a", 0.5), row("b", 0.25)]))
    assert lines(page, 55) == [
        "metric    system  value  95 % interval  0         1  n",
        "hit    ↑  a       0.500  0.250 – 0.750  ··├──●──┤··  9",
        "          b       0.250  0.000 – 0.500  ├─●──┤·····  9",
    ]


def test_a_name_that_all_rows_share_is_not_said(page_of: PageOf) -> None:
    page = page_of(table(FOUR, [row("a", 0.5), row("a", 0.5, "mrr")]))
    assert "system" not in lines(page)[0]
    assert lines(page)[1].startswith("hit    ↑  0.500  0.250 – 0.750  ")


def test_where_it_is_narrow_shared_names_have_lines_of_their_own(page_of: PageOf) -> None:
    page = page_of(table(FOUR, [row("a", 0.5), row("b", 0.25)]))
    assert lines(page, 45) == [
        "system  value  95 % interval  0         1  n",
        "hit ↑",
        "  a     0.500  0.250 – 0.750  ··├──●──┤··  9",
        "  b     0.250  0.000 – 0.500  ├─●──┤·····  9",
    ]
    assert lines(page, 34)[2] == "  a     0.500  0.250 – 0.750  9"


def test_a_name_too_long_for_its_line_stands_above_its_figures(page_of: PageOf) -> None:
    columns = (Heading("label", key=True), Heading("n"), Heading("p"))
    page = page_of(table(columns, [Row((RowName("grounding.unsupported"), Count(14), P(0.5)))]))
    assert lines(page, 33) == [
        "label                   n      p",
        "grounding.unsupported  14  0.500",
    ]
    assert lines(page, 30) == ["label", "   n      p", "grounding.unsupported", "  14  0.500"]


def test_what_may_go_goes_before_anything_else_does(page_of: PageOf) -> None:
    columns = (Heading("name"), Heading("p", drop=1), Heading("of note", drop=2), Heading("n"))
    one = Row((RowName("a" * 20), P(0.25), "words " * 3, Count(7)))
    assert lines(page_of(table(columns, [one])), 60)[0].split() == ["name", "p", "of", "note", "n"]
    assert lines(page_of(table(columns, [one])), 45)[0].split() == ["name", "of", "note", "n"]
    assert lines(page_of(table(columns, [one])), 30)[0].split() == ["name", "n"]


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_nothing_is_cut_off_and_nothing_sticks_out(width: int, page_of: PageOf) -> None:
    metric = 'ragas_score(weights="faithfulness(no_claims=1.0):0.3 precision:0.2")'
    rows = [row(name, 0.25, metric, 12_345) for name in ("local_search", "llm_with_context")]
    page = page_of(table(FOUR, rows), Paragraphs(("word " * 60,)))
    printed = lines(page, width)
    assert max(map(len, printed)) <= width
    together = "".join("".join(printed).split())
    for word in ("local_search", "llm_with_context", "0.000–0.500"):
        assert word in together
    for piece in ("ragas_score(", 'weights="', "faithfulness(", "no_claims=1.0):", "0.3", "0.2"):
        assert piece in together
    assert together.count("12,345") == 2
    assert together.count("word") == 60


def test_the_lines_of_a_long_name_run_down_beside_its_rows(page_of: PageOf) -> None:
    rows = [row("a", 0.5, "a_name_of_some_length(k=10, gain=2)"), row("b", 0.5, "a_name_of_some_"
            "length(k=10, gain=2)")]  # fmt: skip
    assert lines(page_of(table(FOUR, rows)), 120)[1].startswith(f"{rows[0].names[0]} ↑  a ")
    printed = lines(page_of(table(FOUR, rows)), 80)
    assert printed[1].startswith("a_name_of_some_length(k=10, ↑  a ")
    assert printed[2].startswith("  gain=2)                      b ")


def test_zero_undefined_and_missing_look_different(page_of: PageOf) -> None:
    rows = [
        Row((RowName("zero"), IntervalCell(0.0, 0.0, 0.25, SHARE), Count(8))),
        Row((RowName("undefined"), Why("undefined", "undefined (no_claims)"), Count(0))),
        Row((RowName("missing"), Why("missing", "missing (judge_failed)"), Count(0))),
    ]
    columns = (Heading("metric"), Heading("value"), Heading("n"))
    assert lines(page_of(table(columns, rows)), 58) == [
        "metric     value       interval  0                   1  n",
        "zero       0.000  0.000 – 0.250  ●────┤···············  8",
        "undefined  undefined (no_claims)                        0",
        "missing    missing (judge_failed)                       0",
    ]


def test_what_is_below_a_row_stands_behind_its_names(page_of: PageOf) -> None:
    columns = (Heading("requirement"), Heading(), Heading("n"))
    one = Row((RowName("hit >= 0.8"), Verdict("fail", "broken", "bad"), Count(9)), ("a note",))
    assert lines(page_of(table(columns, [one]))) == [
        "requirement          n",
        "hit >= 0.8   broken  9",
        "             ↳ a note",
    ]


def test_groups_stand_under_their_titles_in_the_same_columns(page_of: PageOf) -> None:
    columns = (Heading("metric"), Heading("n"))
    groups = (
        Group((Row((RowName("precision"), Count(1))),), "Retrieval"),
        Group((Row((RowName("hit"), Count(10))),), "Answer"),
    )
    assert lines(page_of(Table(columns, groups))) == [
        "Retrieval   n",
        "precision   1",
        "",
        "Answer      n",
        "hit        10",
    ]


def test_columns_without_room_stand_in_a_further_table(page_of: PageOf) -> None:
    columns = (Heading("metric"), *(Heading(f"slice{at}", peer=True) for at in range(4)))
    figures: list[Cell] = [Number(0.5, n=2), Why("undefined"), Why("missing"), Number(0.25, n=1)]
    assert lines(page_of(table(columns, [Row((RowName("hit"), *figures))])), 33) == [
        "metric  slice0 n  slice1  slice2",
        "hit      0.500 2  undef.  missing",
        "",
        "metric  slice3 n",
        "hit      0.250 1",
    ]  # fmt: skip


def test_a_bar_is_shared_out_by_largest_remainder(page_of: PageOf) -> None:
    """Of 20 letters 2/3 and 1/3 are 13.3 and 6.7: 13 and 7."""
    bar = Bar((BarPart(2, 0, "right"), BarPart(1, 1, "wrong")), 3)
    columns = (Heading("outcomes"), Heading(), Heading("right", fill=0), Heading("wrong", fill=1))
    page = page_of(table(columns, [Row((RowName("all"), bar, Share(2, 3), Share(1, 3)))]))
    head, line = lines(page, 60)
    assert head.split() == ["outcomes", "█", "right", "▓", "wrong"]
    drawn = line.split()[1]
    assert (drawn.count("█"), drawn.count("▓")) == (
        round(len(drawn) * 2 / 3),
        round(len(drawn) / 3),
    )
    assert line.split()[2:] == ["2", "67", "%", "1", "33", "%"]


def test_what_is_there_at_all_has_a_letter_of_a_bar(page_of: PageOf) -> None:
    bar = Bar((BarPart(1, 0), BarPart(999, 5), BarPart(0, 3)), 1000)
    (line,) = lines(page_of(table((Heading(),), [Row((bar,))])))
    assert line == "█" + "·" * 30


def test_an_empty_table_is_its_head(page_of: PageOf) -> None:
    assert lines(page_of(table((Heading("metric"), Heading("n")), []))) == ["metric  n"]


def test_a_fact_about_a_column_is_told_only_where_it_is_drawn(page_of: PageOf) -> None:
    columns = (Heading("name"), Heading("p", drop=1))
    small = Facts((Note("p", "what it is", needs="p"), Note("name", "always")), small=True)
    page = page_of(table(columns, [Row((RowName("a" * 20), P(0.5)))]), small)
    assert "p     what it is" in lines(page, 40)
    assert "p     what it is" not in lines(page, 22)
    assert "name  always" in lines(page, 22)


def test_marks_are_explained_only_where_they_are_drawn(page_of: PageOf) -> None:
    columns = (Heading("name"), Heading("value"))
    bar = Scale(0, 1, (Mark(0.5, "bar"),))
    page = page_of(
        table(columns, [Row((RowName("a"), IntervalCell(0.25, 0, 0.4, bar)))]),
        Facts((Note("x", "y"),), small=True),
    )
    assert lines(page)[-1].startswith("strip  ┃ the bar, ├─●─┤ interval and value")
    assert "strip" not in as_text(page, 30)


def test_facts_say_a_repeated_name_once(page_of: PageOf) -> None:
    facts = Facts((Note("judged by", "a"), Note("judged by", "b"), Note("run", "c " * 12)))
    assert lines(page_of(facts), 31) == [
        "judged by  a",
        "           b",
        "run        c c c c c c c c c c",
        "           c c",
    ]


def test_an_outline_stands_in_and_its_lines_hang(page_of: PageOf) -> None:
    inner = (OutlineItem("one two three four five", lead="Q"),)
    page = page_of(Outline((OutlineItem((strong("0.25"), "  q1"), inner),)))
    assert lines(page, 28) == ["  0.25  q1", "    Q  one two three four", "       five"]


def test_the_banner_says_verdict_and_advice_beside_its_bar(page_of: PageOf) -> None:
    page = page_of(Banner("FAIL", "bad", ("1 broken", "Look at it.")))
    assert lines(page) == ["█", "█  FAIL  1 broken", "█        Look at it.", "█"]
    word = "PASS by the numbers of a long name"
    long = page_of(Banner(word, "good", ("1 holds", "Go on.")))
    assert lines(long) == ["█", f"█  {word}  1 holds", "█  Go on.", "█"]


def test_sections_have_headings_and_a_line_between_blocks() -> None:
    blocks = (Paragraphs(("a",)), Paragraphs(("b", "c")))
    page = Page("test", "run", (Section(blocks, "Title"), Section((Outline(()),), "Empty")))
    assert lines(page) == ["Title", "a", "", "b", "c"]


def test_data_cannot_steer_the_terminal(page_of: PageOf) -> None:
    hostile = "a\x1b[31mred\x1b]0;t\x07\u202e[bold]b[/bold]"
    blocks = (
        Paragraphs((hostile,)),
        Facts((Note(hostile, quiet(hostile)),)),
        table((Heading(hostile),), [Row((RowName(hostile),), (hostile,))]),
        Outline((OutlineItem(hostile),)),
    )
    printed = as_text(page_of(*blocks), 160)
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
    assert printed.count("[bold]b[/bold]") == 7


def test_only_the_gravest_rows_show_what_lies_behind_them(page_of: PageOf) -> None:
    columns = (Heading("requirement"), Heading("system"), Heading())
    tones: tuple[tuple[str, Tone], ...] = (("open", "caution"), ("broken", "bad"))
    rows = [
        Row(
            (RowName("hit > 0"), RowName(word), Verdict(word, word, tone)),
            detail=(OutlineItem(f"of {word}"),),
        )
        for word, tone in tones
    ]
    printed = as_text(page_of(Table(columns, (Group(tuple(rows)),), "Worst")))
    assert "Worst  hit > 0  broken\n  of broken\n" in printed
    assert "of open" not in printed


def test_what_is_to_be_copied_stays_as_it_is(page_of: PageOf) -> None:
    assert as_text(page_of(Verbatim(("a\tb", "x " * 60)))) == f"    a\tb\n    {'x ' * 60}\n"


def coloured(page: Page) -> str:
    console = Console(file=StringIO(), width=100, color_system="standard", force_terminal=True)
    console.print(Shown(page))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("tone", "code"),
    [
        ("good", "32"), ("bad", "31"), ("caution", "33"), ("undefined", "33"), ("missing", "35"),
        ("equal", "94"), ("quiet", "90"), ("name", "36"),
    ],
)  # fmt: skip
def test_words_have_the_colour_of_their_tone(page_of: PageOf, tone: Tone, code: str) -> None:
    """The numbers of ANSI: 1 is bold, 3x a colour, 9x a bright one."""
    page = page_of(Paragraphs(((Phrase("said", tone), Phrase("strong", tone, strong=True)),)))
    assert coloured(page) == f"\x1b[{code}msaid\x1b[0m\x1b[1;{code}mstrong\x1b[0m\n"


def test_an_interval_has_the_colour_of_its_verdict_and_a_bright_value(page_of: PageOf) -> None:
    tones: tuple[Tone, ...] = ("bad", "")
    cells = (IntervalCell(0.5, 0.25, 0.75, SHARE, tone=tone) for tone in tones)
    page = page_of(table((Heading("value"),), [Row((cell,)) for cell in cells]))
    head, bad, plain = coloured(page).splitlines()
    assert "\x1b[90mvalue\x1b[0m" in head
    assert "\x1b[31m├" in bad
    assert "\x1b[1;31m●" in bad
    assert "\x1b[36m├" in plain
    assert "\x1b[1;96m●" in plain
    for line in (bad, plain):
        assert "\x1b[1m0.500\x1b[0m" in line
        assert "\x1b[90m·" in line


def test_the_verdict_stands_in_its_colour(page_of: PageOf) -> None:
    lines = coloured(page_of(Banner("FAIL", "bad", ("1 broken", "Look.")))).splitlines()
    assert lines[0] == "\x1b[31m█\x1b[0m"
    assert lines[1] == "\x1b[31m█  \x1b[0m\x1b[1;31mFAIL  \x1b[0m\x1b[1m1 broken\x1b[0m"
    assert lines[2].endswith("Look.")


@pytest.mark.parametrize("width", [8, 20, 26])
def test_a_table_wider_than_the_console_leaves_it_in_one_piece(page_of: PageOf, width: int) -> None:
    """A name without blank, comma or colon is not folded, so its line needs 27 letters."""
    columns = (Heading("metric"), Heading("n"))
    one = Row((RowName("semantic_similarity"), Count(12_345)))
    assert lines(page_of(table(columns, [one])), width) == [
        "metric                    n",
        "semantic_similarity  12,345",
    ]


def test_names_are_folded_where_they_are_longer_than_72_letters(page_of: PageOf) -> None:
    fits, longer = (f"ndcg({'k' * size}, gain)" for size in (72 - 12, 72 - 11))
    columns = (Heading("metric"), Heading("n"))
    whole, folded = (
        lines(page_of(table(columns, [Row((RowName(name), Count(7)))])), 200)
        for name in (fits, longer)
    )
    assert whole[1] == f"{fits}  7"
    assert folded[1:] == [f"ndcg({'k' * 61},  7", "  gain)"]


def test_a_column_stands_to_the_right_where_any_of_it_is_a_figure(page_of: PageOf) -> None:
    rows = [
        Row((RowName("a"), Count(1234), P(0.5), Share(1, 4))),
        Row((RowName("b"), "", P(None), Share(100, 200))),
        Row((RowName("c"), Phrase("same"), "–", "")),
    ]
    columns = (Heading("name"), Heading("needs"), Heading("p"), Heading("share"))
    assert lines(page_of(table(columns, rows))) == [
        "name  needs      p      share",
        "a     1,234  0.500    1  25 %",
        "b                   100  50 %",
        "c      same      –",
    ]


def test_an_empty_name_has_a_row_of_figures_only(page_of: PageOf) -> None:
    columns = (Heading("metric", key=True), Heading("n"))
    rows = [Row((RowName("hit"), Count(n))) for n in (1, 22)]
    assert lines(page_of(table(columns, rows))) == ["metric   n", "hit      1", "        22"]


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ((Mark(0.5, "chance"),), "┊ expected by chance, ├─●─┤ interval and value"),
        ((Mark(0.25, "margin"), Mark(0.75, "margin")), "┊ the margin, ├─●─┤ interval and value"),
        ((Mark(0.9, "bar"),), "┃ the bar, ├─●─┤ interval and value, each line on its own "
         "scale"),
        ((Mark(0.5, "zero"),), ""),
        ((), ""),
    ],
)  # fmt: skip
def test_a_mark_is_explained_by_what_it_is(
    page_of: PageOf, marks: tuple[Mark, ...], said: str
) -> None:
    cell = IntervalCell(0.3, 0.28, 0.32, Scale(0, 1, marks))
    page = page_of(
        table((Heading("name"), Heading("value")), [Row((RowName("a"), cell))]),
        Facts((Note("x", "y"),), small=True),
    )
    last = lines(page, 160)[-1]
    assert last == (f"strip  {said}" if said else "x  y")


def test_a_mark_that_an_interval_hides_is_not_explained(page_of: PageOf) -> None:
    """What chance gives lies under the interval of the only row."""
    hidden = IntervalCell(0.5, 0.25, 0.75, Scale(0, 1, (Mark(0.5, "chance"),)))
    page = page_of(
        table((Heading("value"),), [Row((hidden,))]), Facts((Note("x", "y"),), small=True)
    )
    assert "strip" not in as_text(page)


def test_small_print_explains_what_is_drawn_only_once(page_of: PageOf) -> None:
    bar = IntervalCell(0.5, 0.25, 0.75, Scale(0, 1, (Mark(0.9, "bar"),)))
    small = [Facts((Note(name, "y"),), small=True) for name in ("first", "last")]
    printed = as_text(page_of(table((Heading("value"),), [Row((bar,))] * 2), *small))
    assert printed.count("strip") == 1
    assert printed.index("last") < printed.index("strip")


@pytest.mark.parametrize(
    ("parts", "letters"),
    [((1, 1, 1), [10, 10, 11]), ((30, 1), [1, 30]), ((1000, 1), [1, 30]), ((0, 5), [0, 31])],
)
def test_a_bar_is_shared_out_whole(
    page_of: PageOf, parts: tuple[int, ...], letters: list[int]
) -> None:
    """31 letters: of thirds one part has the letter that is over, and few are never nothing."""
    bar = Bar(tuple(BarPart(size, at) for at, size in enumerate(parts)), sum(parts))
    (line,) = lines(page_of(table((Heading(),), [Row((bar,))])))
    assert sorted(line.count(fill) for fill in "█▓▒"[: len(parts)]) == letters
    assert line == "".join(sorted(line, key="█▓▒".index)), "in the order of the parts"


def test_a_part_of_a_whole_leaves_the_rest_of_its_bar_empty(page_of: PageOf) -> None:
    columns = (Heading("name"), Heading(), Heading("n"))
    bar = Bar((BarPart(1, 0), BarPart(1, 5)), 4)
    (line,) = lines(page_of(table(columns, [Row((RowName("a"), bar, Count(2)))])))[1:]
    drawn = line[4:].split("  ")[1]
    assert set(drawn.rstrip()) == {"█", "·"}
    assert len(drawn.rstrip()) in (15, 16), "half of 31"


def test_more_than_six_details_are_counted(page_of: PageOf) -> None:
    rows = tuple(
        Row((RowName(f"r{at}"), Verdict("fail", "broken", "bad")), detail=(OutlineItem("x"),))
        for at in range(8)
    )
    printed = as_text(page_of(Table((Heading(), Heading()), (Group(rows),), "Worst")))
    assert printed.count("Worst  r") == 6
    assert "and of 2 more: --json has them" in printed
    six = as_text(page_of(Table((Heading(), Heading()), (Group(rows[:6]),), "Worst")))
    assert "more: --json" not in six


def test_an_outline_has_its_title_and_longer_words_hang_below_their_beginning(
    page_of: PageOf,
) -> None:
    items = (OutlineItem("one two three four five six"), OutlineItem(Phrase("a b " * 7, "text")))
    assert lines(page_of(Outline(items, "a title")), 24) == [
        "a title",
        "  one two three four",
        "    five six",
        "  a b a b a b a b a b a",
        "  b a b",
    ]


def test_the_least_room_for_words_is_twenty_letters(page_of: PageOf) -> None:
    page = page_of(Facts((Note("a long name of a fact", "word " * 8),)))
    assert {len(line[23:].rstrip()) for line in lines(page, 10)} == {19}


def test_the_parts_of_a_bar_have_the_colours_of_their_levels(page_of: PageOf) -> None:
    """The best is green, the worst but one red, what is neither is dim."""
    bar = Bar(tuple(BarPart(1, level) for level in range(6)), 6)
    (line,) = coloured(page_of(table((Heading(),), [Row((bar,))]))).splitlines()
    looks = [piece.split("m") for piece in line.split("\x1b[")[1:] if not piece.startswith("0m")]
    assert [(code, set(letters)) for code, letters in looks] == [
        ("32", {"█"}), ("36", {"▓"}), ("33", {"▒"}), ("31", {"░"}), ("35", {"▁"}), ("90", {"·"}),
    ]  # fmt: skip


def test_a_long_name_is_folded_before_any_column_goes(page_of: PageOf) -> None:
    """19 letters of it do not fit beside both columns, 11 do."""
    columns = (Heading("name"), Heading("p", drop=1), Heading("n"))
    one = Row((RowName("aaaa bbbb cccc dddd eeee ffff"), P(0.25), Count(7)))
    assert lines(page_of(table(columns, [one])), 24) == [
        "name             p  n",
        "aaaa bbbb    0.250  7",
        "  cccc dddd",
        "  eeee ffff",
    ]


def test_of_a_distribution_percentages_go_before_columns(page_of: PageOf) -> None:
    columns = (Heading("outcomes"), Heading("right"), Heading("of note", drop=2))
    page = page_of(table(columns, [Row((RowName("a" * 12), Share(2, 3), "words said"))]))
    wide, middle = as_text(page, 60), as_text(page, 32)
    assert "67 %" in wide
    assert "words said" in wide
    assert "67 %" not in middle
    assert "words said" in middle
