"""Whether a judge can be believed: each template, from numbers made by hand."""

from types import SimpleNamespace as Made
from typing import Any

from ragstone.report.page import plain
from ragstone.report.sentences.judge_words import calibration_sentences, people_sentences


def interval(low: float, high: float) -> Any:
    return Made(low=low, high=high)


def estimate(judge: float, corrected: float | None = 0.8) -> Any:
    inside = None if corrected is None else interval(corrected - 0.05, corrected + 0.05)
    return Made(
        metric="answer_coverage",
        group={},
        judge=Made(value=judge),
        corrected=Made(value=corrected, interval=inside),
    )


def share(value: float | None) -> Any:
    inside = None if value is None else interval(value - 0.1, value + 0.1)
    return Made(value=value, interval=inside)


GRADED = Made(
    kind="metric", column="answer_coverage", n=242, yes=None, weighting="quadratic", bias=(),
    kappa=Made(value=0.68, interval=interval(0.59, 0.75)),
)  # fmt: skip
BINARY = Made(
    kind="grounding", column="unsupported_claim_present", n=100, weighting="nominal", bias=(),
    kappa=Made(value=0.5, interval=None),
    yes=Made(counts=((40, 34), (4, 22)), sensitivity=share(0.85), precision=share(0.39)),
)  # fmt: skip


def said(*estimates: Any, checks: Any = (), not_random: Any = ()) -> str:
    found: Any = Made(
        estimates=estimates, checks=checks, not_random=not_random, assume_random=False
    )  # fmt: skip
    return plain(calibration_sentences(found))


def test_a_mean_outside_what_people_give_holds_only_after_correction() -> None:
    assert said(estimate(0.709), checks=(GRADED,)) == (
        "Only after correction. On 242 labelled answers the judge agrees with people on answer "
        "coverage with a weighted κ of 0.68 (0.59 – 0.75), where 0 is chance and 1 the same on "
        "all. Use the corrected means: answer coverage 0.800 (0.750 – 0.850), not 0.709."
    )


def test_a_mean_inside_is_told_beside_the_corrected_one() -> None:
    assert said(estimate(0.79)) == (
        "Nothing speaks against its means so far. Answer coverage is 0.790 by the judge, 0.800 "
        "(0.750 – 0.850) corrected."
    )


def test_yes_and_no_are_told_by_what_it_finds_and_how_often_it_is_right() -> None:
    assert said(checks=(BINARY,)) == (
        "Of 100 labels of unsupported claim present the judge says yes to 56 %, people to 26 %. "
        "It finds 85 % of people's yes (75 – 95) and is right in 39 % of its own (29 – 49). "
    )


def test_labels_that_are_no_random_sample_correct_nothing() -> None:
    assert said(estimate(0.7, None), not_random=("because",)) == (
        "Not by these labels: they are not a random sample of what was judged, so nothing is "
        "corrected. "
    )


def test_the_system_on_which_it_is_furthest_from_people_is_named() -> None:
    def bias(group: str, value: float, low: float, high: float) -> Any:
        return Made(by="system", of=Made(group=group, value=value, interval=interval(low, high)))

    biases = (bias("a", -0.1, -0.15, -0.05), bias("b", 0.2, 0.1, 0.3), bias("c", 0.4, -0.1, 0.9))
    check = Made(**{**vars(GRADED), "bias": biases})
    assert "It lies furthest above people on b, by 0.200 (0.100 – 0.300)." in said(checks=(check,))


def test_without_variation_nothing_can_be_told() -> None:
    check = Made(**{**vars(GRADED), "kappa": Made(value=None, interval=None)})
    assert said(checks=(check,)) == (
        "On 242 labelled answers nothing can be told of how far it agrees with people on answer "
        "coverage. "
    )


def column(name: str, alpha: float | None) -> Any:
    inside = None if alpha is None else interval(alpha - 0.1, alpha + 0.1)
    found = {"krippendorff_alpha": Made(value=alpha, interval=inside)}
    return Made(name=name, n_shared=249, coefficients=found)


def test_people_agree_best_on_one_label_and_least_on_another() -> None:
    ones = [column("a_b", 0.05), column("c", 0.46), column("d", None)]
    assert plain(people_sentences(ones)) == (
        "Two or more people labelled 249 items. They agree best on c (α 0.46, 0.36 – 0.56) and "
        "least on a b (α 0.05, −0.05 – 0.15), where 0 is chance. What people are divided on, no "
        "judge can get right."
    )
    assert "They agree by α 0.46, 0.36 – 0.56 on c" in plain(people_sentences(ones[1:]))
    assert people_sentences(ones[2:]) == []
