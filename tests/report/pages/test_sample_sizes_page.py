"""The pages of plans: what their cells hold."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from ragstone.analysis.sample_sizes.label_sizes import Accuracy, LabelSize, label_size
from ragstone.analysis.sample_sizes.question_sizes import MeanSize, PairedSize, RateSize, rate_size
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
from ragstone.report.pages.sample_sizes_page import labels_page, mean_page, paired_page, rate_page
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


def test_a_pair_that_can_find_nothing_yet_says_what_it_needs_all_the_same() -> None:
    few = pair(detectable=None, reason="too few", difference=0.1, pairs=751, power_now=0.0)
    page = paired_page("runs/a", [few, few])
    assert rows(page)[0].cells[5:] == (
        Number(None, sign="±"), Number(None, sign="±"), Count(751, strong=True),
        Number(0.0, 1, unit=" %"),
    )  # fmt: skip
    assert "Not detectable yet: too few." in said(page)


def test_the_tests_that_a_plan_is_for_are_named() -> None:
    exact = pair(test="mcnemar_exact")
    assert "McNemar's exact test for rates, a permutation" in said(
        paired_page("r", [exact, pair()])
    )
    assert "A single test." in said(paired_page("r", [pair()]))
    assert "one of 12 tests, so each at 0.05 / 12" in said(paired_page("r", [pair(family=12)]))
    assert "Up to 3 questions have no score" in said(paired_page("r", [pair(left_out=3)]))
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


def heads(page: Page) -> list[str]:
    return [column.head for column in page.tables[0].columns]


def test_each_figure_of_a_plan_stands_under_its_head() -> None:
    assert heads(rate_page(rate_size(0.9, 0.05))) == ["rows", "half-width", "rate"]
    plain, shared = mean(), mean(rows_now=60, rows=240)
    assert heads(mean_page("r", [plain])) == [
        "metric", "system", "value", "questions", "needed", "more", "",
    ]  # fmt: skip
    assert heads(mean_page("r", [shared, plain], cluster="doc")) == [
        "metric", "system", "value", "by doc", "design effect", "needed", "rows", "",
    ]  # fmt: skip
    found = ["metric", "a - b", "difference\nnow", "st. dev.", "questions", "detectable", "margin"]
    assert heads(paired_page("r", [pair()])) == found
    asked = paired_page("r", [pair(difference=0.1, pairs=9, power_now=0.5)])
    assert heads(asked) == [*found, "needed", "power now"]
    assert len(rows(asked)[0].cells) == len(heads(asked))


def test_what_is_planned_for_stands_first() -> None:
    assert said(mean_page("runs/a", [mean()])).startswith(
        "wanted a mean to within ±0.05, at 95 % based on runs/a metric"
    )
    assert "what difference can be found 80 % of the time, two-sided at 0.05" in said(
        paired_page("r", [pair()])
    )
    assert "to find a difference of 0.1 90 % of the time, two-sided at 0.01" in said(
        paired_page("r", [pair(difference=-0.1, power=0.9, level=0.99, pairs=9)])
    )


def test_a_plan_is_called_by_what_it_is_of() -> None:
    found = label_size(rate_known(), 0.04)
    pages = [rate_page(rate_size(0.9, 0.05)), mean_page("runs/a", [mean()]), labels_page(found),
             labels_page(replace(found, metric="hit"))]  # fmt: skip
    assert [page.title for page in pages] == ["rate", "runs/a", "labels", "hit"]
    assert {page.name for page in pages} == {"plan"}


def test_needed_are_as_many_of_what_rows_share() -> None:
    assert "needed: questions like these" in said(mean_page("r", [mean()]))
    assert "needed: values of doc like these" in said(mean_page("r", [mean()], cluster="doc"))


@pytest.mark.parametrize(
    ("counts", "said_of"),
    [((9, 40), 9), ((1, 12), 12), ((0, 1, 19), 19), ((20, 21), None), ((1, 1), None)],
)
def test_a_small_pilot_is_a_guess(counts: tuple[int, ...], said_of: int | None) -> None:
    """One question has no variance, so nothing was guessed from it."""
    pages = (
        mean_page("r", [mean(questions_now=count) for count in counts]),
        paired_page("r", [pair(pairs_now=count) for count in counts]),
    )
    for page in pages:
        assert ("A pilot of" in said(page)) is (said_of is not None)
        assert (
            said_of is None
            or f"A pilot of {said_of} gives only a guess: run at least 20" in said(page)
        )


def test_the_most_that_any_pair_leaves_out_is_told() -> None:
    page = paired_page("r", [pair(left_out=0), pair(left_out=1234), pair(left_out=2)])
    assert "Up to 1,234 questions have no score" in said(page)
    assert "Up to" not in said(paired_page("r", [pair()]))


def test_a_pair_without_a_margin_is_not_told_of_one() -> None:
    told = "margin the smallest within which"
    assert told in said(paired_page("r", [pair(margin=None), pair()]))
    assert told not in said(paired_page("r", [pair(margin=None)]))


def test_the_margin_is_explained_where_its_column_is_shown() -> None:
    page = paired_page("r", [pair(difference=0.1, pairs=9, power_now=0.5)])
    shown = {}
    for width in range(40, 120):
        head, explained = as_text(page, width).partition("ragstone compare")[::2]
        shown[width] = "margin" in head
        assert ("margin  the smallest" in explained) is shown[width], width
    assert set(shown.values()) == {True, False}


def test_what_a_number_of_pairs_finds_is_told_under_the_least_that_was_asked() -> None:
    assert "detectable\nwith 90" in heads(paired_page("r", [pair(at=400), pair(at=90)]))
    assert "detectable" in heads(paired_page("r", [pair(at=40)])), "as many as there are now"


def rate_known(**known: Any) -> Accuracy:
    return Accuracy(2000, **({"rate": 0.3, "sensitivity": 0.9, "specificity": 0.8} | known))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "judged 2,000 rows judge sensitivity 0.90, specificity 0.80 true rate about 0.300"),
        ({"labels": 120}, "specificity 0.80, on 120 labelled rows"),
        ({"labels": 1}, "specificity 0.80, on 1 labelled row true"),
    ],
)
def test_what_is_known_of_the_judge_is_said(known: dict[str, Any], words: str) -> None:
    assert words in said(labels_page(label_size(rate_known(**known), 0.04)))


def test_a_mean_of_peoples_scores_is_planned_by_correlation_and_deviation() -> None:
    known = Accuracy(2000, correlation=0.7, deviation=0.25)
    words = said(labels_page(label_size(known, 0.04)))
    assert words.startswith("wanted the mean to within ±0.04, at 95 %")
    assert "judge correlation with people 0.70 deviation 0.250, of human scores" in words


def labelled(**known: Any) -> LabelSize:
    return replace(label_size(rate_known(), 0.04), **known)


def test_labels_are_wanted_for_a_metric_of_a_system() -> None:
    words = said(labels_page(labelled(metric="hit", system="a", assurance=0.9)))
    assert words.startswith("wanted hit, a to within ±0.04, at 95 %, in 90 % of samples")
    assert "ragstone sample RUN --metric hit --n N" in words
    assert "ragstone sample RUN --metric … --n N" in said(labels_page(labelled()))


@pytest.mark.parametrize(
    ("known", "told", "untold"),
    [
        ({"labels": 163, "labels_only": 300}, "The judge saves 45.7 % of the labels.", "saves no"),
        (
            {"labels": 300, "labels_only": 300},
            "A judge like this saves no labels.",
            "of the labels.",
        ),
        ({"labels": None, "reason": "x"}, "Draw at random among the judged", "saves"),
    ],
)
def test_what_the_judge_saves_is_said(known: dict[str, Any], told: str, untold: str) -> None:
    words = said(labels_page(labelled(**known)))
    assert told in words
    assert untold not in words


def test_a_width_on_average_and_one_that_is_sure_are_told_apart() -> None:
    average = said(labels_page(labelled(assurance=None)))
    assert "about half of all samples come out wider" in average
    sure = said(labels_page(labelled(assurance=0.9, on_average=300, only_on_average=500)))
    assert "by about half of all samples: 300 answers, or 500 answers without the judge." in sure
    assert "come out wider" not in sure
    alone = labelled(assurance=0.9, on_average=None, only_on_average=500, labels=None, reason="x")
    assert "of all samples: 500 answers without the judge." in said(labels_page(alone))
    neither = labelled(assurance=None, labels=None, reason="x")
    assert "on average" not in said(labels_page(neither))


def test_whole_questions_are_told_beside_answers() -> None:
    found = labelled(labels=40, questions=20, labels_only=80, questions_only=1)
    words = said(labels_page(found))
    assert "label 40 answers (20 whole questions)" in words
    assert "80 answers (1 whole question) without the judge" in words
    assert "--whole-questions --n N" in words


@pytest.mark.parametrize(
    ("method", "words"),
    [("ppi_plus_plus", "by PPI++"), ("poststratified", "post-stratified"),
     ("labels_only", "from the labels alone")],
)  # fmt: skip
def test_the_estimate_that_was_planned_for_is_named(method: str, words: str) -> None:
    assert f"calibrate RUN --labels FILE, {words}." in said(labels_page(labelled(method=method)))


def test_rows_that_share_questions_are_told_with_their_design_effect() -> None:
    known = rate_known(rows_per_question=2.5, design_effect=1.25)
    words = said(labels_page(label_size(known, 0.04)))
    assert "judged 2,000 rows, 2.5 per question; design effect 1.25" in words
    assert "per question" not in said(labels_page(label_size(rate_known(), 0.04)))
