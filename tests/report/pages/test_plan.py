"""The pages of plans: what their cells hold."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from ragstone.decisions.planning.label_sizes import Accuracy, LabelSize, label_size
from ragstone.decisions.planning.sizes import MeanSize, PairedSize, RateSize, rate_size
from ragstone.report.page import (
    Bar,
    Count,
    IntervalCell,
    Number,
    Page,
    Phrase,
    Row,
    RowName,
    Scale,
    Why,
)
from ragstone.report.pages.plan import labels_page, mean_page, paired_page, rate_page
from ragstone.report.render.terminal import as_text


def rows(page: Page) -> list[Row]:
    return page.tables[0].rows


def said(page: Page) -> str:
    return " ".join(as_text(page, 400).split())


def mean(**known: Any) -> MeanSize:
    facts: dict[str, Any] = {
        "metric": "hit", "system": "a", "value": 0.5, "low": 0.25, "high": 0.75, "rows_now": 20,
        "questions_now": 20, "deviation": 0.5, "design_effect": 1.0, "half_width": 0.05,
        "level": 0.95, "rows": 80, "questions": 80, "reason": None,
    }  # fmt: skip
    return MeanSize(**(facts | known))


def pair(**known: Any) -> PairedSize:
    facts: dict[str, Any] = {
        "metric": "hit", "a": "one", "b": "two", "pairs_now": 40, "left_out": 0,
        "difference_now": 0.125, "deviation": 0.25, "power": 0.8, "level": 0.95,
        "difference": None, "pairs": None, "power_now": None, "at": None, "detectable": 0.1,
        "margin": 0.2, "reason": None,
    }  # fmt: skip
    return PairedSize(**(facts | known))


def test_a_rate_has_a_row_for_fewer_and_more_the_answer_strong() -> None:
    """Wilson's interval of 1 in 2 rows reaches from .095 to .905."""
    found = RateSize(0.5, 0.4, 0.95, 2, ((1, 0.47), (2, 0.405)))
    page = rate_page(found)
    assert said(page).startswith("2 rows hold a rate of 0.500 to within ±0.4, at 95 %.")
    first, answer = rows(page)
    assert first.cells[0] == Count(1)
    assert answer.cells[:2] == (Count(2, strong=True), Number(0.405, sign="±", strong=True))
    drawn = answer.cells[2]
    assert isinstance(drawn, IntervalCell)
    assert (drawn.scale, drawn.strong) == (Scale(0, 1), True)
    assert drawn.low == pytest.approx(0.0945, abs=1e-4)
    assert drawn.high == pytest.approx(0.9055, abs=1e-4)


def test_a_mean_says_what_is_there_what_is_needed_and_what_lacks() -> None:
    (row,) = rows(mean_page("runs/a", [mean()]))
    assert row.cells[:6] == (
        RowName("hit"), RowName("a"), IntervalCell(0.5, 0.25, 0.75), Count(20),
        Count(80, strong=True), "+60",
    )  # fmt: skip
    bar = row.cells[6]
    assert isinstance(bar, Bar)
    assert ([part.size for part in bar.parts], bar.whole) == ([20, 60], 80)


def test_enough_is_enough() -> None:
    (row,) = rows(mean_page("runs/a", [mean(questions=10, rows=10)]))
    bar = row.cells[6]
    assert row.cells[5] == "enough"
    assert isinstance(bar, Bar)
    assert [part.size for part in bar.parts] == [10, 0]


def test_rows_that_share_questions_show_their_design_effect() -> None:
    page = mean_page("runs/a", [mean(rows_now=60, design_effect=1.5, rows=240)])
    (row,) = rows(page)
    assert row.cells[4:7] == (Number(1.5, 2), Count(80, strong=True), Count(240))
    assert [one.head for one in page.tables[0].columns][4:7] == ["design effect", "needed", "rows"]


def test_what_cannot_be_planned_says_why() -> None:
    (row,) = rows(mean_page("runs/a", [mean(questions=None, rows=None, reason="too few")]))
    assert row.cells[4:] == (Why("unknown", "too few"), None, None)
    (row,) = rows(paired_page("runs/a", [pair(detectable=None, reason="too few")]))
    assert row.cells[5:] == (Why("unknown", "too few"), None)


def test_a_run_without_values_has_a_page() -> None:
    for page in (mean_page("runs/a", []), paired_page("runs/a", [])):
        assert said(page) == "No metric of this run has a value."
        record: Any = page.record()
        assert record["sizes"] == []


def test_a_pair_says_what_it_can_find_or_what_it_needs() -> None:
    (row,) = rows(paired_page("runs/a", [pair()]))
    assert row.cells == (
        RowName("hit"), RowName("one - two"), Number(0.125, sign="+"), Number(0.25), Count(40),
        Number(0.1, sign="±", strong=True), Number(0.2, sign="±"),
    )  # fmt: skip
    asked = pair(difference=0.05, pairs=160, power_now=0.25)
    (row,) = rows(paired_page("runs/a", [asked]))
    assert row.cells[5:] == (
        Number(0.1, sign="±"), Number(0.2, sign="±"), Count(160, strong=True),
        Number(25.0, 1, unit=" %"),
    )  # fmt: skip


def test_the_tests_that_a_plan_is_for_are_named() -> None:
    exact = pair(test="mcnemar_exact")
    assert "McNemar's exact test for rates, a permutation" in said(
        paired_page("r", [exact, pair()])
    )
    assert "One test alone." in said(paired_page("r", [pair()]))
    assert "one of its 12 tests, so at 0.05 / 12" in said(paired_page("r", [pair(family=12)]))
    assert "Up to 3 questions lack" in said(paired_page("r", [pair(left_out=3)]))
    columns = paired_page("r", [pair(at=90)]).tables[0].columns
    assert "detectable\nwith 90" in [one.head for one in columns]


def test_labels_stand_beside_what_they_were_without_the_judge() -> None:
    known = Accuracy(2000, rate=0.3, sensitivity=0.9, specificity=0.9)
    found = label_size(known, 0.04)
    page = labels_page(found)
    with_judge, alone = rows(page)
    bars = [row.cells[2] for row in (with_judge, alone)]
    assert all(isinstance(one, Bar) and one.whole == found.labels_only for one in bars)
    assert f"{found.labels:,} answers" in said(page)
    assert f"{found.labels_only:,} answers without the judge" in said(page)
    few = replace(found, labels=None, reason="judge more")
    assert rows(labels_page(few))[0].cells == (
        Phrase("too few", "caution"), Why("unknown", "judge more"), None,
    )  # fmt: skip
    assert isinstance(few, LabelSize)


@pytest.mark.parametrize("width", [80, 100, 160])
def test_plans_fit_the_console(width: int) -> None:
    names = {"system": "a_system_of_some_length", "metric": "faithfulness(no_claims=1.0)"}
    long = [mean(**names), mean(**(names | {"questions": None, "rows": None, "reason": "x " * 40}))]
    pairs = [pair(a="a_system_of_some_length", b="another_system_of_length", difference=0.1,
                  pairs=12_345, power_now=0.5)]  # fmt: skip
    for page in (mean_page("r", long), paired_page("r", pairs), rate_page(rate_size(0.9, 0.05))):
        assert max(map(len, as_text(page, width).splitlines())) <= width


def test_the_record_is_what_was_found() -> None:
    record: Any = mean_page("runs/a", [mean()], cluster="topic").record()
    assert record == {
        "plan": "mean", "run": "runs/a", "cluster": "topic", "sizes": [asdict(mean())],
    }  # fmt: skip
