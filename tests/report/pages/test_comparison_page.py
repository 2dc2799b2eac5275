"""The pages of comparisons and of fitted weights."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun, CorrectedMean
from ragstone.analysis.comparison.comparison_result import (
    NARROW,
    Comparison,
    Comparisons,
    PairedWinRate,
    Ranked,
)
from ragstone.analysis.composite_weights.fit_weights import Fit, FittedWeights, Weight
from ragstone.report.number_format import VERDICTS
from ragstone.report.page import (
    Bar,
    Count,
    Facts,
    IntervalCell,
    Mark,
    Number,
    P,
    Page,
    Row,
    RowName,
    Scale,
    Verdict,
    parts,
    plain,
    quiet,
)
from ragstone.report.pages.comparison_page import comparison_page, weights_page
from ragstone.report.render.documents import as_html, as_markdown
from ragstone.report.render.terminal import as_text
from ragstone.report.sentences.analysis_words import whose_numbers

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
        "cluster": "question_id", "adjust": "holm", "family": 3,
        "level": 0.95, "margin": None, "seed": 0, "resamples": 10_000,
    }  # fmt: skip
    return Comparisons(**(facts | known))


def rows(page: Page) -> list[Row]:
    return page.tables[0].rows


def test_the_header_says_whose_numbers_are_compared_and_a_line_what_labels_corrected() -> None:
    means = (({"system": "one"}, CorrectedMean(0.5, 0.25, 0.75, 30, 99)),)
    run = CheckedRun({"hit": CheckedMetric(("local",), 30, 0.5, None, means)}, 30, 2)
    checked = {name: run.of_system(name) for name in ("one", "two")}
    sliced = compared(slice={"half": "first"})
    result = found(compared(), compared(metric="mrr"), sliced, checked=checked)
    page = comparison_page(result)
    printed = as_text(page, 160)
    assert "numbers   the local judge, checked against people on hit" in printed
    line = "hit corrected by people, over all answers: one 0.500 (0.250 – 0.750)\n"
    assert printed.count(line) == printed.count("corrected by people") == 1
    record: Any = page.record()
    first, other, of_slice = record["comparisons"]
    assert first["corrected_a"] == {
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
        "n_labels": 30,
        "n_judged": 99,
    }
    nothing = [first["corrected_b"], other["corrected_a"], of_slice["corrected_a"]]
    assert nothing == [None] * 3
    assert record["checked"]["two"]["hit"]["checked"] is True
    none = CheckedRun({"hit": CheckedMetric(("openai:m",), 0, None, "no_label_checked")})
    both = found(compared(), checked={"one": run.of_system("one"), "two": none})
    assert whose_numbers(both.checked) == (
        "one: the local judge, checked against people on hit; "
        "two: openai:m, which no label has checked here"
    )
    assert whose_numbers({"one": CheckedRun({})}).startswith("counted or measured")
    assert whose_numbers({"one": CheckedRun({}, people=("hit",))}) == (
        "people; no judge's opinion is in them"
    )


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


def test_pairs_needed_stand_under_what_they_are_for() -> None:
    show = compared(verdict="cannot_tell", n_needed=70)
    equal = compared(verdict="cannot_tell", n_needed=3401, low=-0.1, p=0.5)
    page = comparison_page(found(show, equal, compared()))
    assert [" ".join(one.head.split()) for one in page.tables[0].columns[-2:]] == [
        "pairs to show this difference", "pairs for equivalence",
    ]  # fmt: skip
    assert [row.cells[-2:] for row in rows(page)] == [
        (Count(70), ""), ("", Count(3401)), ("", ""),
    ]  # fmt: skip
    assert "pairs to show this difference: estimate: with so many, p would be" in small_print(page)
    assert "pairs for equivalence: estimate: with so many, half the interval" in small_print(page)
    alone = comparison_page(found(show))
    assert len(alone.tables[0].columns) == len(page.tables[0].columns) - 1
    assert "equivalence" not in small_print(alone)


def test_few_pairs_stand_behind_the_verdict() -> None:
    page = comparison_page(found(compared(n_pairs=8)))
    assert [row.verdict.note for row in rows(page) if row.verdict] == ["8 pairs only"]
    assert "N pairs only" in small_print(page)
    assert "N pairs only" not in small_print(comparison_page(found(compared())))
    narrow = compared(verdict="cannot_tell", n_needed_reason=NARROW)
    assert "cannot tell without a number" in small_print(comparison_page(found(narrow)))


def test_what_has_the_same_inputs_is_one_line_below_the_table() -> None:
    same = compared(metric="mrr", verdict="same", wins=0, ties=40, losses=0,
                    reasons=("same_inputs?differing=0&pairs=40",))  # fmt: skip
    sliced = replace(same, metric="ndcg", slice={"topic": "sea"})
    page = comparison_page(found(compared(), same, sliced))
    line = (
        "Not tested because inputs, judge and prompts are the same on every pair, 2 rows: mrr, "
        "ndcg (sea)"
    )
    assert [row.names[0] for row in rows(page)] == ["hit"]
    for shown in (small_print(page), as_markdown(page), as_html(page)):
        assert line in shown
        assert shown.count("mrr") == 1
    nothing_else = comparison_page(found(same))
    assert nothing_else.tables == []
    assert "1 row: mrr" in small_print(nothing_else)


def test_the_same_inputs_judged_otherwise_are_still_told() -> None:
    noise = compared(verdict="cannot_tell", wins=1, ties=38, losses=1,
                     reasons=("same_inputs?differing=2&pairs=40",))  # fmt: skip
    page = comparison_page(found(noise))
    assert "2 of 40 pairs have different scores" in small_print(page)
    assert "Not tested" not in small_print(page)


def test_questions_on_which_only_one_has_a_score_are_counted_below_the_table() -> None:
    ones = [compared(n_only_a=20), compared(metric="mrr", n_only_a=3, n_only_b=1)]
    assert (
        "Not compared: 20 questions on which only one has a score (for hit; fewer for 1 more "
        "metric) and 1 question on which only two has a score (for mrr)."
    ) in small_print(comparison_page(found(*ones)))
    assert "Not compared" not in small_print(comparison_page(found(compared())))


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


def heads(page: Page, table: int = 0) -> list[str]:
    return [column.head for column in page.tables[table].columns]


def notes(page: Page, section: int, name: str) -> list[str]:
    """What is said under a name in the facts of a section."""
    (facts,) = page.sections[section].blocks
    assert isinstance(facts, Facts)
    return [plain(one.words) for one in facts.rows if one.name == name]


def test_each_figure_of_a_pair_stands_under_its_head() -> None:
    page = comparison_page(found(compared(), adjust="bh"))
    figures = ["a", "b", "a - b", "rel.", "win", "d", "p BH", "w/t/l", "verdict"]
    assert heads(page) == ["metric", *figures]
    sliced = comparison_page(found(compared(), compared(slice={"topic": "sea"})))
    assert heads(sliced)[:3] == ["metric", "slice", "a"]
    assert heads(sliced)[-3] == "p Holm"
    assert len(heads(sliced)) == len(rows(sliced)[0].cells)


def test_what_matters_least_goes_first_where_it_is_narrow() -> None:
    """The verdict and the difference always stay."""
    (table,) = comparison_page(found(compared())).tables
    ranks = {column.head: column.drop for column in table.columns}
    assert [head for head, rank in ranks.items() if rank == 0] == [
        "metric", "a - b", "p Holm", "verdict",
    ]  # fmt: skip
    assert ranks["rel."] == ranks["win"] == ranks["d"] < ranks["w/t/l"] < ranks["a"] == ranks["b"]


@pytest.mark.parametrize(
    ("known", "name", "said"),
    [
        ({}, "compared", "runs/a  1 pair of systems · 1 metric"),
        ({"runs": ("r", "s")}, "compared", "r against s  1 pair of systems · 1 metric"),
        ({}, "paired", "question by question"),
        ({"cluster": "doc"}, "paired", "question by question; clusters by doc"),
        ({"margin": 0.05}, "margin", "±0.05, in the unit of each metric"),
    ],
)
def test_the_header_says_what_is_compared_and_how(
    known: dict[str, Any], name: str, said: str
) -> None:
    assert notes(comparison_page(found(compared(), **known)), 0, name) == [said]


def test_pairs_and_metrics_are_counted_once_each() -> None:
    ones = [compared(b=b, metric=m, slice=s) for b in ("x", "y") for m in ("hit", "mrr", "f1")
            for s in (None, {"t": "1"})]  # fmt: skip
    page = comparison_page(found(*ones))
    assert notes(page, 0, "compared") == ["runs/a  2 pairs of systems · 3 metrics"]
    (unstated,) = notes(page, 0, "margin")
    assert unstated.startswith("none given, so nothing can be called equivalent")


@pytest.mark.parametrize(
    ("verdict", "tone"),
    [("better", "good"), ("worse", "bad"), ("equivalent", "equal"), ("cannot_tell", "quiet")],
)
def test_a_verdict_its_interval_and_its_count_have_one_tone(verdict: str, tone: str) -> None:
    page = comparison_page(found(compared(verdict=verdict)))
    (row,) = rows(page)
    assert row.verdict is not None
    assert row.verdict.tone == interval(row).tone == tone
    assert parts(page.sections[1].title)[-1].tone == tone


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("t", "t  a mean difference, one pair per cluster"),
        ("cluster_t", "cluster t  a mean difference, clustered"),
        ("bounded_wilson", "b. Wilson  all pairs have the same difference: by the share of "
         "pairs that might differ from it, and the range of the metric"),
        ("newcombe", "Newcombe  a difference of two rates on the same questions"),
    ],
)  # fmt: skip
def test_an_interval_of_a_difference_is_not_explained_as_one_of_a_mean(
    method: str, said: str
) -> None:
    page = comparison_page(found(compared(method=method), compared(method=method)))
    assert notes(page, -1, "intervals") == [said]


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("mcnemar_exact", "McNemar's exact test  rates, one pair per cluster"),
        ("sign_flip_exact", "sign flips  all of them, as there are few clusters"),
        ("sign_flip", "sign flips  10,000 at random, seed 7"),
    ],
)
def test_each_test_is_explained_once(test: str, said: str) -> None:
    ones = (compared(test=test), compared(test=test), compared(test=None, p=None))
    assert notes(comparison_page(found(*ones, seed=7)), -1, "tests") == [said]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"family": 3}, "Holm  at most a 5 % chance of any false finding; over 3 comparisons"),
        ({"family": 1, "level": 0.9},
         "Holm  at most a 10 % chance of any false finding; over 1 comparison"),
        ({"adjust": "bh"},
         "BH  Benjamini-Hochberg: at most 5 % of the findings false, on average; over 3 "
         "comparisons"),
    ],
)  # fmt: skip
def test_how_p_was_adjusted_is_said_with_its_error_and_its_family(
    known: dict[str, Any], said: str
) -> None:
    assert notes(comparison_page(found(compared(), **known)), -1, "adjusted") == [said]


def reading(page: Page) -> str:
    return " ".join(notes(page, -1, "reading"))


def test_words_are_explained_where_they_occur() -> None:
    plain_one = reading(comparison_page(found(compared())))
    assert "equivalent" not in plain_one
    with_margin = reading(comparison_page(found(compared(), margin=0.1)))
    assert "p ≤ 5 % after the same adjustment" in with_margin


@pytest.mark.parametrize(("far", "drawn"), [(2.0, True), (2.01, False)])
def test_a_difference_beyond_two_is_not_drawn(far: float, drawn: bool) -> None:
    for ends in ({"high": far}, {"low": -far}, {"difference": far, "high": far}):
        scale = interval(rows(comparison_page(found(compared(**ends))))[0]).scale
        assert (scale is not None) is drawn


def test_a_difference_of_nothing_has_no_scale() -> None:
    nothing = compared(difference=0.0, low=0.0, high=0.0, margin=None)
    assert interval(rows(comparison_page(found(nothing)))[0]).scale is None
    with_margin = compared(difference=0.0, low=0.0, high=0.0, margin=0.1)
    scale = interval(rows(comparison_page(found(with_margin)))[0]).scale
    assert scale is not None
    assert (scale.low, scale.high) == (-0.1, 0.1)


def placed(metric: str, system: str, share: float) -> Ranked:
    return Ranked(
        metric=metric, system=system, strength=0.0, low=0.0, high=0.0, win_probability=share,
        win_low=0.0, win_high=1.0, win_share=share, n=9, method="bradley_terry", reason=None,
    )  # fmt: skip


def test_a_metric_is_ranked_as_soon_as_one_system_is_ahead() -> None:
    """Of three systems b is ahead of c, and a wins half of its pairs."""
    ranking = tuple(placed("hit", name, share) for name, share in
                    (("a", 0.5), ("b", 0.75), ("c", 0.25)))  # fmt: skip
    page = comparison_page(found(compared(), ranking=ranking))
    assert heads(page, 1) == ["metric", "a", "b", "c"]
    assert plain(page.sections[2].title).startswith("Ranking  Bradley-Terry")
    (row,) = page.tables[1].rows
    assert [one.value for one in row.cells if isinstance(one, IntervalCell)] == [0.5, 0.75, 0.25]


def test_each_ranked_metric_has_a_row_with_the_systems_in_one_order() -> None:
    ranking = (placed("hit", "b", 0.75), placed("hit", "a", 0.25), placed("mrr", "a", 1.0),
               placed("mrr", "b", 0.0), placed("f1", "a", 0.5), placed("f1", "b", 0.5))  # fmt: skip
    page = comparison_page(found(compared(), ranking=ranking))
    assert heads(page, 1) == ["metric", "b", "a"]
    assert [row.names for row in page.tables[1].rows] == [["hit"], ["mrr"]]
    mrr = page.tables[1].rows[1].cells
    assert [one.value for one in mrr if isinstance(one, IntervalCell)] == [0.0, 1.0]


def test_what_cannot_be_told_of_a_slice_is_not_of_note() -> None:
    slice_ = compared(slice={"t": "x"}, metric="mrr", reasons=("no_direction",))
    assert notes(comparison_page(found(compared(), slice_)), -1, "note") == []


def test_up_to_six_metrics_are_named_with_a_reason() -> None:
    six = [compared(metric=f"m{at}", reasons=("no_direction",)) for at in range(6)]
    (said,) = notes(comparison_page(found(*six)), -1, "note")
    assert said.endswith(": m0, m1, m2, m3, m4, m5")


def fitted(**known: Any) -> FittedWeights:
    facts: dict[str, Any] = {
        "sort": "preference", "run": "runs/a", "source": "people.csv", "start_name": "equal",
        "weights": (Weight("hit", 0.5, 0.75, 0.5, 1.0), Weight("mrr", 0.5, 0.0, 0.0, 0.25)),
        "start": Fit("equal()", 0.5, 0.75, 0.5, 0.875),
        "fitted": Fit("composite(x)", 0.25, 0.875, 0.75, 1.0), "gain": 0.25, "gain_low": 0.125,
        "gain_high": 0.375, "kept": "fitted", "why": "the gain is above 0", "n": 40,
        "n_questions": 20, "n_annotators": 1, "n_ties": 0, "left_out": {}, "n_left_out": 0,
        "excluded": {}, "folds": 5, "seed": 0, "level": 0.95,
    }  # fmt: skip
    return FittedWeights(**(facts | known))


def weight_rows(found: FittedWeights, table: int) -> list[Row]:
    return weights_page(found).tables[table].rows


def said(found: FittedWeights) -> str:
    return " ".join(as_text(weights_page(found), 400).split())


def test_a_weight_stands_beside_what_it_was_and_how_far_it_goes() -> None:
    hit, mrr = weight_rows(fitted(), 0)
    assert hit.cells[:4] == (
        RowName("hit"), Number(0.5, 2, tone="quiet"), Number(0.75, 2, strong=True),
        quiet("0.50 – 1.00"),
    )  # fmt: skip
    bar = hit.cells[4]
    assert isinstance(bar, Bar)
    assert ([part.size for part in bar.parts], bar.whole) == ([0.5, 0.25, 0.25], 1.0)
    assert mrr.cells[2] == Number(0.0, 2, tone="quiet")


def test_without_a_fit_there_are_no_weights() -> None:
    (hit, _) = weight_rows(fitted(fitted=Fit(None, 0.5, None, None, None)), 0)
    assert hit.cells[2:4] == (Number(None, 2, strong=True), quiet("–"))


def test_concordance_is_drawn_from_chance_where_it_is_above() -> None:
    start, found, gain = weight_rows(fitted(), 1)
    assert start.cells[2] == IntervalCell(0.75, 0.5, 0.875, Scale(0.5, 1), strong=False)
    assert found.cells[1] == IntervalCell(0.25, None, None, strong=False)
    assert gain.cells[1] == IntervalCell(0.25, 0.125, 0.375)
    below = fitted(start=Fit("equal()", 0.5, 0.75, 0.25, 0.875))
    drawn = weight_rows(below, 1)[0].cells[2]
    assert isinstance(drawn, IntervalCell)
    assert drawn.scale == Scale(0, 1, (Mark(0.5, "chance"),))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "keep the fitted weights: the gain is above 0."),
        ({"kept": "start"}, "keep the starting weights"),
        ({}, "use ragstone score runs/a --metric 'composite(x)'"),
        ({"n_ties": 2}, "people 40 pairs on 20 questions, by 1 annotator; 2 ties"),
        ({"sort": "rating", "n": 1}, "people 1 rating on 20 questions"),
        ({"left_out": {"hit": 3}, "n_left_out": 3}, "3 pairs without a score: hit 3"),
        ({"excluded": {"words": "no range"}}, "excluded words: no range"),
        ({}, "folds 5 of whole questions, seed 0"),
    ],
)
def test_what_is_said_beside_the_tables(known: dict[str, Any], words: str) -> None:
    assert words in said(fitted(**known))


def test_the_starting_weights_are_named_where_there_is_room() -> None:
    page = weights_page(fitted(start_name="ragas_score"))
    assert page.tables[0].columns[1].head == "ragas_score"
    long = weights_page(fitted(start_name='composite(weights="hit:1")'))
    assert long.tables[0].columns[1].head == "start"
    assert "squared error" in said(fitted(sort="rating"))


def weight_heads(found: FittedWeights, table: int) -> list[str]:
    return [column.head for column in weights_page(found).tables[table].columns]


def test_each_figure_of_a_fit_stands_under_its_head() -> None:
    assert weight_heads(fitted(), 0) == ["metric", "equal", "fitted", "across folds", ""]
    scores = ["on held-out\nquestions", "log loss", "concordance"]
    assert weight_heads(fitted(), 1) == scores
    assert weight_heads(fitted(sort="rating"), 1) == [scores[0], "squared error", scores[2]]
    levels = [column.level for column in weights_page(fitted(level=0.9)).tables[1].columns]
    assert levels == [None, 0.9, 0.9]


@pytest.mark.parametrize(
    ("name", "head"), [("a" * 15, "a" * 15), ("a" * 16, "start"), ("ragas_score", "ragas_score")]
)
def test_a_name_of_the_starting_weights_heads_its_column_where_it_is_short(
    name: str, head: str
) -> None:
    assert weight_heads(fitted(start_name=name), 0)[1] == head


def test_equal_weights_are_called_so_and_others_what_one_starts_from() -> None:
    names = [row.names for row in weight_rows(fitted(), 1)]
    assert names == [["equal weights"], ["fitted weights"], ["gain"]]
    assert weight_rows(fitted(start_name="ragas_score"), 1)[0].names == ["starting weights"]


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        (Weight("hit", 0.5, 0.75, 0.5, 1.0), [0.5, 0.25, 0.25]),
        (Weight("hit", 0.5, 0.25, 0.5, 0.75), [0.25, 0.0, 0.5]),
        (Weight("hit", 0.5, 0.5, 0.0, 0.25), [0.0, 0.5, 0.0]),
    ],
)
def test_a_bar_has_what_all_folds_agree_on_what_the_fit_adds_and_what_some_fold_adds(
    weight: Weight, parts: list[float]
) -> None:
    """The weight of the fit on all need not lie among those of the folds."""
    bar = weight_rows(fitted(weights=(weight,)), 0)[0].cells[4]
    assert isinstance(bar, Bar)
    assert [part.size for part in bar.parts] == parts
    assert [part.level for part in bar.parts] == [0, 1, 5]


@pytest.mark.parametrize(
    ("start", "end", "above"),
    [(0.5, 0.5, True), (0.49, 0.6, False), (0.6, 0.49, False), (None, None, True)],
)
def test_the_scale_begins_at_chance_unless_anything_lies_below_it(
    start: float | None, end: float | None, above: bool
) -> None:
    found = fitted(start=Fit("equal()", 0.5, 0.75, start, 0.9), fitted=Fit("x", 0.5, 0.8, end, 1))
    for row in weight_rows(found, 1)[:2]:
        drawn = row.cells[2]
        assert isinstance(drawn, IntervalCell)
        assert drawn.scale == (Scale(0.5, 1) if above else Scale(0, 1, (Mark(0.5, "chance"),)))


def test_nothing_left_out_is_not_told() -> None:
    assert "left out" not in said(fitted())
    assert "1 rating without a score: hit 1,000" in said(
        fitted(sort="rating", left_out={"hit": 1000}, n_left_out=1)
    )
    assert "tie" not in said(fitted(n_annotators=2))
    assert "by 2 annotators" in said(fitted(n_annotators=2))
