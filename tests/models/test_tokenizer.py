"""Tokenizer: cut as the tokenizers package cuts, and never stopped by a text."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.models.tokenizer import (
    BLOCK_TEXTS,
    TextTokenizer,
    UnusableTokenizer,
    blocks,
    readable,
)
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

tokenizers = import_or_skip("tokenizers", reason="needs the extra local")

CLS, SEP = 2, 3


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("model")) / "tokenizer.json"


@pytest.fixture(scope="module")
def tokenizer(path: Path) -> TextTokenizer:
    return TextTokenizer.open(path)


def names(path: Path, ids: "np.typing.NDArray[np.int32]") -> list[str]:
    known = tokenizers.Tokenizer.from_file(str(path))
    return [known.id_to_token(number) for number in ids.tolist()]


def test_a_text_stands_between_two_special_tokens(path: Path, tokenizer: TextTokenizer) -> None:
    (ids,) = tokenizer.ids(["The bridge opened."], 32)
    assert names(path, ids) == ["[CLS]", "the", "bridge", "opened", ".", "[SEP]"]


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_text_without_words_is_the_two_special_tokens(
    text: str, tokenizer: TextTokenizer
) -> None:
    assert tokenizer.ids([text], 32)[0].tolist() == [CLS, SEP]
    assert tokenizer.lengths([text]).tolist() == [2]


@given(st.lists(st.sampled_from(["bridge", "zoo", "é", "中", "🙂", " "])), st.integers(3, 12))
def test_it_cuts_as_the_package_does(
    path: Path, tokenizer: TextTokenizer, words: list[str], limit: int
) -> None:
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.enable_truncation(limit)
    expected = theirs.encode(" ".join(words))
    ((ids, spans, cut),) = tokenizer.tokens([" ".join(words)], limit)
    assert ids.tolist() == expected.ids
    assert spans.tolist() == [list(span) for span in expected.offsets]
    assert tokenizer.ids([" ".join(words)], limit)[0].tolist() == expected.ids
    assert cut == bool(expected.overflowing)


def test_lengths_are_those_before_the_cut(tokenizer: TextTokenizer) -> None:
    assert tokenizer.lengths(["the bridge", "the " * 100]).tolist() == [4, 102]


def test_spans_say_where_in_the_text(tokenizer: TextTokenizer) -> None:
    text = "Ŕed 🙂 bridge"
    ((_, spans, _),) = tokenizer.tokens([text], 32)
    assert [text[start:end] for start, end in spans] == ["", "Ŕed", "🙂", "bridge", ""]


def test_a_lone_surrogate_is_read_as_the_replacement_character(tokenizer: TextTokenizer) -> None:
    assert readable("a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert readable("🙂") == "🙂"
    assert [ids.tolist() for ids in tokenizer.ids(["red \udc80 tin", "red \ufffd tin"], 32)] == [
        tokenizer.ids(["red tin"], 32)[0].tolist()
    ] * 2


def test_many_texts_keep_their_order(tokenizer: TextTokenizer) -> None:
    texts = ["tin " * (number % 7) for number in range(2 * BLOCK_TEXTS + 5)]
    expected = [2 + number % 7 for number in range(2 * BLOCK_TEXTS + 5)]
    assert tokenizer.lengths(texts).tolist() == expected
    assert [len(ids) for ids in tokenizer.ids(texts, 32)] == expected


def test_a_text_of_a_megabyte_is_quick(tokenizer: TextTokenizer) -> None:
    text = "the old bridge stands. " * 45_000
    start = time.process_time()
    (ids,) = tokenizer.ids([text], 256)
    assert time.process_time() - start < 5
    assert len(ids) == 256


def test_case_is_folded_on_request(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    bare = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[S]": 0, "tin": 1}, "[S]"))
    bare.post_processor = tokenizers.processors.TemplateProcessing(
        single="[S] $A [S]", special_tokens=[("[S]", 0)]
    )
    bare.save(str(path))
    assert TextTokenizer.open(path).ids(["TIN"], 9)[0].tolist() == [0, 0, 0]
    assert TextTokenizer.open(path, lower_case=True).ids(["TIN"], 9)[0].tolist() == [0, 1, 0]


def test_what_the_file_says_of_cutting_and_padding_is_left(path: Path, tmp_path: Path) -> None:
    cutting = tokenizers.Tokenizer.from_file(str(path))
    cutting.enable_truncation(4)
    cutting.enable_padding(length=10)
    cutting.save(str(tmp_path / "tokenizer.json"))
    tokenizer = TextTokenizer.open(tmp_path / "tokenizer.json")
    assert [len(ids) for ids in tokenizer.ids(["tin", "tin " * 7], 32)] == [3, 9]


def test_the_size_is_one_more_than_the_largest_number(tmp_path: Path) -> None:
    path = tiny_bert(tmp_path, words=["one", "two"]) / "tokenizer.json"
    known = tokenizers.Tokenizer.from_file(str(path))
    assert TextTokenizer.open(path).size == known.token_to_id("two") + 1


def test_one_that_sets_no_special_tokens_is_refused(tmp_path: Path) -> None:
    bare = tokenizers.Tokenizer(tokenizers.models.WordLevel({"tin": 0}, "tin"))
    bare.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(UnusableTokenizer, match="got 0 tokens for an empty text"):
        TextTokenizer.open(tmp_path / "tokenizer.json")


def test_no_file_and_no_tokenizer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableTokenizer, match="Expected a file, got No such file"):
        TextTokenizer.open(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").write_text('{"model": "of clay"}')
    with pytest.raises(UnusableTokenizer, match="a tokenizer, got one that cannot be loaded"):
        TextTokenizer.open(tmp_path / "tokenizer.json")


def test_a_block_ends_at_a_million_characters_or_256_texts() -> None:
    long = ["x" * 500_000] * 5
    assert [len(block) for block in blocks(long, 256, 1_000_000)] == [2, 2, 1]
    assert [len(block) for block in blocks(["x"] * 513, 256, 1_000_000)] == [256, 256, 1]
    assert list(blocks([], 256, 1_000_000)) == []
