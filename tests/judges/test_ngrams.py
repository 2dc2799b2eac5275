"""BLEU and chrF by hand, and as sacrebleu 2.6.0 gives them."""

from collections.abc import Callable
from math import exp, sqrt
from random import Random

import pytest

from ragstone.data import Example
from ragstone.judges.rules import RulesJudge
from ragstone.judges.text_counts import bleu, chrf, words_13a
from ragstone.metrics import parse_metric, score
from ragstone.run.judging.judge_blocks import judge_block
from tests.availability import import_or_skip

WORDS = (
    "the a cat, dog. 3.14 sat-on 3-4 it's &amp; &quot;hi&quot; <skipped> Größe Москва foo-\nbar "
    "[1] $5 1,000.5 e.g. .5 5. \t"
)

CHINESE = ["他", "她", "出", "生", "于", "年", "1879", "3.14", "。", "、", "《", "》", "OK", " "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's 3.14, or so.", ["It's", "3.14", ",", "or", "so", "."]),
        ("$1,000.50 (3-4 %)", ["$", "1,000.50", "(", "3", "-", "4", "%", ")"]),
        ("well-known &amp; &lt;b&gt;", ["well-known", "&", "<", "b", ">"]),
        ("hy-\nphen\nline", ["hyphen", "line"]),
        (" \n", []),
        ("他有3.14元。ＯＫ，", ["他", "有", "3.14", "元", "。", "OK", ","]),
        ("กรุงที่", ["ก", "รุ", "ง", "ที่"]),
        ("It’s “so” — €5?", ["It's", '"', "so", '"', "—", "€", "5", "?"]),
        ("10² CO₂", ["10²", "CO₂"]),
    ],
)
def test_words_are_those_of_mteval(text: str, expected: list[str]) -> None:
    assert words_13a(text) == expected


def test_bleu_is_the_geometric_mean_of_the_precisions_as_far_as_the_answer_goes() -> None:
    # Words 3 of 4, pairs 2 of 3, threes 1 of 2; four words, none of 1: half a match.
    assert bleu("a b c d", "a b c e") == pytest.approx((3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4))
    # Both words, and no pair, which counts as half.
    assert bleu("red fox", "fox red") == pytest.approx(sqrt(1 * (1 / 2)))
    # No pair and no three: a half of two, a quarter of one.
    assert bleu("a x b", "b y a") == pytest.approx((2 / 3 * (1 / 2) / 2 * 1 / 4) ** (1 / 3))
    assert bleu("fox", "fox") == 1


def test_bleu_of_an_answer_shorter_than_the_reference_is_lowered() -> None:
    assert bleu("a b", "a b c d") == pytest.approx(exp(1 - 4 / 2))
    assert bleu("a b c d", "a b") == pytest.approx((2 / 4 * 1 / 3 * (1 / 2) / 2 * (1 / 4)) ** 0.25)


def test_chrf_weighs_recall_twice_as_much_as_precision() -> None:
    # One letter 2 of 3, two letters 1 of 2, three letters none, on both sides.
    assert chrf("abc", "abd") == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    # All that the answer has; of the reference, two of four letters and one of three pairs.
    recall = (2 / 4 + 1 / 3) / 2
    assert chrf("ab", "abcd") == pytest.approx(5 * recall / (4 + recall))
    assert chrf("a b c", "abc") == 1


@pytest.mark.parametrize("measure", [bleu, chrf])
def test_forms_of_the_same_text_have_the_same_letters(measure: Callable[[str, str], float]) -> None:
    assert measure("cafe\u0301 ２０２４, it’s", "café 2024, it's") == 1


def test_texts_that_share_nothing_have_neither() -> None:
    for answer, reference in (("", "fox"), ("xyz", "abc"), (" ", "fox")):
        assert bleu(answer, reference) == chrf(answer, reference) == 0


@pytest.mark.parametrize(
    ("answer", "reference", "of_bleu", "of_chrf"),
    [
        (
            "The bridge was opened in 1932 by Jack Lang.",
            "The bridge opened in March 1932.",
            13.134549472120794,
            53.11029162762455,
        ),
        (
            "It is 90 m high, or so.",
            "The tower is 90 m high.",
            31.55984539112946,
            45.49690723231187,
        ),
        (
            "He paid $1,000.50 (about 3-4 %).",
            "He paid about $1,000.50.",
            10.600313379512592,
            62.40633157806014,
        ),
        ("Nothing here", "all else", 0.0, 4.273504273504273),
    ],
)
def test_sacrebleu_gives_the_same(
    answer: str, reference: str, of_bleu: float, of_chrf: float
) -> None:
    assert bleu(answer, reference) == pytest.approx(of_bleu / 100, abs=1e-12)
    assert chrf(answer, reference) == pytest.approx(of_chrf / 100, abs=1e-12)


def test_sacrebleu_gives_the_same_for_any_texts() -> None:
    metrics = import_or_skip("sacrebleu.metrics", reason="make peers installs sacrebleu")
    of_bleu, of_chrf = metrics.BLEU(effective_order=True), metrics.CHRF()
    chance = Random(1)
    words = WORDS.split(" ")
    for _ in range(2000):
        answer = " ".join(chance.choices(words, k=chance.randrange(12)))
        reference = " ".join(chance.choices(words, k=chance.randrange(12)))
        assert bleu(answer, reference) == pytest.approx(
            of_bleu.sentence_score(answer, [reference]).score / 100, abs=1e-12
        )
        assert chrf(answer, reference) == pytest.approx(
            of_chrf.sentence_score(answer, [reference]).score / 100, abs=1e-12
        )
    in_chinese = metrics.BLEU(effective_order=True, tokenize="zh")
    for _ in range(500):
        answer = "".join(chance.choices(CHINESE, k=chance.randrange(1, 20)))
        reference = "".join(chance.choices(CHINESE, k=chance.randrange(1, 20)))
        assert bleu(answer, reference) == pytest.approx(
            in_chinese.sentence_score(answer, [reference]).score / 100, abs=1e-12
        )
    for metric, theirs in (("bleu", of_bleu), ("chrf", of_chrf)):
        assert parse_metric(metric).how in str(theirs.get_signature())


def test_the_best_of_several_references_counts() -> None:
    given = Example("1", "1", "", question="?", answer="red fox", reference=("fox red", "red fox"))
    metrics = [parse_metric("bleu"), parse_metric("chrf")]
    tables = judge_block([given], [RulesJudge()], ["ngrams"]).tables
    for frame in score(tables, metrics).values():
        assert frame["value"].to_list() == [1.0]
