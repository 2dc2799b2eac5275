"""Judge words: calibrations, comparisons and queues in a few sentences."""

from dataclasses import replace
from types import SimpleNamespace
from types import SimpleNamespace as Made
from typing import Any

import pytest

from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun
from ragstone.annotation.queue.form import LABEL, AskedLabel, QueueForm
from ragstone.annotation.queue.work_progress import PersonWork, QueueWork
from ragstone.report.page import Phrase, plain
from ragstone.report.sentences.analysis_words import badge, judges_checked
from ragstone.report.sentences.judge_words import (
    Said,
    calibration_sentences,
    comparison_sentences,
    item_noun,
    lacking_sentence,
    order_in_words,
    people_in_words,
    people_sentences,
    queue_sentence,
    queues_sentence,
)


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
        "Only after correction. On 242 labelled answers the judge agrees with people on "
        "answer_coverage with a weighted κ of 0.68 (0.59 – 0.75), where 0 is chance and 1 the same "
        "on all. Use the corrected means: answer_coverage 0.800 (0.750 – 0.850), not 0.709."
    )


def test_a_mean_inside_is_told_beside_the_corrected_one() -> None:
    assert said(estimate(0.79)) == (
        "Its means agree with people's so far. answer_coverage is 0.790 by the judge, 0.800 "
        "(0.750 – 0.850) corrected."
    )


def test_yes_and_no_are_told_by_recall_and_precision() -> None:
    assert said(checks=(BINARY,)) == (
        "On 100 labels of unsupported claim present, the judge says yes to 56 %, people to 26 %. "
        "The judge's recall is 85 % (75 to 95 %) and its precision 39 % (29 to 49 %). "
    )


def test_verdicts_are_named_by_what_they_are_about() -> None:
    check = Made(**{**vars(BINARY), "kind": "support", "column": "verdict"})
    assert said(checks=(check,)).startswith("On 100 labels of support, the judge says yes")


def test_labels_that_are_no_random_sample_correct_nothing() -> None:
    assert said(estimate(0.7, None), not_random=("because",)) == (
        "Not by these labels: they are not a random sample of what was judged, so nothing is "
        "corrected. "
    )


def test_the_system_on_which_it_is_furthest_from_people_is_named() -> None:
    def bias(group: str, value: float, low: float, high: float) -> Any:
        return "system", Made(group=group, value=value, interval=interval(low, high))

    biases = (bias("a", -0.1, -0.15, -0.05), bias("b", 0.2, 0.1, 0.3), bias("c", 0.4, -0.1, 0.9))
    check = Made(**{**vars(GRADED), "bias": biases})
    assert "The judge is furthest above people on b, by 0.200 (0.100 – 0.300)." in said(
        checks=(check,)
    )


def test_without_variation_nothing_can_be_told() -> None:
    check = Made(**{**vars(GRADED), "kappa": Made(value=None, interval=None)})
    assert said(checks=(check,)) == (
        "On 242 labelled answers nothing can be told of how far it agrees with people on "
        "answer_coverage. "
    )


def metric(lacks: str | None, *judges: str, labels: int = 80) -> CheckedMetric:
    return CheckedMetric(judges or ("local:strings",), labels, 0.5, lacks)


def test_a_judge_is_named_with_what_labels_show_of_it() -> None:
    none = CheckedRun({"a": metric("no_label_checked", labels=0)})
    few = CheckedRun({"a": metric("few_labels_checked?n=6&enough=60", labels=6)}, 6)
    some = CheckedRun({"a": metric(None), "b_c": metric("no_label_checked", "openai:m", labels=0)})
    assert judges_checked(none) == "the local judge, which no label has checked here"
    assert judges_checked(few) == (
        "the local judge, not checked against people: 6 labels; about 60 are needed"
    )
    assert judges_checked(some) == ("the local judge and openai:m, checked against people on a")
    assert judges_checked(some.on(["a"])) == "the local judge, checked against people on a"
    assert judges_checked(CheckedRun({})) == ""
    assert judges_checked(CheckedRun({}, people=("d",))) == "people"
    assert judges_checked(CheckedRun(some.metrics, people=("b_c",))).startswith(
        "people, the local judge and openai:m, checked"
    )


def test_a_badge_counts_the_metrics_that_earned_it() -> None:
    of = {"a": metric(None), "b": metric(None), "c": metric("passport_older")}
    assert badge(CheckedRun(of)) == "checked against people on 2 of 3 metrics"
    assert badge(CheckedRun({"c": of["c"]})).startswith("not checked against people: its passport")
    assert badge(CheckedRun({})) == "no metric rests on a judge's opinion"


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


