import pytest

from ragstone.report.page import (
    Bar,
    BarPart,
    Cell,
    Count,
    IntervalCell,
    Number,
    P,
    RowName,
    Share,
    Verdict,
    Why,
    plain,
)
from ragstone.report.render.text_cells import words_of, written


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
