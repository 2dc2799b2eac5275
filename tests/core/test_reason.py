"""Reasons: a code and its facts, which read back from a table as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.messages import Reason, reason
from ragstone.data.json_text import ascii_safe

CODES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
FACTS = st.dictionaries(CODES, st.text(min_size=1))
NAMES = st.sampled_from(["", "local", "openai:gpt-5", 'rating(criterion="a: b")', "http://h/v1#m"])


@given(CODES, FACTS, NAMES)
def test_it_reads_back_as_it_was(code: str, facts: dict[str, str], of: str) -> None:
    if code != "said":
        told = {name: ascii_safe(said) for name, said in facts.items()}
        assert Reason.read(str(Reason(code, facts, of))) == Reason(code, told, of)


@pytest.mark.parametrize(
    ("text", "code", "of"),
    [
        ("no_retrieval", "no_retrieval", ""),
        ("faithfulness: no_claims", "no_claims", "faithfulness"),
        ("m: timeout?said=no+reply&tries=all", "timeout", "m"),
        ("a: b: no_claims", "no_claims", "a: b"),
        ("It is so.", "said", ""),
        ("", "said", ""),
        ("not_judged: quality needs an LLM judge", "said", ""),
        ("Odd?", "said", ""),
        (": no_claims", "said", ""),
        (" a: no_claims", "said", ""),
        ("a : no_claims", "said", ""),
        ("a:  no_claims", "said", ""),
        ("a:\nb: no_claims", "no_claims", "a:\nb"),
    ],
)
def test_what_is_no_reason_of_ours_is_what_was_said(text: str, code: str, of: str) -> None:
    read = Reason.read(text)
    assert (read.code, read.of) == (code, of)
    assert str(read) == text


def test_facts_that_are_not_there_are_left_out_and_zero_is_one() -> None:
    assert reason("left_open", n=0, why="", judge=None) == "left_open?n=0"


def test_what_it_is_about_goes_before_what_it_was_about() -> None:
    assert str(Reason.read("local: no_question").about("faithfulness")) == (
        "faithfulness: local: no_question"
    )
