"""A run in sentences: each template, from numbers made by hand."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun, CorrectedMean
from ragstone.analysis.summaries.failure_stages import NO_FAULT, PARTIAL, STAGES, Faults
from ragstone.analysis.summaries.run_summary import Lead, Summary
from ragstone.report.sentences import run_words as sentences
from ragstone.report.sentences.run_words import summary_sentences

ALONE = Summary(
    examples=24,
    questions=8,
    answered=24,
    systems=("a",),
    metrics=5,
    themselves={},
    same=(),
    tested=(),
    shared=(0, 0),
    leads=(),
    wins=(),
    pair=(),
    alike=(),
    apart=(),
    faults=None,
    missing=0,
    possible=100,
)
TWO = replace(ALONE, systems=("a", "b"), tested=("m1", "m2"))
THREE = replace(ALONE, systems=("a", "b", "c"), tested=("m1", "m2"), shared=(8, 8))


def compared(metric: str, verdict: str, difference: float | None = 0.25, **known: Any) -> Any:
    low, high = (None, None) if difference is None else (difference - 0.125, difference + 0.125)
    said = {"metric": metric, "verdict": verdict, "difference": difference, "a": "a", "b": "b",
            "low": low, "high": high, "n_pairs": 8}  # fmt: skip
    return SimpleNamespace(**said | known)


def said(summary: Summary) -> str:
    return " ".join(summary_sentences(summary))


def test_what_was_measured_comes_first() -> None:
    assert said(ALONE) == "24 answers to 8 questions, 5 metrics."
    assert said(replace(ALONE, examples=1, answered=1, questions=1, metrics=1)) == (
        "1 answer to 1 question, 1 metric."
    )
    assert said(replace(ALONE, answered=0)) == "24 rankings to 8 questions, 5 metrics."
    assert said(replace(ALONE, answered=20, null=4)) == (
        "20 answers to 8 questions, 5 metrics. 4 answers are missing."
    )
    assert said(replace(TWO, tested=(), answered=23, null=1)) == (
        "23 answers by 2 systems to 8 questions, 5 metrics. 1 answer is missing."
    )
    assert said(replace(TWO, tested=(), answered=12)).startswith("12 answers by 2 systems")
    assert said(replace(TWO, tested=())) == "24 answers by 2 systems to 8 questions, 5 metrics."


def test_a_system_that_answers_with_the_references_is_named() -> None:
    told = said(replace(TWO, tested=(), themselves={"b": ("token_f1",)}))
    assert told.endswith("b answers with the references, so metrics that compare the two leave it "
                         "out.")  # fmt: skip
    both = {"a": ("token_f1",), "b": ("token_f1",)}
    assert said(replace(TWO, tested=(), themselves=both)).endswith(
        "a and b answer with the references, so metrics that compare the two leave them out."
    )
    assert said(replace(ALONE, themselves={"a": ("token_f1",)})).endswith(
        "5 metrics. The answers are the references, so metrics that compare the two tell nothing."
    )


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        ((compared("m1", "better"),), "a is better than b on m1 by 0.250 (0.125 – 0.375, 8 "
         "questions)."),
        ((compared("m1", "worse", -0.25),), "b is better than a on m1 by 0.250 (0.125 – 0.375, 8 "
         "questions)."),
        ((compared("m1", "better", -0.1),), "a is better than b on m1 by 0.100 (-0.025 – 0.225, 8 "
         "questions)."),
        ((compared("m1", "better", 0.5, low=None, high=None, n_pairs=1),),
         "a is better than b on m1 by 0.500 (1 question)."),
        ((compared("m1", "better"), compared("m2", "better"), compared("m3", "cannot_tell")),
         "a is better than b on 2 of 3 metrics (m1 by 0.250 (0.125 – 0.375, 8 questions); m2) and "
         "undecided on 1."),
        ((compared("m1", "better"), compared("m2", "worse", -0.25), compared("m3", "equivalent")),
         "a is better than b on 1 of 3 metrics (m1 by 0.250 (0.125 – 0.375, 8 questions)), worse "
         "on 1 of 3 metrics (m2 by 0.250 (0.125 – 0.375, 8 questions)) and equivalent on m3."),
        ((compared("m1", "equivalent"),), "a and b are equivalent on m1."),
        ((compared("m1", "cannot_tell"), compared("m2", "cannot_tell", None, n_pairs=3)),
         "With 8 questions, a and b cannot be told apart on any metric."),
    ],
)  # fmt: skip
def test_two_systems_are_compared_with_their_paired_difference(
    pair: tuple[Any, ...], sentence: str
) -> None:
    assert summary_sentences(replace(TWO, pair=pair))[1] == sentence


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({"leads": (Lead(("a",), ("b", "c"), ("m1", "m2")),)},
         "a is better than both others on m1 and m2."),
        ({"leads": (Lead(("a", "b"), ("c",), ("m1",)), Lead(("c",), ("a", "b"), ("m2",)))},
         "a and b are each better than c on m1; c is better than both others on m2."),
        ({"leads": (Lead(("a",), ("b", "c"), ("m1",)),), "alike": (("b", "c"),)},
         "a is better than both others on m1; b and c cannot be told apart on any metric."),
        ({"leads": (Lead(("a",), ("b",), ("m1",)),), "themselves": {"c": ("m1",)}},
         "a is better than b on m1."),
        ({"leads": (Lead(("a",), ("b", "c"), ("m1",)),), "wins": (Lead(("b",), ("c",), ("m2",)),)},
         "a is better than both others on m1; b is better than c on m2."),
        ({"wins": (Lead(("b",), ("c",), ("m2",)),), "alike": (("a", "b"), ("a", "c"))},
         "No system is better than all others on any metric; b is better than c on m2; 2 "
         "pairs cannot be told apart on any metric."),
        ({"wins": (Lead(("b",), ("c",), ("m2",)),), "apart": (("a", "b"), ("a", "c"))},
         "No system is better than all others on any metric; b is better than c on m2; 2 "
         "pairs share no question."),
        ({"wins": tuple(Lead(("a",), ("b",), (f"m{at}",)) for at in range(6))},
         "No system is better than all others on any metric; a is better than b on m0; a is "
         "better than b on m1; a is better than b on m2; a is better than b on m3; 2 more "
         "differences."),
        ({"alike": (("a", "b"), ("a", "c"), ("b", "c"))},
         "With 8 questions, no system is shown to be better than another on any metric."),
        ({"alike": (("a", "b"),), "apart": (("a\nb", "c"),), "shared": (1, 1)},
         "With 1 question, no system is shown to be better than another on any metric"
         "; a b and c share no question."),
        ({"alike": (("a", "b"), ("a", "c")), "shared": (3, 1200)}, "With 3 to 1,200 questions a "
         "pair, no system is shown to be better than another on any metric."),
        ({"alike": (("a", "b"),), "tested": ("m1",)},
         "With 8 questions, no system is shown to be better than another on m1."),
        ({"systems": ("a", "b", "c", "d"), "leads": (Lead(("a",), ("b", "c", "d"), tuple("mnopqr")),
         )}, "a is better than all others on m, n, o, p and 2 more."),
    ],
)  # fmt: skip
def test_several_systems_are_told_by_who_is_better_than_whom(
    known: dict[str, Any], sentence: str
) -> None:
    assert said(replace(THREE, **known)).endswith(f". {sentence}")


def test_a_metric_has_the_name_that_it_has_in_the_table() -> None:
    tone = 'rating(criterion="tone", definition="Is the tone friendly?")'
    assert said(replace(THREE, leads=(Lead(("a",), ("b", "c"), (tone, "m2")),))).endswith(
        "a is better than both others on tone rated and m2."
    )
    assert said(replace(TWO, pair=(compared(tone, "better"),))).endswith(
        "a is better than b on tone rated by 0.250 (0.125 – 0.375, 8 questions)."
    )


def test_systems_that_nothing_compares_are_told_why() -> None:
    same = replace(TWO, tested=(), same=("m1",))
    assert summary_sentences(same)[1] == (
        "On every metric that compares them, the systems have the same inputs."
    )
    apart = replace(TWO, tested=(), apart=(("a", "b"),))
    assert summary_sentences(apart)[1] == "a and b share no question, so they are not compared."


@pytest.mark.parametrize(
    ("faults", "sentence"),
    [
        (Faults(24, 0, 0, None, "", 0), "None of 24 answers looks bad."),
        (Faults(24, 1, 0, 0, "wrong", 1),
         "1 of 24 answers looks bad. What goes wrong first is that nothing the reference says is "
         "in the answer (1)."),
        (Faults(24, 9, 12, None, "unsupported", 4), "9 of 24 answers look bad. What goes wrong "
         "first is most often that the claims are probably not supported (4). 12 of the 24 say "
         "only part of the reference."),
        (Faults(24, 0, 1, 1, "", 0), "None of 24 answers looks bad. 1 of the 24 says only "
         "part of the reference and 1 has at least one unsupported claim."),
    ],
)  # fmt: skip
def test_what_fails_most_is_the_stage_of_most_answers(faults: Faults, sentence: str) -> None:
    assert summary_sentences(replace(ALONE, faults=faults))[-1] == sentence


def checked(*, people: bool = False, labels: int = 0, mean: bool = False) -> CheckedRun:
    """The local judge's word on claims, or people's, and what labels show of it."""
    lacks = f"few_labels_checked?n={labels}&enough=60" if labels < 60 else None
    if not labels:
        lacks = "no_label_checked"
    means: Any = (({}, CorrectedMean(0.286, 0.096, 0.6, labels, 17)),) if mean else ()
    one = CheckedMetric(("local",), labels, 0.5, lacks, means, frozenset(["a"]))
    metric = "unsupported_claim"
    return CheckedRun({metric: one}, labels, people=(metric,) if people else ())


@pytest.mark.parametrize(
    ("found", "unsupported", "first", "second"),
    [
        (CheckedRun({}, people=("faithfulness",)), 8, "None of 24 answers looks bad to people.",
         "8 of the 24 have at least one unsupported claim."),
        (checked(people=True), 8, "None of 24 answers looks bad to people and the local judge, "
         "which no label has checked here.", "8 of the 24 have at least one unsupported claim."),
        (checked(labels=15), 8, "None of 24 answers looks bad to the local judge, not checked "
         "against people: 15 labels; about 60 are needed.",
         "8 of the 24 have at least one unsupported claim."),
        (checked(labels=80, mean=True), 8, "None of 24 answers looks bad to the local judge, "
         "checked against people on unsupported_claim.",
         "8 of the 24 have at least one unsupported claim; 80 labels by people put their share "
         "among the 17 judged for it at 29 % (10 to 60 %)."),
        (checked(labels=30, mean=True), 0, "None of 24 answers looks bad to the local judge, not "
         "checked against people: 30 labels; about 60 are needed.",
         "0 of the 24 have at least one unsupported claim; 30 labels by people put their share "
         "among the 17 judged for it at 29 % (10 to 60 %)."),
    ],
)  # fmt: skip
def test_who_judged_is_named_with_what_labels_checked_and_corrected(
    found: CheckedRun, unsupported: int, first: str, second: str
) -> None:
    of = replace(ALONE, checked=found, faults=Faults(24, 0, 0, unsupported, "", 0))
    assert summary_sentences(of)[-1] == f"{first} By the same judgements, {second}"


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (CheckedRun({}), "24 answers to 8 questions, 5 metrics."),
        (CheckedRun({}, people=("helpfulness",)), "Judged by people."),
        (checked(), "Judged by the local judge, which no label has checked here."),
    ],
)
def test_who_judged_is_named_where_nothing_tells_of_faults(
    found: CheckedRun, sentence: str
) -> None:
    assert summary_sentences(replace(ALONE, checked=found))[-1] == sentence


def test_answers_that_are_the_references_do_not_count_among_the_faults() -> None:
    own = replace(TWO, themselves={"b": ("m1",)})
    told = said(replace(own, faults=Faults(12, 0, 0, None, "", 0)))
    assert told.endswith(" None of 12 other answers looks bad.")
    # The corrected share is of all answers, theirs among them.
    faults = Faults(12, 0, 0, 3, "", 0)
    told = said(replace(own, faults=faults, checked=checked(labels=80, mean=True)))
    assert told.endswith("3 of the 12 have at least one unsupported claim.")


def test_what_is_missing_stands_with_what_fails() -> None:
    missing = replace(ALONE, missing=1, possible=1200)
    assert summary_sentences(missing)[-1] == "1 of 1,200 scores is missing."
    faults = replace(missing, missing=1000, faults=Faults(24, 0, 0, None, "", 0))
    assert summary_sentences(faults)[-1] == (
        "None of 24 answers looks bad. 1,000 of 1,200 scores are missing."
    )


def test_every_stage_has_words() -> None:
    codes = [one.code for one in STAGES]
    assert list(sentences.BECAUSE) == codes
    assert list(sentences.NAMES) == [*codes, PARTIAL, NO_FAULT]


def test_questions_that_only_one_answered_are_counted() -> None:
    so = ", so the means are over different questions."
    seven = replace(THREE, systems=tuple("abcdefg"))
    told = [
        summary_sentences(replace(of, unanswered=counts, alone=alone))[1]
        for of, counts, alone in (
            (TWO, {"b": 3}, {"a": 3}), (TWO, {"b": 3, "a": 1}, {"a": 3, "b": 1}),
            (THREE, {"b": 1, "c": 2}, {}), (TWO, {"a": 1}, {"b": 1}),
            (THREE, {"a": 1, "b": 2, "c": 4}, {"b": 1, "a": 2}),
            (seven, dict.fromkeys("abcdefg", 6), dict.fromkeys("abcdef", 1)),
            (seven, {"a": 2, "b": 1}, {}),
        )
    ]  # fmt: skip
    assert told[0].endswith(f" 3 of 8 questions were answered by a alone{so}")
    assert f" 3 of 8 questions were answered by a alone and 1 answered by b alone{so}" in told[1]
    assert f" 2 of 8 questions were not answered by c and 1 not answered by b{so}" in told[2]
    assert f" 1 of 8 questions was answered by b alone{so}" in told[3]
    assert (
        " 2 of 8 questions were answered by a alone and 1 answered by b alone; 4 were not answered "
        f"by c, 2 not answered by b and 1 not answered by a{so}"
    ) in told[4]
    assert told[5].endswith(
        " 1 of 8 questions was answered by a alone and 5 by one of the others alone; each system "
        f"left at most 6 unanswered{so}"
    )
    assert told[6].endswith(f" Each system left at most 2 of 8 questions unanswered{so}")
    assert "answered" not in summary_sentences(TWO)[1]