def one(metric: str, verdict: str, difference: float | None = 0.25, **known: Any) -> Any:
    low, high = (None, None) if difference is None else (difference - 0.125, difference + 0.125)
    facts = {"metric": metric, "verdict": verdict, "difference": difference, "a": "new", "b": "old",
             "low": low, "high": high, "n_pairs": 8, "n_undefined": 1, "n_missing": 1,
             "n_needed": None, "margin": 0.05}  # fmt: skip
    return SimpleNamespace(**facts | known)


def compared(*ones: Any, lead: str = "") -> str:
    return plain(comparison_sentences(ones, lead))


def test_where_nothing_is_shown_it_says_what_would_settle_it() -> None:
    open_one = one("a_b", "cannot_tell", -0.015, n_needed=1168, needed_for="equivalence")
    assert compared(open_one, one("c", "cannot_tell")) == (
        "On 10 shared questions new and old cannot be told apart: no difference is found on any of "
        "2 metrics. a_b differs by −0.015 (−0.140 to +0.110, n 8); what would settle it: "
        "1,168 pairs for equivalence."
    )
    open_one = one("a_b", "cannot_tell", n_needed=70, needed_for="difference")
    assert compared(open_one).endswith("; what would settle it: 70 pairs to show this difference.")


def test_the_metric_that_leads_is_told() -> None:
    told = compared(one("m", "cannot_tell"), one("n", "cannot_tell", None), lead="n")
    assert told.endswith("on any of 2 metrics.")
    assert "n differs by +0.250" in compared(
        one("m", "cannot_tell"), one("n", "cannot_tell"), lead="n"
    )


def test_equivalent_is_within_the_margin() -> None:
    assert compared(one("m", "equivalent"), one("n", "cannot_tell"), lead="m") == (
        "On 10 shared questions new and old cannot be told apart: no difference is found on any of "
        "2 metrics, 1 is shown to be within ±0.05."
    )
    assert compared(one("m", "equivalent")) == (
        "On 10 shared questions new and old are equivalent: on m the difference is shown to be "
        "within ±0.05."
    )


def test_better_and_worse_are_counted_and_the_first_told_in_full() -> None:
    better = [one(f"m{n}", "better") for n in range(5)]
    rest = [one("open", "cannot_tell"), one("also", "cannot_tell")]
    assert compared(*better, *rest, lead="m1") == (
        "new is better than old on 5 of 7 metrics: m1 +0.250 (+0.125 to +0.375, n 8), m0, m2 and "
        "2 more. On the other 2 no difference is shown."
    )
    assert compared(one("m", "worse", -0.25), one("n", "equivalent")) == (
        "new is worse than old on 1 of 2 metrics: m −0.250 (−0.375 to −0.125, n 8). "
        "Within ±0.05 on 1."
    )
    assert compared(one("m", "better"), one("n", "worse", -0.25), one("o", "cannot_tell")) == (
        "new is better than old on 1 of 3 metrics: m +0.250 (+0.125 to +0.375, n 8); it is worse "
        "on 1: n −0.250 (−0.375 to −0.125, n 8). On the other one no difference is shown."
    )


def test_nothing_is_tested_on_the_same_inputs_or_without_pairs() -> None:
    assert compared(one("m", "same"), one("n", "same")) == (
        "On all 2 metrics new and old were judged on the same inputs, so there is no difference "
        "to test."
    )
    assert compared(one("m", "cannot_tell", None, n_pairs=0)) == (
        "new and old have no question on which both have a score, so nothing is compared."
    )


def test_a_long_name_loses_its_middle() -> None:
    told = compared(one("m", "equivalent", a="x" * 100 + "1", b="of\ntwo lines"))
    assert told.startswith(f"On 10 shared questions {'x' * 20}…{'x' * 23}1 and of two lines are ")


FORM = QueueForm("q", (AskedLabel("helpful", "answer"),))
WORK = QueueWork(FORM, "2026-11-23T10:00:00+00:00", 300, 0, 0, 300, 0, 0, (), (0, 0, 0))


def person(name: str, saved: int = 0, left: int = 100, pace: float | None = None) -> PersonWork:
    return PersonWork(name, "annotator", None, saved, 0, 0, left, 0, pace, "")


def queue_text(said: Said) -> str:
    return "".join(one.text if isinstance(one, Phrase) else one for one in said)


