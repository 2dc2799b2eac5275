"""Two texts in a row, as transformers sets them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.models.tokenizer import PairTokenizer, UnusableTokenizer, lengths_of
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

tokenizers = import_or_skip("tokenizers", reason="needs the extra local")

LETTERS = "abcdefghijklmnop"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny"), head=1) / "tokenizer.json"


@pytest.fixture(scope="module")
def tokenizer(path: Path) -> PairTokenizer:
    return PairTokenizer.open(path)


def words(path: Path, ids: Any) -> str:
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    return " ".join(tokenizer.id_to_token(number) for number in ids.tolist())


def test_special_tokens_stand_before_between_and_behind(
    path: Path, tokenizer: PairTokenizer
) -> None:
    (pair,) = tokenizer.pairs([("Red bridge", "tin")], 32)
    assert words(path, pair.ids) == "[CLS] red bridge [SEP] tin [SEP]"
    assert pair.types.tolist() == [0, 0, 0, 0, 1, 1]
    assert pair.length == 6
    assert pair.ids.dtype == pair.types.dtype == np.int32


def test_empty_texts_leave_the_special_tokens(path: Path, tokenizer: PairTokenizer) -> None:
    nothing, first, second = tokenizer.pairs([("", ""), ("tin", ""), ("", "tin")], 32)
    assert words(path, nothing.ids) == "[CLS] [SEP] [SEP]"
    assert (words(path, first.ids), first.types.tolist()) == ("[CLS] tin [SEP] [SEP]", [0, 0, 0, 1])
    assert (words(path, second.ids), second.types.tolist()) == (
        "[CLS] [SEP] tin [SEP]",
        [0, 0, 1, 1],
    )


@pytest.mark.parametrize(
    ("first", "second", "read"),
    [
        (5, 5, "a b [SEP] a b c"),
        (8, 2, "a b c [SEP] a b"),
        (2, 8, "a b [SEP] a b c"),
        (3, 8, "a b [SEP] a b c"),
        (8, 3, "a b c [SEP] a b"),
        (16, 1, "a b c d [SEP] a"),
        (0, 16, "[SEP] a b c d e"),
        (2, 3, "a b [SEP] a b c"),
    ],
)
def test_the_longer_text_is_cut_first(
    path: Path, tokenizer: PairTokenizer, first: int, second: int, read: str
) -> None:
    texts = (" ".join(LETTERS[:first]), " ".join(LETTERS[:second]))
    (pair,) = tokenizer.pairs([texts], 8)
    assert words(path, pair.ids) == f"[CLS] {read} [SEP]"
    assert pair.length == first + second + 3


PAIR_FORMS = ["[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", "[CLS]:0 $A:0 [SEP]:0 [SEP]:0 $B:0 [SEP]:0"]


@pytest.mark.parametrize("form", PAIR_FORMS, ids=["bert", "roberta"])
@pytest.mark.parametrize("limit", [5, 6, 9, 14])
def test_pairs_are_cut_as_the_tokenizers_package_cuts_them(
    path: Path, tmp_path: Path, limit: int, form: str
) -> None:
    theirs = tokenizers.Tokenizer.from_file(str(path))
    special = [(token, theirs.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    theirs.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair=form, special_tokens=special
    )
    theirs.save(str(tmp_path / "tokenizer.json"))
    tokenizer = PairTokenizer.open(tmp_path / "tokenizer.json")
    theirs.enable_truncation(limit, strategy="longest_first")
    sides = [" ".join(LETTERS[:size]) for size in range(9)]
    pairs = [(first, second) for first in sides for second in sides]
    for pair, ours in zip(pairs, tokenizer.pairs(pairs, limit), strict=True):
        expected = theirs.encode(*pair)
        assert ours.ids.tolist() == expected.ids
        assert ours.types.tolist() == expected.type_ids


def test_lengths_are_of_what_is_read(tokenizer: PairTokenizer) -> None:
    pairs = tokenizer.pairs([("tin " * 40, "red"), ("tin", "red")], 32)
    assert lengths_of(pairs).tolist() == [32, 5]
    assert [pair.length for pair in pairs] == [44, 5]
    assert lengths_of([]).shape == (0,)


def test_a_tokenizer_that_sets_nothing_between_two_texts_is_refused(
    path: Path, tmp_path: Path
) -> None:
    content = json.loads(path.read_text())
    pair = content["post_processor"]["pair"]
    content["post_processor"]["pair"] = [*pair[:2], *pair[3:]]
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(UnusableTokenizer, match="before, between and after two texts"):
        PairTokenizer.open(tmp_path / "tokenizer.json")
