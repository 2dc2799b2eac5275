"""The page of failures: what its cells hold, and what cannot be known."""

from pathlib import Path
from typing import Any

import polars as pl

from ragstone.analysis import Failures
from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun
from ragstone.analysis.summaries.failure_stages import STAGES, GroupFailures, Rate, StageFailures
from ragstone.report.page import Count, IntervalCell, RowName, Scale, Step, Waterfall, Why
from ragstone.report.pages.failures_page import failures_page
from ragstone.report.render.documents import as_html
from ragstone.report.render.terminal import as_text

CODES = [one.code for one in STAGES]


def stage(code: str, n: int | None = 0, **known: Any) -> StageFailures:
    first = None if n is None else share(n)
    facts: dict[str, Any] = {"why": "" if n is not None else "corpus_not_told", "untold": 0,
                             "later": 0, "survived": 0}  # fmt: skip
    return StageFailures(code, first, **(facts | known))


def group(system: str = "", /, survived: int = 0, **stages: StageFailures) -> GroupFailures:
    """Eight answers, at the stages as given and with nothing at the others."""
    laid = tuple(stages.get(code, stage(code)) for code in CODES)
    bad = sum(one.first.n for one in laid if one.first is not None)
    return GroupFailures(
        {"system": system} if system else {}, 8, 8, Rate(bad, bad / 8, 0.25, 0.75, "wilson"),
        share(1), share(7 - bad), survived, 2, laid,
    )  # fmt: skip


def share(n: int) -> Rate:
    return Rate(n, n / 8, 0.0, 0.5, "wilson")


LOCAL = CheckedRun(
    {"answer_outcome": CheckedMetric(("local:strings",), 0, None, "no_label_checked")}
)


def failed(*groups: GroupFailures, **known: Any) -> Failures:
    facts: dict[str, Any] = {"run": Path("runs/a"), "themselves": (), "by": (), "level": 0.95,
                             "cluster": "question_id", "answers": pl.DataFrame(),
                             "checked": LOCAL}  # fmt: skip
    return Failures(groups=groups, **(facts | known))


def said(found: Failures) -> str:
    return " ".join(as_text(failures_page(found), 400).split())


ONE = group(
    not_in_corpus=stage("not_in_corpus", None),
    not_retrieved=stage("not_retrieved", 3, untold=1, later=2, survived=4),
    wrong=stage("wrong", 1),
    survived=4,
)


def test_a_stage_has_a_row_and_a_step_that_starts_where_the_last_ended() -> None:
    page = failures_page(failed(ONE))
    _, ladder, *_ = page.sections
    drawn = ladder.blocks[0]
    assert isinstance(drawn, Waterfall)
    assert drawn.whole == 8
    assert drawn.steps[1] == Step("not retrieved", 3, "bad")
    assert drawn.steps[-2:] == (Step("part of it", 1), Step("no fault", 3))
    assert sum(step.size for step in drawn.steps) == 8
    row = next(row for row in page.tables[0].rows if row.names == ["not retrieved"])
    assert row.cells == (
        RowName("not retrieved", about="less than half of the reference is in the contexts"),
        Count(3, "bad"), IntervalCell(0.375, 0.0, 0.5, Scale(0, 1), strong=False),
        Count(1, "missing"), Count(2), Count(4),
    )  # fmt: skip
    assert "<svg" in as_html(page)


def test_the_first_words_say_how_many_and_why() -> None:
    assert said(failed(ONE)).startswith(
        "4 of 8 answers look bad to the local judge, which no label has checked here. What goes "
        "wrong first is most often that less than half of the reference is in the contexts (3). By "
        "the same judgements, 1 of the 8 says only part of the reference and 2 have at least one "
        "unsupported claim. 4 of 4 answers that do not look bad survived a fault of retrieval."
    )


def test_a_stage_that_is_known_nowhere_stands_below_with_its_reason() -> None:
    page = failures_page(failed(ONE))
    assert "not in the corpus" not in [name for row in page.tables[0].rows for name in row.names]
    assert (
        "not in the corpus not known: no judged context ids (reference_contexts) tell what the "
        "corpus holds"
    ) in said(failed(ONE))


def test_a_stage_that_is_known_of_another_system_is_unknown_in_its_row() -> None:
    known = group("a", not_in_corpus=stage("not_in_corpus", 1))
    unknown = group("b", not_in_corpus=stage("not_in_corpus", None))
    page = failures_page(failed(group(), known, unknown))
    assert [table.rows[0].names for table in page.tables] == [["not in the corpus"]] * 2
    cell = page.tables[1].rows[0].cells[1]
    assert isinstance(cell, Why)
    assert cell.outcome == "unknown"


def test_who_answers_with_the_references_is_named() -> None:
    assert "gold answers with the references" in said(failed(ONE, themselves=("gold",)))


def test_where_nothing_tells_the_page_says_what_to_do() -> None:
    none = Rate(0, None, None, None, None)
    nothing = GroupFailures({}, 0, 0, none, none, none, 0, None, ())
    told = said(failed(nothing))
    assert "answer_outcome or answer_coverage or expected_faithfulness or faithfulness" in told
    assert "ragstone score RUN --metric answer_outcome" in told


def test_slices_have_their_rate_and_most_frequent_stage() -> None:
    land = GroupFailures(
        {"topic": "land"}, 8, 8, ONE.bad, ONE.partial, ONE.fine, ONE.survived, 2, ONE.stages
    )  # fmt: skip
    page = failures_page(failed(ONE, land, by=("topic",)))
    (row,) = page.tables[1].rows
    assert row.cells[1:3] == (RowName("land"), Count(8))
    assert row.cells[4] == "not retrieved (3)"