def of(*people: PersonWork, **changed: Any) -> str:
    return queue_text(queue_sentence(replace(WORK, people=people, **changed)))


def test_a_queue_without_people_waits() -> None:
    assert of() == "Nobody has a link yet: 300 answers wait."
    out = replace(person("Ann"), revoked="2026-11-23T10:00:00+00:00")
    assert of(out) == "Nobody has a link yet: 300 answers wait."


def test_a_queue_that_nobody_began_names_who_could() -> None:
    said = of(person("Ann"), person("Ben"))
    assert said == "Nothing is labelled yet: 300 answers wait for Ann and Ben."


def test_a_queue_says_who_labelled_how_much() -> None:
    one = of(person("Ann", 120), labelled=120, finished=120, given=120)
    assert one == "Ann has labelled 120 of 300 answers."
    people = [person(name, 30) for name in ("Ann", "Ben", "Cem", "Dan")]
    four = of(*people, labelled=120, finished=120, given=120)
    assert four == "Ann, Ben and 2 others have labelled 120 of 300 answers."


def test_where_several_label_an_item_it_says_how_many_are_done() -> None:
    people = (person("Ann", 60), person("Ben", 60))
    said = of(*people, labelled=80, finished=40, wanted=600, given=120)
    assert said == ("Ann and Ben have labelled 80 of 300 answers, 40 of them as often as wanted.")


@pytest.mark.parametrize(
    ("pace", "time"),
    [
        (90, "about 2 hours"),
        (180, "about 60 minutes"),
        (1080, "about 10 minutes"),
        (3600, "about 3 minutes"),
        (36_000, "a minute"),
        (7.2, "about 25 hours"),
        (48, "about 4 hours"),
        (51, "about 3.5 hours"),
    ],
)
def test_the_rest_is_told_at_the_pace_of_those_at_work(pace: float, time: str) -> None:
    said = of(person("Ann", 120, 180, pace), labelled=120, finished=120, given=120)
    assert said == f"Ann has labelled 120 of 300 answers; at this pace the rest takes {time}."


def test_a_finished_queue_says_by_whom() -> None:
    people = (person("Ann", 200, 0), person("Ben", 100, 0))
    done = of(*people, labelled=300, finished=300, given=300)
    assert done == "All 300 answers are labelled by Ann and Ben."
    twice = of(*people, labelled=300, finished=300, wanted=600, given=600)
    assert twice == "All 300 answers are labelled by Ann and Ben, each by as many people as wanted."


def test_people_who_lack_are_told() -> None:
    assert lacking_sentence(WORK) == ""
    assert lacking_sentence(replace(WORK, lacking=1)).startswith("1 more label is wanted than")
    assert lacking_sentence(replace(WORK, lacking=30)).startswith("30 more labels are wanted than")


def test_several_queues_are_told_together() -> None:
    done = replace(WORK, given=300)
    half = replace(WORK, given=299)
    assert queues_sentence([]) == []
    assert queue_text(queues_sentence([WORK])) == "Nobody has a link yet: 300 answers wait."
    assert queue_text(queues_sentence([done, half])) == "1 of 2 queues waits for 1 more label."
    assert queue_text(queues_sentence([half, half])) == "2 of 2 queues wait for 2 more labels."
    assert queue_text(queues_sentence([done, done])) == "All 2 queues are finished."


@pytest.mark.parametrize(
    ("asked", "together", "noun"),
    [
        ((AskedLabel("helpful", "answer"),), True, "answer"),
        ((AskedLabel("misleading", "context"),), False, "passage"),
        ((AskedLabel("misleading", "context"),), True, "example"),
        ((AskedLabel("support", "claim"),), False, "claim"),
        ((AskedLabel("support", "claim"), AskedLabel("helpful", "answer")), False, "item"),
        ((AskedLabel(LABEL, "answer"),), False, "pair"),
    ],
)
def test_what_is_labelled_has_its_name(
    asked: tuple[AskedLabel, ...], together: bool, noun: str
) -> None:
    assert item_noun(replace(FORM, asked=asked, together=together)) == noun


def test_the_form_of_a_queue_is_told() -> None:
    assert people_in_words(FORM) == "1 person each"
    assert people_in_words(replace(FORM, per_item=3)) == "3 people each"
    assert order_in_words(FORM) == "all, in random order"
    doubt = replace(FORM, route="doubt", most=60)
    assert order_in_words(doubt) == "60 examples, likelier where the judge is in doubt"
    assert order_in_words(replace(FORM, order="risk")) == "all, the worst scores first"
