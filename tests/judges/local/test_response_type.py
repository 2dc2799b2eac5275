"""Response: what kind of reply, by rules; and the two phrase conventions."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local import response_type as response
from ragstone.judges.local.response_type import (
    PHRASES_8,
    PHRASES_12,
    abstains_by_phrases,
    response_type,
)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", "abstain"),
        ("...", "abstain"),
        ("None", "abstain"),
        ("I don't know.", "abstain"),
        ("I don’t know.", "abstain"),
        ("Je ne sais pas.", "abstain"),
        ("No lo sé.", "abstain"),
        ("Ich weiß es nicht.", "abstain"),
        ("Não sei.", "abstain"),
        ("Nie wiem.", "abstain"),
        ("Я не знаю.", "abstain"),
        ("我不知道。", "abstain"),
        ("わかりません。", "abstain"),
        ("잘 모르겠습니다.", "abstain"),
        ("मुझे नहीं पता।", "abstain"),
        ("لا أعرف.", "abstain"),
        ("The passage does not mention the year.", "abstain"),
        ("The answer cannot be found in the text.", "abstain"),
        ("I'm not sure.", "abstain"),
        ("I'm not sure, but it is Baron Alphonse.", "answer"),
        ("Nonetheless", "answer"),
        ("No", "answer"),
        ("The Tomb of the Unknown Soldier was dedicated in 1921.", "answer"),
        ("Unfortunately, he died in 1932.", "answer"),
        ('"I Can\'t Help Falling in Love" was sung by Elvis Presley.', "answer"),
        ("There is no evidence that he lied.", "answer"),
        ("As an AI language model, I have no feelings. Truro is the county town.", "answer"),
        ("I do not know who built it. It was opened in 1859.", "partial"),
        ("The text does not name her, but it says she was born in Truro in 1902.", "partial"),
        ("I'm sorry, but I can't assist with that request.", "refuse"),
        ("I won't help with that.", "refuse"),
        ("Which bridge do you mean?", "clarify"),
        ("Could you clarify which of the two mines you mean?", "clarify"),
    ],
)
def test_replies_are_told_apart(answer: str, expected: str) -> None:
    assert response_type(answer)[0] == expected


def golden(shared: Path) -> list[dict[str, Any]]:
    vectors = json.loads((shared / "golden" / "seed_vectors.json").read_text())["vectors"]
    return [vector for vector in vectors if vector["metric"] == "abstention"]


def test_golden_abstentions_come_out_right(shared: Path) -> None:
    cases = golden(shared)
    assert len(cases) == 13
    for case in cases:
        answer, expected = case["input"]["answer"], case["expected"]["abstained"]
        assert (response_type(answer)[0] == "abstain") == expected, answer


def test_phrase_conventions_give_the_published_values(shared: Path) -> None:
    for case in golden(shared):
        answer, published = case["input"]["answer"], case["source_value"]
        assert abstains_by_phrases(answer, PHRASES_8) == published["phrases8"], answer
        assert abstains_by_phrases(answer, PHRASES_12) == published["phrases12"], answer


def test_the_lists_hold_eight_and_twelve_phrases() -> None:
    assert len(set(PHRASES_8)) == 8
    assert len(set(PHRASES_12)) == 12


@given(st.text())
def test_every_text_is_some_reply_for_a_reason(text: str) -> None:
    kind, reason = response_type(text)
    assert kind in ("answer", "partial", "abstain", "refuse", "clarify")
    assert reason


@given(st.from_regex(response._INABILITY) | st.from_regex(response._HEDGE))
def test_what_says_that_it_cannot_tell_has_a_sign_of_it(text: str) -> None:
    found = response._INABILITY.search(text) or response._HEDGE.search(text)
    assert found is not None
    assert response._SIGN.search(found.group())


def test_the_kind_of_a_reply_is_told_by_its_first_50_000_characters() -> None:
    unknown, known = "I do not know. ", "The mine was opened in 1859."
    assert response_type(unknown * 3_000 + known)[0] == "partial"
    assert response_type(unknown * 4_000 + known)[0] == "abstain"
    assert response_type("." * 60_000 + known)[0] == "answer"


@pytest.mark.parametrize("answer", ["ʼ", "’", "_", "…", " \n"])
def test_marks_alone_are_no_answer(answer: str) -> None:
    assert response_type(answer) == ("abstain", "answer_is_empty")
