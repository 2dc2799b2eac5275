"""What questions to models took: tokens, money, attempts, replies."""

from dataclasses import replace
from typing import Any

import pytest

from ragstone.models.chat import Usage
from ragstone.report.page import OutlineItem, Phrase, plain
from ragstone.report.run_contents import call_items, cost, tokens, took
from ragstone.run import Entry
from ragstone.run.calls.journal_reader import Attempt, Totals

KEY = "abcdefghijkl"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"calls": 1}, "1 model call, $0.0000"),
        ({"calls": 2000, "usd": 1234.5}, "2,000 model calls, $1,234.50"),
        ({"calls": 2, "usd": None, "unpriced": 2}, "2 model calls, cost unknown"),
        ({"calls": 9, "usd": 0.5, "unpriced": 1200},
         "9 model calls, $0.5000 and 1,200 calls without a price"),
        ({"calls": 1, "prompt": 9000, "completion": 70, "cached": 8000},
         "1 model call, 9,000 tokens sent (8,000 from the server's cache), 70 received, $0.0000"),
        ({"from_cache": 3500}, "0 model calls, 3,500 replies of earlier runs"),
    ],
)  # fmt: skip
def test_a_run_says_what_all_its_questions_took(known: dict[str, Any], said: str) -> None:
    """A run that only took replies of earlier ones paid nothing, and says no cost."""
    assert took(Totals(**{"usd": 0.0, **known})) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [(0.0, "$0.0000"), (0.00004, "$0.0000"), (0.9999, "$0.9999"), (1, "$1.00"),
     (2345.678, "$2,345.68"), (None, "cost unknown")],
)  # fmt: skip
def test_money_is_told_to_a_hundredth_of_a_cent_below_a_dollar(
    usd: float | None, said: str
) -> None:
    assert cost(usd) == said


@pytest.mark.parametrize(
    ("prompt", "completion", "cached", "reasoning", "said"),
    [
        (None, None, None, None, "tokens unknown"),
        (None, 20, None, None, "tokens sent unknown, 20 received"),
        (1200, None, None, None, "1,200 tokens sent"),
        (1200, 1500, 1000, 1400,
         "1,200 tokens sent (1,000 from its cache), 1,500 received (1,400 of them reasoning)"),
        (12, 20, 0, 0, "12 tokens sent, 20 received"),
    ],
)  # fmt: skip
def test_a_server_may_tell_a_part_of_the_tokens(
    prompt: int | None, completion: int | None, cached: int | None, reasoning: int | None, said: str
) -> None:
    assert tokens(Usage(prompt, completion, cached, reasoning)) == said


def attempt(**known: Any) -> Attempt:
    first = Attempt(KEY, 1, "model", 0.0, 1.25, reply="yes", finish="stop",
                    usage=Usage(prompt=9, completion=2), usd=0.01)  # fmt: skip
    return replace(first, **known)


def item(*attempts: Attempt, prompts: bool = False) -> OutlineItem:
    call = Entry(KEY, "m", "claims", "q1", 0, "Judge.", ("Is ", "it?"), "{}", attempts)
    (found,) = call_items([call], prompts=prompts)
    return found


def said(found: OutlineItem) -> list[str]:
    return [plain(one.words) for one in found.inner]


def test_a_question_is_known_by_task_judge_and_the_first_letters_of_its_key() -> None:
    assert plain(item().words) == "claims  m  abcdefgh"


def test_an_attempt_says_its_time_its_tokens_and_its_cost() -> None:
    assert said(item(attempt())) == ["1.25 s, 9 tokens sent, 2 received, $0.0100", "yes"]


def test_an_attempt_without_an_answer_says_its_time_and_what_went_wrong() -> None:
    late = attempt(finish=None, reply="", trouble="timeout")
    assert said(item(late, attempt(number=2))) == [
        "1.25 s", "timeout", "attempt 2: 1.25 s, 9 tokens sent, 2 received, $0.0100", "yes",
    ]  # fmt: skip
    found = item(attempt(trouble="schema", words="no verdict")).inner[1]
    assert found == OutlineItem(Phrase("schema: no verdict", "caution"))


def test_a_reply_of_an_earlier_run_took_nothing() -> None:
    kept = attempt(source="cache", number=3)
    assert said(item(kept))[0] == "the reply of an earlier run, from the cache"


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ('{"verdict": "yes", "ids": ["é", 1]}', 'verdict: "yes"\nids: ["é", 1]'),
        ("[1, 2]", "[1, 2]"),
        ("{not json", "{not json"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_reply_of_json_has_a_line_for_each_item_and_another_stays_as_it_came(
    reply: str, shown: str
) -> None:
    assert said(item(attempt(reply=reply)))[1] == shown


def test_what_a_model_was_told_stands_before_its_reply_where_it_is_asked_for() -> None:
    assert said(item(attempt(), prompts=True))[:2] == ["Judge.", "Is it?"]
    assert said(item(attempt()))[0].startswith("1.25 s")
