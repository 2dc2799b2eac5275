"""What answers contain, whether they are JSON, and how long they are, as Python says it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import InputError
from ragstone.judgements import Answers, References
from ragstone.metrics import Score, Undefined, parse_metric
from ragstone.testing import rows, score_all, score_one

TEXTS = [
    "Paris, in 1900.", "paris", "", "The Paris of 1900", "ÉCOLE École école", "a.b", "axb",
    "two words", " spaced \n out\t", "well-known 3.5% & more", "¿Qué?", "naïve façade",
]  # fmt: skip


def scores(form: str, texts: list[str]) -> list[Score]:
    return score_all(parse_metric(form), [[rows(Answers, text=[text])] for text in texts])


@pytest.mark.parametrize("part", ["Paris", "1900", "a.b", "É", " "])
def test_contains_finds_what_python_finds(part: str) -> None:
    form = f'contains(text="{part}")'
    assert scores(form, TEXTS) == [part in text for text in TEXTS]
    ignoring = f'contains(text="{part}", ignore_case=True)'
    assert scores(ignoring, TEXTS) == [part.lower() in text.lower() for text in TEXTS]


@pytest.mark.parametrize("pattern", [r"\d{4}", "^a.b$", "(?i)paris", r"\bwords\b", "x|o"])
def test_a_pattern_matches_where_python_matches(pattern: str) -> None:
    form = f"regex(pattern={json.dumps(pattern)})"
    assert scores(form, TEXTS) == [bool(re.search(pattern, text)) for text in TEXTS]


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "[", "(a{1000}){1000}"])
def test_a_pattern_that_could_take_long_or_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="regex: the pattern cannot be read: regex"):
        parse_metric(f"regex(pattern={json.dumps(pattern)})")


def test_no_answer_makes_a_pattern_take_long() -> None:
    """By backtracking, this takes 2 to the 5,000th steps."""
    assert scores('regex(pattern="^(a+)+$")', ["a" * 5000 + "b"]) == [0]


@pytest.mark.parametrize("form", ["contains", "contains(ignore_case=True)", "regex"])
def test_what_to_look_for_has_to_be_said(form: str) -> None:
    with pytest.raises(InputError, match=r"needs .*: (contains\(text=|regex\(pattern=)"):
        parse_metric(form)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(JSON, st.sampled_from(["", "x", "```", "Here: "]))
def test_json_is_valid_as_a_whole(value: object, before: str) -> None:
    text = before + json.dumps(value, ensure_ascii=False)
    try:
        json.loads(text)
    except json.JSONDecodeError:
        assert scores("valid_json", [text]) == [0]
    else:
        assert scores("valid_json", [text, f" {text}\n"]) == [1, 1]


@pytest.mark.parametrize("text", ["", "{'a': 1}", "NaN", '{"a": 1,}', '{"a": 1} and more', "nul"])
def test_what_resembles_json_is_not_valid(text: str) -> None:
    assert scores("valid_json", [text]) == [0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two words", 2),
        ("  one\n", 1),
        ("", 0),
        ("well-known facts, e.g. 3.5% — & more", 5),
        ("naïve façade", 2),
        ("巴黎是首都。", 5),
        ("東京は日本のcapital", 7),
        ("ที่นี่", 2),
        ("한국어 문장", 2),
        ("...!", 0),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert scores("word_count", [text]) == [words]


@given(st.lists(st.text("abcXYZ019", min_size=1), max_size=8))
def test_words_of_ascii_are_those_between_white_space(words: list[str]) -> None:
    assert scores("word_count", [" ".join(words)]) == [len(words)]


def test_the_best_reference_that_the_answer_contains_counts() -> None:
    metric = parse_metric("contains_reference")
    example = rows(References, reference=[0, 1], answer=["In Paris."] * 2, text=["Rome", "Paris"])
    assert score_one(metric, example) == 1
    for reference, value in (("paris", 0), ("", 0), ("In Paris.", 1), ("In.Paris", 0)):
        one = rows(References, reference=[0], answer=["In Paris."], text=[reference])
        assert score_one(metric, one) == value, reference
    assert score_one(metric) == Undefined("no_reference")


def test_only_what_declines_to_help_is_a_refusal() -> None:
    kinds = ["answer", "partial", "abstain", "refuse", "clarify"]
    examples = [[rows(Answers, response_type=[kind])] for kind in kinds]
    assert score_all(parse_metric("refusal"), examples) == [0, 0, 0, 1, 0]
