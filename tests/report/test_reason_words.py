"""What reasons say to people: each code that has facts, in words."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.core.messages import Reason, in_shell, reason
from ragstone.judgements import ASKS
from ragstone.report.reason_words import (
    FIRST,
    SENTENCES,
    SHORT,
    WHO,
    explain,
    most_frequent,
    short_words,
    why_no_value,
    words,
)
from ragstone.run.folder.schemas import Estimate
from tests.project import parsed

Make = Callable[..., Estimate]

SOURCE = Path(inspect.getfile(ragstone)).parent


def codes() -> set[str]:
    """The codes that the library gives with facts, by the calls of ``reason``."""
    found = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(parsed(file, mentions="reason(")):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "reason":
                code = node.args[0]
                if isinstance(code, ast.Constant) and node.keywords:
                    found.add(str(code.value))
    return found


def test_every_code_with_facts_has_words_or_says_what_was_said() -> None:
    assert codes() - SENTENCES.keys() == {"no_answer"}, "told by what was said"


def test_a_null_answer_is_named_in_words() -> None:
    assert words("exact_match: no_answer") == "exact_match: the system gave no answer"


def test_no_words_are_kept_for_a_code_that_nobody_gives() -> None:
    given: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        text, more = file.read_text(encoding="utf-8"), SENTENCES.keys() - given
        here = "report" not in file.relative_to(SOURCE).parts
        if here and any(f'"{code}"' in text for code in more):
            tree = ast.walk(parsed(file))
            given |= {str(node.value) for node in tree if isinstance(node, ast.Constant)}
    assert not SENTENCES.keys() - given


@pytest.mark.parametrize("ask", ASKS)
def test_whoever_can_answer_is_named(ask: str) -> None:
    by = ",".join(ASKS[ask].by)
    assert by in WHO
    assert by in SHORT
    assert ASKS[ask].by[0] in FIRST
    assert in_shell(words(ASKS[ask].not_judged)).startswith(f"{ASKS[ask].kind} needs ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no_retrieval", "no_retrieval"),
        ("faithfulness: no_claims", "faithfulness: no_claims"),
        ("It is so.", "It is so."),
        (reason("timeout", of="m", said="no reply within 60 s", tries="all"),
         "m: no reply within 60 s, however often it was asked; the same command asks again"),
        (reason("timeout", of="m", said=reason("no_reply_within", seconds="2.5")),
         "m: no reply within 2.5 s"),
        (reason("capped", of="m", said=reason("reply_cut_at", tokens=8000)),
         "m: budget: the reply was cut at the 8,000 tokens set aside for it; the same command "
         "asks again"),
        (reason("filtered", of="m", said=reason("reply_filtered")),
         "m: a content filter stopped the reply; another judge may answer it"),
        (reason("refusal", of="m", said=reason("model_declined")),
         "m: the model declined to answer; another judge may answer it"),
        (reason("truncated", of="m", said=reason("reply_cut_off")), "m: the reply was cut off"),
        (reason("length", of="m", said=reason("reply_too_long")),
         "m: the reply was longer than the model may write; a larger max_tokens allows a longer "
         "one"),
        (reason("malformed", of="m", said=reason("reply_unreadable", fault="no object")),
         "m: the reply cannot be read: no object"),
        (reason("incomplete", of="m", said=reason("nothing_asked", fault="claim_1 missing")),
         "m: the reply holds nothing that was asked: claim_1 missing"),
        (reason("incomplete", of="m", said=reason("nothing_asked")),
         "m: the reply holds nothing that was asked"),
        (reason("failed", of="m", said="error?code=5"), "m: error?code=5"),
        (reason("filtered", of="m", said="hate"), "m: hate; another judge may answer it"),
        (reason("rejected", of="m", said="400"), "m: 400; the same command asks again"),
        (reason("budget", max_calls=1200),
         "budget: all 1,200 calls of --max-calls are made; to continue, run it again with more"),
        (reason("left_alone", seconds=600), "the server asks for a pause of 10 minutes; "
         "after that the same command asks again"),
        (reason("not_in_reply", of="m", said="missing", not_alone=reason("budget", max_calls=1)),
         "m: not in the reply (missing), and it was not asked for alone: budget: all 1 calls of "
         "--max-calls are made; to continue, run it again with more"),
        (reason("texts_cut", model="e", reads=256, cut="question_context:3:10,question_answer:1:1"),
         "e reads 256 tokens of a text; a longer one was cut in 3 of 10 pairs of question and "
         "context, 1 of 1 pair of question and answer. embedding_context_relevance(windows=True) "
         "reads long contexts in windows."),
        (reason("left_open", n=3, again=1, why="m: filtered?said=no", others=2),
         "3 times a model left something open, and what rests on it is missing (m: no; 2 other "
         "reasons). The same command asks 1 of these again."),
        (reason("not_independent", cluster="id", clusters=8, there=9, values=2, field="doc"),
         "Intervals take examples as independent, but 8 of 9 examples come from 2 values of doc: "
         "--cluster doc."),
        (reason("no_interval", metric="mrr", group="", more=2, cluster="doc"),
         "No interval for mrr and 2 more: one value of doc is too few for an interval."),
        (reason("no_interval_alike", metric="seconds", group="a", more=0, cluster="id"),
         "No interval for seconds of a: all values are the same, and the metric has no known "
         "highest or lowest value to bound the mean."),
        (reason("few_clusters", least=3, most=7, enough=10, cluster="question_id"),
         "Intervals of 3 to 7 questions are rough; from 10 on they hold better."),
        (reason("rare_scores", least=12, most=20, enough=30, cluster="question_id"),
         "Intervals of 12 to 20 questions can be too narrow: a sample this small may contain "
         "none of a few scores that lie far from the others; from 30 on they hold better."),
        (reason("words_in_contexts", n=1, words=3, contexts="1,2", aligned="0.46", numbers="1895",
                names="bath, truro", against=reason("context_says", word="1859")),
         "1 of 3 content words in contexts 1 and 2; aligned 0.46; new number 1895; new name bath, "
         "truro; the context says 1859"),
        (reason("words_in_contexts", n=0, words=3),
         "none of 3 content words in the contexts"),
        (reason("words_in_contexts", n=0, words=1),
         "its one content word is not in the contexts"),
        (reason("words_in_reference", n=2, words=3, other_number="40"),
         "2 of 3 words in the reference; 40 is not its number"),
        (reason("entailed", entailment="0.10", windows=1), "entailment 0.10 at best in 1 window"),
        (reason("answered_before", answered=9, here=1, elsewhere=2),
         "3 of 9 questions had been answered before (1 in this run, 2 in others), and were not "
         "paid again."),
    ],
)  # fmt: skip
def test_a_reason_in_words(text: str, said: str) -> None:
    assert in_shell(words(text)) == said


@pytest.mark.parametrize(
    "code",
    [
        "no_worse_uncorrected", "looked_at_once", "stratum_of_one", "errors_not_known",
        "fewer_than_two_scored", "scores_do_not_vary", "less_is_better", "neither_is_better",
        "not_loaded", "composite_in_composite",
        "critique_in_composite", "no_score_in_run", "same_for_both_answers",
        "same_for_every_example",
        "no_reply", "no_majority", "all_alike_without_a_range", "no_pair_differs", "no_direction",
        "no_margin", "narrow_already", "nothing_is_estimated", "not_after_correction",
        "test_is_stricter", "no_comparisons", "not_connected", "decided", "no_value", "no_interval",
        "on_the_bar", "met", "not_met", "clears", "inside", "inside_though_all_labelled",
    ],
)  # fmt: skip
def test_a_code_of_a_decision_has_words_without_facts(code: str) -> None:
    assert " " in words(code)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (reason("beyond", side="below"), "lie below the bar"),
        (reason("beyond_alone", side="above"), "above the bar if this requirement is tested alone"),
        (reason("too_few_differ", n=1, noun="pair", least="0.05"), "1 pair differs"),
        (reason("too_few_differ", n=3, noun="cluster", least="0.05"), "3 clusters differ"),
        (reason("pairs_in_part", n=1234), "1,234 pairs rest on a part of their rows"),
        (reason("pairs_in_part", n=1), "1 pair rests on a part of its rows"),
        (reason("only_some_labelled", values="a"), "only a was labelled"),
        (reason("only_some_labelled", values="a\nb", field="topic"),
         "only topic a and b were labelled"),
        (reason("questions_not_paired", side="a", n=7, questions="q1\nq2", more=5),
         "only in a, so not paired: 7 questions, q1, q2 and 5 more."),
        (reason("questions_of", side="a", n=1, questions="q1", more=0), "a: 1 question, q1"),
        (reason("measured_otherwise", what="judged by", first="x", in_first="r", second="y",
                in_second="s"), "judged by x in r, by y in s"),
        (reason("measured_otherwise", what="plan", first="x", in_first="r", second="y",
                in_second="s"), "plan x in r, y in s"),
        (reason("few_clusters_checked", n=31, questions=12),
         "31 labels from fewer than 20 questions; the run has 12"),
        (reason("few_clusters_checked", n=31, questions=300),
         "31 labels from fewer than 20 questions; more questions are needed"),
        (reason("few_clusters_checked", n=31),
         "31 labels from fewer than 20 clusters; more clusters are needed"),
        (reason("all_judged_too_few", n=2000, half_width="0.05", assurance=0.9),
         "all 2,000 judged rows give ±0.05 in 90 % of draws"),
        (reason("gain_holds_zero", start="ragas_score"), "so the weights of ragas_score stay"),
        (reason("gain_clears_zero"), "the gain over equal weights clears 0"),
        (reason("few_scores", share=0.25), "scores for 25% of what"),
        (reason("in_several_clusters", n=1, cluster="doc"),
         "1 question is in several clusters of doc and counts in its first."),
        (reason("in_several_clusters", n=2, cluster="doc"),
         "2 questions are in several clusters of doc and count in their first."),
        (reason("in_no_slice", n=1, a="x", b="y", field="t"), "1 pair of x and y has two values"),
        (reason("other_questions", n=1, run="r", first="q1"), "1 shared question id has another"),
        (reason("other_questions", n=2, run="r", first="q1"), "question in r: q1, …"),
        (reason("labelled_without_score", n=1), "for 1 labelled example."),
        (reason("undefined_not_drawn", n=1, metric="hit"), "for which hit is undefined is"),
        (reason("undefined_not_drawn", n=3, metric="hit"), "for which hit is undefined are"),
        (reason("narrower_design", by="error", less=0.25), "is expected to be 25% narrower"),
        (reason("no_score_to_go_by", n=1), "1 example without a score to go by counts as"),
        (reason("no_row", n=1, units="claim\nstatement"),
         "1 example of the sample has no claim or statement"),
        (reason("no_row", n=1200, units="claim"), "1,200 examples have no claim and so no row."),
        (reason("labels_not_used", n=1, source="f", lacks="context", examples="q1"),
         "1 label of f is not used: no such context in the data (q1)."),
        (reason("labels_not_used", n=9, source="f", lacks="example", examples="q1\nq2", more=3),
         "9 labels of f are not used: no such example in the data (q1, q2 and 3 more)."),
        (reason("rows_without_label", n=1, rows=2000), "1 of 2,000 rows holds no label."),
        (reason("ids_repeat", differing=1, first="q1"), "But 1 id stands for other questions"),
        (reason("no_cell_filled", columns="a\nb"), "no cell of a or b is filled."),
        (reason("same_inputs", pairs=0, differing=0), "no pair has both values"),
        (reason("same_inputs", pairs=9, differing=0), "nothing to test"),
        (reason("same_inputs", pairs=2000, differing=1000), "1,000 of 2,000 pairs have"),
        (reason("no_pair_has_both", undefined=3, missing=1200), "(3 undefined, 1,200 missing)"),
        (reason("missing_could_turn_it", missing=1, possible=9, how="low:open"),
         "1 of 9 scores are missing and could turn it: at the low end"),
        (reason("missing_could_turn_it", missing=1, possible=9, how="no_end"), "no end of a range"),
        (reason("too_many_missing", missing=1200, possible=9000, most=0.125),
         "1,200 of 9,000 scores are missing, more than 12.5 %"),
        (reason("no_value_anywhere", missing=0, undefined=2, why="no_claims"),
         "undefined everywhere (no_claims)"),
        (reason("no_value_anywhere", missing=1, undefined=2), "missing or undefined everywhere"),
        (reason("no_value_anywhere", missing=1, undefined=0), "missing everywhere"),
        (reason("several_models", models="m-1=1\nm-2=2000"),
         "served by two models: m-1 (1 reply), m-2 (2,000 replies)"),
        (reason("several_models", models="a=1\nb=2\nc=3\nd=4"),
         "served by 4 models: a (1 reply), b (2 replies), c (3 replies) and 1 more"),
        (reason("left_alone", seconds=7200), "of 2.0 hours"),
        (reason("similarities_failed", n=1), "failed once"),
        (reason("similarities_failed", n=1200), "failed 1,200 times"),
        (reason("not_in_reply", said="missing", tries="all"), "however often it was asked"),
        (reason("evidence_unknown", n=1), "1 named context that was not shown was dropped."),
        (reason("evidence_unknown", n=1200), "1,200 named contexts that were not shown were dr"),
        (reason("quotes_unfound", n=1, quotes=1), "1 of 1 quote does not stand so"),
        (reason("quotes_unfound", n=1, quotes=9), "1 of 9 quotes does not stand so"),
        (reason("quotes_unfound", n=2, quotes=9), "2 of 9 quotes do not stand so"),
        (reason("few_clusters", least=3, most=3, enough=10, cluster="doc"), "3 values of doc"),
        (reason("few_clusters", least=3, most=3, enough=10, cluster="session"), "3 sessions are"),
        (reason("few_clusters", least=1, most=1, enough=10, cluster="question_id"), "1 question "),
        (reason("judge_more", labels=1200, judged=1000),
         "takes 1,200 labelled examples, and only 1,000 are judged"),
    ],
)  # fmt: skip
def test_facts_stand_in_the_words(text: str, part: str) -> None:
    assert part in in_shell(words(text))


def test_what_was_put_once_is_not_told_to_have_been_asked_often() -> None:
    assert "however often" not in words(reason("not_in_reply", said="missing"))


def test_in_short_it_is_not_said_what_to_do() -> None:
    assert short_words(reason("filtered", of="m", said="hate")) == "m: hate"
    assert short_words(ASKS["quality"].not_judged) == "quality needs an LLM judge or people"


def test_a_word_of_a_persons_that_is_a_code_of_ours_is_told_as_it_is() -> None:
    assert words("budget") == "budget"
    assert words("rows_without_label?n=few&rows=2") == "rows_without_label?n=few&rows=2"


def test_a_python_caller_is_told_the_arguments() -> None:
    assert explain("a, b: ratings?first=1&last=5&low=0&high=1&guessed=mrr") == (
        "a, b: taken for ratings from 1 to 5, brought to 0 to 1. Is it another scale? "
        'scales={"mrr": (FIRST, LAST)}.'
    )


def test_an_error_tells_the_notes_it_rests_on_to_each_caller() -> None:
    error = InputError("Nothing fits.", notes=[reason("not_the_metric", of="mrr", scale="mrr")])
    told = (
        "Nothing fits.\n  mrr: values that the metric of this name cannot have; taken as a column "
        "of your own; as ratings of it: "
    )
    assert str(error) == told + 'scales={"mrr": (FIRST, LAST)}.'
    assert in_shell(error.text) == f"{told}--scale mrr=FIRST:LAST."


def test_a_code_of_a_later_version_is_told_as_it_is() -> None:
    assert in_shell(words("sun_spots?n=3")) == "sun_spots"
    assert Reason.read("sun_spots?n=3").facts == {"n": "3"}


def test_undefined_and_missing_are_told_with_their_reason(estimate: Make) -> None:
    undefined = estimate("precision", n_undefined=3, reasons={"no_retrieval": 3})
    missing = estimate("helpfulness", n_missing=3, reasons={"not_judged?kind=quality&by=people": 3})
    both = estimate("precision", n_undefined=1, n_missing=2, reasons={"a": 1, "b": 2})
    assert why_no_value(undefined) == "undefined (no_retrieval)"
    assert why_no_value(missing) == "missing (quality needs people)"
    assert why_no_value(both) == "undefined and missing (b; a)"


def test_the_two_most_frequent_reasons_are_told() -> None:
    counts = {"a": 1, "c": 3, "b": 2}
    assert most_frequent(counts) == "c; b and 1 more"
    assert most_frequent({"a": 1, "b": 1}) == "a; b", "ties in their order"
    assert most_frequent(counts, 1) == "c and 2 more"


def test_a_group_of_nothing_has_no_examples(estimate: Make) -> None:
    assert why_no_value(estimate("precision")) == "no examples"
    assert why_no_value(estimate("precision", n_undefined=2)) == "undefined"
