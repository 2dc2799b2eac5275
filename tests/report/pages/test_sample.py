"""The page of a sample: what its cells hold."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.decisions.sampling.draw import Sample, SampleStratum
from ragstone.decisions.sampling.expected_width import ExpectedWidth
from ragstone.decisions.sampling.label_sheet import LabelSheet, RequestedLabel
from ragstone.report.page import Bar, Count, Number, Page, RowName, quiet
from ragstone.report.pages.sample import sample_page
from ragstone.report.render.terminal import as_text

SETTINGS: dict[str, Any] = {
    "by": "random", "metric": "hit", "threshold": 0.5, "others": [], "strata_of": ["verdict"],
    "allocation": "equal", "run": "runs/a", "seed": 3, "annotators": [], "overlap": 0.0,
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
        "rows": rows, "strata": (), "settings": SETTINGS | known.pop("settings", {}),
        "examples": 1200, "questions": None, "unit": "examples", "chances": (0.5, 0.5),
        "widths": (), "notes": (),
    }  # fmt: skip
    return Sample(**(facts | known))


def sheet(*who: str, **known: Any) -> LabelSheet:
    asked = (RequestedLabel("helpful", "answer"), RequestedLabel("support", "claim"),
             RequestedLabel("support", "statement"))  # fmt: skip
    frame = pl.DataFrame({"annotator": list(who)}, schema={"annotator": pl.String})
    facts: dict[str, Any] = {"frame": frame, "asked": asked, "notes": ()} | known
    return LabelSheet(**facts)


def page(drawn: Sample, filled: LabelSheet | None = None, out: Path | None = None) -> Page:
    return sample_page(drawn, filled or sheet(), out)


def said(shown: Page) -> str:
    return " ".join(as_text(shown, 400).split())


def test_what_was_drawn_is_said_with_its_chance_and_what_is_asked() -> None:
    words = said(page(sample()))
    assert words.startswith("drawn 3 of 1,200 examples from runs/a by random; seed 3 chance 0.500,")
    assert "labels helpful (of each answer), support (of each claim and statement)" in words
    assert "chance 0.250 to 1.000" in said(page(sample(chances=(0.25, 1.0))))


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
    assert "and 3 more, with --json" in said(shown)


def test_designs_are_compared_with_the_one_that_was_taken() -> None:
    widths = (ExpectedWidth("error", 0.25), ExpectedWidth("random", 0.5))
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
    assert said(page(sample())).endswith("--out sheet.csv makes the sheet to fill in.")
    out = tmp_path / "labels.csv"
    written = said(page(sample(), sheet("ann", guideline="what is asked"), out))
    assert written.endswith(f"ragstone calibrate runs/a --labels {out}")
    assert f"sheet {out} 1 rows" in written
    assert "labels.guideline.md what is asked, hard cases" in written
    apart = {"annotators": ["ann", "ben"]}
    assert "agreement cannot be measured" in said(page(sample(settings=apart), sheet("ann")))
    near = sample(settings={"by": "error"}, chances=(0.25, 1.0))
    assert "was 4 times as likely as the least" in said(page(near))


def test_the_record_has_what_is_asked_and_where_it_lies(tmp_path: Path) -> None:
    record: Any = page(sample(), out=tmp_path / "x.csv").record()
    assert record["out"] == tmp_path / "x.csv"
    assert record["labels"] == sheet().labels
