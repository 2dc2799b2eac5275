"""The page of a comparison: what its cells hold."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.decisions.comparing.compared import NARROW, Comparison, Comparisons, PairedWinRate
from ragstone.decisions.comparing.ranking import Ranked
from ragstone.report.page import IntervalCell, Mark, Number, P, Page, Row, RowName, Verdict, plain
from ragstone.report.pages.comparison import VERDICTS, comparison_page
from ragstone.report.render.terminal import as_text

Make = Callable[..., Comparison]


def compared(**known: Any) -> Comparison:
    facts: dict[str, Any] = {
        "metric": "hit", "family": "retrieval", "better": "+", "a": "one", "b": "two",
        "slice": None, "value_a": 0.75, "value_b": 0.5, "difference": 0.25, "low": 0.1,
        "high": 0.4, "level": 0.95, "method": "newcombe", "equivalence_low": 0.125,
        "equivalence_high": 0.375, "p_equivalence": 0.9, "p_equivalence_adjusted": 0.9,
        "p": 0.01, "p_adjusted": 0.02, "test": "mcnemar_exact", "verdict": "better",
        "margin": None, "n_pairs": 40, "clusters": 40, "n_undefined": 0, "n_missing": 0,
        "wins": 12, "ties": 26, "losses": 2, "win_rate": PairedWinRate(0.625, 0.5, 0.75),
        "effect_size": 0.5, "relative_change": 50.0, "n_needed": None, "n_needed_reason": None,
        "reasons": (),
    }  # fmt: skip
    return Comparison(**(facts | known))


def found(*ones: Comparison, **known: Any) -> Comparisons:
    facts: dict[str, Any] = {
        "comparisons": ones, "ranking": (), "notes": (), "runs": ("runs/a",),
        "cluster": "question_id", "adjust": "holm", "family": 3, "equivalence_family": 2,
        "level": 0.95, "margin": None, "seed": 0, "resamples": 10_000,
    }  # fmt: skip
    return Comparisons(**(facts | known))


def rows(page: Page) -> list[Row]:
    return page.tables[0].rows


def interval(row: Row) -> IntervalCell:
    return next(cell for cell in row.cells if isinstance(cell, IntervalCell))


def small_print(page: Page) -> str:
    return as_text(page, 400)


def test_a_row_holds_the_facts_of_its_comparison() -> None:
    (row,) = rows(comparison_page(found(compared())))
    assert row.cells == (
        RowName("hit", "+"), Number(0.75), Number(0.5), interval(row),
        Number(50.0, 1, sign="+", unit=" %"), Number(62.5, 0, unit=" %"),
        Number(0.5, 2, sign="+"), P(0.02), "12/26/2", Verdict("better", "better", "good"),
    )  # fmt: skip
    drawn = interval(row)
    assert (drawn.value, drawn.low, drawn.high) == (0.25, 0.1, 0.4)
    assert (drawn.core, drawn.signed, drawn.tone) == ((0.125, 0.375), True, "good")


@pytest.mark.parametrize(
    ("low", "high", "margin", "reach", "ends"),
    [
        (0.1, 0.4, None, 0.5, ()),
        (0.1, 0.4, 0.2, 0.5, (-0.2, 0.2)),
        (0.01, 0.02, 0.1, 0.1, (-0.1, 0.1)),
        (-0.9, 0.4, 0.05, 1.0, (-0.05, 0.05)),
        (0.1, 0.2, 1.5, 2.0, (-1.5, 1.5)),
    ],
)
def test_a_scale_reaches_to_both_sides_of_zero(
    low: float, high: float, margin: float | None, reach: float, ends: tuple[float, ...]
) -> None:
    """The smallest 1, 2 or 5 times a power of ten that holds all, with the margin."""
    one = compared(difference=(low + high) / 2, low=low, high=high, margin=margin)
    scale = interval(rows(comparison_page(found(one)))[0]).scale
    assert scale is not None
    assert [scale.low, scale.high] == pytest.approx([-reach, reach])
    assert scale.marks[0] == Mark(0, "zero")
    assert [mark.at for mark in scale.marks[1:]] == list(ends)


def test_all_of_a_pair_share_their_scale_but_what_is_of_another_order() -> None:
    near, far = compared(), compared(metric="words", difference=40.0, low=30.0, high=50.0)
    scales = [interval(row).scale for row in rows(comparison_page(found(near, near, far)))]
    assert scales[0] == scales[1]
    assert scales[2] is None


def test_without_a_pair_nothing_is_drawn() -> None:
    none = compared(difference=None, low=None, high=None, value_a=None, value_b=None, n_pairs=0,
                    equivalence_low=None, equivalence_high=None, win_rate=None)  # fmt: skip
    (row,) = rows(comparison_page(found(none)))
    assert interval(row).scale is None
    assert interval(row).core is None
    assert Number(None, 0, unit=" %") in row.cells


def test_how_many_pairs_are_needed_or_few_stands_behind_the_verdict() -> None:
    needing = compared(verdict="cannot_tell", n_needed=1234)
    few = compared(n_pairs=8)
    page = comparison_page(found(needing, few))
    notes = [row.verdict.note for row in rows(page) if row.verdict]
    assert notes == ["~1,234", "8 pairs only"]
    assert "cannot tell ~N" in small_print(page)
    assert "N pairs only" in small_print(page)
    assert "N pairs only" not in small_print(comparison_page(found(needing)))
    narrow = compared(verdict="cannot_tell", n_needed_reason=NARROW)
    assert "without ~N" in small_print(comparison_page(found(narrow)))


def test_slices_stand_under_their_metric_beside_all() -> None:
    page = comparison_page(found(compared(), compared(slice={"topic": "sea", "kind": "x"})))
    assert [row.names for row in rows(page)] == [["hit", "all"], ["hit", "sea, x"]]


def test_each_pair_has_a_table_under_its_verdicts() -> None:
    page = comparison_page(
        found(compared(), compared(verdict="same"), compared(b="three", verdict="worse"))
    )
    titles = [plain(one.title) for one in page.sections if plain(one.title)]
    assert titles == [
        "a one  against  b two  1 better · 1 same",
        "a one  against  b three  1 worse",
    ]
    assert len(page.tables) == 2


def test_every_verdict_has_a_word() -> None:
    for verdict in ("better", "worse", "equivalent", "same", "cannot_tell"):
        assert VERDICTS[verdict][0] == verdict.replace("_", " ")


def test_a_ranking_has_the_chance_of_each_system_or_its_share() -> None:
    def ranked(system: str, **known: Any) -> Ranked:
        facts: dict[str, Any] = {
            "metric": "hit", "system": system, "strength": 0.1, "low": 0, "high": 1,
            "win_probability": 0.7, "win_low": 0.6, "win_high": 0.8, "win_share": 0.75, "n": 9,
            "method": "bradley_terry", "reason": None,
        }  # fmt: skip
        return Ranked(**(facts | known))

    ranking = (ranked("one"), ranked("two", win_probability=None, win_share=0.25))
    page = comparison_page(found(compared(), ranking=ranking))
    (row,) = page.tables[1].rows
    assert row.cells == (RowName("hit"), IntervalCell(0.7, 0.6, 0.8, strong=False), "won 25 %")
    level = (ranked("one", win_share=0.5), ranked("two", win_share=0.5))
    assert len(comparison_page(found(compared(), ranking=level)).tables) == 1


def test_why_something_cannot_be_told_is_said_once_with_its_metrics() -> None:
    ones = [
        compared(metric=f"m{at}", reasons=("no_direction", "no_pair_differs")) for at in range(8)
    ]
    said = small_print(comparison_page(found(*ones)))
    assert "neither end of this metric is better: m0, m1, m2, m3, m4, m5, 2 more" in said
    assert "there is nothing to test: m0" in said


def test_what_was_left_out_is_noted_beside_the_page() -> None:
    page = comparison_page(found(compared(), notes=("a note",)))
    assert page.notes == ("a note",)
    record: Any = page.record()
    assert record["notes"] == ["a note"]
    assert record["comparisons"][0]["win_rate"] == {"value": 0.625, "low": 0.5, "high": 0.75}
