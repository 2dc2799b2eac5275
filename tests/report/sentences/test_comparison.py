"""Two systems in sentences: each template, from numbers made by hand."""

from types import SimpleNamespace
from typing import Any

from ragstone.report.page import plain
from ragstone.report.sentences.judge_words import comparison_sentences


def one(metric: str, verdict: str, difference: float | None = 0.25, **known: Any) -> Any:
    low, high = (None, None) if difference is None else (difference - 0.125, difference + 0.125)
    facts = {"metric": metric, "verdict": verdict, "difference": difference, "a": "new", "b": "old",
             "low": low, "high": high, "n_pairs": 8, "n_undefined": 1, "n_missing": 1,
             "n_needed": None, "margin": 0.05}  # fmt: skip
    return SimpleNamespace(**facts | known)


def said(*ones: Any, lead: str = "") -> str:
    return plain(comparison_sentences(ones, lead))


def test_where_nothing_is_shown_it_says_what_would_settle_it() -> None:
    told = said(one("a_b", "cannot_tell", -0.015, n_needed=1168), one("c", "cannot_tell"))
    assert told == (
        "On 10 shared questions new and old cannot be told apart: no difference is found on any of "
        "2 metrics. A b differs by −0.015 (−0.140 to +0.110, n 8); 1,168 questions would settle it."
    )


def test_the_metric_that_leads_is_told() -> None:
    told = said(one("m", "cannot_tell"), one("n", "cannot_tell", None), lead="n")
    assert told.endswith("on any of 2 metrics.")
    assert "N differs by +0.250" in said(one("m", "cannot_tell"), one("n", "cannot_tell"), lead="n")


def test_equivalent_is_within_the_margin() -> None:
    assert said(one("m", "equivalent"), one("n", "cannot_tell"), lead="m") == (
        "On 10 shared questions new and old cannot be told apart: no difference is found on any of "
        "2 metrics, 1 is shown to be within ±0.05."
    )
    assert said(one("m", "equivalent")) == (
        "On 10 shared questions new and old are equivalent: on m the difference is shown to be "
        "within ±0.05."
    )


def test_better_and_worse_are_counted_and_the_first_told_in_full() -> None:
    better = [one(f"m{n}", "better") for n in range(5)]
    rest = [one("open", "cannot_tell"), one("also", "cannot_tell")]
    assert said(*better, *rest, lead="m1") == (
        "new is better than old on 5 of 7 metrics: m1 +0.250 (+0.125 to +0.375, n 8), m0, m2 and "
        "2 more. On the other 2 no difference is shown."
    )
    assert said(one("m", "worse", -0.25), one("n", "equivalent")) == (
        "new is worse than old on 1 of 2 metrics: m −0.250 (−0.375 to −0.125, n 8). "
        "Within ±0.05 on 1."
    )
    assert said(one("m", "better"), one("n", "worse", -0.25), one("o", "cannot_tell")) == (
        "new is better than old on 1 of 3 metrics: m +0.250 (+0.125 to +0.375, n 8); it is worse "
        "on 1: n −0.250 (−0.375 to −0.125, n 8). On the other one no difference is shown."
    )


def test_nothing_is_tested_on_the_same_inputs_or_without_pairs() -> None:
    assert said(one("m", "same"), one("n", "same")) == (
        "On all 2 metrics new and old were judged on the same inputs, so there is no difference "
        "to test."
    )
    assert said(one("m", "cannot_tell", None, n_pairs=0)) == (
        "new and old have no question on which both have a score, so nothing is compared."
    )


def test_a_long_name_loses_its_middle() -> None:
    told = said(one("m", "equivalent", a="x" * 100 + "1", b="of\ntwo lines"))
    assert told.startswith(f"On 10 shared questions {'x' * 20}…{'x' * 23}1 and of two lines are ")
