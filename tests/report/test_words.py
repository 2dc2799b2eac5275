"""What reasons say to people: each code that has facts, in words."""

import ast
import inspect
from pathlib import Path

import pytest

import ragstone
from ragstone.argument import in_shell
from ragstone.errors import InputError
from ragstone.judgements import ASKS
from ragstone.reason import Reason, reason
from ragstone.report.words import (
    FIRST,
    SENTENCES,
    SHORT,
    WHO,
    explain,
    short_words,
    words,
)

SOURCE = Path(inspect.getfile(ragstone)).parent


def codes() -> set[str]:
    """The codes that the library gives with facts, by the calls of ``reason``."""
    found = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "reason":
                code = node.args[0]
                if isinstance(code, ast.Constant) and node.keywords:
                    found.add(str(code.value))
    return found


def test_every_code_with_facts_has_words_or_says_what_was_said() -> None:
    assert codes() - SENTENCES.keys() == {"no_answer"}, "told by what was said"


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
        (reason("filtered", of="m", said="hate"), "m: hate; another judge may answer it"),
        (reason("rejected", of="m", said="400"), "m: 400; the same command asks again"),
        (reason("budget", max_calls=1200),
         "budget: all 1,200 calls of --max-calls are made; the same command with more goes on"),
        (reason("left_alone", seconds=600), "the server wants to be left alone for 10 minutes; "
         "after that the same command asks again"),
        (reason("not_in_reply", of="m", said="missing", not_alone=reason("budget", max_calls=1)),
         "m: not in the reply (missing), and it was not asked for alone: budget: all 1 calls of "
         "--max-calls are made; the same command with more goes on"),
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
         "No interval for mrr and 2 more: a single value of doc tells nothing about others."),
        (reason("few_clusters", least=3, most=7, enough=10, cluster="question_id"),
         "Intervals of 3 to 7 questions are rough; from 10 on they hold better."),
        (reason("answered_before", answered=9, here=1, elsewhere=2),
         "3 of 9 questions had been answered before (1 in this run, 2 in others), and were not "
         "paid again."),
    ],
)  # fmt: skip
def test_a_reason_in_words(text: str, said: str) -> None:
    assert in_shell(words(text)) == said


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
