"""The page of a sample: what its cells hold."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.analysis.label_sampling.draw_sample import Sample, SampleSettings
from ragstone.analysis.label_sampling.queue_items import LabelSheet
from ragstone.analysis.label_sampling.sample_designs import SampleStratum
from ragstone.annotation.queue.form import AskedLabel
from ragstone.report.page import Bar, Count, Number, Page, RowName, quiet
from ragstone.report.pages.annotation_pages import sample_page
from ragstone.report.render.terminal import as_text

SETTINGS: dict[str, Any] = {
    "by": "random", "metric": "hit", "threshold": 0.5, "others": (), "strata_of": ("verdict",),
    "allocation": "equal", "run": "runs/a", "seed": 3, "annotators": (),
    "overlap": 0.0, "cluster": None,
}  # fmt: skip


def sample(annotators: list[list[str]] | None = None, **known: Any) -> Sample:
    who = annotators or [[], [], []]
    rows = pl.DataFrame(
        {
            "example_id": [f"q{at}" for at in range(len(who))],
            "inclusion_probability": [0.5] * len(who),
            "annotators": who,
        },
        schema_overrides={"annotators": pl.List(pl.String)},
    )
    facts: dict[str, Any] = {
        "rows": rows, "strata": (),
        "settings": SampleSettings(**(SETTINGS | known.pop("settings", {}))),
        "examples": 1200, "questions": None, "unit": "examples", "chances": (0.5, 0.5),
        "widths": {}, "notes": (),
    }  # fmt: skip
    return Sample(**(facts | known))


def sheet(*who: str, **known: Any) -> LabelSheet:
    asked = (AskedLabel("helpful", "answer"), AskedLabel("support", "claim"),
             AskedLabel("support", "statement"))  # fmt: skip
    frame = pl.DataFrame({"annotator": list(who)}, schema={"annotator": pl.String})
    facts: dict[str, Any] = {"frame": frame, "asked": asked, "notes": ()} | known
    return LabelSheet(**facts)


def page(drawn: Sample, filled: LabelSheet | None = None, out: Path | None = None) -> Page:
    return sample_page(drawn, filled or sheet(), out)


def said(shown: Page) -> str:
    return " ".join(as_text(shown, 400).split())


def test_what_was_drawn_is_said_with_its_chance_and_what_is_asked() -> None:
    words = said(page(sample()))
    assert words.startswith(
        "drawn 3 of 1,200 examples from runs/a by random; seed 3 probability 0.500,"
    )
    assert "labels helpful (of each answer), support (of each claim and statement)" in words
    assert "probability 0.250 to 1.000" in said(page(sample(chances=(0.25, 1.0))))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"by": "near-threshold"}, "near-threshold: hit near 0.5"),
        ({"by": "error"}, "error: hit, where the judge is expected to err"),
        ({"by": "disagreement"}, "disagreement about hit, by the votes in the run"),
        ({"by": "disagreement", "others": ["b"]}, "disagreement about hit, by b"),
        ({"by": "stratified"}, "stratified by verdict, equal"),
    ],
)
def test_each_way_of_drawing_is_said_with_what_it_goes_by(
    settings: dict[str, Any], words: str
) -> None:
    assert f"by {words}; seed 3" in said(page(sample(settings=settings)))


@pytest.mark.parametrize(
    ("questions", "unit", "words"),
    [
        (1, "questions", "1 whole question from"),
        (7, "questions", "7 whole questions from"),
        (1, "values of topic", "1 value of topic from"),
    ],
)
def test_whole_questions_are_counted(questions: int, unit: str, words: str) -> None:
    assert f"examples, {words}" in said(page(sample(questions=questions, unit=unit)))


def test_a_stratum_says_how_many_there_were_and_how_many_were_drawn() -> None:
    strata = (SampleStratum("verdict=0", 8, 2), SampleStratum("verdict=1", 4, 4))
    (table,) = page(sample(strata=strata)).tables
    first, second = table.rows
    assert first.cells[:4] == (RowName("verdict=0"), Count(8), Count(2, strong=True), Number(0.25))
    bars = [row.cells[4] for row in (first, second)]
    sizes = [([part.size for part in bar.parts], bar.whole) for bar in bars if isinstance(bar, Bar)]
    assert sizes == [([2, 6], 8), ([4, 0], 8)]


def test_of_very_many_strata_the_first_are_shown() -> None:
    strata = tuple(SampleStratum(f"s{at}", 2, 1) for at in range(33))
    shown = page(sample(strata=strata))
    assert len(shown.tables[0].rows) == 30
    assert "and 3 more: see --json" in said(shown)


def test_designs_are_compared_with_the_one_that_was_taken() -> None:
    widths = {"error": 0.25, "random": 0.5}
    taken, other = page(sample(widths=widths)).tables[0].rows
    assert taken.cells == (RowName("error"), Number(0.25, strong=True), "drawn")
    assert other.cells[2] == quiet("2.00 ×")


def test_annotators_are_told_how_many_they_label_and_share() -> None:
    drawn = sample([["ann", "ben"], ["ann"], ["ben"]],
                   settings={"annotators": ["ann", "ben"], "overlap": 0.5})  # fmt: skip
    (table,) = page(drawn, sheet("ann", "ann", "ben")).tables
    assert [row.cells for row in table.rows] == [
        (RowName("ann"), Count(2), Count(1), Count(2)),
        (RowName("ben"), Count(2), Count(1), Count(1)),
    ]


def test_what_is_to_be_done_and_known_stands_at_the_end(tmp_path: Path) -> None:
    assert said(page(sample())).endswith("--out sheet.csv writes the sheet to fill in.")
    out = tmp_path / "labels.csv"
    written = said(page(sample(), sheet("ann", guideline="what is asked"), out))
    assert written.endswith(f"ragstone calibrate runs/a --labels {out}")
    assert f"sheet {out} 1 rows" in written
    assert "labels.guideline.md questions and hard cases for annotators" in written
    apart = {"annotators": ["ann", "ben"]}
    assert "agreement cannot be measured" in said(page(sample(settings=apart), sheet("ann")))
    near = sample(settings={"by": "error"}, chances=(0.25, 1.0))
    assert "was 4 times as likely to be drawn as the least" in said(page(near))


def test_the_record_has_what_is_asked_and_where_it_lies(tmp_path: Path) -> None:
    record: Any = page(sample(), out=tmp_path / "x.csv").record()
    assert record["out"] == tmp_path / "x.csv"
    assert record["labels"] == sheet().labels


def heads(shown: Page, table: int = 0) -> list[str]:
    return [column.head for column in shown.tables[table].columns]


def test_each_figure_of_a_sample_stands_under_its_head() -> None:
    strata, widths = (SampleStratum("s", 2, 1),), {"random": 0.5}
    drawn = sample([["ann"], ["ann"]], strata=strata, widths=widths,
                   settings={"annotators": ["ann"]})  # fmt: skip
    shown = page(drawn, sheet("ann"))
    assert heads(shown, 0) == ["stratum", "size", "drawn", "probability", ""]
    assert heads(shown, 1) == ["of 2 labels", "expected width", ""]
    assert heads(shown, 2) == ["annotator", "examples", "shared by all", "rows"]


@pytest.mark.parametrize(("strata", "more"), [(30, ""), (31, "and 1 more: see --json")])
def test_thirty_strata_are_shown_and_the_rest_counted(strata: int, more: str) -> None:
    shown = page(sample(strata=tuple(SampleStratum(f"s{at}", 2, 1) for at in range(strata))))
    assert len(shown.tables[0].rows) == 30
    assert ("--json" in said(shown)) is bool(more)
    assert more in said(shown)


def test_bars_of_strata_are_as_long_as_the_strata_are_large() -> None:
    strata = (SampleStratum("small", 2, 1), SampleStratum("large", 8, 8))
    bars = [row.cells[4] for row in page(sample(strata=strata)).tables[0].rows]
    assert [bar.whole for bar in bars if isinstance(bar, Bar)] == [8, 8], "of the largest"
    levels = [[part.level for part in bar.parts] for bar in bars if isinstance(bar, Bar)]
    assert levels == [[0, 5], [0, 5]], "what was drawn is green, what is left is grey"


@pytest.mark.parametrize(
    ("by", "chances", "told"),
    [
        ("error", (0.2, 0.2), None),
        ("error", (0.2, 0.2008), None),
        ("error", (0.2, 0.21), "1.05 times as likely"),
        ("near-threshold", (0.1, 0.5), "5 times as likely"),
        ("disagreement", (0.1, 1.0), "10 times as likely"),
        ("stratified", (0.1, 1.0), None),
        ("random", (0.1, 1.0), None),
    ],
)
def test_how_much_likelier_the_most_telling_was_is_said_where_that_was_the_aim(
    by: str, chances: tuple[float, float], told: str | None
) -> None:
    words = said(page(sample(settings={"by": by}, chances=chances)))
    assert ("The most informative example was" in words) is (told is not None)
    assert told is None or told in words


def test_labels_of_unequal_chances_count_as_fewer() -> None:
    """Weights 1/.1, 1/.1, 1/.5 count, as Kish has it, as (10 + 10 + 2)² / (100 + 100 + 4)."""
    drawn = sample()
    chances = pl.Series("inclusion_probability", [0.1, 0.1, 0.5])
    unequal = sample(rows=drawn.rows.with_columns(chances))
    assert unequal.effective == pytest.approx(22**2 / 204)
    assert "the labels count as 2 drawn at random" in said(page(unequal))
    assert "drawn at random" not in said(page(drawn))


def test_a_label_is_asked_of_each_of_its_units_once() -> None:
    asked = (AskedLabel("support", "claim"), AskedLabel("tone", "answer"),
             AskedLabel("support", "statement"))  # fmt: skip
    words = said(page(sample(), sheet(asked=asked)))
    assert "labels support (of each claim and statement), tone (of each answer)" in words


def test_chances_that_differ_by_rounding_alone_are_one() -> None:
    assert "probability 0.250, kept" in said(page(sample(chances=(0.25, 0.2504))))
    assert "probability 0.250 to 0.251, kept" in said(page(sample(chances=(0.25, 0.2506))))


def test_who_labels_alone_shares_nothing() -> None:
    alone = sample([["ann"], ["ann"]], settings={"annotators": ["ann"]})
    (table,) = page(alone, sheet("ann", "ann", "ann")).tables
    assert table.rows[0].cells == (RowName("ann"), Count(2), Count(0), Count(3))
    assert "agreement" not in said(page(alone, sheet("ann")))
    shared = sample(settings={"annotators": ["ann", "ben"], "overlap": 0.2})
    assert "agreement" not in said(page(shared, sheet("ann")))


def test_notes_of_the_draw_and_of_the_sheet_are_told() -> None:
    words = said(page(sample(notes=("of the draw",)), sheet(notes=("of the sheet",))))
    assert "of the draw" in words
    assert words.index("of the draw") < words.index("of the sheet")


def test_a_sheet_of_a_users_own_words_has_no_guideline(tmp_path: Path) -> None:
    assert "guideline" not in said(page(sample(), sheet("ann"), tmp_path / "labels.csv"))
