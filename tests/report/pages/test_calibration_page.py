"""The pages of a calibration and of a judge's passport: what their cells hold."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from ragstone.analysis import Calibration, Passport
from ragstone.analysis.calibration.column_checks import JudgeCheck
from ragstone.analysis.calibration.corrected_means import CorrectedEstimate, NotRandom
from ragstone.analysis.calibration.judge_identity import FlipRate, JudgeIdentity
from ragstone.report.page import (
    Bin,
    Count,
    Facts,
    IntervalCell,
    Mark,
    Number,
    Page,
    Paragraphs,
    Phrase,
    Reliability,
    Row,
    RowName,
    Scale,
    Why,
    plain,
    quiet,
)
from ragstone.report.pages.calibration_page import calibration_page, passport_page
from ragstone.report.render.documents import as_markdown
from ragstone.report.render.terminal import as_text
from ragstone.stats import Interval as Ends
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.stats.cluster_means import MeanEstimate
from ragstone.stats.correction.corrected import Corrected
from ragstone.stats.judge_quality.bias_and_calibration import (
    CalibrationBin,
    CalibrationError,
    GroupBias,
)
from ragstone.stats.judge_quality.confusion import Confusion, Threshold
from ragstone.stats.judge_quality.rank_measures import JudgeMeasure

METRIC = "unsupported_claim"
PASSPORT: dict[str, Any] = {
    "judge": JudgeIdentity(judges=["local"], plan=""),
    "date": "2025-01-02",
    "data": "e7342ba47bb8ff",
    "source": "cornwall.jsonl",
    "labels": "75ab73f80330ff",
    "annotators": 1,
    "n_examples": 1,
    "agreement": [],
    "estimates": [],
    "flips": [],
    "order": None,
    "injection": [],
}


def ends(low: float, high: float) -> Ends:
    return Ends(low, high, 0.95, "wilson")


def estimate(system: str = "", *flags: str, **known: Any) -> CorrectedEstimate:
    labels = Corrected(0.25, ends(0.125, 0.5), "labels_only", 14, 8.0)
    corrected = Corrected(0.375, ends(0.25, 0.5), "poststratified", 14, 10.4, flags=flags)
    facts: dict[str, Any] = {
        "metric": METRIC,
        "group": {"system": system} if system else {},
        "judge": MeanEstimate(0.5, ends(0.375, 0.625), 24, 8),
        "labels": labels,
        "corrected": corrected,
        "kappa": AgreementCoefficient(0.5, None, 14, ends(0.25, 0.75)),
        "rate": True,
    }
    return CorrectedEstimate(**(facts | known))


def share(value: float | None = 0.75) -> JudgeMeasure:
    return JudgeMeasure(value, None if value is None else ends(0.5, 1.0), 14)


def check(**known: Any) -> JudgeCheck:
    yes: Any = Confusion((0, 1), ((7, 2), (1, 4)), 14, share(), share(), share(), share(), None)
    facts: dict[str, Any] = {
        "kind": "grounding", "column": "unsupported_claim_present", "n": 14, "effective": 14.0,
        "words": yes, "yes": yes, "kappa": AgreementCoefficient(0.5, None, 14, ends(-0.25, 0.875)),
        "weighting": "nominal", "auroc": None, "error": None, "spearman": None, "kendall": None,
        "threshold": None, "bias": (), "beside": {},
    }  # fmt: skip
    return JudgeCheck(**(facts | known))


def found(
    estimates: tuple[CorrectedEstimate, ...] = (), checks: tuple[JudgeCheck, ...] = (), **known: Any
) -> Calibration:
    passport = Passport(**(PASSPORT | known.pop("passport", {})))
    facts: dict[str, Any] = {"run": "run", "level": 0.975, "seed": 0, "notes": ()} | known
    return Calibration(
        estimates=estimates, checks=checks, passport=passport, scores=pl.DataFrame(), **facts
    )


def rows(page: Page, table: int = 0) -> list[Row]:
    return page.tables[table].rows


def said(page: Page) -> str:
    return " ".join(as_text(page, 400).split())


def test_each_metric_has_three_ways() -> None:
    judge, labels, corrected = rows(calibration_page(found((estimate("one"),))))
    assert [row.names for row in (judge, labels, corrected)] == [
        [f"{METRIC}, one", word] for word in ("judge", "labels", "corrected")
    ]
    assert judge.cells[2] == IntervalCell(
        0.5, 0.375, 0.625, Scale(0, 1), tone="quiet", strong=False
    )
    assert labels.cells[3:] == (Count(14), Number(8.0, 0), quiet("Wilson"))
    assert corrected.cells[2] == IntervalCell(0.375, 0.25, 0.5, Scale(0, 1))
    assert corrected.cells[3:] == (Count(14), Number(10.4, 0, strong=True), quiet("Wilson"))


def test_what_the_labels_cannot_tell_has_its_reason() -> None:
    none = Corrected(None, None, "labels_only", 0, None, reason="no_labels")
    alone = Corrected(0.25, None, "labels_only", 1, None, reason="one_cluster")
    _, labels, corrected = rows(calibration_page(found((estimate(labels=alone, corrected=none),))))
    assert corrected.cells[2] == Why("unknown", "no labels")
    assert (labels.cells[2], labels.below) == (
        IntervalCell(0.25, None, None, Scale(0, 1), tone="quiet", strong=False),
        (Phrase("one cluster", "caution"),),
    )


def test_a_judge_that_is_right_on_all_is_worth_more_labels_than_can_be_said() -> None:
    sure = Corrected(0.25, ends(0.25, 0.25), "labels_only", 14, float("inf"))
    assert rows(calibration_page(found((estimate(corrected=sure),))))[2].cells[4] == Number(
        None, 0, strong=True
    )
    assert rows(passport_page(found((estimate(corrected=sure),))))[0].cells[5] == Number(None, 0)


def test_the_judge_is_held_against_people_label_by_label() -> None:
    (row,) = rows(calibration_page(found(checks=(check(),))))
    assert row.cells == (
        RowName("grounding.unsupported_claim_present"), Count(14),
        Number(0.75), Number(0.75), Number(0.75),
        IntervalCell(0.5, -0.25, 0.875, Scale(-1, 1, (Mark(0, "chance"),)), strong=False),
    )  # fmt: skip
    heads = [column.head for column in calibration_page(found(checks=(check(),))).tables[0].columns]
    assert heads[1:] == ["n", "agree", "sens.", "spec.", "κ"], "what nobody has is left out"


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_the_page_fits_the_console_and_keeps_every_figure(
    width: int, text: Callable[..., str]
) -> None:
    page = calibration_page(found((estimate("one"), estimate("two")), (check(),)))
    printed = text(page, width)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("0.375 – 0.625") == 2
    assert "-0.250 – 0.875" in printed
    assert ("97.5 % interval" in printed) is True


def test_a_warning_says_what_it_is_about() -> None:
    two = (estimate("one", "few_labels"), estimate("two"))
    assert f"rough ({METRIC}: one)" in said(calibration_page(found(two)))
    both = (estimate("one", "few_labels"), estimate("two", "few_labels"))
    assert "rough (all of them)" in said(calibration_page(found(both)))


def test_one_example_of_one_annotator_is_not_several() -> None:
    assert "1 example, 1 annotator" in said(calibration_page(found((estimate(),))))
    assert "1 example, 1 annotator," in as_markdown(passport_page(found((estimate(),))))


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (Threshold(0.5, "youden", 0.9, 0.7, None, 14, 5, 0), "≥ 0.500 (youden 0.700)"),
        (Threshold(None, "youden", None, None, None, 14, 5, 0, "no_positives"), "no positives"),
        (
            Threshold(0.5, "youden", 0.9, None, None, 14, 5, 0, "too_few"),
            "≥ 0.500 (youden too few)",
        ),
    ],
)
def test_a_threshold_has_its_worth_or_why_it_has_none(threshold: Threshold, words: str) -> None:
    page = calibration_page(found(checks=(check(threshold=threshold),)))
    assert rows(page)[0].below == (quiet(f"threshold {words}"),)
    assert "on labels not used to choose it" in said(page)


def test_why_nothing_can_be_told_stands_below() -> None:
    page = calibration_page(
        found(checks=(check(kappa=AgreementCoefficient(None, "no_variation", 14)),))
    )
    assert rows(page)[0].below == (Phrase("no variation", "caution"),)


def test_the_bins_behind_an_error_are_a_chart() -> None:
    bins = (
        CalibrationBin(0.0, 0.5, 0.25, JudgeMeasure(0.5, ends(0.25, 0.75), 4)),
        CalibrationBin(0.5, 1.0, 0.75, JudgeMeasure(1.0, None, 1)),
    )
    error = CalibrationError(0.25, None, 0.125, bins, 5)
    page = calibration_page(found(checks=(check(error=error),)))
    (chart,) = [block for one in page.sections for block in one.blocks
                if isinstance(block, Reliability)]  # fmt: skip
    assert chart.bins == (Bin(0.25, 0.5, 0.25, 0.75, 4), Bin(0.75, 1.0, 1.0, 1.0, 1))
    assert "perfectly calibrated judge would have about 0.125 here" in said(page)


def test_only_a_bias_that_clears_zero_is_told() -> None:
    sure = "length", GroupBias((3.0, 9.0), 7, -0.25, ends(-0.375, -0.125))
    unsure = "topic", GroupBias("sea", 7, 0.25, ends(-0.125, 0.5))
    page = calibration_page(found(checks=(check(bias=(sure, unsure)),)))
    lines = [plain(words) for one in page.sections for block in one.blocks
             if isinstance(block, Paragraphs) for words in block.lines]  # fmt: skip
    assert lines == [
        "grounding.unsupported_claim_present where length is 3 to 9: the judge says so less often "
        "than people, by 0.250 [0.125 – 0.375], n 7"
    ]


def test_labels_of_unequal_chances_are_explained() -> None:
    assert "unequal chances" not in said(calibration_page(found(checks=(check(),))))
    assert "14 count as 9 drawn at random" in said(
        calibration_page(found(checks=(check(effective=9.4),)))
    )


@pytest.mark.parametrize("assumed", [False, True])
def test_labels_that_are_no_random_sample_come_first(assumed: bool) -> None:
    one = estimate("a", not_random=NotRandom(METRIC, {"system": "a"}, ("only a",), 1e-9))
    page = calibration_page(found((one,), assume_random=assumed))
    first, then = as_text(page, 200).splitlines()[:2]
    assert first == f"The labels are not a random sample: only a, p < .001: {METRIC} (a)"
    assert ("Corrected anyway" in then) is assumed


def test_the_passport_has_an_interval_of_every_figure() -> None:
    page = passport_page(found((estimate(), estimate("one")), (check(effective=9.4),)))
    estimated, checked = page.tables
    assert [row.names for row in estimated.rows] == [[METRIC]], "over all examples"
    assert estimated.rows[0].cells[1:4] == (
        IntervalCell(0.5, 0.375, 0.625, strong=False), IntervalCell(0.25, 0.125, 0.5, strong=False),
        IntervalCell(0.375, 0.25, 0.5, strong=False),
    )  # fmt: skip
    assert checked.rows[0].cells[1:4] == (
        Count(14), Number(9.4, 0), IntervalCell(0.75, 0.5, 1.0, strong=False),
    )  # fmt: skip
    written = as_markdown(page)
    assert written.startswith("# Passport of the judge local\n")
    assert written.count("0.750 (0.500 – 1.000)") == 3


def test_how_steady_a_judge_is_is_measured_or_not() -> None:
    flips = (FlipRate("support.verdict", 0.125, 0.0, 0.25, 40),)
    page = passport_page(found((estimate(),), passport={"flips": flips}))
    written = as_markdown(page)
    assert "| asked again | support.verdict 0.125 (0.000 – 0.250), n 40 |" in written
    assert "| order of two answers | not measured |" in written


def test_the_passport_names_what_the_judge_is_made_of() -> None:
    judge = JudgeIdentity(judges=["a", "b"], models={"a": ["m-1", "m-2"]},
                          prompts={"support": "7f"}, plan="bundled", local=["words/1"])  # fmt: skip
    written = as_markdown(passport_page(found((estimate(),), passport={"judge": judge})))
    assert written.startswith("# Passport of the judge a, b\n")
    for row in ("data | cornwall.jsonl e7342ba47bb8", "model | a: m-1, m-2", "prompt | support 7f",
                "plan | bundled", "local | words/1"):  # fmt: skip
        assert f"| {row} |" in written
    assert "| plan |" not in as_markdown(passport_page(found((estimate(),))))


def heads(page: Page, table: int = 0) -> list[str]:
    return [column.head for column in page.tables[table].columns]


def test_each_figure_of_a_calibration_stands_under_its_head() -> None:
    page = calibration_page(found((estimate(),), (check(),)))
    assert heads(page) == ["corrected by people", "", "value", "labels", "worth", "method"]
    assert heads(page, 1)[:2] == ["judge against people", "n"]
    assert [column.level for column in page.tables[1].columns] == [None] * 5 + [0.975]
    kept = passport_page(found((estimate(),), (check(),)))
    assert heads(kept) == ["metric", "judge", "labels alone", "corrected", "labels", "worth"]
    assert heads(kept, 1) == [
        "label", "n", "worth", "agree", "sens.", "spec.", "κ", "AUROC", "ρ", "ECE",
    ]  # fmt: skip
    for table in (*page.tables, *kept.tables):
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}


def test_each_figure_of_an_agreement_is_of_its_own_measure() -> None:
    """Where a judge gives probabilities and grades there are all seven."""
    yes: Any = Confusion(
        (0, 1), ((7, 2), (1, 4)), 14, share(0.8), share(0.7), share(0.6), share(0.5), None
    )  # fmt: skip
    every = check(
        words=yes, yes=yes, auroc=JudgeMeasure(0.875, None, 14),
        spearman=JudgeMeasure(0.375, None, 14), error=CalibrationError(0.125, None, None, (), 5),
    )  # fmt: skip
    page = calibration_page(found(checks=(every,)))
    assert heads(page)[2:] == ["agree", "sens.", "spec.", "κ", "AUROC", "ρ", "ECE"]
    (row,) = rows(page)
    shown = [cell.value for cell in row.cells[2:] if isinstance(cell, Number | IntervalCell)]
    named = (yes.accuracy, yes.sensitivity, yes.specificity)
    assert shown == [*(one.value for one in named), 0.5, 0.875, 0.375, 0.125]


def small_print(page: Page) -> list[tuple[str, str]]:
    (facts,) = page.sections[-1].blocks
    assert isinstance(facts, Facts)
    return [(one.name, plain(one.words)) for one in facts.rows]


def rate(value: float | None, what: str = "a") -> FlipRate:
    return FlipRate(what, value, None, None, 1)


def test_how_steady_a_judge_is_stands_in_the_small_print() -> None:
    told = dict(small_print(calibration_page(found((estimate(),)))))
    assert [told[name] for name in ("repeats", "injection", "order")] == ["not measured"] * 3
    rates = [rate(0.125, "support.verdict"), rate(0.5, "quality.helpful"), rate(None, "tone")]
    known = {"flips": rates, "injection": rates[1:2], "order": rate(0.25)}
    told = dict(small_print(calibration_page(found((estimate(),), passport=known))))
    assert told["repeats"] == (
        "share of verdicts that changed: support.verdict 0.125; quality.helpful 0.500; tone –"
    )
    assert told["injection"] == "share of verdicts that changed: quality.helpful 0.500"
    assert told["order"] == "decided 0.250 of the pairs"


def test_each_interval_of_a_calibration_is_explained_once() -> None:
    by_ppi = Corrected(0.25, Ends(0.2, 0.3, 0.95, "ppi_plus_plus"), "ppi_plus_plus", 14, 20.0)
    page = calibration_page(found((estimate("a", corrected=by_ppi), estimate("b"))))
    words = [said.split("  ")[0] for name, said in small_print(page) if name == "intervals"]
    assert words == ["Wilson", "PPI++"]


def test_who_judged_and_who_labelled_is_said_first() -> None:
    def header(**passport: Any) -> dict[str, str]:
        (facts,) = calibration_page(found((estimate(),), passport=passport)).sections[0].blocks
        assert isinstance(facts, Facts)
        return {one.name: plain(one.words) for one in facts.rows}

    assert header(n_examples=1200, annotators=3)["people"] == "1,200 examples, 3 annotators"
    assert header()["run"] == "run"
    assert header(judge=JudgeIdentity(judges=["a", "b"]))["judge"].startswith("a, b  ")
    assert header(judge=JudgeIdentity())["judge"].startswith("nobody  ")
    nobody = passport_page(found((estimate(),), passport={"judge": JudgeIdentity()}))
    assert as_markdown(nobody).startswith("# Passport of the judge (nobody)")


def test_a_warning_of_some_groups_names_them_metric_by_metric() -> None:
    ones = (
        estimate("a", "few_labels"), estimate("b", "few_labels"), estimate("c"),
        estimate("", "few_labels", metric="hit"),
    )  # fmt: skip
    assert f"rough ({METRIC}: a, b; hit: all)" in said(calibration_page(found(ones)))
    unknown = Corrected(None, None, "labels_only", 0, None, flags=("few_labels",), reason="no_x")
    nothing = found((estimate("a", corrected=unknown),))
    assert "rough" not in said(calibration_page(nothing)), "there is no interval to be rough"
    own = found((estimate("a", "some_flag"), estimate("b")))
    assert f"some flag ({METRIC}: a)" in said(calibration_page(own))


def test_a_judge_that_says_so_more_often_is_told_so() -> None:
    more = "topic", GroupBias("sea", 1234, 0.25, ends(0.125, 0.5))
    words = said(calibration_page(found(checks=(check(bias=(more,)),))))
    assert (
        "where topic is sea: the judge says so more often than people, by 0.250 "
        "[0.125 – 0.500], n 1,234"
    ) in words
    unsure = "topic", GroupBias("sea", 1, 0.25, None)
    assert "where topic" not in said(calibration_page(found(checks=(check(bias=(unsure,)),))))
    touching = "topic", GroupBias("sea", 9, 0.25, ends(0.0, 0.5))
    assert "where topic" not in said(calibration_page(found(checks=(check(bias=(touching,)),))))


def test_the_same_reason_against_a_random_draw_is_told_once() -> None:
    ones = [
        estimate(system, not_random=NotRandom(METRIC, {"system": system}, why, 1e-9))
        for system, why in (("a", ("only a", "all long")), ("b", ("x",)), ("c", ("x",)))
    ]
    first = as_text(calibration_page(found(tuple(ones))), 400).splitlines()[0]
    assert first.endswith(
        f"only a; all long, p < .001: {METRIC} (a); x, p < .001: {METRIC} (b), {METRIC} (c)"
    )


def test_rates_of_a_passport_have_their_interval_where_there_is_one() -> None:
    flips = [rate(None), rate(0.5, "b"), FlipRate("c", 0.5, 0.25, 0.75, 1200)]
    written = as_markdown(passport_page(found((estimate(),), passport={"injection": flips})))
    assert "| a –, n 1; b 0.500, n 1; c 0.500 (0.250 – 0.750), n 1,200 |" in written
    assert "| asked again | not measured |" in written
